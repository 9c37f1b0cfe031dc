# SPDX-License-Identifier: Apache-2.0
"""Part 1: what Headway records of each example is what Nsight Systems records.

Counts are equal. Times are within 2 %, or, where two runs of one program differ by more than that under one and the same
profiler, as near as those do: pageable copies depend on what else the machine does, and a kernel of less than a
microsecond on where its memory lies (graphs: 750 to 885 µs for the same thousand kernels in one unprofiled process,
on different addresses; each profiler takes memory of its own and so moves them). Such examples are run up to five times
under each profiler in turn, graphs each time with its memory elsewhere, and medians are compared.
"""
import concurrent.futures
import sqlite3
import statistics
import time

from harness import CONTEXT_WAIT, GRAPH_LAUNCH, LAUNCH, example, gated, headway, info, last_words, nsys, nsys_export, \
    run_gated, table

TITLE = "The same counts as Nsight Systems, times within 2 %"

NODES = "--cuda-graph-trace=node"
PLACE = "PLACE"  # in a command: a number that is another one in each run
GRAPHS = ["12", "1000", PLACE]
RUNS_OF_FAR = 5
RUNS = {  # name: (command, options of both profilers)
    "graphs_launch": (example("graphs", "launch", *GRAPHS), []),
    "graphs_graph": (example("graphs", "graph", *GRAPHS), []),
    "graphs_node": (example("graphs", "graph", *GRAPHS), [NODES]),
    "graphs_conditional": (example("graphs", "conditional", *GRAPHS), []),
    "streams_pageable1": (example("streams", "pageable", "1"), []),
    "streams_pinned4": (example("streams", "pinned", "4"), []),
    "priority_high": (example("priority", "high"), []),
    "events_host": (example("events", "host"), []),
    "events_device": (example("events", "device"), []),
    "mlp_sync": (example("mlp", "--sync"), []),
    "itemloop_item": (example("itemloop", "--item"), []),
    "inmodel_if": (example("inmodel", "--if"), []),
    "decode_eager": (example("decode"), []),
    "decode_graph": (example("decode", "--graph"), []),
    "power_blocking": (example("power"), []),
    "power_overlap": (example("power", "--overlap"), []),
    "roundtrip_cpu": (example("roundtrip", "--cpu"), []),
    "starve_2": (example("starve", "--workers", "2", "--batches", "6"), []),
    "phases_marks": (example("phases", "--marks"), []),
}
COUNTS = ["kernels", "copies", "fills", "graphs", "syncs", "launch calls", "graph launches", "ranges"]
KINDS = {"kernels": "kernel", "copies": "copy", "fills": "fill", "graphs": "graph", "syncs": "sync",
         "ranges": "range"}
TIMES = {"kernel time": "kernel", "copy time": "copy", "graph time": "graph"}

TABLES = {"kernels": "KERNEL", "copies": "MEMCPY", "fills": "MEMSET", "graphs": "GRAPH_TRACE",
          "syncs": "SYNCHRONIZATION"}


def measure(path, ours=False):
    """Counts and times of any recording, as Headway reads it."""
    spans = info(path)["spans"]
    calls = table(path, "cuda_api_sum")

    def named(pattern):
        return sum(row["Num Calls"] for row in calls if pattern.match(row["Name"]))
    found = {name: spans.get(kind, {}).get("count", 0) for name, kind in KINDS.items()}
    found.update({name: spans.get(kind, {}).get("time_ns", 0) for name, kind in TIMES.items()})
    found.update({"launch calls": named(LAUNCH), "graph launches": named(GRAPH_LAUNCH)})
    if ours:  # nsys has the calls, but no records of the driver's waits for a whole context
        found["syncs"] -= named(CONTEXT_WAIT)
    return found


def measure_sqlite(path):
    """The counts by plain SQL, so that an error of our reader cannot hide one of our collector."""
    db = sqlite3.connect(path)
    there = {row[0] for row in db.execute("select name from sqlite_master where type = 'table'")}

    def ask(query, of):
        return db.execute(query).fetchone()[0] if of in there else 0
    found = {}
    for name, kind in TABLES.items():
        kind = f"CUPTI_ACTIVITY_KIND_{kind}"
        found[name] = ask(f"select count(*) from {kind}", kind)
    # Push/pop ranges, start/end ranges and marks.
    found["ranges"] = ask("select count(*) from NVTX_EVENTS where eventType in (59, 60, 34)", "NVTX_EVENTS")
    calls = db.execute("select value, count(*) from CUPTI_ACTIVITY_KIND_RUNTIME join StringIds on id = nameId "
                       "group by value").fetchall() if "CUPTI_ACTIVITY_KIND_RUNTIME" in there else []
    found["launch calls"] = sum(n for name, n in calls if LAUNCH.match(name))
    found["graph launches"] = sum(n for name, n in calls if GRAPH_LAUNCH.match(name))
    return found


