# SPDX-License-Identifier: Apache-2.0
"""view_selection.py HEADWAY RECORDING - compares the answer `selection` with the spans that `headway sql` lists.

Windows and lanes come from a seed. Everything is counted again here, span by span, without the server's code."""

import collections
import json
import random
import re
import subprocess
import sys
import urllib.request

HEADWAY, RECORDING = sys.argv[1:3]
WINDOWS = 8
TABLES = {"kernels": {"kernel"}, "calls": {"api"}, "ranges": {"range"}, "operators": {"op"}, "functions": {"call"},
          "os": {"os"}}
DEVICE = {"kernel", "copy", "fill"}
bad = 0


def expect(got, wanted, what):
    global bad
    if got != wanted:
        bad = 1
        print("FAIL: %s, %s: got %s instead of %s" % (RECORDING, what, got, wanted))


def rows(query):
    text = subprocess.run([HEADWAY, "sql", RECORDING, "--format", "json", query], capture_output=True, text=True,
                          check=True).stdout
    return json.loads(text)


def union(pieces):
    total, until = 0, None
    for begin, end in sorted(pieces):
        begin = begin if until is None else max(begin, until)
        total += max(0, end - begin)
        until = end if until is None else max(until, end)
    return total


class Trace:
    def __init__(self):
        self.spans = rows("select id, lane_id, kind, lane, name, start, end, bytes, role, class, call, stack_id, device_id, "
                          "thread_id from spans where kind <> 'counter'")
        self.by_id = {span["id"]: span for span in self.spans}
        self.direction = {copy["id"]: copy["direction"] for copy in rows("select id, direction from copy")}
        self.function = {s["id"]: (s["function"] or "", s["module"] or "") for s in
                         rows("select id, function, module from stacks")}
        self.wakes = rows("select source, target from edges where kind = 'wake'")
        self.values = collections.defaultdict(list)
        for value in rows("select lane_id, start, value from counter order by lane_id, start"):
            self.values[value["lane_id"]].append((value["start"], value["value"]))

    def enqueued(self, op):
        call = self.by_id.get(op["call"]) if op["call"] is not None else None
        return min(call["end"], op["start"]) if call else op["start"]

    def headway(self, device, time):
        waiting = [op for op in self.spans if op["kind"] in DEVICE and op["device_id"] == device and
                   self.enqueued(op) <= time < op["end"]]
        return {"count": len(waiting), "work": sum(op["end"] - max(op["start"], time) for op in waiting)}


def check_names(answer, inside, begin, end):
    for key, kinds in TABLES.items():
        sums = collections.defaultdict(lambda: [0, 0, 0])
        for span in inside:
            if span["kind"] not in kinds or (span["lane"] == "device-range"):
                continue
            length = min(span["end"], end) - max(span["start"], begin)
            row = sums[span["name"]]
            row[0] += 1
            row[1] += length
            row[2] = max(row[2], length)
        listed = [row for row in answer[key]["rows"] if key != "kernels" or row["look"] in (0, 1)]
        expect({row["name"]: [row["count"], row["total"], row["max"]] for row in listed},
               {row["name"]: sums[row["name"]] for row in listed}, key)
        if key != "kernels":
            expect([answer[key][k] for k in ("names", "count", "total")],
                   [len(sums), sum(s[0] for s in sums.values()), sum(s[1] for s in sums.values())], key + " in all")
        expect(len(listed) >= min(len(sums), 40), True, key + " are listed")


