"""Looking at the loss makes the CPU wait for the GPU, in every step.

    python3 mlp.py --sync     print(loss.item()) after every backward pass
    python3 mlp.py            the loss stays on the GPU until the end

The CPU normally runs ahead: it is at layer_9 while the GPU starts layer_1. .item() ends that lead, the queue runs
dry, and the GPU idles until the next launches arrive. How much that costs depends on how long the GPU is busy.
"""
import argparse
import time

import torch
from torch import nn
from torch.cuda import nvtx

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--sync", action="store_true", help="print the loss every step")
parser.add_argument("--steps", type=int, default=15)
parser.add_argument("--warmup", type=int, default=3)
parser.add_argument("--layers", type=int, default=10)
parser.add_argument("--width", type=int, default=2048)
parser.add_argument("--batch", type=int, default=2048)
args = parser.parse_args()


class MLP(nn.Module):
    def __init__(self, layers, width):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width, device="cuda") for _ in range(layers))

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            nvtx.range_push(f"layer_{i}")
            x = torch.relu(layer(x))
            nvtx.range_pop()
        return x


torch.manual_seed(0)
model = MLP(args.layers, args.width)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(args.batch, args.width, device="cuda")
y = torch.randn(args.batch, args.width, device="cuda")

for step in range(args.warmup + args.steps):
    if step == args.warmup:
        torch.cuda.synchronize()
        start = time.perf_counter()
    nvtx.range_push(f"step_{step}")
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    if args.sync:
        print(f"step {step}: loss {loss.item():.4f}")
    optimizer.step()
    nvtx.range_pop()
torch.cuda.synchronize()
elapsed = time.perf_counter() - start

name = "sync" if args.sync else "async"
print(f"mlp {name}: {1e3 * elapsed / args.steps:.3f} ms/step ({args.steps} steps)")
# SPDX-License-Identifier: Apache-2.0
