# SPDX-License-Identifier: Apache-2.0
"""Part 12: `headway diff` on three examples before and after their fix, five runs each, and on one program twice."""
import json

from harness import HEADWAY, example, gated, headway, last_words, run, run_gated

TITLE = "Before and after: verdicts, causes and predictions"
RUNS, LEAST = 5, 3

# name: (before, after, part of the step that the change comes from, finding that goes)
PAIRS = {
    "streams": (example("streams", "pageable", "1"), example("streams", "pinned", "1"), "exposed_copy",
                "pageable-copy"),
    "graphs": (example("graphs", "launch"), example("graphs", "graph"), "idle_launch", "launch-bound"),
    "mlp": (example("mlp", "--sync"), example("mlp"), "idle_blocked", "sync-in-loop"),
}
TWICE = "mlp"  # its fixed version is recorded once more


def record(part, **programs):
    """The reports of some runs of each program. They take turns: a clock that wanders wanders for all of them."""
    paths = {name: [part.work / f"{name}{i}.hwy" for i in range(RUNS)] for name in programs}
    turns = [(paths[name][i], program) for i in range(RUNS) for name, program in programs.items()]
    runs = run_gated([headway(path, gated(program), "-q") for path, program in turns])
    for (path, _), done in zip(turns, runs):
        if done.rc or not path.exists():
            part.check(f"{path.stem}: recording", last_words(done), "exit 0", False)
    return [[path for path in paths[name] if path.exists()] for name in programs]


def compare(part, what, before, after):
    """What diff says of two sides; None where one has too few runs or there is no answer."""
    if min(len(before), len(after)) < LEAST:
        part.check(f"{what}: runs", f"{len(before)} and {len(after)}", f"{LEAST} a side", False)
        return None
    done = run([HEADWAY, "diff", "--format", "json", *before, "--", *after])
    try:
        return json.loads(done.out)
    except json.JSONDecodeError:
        part.check(f"{what}: diff", last_words(done), "an answer", False)
        return None


def judge_verdict(part, what, result, verdict):
    change = result["change"]
    shown = f"{100 * change['share']:+.1f} % ({100 * change['low']:+.1f} … {100 * change['high']:+.1f})"
    part.check(what, f"{result['verdict']}, {shown} {change['why']}".strip(), verdict, result["verdict"] == verdict)


def judge(part, name, result):
    _, _, cause, finding = PAIRS[name]
    judge_verdict(part, f"{name}: verdict", result, "faster")
    first = result["split"][0]
    part.check(f"{name}: cause", f"{first['part']} {first['change_ns'] / 1e3:+.0f} us", cause, first["part"] == cause)
    total = sum(entry["change_ns"] for entry in result["split"])
    part.check(f"{name}: the parts add up", f"{total} of {result['change']['ns']} ns", "exactly",
               total == result["change"]["ns"])
    gone = {one["id"]: one for one in result["findings"] if one["change"] == "gone"}
    part.check(f"{name}: gone", ", ".join(gone) or "nothing", finding, finding in gone)
    predicted = gone.get(finding, {}).get("predicted")
    said = f"{predicted['speedup']:.2f}x ({predicted['low']:.2f} - {predicted['high']:.2f}), measured " \
           f"{predicted['measured']:.2f}x: {predicted['grade']}" if predicted else "nothing"
    part.check(f"{name}: prediction", said, "graded", bool(predicted) and predicted["grade"] != "none")


def go(part):
    for name, (before, after, _, _) in PAIRS.items():
        if not part.wants(name):
            continue
        programs = {f"{name}_before": before, f"{name}_after": after}
        if name == TWICE:
            programs[f"{name}_again"] = after
        first, fixed, *again = record(part, **programs)
        result = compare(part, name, first, fixed)
        if result:
            judge(part, name, result)
        result = compare(part, "twice", fixed, again[0]) if again else None
        if result:
            judge_verdict(part, "the same program twice", result, "same")
