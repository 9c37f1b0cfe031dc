# SPDX-License-Identifier: Apache-2.0
"""Runs steps of a program so that headway and torch.profiler can count the same operators.

    PROGRAM [--cpu] [--steps N] [--warmup N] [--profiler FILE]

The steps after the warm-up lie in a scope of record_function named "measured", which begins and ends with an idle device. With
--profiler those steps run under torch.profiler, and FILE gets, as JSON: "averages", how often each name of key_averages() ran;
"events", how often each name is among the events that key_averages() is made of; and "fast", how often torch opened each scope of the
class _RecordFunctionFast. Such a scope does nothing unless torch.profiler runs, so no other observer can see it.

Some code of torch opens a scope only where a flag of torch.autograd.profiler says that torch.profiler runs. Without --profiler that
flag is set for the measured steps, so that both runs execute the same code.
"""
import argparse
import collections
import contextlib
import json
import re

import torch
from torch.autograd import profiler as flags

parser = argparse.ArgumentParser()
parser.add_argument("--cpu", action="store_true")
parser.add_argument("--steps", type=int, default=8)
parser.add_argument("--warmup", type=int, default=4)
parser.add_argument("--profiler")
args = parser.parse_args()
device = "cpu" if args.cpu else "cuda"
CALL = re.compile("cu(da)?[A-Z]")  # calls of CUDA, which torch.profiler lists among the operators
torch.manual_seed(0)


def wait():
    if not args.cpu:
        torch.cuda.synchronize()


@contextlib.contextmanager
def fast_scopes():
    """Counts the scopes of _RecordFunctionFast by name; a torch without that class has none."""
    counts = collections.Counter()
    module = getattr(torch._C, "_profiler", None)
    made = getattr(module, "_RecordFunctionFast", None)
    if made is None:
        yield counts
        return

    def counted(*values, **named):
        counts[values[0] if values else named["name"]] += 1
        return made(*values, **named)

    module._RecordFunctionFast = counted
    try:
        yield counts
    finally:
        module._RecordFunctionFast = made


def steps_in_scope(step, scope):
    with scope:
        for i in range(args.steps):
            last = step(args.warmup + i)
        wait()
    return last


def measure(step):
    """Calls step(i), which returns a number or a tensor with one; prints the last one exactly."""
    for i in range(args.warmup):
        step(i)
    scope = flags.record_function("measured")  # older versions of torch run operators to make one
    wait()
    if args.profiler:
        import torch.profiler
        with fast_scopes() as fast, torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
            last = steps_in_scope(step, scope)
        averages = {event.key: event.count for event in profiler.key_averages() if not CALL.match(event.key)}
        events = collections.Counter(event.name() for event in profiler.profiler.kineto_results.events() if not CALL.match(event.name()))
        with open(args.profiler, "w") as file:
            json.dump({"averages": averages, "events": events, "fast": fast, "torch": torch.__version__}, file)
    else:
        flags._is_profiler_enabled = True
        last = steps_in_scope(step, scope)
        flags._is_profiler_enabled = False
    print(f"result {float(last).hex()}", flush=True)
