# SPDX-License-Identifier: Apache-2.0
"""Part 21: what clocks, GPU metrics and `headway kernels` cost.

NVML and PM sampling look at the device, not at one process, so processes of two ways must not live at the same time. Each way has a process of its own,
one after the other: recorded (with clocks 20 times a second), recorded with metrics at 10 kHz, recorded without NVML. In each the examples run several
times, as in part 3. In the process with clocks the watcher is stopped and let go on by turns: the same process with polling and without.

Step times with clocks and without must not differ measurably; with metrics they may be 2 % longer. Clocks are told before, during and after.

`headway kernels --set=roofline` is held against `ncu --set roofline`, on as many launches of the same kernels of decode: wall time over that of the plain program.
"""
import os
import re
import signal
import threading
import time

from counters import METRICS, base_name, clocks_now, find_ncu, metric_table, say_clocks
from harness import HEADWAY, ask_headway, example, headway, last_words, middle, quotient, run
from runners import Runner, calm_run

TITLE = "What clocks, GPU metrics and headway kernels cost"
RUNS = {"decode": ["decode", "--tokens", "40"], "mlp": ["mlp", "--steps", "40"]}
LONG = ["mlp", "--steps", "150"]  # long enough to be looked at meanwhile
WAYS = {"clocks": [], "metrics": METRICS, "without": []}
TURNS, TRIES = 4, 2
LEAST_S = 18  # that a process with its turns takes
MOST_CLOCKS, MOST_METRICS = 1.005, 1.02
FIFTH = 0.2


# ---- processes


def children_of(pid):
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat") as file:
                if int(file.read().rsplit(")", 1)[1].split()[1]) == pid:
                    found.append(int(name))
        except OSError:
            pass
    return found


def watcher_of(pid):
    """The watcher of a headway process, which has NVML open; None where there is none. A program may have NVML open, too."""
    for child in children_of(pid):
        try:
            with open(f"/proc/{child}/comm") as file:
                if file.read().strip() == "hwy-watcher":
                    return child
        except OSError:
            pass
    return None


def start_runner(part, way, number):
    """A runner; without NVML where the way says so: an empty file of its name is found first, which cannot be opened as a library."""
    folder, before = part.work / "no-nvml", os.environ.get("LD_LIBRARY_PATH")
    if way == "without":
        folder.mkdir(exist_ok=True)
        (folder / "libnvidia-ml.so.1").write_bytes(b"")
        os.environ["LD_LIBRARY_PATH"] = f"{folder}:{before}" if before else str(folder)
    try:
        return Runner(part.work / f"{way}-{number}", "headway", *WAYS[way])
    finally:
        if before is None:
            os.environ.pop("LD_LIBRARY_PATH", None)
        else:
            os.environ["LD_LIBRARY_PATH"] = before


def during(runner):
    """What nvidia-smi says while the GPU works."""
    seen = []
    looker = threading.Timer(0.6, lambda: seen.append(clocks_now()))
    looker.start()
    runner.once(LONG)
    looker.join()
    return seen[0]


def one_process(part, way, number):
    """Turns in one process: (program, is polled) -> ms a step."""
    found, stopped = {}, None
    before = clocks_now()
    runner = start_runner(part, way, number)
    try:
        runner.await_start()
        for words in RUNS.values():
            runner.once(words)  # to warm up
        meanwhile = during(runner)
        watcher = watcher_of(runner.process.pid) if way == "clocks" else None
        if way == "clocks":
            part.note(f"batch {number + 1}: process that reads NVML", watcher or "not found")
        for turn in range(TURNS * (2 if watcher else 1)):
            if watcher:
                stopped = turn % 2 == 1
                os.kill(watcher, signal.SIGSTOP if stopped else signal.SIGCONT)
            for name, words in RUNS.items():
                found.setdefault((name, not stopped), []).append(calm_run(TRIES, lambda: runner.once(words)).ms)
        if watcher:
            os.kill(watcher, signal.SIGCONT)
    except (RuntimeError, OSError) as error:
        part.check(f"batch {number + 1}, {way}", error, "", False)
        meanwhile = None
    finally:
        runner.finish()
    after = clocks_now()
    part.note(f"batch {number + 1}, {way}: clocks before, during, after", "; ".join(map(say_clocks, (before, meanwhile, after))))
    tell_clocks(part, f"batch {number + 1}, {way}", way, part.work / f"{way}-{number}.hwy")
    return found


