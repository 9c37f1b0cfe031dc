#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is a file what tools for PyTorch's traces expect? Chrome's viewer, Perfetto, HTA and TraceLens ask for this much.

Prints what is not so, one line each, and exits with 1.
"""
import json
import re
import sys

found = {}


def check(holds, what):
    if not holds:
        found[what] = found.get(what, 0) + 1


def overlaps(spans):
    """Spans of one row that neither nest nor stand apart: viewers drop them."""
    open_ends = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        while open_ends and open_ends[-1] <= start:
            open_ends.pop()
        if open_ends and open_ends[-1] < end:
            yield start
        else:
            open_ends.append(end)


def ns(us):
    return round(us * 1000)


def main():
    events = json.load(open(sys.argv[1]))["traceEvents"]
    rows = {}
    for event in events:
        check({"ph", "ts", "pid", "tid", "name"} <= set(event), f"fields of {event.get('ph')} events")
        if event["ph"] == "X":
            check(event["dur"] >= 0, "durations")
            check(type(event["pid"]) is int and type(event["tid"]) is int, "pid and tid are numbers")
            rows.setdefault((event["pid"], event["tid"]), []).append(
                (ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])))
    for row, spans in rows.items():
        check(not list(overlaps(spans)), f"spans of {row} nest")
    calls = [e for e in events if e.get("cat") in ("cuda_runtime", "cuda_driver")]
    work = [e for e in events if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    known = {e["args"].get("correlation") for e in calls}
    for event in work:
        check(type(event["args"].get("stream")) is int and type(event["args"].get("device")) is int,
              "stream and device of work are numbers")
        if event["cat"] == "kernel":  # pages that migrate have no call
            check(type(event["args"].get("correlation")) is int, "correlation ids of kernels are numbers")
        else:
            check(event["name"].startswith(("Memcpy", "Memset")), "names of copies and fills")
    check(not work or any(e["args"].get("correlation") in known for e in work), "work has its calls")
    for event in calls:
        check("stream" not in event["args"], "calls have no stream")
        check(not re.search(r"_v\d{4,}$", event["name"]), "names of calls have no version")
    arrows = [e for e in events if e.get("cat") == "ac2g"]
    begins = [e["id"] for e in arrows if e["ph"] == "s"]
    check(len(begins) == len(set(begins)) and set(begins) == {e["id"] for e in arrows if e["ph"] == "f"},
          "each arrow has one begin, and an end")
    if len(sys.argv) > 2:
        check(any(e["name"].startswith("ProfilerStep#") for e in events), "there are steps")
    for what, times in found.items():
        print(f"{what}: not so, {times} times")
    return 1 if found else 0


sys.exit(main())
