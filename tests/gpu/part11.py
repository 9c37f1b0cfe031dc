# SPDX-License-Identifier: Apache-2.0
"""Part 11: an exported report given to `nsys stats` prints the tables `headway stats` prints."""
import concurrent.futures
import csv

from harness import HEADWAY, NSYS, example, headway, last_words, run

TITLE = "Exports that nsys itself reads"

RUNS = {
    "mlp": example("mlp", "--sync"),
    "streams_pinned4": example("streams", "pinned", "4"),
    "graphs_launch": example("graphs", "launch"),
}
# Each table and the columns it is sorted by: rows equal in these may swap.
TABLES = {
    "cuda_gpu_kern_sum": ["Total Time (ns)"],
    "cuda_api_sum": ["Total Time (ns)"],
    "cuda_gpu_mem_time_sum": ["Total Time (ns)"],
    "cuda_gpu_mem_size_sum": ["Total (MB)"],
    "cuda_gpu_trace": ["Start (ns)"],
    "cuda_api_trace": ["Start (ns)"],
    "nvtx_sum": ["Total Time (ns)"],
}
ALWAYS = ["cuda_gpu_kern_sum", "cuda_api_sum", "cuda_gpu_trace", "cuda_api_trace"]  # every run has rows in these


def rows_of(text):
    """The table in what a program printed: nsys tells first what it does."""
    lines = text.splitlines()
    heads = [at for at, line in enumerate(lines) if line.count(",") > 3 and ("(ns)" in line or "(MB)" in line)]
    if not heads:
        return []
    return [[cell.replace('"', "") for cell in row] for row in csv.reader(line for line in lines[heads[0]:] if line)]


def differs(ours, theirs, keys):
    if not ours or not theirs:
        return f"{len(ours)} and {len(theirs)} lines" if ours or theirs else ""
    if ours[0] != theirs[0]:
        return f"header {ours[0]} and {theirs[0]}"
    at = [ours[0].index(key) for key in keys]

    def order(row):
        return [float(row[column]) for column in at], row

    ours, theirs = (sorted(rows[1:], key=order) for rows in (ours, theirs))
    for mine, other in zip(ours, theirs):
        if mine != other:
            return f"{mine} and {other}"[:200]
    return "" if len(ours) == len(theirs) else f"{len(ours)} and {len(theirs)} rows"


def compare(part, name, report, sqlite, table, nsys=NSYS):
    ours = run([HEADWAY, "stats", "-r", table, "--format", "csv", report])
    theirs = run([nsys, "stats", "-r", table, "--format", "csv", sqlite], timeout=120)
    mine, other = rows_of(ours.out), rows_of(theirs.out)
    what = differs(mine, other, TABLES[table])
    if not other and (what or table in ALWAYS):
        what = f"nsys: exit {theirs.rc}: {last_words(theirs)}"
    part.check(f"{name}: {table}", what or f"{max(len(mine) - 1, 0)} rows", "the same rows", not what)


def go(part):
    for name, command in RUNS.items():
        if not part.wants(name) or part.time_left() < 60:
            continue
        report, sqlite = part.work / f"{name}.hwy", part.work / f"{name}.sqlite"
        done = run(headway(report, command))
        if done.rc or not report.exists():
            part.check(f"{name}: headway profile", f"exit {done.rc}: {last_words(done)}", "exit 0", False)
            continue
        made = run([HEADWAY, "export", "-t", "sqlite", "-f", "-o", sqlite, report])
        if not part.check(f"{name}: headway export", made.out.strip().splitlines()[0][-60:] if made.out else
                          last_words(made), "exit 0", made.rc == 0):
            continue
        with concurrent.futures.ThreadPoolExecutor(len(TABLES)) as pool:
            list(pool.map(lambda table: compare(part, name, report, sqlite, table), TABLES))
