# SPDX-License-Identifier: Apache-2.0
"""A compiled network is trained; options as in measured.py."""
import torch
from torch import nn

from measured import args, device, measure

WIDTH = 64 if args.cpu else 1024


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


model = nn.Sequential(*[Layer() for _ in range(4)]).to(device)
compiled = torch.compile(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(512, WIDTH, device=device)


def step(i):
    optimizer.zero_grad(set_to_none=True)
    loss = compiled(x).square().mean()
    loss.backward()
    optimizer.step()
    return loss.detach()


measure(step)
