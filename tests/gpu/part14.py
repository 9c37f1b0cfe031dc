# SPDX-License-Identifier: Apache-2.0
"""Part 14: what PyTorch's operators and modules cost to record, beside Nsight Systems and torch.profiler.

Rounds, rotation, calm CPUs and intervals are those of part 3. targets/opcost.py tells the price of one operator: its loops run in a
process that is recorded with operators and in one that is not, by turns. Of an operator that another operator calls only its name and times
are kept; where Python calls it the place too, which is its Python stack with the nn.Modules on it.
"""
import re
import time

from harness import batches, bootstrap, calm, example, headway, last_words, middle, nsys, quotient, run, target
from part3 import RUNS, TRIES, rotated
from runners import Runner, calm_run

TITLE = "What operators and modules cost"
BATCHES, TURNS = 2, 12
OPERATORS = ["-t", "cuda,nvtx,pytorch"]
# name: (what runs the program, options)
WAYS = {"plain": ("plain", []), "headway": ("headway", ["-t", "cuda,nvtx"]), "operators": ("headway", OPERATORS), "nsys": ("nsys", []),
        "nsys-operators": ("nsys", ["--pytorch=autograd-nvtx"]), "torch": ("torch", [])}
NEEDED = ("plain", "headway", "operators", "nsys")
LOOPS = {"flat": 100000, "nested": 20000, "modules": 15000}  # of opcost.py: calls a run
GRAPHS_S = 60  # for the rounds of graphs
FINISH_S = 45  # nsys needs time for its reports


def ratio_text(values):
    return "{:.3f} ({:.3f} to {:.3f})".format(*values)


def judge(part, name, values):
    """values: way -> one value a round, or lists of those by batch."""
    rounds = sum(map(len, batches(values["plain"])))
    if not part.check(f"{name}: rounds", rounds, "at least 9", rounds >= 9) and not rounds:
        return
    part.note(f"{name}: plain", f"{middle(values['plain']):.3f} ms/step")
    for way in values:
        if way != "plain":
            part.note(f"{name}: {way} / plain", f"{ratio_text(quotient(values[way], values['plain']))}, "
                      f"{middle(values[way]):.3f} ms/step")
    ratio, low, high = quotient(values["operators"], values["nsys"])
    part.check(f"{name}: headway with operators / nsys without", ratio_text((ratio, low, high)), "upper bound ≤ 1.03", high <= 1.03)
    for way in ("nsys-operators", "torch"):
        if way in values:
            part.note(f"{name}: headway with operators / {way}", ratio_text(quotient(values["operators"], values[way])))


# ---- a program without Python


def graphs(part):
    program = calm(example("graphs", "launch", "60"))
    ways = {"plain": program, "headway": headway(part.work / "graphs.hwy", program),
            "operators": headway(part.work / "graphs-operators.hwy", program, *OPERATORS),
            "nsys": nsys(part.work / "graphs", program)}
    values = {way: [] for way in ways}
    run(ways["headway"])  # calibrates the machine, once
    until = time.monotonic() + min(GRAPHS_S, part.time_left())
    for number in range(part.rounds):
        if time.monotonic() > until:
            break
        row = {way: run(ways[way]) for way in rotated(ways, number)}
        bad = [f"{way}: {last_words(done)}" for way, done in row.items() if done.rc or done.ms is None]
        if bad:
            part.check("graphs launch: a round", "; ".join(bad), "exit 0", False)
            continue
        for way, done in row.items():
            values[way].append(done.ms)
    judge(part, "graphs launch", values)


# ---- programs of torch


def programs(part):
    """What one turn runs, by name: the command, and the ways that run it."""
    found = {name: (example(*words), list(WAYS)) for name, words in RUNS.items() if part.wants(name)}
    if part.wants("opcost"):
        found.update({loop: (target("opcost", loop, str(calls)), ["plain", "headway", "operators"]) for loop, calls in LOOPS.items()})
    return found


def started(part, number):
    """The processes of one batch, by way; those of a way that cannot start are left out."""
    made = {}
    for way, (kind, options) in WAYS.items():
        made[way] = Runner(part.work / f"{way}-{number}", kind, *options)
    for way, runner in list(made.items()):
        try:
            runner.await_start()
        except RuntimeError as error:
            part.check(f"batch {number + 1}: {way} starts", error, "it answers", way not in NEEDED)
            made.pop(way).drop()
    return made


