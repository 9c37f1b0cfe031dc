"""ddp.py - DistributedDataParallel over gloo: two ranks share the GPU."""
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from steps import FIXED, timed

ACCUMULATE = 8 if FIXED else 1


def train(rank):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29531", RANK=str(rank), WORLD_SIZE="2")
    dist.init_process_group("gloo", rank=rank, world_size=2)
    torch.manual_seed(rank)
    net = torch.nn.Sequential(*[m for _ in range(4) for m in (torch.nn.Linear(2048, 2048), torch.nn.ReLU())]).cuda()
    model = torch.nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = torch.randn(1024, 2048, device="cuda")

    def step(i):
        if i % ACCUMULATE:
            with model.no_sync():
                model(x).square().mean().backward()
        else:
            model(x).square().mean().backward()
            optimizer.step()
            optimizer.zero_grad()

    timed(step, steps=32, warmup=8, wait=torch.cuda.synchronize) if rank == 0 else [step(i) for i in range(40)]
    torch.cuda.synchronize()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(train, nprocs=2)
# SPDX-License-Identifier: Apache-2.0
