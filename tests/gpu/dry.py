# SPDX-License-Identifier: Apache-2.0
"""Checks the GPU tests themselves on recorded data: counting, reading reports, the arithmetic, the table."""
import ast
import collections
import json
import lzma
import pathlib
import random
import tarfile
import tempfile

import counters
import frameworks
import harness
import part1
import part11
import part12
import part16
import part19
import part20
import part21
import part22
from report import API, KERNEL, RANGE, Report

DATA = harness.ROOT / "tests" / "data" / "nsys"


def recordings(folder):
    """Every recording at hand, unpacked."""
    for packed in sorted(DATA.glob("*.sqlite.xz")):
        path = folder / packed.stem
        path.write_bytes(lzma.open(packed).read())
        yield path


def compare(part, path):
    """A recording and its report are the same by every way of counting."""
    report = path.with_suffix(".hwy")
    done = harness.run([harness.HEADWAY, "convert", "-f", "-o", report, path])
    if not part.check(f"{path.stem}: convert", harness.last_words(done) if done.rc else "done", "", done.rc == 0):
        return
    mine, theirs, raw = part1.measure(report), part1.measure(path), part1.measure_sqlite(path)
    part1.compare_counts(part, path.stem, mine, theirs, raw)
    part1.compare_times(part, path.stem, mine, theirs)
    read = Report(report)
    kernels = [span for span in read.spans(KERNEL)]
    part.check(f"{path.stem}: read from the file itself", f"{len(kernels)} kernels", mine["kernels"],
               len(kernels) == mine["kernels"] and sum(s["duration"] for s in kernels) == mine["kernel time"] and
               sum(1 for _ in read.spans(RANGE)) == mine["ranges"] and
               sum(bool(harness.LAUNCH.match(s["name"])) for s in read.spans(API)) == mine["launch calls"] and
               all(read.pid(s["lane"]) for s in kernels))


def arithmetic(part):
    chance = random.Random(2)
    plain = [10 + chance.random() / 10 for _ in range(9)]
    ratio, low, high = harness.quotient([1.2 * x for x in plain], plain)
    part.check("quotient of medians", f"{ratio:.3f} ({low:.3f} to {high:.3f})", "1.2 inside",
               abs(ratio - 1.2) < 1e-9 and low <= ratio <= high < 1.25)
    luck = [[value + offset for value in plain] for offset in (0, 1, 2)]  # of three processes
    _, low, high = harness.quotient([[2 * value for value in batch] for batch in luck], [plain, plain, plain])
    part.check("batches are resampled whole", f"{low:.2f} to {high:.2f}", "2 to 2.4", low < 2.05 and high > 2.35)
    line = harness.lines_of(harness.EXAMPLES / "mlp.py", "print(f", "loss.item()")
    part.check("the .item() line of mlp.py", line, "one", len(line) == 1)
    lines = harness.lines_of(harness.EXAMPLES / "streams.cu", "cudaMemcpyAsync(")
    part.check("the copies of streams.cu", lines, "two statements", 2 <= len(lines) <= 6)
    done = harness.Done(0, "step 3: loss 1.2\nmlp sync: 11.073 ms/step (15 steps)\n", "", 1)
    part.check("an example's last line", done.ms, 11.073, done.ms == 11.073)


# Prints a table as nsys printed it for the recording, after what nsys says first.
NSYS = """#!/usr/bin/env python3
import pathlib, sys
table = pathlib.Path("{folder}") / ("s_" + sys.argv[3] + ".csv")
print("Processing [" + sys.argv[-1] + "] with [reports/" + sys.argv[3] + ".py]... ")
text = table.read_text() if table.exists() else ""
print("\\n" + text if text.strip() else "SKIPPED: " + sys.argv[-1] + " does not contain such data.")
"""


