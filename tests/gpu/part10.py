# SPDX-License-Identifier: Apache-2.0
"""Part 10: what `headway analyze` says of each example, recorded here."""
import json

import part1
from harness import EXAMPLES, HEADWAY, TARGETS, example, headway, last_words, lines_of, run

TITLE = "The diagnosis of every example"


def at(name, *needles):
    """(file, lines) of the statements that hold one of the needles."""
    paths = (EXAMPLES / f"{name}.py", EXAMPLES / f"{name}.cu", TARGETS / f"{name}.cu")
    file = next(path for path in paths if path.exists())
    return file.name, set().union(*(lines_of(file, needle) for needle in needles))


OSRT = ["-t", "cuda,nvtx,osrt"]


# name: (command, ids of which one comes first, where, ids that must not be there, ids acquitted)
RUNS = {
    "mlp_sync": (example("mlp", "--sync"), ["sync-in-loop"], at("mlp", "loss.item()"), [], []),
    "mlp_async": (example("mlp"), ["no-tensor-cores"], None, ["sync-in-loop"], []),
    "itemloop_item": (example("itemloop", "--item"), ["launch-bound"], None, ["sync-in-loop"], ["sync-in-loop"]),
    "itemloop_async": (example("itemloop"), ["launch-bound"], None, ["sync-in-loop"], []),
    "inmodel_if": (example("inmodel", "--if"), ["sync-in-model"], at("inmodel", "if peak > LIMIT:"), [], []),
    "inmodel_clamp": (example("inmodel"), None, None, ["sync-in-model", "sync-in-loop"], []),
    "power_blocking": (example("power"), ["sync-in-loop", "cpu-bound-gap", "staircase", "pageable-copy"],
                       at("power", "host = cp.asnumpy(x)", "np.save(path, host)", "self.residual = float(residual)",
                          "checks.check("), [], []),
    "power_overlap": (example("power", "--overlap"), None, None, ["sync-in-loop"], []),
    "starve_0": (example("starve", "--workers", "0", "--batches", "12"), ["input-starved"],
                 at("starve", "next(", "time.sleep("), [], []),
    "starve_8": (example("starve", "--workers", "8", "--batches", "24"), None, None, [], []),
    "decode_eager": (example("decode"), ["launch-bound"], None, [], []),
    "decode_graph": (example("decode", "--graph"), None, None, ["launch-bound", "kernel-storm"], []),
    "roundtrip_cpu": (example("roundtrip", "--cpu"), ["copy-roundtrip"], at("roundtrip", ".cpu()"), [], []),
    "roundtrip_gpu": (example("roundtrip"), None, None, ["copy-roundtrip"], []),
    "phases": (example("phases"), None, None, [], []),
    "phases_marks": (example("phases", "--marks"), None, None, [], []),
    "streams_pageable1": (example("streams", "pageable", "1"), ["pageable-copy"],
                          at("streams", "cudaMemcpyAsync("), [], []),
    "streams_pinned1": (example("streams", "pinned", "1"), ["copy-serial"], None, ["pageable-copy"], []),
    "streams_pinned4": (example("streams", "pinned", "4"), None, None, ["pageable-copy", "copy-serial"], []),
    "graphs_launch": (example("graphs", "launch"), ["launch-bound", "kernel-storm"], None, [], []),
    "graphs_graph": (example("graphs", "graph"), None, None, ["launch-bound", "kernel-storm"], []),
    "priority_same": (example("priority", "same"), ["priority-inversion"], None, [], []),
    "priority_high": (example("priority", "high"), None, None, ["priority-inversion"], []),
    "events_host": (example("events", "host"), ["staircase", "sync-in-loop", "sync-in-model"], None, [], []),
    "events_device": (example("events", "device"), None, None, ["staircase", "sync-in-loop", "sync-in-model"], []),
}


def names_place(finding, file, lines):
    return any(place.get("file", "").endswith(file) and place.get("line") in lines for place in finding["places"])


def judge(part, name, expected, result):
    first, where, forbidden, acquitted = expected
    found = [finding["id"] for finding in result["findings"]]
    shown = ", ".join(f"{f['id']} {100 * f['share']:.0f} %" for f in result["findings"][:4]) or "nothing"
    if first:
        part.check(f"{name}: comes first", shown, " or ".join(first), bool(found) and found[0] in first)
    else:
        part.note(f"{name}: found", shown)
    if where and found:
        file, lines = where
        places = [f"{p.get('file', '').rsplit('/', 1)[-1]}:{p.get('line')}" for p in result["findings"][0]["places"][:3]]
        part.check(f"{name}: at the line", ", ".join(places), f"{file}:{','.join(map(str, sorted(lines)))}",
                   names_place(result["findings"][0], file, lines))
    if forbidden:
        wrong = [one for one in found if one in forbidden]
        part.check(f"{name}: not found", ", ".join(wrong) or "none", "no " + ", ".join(forbidden), not wrong)
    cleared = [finding["id"] for finding in result["acquitted"]]
    for one in acquitted:
        part.check(f"{name}: acquitted", ", ".join(cleared), one, one in cleared)


def record(part, name, command):
    """The report, and what the program printed last; part 1's own where it recorded the same just before."""
    before = part.work.parent / "part1" / f"{name}.hwy"
    if before.exists() and part1.RUNS.get(name) == (command, []):
        return before, ""
    path = part.work / f"{name}.hwy"
    done = run(headway(path, command, *(OSRT if name.startswith("starve") else [])))
    if done.rc or not path.exists():
        part.check(f"{name}: headway profile", f"exit {done.rc}: {last_words(done)}", "exit 0", False)
        return None, ""
    return path, (done.out.strip().splitlines() or [""])[-1]


def examine(part, runs):
    """Records and diagnoses each; yields the reports."""
    for name, (command, *expected) in runs.items():
        if not part.wants(name) or part.time_left() < 20:
            continue
        path, printed = record(part, name, command)
        if not path:
            continue
        said = run([HEADWAY, "analyze", "--format", "json", path])
        if said.rc:
            part.check(f"{name}: headway analyze", f"exit {said.rc}: {last_words(said)}", "exit 0", False)
            continue
        if printed:
            part.note(f"{name}: the program said", printed)
        judge(part, name, expected, json.loads(said.out))
        yield path


def go(part):
    for _ in examine(part, RUNS):
        pass
