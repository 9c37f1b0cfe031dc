"""Data that visits the host on its way costs two copies and a wait, in every step.

    python3 roundtrip.py --cpu    .cpu(), normalise there, and back to the GPU
    python3 roundtrip.py          normalise where the data is

.cpu() waits for all work before it, then the GPU idles while the CPU computes and copies back.
"""
import argparse
import time

import torch
from torch import nn

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--cpu", action="store_true", help="normalise on the CPU")
parser.add_argument("--steps", type=int, default=30)
parser.add_argument("--warmup", type=int, default=5)
parser.add_argument("--width", type=int, default=2048)
parser.add_argument("--batch", type=int, default=512)
args = parser.parse_args()


def normalise(x):
    return (x - x.mean(dim=1, keepdim=True)) / (x.std(dim=1, keepdim=True) + 1e-6)


def forward(first, second, x):
    x = torch.relu(first(x))
    if args.cpu:
        x = normalise(x.cpu()).cuda()
    else:
        x = normalise(x)
    return second(x)


torch.manual_seed(0)
first = nn.Linear(args.width, args.width, device="cuda")
second = nn.Linear(args.width, args.width, device="cuda")
x = torch.randn(args.batch, args.width, device="cuda")
with torch.inference_mode():
    for step in range(args.warmup + args.steps):
        if step == args.warmup:
            torch.cuda.synchronize()
            start = time.perf_counter()
        forward(first, second, x)
    torch.cuda.synchronize()
elapsed = time.perf_counter() - start

name = "cpu" if args.cpu else "gpu"
print(f"roundtrip {name}: {1e3 * elapsed / args.steps:.3f} ms/step ({args.steps} steps)")
# SPDX-License-Identifier: Apache-2.0
