"""compiled.py - a compiled network that is fed sequences of many lengths."""
import torch

from steps import FIXED, timed

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(256, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 256), torch.nn.LayerNorm(256)).cuda()
model = torch.compile(net, dynamic=False)
torch._dynamo.config.cache_size_limit = 256
batches = [torch.randn(16, 64 + 8 * i, 256, device="cuda") for i in range(24)]
if FIXED:
    batches = [torch.nn.functional.pad(b, (0, 0, 0, 256 - b.shape[1])) for b in batches]


@torch.no_grad()
def step(i):
    model(batches[i % len(batches)]).sum()


timed(step, steps=20, warmup=4, wait=torch.cuda.synchronize)
# SPDX-License-Identifier: Apache-2.0