def record(part, names, number=0):
    """Records examples under both profilers in turn: yields name, our report, nsys's report, when both are there."""
    commands = []
    for name in names:
        command, options = RUNS[name]
        command = [str(7 * number) if word == PLACE else word for word in command]
        commands += [headway(part.work / f"{name}.hwy", gated(command), *options),
                     nsys(part.work / name, gated(command), *options)]
    runs = run_gated(commands)
    for name in names:
        ours, theirs = next(runs), next(runs)
        report = part.work / f"{name}.hwy"
        if part.check(f"{name}: headway profile", f"exit {ours.rc}", "exit 0", ours.rc == 0 and report.exists()) and \
           part.check(f"{name}: nsys profile", f"exit {theirs.rc}", "exit 0", theirs.rc == 0):
            yield name, report, part.work / name
        else:
            part.note(f"{name}: they said", f"{last_words(ours)} / {last_words(theirs)}")


def compare_counts(part, name, mine, theirs, raw):
    differ = [f"{what} {mine[what]} ≠ {theirs[what]}" for what in COUNTS if mine[what] != theirs[what]]
    same = ", ".join(f"{mine[what]} {what}" for what in COUNTS if mine[what])
    part.check(f"{name}: counts", "; ".join(differ) or same, "equal to nsys's", not differ)
    odd = [f"{what} {theirs[what]} ≠ {raw[what]}" for what in COUNTS if theirs[what] != raw[what]]
    if odd:
        part.check(f"{name}: nsys's export as we read it", "; ".join(odd), "equal to plain SQL", False)


def is_near(mine, theirs, count):
    """2 %; where the sum is under 1 ms, 0.1 µs an item: runs of the same program differ by that."""
    allowed = 0.02 * theirs if theirs >= 1_000_000 else max(0.02 * theirs, 100 * count)
    return abs(mine - theirs) <= allowed


def far_times(mine, theirs):
    counts = {"kernel time": "kernels", "copy time": "copies", "graph time": "graphs"}
    return [what for what in TIMES if not is_near(mine[what], theirs[what], theirs[counts[what]])]


def show_times(mine, theirs):
    return ", ".join(f"{what} {mine[what] / 1e6:.3f} ms / {theirs[what] / 1e6:.3f}"
                     + (f" ({100 * (mine[what] / theirs[what] - 1):+.2f} %)" if theirs[what] else "")
                     for what in TIMES if mine[what] or theirs[what])


def compare_times(part, name, mine, theirs):
    part.check(f"{name}: times", show_times(mine, theirs), "within 2 %", not far_times(mine, theirs))


def spread(values):
    """How far apart runs under one profiler are, as a part of their median."""
    return (max(values) - min(values)) / statistics.median(values)


def read(ours, theirs):
    path = nsys_export(theirs)
    if not path:
        raise RuntimeError("nsys export failed")
    return measure(ours, ours=True), measure(path), measure_sqlite(path)


def go(part):
    names = [name for name in RUNS if part.wants(name)]
    far = []
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        # The export and the counting need no GPU: they go on beside the next example.
        waiting = {name: pool.submit(read, ours, theirs) for name, ours, theirs in record(part, names)}
        for name, future in waiting.items():
            try:
                mine, theirs, raw = future.result()
            except RuntimeError as error:
                part.check(f"{name}: reading", error, "", False)
                continue
            compare_counts(part, name, mine, theirs, raw)
            if far_times(mine, theirs):
                far.append((name, mine, theirs))
            else:
                compare_times(part, name, mine, theirs)
    try_again(part, {name: ([mine], [theirs]) for name, mine, theirs in far})


def try_again(part, far):
    """More runs of both in turn, until five or the time is over."""
    longest = 0
    for number in range(1, RUNS_OF_FAR):
        begun = time.monotonic()
        if part.time_left() < longest + 20:
            break
        for name, ours, theirs in record(part, list(far), number):
            mine, other, _ = read(ours, theirs)
            far[name][0].append(mine)
            far[name][1].append(other)
        longest = max(longest, time.monotonic() - begun)
    for name, (ours, theirs) in far.items():
        judge_times(part, name, ours, theirs)


def judge_times(part, name, ours, theirs):
    """The medians differ by no more than 2 %, or than nsys's own runs do."""
    def middle(runs):
        return {what: statistics.median(run[what] for run in runs) for what in runs[0]}
    far = far_times(middle(ours), middle(theirs))
    again = f"times, medians of {len(ours)}"
    if not far:
        part.check(f"{name}: {again}", show_times(middle(ours), middle(theirs)), "within 2 %", True)
    for what in far:
        values = [[run[what] / 1e6 for run in runs] for runs in (ours, theirs)]
        off = statistics.median(values[0]) / statistics.median(values[1]) - 1
        part.check(f"{name}: {what}, {again}", f"{off:+.2%}; nsys's runs differ by {spread(values[1]):.2%}, "
                   f"ours by {spread(values[0]):.2%}", "2 %, or as nsys's own runs differ",
                   abs(off) <= max(0.02, spread(values[1])))
        part.note(f"{name}: {what} of every run", " / ".join(
            ", ".join(f"{value:.3f}" for value in runs) for runs in values) + " ms")
