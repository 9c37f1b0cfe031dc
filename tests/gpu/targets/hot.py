# SPDX-License-Identifier: Apache-2.0
"""Products in bf16 for some seconds, which bring a GPU to its power limit by themselves: hot.py [SECONDS]"""
import sys
import time

import torch
from torch.cuda import nvtx

seconds = float(sys.argv[1]) if sys.argv[1:] else 6
a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
begun, steps = time.perf_counter(), 0
while time.perf_counter() - begun < seconds:
    nvtx.range_push(f"step_{steps}")
    for _ in range(50):
        a @ b
    torch.cuda.synchronize()
    nvtx.range_pop()
    steps += 1
took = time.perf_counter() - begun
print(f"hot bf16: {1e3 * took / steps:.3f} ms/step ({steps} steps)")
