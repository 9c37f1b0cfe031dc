#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""job_check.py make FOLDER | sums HEADWAY FOLDER | clocks HEADWAY FOLDER TRUTH

make: three ranks of an invented job, as PyTorch would write them; the clock of rank r is r * 7 ms behind, and it writes the
truth into FOLDER.truth. sums: a command of the job is the sum of the commands of its ranks. clocks: what is added to the times of
each rank (headway info) is right within the error that it claims; TRUTH is JSON, {rank: ns}.
"""
import csv
import io
import json
import pathlib
import subprocess
import sys

RANKS, STEPS = 3, 12


def make_rank(rank):
    """A step: a launch, a kernel whose length is the rank's, a collective that all ranks leave within 2 us."""
    events, corr = [], 0
    late = -7000.0 * rank  # us: what the clock of this rank shows less

    def span(cat, name, start, dur, tid, **args):
        pid = 0 if cat == "kernel" else 100 + rank
        events.append({"ph": "X", "cat": cat, "name": name, "pid": pid if pid else rank, "tid": tid,
                       "ts": round(start + late, 3), "dur": round(dur, 3), "args": args})

    for step in range(STEPS):
        start = 1e6 + step * 1000.0
        span("user_annotation", f"ProfilerStep#{step}", start, 900.0, 9)
        work = 100.0 + 200.0 * ((rank + step) % RANKS)
        ends = start + 20 + 100.0 + 200.0 * (RANKS - 1) + 50.0
        for name, at, dur, stream in (("gemm", start + 20, work, 7),
                                      ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", start + 20 + work,
                                       ends + 0.7 * ((rank * 5 + step) % 3) - (start + 20 + work), 20)):
            corr += 1
            span("cuda_runtime", "cudaLaunchKernel", start + 5 + corr % 2, 0.5, 9, correlation=corr)
            span("kernel", name, at, dur, stream, correlation=corr, device=rank, stream=stream)
    return {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": RANKS},
            "deviceProperties": [{"id": i, "name": "Toy", "numSms": 4} for i in range(RANKS)], "traceEvents": events}


def make(folder):
    folder = pathlib.Path(folder)
    folder.mkdir()
    for rank in range(RANKS):
        (folder / f"trace{rank}.json").write_text(json.dumps(make_rank(rank)))
    # A recording's time 0 is its first span, which all ranks begin together.
    pathlib.Path(f"{folder}.truth").write_text(json.dumps({rank: 0 for rank in range(RANKS)}))


def ask(headway, *args):
    return subprocess.run([headway, *map(str, args)], check=True, stdout=subprocess.PIPE, text=True).stdout


def table(headway, report, path):
    """{name: (instances, total time)} of a table of headway stats."""
    rows = csv.DictReader(io.StringIO(ask(headway, "stats", "-r", report, "--format", "csv", path)))
    return {row.get("Name") or row.get("Range") or row.get("Operation"):
            (int(row.get("Instances") or row.get("Num Calls") or row.get("Count")), int(float(row["Total Time (ns)"])))
            for row in rows}


def sums(headway, folder):
    bad = []
    files = sorted(f for f in pathlib.Path(folder).iterdir() if f.name != "job.json")
    for report in ("cuda_gpu_kern_sum", "cuda_api_sum", "nvtx_sum"):
        whole, added = table(headway, report, folder), {}
        for file in files:
            for name, (n, time) in table(headway, report, file).items():
                before = added.get(name, (0, 0))
                added[name] = (before[0] + n, before[1] + time)
        if not whole:
            bad.append(f"{report} is empty")
        if whole.keys() != added.keys():
            bad.append(f"{report}: {whole.keys() ^ added.keys()}")
        # A duration on another clock may be a nanosecond longer or shorter.
        bad += [f"{report}: {name} is {whole[name]} in the job, {added[name]} in its ranks" for name in added
                if name in whole and (whole[name][0] != added[name][0] or
                                      abs(whole[name][1] - added[name][1]) > 2 * added[name][0])]
    job = json.loads(ask(headway, "breakdown", "--format", "json", folder))
    parts = [json.loads(ask(headway, "breakdown", "--format", "json", file)) for file in files]
    for whole, part in zip(job["devices"], sorted((d for p in parts for d in p["devices"]), key=lambda d: d["device"])):
        for key in part:
            if key in ("start_ns",) or not isinstance(part[key], int):
                continue
            if abs(whole[key] - part[key]) > (0 if key.startswith("n_") else 4000):
                bad.append(f"breakdown of GPU {part['device']}: {key} is {whole[key]}, alone {part[key]}")
    if len(job["devices"]) != sum(len(p["devices"]) for p in parts):
        bad.append("breakdown: devices are missing")
    info = json.loads(ask(headway, "info", "--format", "json", folder))
    alone = [json.loads(ask(headway, "info", "--format", "json", file)) for file in files]
    for kind, count in info["spans"].items():
        of = sum((a["spans"].get(kind, 0) if kind == "total" else a["spans"].get(kind, {"count": 0})["count"]) for a in alone)
        if (count if kind == "total" else count["count"]) != of:
            bad.append(f"info: {kind}: {count}, in the ranks {of}")
    return bad


def clocks(headway, folder, truth):
    bad = []
    truth = {int(rank): ns for rank, ns in json.loads(pathlib.Path(truth).read_text()).items()}
    ranks = json.loads(ask(headway, "info", "--format", "json", folder))["ranks"]
    if len(ranks) != len(truth):
        bad.append(f"{len(ranks)} ranks, not {len(truth)}")
    for rank in ranks:
        print(f"rank {rank['rank']}: {rank['clock']}, wrong by {rank['shift_ns'] - truth[rank['rank']]} ns,"
              f" claimed are {rank['error_ns']}")
        if rank["error_ns"] is None or abs(rank["shift_ns"] - truth[rank["rank"]]) > rank["error_ns"]:
            bad.append(f"rank {rank['rank']}: {rank}, the truth is {truth[rank['rank']]}")
    return bad


if sys.argv[1] == "make":
    make(sys.argv[2])
else:
    found = sums(*sys.argv[2:]) if sys.argv[1] == "sums" else clocks(*sys.argv[2:])
    print("\n".join(found))
    sys.exit(bool(found))
