# SPDX-License-Identifier: Apache-2.0
"""Part 19: `headway kernels` beside Nsight Compute, on fourteen kernels.

targets/twelve.cu and twelve.py run the same kernels for both, in rounds. Each number of headway's is held against the median of ncu's launches:
within 5 %, or the reason is told. A number may differ because

- the clock did: ns differ, but ns times Hz do not;
- it is next to nothing: shares within a point, bytes below a hundredth of what the memory could move in that time;
- the kernel does: ncu's own launches are as far apart.

What can be counted by hand (bytes that a copy must move, operations of a product) is held against the hand's number, too. The bound of ncu
follows from its speed-of-light numbers: see counters.ncu_bounds.
"""
import statistics
import time

import counters
from counters import DRAM, MEMORY, SM, alike, base_name, ncu_bounds, ncu_flop, number, percent_off, read_ncu
from harness import HEADWAY, ask_headway, headway, last_words, run, target

TITLE = "headway kernels beside Nsight Compute"
ROUNDS, LAUNCHES = 5, 3  # of the program that headway measures, and how many of its launches
NCU_ROUNDS = 2  # ncu measures all of them
LONGEST_S = 70
BYTES_PER_S = 4.8e12  # an H200's memory
CLOCK = "gpc__cycles_elapsed.avg.per_second"
WARPS = "sm__warps_active.avg.pct_of_peak_sustained_active"
NCU_METRICS = ["gpu__time_duration.sum", "dram__bytes_read.sum", "dram__bytes_write.sum", SM, DRAM, MEMORY, WARPS, CLOCK, "launch__grid_size", *counters.FLOP_METRICS]
N, FLOATS = 8192 * 8192, 4
HAND = {  # base name -> (fact, value)
    "copy": ("dram_bytes", 2 * FLOATS * N), "transpose_conflicts": ("dram_bytes", 2 * FLOATS * N), "transpose_padded": ("dram_bytes", 2 * FLOATS * N),
    "reduction": ("dram_bytes", FLOATS * N)}
HAND_LIKE = {  # the begin of a name, since libraries name their kernels after tiles
    "sm80_xmma_gemm_f32f32": ("flop", 2 * 4096 ** 3), "sm90_xmma_gemm_f32f32_tf32f32": ("flop", 2 * 8192 ** 3), "nvjet": ("flop", 2 * 8192 ** 3),
    "sm90_xmma_fprop": ("flop", 2 * 128 * 56 * 56 * 256 * 256 * 9), "cudnn_generated_fort_native_sdpa": ("flop", 4 * 16 * 32 * 2048 ** 2 * 128)}


def patience(part):
    return max(15, min(LONGEST_S, part.time_left()))


def measured_by_headway(part, which, program):
    """Base name -> the kernel as `headway kernels --format json` has it; those that took part in the rounds."""
    report = part.work / f"{which}.hwy"
    done = run(headway(report, program, "-q"), timeout=patience(part))
    if not part.check(f"{which}: recorded", last_words(done) if done.rc else f"{done.seconds:.0f} s", "exit 0", done.rc == 0):
        return {}
    done = run([HEADWAY, "kernels", "--kernels", "20", "--launches", LAUNCHES, "-o", part.work / f"{which}.txt", "-f", report,
                "--", *program], timeout=patience(part))
    if not part.check(f"{which}: headway kernels", last_words(done) if done.rc else f"{done.seconds:.0f} s; {last_words(done)}", "exit 0", done.rc == 0):
        return {}
    document = ask_headway("kernels", "--format", "json", report)
    (part.out / f"twelve-{which}.txt").write_text((part.work / f"{which}.txt").read_text())
    for note in document.get("notes", []):
        part.note(f"{which}: headway says", note)
    return {base_name(kernel["name"]): kernel for kernel in document["kernels"] if kernel["counters"]}


def measured_by_ncu(part, which, program):
    """Base name -> launches."""
    begun, report = time.monotonic(), part.work / f"{which}.ncu-rep"
    done = run([counters.find_ncu(), "-f", "-o", report, "--profile-from-start", "off", "--clock-control", "none", "--cache-control", "none",
                "--metrics", ",".join(NCU_METRICS), *program], timeout=patience(part))
    read = run([counters.find_ncu(), "--import", report, "--csv", "--page", "raw", "--print-units", "base"], timeout=patience(part))
    launches = read_ncu(read.out.splitlines())
    (part.out / f"twelve-{which}.csv").write_text(read.out)
    by_name = {}
    for launch in launches:
        by_name.setdefault(base_name(launch["Kernel Name"]), []).append(launch)
    part.check(f"{which}: ncu", f"{len(launches)} launches of {len(by_name)} kernels, {time.monotonic() - begun:.0f} s"
               if launches else last_words(done), "some", bool(launches))
    return by_name


# ---- one kernel


class Fact:
    """A number of both: headway's value of a kernel, ncu's of a launch, what is next to nothing, and its unit for people."""

    def __init__(self, name, mine, theirs, least, scale=1.0, unit=""):
        self.name, self.mine, self.theirs, self.least, self.scale, self.unit = name, mine, theirs, least, scale, unit


