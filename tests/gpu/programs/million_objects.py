# SPDX-License-Identifier: Apache-2.0
"""million_objects.py - trains on events that Python parses, beside an index of a million entries."""
import gc

import torch
from torch import nn

from steps import FIXED, timed

torch.manual_seed(0)
EVENTS = 20000
index = [[user, user * 7 % 1000] for user in range(1_000_000)]
model = nn.Sequential(*[part for _ in range(8) for part in (nn.Linear(1024, 1024), nn.ReLU())], nn.Linear(1024, 1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
features = torch.randn(EVENTS // 10, 1024, device="cuda")
kept = []


def parse(i):
    """The events of a batch, each a small list of what is known of it."""
    global kept
    kept = [[i, event, index[(i * EVENTS + event) % len(index)]] for event in range(EVENTS)]
    return len(kept)


def step(i):
    n = parse(i)
    optimizer.zero_grad()
    loss = model(features[:n // 10]).square().mean()
    loss.backward()
    optimizer.step()


if FIXED:
    gc.collect()
    gc.freeze()
    gc.disable()
timed(step, steps=200, warmup=20, wait=torch.cuda.synchronize)
