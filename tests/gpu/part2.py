# SPDX-License-Identifier: Apache-2.0
"""Part 2: waits and launches name the line of the program they come from."""
import re

from harness import EXAMPLES, LAUNCH, example, headway, last_words, lines_of, run, table
from report import API, RANGE, Report

TITLE = "Where it comes from"

THRESHOLD = 20_000  # ns: shorter waits get no stack
WAIT = re.compile(r"^cu(da)?(\w*Synchronize|Memcpy)")


def record(part, name, command):
    path = part.work / f"{name}.hwy"
    done = run(headway(path, command))
    if part.check(f"{name}: headway profile", f"exit {done.rc}, {done.seconds:.1f} s", "exit 0",
                  done.rc == 0 and path.exists()):
        return Report(path), path
    part.note(f"{name}: it said", last_words(done))
    return None, None


def long_waits(report):
    return [span for span in report.spans(API) if WAIT.match(span["name"]) and span["duration"] >= THRESHOLD]


def inside(report, spans, pattern):
    """Those that lie in a range whose name matches, on the same thread."""
    ranges = [r for r in report.spans(RANGE) if re.fullmatch(pattern, r["name"])]
    return [s for s in spans if any(r["start"] <= s["start"] and s["end"] <= r["end"] and
                                    report.thread(r["lane"]) == report.thread(s["lane"]) for r in ranges)]


def check_lines(part, what, report, waits, file, lines, least):
    named = sum(report.names_line(span["stack"], file, lines) for span in waits)
    where = f"{file}:{','.join(map(str, sorted(lines)))}"
    part.check(what, f"{named} of {len(waits)} name {where}", f"all, at least {least}",
               named == len(waits) >= least)
    for span in waits:
        if not report.names_line(span["stack"], file, lines):
            frames = report.frames(span["stack"])[:3]
            part.note(f"{what}: one that does not", f"{span['name']} {span['duration'] / 1e3:.0f} µs " + " < ".join(
                f"{frame['file'].rsplit('/', 1)[-1]}:{frame['line']} {frame['function']}" for frame in frames))
            break


def check_place(part, name, path, file, lines):
    """The table people read says it as well."""
    rows = table(path, "wait_sum")
    wanted = tuple(f"{file}:{line} " for line in lines)
    found = [row for row in rows if f"{row['Place']} ".startswith(wanted)]
    top = max(rows, key=lambda row: row["Waited (ns)"], default={"Place": "no rows"})
    calls = sum(row["Num Calls"] for row in found)
    part.check(f"{name}: wait_sum", f"{calls} calls; longest wait at {top['Place']}", "names the line", calls > 0)


def mlp(part):
    report, path = record(part, "mlp --sync", example("mlp", "--sync"))
    if report:
        lines = lines_of(EXAMPLES / "mlp.py", "print(f", "loss.item()")
        steady = inside(report, long_waits(report), r"step_([3-9]|\d\d)")
        check_lines(part, "mlp --sync: waits of the loop", report, steady, "mlp.py", lines, 15)
        check_place(part, "mlp --sync", path, "mlp.py", lines)


def inmodel(part):
    report, path = record(part, "inmodel --if", example("inmodel", "--if", "--steps", "20"))
    if report:
        lines = lines_of(EXAMPLES / "inmodel.py", "if peak > LIMIT:")
        loop = lines_of(EXAMPLES / "inmodel.py", "            model(x)")
        # The model's own: made below the loop's line, or without a stack at all.
        waits = [span for span in long_waits(report)
                 if not span["stack"] or report.names_line(span["stack"], "inmodel.py", loop)]
        check_lines(part, "inmodel --if: waits of forward()", report, waits, "inmodel.py", lines, 200)
        check_place(part, "inmodel --if", path, "inmodel.py", lines)


def power(part):
    report, path = record(part, "power", example("power"))
    if report:
        lines = lines_of(EXAMPLES / "power.py", "host = cp.asnumpy(x)")
        other = lines_of(EXAMPLES / "power.py", "self.residual = float(residual)")
        waits = inside(report, long_waits(report), "check")
        copies = [s for s in waits if not report.names_line(s["stack"], "power.py", other)]
        check_lines(part, "power: waits of the check-points", report, copies, "power.py", lines, 5)
        rows = table(path, "wait_sum")
        part.note("power: wait_sum", "; ".join(f"{row['Num Calls']} × {row['Place']}" for row in rows[:3]))


def streams(part):
    report, path = record(part, "streams pageable", example("streams", "pageable", "1"))
    if report:
        lines = lines_of(EXAMPLES / "streams.cu", "cudaMemcpyAsync(")
        waits = [span for span in long_waits(report) if span["name"].startswith("cudaMemcpyAsync")]
        named = sum(any(frame["function"].startswith(("pass", "_ZL4pass")) for frame in report.frames(w["stack"]))
                    for w in waits)
        part.check("streams pageable: function pass()", f"{named} of {len(waits)}", "all, at least 100",
                   named == len(waits) >= 100)
        check_lines(part, "streams pageable: source line", report, waits, "streams.cu", lines, 100)
        check_place(part, "streams pageable", path, "streams.cu", lines)


def decode(part):
    report, _ = record(part, "decode", example("decode", "--tokens", "40"))
    if report:
        source = EXAMPLES / "decode.py"
        model = set(range(min(lines_of(source, "class Block")), min(lines_of(source, "def main()"))))
        launches = inside(report, [s for s in report.spans(API) if LAUNCH.match(s["name"])], r"token_\d+")
        sampled = [span for span in launches if span["stack"]]
        named = sum(report.names_line(span["stack"], "decode.py", model) for span in sampled)
        lines = {frame["line"] for span in sampled for frame in report.frames(span["stack"])
                 if frame["file"].endswith("decode.py") and frame["line"] in model}
        # A few launches of a token are not the model's: the argument of argmax, the new window.
        part.check("decode: sampled launches name the model's lines",
                   f"{named} of {len(sampled)} ({len(launches)} launches), {len(lines)} lines",
                   "90 %, at least 10", len(sampled) >= 10 and named >= 0.9 * len(sampled))


def go(part):
    for name, test in (("streams", streams), ("mlp", mlp), ("inmodel", inmodel), ("power", power),
                       ("decode", decode)):
        if part.wants(name):
            test(part)
