# SPDX-License-Identifier: Apache-2.0
"""ddp_late - DistributedDataParallel over gloo: one rank prepares its batches longer than the others.

    torchrun --nproc-per-node 2 ddp_late.py [--late RANK | --turns | --fixed]

--late RANK: that rank is late in every step (default: the last rank). --turns: another rank in every step. --fixed: none.
"""
import os
import sys
import time

import torch
import torch.distributed as dist

STEPS, WARMUP = 40, 8
EXTRA_S = 0.012  # what the late rank needs longer for a batch

rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
late = int(sys.argv[sys.argv.index("--late") + 1]) if "--late" in sys.argv else world - 1


def is_late(step):
    if "--fixed" in sys.argv:
        return False
    return step % world == rank if "--turns" in sys.argv else rank == late


def augment(batch, step):
    """Prepares a batch; what makes a rank late is done here, on the CPU."""
    until = time.perf_counter() + (EXTRA_S if is_late(step) else 0)
    while time.perf_counter() < until:
        batch = batch * 1.0001
    return batch


def main():
    dist.init_process_group("gloo")
    torch.cuda.set_device(0)
    torch.manual_seed(rank)
    layers = [layer for _ in range(4) for layer in (torch.nn.Linear(512, 512), torch.nn.ReLU())]
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*layers).cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    batch = torch.randn(256, 512)

    def step(i):
        x = augment(batch, i).cuda()
        model(x).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    for i in range(WARMUP):
        step(i)
    torch.cuda.synchronize()
    dist.barrier()
    begin = time.perf_counter()
    for i in range(WARMUP, WARMUP + STEPS):
        step(i)
    torch.cuda.synchronize()
    if rank == 0:
        print("step_ms %.4f" % ((time.perf_counter() - begin) / STEPS * 1000), flush=True)
    dist.destroy_process_group()


main()
