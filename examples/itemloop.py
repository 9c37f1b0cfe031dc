"""A wait with nothing to wait for: in a launch-bound loop the GPU is done before the CPU asks.

    python3 itemloop.py --item    read the loss with .item() in every step
    python3 itemloop.py           do not

Each step launches a dozen tiny kernels. The GPU finishes each before the CPU has launched the next, so .item() finds
nothing to wait for. Removing it gains what the call itself costs the CPU, a tenth or so: the time goes into launching.
"""
import argparse
import time

import torch
from torch import nn

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--item", action="store_true", help="read the loss every step")
parser.add_argument("--steps", type=int, default=100)
parser.add_argument("--warmup", type=int, default=50)
parser.add_argument("--width", type=int, default=1000)
parser.add_argument("--batch", type=int, default=128)
args = parser.parse_args()

torch.manual_seed(0)
model = nn.Linear(args.width, args.width, device="cuda")
x = torch.randn(args.batch, args.width, device="cuda")
y = torch.randn(args.batch, args.width, device="cuda")

last = 0.0
for step in range(args.warmup + args.steps):
    if step == args.warmup:
        torch.cuda.synchronize()
        start = time.perf_counter()
    loss = nn.functional.mse_loss(model(x), y)
    if args.item:
        last = loss.item()
    loss.backward()
torch.cuda.synchronize()
elapsed = time.perf_counter() - start

name = "item" if args.item else "async"
print(f"itemloop {name}: {1e3 * elapsed / args.steps:.3f} ms/step ({args.steps} steps)")
# SPDX-License-Identifier: Apache-2.0
