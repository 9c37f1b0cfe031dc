"""Runs a program on the CPUs that are least used at this moment: calm.py [--gate=PIPE] PROGRAM [ARGUMENT…]

PROGRAM is a Python script or not. With a gate it waits, torch imported, until somebody has opened the pipe and closed it
again: many can import at once and then run one by one. A script's last line on stderr is "calm: " and how much longer a
piece of work took on its CPU after the run than on the best before it.

On a virtual machine whose host others use too, a CPU is half again as slow for seconds at a time while somebody works
on the other half of its core, and another CPU is not. Every way of running a program is treated alike: the choice is
made inside of what is profiled, after torch is imported, just before the program itself.
"""
import os
import pathlib
import runpy
import sys
import time

CPUS = os.sched_getaffinity(0)
SPREAD = 4  # CPUs to run on: the program's own thread, the driver's and the profiler's


def ms_alone():
    """How long a small piece of work takes here."""
    begun, total = time.perf_counter(), 0
    for i in range(20000):
        total += i & 7
    return 1e3 * (time.perf_counter() - begun)


def allow(cpus):
    for thread in os.listdir("/proc/self/task"):
        try:
            os.sched_setaffinity(int(thread), cpus)
        except OSError:  # ended
            pass


def move():
    """Moves this process, all its threads, to the calmest CPUs; says how long the work takes on the best."""
    found = []
    for cpu in CPUS:
        os.sched_setaffinity(0, {cpu})
        found.append((min(ms_alone(), ms_alone()), cpu))
    found.sort()
    allow({cpu for _, cpu in found[:SPREAD]})
    return found[0][0]


def use_torch():
    """Imports it, also what an optimizer would import on first use, for as many CPUs as will be left."""
    import torch
    import torch._dynamo
    torch.set_num_threads(SPREAD)


def main():
    gate = sys.argv.pop(1)[len("--gate="):] if sys.argv[1].startswith("--gate=") else None
    program = sys.argv[1]
    script = program.endswith(".py")
    if script and "import torch" in pathlib.Path(program).read_text():
        use_torch()
    if gate:
        open(f"{gate}.here", "w").close()
        with open(gate) as pipe:
            pipe.read()
    best = move()
    if not script:
        os.execv(program, sys.argv[1:])
    sys.argv = sys.argv[1:]
    sys.path[0] = str(pathlib.Path(program).resolve().parent)
    runpy.run_path(program, run_name="__main__")
    print(f"calm: {min(ms_alone(), ms_alone()) / best:.2f}", file=sys.stderr)


if __name__ == "__main__":
    main()
