# SPDX-License-Identifier: Apache-2.0
"""Part 20: GPU metrics beside those of Nsight Systems, in alternating runs.

Each program runs under nsys and under headway by turns, both at 10 kHz. `headway stats -r gpu_metrics_sum` reads both recordings, so that the busy time
is found in the same way. A metric agrees where the median over headway's runs is within 5 % of that of nsys's, or within a point: nsys stores whole
percents. The programs keep the GPU busy or use it in one even way; where launches set the pace, the two tools' own cost would be compared.
Recordings are read when all of them are made, several at a time.
"""
import concurrent.futures
import shutil
import statistics

from counters import METRICS, alike, metric_table, percent_off, planted
from harness import example, headway, info, last_words, nsys, nsys_export, run, said

TITLE = "GPU metrics beside Nsight Systems"
POINT = 1.0
SMALL_BYTES = 4_000_000
LONGEST_S = 60
ROUNDS = 2
PROGRAMS = {
    "smallgrid": lambda: planted("smallgrid"), "persistent": lambda: planted("persistent"), "mlp": lambda: example("mlp", "--steps", "60"),
    "chain": lambda: planted("chain"), "gemms": lambda: planted("gemms"), "decode": lambda: example("decode", "--graph", "--tokens", "300"),
}
FEWEST = 20
NAMES = ("[Throughput %]", "Frequency [MHz]")
LEAST_S, READ_S = 15, 12  # that a round of a program takes, and reading all recordings


def record(part, name, command, number):
    """A round: nsys and headway, the second first in every other round. Yields the reports by tool, None for one that failed."""
    base = part.work / f"{name}-{number}"
    ways = {"nsys": nsys(base, command, *METRICS), "headway": headway(f"{base}.hwy", command, "-q", *METRICS)}
    found = {}
    for way in list(ways)[::-1 if number % 2 else 1]:
        done = run(ways[way], timeout=LONGEST_S)
        ok = done.rc == 0
        part.check(f"{name}, round {number + 1}: {way}", f"{done.seconds:.1f} s" if ok else last_words(done), "exit 0", ok)
        found[way] = base if ok else None
    return found


def read(way, base):
    """A recording's table: metric -> row; None where it cannot be read."""
    report = nsys_export(base) if way == "nsys" else f"{base}.hwy"
    try:
        return metric_table(report) if report else None
    except RuntimeError:
        return None


def busy_mean(tables, metric):
    """The median of the means over busy time, and how many samples those have at least; None where a table has none."""
    rows = [table.get(metric) for table in tables]
    if not rows or any(row is None or row["Busy Avg"] in (None, "") or row["Busy Samples"] < FEWEST for row in rows):
        return None
    return statistics.median(float(row["Busy Avg"]) for row in rows), min(row["Busy Samples"] for row in rows)


def judge(part, name, mine, theirs):
    """mine, theirs: tables of the rounds."""
    common = [metric for metric in theirs[0] if metric.endswith(NAMES) and all(metric in table for table in mine + theirs)]
    missing = [metric for metric in theirs[0] if metric.endswith(NAMES) and metric not in common]
    part.check(f"{name}: metrics that both have", f"{len(common)}; nsys alone: {', '.join(m.split(' [')[0] for m in missing) or 'none'}", "at least 8", len(common) >= 8)
    for metric in common:
        ours, other = busy_mean(mine, metric), busy_mean(theirs, metric)
        if not ours or not other:
            part.check(f"{name}: {metric}", "too few samples of busy time", f"at least {FEWEST}", False)
            continue
        is_clock = metric.endswith("[MHz]")
        scale = 1e-6 if is_clock else 1
        ok = alike(ours[0], other[0], least=0 if is_clock else POINT)
        part.check(f"{name}: {metric}", f"{scale * ours[0]:.5g}, nsys {scale * other[0]:.5g}: {percent_off(ours[0], other[0])}; {ours[1]} and {other[1]} samples",
                   "5 %" if is_clock else "5 %, or a point", ok)


def tell(part, name, report):
    """What a recording says of its own sampling."""
    document = info(report)
    rows = metric_table(report)
    most = max((row["Samples"] for row in rows.values()), default=0)
    part.note(f"{name}: samples a second", f"{most / (document['duration_ns'] / 1e9):.0f} of {document['duration_ns'] / 1e9:.1f} s, {len(rows)} lanes")
    part.note(f"{name}: headway says", said(document, "metrics", "sampling", "counters") or "nothing")


def keep(part, name, report):
    """Small recordings come back."""
    if report.exists() and report.stat().st_size < SMALL_BYTES:
        shutil.copy(report, part.out / f"metrics-{name}.hwy")


def go(part):
    rounds, longest = {}, {}
    wanted = [name for name in PROGRAMS if part.wants(name)]
    for number in range(ROUNDS):
        for name in wanted:
            before = part.time_left()
            if before < longest.get(name, LEAST_S) + READ_S:
                part.note(f"{name}, round {number + 1}: left out", "no time left")
                continue
            rounds.setdefault(name, []).append(record(part, name, PROGRAMS[name](), number))
            longest[name] = before - part.time_left()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        tables = {(name, way, i): pool.submit(read, way, found[way]) for name, made in rounds.items() for i, found in enumerate(made)
                  for way in found if found[way]}
        for name in rounds:
            both = {way: [future.result() for key, future in tables.items() if key[:2] == (name, way)] for way in ("headway", "nsys")}
            both = {way: [table for table in found if table] for way, found in both.items()}
            if part.check(f"{name}: recordings that could be read", f"{len(both['headway'])} and {len(both['nsys'])}", "of both", all(both.values())):
                judge(part, name, both["headway"], both["nsys"])
                tell(part, name, f"{part.work / name}-0.hwy")
            keep(part, name, part.work / f"{name}-0.hwy")
