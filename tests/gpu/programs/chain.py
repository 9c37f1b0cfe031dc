# SPDX-License-Identifier: Apache-2.0
"""chain.py - the pointwise part of a gated layer, operator by operator, on activations of 256 MiB."""
import torch

from steps import FIXED, timed

torch.manual_seed(0)
x, residual, gate = (torch.randn(8192, 8192, device="cuda") for _ in range(3))
scale, shift = 0.9, 0.1


def layer(x):
    h = x * scale
    h = h + shift
    h = h * torch.sigmoid(h)
    h = h + residual
    h = torch.clamp(h, -3, 3)
    return h * gate


if FIXED:
    layer = torch.compile(layer)


def step(i):
    with torch.inference_mode():
        layer(x)


timed(step, steps=200, warmup=20, wait=torch.cuda.synchronize)
