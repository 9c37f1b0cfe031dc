# SPDX-License-Identifier: Apache-2.0
"""Part 18: what sampling costs Python programs (-s process-tree at 1 kHz), in calm rounds.

Four processes take turns, as in part 3: plain, sampled only, recorded without samples, recorded with samples. Each line of a round has, by way: ms a
step, the small piece of work beside the run (1.00 is the shortest ever: more means that the machine was disturbed), and the CPU time that
headway's own process took meanwhile, in percent of the time of the run. A ratio is of the rounds in which all ways were calm.
"""
import collections
import os
import time

from harness import info, quotient
from part3 import RUNS, TRIES, rotated
from runners import Runner, calm_run, is_calm, shortest

TITLE = "-s process-tree on Python programs"
SAMPLES = ["-s", "process-tree", "--sampling-frequency=1000"]
# name: (what runs the program, options)
WAYS = {"plain": ("plain", []), "sampled": ("headway", ["-t", "none", *SAMPLES]), "recorded": ("headway", []), "both": ("headway", SAMPLES)}
LIMIT = 1.05
BATCHES, TURNS = 3, 12
FINISH_S = 25
Turn = collections.namedtuple("Turn", "run parent_share")
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


def cpu_s(pid):
    """CPU time of a process, all its threads; its children are not in it."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) * TICK_S


def turn_of(runner, words):
    """The calmest of some runs, and which share of one CPU headway's process took in all of them."""
    begun, before = time.monotonic(), cpu_s(runner.process.pid)
    one = calm_run(TRIES, lambda: runner.once(words))
    share = (cpu_s(runner.process.pid) - before) / (time.monotonic() - begun)
    return Turn(one, share if runner.way == "headway" else 0.0)


def told(name, row):
    cells = [f"{way} {turn.run.ms:.2f} ms, {turn.run.beside / shortest[0]:.2f}, {100 * turn.parent_share:.0f} %" for way, turn in row.items()]
    print(f"   {name}: " + "; ".join(cells), flush=True)


def batch(part, number):
    """Rounds: name -> [way -> Turn]."""
    rounds = {name: [] for name in RUNS if part.wants(name)}
    until = time.monotonic() + part.time_left() / (BATCHES - number)
    runners = {way: Runner(part.work / f"{way}-{number}", kind, *options) for way, (kind, options) in WAYS.items()}
    try:
        for runner in runners.values():
            runner.await_start()
        for runner in runners.values():  # to warm up
            for name in rounds:
                runner.once(RUNS[name])
        longest = 0
        for turn in range(TURNS):
            begun = time.monotonic()
            if begun + longest + FINISH_S > until:
                break
            for name in rounds:
                row = {way: turn_of(runners[way], RUNS[name]) for way in rotated(runners, number + turn)}
                rounds[name].append(row)
                told(name, row)
            longest = max(longest, time.monotonic() - begun)
    except RuntimeError as error:
        part.check("a batch of rounds", error, "", False)
    finally:
        for runner in runners.values():
            runner.quit()
        for runner in runners.values():
            runner.finish()
    count_samples(part, number)
    return rounds


def count_samples(part, number):
    for way in ("sampled", "both"):
        path = part.work / f"{way}-{number}.hwy"
        if not part.check(f"batch {number + 1}, {way}: report", "there" if path.exists() else "none", "there", path.exists()):
            continue
        found = info(path)
        samples = found["spans"].get("sample", {}).get("count", 0)
        part.check(f"batch {number + 1}, {way}: samples", f"{samples} in {found['duration_ns'] / 1e9:.1f} s", "some", samples > 0)
        lost = [f"{drop.get('what') or drop.get('name') or 'records'} {drop['count']}" for drop in found["drops"] if drop["count"]]
        part.note(f"batch {number + 1}, {way}: lost", ", ".join(lost) or "nothing")


def judge(part, name, batches_of_rows):
    """Ratios of all rounds, and of those in which every way was calm."""
    for which, keep in (("all rounds", lambda row: True), ("calm rounds", lambda row: all(is_calm(turn.run) for turn in row.values()))):
        rows = [kept for kept in ([row for row in rows if len(row) == len(WAYS) and keep(row)] for rows in batches_of_rows) if kept]
        count = sum(map(len, rows))
        if count < 4:
            part.check(f"{name}: {which}", count, "at least 4", False)
            continue
        values = {way: [[row[way].run.ms for row in kept] for kept in rows] for way in WAYS}
        for above, below in (("sampled", "plain"), ("both", "recorded"), ("recorded", "plain")):
            ratio, low, high = quotient(values[above], values[below])
            text = f"{ratio:.3f} ({low:.3f} to {high:.3f}), {count} rounds"
            if which == "calm rounds" and above != "recorded":
                part.check(f"{name}: {which}: {above} / {below}", text, f"≤ {LIMIT}", ratio <= LIMIT)
            else:
                part.note(f"{name}: {which}: {above} / {below}", text)
        parent = [100 * row[way].parent_share for kept in rows for row in kept for way in ("sampled",)]
        part.note(f"{name}: {which}: CPU of headway's process, sampled", f"{min(parent):.0f} to {max(parent):.0f} % of a CPU")


def go(part):
    found = []
    for number in range(BATCHES):
        if part.time_left() < 2 * FINISH_S:
            break
        found.append(batch(part, number))
    for name in RUNS:
        if part.wants(name):
            judge(part, name, [rounds[name] for rounds in found])
