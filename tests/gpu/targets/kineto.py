# SPDX-License-Identifier: Apache-2.0
"""A program that uses torch.profiler itself: kineto.py early|late RESULT

early: the profiler starts before CUDA does; late: after. Prints what it computed, and leaves with status 7; how
many device events and kernels the profiler saw, and how long the work took, goes to the file RESULT (JSON).
"""
import json
import sys
import time

import torch
from torch.cuda import nvtx
from torch.profiler import ProfilerActivity, profile

order, result = sys.argv[1:]


def work():
    nvtx.range_push("work")
    torch.manual_seed(0)
    x = torch.randn(256, 256, device="cuda")
    for _ in range(200):
        x = torch.tanh(x @ x * 0.01)
    value = float(x.sum())
    nvtx.range_pop()
    return value


if order == "late":
    work()
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
    value = work()
start = time.perf_counter()
for _ in range(20):
    work()
elapsed = time.perf_counter() - start

device = [event.name for event in profiler.events() if str(event.device_type).endswith("CUDA")]
kernels = [name for name in device if not name.startswith(("Memcpy", "Memset"))]
with open(result, "w") as file:
    json.dump({"device_events": len(device), "kernels": len(kernels), "ms": 1e3 * elapsed / 20}, file)
print(f"sum {value:.6f}")
sys.exit(7)
