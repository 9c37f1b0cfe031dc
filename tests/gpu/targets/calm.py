# SPDX-License-Identifier: Apache-2.0
"""Runs a program on the CPU that is least used at this moment: calm.py [--gate=PIPE] [--cpu=N] PROGRAM [ARGUMENT…]

PROGRAM is a Python script or not. With a gate it waits, torch imported, until somebody has opened the pipe and closed it
again: many can import at once and then run one by one. With --cpu it begins on that one. It may leave again: were it bound, so would
be the threads that a profiler starts in it.

On a virtual machine whose host others use too, a CPU is half as fast for a tenth of a second or for many while somebody works
on the other half of its core, and another CPU is not. Every way of running a program is treated alike: the choice is
made inside of what is profiled, after torch is imported, just before the program itself.
"""
import os
import pathlib
import runpy
import sys
import time

CPUS = os.sched_getaffinity(0)

def ms_alone():
    """How long a small piece of work takes here."""
    begun, total = time.perf_counter(), 0
    for i in range(20000):
        total += i & 7
    return 1e3 * (time.perf_counter() - begun)


def ms_on(cpu):
    """How long it takes on a CPU; this thread then stays there."""
    os.sched_setaffinity(0, {cpu})
    return min(ms_alone(), ms_alone())


def look_around():
    """How long it takes on each CPU: [(ms, CPU)]."""
    found = [(ms_on(cpu), cpu) for cpu in CPUS]
    os.sched_setaffinity(0, CPUS)
    return found


def move(cpu):
    """Moves this thread to a CPU, which it may leave again."""
    os.sched_setaffinity(0, {cpu})
    os.sched_setaffinity(0, CPUS)


def import_torch():
    import torch._dynamo  # noqa: F401, with all that an optimizer imports on first use


def become(script, arguments):
    """Runs a script as Python itself would; yields its global variables."""
    sys.argv = [script, *arguments]
    sys.path[0] = str(pathlib.Path(script).resolve().parent)
    return runpy.run_path(script, run_name="__main__")


def main():
    options = {}
    while sys.argv[1].startswith("--"):
        name, _, value = sys.argv.pop(1)[2:].partition("=")
        options[name] = value
    program = sys.argv[1]
    script = program.endswith(".py")
    if script and "import torch" in pathlib.Path(program).read_text():
        import_torch()
    if "gate" in options:
        gate = options["gate"]
        open(f"{gate}.here", "w").close()
        with open(gate) as pipe:
            pipe.read()
    move(int(options["cpu"]) if "cpu" in options else min(look_around())[1])
    if not script:
        os.execv(program, sys.argv[1:])
    become(program, sys.argv[2:])


if __name__ == "__main__":
    main()
