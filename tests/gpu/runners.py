# SPDX-License-Identifier: Apache-2.0
"""Runs of one program that can be compared, on a machine whose CPUs others use too.

A run is measured together with a small piece of work for its CPU just before it and just after. Where that took longer
than the shortest ever did, the run was disturbed: calm_run repeats it, and which run counts is told by that work, not by its own time.
"""
import collections
import contextlib
import os
import select
import subprocess
import sys
import time

from harness import TARGETS, calm, example, headway, nsys, run, start, stop, target

sys.path.append(str(TARGETS))
from calm import CPUS, look_around, ms_on  # noqa: E402, in the folder of what runs on the device

CALM = 1.15  # a piece of work that took this much longer than the shortest was disturbed
Run = collections.namedtuple("Run", "ms beside")  # a step; the piece of work beside it, the longer of the two
shortest = [float("inf")]  # the piece of work, ever


def kept(ms, *beside):
    shortest[0] = min(shortest[0], *beside)
    return Run(ms, max(beside))


def is_calm(one):
    return one.beside <= CALM * shortest[0]


def calm_run(tries, once):
    """One run, repeated while it was disturbed: the calmest."""
    tried = []
    while len(tried) < tries and not (tried and is_calm(tried[-1])):
        tried.append(once())
    return min(tried, key=lambda one: one.beside)


class Runner:
    """A process that runs examples of torch when asked to (targets/runner.py), until then it sleeps."""

    def __init__(self, name, way="plain", *options):
        self.way, self.is_ready, self.ends = way, False, []
        for end in ("ask", "answer"):
            os.mkfifo(f"{name}.{end}")
            self.ends.append(os.open(f"{name}.{end}", os.O_RDWR))  # with both ends open, neither side waits
        program = target("runner", name, *(["torch"] if way == "torch" else []))
        if way == "headway":
            program = headway(f"{name}.hwy", program, *options)
        if way == "nsys":
            program = nsys(name, program, *options)
        self.process = start(program, log=f"{name}.log")

    def answer(self, within):
        """The next line; fails when the process ends or takes too long."""
        until = time.monotonic() + within
        while not select.select(self.ends[1:], [], [], 0.2)[0]:
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{self.way}: no answer, exit status {self.process.returncode}")
        return os.read(self.ends[1], 4096).decode()

    def await_start(self):
        """Waits until it could begin."""
        self.is_ready = self.is_ready or self.answer(90) == "ready\n"

    def tell(self, *words):
        """What it is to do; hear() then waits for it."""
        self.await_start()
        os.write(self.ends[0], f"{' '.join(words)}\n".encode())

    def hear(self):
        said = self.answer(60)
        if said.startswith("failed"):
            raise RuntimeError(f"{self.way}: {said.strip()}")
        return said.split()

    def ask(self, *words):
        self.tell(*words)
        return self.hear()

    def once(self, words, bind="turns"):
        """One run of an example."""
        return self.once_script(example(*words), bind)

    def once_script(self, command, bind="turns"):
        """One run of a Python script; the command is what example() or target() yields."""
        return kept(*map(float, self.ask(bind, *command[1:])))

    def quit(self):
        os.write(self.ends[0], b"quit\n")

    def finish(self):
        """Ends it, and waits for its report."""
        self.quit()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=60)
        self.drop()

    def drop(self):
        """Ends it whatever it does, if it is still there."""
        if not self.ends:
            return
        stop(self.process)
        self.process.wait()
        for end in self.ends:
            os.close(end)
        self.ends = []


def run_program(command, recorded=lambda program: program):
    """One run of a program that is no Python script, begun on the calmest CPU: what it did, and the Run."""
    before, cpu = min(look_around())
    done = run(recorded(calm(command, cpu=cpu)))
    after = ms_on(cpu)
    os.sched_setaffinity(0, CPUS)
    return done, kept(done.ms, before, after)
