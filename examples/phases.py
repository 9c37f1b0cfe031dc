"""One script, three loops: each has its own kind of step, and a mean over all of them says nothing.

    python3 phases.py --marks    NVTX ranges say where each loop and each step begins
    python3 phases.py            without: steps must be told from the work itself

Training, validation with larger batches, and prediction of single rows with .item(), one after the other.
"""
import argparse
import contextlib
import time

import torch
from torch import nn
from torch.cuda import nvtx

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--marks", action="store_true", help="mark phases and steps with NVTX")
parser.add_argument("--steps", type=int, default=40, help="of each loop")
parser.add_argument("--warmup", type=int, default=5)
parser.add_argument("--width", type=int, default=1024)
parser.add_argument("--batch", type=int, default=1024)
args = parser.parse_args()

torch.manual_seed(0)
model = nn.Sequential(
    nn.Linear(args.width, args.width), nn.ReLU(),
    nn.Linear(args.width, args.width), nn.ReLU(),
    nn.Linear(args.width, 1)).cuda()
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(4 * args.batch, args.width, device="cuda")
y = torch.randn(4 * args.batch, 1, device="cuda")


def mark(name):
    return nvtx.range(name) if args.marks else contextlib.nullcontext()


def train(step):
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x[:args.batch]), y[:args.batch]).backward()
    optimizer.step()


@torch.inference_mode()
def validate(step):
    nn.functional.mse_loss(model(x), y)


@torch.inference_mode()
def predict(step):
    return model(x[step:step + 1]).item()


def loop(body):
    """Milliseconds a step of one phase."""
    for step in range(args.warmup):
        body(step)
    torch.cuda.synchronize()
    start = time.perf_counter()
    with mark(body.__name__):
        for step in range(args.steps):
            with mark(f"{body.__name__}_{step}"):
                body(step)
        torch.cuda.synchronize()
    return 1e3 * (time.perf_counter() - start) / args.steps


times = [f"{body.__name__} {loop(body):.3f} ms/step" for body in (train, validate, predict)]
name = "marked" if args.marks else "unmarked"
print(f"phases {name}: {', '.join(times)} ({args.steps} steps each)")
# SPDX-License-Identifier: Apache-2.0
