"""uncached.py - an autoencoder that keeps the GPU's memory tidy."""
import torch

from steps import FIXED, timed

torch.manual_seed(0)
sizes = [1024, 2048, 512, 2048, 1024]
model = torch.nn.Sequential(*[m for a, b in zip(sizes, sizes[1:]) for m in (torch.nn.Linear(a, b), torch.nn.ReLU())]).cuda()
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(8192, 1024, device="cuda")


def step(i):
    optimizer.zero_grad(set_to_none=True)
    loss = (model(x) - x).square().mean()
    loss.backward()
    optimizer.step()
    if not FIXED:
        torch.cuda.empty_cache()


timed(step, steps=60, warmup=10, wait=torch.cuda.synchronize)
# SPDX-License-Identifier: Apache-2.0
