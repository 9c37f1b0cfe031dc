#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""opencl_report.py FILE [NAME=COUNT…] - what must hold in every report of OpenCL, and counts of what it has.

    opencl_report.py run.hwy kernel=3 copy=2 kernel:add=3 "api:clEnqueueReadBuffer [blocking]=2" edge=4

Order: a command is queued while the call that enqueued it runs, then queued <= submitted <= start <= end; it has
ended when a call that waited for it returns; commands of an in-order queue do not overlap; what an event waits for
ends before it begins. Prints what does not hold, one line each; exit status 1 then.
"""
import bisect
import itertools
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "gpu"))
from report import Report  # noqa: E402

API, KERNEL, COPY, FILL, SYNC, EVENT = 0, 1, 2, 3, 5, 6
KINDS = {API: "api", KERNEL: "kernel", COPY: "copy", FILL: "fill", SYNC: "sync", EVENT: "event"}
IN_ORDER, OUT_OF_ORDER = 4, 5
EVENT_EDGE = 0


class Spans:
    """Every span of a report, by its number."""

    def __init__(self, path):
        self.report = Report(path)
        self.all = []
        for lane, kind, rows, columns in self.report.strips:
            of = self.report.records["lanes"][lane]
            for row in range(rows):
                span = {name: values[row] for name, values in columns.items()}
                span.setdefault("duration", 0)
                span.update(kind=kind, lane=lane, stream=of["stream"], text=self.report.text(span.get("name", 0)))
                span["end"] = span["start"] + span["duration"]
                self.all.append(span)
        streams = self.report.records.get("streams", [])
        self.queues = {i: s["flags"] for i, s in enumerate(streams) if s["flags"] in (IN_ORDER, OUT_OF_ORDER)}
        self.commands = [s for s in self.all if s["stream"] in self.queues and
                         s["kind"] in (KERNEL, COPY, FILL, EVENT)]

        self.edges = [e for e in self.report.records.get("edges", []) if e["kind"] == EVENT_EDGE]

    def call_of(self, span):
        link = span.get("link", 0)
        return self.all[link - 1] if link > 0 else None

    def counts(self):
        found = {"edge": len(self.edges), "queue": len(self.queues)}
        for span in self.all:
            kind = KINDS.get(span["kind"], "other")
            for name in (kind, f"{kind}:{span['text']}"):
                found[name] = found.get(name, 0) + 1
            if span.get("stack", 0):
                found[f"stack:{span['text']}"] = found.get(f"stack:{span['text']}", 0) + 1
        return found


def wrong_command(spans, span):
    call = spans.call_of(span)
    if not call:
        return "has no call"
    if span["kind"] == EVENT:
        return None if call["start"] <= span["start"] else "before its call"
    queued, submitted = span.get("queued", 0), span.get("submitted", 0)
    if not call["start"] <= queued <= call["end"]:
        return f"queued {queued - call['start']} ns into a call of {call['duration']} ns"
    if not queued <= submitted <= span["start"]:
        return "is not submitted between being queued and starting"
    if call["text"].endswith("[blocking]") and span["end"] > call["end"]:
        return f"ends {span['end'] - call['end']} ns after the call that waits for it"
    return None


def violations(spans):
    for span in spans.commands:
        wrong = wrong_command(spans, span)
        if wrong:
            yield f"{KINDS[span['kind']]} {span['text']} at {span['start']}: {wrong}"
    for queue, order in spans.queues.items():
        own = [s for s in spans.commands if s["stream"] == queue]
        own.sort(key=lambda s: (spans.call_of(s) or s)["start"])
        for before, after in zip(own, own[1:]):
            if order == IN_ORDER and before["end"] > after["start"]:
                yield f"in-order queue: {after['text']} at {after['start']} begins before {before['text']} ends"
        own.sort(key=lambda s: (spans.call_of(s) or s)["end"])
        called = [(spans.call_of(s) or s)["end"] for s in own]
        ended = list(itertools.accumulate((s["end"] for s in own), max))
        for sync in (s for s in spans.all if s["kind"] == SYNC and s.get("waited-stream", 0) - 1 == queue):
            before = bisect.bisect_right(called, sync["start"])
            if sync.get("sync-type") == 3 and before and ended[before - 1] > sync["end"]:
                yield f"clFinish at {sync['start']} returned {ended[before - 1] - sync['end']} ns too early"
    for edge in spans.edges:
        source, target = spans.all[edge["from"]], spans.all[edge["to"]]
        limit = target["end"] if target["kind"] == SYNC else target["start"]
        if source["end"] > limit:
            yield f"{target['text']} at {target['start']} did not wait for {source['text']}"


def main():
    spans = Spans(sys.argv[1])
    bad = list(violations(spans))
    counts = spans.counts()
    for wanted in sys.argv[2:]:
        name, number = wanted.rsplit("=", 1)
        if counts.get(name, 0) != int(number):
            bad.append(f"{name}: {counts.get(name, 0)}, not {number}")
    for line in bad[:20]:
        print(line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
