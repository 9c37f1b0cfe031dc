# SPDX-License-Identifier: Apache-2.0
"""Part 9: a loader without workers: in each gap of the GPU the main thread sleeps, and where is told by line."""
from harness import EXAMPLES, example, headway, info, last_words, lines_of, run
from report import KERNEL, RANGE, Report

TITLE = "OS calls in the gaps of a starved GPU"
COPY, FILL, GRAPH, OS = 2, 3, 4, 10
LONG = 50_000_000  # ns
SLEEPS = ("clock_nanosleep", "nanosleep", "select", "pselect")


def gaps(report):
    """Intervals of more than LONG in which no device does anything, between its first and its last work."""
    work = sorted((span["start"], span["end"]) for kind in (KERNEL, COPY, FILL, GRAPH) for span in report.spans(kind))
    found, busy_until = [], None
    for start, end in work:
        if busy_until is not None and start - busy_until > LONG:
            found.append((busy_until, start))
        busy_until = end if busy_until is None else max(busy_until, end)
    return found


def overlap(spans, start, end):
    """Time of an interval that lies in spans of one thread, which do not overlap but where they nest."""
    covered, until = 0, start
    for span in sorted(spans, key=lambda span: span["start"]):
        low, high = max(span["start"], until), min(span["end"], end)
        if high > low:
            covered, until = covered + high - low, high
    return covered


def go(part):
    program = example("starve", "--workers", "0")
    plain = run(program)
    path = part.work / "starve.hwy"
    done = run(headway(path, program, "-t", "cuda,nvtx,osrt"), timeout=180)
    part.check("exit status", done.rc, plain.rc, done.rc == plain.rc == 0)
    if not part.check("report", "there" if path.exists() else last_words(done), "there", path.exists()):
        return
    part.note("time a step, plain and recorded", f"{plain.ms} ms, {done.ms} ms")
    report = Report(path)
    # Who launches is the main thread of the process that uses the GPU.
    launched = {report.pid(span["lane"]) for span in report.spans(KERNEL)}
    threads = report.records["threads"]
    calls = [span for span in report.spans(OS)
             if report.pid(span["lane"]) in launched and
             threads[report.thread(span["lane"])]["tid"] == report.pid(span["lane"])]
    part.note("OS calls of the main thread", len(calls))
    lines = lines_of(EXAMPLES / "starve.py", "time.sleep(args.sleep_ms")
    # What comes before the first step ends is start-up: libraries load, memory is allocated.
    began = min((span["end"] for span in report.spans(RANGE) if span["name"] == "optimizer"), default=0)
    long = [gap for gap in gaps(report) if gap[0] > began]
    part.check("gaps longer than 50 ms", len(long), ">= 19", len(long) >= 19)
    asleep = unnamed = 0
    least = 1.0
    for start, end in long:
        inside = [call for call in calls if call["name"] in SLEEPS and call["start"] < end and call["end"] > start]
        share = overlap(inside, start, end) / (end - start)
        least = min(least, share)
        asleep += share >= 0.5
        unnamed += not any(report.names_line(call["stack"], "starve.py", lines) for call in inside)
    part.check("gaps in which the main thread sleeps", f"{asleep} of {len(long)}, least share {100 * least:.0f} %",
               "each, at least half of it", asleep == len(long))
    part.check("gaps whose sleep has the loader's line", f"{len(long) - unnamed} of {len(long)}",
               f"each, line {sorted(lines)}", unnamed == 0)
    lost = sum(drop["count"] or 0 for drop in info(path)["drops"])
    part.check("lost records", lost, "0", lost == 0)
