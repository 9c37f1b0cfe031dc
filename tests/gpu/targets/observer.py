# SPDX-License-Identifier: Apache-2.0
"""What an operator costs more because it is recorded, with the observer switched on and off by turns in one process:

    headway profile -t pytorch python3 tests/gpu/targets/observer.py

Prints, for three loops, the shortest of 40 times of a call without, and how much more it takes with. A call of "flat" runs 5 operators, one of
"nested" 3, one of "modules" the 5 of "flat" inside six nn.Modules that call each other.
"""
import ctypes
import glob
import os
import time

import torch
from torch import nn

torch.set_num_threads(1)
paths = [os.path.join(os.path.dirname(torch.__file__), "lib", "libtorch_cpu.so"), *glob.glob("/usr/lib/*/libtorch_cpu.so.*")]
library = ctypes.CDLL(next(path for path in paths if os.path.exists(path)))
OURS = 1  # the handle of the first observer of the process
off, on = library._ZN2at15disableCallbackEm, library._ZN2at16reenableCallbackEm
off.argtypes = on.argtypes = [ctypes.c_uint64]
x, matrix = torch.zeros(1), torch.zeros(1, 1)


class Nested(nn.Module):
    def __init__(self, depth):
        super().__init__()
        self.inner = Nested(depth - 1) if depth else None

    def forward(self, y):
        return self.inner(y) if self.inner is not None else y.add_(1)


model = Nested(5)


def flat(n):
    for _ in range(n):
        x.add_(1)  # converts the 1 to a tensor of x's type


def nested(n):
    for _ in range(n):
        matrix.t()


def modules(n):
    for _ in range(n):
        model(x)


def ns_a_call(loop, n):
    begin = time.perf_counter_ns()
    loop(n)
    return (time.perf_counter_ns() - begin) / n


shortest = {}
for _ in range(40):
    for loop, n in ((flat, 4000), (nested, 2000), (modules, 1000)):
        for switch in (off, on):
            switch(OURS)
            key = loop.__name__, switch is on
            shortest[key] = min(ns_a_call(loop, n), shortest.get(key, float("inf")))
for name in ("flat", "nested", "modules"):
    print("%-8s %6.0f ns, recorded %5.0f ns more" % (name, shortest[name, False], shortest[name, True] - shortest[name, False]))
