# SPDX-License-Identifier: Apache-2.0
"""adam_each.py - trains a mixer of 16 layers with Adam."""
import torch
from torch import nn

from steps import FIXED, timed

torch.manual_seed(0)
WIDTH, TOKENS = 256, 64


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.tokens, self.channels = nn.Linear(TOKENS, TOKENS), nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        x = x + self.tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + torch.relu(self.channels(self.norm2(x)))


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(16))
        self.head = nn.Linear(WIDTH, 10)

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return self.head(x.mean(1))


model = Mixer().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, **({"fused": True} if FIXED else {"foreach": False}))
x, y = torch.randn(64, TOKENS, WIDTH, device="cuda"), torch.randint(10, (64,), device="cuda")


def step(i):
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()


timed(step, steps=100, warmup=20, wait=torch.cuda.synchronize)