def tables(part, path, folder):
    """Part 11 with nsys's own tables of a recording, and with one that lacks a row."""
    packed = DATA / f"{path.stem}.reports.tar.xz"
    if not packed.exists():
        return
    with tarfile.open(packed) as archive:
        for member in archive:
            if member.isfile():
                (folder / path.stem).mkdir(exist_ok=True)
                (folder / member.name).write_bytes(archive.extractfile(member).read())
    nsys = folder / "nsys"
    nsys.write_text(NSYS.format(folder=folder / path.stem))
    nsys.chmod(0o755)
    for table in part11.TABLES:
        part11.compare(part, path.stem, path.with_suffix(".hwy"), path.with_suffix(".sqlite"), table, nsys)
    rows = part11.rows_of((folder / path.stem / "s_cuda_api_sum.csv").read_text())
    found = part11.differs(rows, rows[:-1], ["Total Time (ns)"])
    part.check(f"{path.stem}: a row less", found[:30], "is found", bool(found))


def before_and_after(part, folder):
    """Part 12 on two recordings in place of runs."""
    before, after = ([folder / f"streams_{name}.sqlite"] * part12.LEAST for name in ("pageable1", "pinned4"))
    result = part12.compare(part, "streams", before, after)
    if result:
        part12.judge(part, "streams", result)
    result = part12.compare(part, "twice", after, after)
    if result:
        part12.judge_verdict(part, "the same program twice", result, "same")


def operators(part):
    """Counting of operators: what key_averages() merges, and what differs."""
    spans = [{"name": name, "start": start, "end": end} for name, start, end in
             (("mm", 0, 10), ("mm", 1, 9), ("add", 20, 30), ("add", 21, 23), ("add", 24, 26), ("mul", 30, 40), ("sum", 31, 32))]
    merged = frameworks.merged_of(spans)
    part.check("an only child of the same name is merged", dict(merged), "mm", merged == {"mm": 1})
    wrong = frameworks.differences(collections.Counter(a=3, b=1), collections.Counter(a=3, c=4))
    part.check("names that are not counted alike", wrong, "b and c", wrong == [("c", 0, 4), ("b", 1, 0)])


def tree_node(kind, name, gpu, launches, *inner):
    return {"kind": kind, "name": name, "gpu_ns": gpu, "launches": launches, "inner": list(inner)}


def tree(part):
    """Part 16 reads a tree."""
    found = list(part16.leaves(tree_node(
        "root", "", 100, 6,
        tree_node("module", "GPT", 90, 5, tree_node("operator", "aten::mm", 60, 3, tree_node("work", "gemm", 60, 3)),
                  tree_node("operator", "MmBackward0", 30, 2)),
        tree_node("not-known", "launched outside of operators", 10, 1))))
    part.check("leaves of a tree", sum(leaf.gpu for leaf in found), 100, sum(leaf.gpu for leaf in found) == 100 and len(found) == 3)
    operator = part16.share([leaf for leaf in found if "operator" in leaf.kinds], 100)
    part.check("share with an operator", operator, 90, operator == 90)
    part.check("backward leaves", sum(map(part16.is_backward, found)), 1, sum(map(part16.is_backward, found)) == 1)


NCU = harness.ROOT / "tests" / "data" / "ncu"
METRICS = harness.ROOT / "tests" / "data" / "metrics"


def twelve(part, folder):
    """Part 19 with ncu's own numbers on both sides, and with one that differs."""
    for which in ("own", "torch"):
        path = folder / f"{which}.csv"
        path.write_bytes(lzma.open(NCU / f"twelve_{which}.base.csv.xz").read())
        mine = {counters.base_name(kernel["name"]): kernel for kernel in harness.ask_headway("kernels", "--format", "json", path)["kernels"]}
        theirs = {counters.base_name(launch["Kernel Name"]): [launch] for launch in counters.read_ncu(path.read_text().splitlines())}
        part.check(f"twelve {which}: kernels", f"{len(mine)} and {len(theirs)}", 7, set(mine) == set(theirs) and len(mine) == 7)
        for name, launches in theirs.items():
            agree = part19.compare(part, name[:40], mine[name], launches)
            part.check(f"{name[:40]}: facts that agree", agree, 7, agree == 7)
            part19.by_hand(part, name, mine[name])
    scratch = harness.Part(0, "", folder / "scratch", [], 60)
    wrong = json.loads(json.dumps(mine[name]))
    wrong["counters"]["dram_bytes"] *= 1.2
    wrong["bound"] = "latency"
    agree = part19.compare(scratch, "made wrong", wrong, theirs[name])
    part.check("bytes and a bound made wrong", agree, 5, agree == 5)
    ns, slow = mine[name]["counters"]["duration_ns"], json.loads(json.dumps(mine[name]))
    slow["counters"].update(duration_ns=1.25 * ns, sm_hz=0.8 * counters.middle_of(theirs[name], part19.CLOCK))
    why = part19.reason_for(part19.FACTS[0], 1.25 * ns, ns, slow, theirs[name])
    part.check("a slower clock is a reason", why, "clocks differ", "clocks differ" in str(why))


