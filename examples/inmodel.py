"""A Python `if` on a tensor inside forward() waits for the GPU, once a layer.

    python3 inmodel.py --if    clip activations only `if x.abs().max() > limit`
    python3 inmodel.py         the same, decided on the GPU with clamp

Python needs the value to decide, so the CPU stops until the GPU has computed it. With a wait in every layer the CPU
loses its lead each time, and the GPU idles while the next layer is launched.
"""
import argparse
import time

import torch
from torch import nn

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--if", action="store_true", dest="branch", help="decide in Python")
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--warmup", type=int, default=20)
parser.add_argument("--layers", type=int, default=12)
parser.add_argument("--width", type=int, default=1024)
parser.add_argument("--batch", type=int, default=4096)
args = parser.parse_args()
LIMIT = 100.0


class Net(nn.Module):
    def __init__(self, layers, width):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width, device="cuda") for _ in range(layers))

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
            peak = x.abs().max()
            if args.branch:
                if peak > LIMIT:
                    x = x * (LIMIT / peak)
            else:
                x = x / torch.clamp(peak / LIMIT, min=1.0)
        return x


def main():
    torch.manual_seed(0)
    model = Net(args.layers, args.width)
    x = torch.randn(args.batch, args.width, device="cuda")
    with torch.inference_mode():
        for step in range(args.warmup + args.steps):
            if step == args.warmup:
                torch.cuda.synchronize()
                start = time.perf_counter()
            model(x)
        torch.cuda.synchronize()
    elapsed = time.perf_counter() - start
    name = "if" if args.branch else "clamp"
    print(f"inmodel {name}: {1e3 * elapsed / args.steps:.3f} ms/step ({args.steps} steps)")


main()
# SPDX-License-Identifier: Apache-2.0
