# SPDX-License-Identifier: Apache-2.0
"""Part 3: what profiling costs, beside Nsight Systems and torch.profiler, in alternating rounds.

A round runs every way once, in rotating order. The table has medians over rounds, as ratios to the plain program,
with 95 % intervals from resampling whole rounds; rounds of the same processes are resampled together (see
harness.bootstrap), and all ways are treated alike.

On a machine that others use too, the same plain program is half again as slow in a third of its runs, as is any
other work for the CPU at that moment. So each run begins on CPUs that are calm (targets/calm.py). The examples of torch
are also run between two measurements of such work, the same for all ways; when one of those took 15 % longer than the
shortest, the run is repeated, up to TRIES times, and the calmest of them counts.
"""
import collections
import re
import time

from harness import batches, bootstrap, calm, example, headway, last_words, middle, nsys, quotient, run, target
from runners import Runner, calm_run, is_calm

TITLE = "Overhead"
BATCHES, TURNS, TRIES = 4, 4, 3  # of torch
RUNS = {"inmodel": ["inmodel", "--if", "--steps", "100", "--batch", "512"], "decode": ["decode", "--tokens", "30"]}
WAYS = ("plain", "headway", "nsys", "torch")


def rotated(ways, by):
    ways = list(ways)
    return ways[by % len(ways):] + ways[:by % len(ways)]


def judge(part, name, values, unit="ms/step"):
    """values: way -> one value a round, or lists of those by batch."""
    plain = [value for batch in batches(values["plain"]) for value in batch]
    if not part.check(f"{name}: rounds", len(plain), "at least 9", len(plain) >= 9) and not plain:
        return
    part.note(f"{name}: plain", f"{middle(plain):.3f} {unit}, {min(plain):.3f} to {max(plain):.3f}")
    for way in values:
        if way != "plain":
            ratio, low, high = quotient(values[way], values["plain"])
            part.note(f"{name}: {way} / plain", f"{ratio:.3f} ({low:.3f} to {high:.3f}), "
                      f"{middle(values[way]):.3f} {unit}")
    ratio, low, high = quotient(values["headway"], values["nsys"])
    part.check(f"{name}: headway / nsys", f"{ratio:.3f} ({low:.3f} to {high:.3f})", "upper bound ≤ 1.03",
               high <= 1.03)
    if "torch" in values:
        share, low, high = bootstrap(lambda ours, theirs, none: (ours - none) / (theirs - none) if theirs > none
                                     else float("inf"), values["headway"], values["torch"], values["plain"])
        added = {way: middle(values[way]) - middle(plain) for way in ("headway", "torch")}
        part.check(f"{name}: added by headway / by torch.profiler",
                   f"{added['headway']:.3f} / {added['torch']:.3f} {unit} = {share:.2f} ({low:.2f} to {high:.2f})",
                   "below half", share < 0.5)


def graphs(part):
    program = calm(example("graphs", "launch", "60"))
    ways = {"plain": program, "headway": headway(part.work / "graphs.hwy", program),
            "nsys": nsys(part.work / "graphs", program)}
    values = {way: [] for way in ways}
    run(ways["headway"])  # calibrates the machine, once
    for number in range(part.rounds):
        row = {way: run(ways[way]) for way in rotated(ways, number)}
        bad = [f"{way}: {last_words(done)}" for way, done in row.items() if done.rc or done.ms is None]
        if bad:
            part.check("graphs launch: a round", "; ".join(bad), "exit 0", False)
            continue
        for way, done in row.items():
            values[way].append(done.ms)
    judge(part, "graphs launch", values)


def calm_turn(runner, name):
    return calm_run(TRIES, lambda: runner.once(RUNS[name]))


def torch_batch(part, number):
    """Four processes, one a way, take turns: each has the machine for itself. Rounds: example -> [way -> ms a step]."""
    runners = [Runner(part.work / f"{way}-{number}", way) for way in WAYS]
    rounds, disturbed = {name: [] for name in RUNS}, collections.Counter()
    try:
        for runner in runners:
            runner.await_start()
        for runner in runners:
            for name in RUNS:
                calm_turn(runner, name)  # to warm up
        longest = 0
        for turn in range(TURNS):
            begun = time.monotonic()
            if part.time_left() < longest + 25:  # nsys needs time for its report
                break
            for name in RUNS:
                runs = {runner.way: calm_turn(runner, name) for runner in rotated(runners, number + turn)}
                rounds[name].append({way: one.ms for way, one in runs.items()})
                disturbed.update(way for way, one in runs.items() if not is_calm(one))
            longest = max(longest, time.monotonic() - begun)
    except RuntimeError as error:  # one lost batch is no reason to lose all
        part.check("inmodel, decode: a batch of rounds", error, "", False)
    finally:
        for runner in runners:
            runner.quit()
        for runner in runners:
            runner.finish()
    part.note(f"torch, batch {number + 1}: runs that were disturbed all the same",
              ", ".join(f"{way} {disturbed[way]}" for way in WAYS))
    return rounds


def torch(part):
    found = {name: [] for name in RUNS}
    longest = 0
    for number in range(BATCHES):
        if part.time_left() < longest + 10:
            break
        begun = time.monotonic()
        for name, rounds in torch_batch(part, number).items():
            found[name].append(rounds)
        longest = max(longest, time.monotonic() - begun)
    for name in RUNS:
        whole = [[row for row in rounds if len(row) == len(WAYS)] for rounds in found[name]]
        judge(part, name, {way: [[row[way] for row in rounds] for rounds in whole if rounds] for way in WAYS})


def afterwards(part):
    """A launch after the range has ended costs what it costs without Headway."""
    program = calm(target("afterwards"))
    ways = {"plain": program, "headway": headway(part.work / "after.hwy", program, "-c", "cudaProfilerApi",
                                                 "--capture-range-end=stop")}
    during, after = {way: [] for way in ways}, {way: [] for way in ways}
    for number in range(part.rounds):
        for way in rotated(ways, number):
            done = run(ways[way])
            found = re.search(r"during ([\d.]+) ns/launch, after ([\d.]+)", done.out)
            if done.rc or not found:
                part.check("after a capture range: a run", f"{way}: {last_words(done)}", "exit 0", False)
                return
            during[way].append(float(found.group(1)))
            after[way].append(float(found.group(2)))
    ratio, low, high = quotient(during["headway"], during["plain"])
    part.note("in a capture range: headway / plain", f"{ratio:.3f} ({low:.3f} to {high:.3f})")
    ratio, low, high = quotient(after["headway"], after["plain"])
    part.check("after a capture range: headway / plain", f"{ratio:.3f} ({low:.3f} to {high:.3f}), "
               f"{middle(after['headway']):.0f} ns a launch", "≤ 1.02, or 1 in the interval",
               ratio <= 1.02 or low <= 1)


def go(part):
    for name, test in (("graphs", graphs), ("afterwards", afterwards), ("torch", torch)):
        if part.wants(name):
            test(part)
