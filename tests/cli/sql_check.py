#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sql_check.py - the same answer from `headway sql` as from the other commands.

    sql_check.py HEADWAY RECORDING FOLDER    the recording's tables against stats, breakdown, analyze, info and the CSV export
"""
import csv
import io
import json
import os
import re
import subprocess
import sys

headway, recording, folder = sys.argv[1:4]
compared = 0


def run(*arguments):
    done = subprocess.run([headway, *arguments], capture_output=True, text=True, errors="surrogateescape")
    if done.returncode != 0:
        sys.exit(f"{arguments}: {done.stderr}")
    return done.stdout


def ask(query):
    return json.loads(run("sql", recording, query, "--format", "json"))


def stats(report):
    return list(csv.DictReader(io.StringIO(run("stats", "-r", report, "--format", "csv", recording))))


def same(what, ours, theirs):
    global compared
    compared += len(ours)
    if ours != theirs:
        both = sorted(set(map(str, ours.items())) ^ set(map(str, theirs.items()))) if isinstance(ours, dict) else ""
        sys.exit(f"{what}: sql and the other command differ: {str(both)[:600] or (ours, theirs)}")


def by_name(query, rename=lambda row: row["name"]):
    """{name: (count, total, shortest, longest)}; names that are the same after renaming are added up."""
    found = {}
    for row in ask(query):
        count, total, least, most = found.get(rename(row), (0, 0, None, None))
        found[rename(row)] = (count + row["n"], total + row["total"],
                              row["least"] if least is None else min(least, row["least"]),
                              row["most"] if most is None else max(most, row["most"]))
    return found


def table(report, count, name="Name"):
    return {row[name]: (int(row[count]), int(row["Total Time (ns)"]), int(row["Min (ns)"]), int(row["Max (ns)"]))
            for row in stats(report)}


def unversioned(row):
    return re.sub(r"_v\d+$", "", row["name"])


SUMS = "count(*) as n, sum(duration) as total, min(duration) as least, max(duration) as most"


def compare_stats():
    same("kernels", by_name(f"select name, {SUMS} from kernel group by name"), table("cuda_gpu_kern_sum", "Instances"))
    same("kernels added up", by_name("select name, count as n, total, min as least, max as most from kernels"),
         table("cuda_gpu_kern_sum", "Instances"))
    # stats leaves most versions of names out, as nsys does.
    calls = by_name(f"select name, {SUMS} from api where domain is null group by name", unversioned)
    told = {unversioned({"name": name}): sums for name, sums in table("cuda_api_sum", "Num Calls").items()}
    same("calls", calls, told)
    copies = by_name(f"select '[CUDA memcpy ' || direction || ']' as name, {SUMS} from copy group by direction")
    fills = by_name(f"select '[CUDA memset]' as name, {SUMS} from fill having count(*) > 0")
    same("copies and fills", copies | fills, table("cuda_gpu_mem_time_sum", "Count", "Operation"))
    ranges = by_name(f"select coalesce(style, '') || coalesce(domain, '') || ':' || coalesce(name, '') as name, {SUMS} from range "
                     "where lane <> 'device range' and coalesce(flags, 0) & 3 = 0 group by style, domain, name")
    styles = {"PushPop": "push-pop", "StartEnd": "start-end"}
    same("ranges", {name: sums[:2] for name, sums in ranges.items()},
         {styles.get(row["Style"], "") + row["Range"]: (int(row["Instances"]), int(row["Total Time (ns)"])) for row in stats("nvtx_sum")})
    same("system calls", by_name(f"select name, {SUMS} from os group by name"), table("osrt_sum", "Num Calls"))
    # An operator inside one of the same name counts once in op_sum: the table of operators has the number of calls.
    same("operators", {row["name"]: row["n"] for row in ask("select name, count(*) as n from op group by name")},
         {row["Name"]: int(row["Calls"]) for row in stats("op_sum")})


def compare_breakdown():
    told = json.loads(run("breakdown", "--format", "json", recording))
    counts = {row["kind"]: row["n"] for row in ask("select kind, count(*) as n from spans group by kind")}
    same("counts of work", {"k": counts.get("kernel", 0), "c": counts.get("copy", 0), "f": counts.get("fill", 0)},
         {"k": told["n_kernel"] + told["n_comm"], "c": told["n_memcpy"], "f": told["n_memset"]})
    # The union of all work of a device: what begins behind all that came before it adds its whole length.
    busy = ask("""
        with work as (select device_id, start, "end" as till from spans where kind in ('kernel', 'copy', 'fill', 'graph')),
             seen as (select device_id, start, till, max(till) over (partition by device_id order by start, till
                      rows between unbounded preceding and 1 preceding) as before from work)
        select sum(case when before is null or start >= before then till - start
                        when till > before then till - before else 0 end) as busy from seen group by device_id""")
    if len(told["devices"]) == len(busy):
        same("busy time", {"busy": sorted(row["busy"] for row in busy)},
             {"busy": sorted(device["busy_ns"] for device in told["devices"])})


def compare_analyze():
    told = json.loads(run("analyze", "--format", "json", recording))
    names = {"steps": "steps", "steady_steps": "steady_steps", "step_ns": "mean", "median_ns": "median", "p10_ns": "p10", "p90_ns": "p90"}
    phases = ask("select * from phases")
    for number, phase in enumerate(told["phases"]):
        row = next(row for row in phases if row["name"] == (phase["name"] or None) and row["steps"] == phase["steps"]
                   and row["start"] == phase["window"]["start_ns"])
        same("a phase", {key: row[ours] for key, ours in names.items()}, {key: phase[key] for key in names})
        steps = ask(f"select count(*) as n, sum(steady) as steady from steps where phase = {row['id']}")[0]
        same("its steps", steps, {"n": phase["steps"], "steady": phase["steady_steps"]})
    if "job" in told:
        return # analyze looks at each rank alone, the tables at all of them on one clock
    causes = {row["cause"]: row["total"] for row in
              ask("select cause, sum(g.duration) as total from gaps g join phases p on p.id = g.phase where p.main group by cause")}
    want = {}
    for device in told["gpu"]:
        for cause, idle in device["causes"].items():
            want[cause] = want.get(cause, 0) + idle
    same("causes", causes, {cause: idle for cause, idle in want.items() if idle})
    findings = [(row["finding"], row["cost"], row["confidence"], row["says"]) for row in
                ask("select * from findings where acquitted = 0 order by id")]
    same("findings", {"all": findings}, {"all": [(f["id"], f["cost_ns_per_step"], f["confidence"], f["says"]) for f in told["findings"]]})


def compare_info():
    told = json.loads(run("info", "--format", "json", recording))["spans"]
    same("spans", {row["kind"]: (row["n"], row["total"]) for row in
                   ask("select kind, count(*) as n, sum(duration) as total from spans group by kind")},
         {kind: (sums["count"], sums["time_ns"]) for kind, sums in told.items() if kind != "total" and sums["count"]})


def compare_csv():
    """Every cell of every column of every kind, by the name that it has there."""
    out = os.path.join(folder, "csv")
    run("export", "-t", "csv", "-f", recording, "-o", out)
    for name in sorted(os.listdir(out)):
        with open(os.path.join(out, name), newline="", errors="surrogateescape") as file:
            want = file.read()
        heading = want[:want.index("\n")]
        columns = ", ".join(f'"{column.replace("-", "_")}"' for column in heading.split(","))
        got = run("sql", recording, f"select {columns} from \"{name[:-4]}\" order by id", "--format", "csv")
        rows = list(csv.reader(io.StringIO(got))), list(csv.reader(io.StringIO(want)))
        for row, (a, b) in enumerate(zip(rows[0][1:], rows[1][1:])):
            for column, one, other in zip(heading.split(","), a, b):
                if one != other and not (one and other and re.fullmatch(r"[-+.0-9e]+", one) and float(one) == float(other)):
                    sys.exit(f"{name}, row {row}, {column}: sql has '{one}', the export '{other}'")
        same(name, {"rows": len(rows[0])}, {"rows": len(rows[1])})


compare_stats()
compare_breakdown()
compare_analyze()
compare_info()
compare_csv()
print(f"{compared} compared")
