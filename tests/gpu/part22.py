# SPDX-License-Identifier: Apache-2.0
"""Part 22: planted programs that differ inside the GPU, and one that reaches the power limit.

Each is timed alone and with its fix, by turns, and recorded with GPU metrics at 10 kHz (part 20's recording is taken where it was made just before). The
verdict, its second word and the finding must be those of truth.json; the predicted step is held against the measured one. Then `hot` runs until the GPU
is at its power limit (nobody sets a clock or a limit): the recording's lost time is held against nvidia-smi's counter, and the finding must be there.
"""
import shutil
import statistics

from counters import METRICS, TRUTHS, alike, clocks_now, metric_table, percent_off, planted, step_ms
from harness import ask_headway, headway, info, last_words, run, target

TITLE = "Inside the GPU: planted programs"
NAMES = ("smallgrid", "persistent", "gemms", "chain")
ROUNDS = {"smallgrid": 3, "persistent": 3, "chain": 1, "gemms": 1}
LONGEST_S = 60
SMALL_BYTES = 4_000_000
MOST_ERROR = 0.25  # of a prediction
LOST = "gpu.0.lost.power_cap_ns"


def times_of(part, name):
    """Medians of the steps, before and after the fix; None where a run failed."""
    times = {"before": [], "after": []}
    for _ in range(ROUNDS[name]):
        for which, words in (("before", ()), ("after", ("--fixed",))):
            done = run(planted(name, *words), timeout=LONGEST_S)
            if step_ms(done) is None:
                part.check(f"{name}: {which}", f"exit {done.rc}: {last_words(done)}", "step_ms", False)
                return None
            times[which].append(step_ms(done))
    return {which: statistics.median(found) for which, found in times.items()}


def recorded(part, name):
    """A recording with metrics; part 20's where there is one."""
    report, earlier = part.work / f"{name}.hwy", part.work.parent / "part20" / f"{name}-0.hwy"
    if earlier.exists():
        return earlier
    done = run(headway(report, planted(name), "-q", *METRICS), timeout=LONGEST_S)
    if not part.check(f"{name}: recorded", last_words(done) if done.rc else f"{done.seconds:.1f} s", "exit 0", done.rc == 0):
        return None
    return report


def predicted_ms(document, finding):
    """The step that the finding predicts; None where it predicts none."""
    found = next((one for one in document["findings"] if one["id"] == finding), None)
    return found["predicted"]["step_ns"] / 1e6 if found and found.get("predicted") else None


def judge(part, name, report, times):
    truth, document = TRUTHS[name], ask_headway("analyze", "--format", "json", report)
    summary, ids = document["summary"], [finding["id"] for finding in document["findings"]]
    part.check(f"{name}: verdict", summary["verdict"], "/".join(truth["verdict"]), summary["verdict"] in truth["verdict"])
    part.check(f"{name}: second word", f"{summary.get('verdict_second')} by {summary.get('verdict_second_by')}", "/".join(truth["second"]),
               summary.get("verdict_second") in truth["second"])
    part.check(f"{name}: first finding", ", ".join(ids[:3]) or "none", truth["finding"], ids[:1] == [truth["finding"]])
    after = predicted_ms(document, truth["finding"])
    if not times:
        return
    part.note(f"{name}: measured", f"{times['before']:.3f} → {times['after']:.3f} ms, {times['before'] / times['after']:.2f} times as fast")
    if after is None:
        part.note(f"{name}: predicted", "nothing: a kernel that waits for work is not as long as its work" if name == "persistent" else "nothing")
    else:
        part.check(f"{name}: predicted", f"{after:.3f} ms, measured {times['after']:.3f}: {percent_off(after, times['after'])}", f"{100 * MOST_ERROR:.0f} %",
                   alike(after, times["after"], MOST_ERROR))


def plants(part):
    for name in NAMES:
        if not part.wants(name):
            continue
        if part.time_left() < 20:
            part.note(f"{name}: left out", "no time left")
            continue
        report = recorded(part, name)
        times = times_of(part, name)
        if report:
            judge(part, name, report, times)
            keep(part, report, f"planted-{name}.hwy")


def keep(part, report, name):
    if report.exists() and report.stat().st_size < SMALL_BYTES:
        shutil.copy(report, part.out / name)


def has_finding(report, name):
    document = ask_headway("analyze", "--format", "json", report)
    return next((finding for finding in document["findings"] if finding["id"] == name), None)


def hot(part):
    report, before = part.work / "hot.hwy", clocks_now()
    done = run(headway(report, target("hot", "6"), "-q"), timeout=LONGEST_S)
    after = clocks_now()
    if not part.check("hot: recorded", last_words(done), "exit 0", done.rc == 0):
        return
    document, rows = info(report), metric_table(report)
    lost = int(document["properties"].get(LOST, 0)) / 1e9
    keep(part, report, "hot.hwy")
    if "SM Clock" in rows:
        row = rows["SM Clock"]
        most = int(document["properties"].get("gpu.0.most_sm_clock_hz", 0)) * 1e-6
        part.check("hot: SM clock while busy", f"{(row['Busy Avg'] or row['Avg']) * 1e-6:.0f} MHz, at least {row['Min'] * 1e-6:.0f}, of {most:.0f}", "below the highest",
                   (row["Busy Avg"] or row["Avg"]) * 1e-6 < 0.97 * most)
    if before and after and before.get("clocks_event_reasons_counters.sw_power_cap") is not None:
        seen = (after["clocks_event_reasons_counters.sw_power_cap"] - before["clocks_event_reasons_counters.sw_power_cap"]) / 1e6
        part.check("hot: time at the power limit", f"{lost:.2f} s, nvidia-smi {seen:.2f} s", "10 %, or 0.2 s", alike(lost, seen, 0.1, 0.2))
    found = has_finding(report, "throttled")
    if lost < 0.5:
        part.note("hot: the GPU did not reach its power limit", f"{lost:.2f} s")
        part.check("hot: finding", found["says"] if found else "none", "none", not found)
    else:
        part.check("hot: finding", found.get("says", "there") if found else "none", "throttled", bool(found))
    cool = part.work.parent / "part20" / "smallgrid-0.hwy"
    if cool.exists():
        found = has_finding(cool, "throttled")
        part.check("smallgrid: not throttled", found.get("says", "there") if found else "none", "none", not found)


def go(part):
    if part.wants("hot"):
        hot(part)
    plants(part)
