# SPDX-License-Identifier: Apache-2.0
"""Part 6: a DataLoader with eight workers is nine processes in one report."""
from harness import example, headway, info, last_words, run
from report import NONE, Report

TITLE = "DataLoader with 8 workers"


def go(part):
    program = example("starve", "--workers", "8")
    plain = run(program)
    path = part.work / "starve.hwy"
    done = run(headway(path, program), timeout=120)
    part.check("exit status", done.rc, "0", done.rc == 0)
    part.check("time, plain and recorded", f"{plain.seconds:.1f} s, {done.seconds:.1f} s", "no hang",
               done.rc != 124 and done.seconds < 2 * plain.seconds + 10)
    part.note("time a step, plain and recorded", f"{plain.ms} ms, {done.ms} ms")
    if not part.check("report", "there" if path.exists() else last_words(done), "there", path.exists()):
        return
    report = Report(path)
    processes = report.records["processes"]
    main = [i for i, p in enumerate(processes) if "starve.py" in report.text(p["command"]) and
            not (0 <= p["parent"] < len(processes) and
                 "starve.py" in report.text(processes[p["parent"]]["command"]))]
    # Workers are forks of the main process; helpers that it executes have other command lines.
    workers = [p for p in processes if p["parent"] in main and "starve.py" in report.text(p["command"])]
    part.check("processes: main, workers, others",
               f"{len(main)}, {len(workers)}, {len(processes) - len(main) - len(workers)}", "1, 8",
               len(main) == 1 and len(workers) == 8)
    ended = [p for p in workers if p["start"] != NONE and p["end"] != NONE and p["end"] > p["start"]]
    part.check("workers with a beginning and an end", len(ended), "8", len(ended) == 8)
    lost = sum(drop["count"] or 0 for drop in info(path)["drops"])
    part.check("lost records", lost, "0", lost == 0)
