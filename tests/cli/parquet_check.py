# SPDX-License-Identifier: Apache-2.0
"""parquet_check.py - a Parquet export beside other answers about the same recording, by the tests' own reader.

    parquet_check.py spans PARQUET_OF RANK CSV       every cell of every table of spans, and of the messages, is that of the CSV export;
                                                     prints the kinds that were compared
    parquet_check.py job PARQUET_OF JOB CSV          the ranks of a job together are what the CSV export of the merged job has
    parquet_check.py analysis PARQUET_OF RANK JSON   verdict, findings and steps are those of `headway analyze --format json`

RANK is a folder rank=N of an export, JOB a folder job=ID, CSV a folder of an export as CSV.
"""
import csv
import io
import json
import os
import re
import subprocess
import sys
from collections import Counter

csv.field_size_limit(1 << 30)
OWN_COLUMNS = ("value_integer", "role", "class", "lane_id")  # which CSV does not have


def fail(text):
    print(f"parquet_check: {text}")
    sys.exit(1)


def read_rows(text):
    """Rows as lists; a byte that is no UTF-8 is U+FFFD, as in the export."""
    reader = csv.reader(io.StringIO(re.sub("[\udc80-\udcff]", "\ufffd", text), newline=""), strict=True)
    return next(reader), list(reader)


def read_csv(path):
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        return read_rows(file.read())


def read_parquet(reader, path):
    run = subprocess.run([reader, path], capture_output=True, check=False)
    if run.returncode != 0:
        fail(run.stderr.decode())
    return read_rows(run.stdout.decode("utf-8", "strict"))


def table(folder, name):
    return f"{folder}/table={name}/part-0.parquet"


def same_number(one, other):
    return one == other or float(one) == float(other)


def compare(name, ours, theirs):
    head, rows = ours
    wanted, expected = theirs
    whole = head.index("value_integer") if "value_integer" in head else None
    columns = [i for i in range(len(head)) if head[i] not in OWN_COLUMNS]
    if [head[i] for i in columns] != [column.replace("-", "_") for column in wanted]:
        fail(f"{name}: the columns are {head}, in CSV {wanted}")
    if len(rows) != len(expected):
        fail(f"{name}: {len(rows)} rows, in CSV {len(expected)}")
    by_id = {row[0]: row for row in expected}
    for row in rows:
        other = by_id.pop(row[0], None)
        if other is None:
            fail(f"{name}: row {row[0]} is not in CSV, or twice here")
        for i, value in zip(columns, other):
            cell = row[whole] if head[i] == "value" and whole is not None and row[whole] else row[i]
            if cell != value and not (head[i] == "value" and same_number(cell, value)):
                fail(f"{name}: row {row[0]}: {head[i]} is {cell!r}, in CSV {value!r}")
    if "duration" in head or name == "counter":
        start = head.index("start")
        starts = [int(row[start]) for row in rows]
        if starts != sorted(starts):
            fail(f"{name}: rows are not in order of their start")


def spans(reader, rank, folder):
    names = sorted(name[:-4] for name in os.listdir(folder))
    for name in names:
        if not os.path.exists(table(rank, name)):
            fail(f"{name}: has no table")
        compare(name, read_parquet(reader, table(rank, name)), read_csv(f"{folder}/{name}.csv"))
    kinds = {"api", "kernel", "copy", "fill", "graph", "sync", "event", "range", "op", "call", "os", "state", "memory", "sample",
             "counter", "overhead", "messages"}
    there = {name[6:] for name in os.listdir(rank)}
    if there & kinds != set(names):
        fail(f"tables {sorted(there & kinds)}, in CSV {names}")
    print(" ".join(names))


def job(reader, folder, merged):
    """Ids of spans differ, since each rank counts its own; times are those of the job."""
    ranks = sorted(os.listdir(folder))
    for name in sorted(name[:-4] for name in os.listdir(merged)):
        head, rows = read_csv(f"{merged}/{name}.csv")
        told = [c for c in ("pid", "tid", "stream", "name", "start", "end", "duration", "correlation") if c in head]
        expected = Counter(tuple(row[head.index(c)] for c in told) for row in rows)
        found = Counter()
        for rank in ranks:
            path = table(f"{folder}/{rank}", name)
            if os.path.exists(path):
                here, cells = read_parquet(reader, path)
                found.update(tuple(row[here.index(c)] for c in told) for row in cells)
        if found != expected:
            fail(f"{name}: {list((found - expected).items())[:2]} in place of {list((expected - found).items())[:2]}")
    print(f"{len(ranks)} ranks")


def analysis(reader, rank, path):
    with open(path, encoding="utf-8") as file:
        told = json.load(file)

    def column(name, field):
        head, rows = read_parquet(reader, table(rank, name))
        return [row[head.index(field)] for row in rows]

    verdict = told["summary"]["verdict"]
    if column("verdict", "verdict")[0].split(",")[0] != verdict:
        fail(f"the verdict is {column('verdict', 'verdict')}, not {verdict}")
    for acquitted, wanted in (("0", told["findings"]), ("1", told["acquitted"])):
        head, rows = read_parquet(reader, table(rank, "findings"))
        found = [row[head.index("finding")] for row in rows if row[head.index("acquitted")] == acquitted]
        if found != [finding["id"] for finding in wanted]:
            fail(f"findings {found}, not {[finding['id'] for finding in wanted]}")
    phases = [(phase["steps"], phase["steady_steps"], phase["window"]["start_ns"], phase["step_ns"]) for phase in told["phases"]]
    ours = list(zip(*(map(int, column("phases", field)) for field in ("steps", "steady_steps", "start", "mean"))))
    if ours != phases:
        fail(f"phases {ours}, not {phases}")
    steady = sum(map(int, column("steps", "steady")))
    if steady != sum(phase[1] for phase in phases) or len(column("steps", "id")) != sum(phase[0] for phase in phases):
        fail(f"{steady} steady steps of {len(column('steps', 'id'))}, not {phases}")
    main = column("phases", "main").index("1")
    idle = Counter()
    for phase, cause, duration in zip(column("gaps", "phase"), column("gaps", "cause"), column("gaps", "duration")):
        idle[cause] += int(duration) if int(phase) == main else 0
    wanted = sum((Counter(device["causes"]) for device in told["gpu"]), Counter())
    if +idle != +wanted:
        fail(f"idle by cause {idle}, not {wanted}")
    print(f"{verdict}; {len(told['findings'])} findings; {steady} steady steps; {sum(idle.values())} ns idle")


{"spans": spans, "job": job, "analysis": analysis}[sys.argv[1]](*sys.argv[2:])
