"""Runs examples when asked to, and says their times a step: overhead.py NAME [torch]

Importing torch takes longer than what is measured, so a process stays for many runs. It says "ready" through the pipe
NAME.answer when it could begin, then runs the example that each line from NAME.ask names, and ends with the line "quit".
Nothing has touched the GPU before the first. With 'torch', each run is inside torch.profiler.

Each run begins on calm CPUs, see calm.py. An answer has three numbers: ms a step, and how many ms the same piece of work
for the CPU alone took just before and just after. Who asks can tell from those whether the CPU was the program's own.
"""
import contextlib
import io
import pathlib
import re
import runpy
import sys

import torch
import torch.profiler
from calm import move, ms_alone

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples"
RUNS = {"inmodel": ["inmodel.py", "--if", "--steps", "100", "--batch", "512"], "decode": ["decode.py", "--tokens", "30"]}
name, profiled = sys.argv[1], "torch" in sys.argv[2:]


def profiler():
    if not profiled:
        return contextlib.nullcontext()
    return torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU,
                                              torch.profiler.ProfilerActivity.CUDA])


def measure(command):
    """Milliseconds a step, as the example says, and of the work before and after it."""
    sys.argv = command
    said = io.StringIO()
    with profiler(), contextlib.redirect_stdout(said):
        before = move()
        runpy.run_path(str(EXAMPLES / command[0]), run_name="__main__")
        after = min(ms_alone(), ms_alone())
    return re.search(r": ([\d.]+) ms/step", said.getvalue()).group(1), before, after


with open(f"{name}.ask") as ask, open(f"{name}.answer", "w") as answer:
    print("ready", file=answer, flush=True)
    for line in ask:
        if line.strip() == "quit":
            break
        print(*measure(RUNS[line.strip()]), file=answer, flush=True)
