"""offload.py - trains a wide network; its activations wait on the host for the backward pass."""
import contextlib

import torch

from steps import FIXED, timed

torch.manual_seed(0)
model = torch.nn.Sequential(*[m for _ in range(8) for m in (torch.nn.Linear(2048, 2048), torch.nn.GELU())]).cuda().bfloat16()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
x = torch.randn(4096, 2048, device="cuda", dtype=torch.bfloat16)


def saving():
    return contextlib.nullcontext() if FIXED else torch.autograd.graph.save_on_cpu(pin_memory=True)


def step(i):
    optimizer.zero_grad()
    with saving():
        loss = model(x).float().square().mean()
    loss.backward()
    optimizer.step()


timed(step, steps=30, warmup=6, wait=torch.cuda.synchronize)
# SPDX-License-Identifier: Apache-2.0
