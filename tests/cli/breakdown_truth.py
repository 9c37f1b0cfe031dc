#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""breakdown_truth.py SOURCE: the counts and unions of a recording, straight from its SQLite tables.

SOURCE is an nsys export. Prints the JSON object `headway breakdown` should begin with; written
without Headway's code, in the simplest way there is.
"""
import json
import sqlite3
import sys

TABLES = {"KERNEL": "kernel", "MEMCPY": "memcpy", "MEMSET": "memset", "GRAPH_TRACE": "graph"}


def merge(intervals):
    merged = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([start, end])
    return merged


def total(intervals):
    return sum(end - start for start, end in merge(intervals))


def main():
    db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
    have = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    calls = set()
    if "CUPTI_ACTIVITY_KIND_RUNTIME" in have:
        rows = db.execute("SELECT correlationId, globalTid >> 24 FROM CUPTI_ACTIVITY_KIND_RUNTIME")
        calls.update(rows)
    work = {kind: [] for kind in ("kernel", "comm", "memcpy", "memset", "graph")}
    streams, linked = set(), 0
    for table, kind in TABLES.items():
        if "CUPTI_ACTIVITY_KIND_" + table not in have:
            continue
        name = "s.value" if kind == "kernel" else "''"
        join = "LEFT JOIN StringIds s ON s.id = w.demangledName" if kind == "kernel" else ""
        for start, end, text, device, stream, process, correlation in db.execute(
            f"SELECT w.start, w.end, {name}, deviceId, streamId, globalPid, correlationId "
            f"FROM CUPTI_ACTIVITY_KIND_{table} w {join}"
        ):
            is_comm = any(word in text.lower() for word in ("nccl", "rccl"))
            work["comm" if is_comm else kind].append((start, end))
            streams.add((device, stream, process))
            linked += (correlation, process >> 24) in calls
    everything = [interval for intervals in work.values() for interval in intervals]
    span = max(e for _, e in everything) - min(s for s, _ in everything) if everything else 0
    compute, comm = work["kernel"] + work["graph"], work["comm"]
    json.dump(
        {
            "n_kernel": len(work["kernel"]),
            "n_comm": len(comm),
            "n_memcpy": len(work["memcpy"]),
            "n_memset": len(work["memset"]),
            "n_graph": len(work["graph"]),
            "n_streams": len(streams),
            "gpu_events_with_launch": linked,
            "span_ns": span,
            "busy_ns": total(everything),
            "idle_ns": span - total(everything),
            "compute_ns": total(compute),
            "comm_ns": total(comm),
            "memcpy_ns": total(work["memcpy"]),
            "memset_ns": total(work["memset"]),
            "comm_overlapping_compute_ns": total(compute) + total(comm) - total(compute + comm),
            "n_busy_intervals": len(merge(everything)),
        },
        sys.stdout,
    )


main()
