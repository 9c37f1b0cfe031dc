# SPDX-License-Identifier: Apache-2.0
"""job_make.py - traces of a job as torch.profiler writes them, with a fault that is known.

    job_make.py FOLDER FAULT [RANKS [STEPS]]

A step: load_batch on the CPU, a kernel, an all-reduce in which all ranks meet, a wait. FAULT: even, slow-gpu (the last rank's kernels
take longer), more-work (the last rank's grids are larger, too), input (its load_batch is longer), turns (another rank is slow in each step),
uneven (work differs at random), host (the last two ranks are slow), early (rank 0 has less to do). Clocks of the ranks are apart.
"""
import json
import os
import random
import sys

folder, fault = sys.argv[1], sys.argv[2]
n = int(sys.argv[3]) if len(sys.argv) > 3 else 4
steps = int(sys.argv[4]) if len(sys.argv) > 4 else 24
os.makedirs(folder, exist_ok=True)
dice = random.Random(5)
skew = [0] + [dice.uniform(-5e6, 5e6) for _ in range(n - 1)]
LOAD, WORK, MORE, TRANSFER, BYTES = 200.0, 1000.0, 500.0, 80.0, 1 << 22
events = [[] for _ in range(n)]
clock = 1000.0


def add(rank, name, cat, tid, ts, dur, **args):
    if "correlation" in args:
        args["correlation"] += 100000 * rank
    pid = rank if cat == "kernel" else 1000 + rank
    events[rank].append(dict(ph="X", name=name, cat=cat, pid=pid, tid=tid, ts=ts + skew[rank], dur=dur, args=args))


def costs(rank, step):
    """What a rank needs in a step: µs of loading, µs of its kernel, and the kernel's blocks."""
    late = rank == n - 1
    if fault == "slow-gpu" and late:
        return LOAD, WORK + MORE, 100
    if fault == "more-work" and late:
        return LOAD, WORK + MORE, 150
    if fault == "input" and late:
        return LOAD + MORE, WORK, 100
    if fault == "turns" and step % n == rank:
        return LOAD, WORK + MORE, 100
    if fault == "uneven":
        blocks = dice.randrange(80, 160)
        return LOAD, 10.0 * blocks, blocks
    if fault == "host" and rank >= n - 2:
        return LOAD, WORK + MORE + dice.uniform(0, 20), 100
    if fault == "early" and rank == 0:
        return LOAD, WORK - MORE, 100
    return LOAD + dice.uniform(0, 3), WORK, 100


for step in range(steps):
    arrivals = []
    for r in range(n):
        load, work, blocks = costs(r, step)
        at = clock + load
        add(r, "load_batch", "user_annotation", 1, clock, load)
        add(r, "cudaLaunchKernel", "cuda_runtime", 1, at, 5, correlation=step * 10 + 1)
        add(r, "cudaLaunchKernel", "cuda_runtime", 1, at + 10, 5, correlation=step * 10 + 2)
        add(r, "gemm", "kernel", 7, at + 8, work, device=r, stream=7, correlation=step * 10 + 1, grid=[blocks, 1, 1], block=[128, 1, 1])
        arrivals.append(at + 8 + work + 1)
    end = max(arrivals) + TRANSFER
    for r in range(n):
        add(r, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", "kernel", 7, arrivals[r], end - arrivals[r], device=r, stream=7,
            correlation=step * 10 + 2, **{"Collective name": "allreduce", "In msg nelems": BYTES // 4, "Out msg nelems": BYTES // 4,
                                           "dtype": "Float", "Group size": n, "Process Group Name": "0",
                                           "Process Group Ranks": json.dumps(list(range(n)))})
        wait = clock + (LOAD + MORE if fault == "input" and r == n - 1 else LOAD) + 20
        add(r, "cudaStreamSynchronize", "cuda_runtime", 1, wait, end + 3 - wait, correlation=step * 10 + 3)
        add(r, f"ProfilerStep#{step}", "user_annotation", 1, clock - 5, end + 5 - clock, **{"External id": step})
    clock = end + 20
for r in range(n):
    about = dict(schemaVersion=1, distributedInfo=dict(backend="nccl", rank=r, world_size=n), traceEvents=events[r])
    with open("%s/rank%d.json" % (folder, r), "w") as out:
        json.dump(about, out)
