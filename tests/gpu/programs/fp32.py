"""fp32.py - trains a wide network and prints its loss."""
import torch

from steps import FIXED, timed

if FIXED:
    torch.set_float32_matmul_precision("high")
torch.manual_seed(0)
model = torch.nn.Sequential(*[m for _ in range(6) for m in (torch.nn.Linear(4096, 4096), torch.nn.GELU())]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
x, y = torch.randn(4096, 4096, device="cuda"), torch.randn(4096, 4096, device="cuda")
losses = []


def step(i):
    optimizer.zero_grad(set_to_none=True)
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())


timed(step, steps=30, warmup=5, wait=torch.cuda.synchronize)
# SPDX-License-Identifier: Apache-2.0
