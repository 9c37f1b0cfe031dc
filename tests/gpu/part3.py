"""Part 3: what profiling costs, beside Nsight Systems and torch.profiler, in alternating rounds.

A round runs every way once, in rotating order. A process's value is the median of its repetitions; the table has
medians over rounds, as ratios to the plain program, with 95 % intervals from resampling whole rounds.
"""
import re
import statistics
import time

from harness import example, headway, last_words, nsys, quotient, run, start, stop, target

TITLE = "Overhead"


def rotated(ways, by):
    ways = list(ways)
    return ways[by % len(ways):] + ways[:by % len(ways)]


def judge(part, name, values, unit="ms/step"):
    """values: way -> one value a round."""
    rounds = len(values["plain"])
    if not part.check(f"{name}: rounds", rounds, "at least 9", rounds >= 9) and not rounds:
        return
    plain = statistics.median(values["plain"])
    part.note(f"{name}: plain", f"{plain:.3f} {unit}, {min(values['plain']):.3f} to {max(values['plain']):.3f}")
    for way in values:
        if way != "plain":
            ratio, low, high = quotient(values[way], values["plain"])
            part.note(f"{name}: {way} / plain", f"{ratio:.3f} ({low:.3f} to {high:.3f}), "
                      f"{statistics.median(values[way]):.3f} {unit}")
    ratio, low, high = quotient(values["headway"], values["nsys"])
    part.check(f"{name}: headway / nsys", f"{ratio:.3f} ({low:.3f} to {high:.3f})", "upper bound ≤ 1.03",
               high <= 1.03)
    if "torch" in values:
        added = {way: statistics.median(values[way]) - plain for way in ("headway", "torch")}
        part.check(f"{name}: added by headway / by torch.profiler",
                   f"{added['headway']:.3f} / {added['torch']:.3f} {unit}", "below half",
                   added["headway"] < 0.5 * added["torch"])


def graphs(part):
    program = example("graphs", "launch", "100")
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


def torch_round(part, number):
    """One process a way; they import side by side, then each has the machine for itself until it has ended."""
    gates = {way: part.work / f"gate-{number}-{way}" for way in ("plain", "headway", "nsys", "torch")}
    program = {way: target("overhead", gates[way], 3) for way in gates}
    program["torch"] = target("overhead", gates["torch"], 2, "torch")  # its own reading of the events takes long
    program["headway"] = headway(part.work / "torch.hwy", program["headway"])
    program["nsys"] = nsys(part.work / "torch", program["nsys"])
    running = {way: start(command, log=part.work / f"log-{number}-{way}") for way, command in program.items()}
    try:
        limit = time.monotonic() + 90
        while not all(gate.with_name(gate.name + ".ready").exists() for gate in gates.values()):
            gone = [way for way, process in running.items() if process.poll() is not None]
            if gone or time.monotonic() > limit:
                raise RuntimeError(f"{', '.join(gone) or 'some'} did not get ready, see {part.work}")
            time.sleep(0.05)
        for way in rotated(running, number):
            gates[way].with_name(gates[way].name + ".go").touch()
            if running[way].wait(timeout=60) != 0:
                raise RuntimeError(f"{way}: exit {running[way].returncode}, see {part.work}")
    finally:
        for process in running.values():
            if process.poll() is None:
                stop(process)
                process.wait()
    return {way: read_times(part.work / f"log-{number}-{way}") for way in running}


def read_times(log):
    """What targets/overhead.py printed: example -> median of its repetitions."""
    lines = re.findall(r"^(inmodel|decode)((?: [\d.]+)+)$", log.read_text(), re.M)
    return {name: statistics.median(map(float, times.split())) for name, times in lines}


def torch(part):
    values = {name: {way: [] for way in ("plain", "headway", "nsys", "torch")} for name in ("inmodel", "decode")}
    longest = 0
    for number in range(part.rounds):
        if part.time_left() < longest + 5:
            break
        begun = time.monotonic()
        try:
            row = torch_round(part, number)
        except Exception as error:  # one lost round is no reason to lose all
            part.check("inmodel, decode: a round", error, "", False)
            continue
        longest = max(longest, time.monotonic() - begun)
        for name in values:
            for way in values[name]:
                values[name][way].append(row[way][name])
    for name in values:
        judge(part, name, values[name])


def afterwards(part):
    """A launch after the range has ended costs what it costs without Headway."""
    program = target("afterwards")
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
               f"{statistics.median(after['headway']):.0f} ns a launch", "≤ 1.02, or 1 in the interval",
               ratio <= 1.02 or low <= 1)


def go(part):
    for name, test in (("graphs", graphs), ("afterwards", afterwards), ("torch", torch)):
        if part.wants(name):
            test(part)
