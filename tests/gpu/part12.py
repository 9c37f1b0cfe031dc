"""Part 12: `headway diff` on three examples before and after their fix, five runs each, and on one program twice."""
import json

from harness import HEADWAY, example, gated, headway, last_words, run, run_gated

TITLE = "Before and after: verdicts, causes and predictions"
RUNS = 5

# name: (before, after, part of the step that the change comes from, finding that goes)
PAIRS = {
    "mlp": (example("mlp", "--sync"), example("mlp"), "idle_blocked", "sync-in-loop"),
    "graphs": (example("graphs", "launch"), example("graphs", "graph"), "idle_launch", "launch-bound"),
    "streams": (example("streams", "pageable", "1"), example("streams", "pinned", "1"), "exposed_copy",
                "pageable-copy"),
}
TWICE = example("streams", "pinned", "1")


def record(part, name, program):
    """The reports of some runs; those that failed are told."""
    paths = [part.work / f"{name}{i}.hwy" for i in range(RUNS)]
    runs = run_gated([headway(path, gated(program), "-q") for path in paths])
    for path, done in zip(paths, runs):
        if done.rc or not path.exists():
            part.check(f"{path.stem}: recording", last_words(done), "exit 0", False)
    return [path for path in paths if path.exists()]


def compare(part, what, before, after):
    done = run([HEADWAY, "diff", "--format", "json", *before, "--", *after])
    try:
        return json.loads(done.out)
    except json.JSONDecodeError:
        part.check(f"{what}: diff", last_words(done), "an answer", False)
        return None


def shown(result):
    change = result["change"]
    return f"{result['verdict']}, {100 * change['share']:+.1f} % ({100 * change['low']:+.1f} … {100 * change['high']:+.1f})"


def judge(part, name, result):
    _, _, cause, finding = PAIRS[name]
    part.check(f"{name}: verdict", shown(result), "faster", result["verdict"] == "faster")
    first = result["split"][0]
    part.check(f"{name}: cause", f"{first['part']} {first['change_ns'] / 1e3:+.0f} us", cause, first["part"] == cause)
    total = sum(entry["change_ns"] for entry in result["split"])
    part.check(f"{name}: the parts add up", f"{total} of {result['change']['ns']} ns", "exactly",
               total == result["change"]["ns"])
    gone = {one["id"]: one for one in result["findings"] if one["change"] == "gone"}
    part.check(f"{name}: gone", ", ".join(gone) or "nothing", finding, finding in gone)
    predicted = gone.get(finding, {}).get("predicted")
    if predicted:
        part.check(f"{name}: prediction",
                   f"{predicted['speedup']:.2f}x ({predicted['low']:.2f} - {predicted['high']:.2f}), measured "
                   f"{predicted['measured']:.2f}x", "graded", predicted["grade"] != "none")
        part.note(f"{name}: grade", predicted["grade"])


def go(part):
    for name, (before, after, _, _) in PAIRS.items():
        if not part.wants(name):
            continue
        a, b = record(part, f"{name}_before", before), record(part, f"{name}_after", after)
        if len(a) >= 3 and len(b) >= 3:
            result = compare(part, name, a, b)
            if result:
                judge(part, name, result)
    if part.wants("twice"):
        a, b = record(part, "twice_a", TWICE), record(part, "twice_b", TWICE)
        result = compare(part, "twice", a, b) if len(a) >= 3 and len(b) >= 3 else None
        if result:
            part.check("the same program twice", shown(result), "same", result["verdict"] == "same")
