# SPDX-License-Identifier: Apache-2.0
"""Part 8: OpenCL on the GPU's own runtime: every command, in order, on one clock; as a layer or preloaded."""
import sys

from harness import BUILT_EXAMPLES, EXAMPLES, HERE, headway, info, last_words, run, said, table

sys.path.insert(0, str(HERE.parent))
from opencl_report import EVENT, SYNC, Spans, violations  # noqa: E402

TITLE = "OpenCL"

# Program, arguments and what it does: kernels, copies, waits by clFinish and blocking reads.
CASES = {
    "mlp_sync": ("mlp_cl", ["sync", "20", "10", "1024", "1024"], {"kernel": 22 * 11, "copy": 1 + 22 * 2}),
    "mlp_async": ("mlp_cl", ["async", "20", "10", "1024", "1024"], {"kernel": 22 * 11, "copy": 1 + 22}),
    "one": ("streams_cl", ["one", "6", "64", "16"], {"kernel": 7 * 16, "copy": 7 * 32, "queue": 1}),
    "unordered": ("streams_cl", ["unordered", "6", "64", "16"],
                  {"kernel": 7 * 16, "copy": 7 * 32, "queue": 1, "edge": 7 * 32}),
    "several": ("streams_cl", ["several", "6", "64", "16"], {"kernel": 7 * 16, "copy": 7 * 32, "queue": 4}),
    "graphs": ("graphs_cl", ["launch", "12", "1000", "4096"], {"kernel": 13 * 1000, "copy": 2}),
}


def property_of(report, name):
    return next((report.text(p["value"]) for p in report.records.get("properties", [])
                 if report.text(p["name"]) == name), None)


def build(part):
    programs = sorted({program for program, _, _ in CASES.values()})
    done = run(["make", "-s", "-C", EXAMPLES, f"BIN={BUILT_EXAMPLES}", *(BUILT_EXAMPLES / p for p in programs)])
    if done.rc or not all((BUILT_EXAMPLES / program).exists() for program in programs):
        part.check("the OpenCL examples", last_words(done), "built", False)
        return False
    return True


def check_clock(part, name, spans):
    """How far the times could be wrong: the room that the calls leave."""
    early = [s["queued"] - spans.call_of(s)["start"] for s in spans.commands
             if s["kind"] != EVENT and spans.call_of(s)]
    late = [spans.call_of(s)["end"] - s["queued"] for s in spans.commands
            if s["kind"] != EVENT and spans.call_of(s)]
    if early:
        part.note(f"{name}: ns queued after the call's start and before its end, least",
                  f"{min(early)}, {min(late)}")
    part.note(f"{name}: the device's clock", property_of(spans.report, "opencl.device.0.clock"))


def one(part, name, way, prefix):
    program, arguments, wanted = CASES[name]
    command = [BUILT_EXAMPLES / program, *arguments]
    title, path = f"{name}, {way}", part.work / f"{name}-{way}.hwy"
    plain = run(command)
    done = run(headway(path, [*prefix, *command], "-t", "opencl"))
    part.check(f"{title}: exit status, plain and recorded", f"{plain.rc}, {done.rc}", "0, 0",
               plain.rc == 0 and done.rc == 0)
    if not part.check(f"{title}: report", "there" if path.exists() else last_words(done), "there", path.exists()):
        return
    spans = Spans(path)
    used = property_of(spans.report, "opencl.way")
    part.check(f"{title}: recorded", used, "a layer or preloaded", used in ("layer", "preload"))
    counts = spans.counts()
    found = {key: counts.get(key, 0) for key in wanted}
    part.check(f"{title}: counts", found, wanted, found == wanted)
    bad = list(violations(spans))
    part.check(f"{title}: order", bad[0] if bad else f"{len(spans.commands)} commands", "as it must be", not bad)
    waits = sum(1 for span in spans.all if span["kind"] == SYNC)
    part.note(f"{title}: waits with what they waited for", waits)
    check_clock(part, title, spans)
    about = info(path)
    lost = sum(drop["count"] or 0 for drop in about["drops"])
    part.check(f"{title}: lost records", lost, "0", lost == 0)
    odd = said(about, "clock of an OpenCL", "gives no times")
    part.check(f"{title}: complaints", odd, "none", odd is None)
    part.note(f"{title}: ms a step, plain and recorded", f"{plain.ms}, {done.ms}")


def go(part):
    if not build(part):
        return
    for name in CASES:
        if part.wants(name):
            one(part, name, "layer if there are any", [])
    for name in ("mlp_sync", "unordered"):  # where the loader has layers, both ways can be tried
        if part.wants(name):
            one(part, name, "without layers", ["env", "OPENCL_LAYERS="])
    path = part.work / "mlp_sync-layer if there are any.hwy"
    if path.exists():
        part.note("opencl_gpu_sum, first row", str(table(path, "opencl_gpu_sum"))[:200])