def copied(span, time):
    """The bytes that a copy has copied by then: those of its time, rounded down."""
    if time >= span["end"]:
        return span["bytes"] or 0
    return max(0, (span["bytes"] or 0) * (time - span["start"]) // (span["end"] - span["start"]))


def check_copies(trace, answer, inside, begin, end):
    sums = collections.defaultdict(lambda: [0, 0, 0])
    for span in inside:
        if span["kind"] == "copy":
            row = sums[trace.direction[span["id"]]]
            row[0] += 1
            row[1] += copied(span, end) - (copied(span, begin) if span["start"] < begin else 0)
            row[2] += min(span["end"], end) - max(span["start"], begin)
    expect({copy["direction"]: [copy["count"], copy["bytes"], copy["total"]] for copy in answer["copies"]}, dict(sums), "copies")


def check_calls(answer, inside, begin, end):
    for key, roles in (("launches", ("launch", "graph-launch")), ("waits", ("sync",))):
        mine = [span for span in inside if span["kind"] == "api" and span["role"] in roles]
        total = sum(min(span["end"], end) - max(span["start"], begin) for span in mine)
        expect(answer[key], {"count": len(mine), "total": total}, key)


def check_threads(trace, answer, inside, chosen, begin, end):
    states = collections.defaultdict(lambda: collections.defaultdict(int))
    for span in inside:
        if span["kind"] == "state":
            states[span["lane_id"]][span["name"]] += min(span["end"], end) - max(span["start"], begin)
    expect({t["lane"]: {s["name"]: s["total"] for s in t["states"]} for t in answer["threads"]},
           {lane: dict(states[lane]) for lane in sorted(states)[:40]}, "states of threads")
    samples = collections.Counter(trace.function.get(span["stack_id"], ("", "")) for span in inside if span["kind"] == "sample")
    expect(answer["samples"]["count"], sum(samples.values()), "samples")
    expect({(row["function"], row["module"]): row["count"] for row in answer["samples"]["rows"]},
           {(row["function"], row["module"]): samples[row["function"], row["module"]] for row in answer["samples"]["rows"]},
           "functions of samples")
    woken = collections.Counter()
    for edge in trace.wakes:
        waker, span = trace.by_id[edge["source"]], trace.by_id[edge["target"]]
        time = span["end"] if span["kind"] == "os" else span["start"]
        if begin <= time < end and (chosen is None or waker["lane_id"] in chosen or span["lane_id"] in chosen):
            woken[waker["thread_id"], span["thread_id"]] += 1
    expect({(w["from_thread"], w["to_thread"]): w["count"] for w in answer["wakes"]}, dict(woken), "wakes")


def check_devices(trace, answer, inside, begin, end):
    listed = {device["device"]: device for device in answer["devices"]}
    for device, got in listed.items():
        work = [span for span in inside if span["kind"] in DEVICE and span["device_id"] == device]
        cut = [(max(span["start"], begin), min(span["end"], end)) for span in work]
        expect(got["busy"], union(cut), "busy time of device %d" % device)
        expect(got["busy"] + got["idle"], end - begin, "busy and idle of device %d" % device)
        for key in ("compute", "comm", "memory"):
            expect(got[key], union(c for c, span in zip(cut, work) if span["class"] == key), key)
        for key, time in (("begin", begin), ("end", end)):
            expect(got["headway"][key], trace.headway(device, time), "headway at the " + key)
        moments = sorted({begin, end, *(t for op in trace.spans if op["kind"] in DEVICE and op["device_id"] == device
                                        for t in (trace.enqueued(op), op["end"]) if begin < t < end)})[:400]
        if len(moments) < 400:
            expect(got["headway"]["least"]["count"], min(trace.headway(device, t)["count"] for t in moments if t < end),
                   "the least headway")


def check_counters(trace, answer, chosen, begin, end):
    for got in answer["counters"]:
        values = [v for v in trace.values[got["lane"]] if v[0] < end]
        values = [(max(t, begin), v) for (t, v), (after, _) in zip(values, values[1:] + [(end, 0)]) if after > begin]
        lengths = [after - t for (t, _), (after, _) in zip(values, values[1:] + [(end, 0)])]
        held = [(v, n) for (_, v), n in zip(values, lengths) if n > 0]
        mean = sum(v * n for v, n in held) / sum(n for _, n in held)
        expect(abs(got["mean"] - mean) <= 1e-5 * max(1, abs(mean)), True, "mean of counter %d" % got["lane"])
        expect([round(got["least"], 3), round(got["most"], 3), round(got["last"], 3)],
               [round(min(held)[0], 3), round(max(held)[0], 3), round(held[-1][0], 3)], "values of counter %d" % got["lane"])
        expect(chosen is None or got["lane"] in chosen, True, "a counter that was chosen")


def check_launches(trace, ask, dice):
    """Device work says what was ahead of it when its call began."""
    linked = [op for op in trace.spans if op["kind"] in DEVICE and op["call"] is not None]
    for op in dice.sample(linked, min(12, len(linked))):
        details = ask("span?t=0&id=%d" % op["id"])
        call = trace.by_id[op["call"]]
        expect(details["launch"]["id"], call["id"], "the launch of span %d" % op["id"])
        expect(details["headway"], trace.headway(op["device_id"], call["start"]), "headway of span %d" % op["id"])
    for edge in dice.sample(trace.wakes, min(5, len(trace.wakes))):
        woken = ask("span?t=0&id=%d" % edge["target"])
        expect(["wake", False, edge["source"]] in [[e["kind"], e["leaves"], e["span"]["id"]] for e in woken["edges"]], True, "its waker")


def check_projected(trace, ask, origin):
    """A range stands on the device from the first to the last work that was launched in it, as in the table of stats."""
    text = subprocess.run([HEADWAY, "stats", RECORDING, "-r", "nvtx_gpu_proj_trace", "--format", "json", "--rows", "0"],
                          capture_output=True, text=True).stdout
    wanted = collections.Counter()
    for row in json.loads(text) if text else []:
        wanted[tuple(row[key + " (ns)"] for key in ("Orig Start", "Orig Duration", "Projected Start", "Projected Duration"))] += 1
    got = collections.Counter()
    for span in trace.spans:
        if span["kind"] == "range" and wanted:
            for there in ask("span?t=0&id=%d" % span["id"])["projected"]:
                got[span["start"], span["end"] - span["start"], there["start"] + origin, there["dur"]] += 1
    expect(got, wanted, "projected ranges")
    lanes = ask("lanes?t=0")["lanes"]
    expect(sum(lane["spans"] for lane in lanes if lane["type"] == "projected"), sum(wanted.values()), "spans of lanes of projected ranges")


def main():
    viewer = subprocess.Popen([HEADWAY, "view", "--no-browser", RECORDING], stdout=subprocess.PIPE, text=True)
    url = re.match(r"http://\S+", viewer.stdout.readline())[0]

    def ask(path):
        with urllib.request.urlopen(url + path) as answer:
            return json.load(answer)
    trace, dice = Trace(), random.Random(7)
    info = ask("info")["traces"][0]
    origin, lanes = int(info["origin"]), sorted({span["lane_id"] for span in trace.spans} | set(trace.values))
    work = [span for span in trace.spans if span["kind"] in DEVICE]
    for i in range(WINDOWS):
        # Half of the windows are short and where the device works.
        middle = dice.choice(work)["start"] - origin if i % 2 else dice.randrange(info["start"], info["end"])
        width = dice.randrange(1, (info["end"] - info["start"]) // (200 if i % 2 else 2))
        begin, end = max(0, middle - width // 2), middle + width // 2 + 1
        chosen = None if i < 3 else set(dice.sample(lanes, dice.randrange(1, len(lanes) + 1)))
        which = "" if chosen is None else "&lanes=" + ",".join(map(str, sorted(chosen)))
        answer = ask("selection?t=0&from=%d&to=%d%s" % (begin, end, which))
        begin, end = begin + origin, end + origin
        inside = [span for span in trace.spans if (chosen is None or span["lane_id"] in chosen) and span["start"] < end and
                  (span["end"] > begin or (span["start"] >= begin))]
        check_names(answer, inside, begin, end)
        check_copies(trace, answer, inside, begin, end)
        check_calls(answer, inside, begin, end)
        check_threads(trace, answer, inside, chosen, begin, end)
        check_devices(trace, answer, inside, begin, end)
        check_counters(trace, answer, chosen, begin, end)
    check_launches(trace, ask, dice)
    check_projected(trace, ask, origin)
    viewer.terminate()
    viewer.wait()
    sys.exit(bad)


main()
