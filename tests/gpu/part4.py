# SPDX-License-Identifier: Apache-2.0
"""Part 4: one million launches: how soon the report is there, and how large it is."""
import os
import pathlib
import time

from harness import headway, info, nsys, start, stop, target

TITLE = "One million launches"
LAUNCHES = 1_000_000


def is_gone(pid):
    """A process that has ended, whether or not somebody has asked for its status."""
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (OSError, IndexError):
        return True
    return state in "ZX"


def watch(part, name, command, pid_file, timeout):
    """Seconds the program ran, and seconds from its end to the profiler's."""
    log = part.work / f"{name}.log"
    pid_file.unlink(missing_ok=True)
    process = start(command, log=log)
    limit, pid, begun, ended = time.monotonic() + timeout, None, 0, None
    while process.poll() is None and time.monotonic() < limit:
        if pid is None and pid_file.exists() and pid_file.read_text().endswith("\n"):
            pid, begun = int(pid_file.read_text()), time.monotonic()
        elif pid and ended is None and is_gone(pid):
            ended = time.monotonic()
        time.sleep(0.001)
    done = time.monotonic()
    if process.poll() is None:
        stop(process)
        process.wait()
    if process.returncode or ended is None and pid is None:
        errors = pathlib.Path(f"{log}.err").read_text().strip().splitlines()
        part.check(f"{name}: a million launches", f"exit {process.returncode}: {errors[-1] if errors else ''}",
                   "exit 0", False)
        return None
    return (ended or done) - begun, done - (ended or done)


def go(part):
    pid_file = part.work / "pid"
    program = target("million", pid_file, LAUNCHES)
    plain = watch(part, "plain", program, pid_file, 60)
    report = part.work / "million.hwy"
    times = watch(part, "headway", headway(report, program), pid_file, 120)
    if plain and times:
        part.note("the program: plain, headway", f"{plain[0]:.1f} s, {times[0]:.1f} s")
        part.check("report ready after the program's end", f"{times[1]:.2f} s", "≤ 2 s", times[1] <= 2)
        found = info(report)
        spans, kernels = found["spans"]["total"], found["spans"].get("kernel", {}).get("count", 0)
        lost = sum(drop["count"] or 0 for drop in found["drops"])
        part.check("kernels recorded", f"{kernels}, {lost} counted as lost", f"{LAUNCHES}", kernels == LAUNCHES)
        size = os.path.getsize(report)
        part.check("bytes a span", f"{size / spans:.2f} ({size / 1e6:.1f} MB, {spans} spans)", "≤ 12",
                   size <= 12 * spans)
    if part.wants("nsys"):
        theirs = watch(part, "nsys", nsys(part.work / "million", program), pid_file, 180)
        if theirs:
            size = os.path.getsize(part.work / "million.nsys-rep")
            part.note("nsys: the program, then its report",
                      f"{theirs[0]:.1f} s, {theirs[1]:.1f} s, {size / 1e6:.1f} MB")
