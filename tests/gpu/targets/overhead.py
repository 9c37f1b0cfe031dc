"""Runs examples several times in one process, and prints each time a step: overhead.py GATE REPETITIONS [torch]

Importing torch takes longer than what is measured, so several of these import side by side: each creates GATE.ready
when it could begin, and begins when GATE.go is there. Nothing has touched the GPU by then. With 'torch', each run is
inside torch.profiler.
"""
import contextlib
import io
import os
import pathlib
import re
import runpy
import sys
import time

import torch
import torch.profiler

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples"
RUNS = [["inmodel.py", "--if", "--steps", "100"], ["decode.py", "--tokens", "30"]]
gate, repetitions, profiled = sys.argv[1], int(sys.argv[2]), "torch" in sys.argv[3:]


def profiler():
    if not profiled:
        return contextlib.nullcontext()
    return torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU,
                                              torch.profiler.ProfilerActivity.CUDA])


def ms_of(command):
    """Milliseconds a step, as the example says."""
    sys.argv = command
    said = io.StringIO()
    with profiler(), contextlib.redirect_stdout(said):
        runpy.run_path(str(EXAMPLES / command[0]), run_name="__main__")
    return re.search(r": ([\d.]+) ms/step", said.getvalue()).group(1)


pathlib.Path(f"{gate}.ready").touch()
while not os.path.exists(f"{gate}.go"):
    time.sleep(0.01)
for command in RUNS:
    print(command[0].removesuffix(".py"), *(ms_of(command) for _ in range(repetitions)), flush=True)
