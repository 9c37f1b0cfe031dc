"""Runs a program on the CPUs that are least used at this moment: calm.py PROGRAM [ARGUMENT…], a Python script or not.

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


def main():
    program = sys.argv[1]
    if not program.endswith(".py"):
        move()
        os.execv(program, sys.argv[1:])
    if "import torch" in pathlib.Path(program).read_text():
        import torch  # noqa: F401
    move()
    sys.argv = sys.argv[1:]
    sys.path[0] = str(pathlib.Path(program).resolve().parent)
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main()
