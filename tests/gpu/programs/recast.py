# SPDX-License-Identifier: Apache-2.0
"""recast.py - runs a network of fp32 weights in bfloat16."""
import torch
from torch import nn

from steps import FIXED, timed

torch.manual_seed(0)
WIDTH = 4096


class Cast(nn.Linear):
    """A linear layer that computes in bfloat16."""

    def forward(self, x):
        return nn.functional.linear(x, self.weight.to(torch.bfloat16), self.bias.to(torch.bfloat16))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = Cast(WIDTH, 4 * WIDTH), Cast(4 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(12))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


with torch.device("cuda"):
    model = Net().eval()
    x = torch.randn(256, WIDTH, dtype=torch.bfloat16)
if FIXED:
    model = model.to(torch.bfloat16)


@torch.no_grad()
def step(i):
    model(x)


timed(step, steps=200, warmup=20, wait=torch.cuda.synchronize)
