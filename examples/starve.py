"""A slow loader starves the GPU: the next batch is not there when the GPU is free.

    python3 starve.py --workers 0    samples are prepared between the steps
    python3 starve.py --workers 8    eight processes prepare them ahead

Every sample takes 1 ms to "decode". With batches of 128 that is 128 ms for one process; the model needs a few.
"""
import argparse
import time

import torch
from torch import nn
from torch.cuda import nvtx
from torch.utils.data import DataLoader, Dataset

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--workers", type=int, default=0, help="processes of the DataLoader: 0, 2, 8 …")
parser.add_argument("--batches", type=int, default=20)
parser.add_argument("--warmup", type=int, default=1)
parser.add_argument("--batch", type=int, default=128)
parser.add_argument("--sleep-ms", type=float, default=1.0, help="time to prepare a sample")
args = parser.parse_args()


class Slow(Dataset):
    def __len__(self):
        return (args.warmup + args.batches) * args.batch

    def __getitem__(self, index):
        time.sleep(args.sleep_ms / 1e3)
        return torch.randn(3, 64, 64), index % 10


def train():
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(64, 128, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(128, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batches = iter(DataLoader(Slow(), batch_size=args.batch, num_workers=args.workers))
    for step in range(args.warmup + args.batches):
        if step == args.warmup:
            torch.cuda.synchronize()
            start = time.perf_counter()
        images, labels = next(batches)
        nvtx.range_push("forward")
        loss = nn.functional.cross_entropy(model(images.cuda()), labels.cuda())
        nvtx.range_pop()
        nvtx.range_push("backward")
        loss.backward()
        nvtx.range_pop()
        nvtx.range_push("optimizer")
        optimizer.step()
        optimizer.zero_grad()
        nvtx.range_pop()
    torch.cuda.synchronize()
    return time.perf_counter() - start


if __name__ == "__main__":
    elapsed = train()
    print(f"starve {args.workers} workers: {1e3 * elapsed / args.batches:.3f} ms/step ({args.batches} steps)")
# SPDX-License-Identifier: Apache-2.0