def of_launch(*names, scale=1.0):
    def value(launch):
        values = [number(launch.get(name) or "") for name in names]
        return None if None in values else scale * sum(values)
    return value


def of_counters(key):
    return lambda kernel: kernel["counters"].get(key)


def flop_of(kernel):
    return sum(kernel["counters"]["flop"].values()) if kernel["counters"].get("flop") else None


FACTS = [
    Fact("duration", of_counters("duration_ns"), of_launch("gpu__time_duration.sum"), lambda ns: 0, 1e-3, "us"),
    Fact("DRAM bytes", of_counters("dram_bytes"), of_launch("dram__bytes_read.sum", "dram__bytes_write.sum"), lambda ns: 0.01 * BYTES_PER_S * ns * 1e-9, 1e-6, "MB"),
    Fact("FLOP", flop_of, ncu_flop, lambda ns: 0, 1e-9, "G"),
    Fact("achieved occupancy", of_counters("occupancy"), of_launch(WARPS, scale=0.01), lambda ns: 0.01, 100, "%"),
    Fact("SM throughput", of_counters("of_sm"), of_launch(SM, scale=0.01), lambda ns: 0.01, 100, "%"),
    Fact("DRAM throughput", of_counters("of_dram"), of_launch(DRAM, scale=0.01), lambda ns: 0.01, 100, "%"),
]


def reason_for(fact, mine, theirs, kernel, launches):
    """Why a number may differ by more than 5 %; None where nothing says so."""
    ns = statistics.median(number(launch["gpu__time_duration.sum"]) for launch in launches)
    if alike(mine, theirs, 0, fact.least(ns)):
        return "next to nothing"
    spread = [fact.theirs(launch) for launch in launches]
    if min(spread) <= mine <= max(spread) or max(spread) - min(spread) > abs(mine - theirs):
        return f"ncu's launches lie between {fact.scale * min(spread):.4g} and {fact.scale * max(spread):.4g}"
    mine_hz, their_hz = kernel["counters"].get("sm_hz"), statistics.median(number(launch.get(CLOCK) or "") or 0 for launch in launches)
    if mine_hz and their_hz and fact.name in ("duration", "DRAM throughput"):
        # Shares of the memory's rate fall as a kernel slows down with the SMs' clock; ns rise.
        scaled = mine * mine_hz / their_hz if fact.name == "duration" else mine * their_hz / mine_hz
        if alike(scaled, theirs):
            return f"clocks differ: {mine_hz * 1e-6:.0f} and {their_hz * 1e-6:.0f} MHz"
    return None


def compare(part, name, kernel, launches):
    """Holds all facts against ncu's. Yields how many agree."""
    agree = 0
    for fact in FACTS:
        mine, all_theirs = fact.mine(kernel), [fact.theirs(launch) for launch in launches]
        if mine is None or None in all_theirs:
            part.check(f"{name}: {fact.name}", "headway has none" if mine is None else "ncu has none", "both", False)
            continue
        theirs = statistics.median(all_theirs)
        text = f"{fact.scale * mine:.5g} {fact.unit}, ncu {fact.scale * theirs:.5g}: {percent_off(mine, theirs)}"
        why = None if alike(mine, theirs) else reason_for(fact, mine, theirs, kernel, launches)
        agree += part.check(f"{name}: {fact.name}", f"{text}; {why}" if why else text, "5 %, or why", alike(mine, theirs) or why is not None)
    allowed = ncu_bounds(launches)
    agree += part.check(f"{name}: bound", f"{kernel['bound']}{' (' + kernel['memory'] + ')' if kernel.get('memory') else ''}; ncu {' or '.join(allowed)}: "
                        f"SM {counters.middle_of(launches, SM):.0f} %, memory {counters.middle_of(launches, MEMORY):.0f} %",
                        "as ncu", kernel["bound"] in allowed)
    return agree


def by_hand(part, name, kernel):
    truth = HAND.get(name) or next((fact for begin, fact in sorted(HAND_LIKE.items(), reverse=True) if name.startswith(begin)), None)
    if not truth:
        return
    key, value = truth
    mine = flop_of(kernel) if key == "flop" else kernel["counters"].get(key)
    part.check(f"{name[:40]}: {key} by hand", f"{mine:.5g}, by hand {value:.5g}: {percent_off(mine, value)}" if mine else "none", "5 %",
               mine is not None and alike(mine, value))


def one(part, which, program):
    mine, theirs = measured_by_headway(part, which, program(ROUNDS)), measured_by_ncu(part, which, program(NCU_ROUNDS))
    for name, launches in theirs.items():
        if not part.check(f"{name[:40]}: measured by both", name in mine, True, name in mine):
            continue
        compare(part, name[:40], mine[name], launches)
        by_hand(part, name, mine[name])


def go(part):
    for which, program in (("own", counters.own_twelve), ("torch", lambda rounds: target("twelve", str(rounds)))):
        if part.wants(which):
            one(part, which, program)
