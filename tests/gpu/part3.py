"""Part 3: what profiling costs, beside Nsight Systems and torch.profiler, in alternating rounds.

A round runs every way once, in rotating order. The table has medians over rounds, as ratios to the plain program,
with 95 % intervals from resampling whole rounds; rounds of the same processes are resampled together (see
harness.bootstrap), and all ways are treated alike.

On a machine that others use too, the same plain program is half again as slow in a third of its runs, as is any
other work for the CPU at that moment. So each run begins on CPUs that are calm (targets/calm.py). The examples of torch
are also run between two measurements of such work, the same for all ways; when one of those took 15 % longer than the
shortest, the run is repeated, up to TRIES times, and the calmest of them counts.
"""
import os
import re
import select
import time

from harness import batches, bootstrap, calm, example, headway, last_words, middle, nsys, quotient, run, start, stop, target

TITLE = "Overhead"
BATCHES, TURNS, TRIES = 4, 4, 3  # of torch
NAMES, WAYS = ("inmodel", "decode"), ("plain", "headway", "nsys", "torch")


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


class Worker:
    """A process that runs the examples when asked to (targets/overhead.py), until then it sleeps."""

    def __init__(self, part, way, number):
        self.way, name = way, part.work / f"{way}-{number}"
        self.disturbed = 0
        self.ends = []
        for end in ("ask", "answer"):
            os.mkfifo(f"{name}.{end}")
            self.ends.append(os.open(f"{name}.{end}", os.O_RDWR))  # with both ends open, neither side waits
        program = target("overhead", name, *(["torch"] if way == "torch" else []))
        if way == "headway":
            program = headway(f"{name}.hwy", program)
        if way == "nsys":
            program = nsys(name, program)
        self.process = start(program, log=f"{name}.log")

    def answer(self, within):
        """The next line; fails when the process ends or takes too long."""
        until = time.monotonic() + within
        while not select.select(self.ends[1:], [], [], 0.2)[0]:
            if self.process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"{self.way}: no answer, exit status {self.process.returncode}")
        return os.read(self.ends[1], 4096).decode()

    def once(self, name):
        """One run of an example: ms a step, and of the work before and after it."""
        os.write(self.ends[0], f"{name}\n".encode())
        return [float(number) for number in self.answer(60).split()]

    def turn(self, name, calm):
        """ms a step when the CPU was most the program's own. calm: the shortest time of the work beside it."""
        tried = []
        for _ in range(TRIES):
            step, *beside = self.once(name)
            calm[0] = min(calm + beside)
            tried.append((max(beside), step))
            if max(beside) <= 1.15 * calm[0]:
                break
        self.disturbed += min(tried)[0] > 1.15 * calm[0]
        return min(tried)[1]

    def finish(self):
        os.write(self.ends[0], b"quit\n")

    def end(self):
        try:
            self.process.wait(timeout=60)
        except Exception:
            stop(self.process)
            self.process.wait()
        for end in self.ends:
            os.close(end)


def torch_batch(part, number, calm):
    """Four processes, one a way, take turns: each has the machine for itself. Rounds: example -> [way -> ms a step]."""
    workers = [Worker(part, way, number) for way in WAYS]
    rounds = {name: [] for name in NAMES}
    try:
        for worker in workers:
            worker.answer(90)
        for worker in workers:
            for name in NAMES:
                worker.turn(name, calm)  # to warm up
        longest = 0
        for turn in range(TURNS):
            begun = time.monotonic()
            if part.time_left() < longest + 25:  # nsys needs time for its report
                break
            for name in NAMES:
                rounds[name].append({worker.way: worker.turn(name, calm)
                                     for worker in rotated(workers, number + turn)})
            longest = max(longest, time.monotonic() - begun)
    except RuntimeError as error:  # one lost batch is no reason to lose all
        part.check("inmodel, decode: a batch of rounds", error, "", False)
    finally:
        for worker in workers:
            worker.finish()
        for worker in workers:
            worker.end()
    part.note(f"torch, batch {number + 1}: runs that were disturbed all the same",
              ", ".join(f"{worker.way} {worker.disturbed}" for worker in workers))
    return rounds


def torch(part):
    found = {name: [] for name in NAMES}
    longest, calm = 0, [float("inf")]
    for number in range(BATCHES):
        if part.time_left() < longest + 10:
            break
        begun = time.monotonic()
        for name, rounds in torch_batch(part, number, calm).items():
            found[name].append(rounds)
        longest = max(longest, time.monotonic() - begun)
    for name in NAMES:
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
