# SPDX-License-Identifier: Apache-2.0
"""gil_threads.py - trains a network while something else keeps statistics of the machine."""
import multiprocessing
import threading
import time

from steps import FIXED, timed

EACH = 100000


def statistics(stop):
    """Counts in Python for some milliseconds, rests, counts again."""
    while not stop.is_set():
        total = 0
        for i in range(EACH):
            total += i * i % 7
        time.sleep(0.001)


stop = multiprocessing.Event() if FIXED else threading.Event()
worker = (multiprocessing.Process if FIXED else threading.Thread)(target=statistics, args=(stop,), daemon=True)
worker.start()  # before torch: a fork must not inherit a CUDA context

import torch  # noqa: E402
from torch import nn  # noqa: E402

torch.manual_seed(0)
model = nn.Sequential(*[part for _ in range(20) for part in (nn.Linear(1024, 1024), nn.ReLU())]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, fused=True)
x = torch.randn(1024, 1024, device="cuda")


def step(i):
    optimizer.zero_grad()
    loss = model(x).square().mean()
    loss.backward()
    optimizer.step()


timed(step, steps=100, warmup=20, wait=torch.cuda.synchronize)
stop.set()
worker.join()
