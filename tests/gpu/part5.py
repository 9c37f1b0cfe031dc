# SPDX-License-Identifier: Apache-2.0
"""Part 5: programs that die: what was recorded until 200 ms before is in the report."""
import os
import pathlib
import signal
import struct
import time
from collections import Counter

from harness import HEADWAY, LAUNCH, headway, info, last_words, run, start, stop, table, target
from report import API, KERNEL, RANGE, Report

TITLE = "Death in mid-run"
WITHIN = 200_000_000  # ns before the end that may be missing


def read_log(path, within):
    """What the program had done: at the end, and that long before: (launches, ranges) each."""
    entries = [entry for entry in struct.iter_unpack("<qqq", pathlib.Path(path).read_bytes()) if entry[0]]
    if not entries:
        raise RuntimeError(f"{path}: the program did nothing")
    end = entries[-1][0]
    before = [entry for entry in entries if entry[0] <= end - within]
    return entries[-1][1:], (before[-1] if before else (0, 0, 0))[1:]


def judge(part, name, counts, log, within=WITHIN):
    (launches, ranges), (launches_before, ranges_before) = read_log(log, within)
    for what, count, least, most in (("kernels", counts["kernels"], launches_before, launches),
                                     ("launch calls", counts["launches"], launches_before, launches),
                                     ("NVTX ranges", counts["ranges"], ranges_before, ranges)):
        # One turn more may have been begun or finished since the last entry.
        most += 1 if what == "NVTX ranges" else 10
        part.check(f"{name}: {what}", count, f"{least} to {most}", least <= count <= most)


def counts_of(path):
    spans = info(path)["spans"]
    calls = table(path, "cuda_api_sum")
    return {"kernels": spans.get("kernel", {}).get("count", 0), "ranges": spans.get("range", {}).get("count", 0),
            "launches": sum(row["Num Calls"] for row in calls if LAUNCH.match(row["Name"]))}


def counts_by_process(path):
    """pid -> the same counts."""
    report, found = Report(path), {}
    for kind, what in ((KERNEL, "kernels"), (RANGE, "ranges"), (API, "launches")):
        for span in report.spans(kind):
            if kind != API or LAUNCH.match(span["name"]):
                found.setdefault(report.pid(span["lane"]), Counter())[what] += 1
    return found


def drops_of(path):
    drops = info(path)["drops"]
    return "; ".join(f"{drop['count']} {drop['source']}: {drop['reason']}" for drop in drops) or "none"


def one(part, way, statuses):
    log, path = part.work / f"{way}.log", part.work / f"{way}.hwy"
    done = run(headway(path, target("death", way, log)))
    part.check(f"{way}: exit status", done.rc, " or ".join(map(str, statuses)), done.rc in statuses)
    if not part.check(f"{way}: report", "there" if path.exists() else last_words(done), "there", path.exists()):
        return
    judge(part, way, counts_of(path), log, 0 if way == "end" else WITHIN)
    part.note(f"{way}: drops", drops_of(path))


def worker(part):
    log, path = part.work / "worker.log", part.work / "worker.hwy"
    done = run(headway(path, target("death", "worker", log)))
    part.check("worker crashes: exit status", done.rc, "0", done.rc == 0)
    if not part.check("worker crashes: report", "there" if path.exists() else last_words(done), "there",
                      path.exists()):
        return
    found = counts_by_process(path)
    if not part.check("worker crashes: processes with kernels", len(found), "2", len(found) == 2):
        return
    # The parent worked twice as long.
    crashed, parent = sorted(found.values(), key=lambda counts: counts["kernels"])
    judge(part, "worker crashes: worker", crashed, f"{log}.worker")
    judge(part, "worker crashes: parent", parent, log, 0)
    part.note("worker crashes: drops", drops_of(path))


def recover(part):
    """The parent dies too: the program goes on, and the run is finished later."""
    log, path, temporary = part.work / "recover.log", part.work / "recover.hwy", part.work / "tmp"
    temporary.mkdir(exist_ok=True)
    process = start(headway(path, target("death", "end", log, "3000")), env={"TMPDIR": str(temporary)},
                    log=part.work / "recover.out")
    limit = time.monotonic() + 30
    while time.monotonic() < limit and not (log.exists() and any(log.read_bytes()[:24])):
        time.sleep(0.05)
    time.sleep(1)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    time.sleep(4)  # the program ends by itself
    stop(process)
    runs = sorted({control.parent for folder in (temporary, part.work) for control in folder.rglob("control")})
    if not part.check("recover: the run's directory", len(runs), "1", len(runs) == 1):
        return
    done = run([HEADWAY, "recover", "-o", path, runs[0]])
    if not part.check("recover: headway recover", f"exit {done.rc}: {last_words(done).replace(str(path), path.name)}", "exit 0, a report",
                      done.rc == 0 and path.exists()):
        return
    judge(part, "recover", counts_of(path), log, 0)


def go(part):
    ways = {"kill": (137, -9), "abort": (134, -6), "exit": (3,), "crash": (139, -11), "end": (0,)}
    for way, statuses in ways.items():
        if part.wants(way):
            one(part, way, statuses)
    if part.wants("worker"):
        worker(part)
    if part.wants("recover"):
        recover(part)