def metrics(part, folder):
    """Part 20 with one recording as both tools', and with one whose memory is busier."""
    path = folder / "chain.sqlite"
    path.write_bytes(lzma.open(METRICS / "chain.sqlite.xz").read())
    rows = counters.metric_table(path)
    part20.judge(part, "chain", [rows, rows], [rows])
    busier = {name: dict(row, **{"Busy Avg": row["Busy Avg"] * (1.1 if "DRAM" in name else 1)}) for name, row in rows.items()}
    scratch = harness.Part(0, "", folder / "scratch", [], 60)
    part20.judge(scratch, "made busier", [busier], [rows])
    failed = [check["what"] for check in scratch.checks if check["verdict"] == "FAIL"]
    part.check("a busier memory", len(failed), "reads and writes differ", len(failed) == 2 and all("DRAM" in what for what in failed))


def costs(part, folder):
    """Part 21's ratio."""
    scratch = harness.Part(0, "", folder / "scratch", [], 60)
    part21.ratio_of(scratch, "alike", [[10, 10.1, 9.9], [10, 10.2]], [[10, 9.9, 10.1], [10.1, 10]], 1.005)
    part21.ratio_of(scratch, "slower", [[11, 11.1, 10.9], [11, 11.2]], [[10, 9.9, 10.1], [10.1, 10]], 1.02)
    part.check("ratios of step times", [check["verdict"] for check in scratch.checks], "ok, FAIL", [check["verdict"] for check in scratch.checks] == ["ok", "FAIL"])


def plants(part, folder):
    """Part 22 with recordings of nsys; times that nobody measured, but for one."""
    for name in part22.NAMES:
        path = folder / f"{name}.sqlite"
        path.write_bytes(lzma.open(METRICS / f"{name}.sqlite.xz").read())
        part22.judge(part, name, path, {"before": 0.493, "after": 0.042} if name == "smallgrid" else None)


def programs(part):
    """Every program can be read by Python, and every planted one has its truth, with a line that exists."""
    bad = []
    for path in sorted(harness.HERE.rglob("*.py")):
        try:
            ast.parse(path.read_text())
        except SyntaxError as error:
            bad.append(f"{path.name}:{error.lineno}")
    part.check("programs that Python cannot read", ", ".join(bad) or "none", "none", not bad)
    folder = harness.HERE / "programs"
    truths = json.loads((folder / "truth.json").read_text())
    there = {path.stem for kind in ("*.py", "*.cu") for path in folder.glob(kind)} - {"steps"}
    part.check("programs without a truth, truths without a program", sorted(there ^ set(truths)), "none", there == set(truths))


def go():
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        part = harness.Part(0, "The tests themselves", folder, [], 600)
        arithmetic(part)
        operators(part)
        tree(part)
        programs(part)
        twelve(part, folder)
        metrics(part, folder)
        costs(part, folder)
        plants(part, folder)
        for path in recordings(folder):
            compare(part, path)
            tables(part, path, folder)
        before_and_after(part, folder)
        part.save(folder)
        assert json.loads((folder / "part0.json").read_text())["checks"]
        return part.failed()
