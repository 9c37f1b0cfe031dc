# SPDX-License-Identifier: Apache-2.0
"""Runs examples when asked to, and says their times a step: runner.py NAME [torch]

Importing torch takes longer than what is measured, so a process stays for many runs. It says "ready" through the pipe
NAME.answer when it could begin, then runs what each line from NAME.ask names, and ends with the line "quit". Such a line is
BIND SCRIPT [ARGUMENT…]; "load LIBRARY…" makes libraries ready that a script would make ready itself. Nothing has touched the
GPU before the first. With 'torch', each run is inside torch.profiler.

Each run begins on the calmest CPU, see calm.py. BIND says which threads stay there: those that take "turns" (Python's and the
backward pass's), the "main" one only (others work at the same time), or "none". A profiler's threads never do. An answer has
three numbers: ms a step, and how many ms the same piece of work for the CPU alone took just before and just after (bound to none:
its mean over all CPUs). Who asks can tell from those whether the CPU was the program's own. A run that fails is answered with
"failed" and the reason.
"""
import contextlib
import gc
import io
import os
import pathlib
import re
import statistics
import sys

import torch
import torch.profiler
from calm import CPUS, become, look_around, ms_on

with contextlib.suppress(ImportError):  # torch 1 has none
    import torch._dynamo  # noqa: F401, with all that an optimizer imports on first use

STEP_TIME = re.compile(r": ([\d.]+) ms/step")
name, profiled = sys.argv[1], "torch" in sys.argv[2:]


def profiler():
    if not profiled:
        return contextlib.nullcontext()
    return torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU,
                                              torch.profiler.ProfilerActivity.CUDA])


def is_bound(thread, bind):
    if thread == os.getpid():
        return bind != "none"
    return bind == "turns" and pathlib.Path(f"/proc/self/task/{thread}/comm").read_text().startswith("pt_autograd")


def load(libraries):
    """CUDA, cuBLAS, the thread of the backward pass, and those that compute on the CPU: all before anything is bound."""
    if "cupy" in libraries:
        import cupy
        (cupy.ones((64, 64)) @ cupy.ones(64)).sum()
    x = torch.ones(64, 64, device="cuda", requires_grad=True)
    (x @ x).sum().backward()
    torch.ones(1 << 22).add_(1).sum()
    torch.cuda.synchronize()
    return "loaded",


def settle(bind):
    """Moves to the calmest CPU: it, and how long the piece of work takes."""
    around = look_around()
    cpu = min(around)[1]
    for thread in map(int, os.listdir("/proc/self/task")):
        with contextlib.suppress(OSError):  # it may have ended
            os.sched_setaffinity(thread, {cpu} if is_bound(thread, bind) else CPUS)
    return cpu, ms_on(cpu) if bind != "none" else mean(around)


def mean(around):
    return statistics.mean(ms for ms, _ in around)


def measure(bind, script, *arguments):
    """Milliseconds a step, as the example says, and of the work before and after it."""
    if bind == "load":
        return load([script, *arguments])
    said = io.StringIO()
    gc.collect()  # what the run before has left
    with profiler(), contextlib.redirect_stdout(said):
        cpu, before = settle(bind)
        become(script, arguments)
        after = ms_on(cpu) if bind != "none" else mean(look_around())
    os.sched_setaffinity(0, CPUS)
    return STEP_TIME.search(said.getvalue()).group(1), before, after


gc.freeze()  # or a collection now and then would look at all of torch
with open(f"{name}.ask") as ask, open(f"{name}.answer", "w") as answer:
    print("ready", file=answer, flush=True)
    for line in ask:
        if line.strip() == "quit":
            break
        try:
            print(*measure(*line.split()), file=answer, flush=True)
        except (Exception, SystemExit) as error:
            print("failed", repr(error), file=answer, flush=True)
