"""adam_loop.py - trains a deep, narrow network."""
import torch

from steps import FIXED, timed

torch.manual_seed(0)
layers = []
for _ in range(60):
    layers += [torch.nn.Linear(256, 256), torch.nn.LayerNorm(256), torch.nn.GELU()]
model = torch.nn.Sequential(*layers).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, **({"fused": True} if FIXED else {"foreach": False}))
x = torch.randn(512, 256, device="cuda")


def step(i):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()


timed(step, steps=40, warmup=8, wait=torch.cuda.synchronize)
# SPDX-License-Identifier: Apache-2.0