def batch(part, number):
    """Rounds: name -> [way -> ms a step]. The processes take turns: each has the machine for itself."""
    rounds = {name: [] for name in programs(part)}
    until = time.monotonic() + part.time_left() / (BATCHES - number)
    runners = started(part, number)
    try:
        if not all(way in runners for way in NEEDED):
            return rounds
        for runner_way, runner in runners.items():  # to warm up
            for command, ways in programs(part).values():
                if runner_way in ways:
                    runner.once_script(command)
        longest = 0
        for turn in range(TURNS):
            begun = time.monotonic()
            if begun + longest + FINISH_S > until:
                break
            for name, (command, ways) in programs(part).items():
                order = [way for way in rotated(runners, number + turn) if way in ways]
                rounds[name].append({way: calm_run(TRIES, lambda: runners[way].once_script(command)).ms for way in order})
            longest = max(longest, time.monotonic() - begun)
            print(f"   batch {number + 1}, turn {turn + 1}: {longest:.0f} s", flush=True)
    except RuntimeError as error:
        part.check("a batch of rounds", error, "", False)
    finally:
        for runner in runners.values():
            runner.quit()
        for runner in runners.values():
            runner.finish()
    return rounds


def by_way(found, name):
    """way -> lists of values by batch, of the ways that every round has."""
    kept = [rounds for rounds in (rounds[name] for rounds in found) if rounds]
    ways = [way for way in WAYS if kept and all(way in row for rounds in kept for row in rounds)]
    return {way: [[row[way] for row in rounds] for rounds in kept] for way in ways}


def torch(part):
    found = []
    for number in range(BATCHES):
        if part.time_left() < 2 * FINISH_S:
            break
        found.append(batch(part, number))
    for name in RUNS:
        values = by_way(found, name) if part.wants(name) else {}
        if all(way in values for way in NEEDED):
            judge(part, name, values)
        elif part.wants(name):
            part.check(f"{name}: rounds", "none", "at least 9", False)
    if part.wants("opcost"):
        prices(part, {loop: by_way(found, loop) for loop in LOOPS})


# ---- the price of one


def operators_a_call(part, loop):
    done = run(target("opcost", loop, "count"))
    found = re.search(r"operators: ([\d.]+) a call", done.out)
    if done.rc or not found:
        part.check(f"opcost {loop}: count", last_words(done), "a number", False)
        return None
    return float(found.group(1))


def ns_text(values):
    return "{:.0f} ns ({:.0f} to {:.0f})".format(*values)


def prices(part, values):
    counts = {loop: operators_a_call(part, loop) for loop in LOOPS}
    if not all(counts.values()) or not all("operators" in values[loop] for loop in LOOPS):
        return
    ns = {loop: 1e6 / calls for loop, calls in LOOPS.items()}  # ms of a run to ns a call
    for loop in LOOPS:
        part.note(f"opcost {loop}: a call, plain", f"{middle(values[loop]['plain']) * ns[loop]:.0f} ns, {counts[loop]:g} operators")
        off = bootstrap(lambda on, none: (on - none) * ns[loop], values[loop]["headway"], values[loop]["plain"])
        part.note(f"opcost {loop}: added to a call without operators", ns_text(off))
        added = bootstrap(lambda on, none: (on - none) * ns[loop], values[loop]["operators"], values[loop]["plain"])
        part.note(f"opcost {loop}: added to a call with operators", ns_text(added))
    flat, nested, modules = (values[loop] for loop in ("flat", "nested", "modules"))
    more = counts["nested"] - counts["flat"]
    one = bootstrap(lambda a, b, c, d: ((a - b) * ns["nested"] - (c - d) * ns["flat"]) / more,
                    nested["operators"], nested["plain"], flat["operators"], flat["plain"])
    part.check("an operator", ns_text(one), "≤ 250 ns", one[0] <= 250)
    place = bootstrap(lambda c, d: (c - d) * ns["flat"], flat["operators"], flat["plain"])
    part.check("an operator with its place, outside of modules", ns_text(place), "≤ 2250 ns", place[0] <= 2250)
    inside = bootstrap(lambda a, b: (a - b) * ns["modules"], modules["operators"], modules["plain"])
    part.note("an operator with its place, inside of six modules", ns_text(inside))
    part.check("a module of these six", f"{(inside[0] - one[0]) / 6:.0f} ns", "≤ 2000 ns", inside[0] - one[0] <= 6 * 2000)


def go(part):
    if part.wants("graphs"):
        graphs(part)
    if any(part.wants(name) for name in (*RUNS, "opcost")):
        torch(part)
