# SPDX-License-Identifier: Apache-2.0
"""Calls tiny operators of the CPU in a loop, and says how long the loop took: opcost.py WAY [CALLS]

flat      Python calls an operator that calls no other
nested    Python calls an operator that calls others
modules   as flat, inside six nn.Modules that call each other

Two calls before the loop make everything ready. The line "operators: ALL a call" says how many operators one call runs; it
comes from torch.profiler, after the loop, and only when asked for with CALLS = "count".
"""
import sys
import time

import torch
from torch import nn

way = sys.argv[1]
counting = sys.argv[2:] == ["count"]
calls = int(sys.argv[2]) if sys.argv[2:] and not counting else 20000


class Shell(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return self.inner(x)


class Core(nn.Module):
    def forward(self, x):
        return x.neg_()


x, weight = torch.zeros(1), torch.ones(4)
rows = torch.ones(1, 4)
model = Core()
for _ in range(5):
    model = Shell(model)


def flat(n):
    for _ in range(n):
        x.neg_()


def nested(n):
    layer_norm = torch.layer_norm
    for _ in range(n):
        layer_norm(rows, (4,), weight, weight)


def modules(n):
    for _ in range(n):
        model(x)


def count(loop):
    from torch.profiler import ProfilerActivity, profile
    with profile(activities=[ProfilerActivity.CPU]) as profiler:
        loop(10)
    return sum(event.count for event in profiler.key_averages()) / 10


loop = {"flat": flat, "nested": nested, "modules": modules}[way]
with torch.inference_mode():
    loop(2)
    begun = time.perf_counter()
    loop(calls)
    elapsed = time.perf_counter() - begun
    if counting:
        print(f"operators: {count(loop):g} a call")
print(f"opcost {way}: {1e3 * elapsed:.4f} ms/step ({calls} calls)")