def tell_clocks(part, what, way, report):
    if not part.check(f"{what}: report", report.exists(), True, report.exists()):
        return
    rows = metric_table(report)
    wanted = {"without": (False, False), "clocks": (True, False), "metrics": (True, True)}[way]
    there = tuple(metric in rows for metric in ("SM Clock", "SMs Active [Throughput %]"))
    part.check(f"{what}: clocks, metrics", ", ".join(map(str, there)), ", ".join(map(str, wanted)), there == wanted)
    for metric in ("SM Clock", "GPC Clock Frequency [MHz]"):
        if metric in rows:
            row = rows[metric]
            part.note(f"{what}: {metric}", f"{row['Avg'] * 1e-6:.0f} MHz on average, at most {row['Max'] * 1e-6:.0f}, {row['Samples']} samples")


def ratio_of(part, what, above, below, limit=None):
    """A ratio of step times by batches; with a limit it is a check."""
    if not above or not below:
        part.check(what, "no rounds", "some", False)
        return
    above, below = above[:len(below)], below[:len(above)]
    least = min(len(batch) for batch in above + below)
    ratio, low, high = quotient([batch[:least] for batch in above], [batch[:least] for batch in below])
    text = f"{ratio:.3f} ({low:.3f} to {high:.3f}); {middle(below):.3f} → {middle(above):.3f} ms/step, {len(above)} × {least} runs"
    if limit:
        part.check(what, text, f"≤ {limit}, or 1 in the interval", ratio <= limit or low <= 1 <= high)
    else:
        part.note(what, text)


def sampling(part):
    """Batches with clocks and with metrics, then, where there is time, as many without NVML."""
    found, longest = {way: [] for way in WAYS}, LEAST_S
    for number, ways in enumerate([("clocks", "metrics"), ("metrics", "clocks"), ("without",), ("clocks", "metrics"), ("without",)]):
        if part.time_left() < len(ways) * longest:
            part.note(f"batch {number + 1}: left out", "no time left")
            continue
        for way in ways:
            begun = time.monotonic()
            turns = one_process(part, way, number)
            found[way] += [turns] if turns else []
            longest = max(longest, time.monotonic() - begun)
    for name in RUNS:
        def of(way, polled=True):
            return [turns[(name, polled)] for turns in found[way] if (name, polled) in turns]
        ratio_of(part, f"{name}: with clocks / the watcher stopped", of("clocks"), of("clocks", False), MOST_CLOCKS)
        ratio_of(part, f"{name}: metrics at 10 kHz / clocks only", of("metrics"), of("clocks"), MOST_METRICS)
        if found["without"]:
            ratio_of(part, f"{name}: with clocks / without NVML", of("clocks"), of("without"))


# ---- headway kernels


PROFILED = re.compile(r"==PROF== Profiling ")


def kernel_costs(part):
    program, report = example("decode", "--tokens", "4"), part.work / "decode.hwy"
    alone = min(run(program).seconds for _ in range(2))  # the first may read files that nobody has read yet
    done = run(headway(report, program, "-q"))
    if not part.check("decode: recorded", last_words(done) if done.rc else f"{done.seconds:.1f} s", "exit 0", done.rc == 0):
        return
    measure = [HEADWAY, "kernels", "-o", part.work / "decode.txt", "-f", report]
    full = run([*measure, "--", *program], timeout=90)
    (part.out / "kernels-decode.txt").write_text((part.work / "decode.txt").read_text())
    mine = run([*measure, "--set=roofline", "--", *program], timeout=90)
    if not part.check("decode: headway kernels", last_words(mine), "exit 0", mine.rc == 0):
        return
    measured = [kernel for kernel in ask_headway("kernels", "--format", "json", report)["kernels"] if kernel["counters"]]
    launches = sum(kernel["measured_launches"] for kernel in measured)
    names = "|".join(sorted({re.escape(base_name(kernel["name"])) for kernel in measured}))
    theirs = run([find_ncu(), "--set", "roofline", "--clock-control", "none", "--cache-control", "none", "-k", f"regex:^({names})$", "--launch-skip", "300",
                  "--launch-count", launches, *program], timeout=max(30, part.time_left() - 5))
    profiled = len(PROFILED.findall(theirs.out + theirs.err))
    part.check("decode: launches measured", f"{launches} of {len(measured)} kernels; ncu {profiled}", "as many", launches > 0 and profiled == launches)
    added = {"headway kernels": mine.seconds - alone, "ncu": theirs.seconds - alone}
    part.note("decode: seconds", f"plain {alone:.1f}, headway kernels {full.seconds:.1f}, --set=roofline {mine.seconds:.1f}, ncu --set roofline {theirs.seconds:.1f}")
    share = added["headway kernels"] / added["ncu"] if added["ncu"] > 0 else float("inf")
    part.check("decode: added by headway kernels --set=roofline / by ncu", f"{added['headway kernels']:.1f} / {added['ncu']:.1f} s = {share:.2f}", f"≤ {FIFTH}", share <= FIFTH)


def go(part):
    if part.wants("kernels"):
        kernel_costs(part)
    if part.wants("sampling"):
        sampling(part)
