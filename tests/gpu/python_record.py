#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python_record.py - `headway.record` on a real GPU, in a torch program that has used CUDA before.

    python3 tests/gpu/python_record.py              needs build/ (headway, its libraries), torch and a GPU; under 2 minutes

One line a check: ok or FAIL, what, what was seen. Exit status 1 when one failed, 77 without torch or a GPU. The program
computes the same numbers in a process that is not recorded, and compares.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
STEPS, WARM_UP = 20, 5
failed = []


def check(holds, what, seen=""):
    print(f"{'ok  ' if holds else 'FAIL'} {what}: {seen}", flush=True)
    if not holds:
        failed.append(what)


def make_program():
    import torch
    torch.manual_seed(7)
    model = torch.nn.Sequential(*[torch.nn.Linear(1024, 1024) for _ in range(8)]).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    batch = torch.randn(512, 1024)

    def step():
        x = batch.cuda(non_blocking=False)
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()  # this line waits

    return step


def plain():
    """The same steps without Headway; prints the losses."""
    step = make_program()
    print(json.dumps([step() for _ in range(WARM_UP + 3 * STEPS)]))


def look(run, first, headway):
    recording = run.recording
    print(f"     {recording}: {recording.kinds}; notes: {run.notes}", flush=True)
    for line in run.said.splitlines():
        print("     |", line, flush=True)
    label = f"recording {first}"
    ranges = [span.name for span in recording.spans("range") if span.name.startswith("step_")]
    check(ranges == [f"step_{i}" for i in range(first, first + STEPS)], f"{label}: its steps, and no others", len(ranges))
    kernels = recording.kinds.get("kernel", 0)
    check(kernels >= 20 * STEPS, f"{label}: kernels of every step", kernels)
    copies = list(recording.columns("copy")["direction"]) if "copy" in recording.kinds else []
    check(copies.count("Host-to-Device") >= STEPS, f"{label}: copies to the device", len(copies))
    if kernels:
        columns = recording.columns("kernel")
        check(columns["name"].absent == 0 and columns["shape"].absent == 0, f"{label}: kernels have names and shapes",
              f"{columns['name'].absent} and {columns['shape'].absent} absent")
        check(columns["call"].absent <= kernels // 50, f"{label}: kernels know their launches",
              f"{columns['call'].absent} of {kernels} do not")
        check(min(columns["duration"]) > 0, f"{label}: kernels take time", f"{sum(columns['duration']) / 1e6:.1f} ms in all")
        inside = [span for span in recording.spans("range") if span.name.startswith("step_")]
        begin, end = min(span.start for span in inside), max(span.end for span in inside)
        early = sum(start < begin - 1_000_000 or start > end + 100_000_000 for start in columns["start"])
        check(early == 0, f"{label}: the GPU's clock is the CPU's", f"{early} kernels outside of the steps")
    devices = recording.sql("select name from devices")
    check(len(devices) >= 1 and devices[0]["name"], f"{label}: the device", devices)
    streams = {lane.stream for lane in recording.lanes if lane.type == "stream"}
    check(bool(streams), f"{label}: streams that were there before", streams)
    places = {str(place) for finding in recording.findings + recording.acquitted for place in finding.places}
    # Calls that take long have their stacks: the copy always, the wait only where the GPU is behind.
    check(any(f"python_record.py:{line}" in place for place in places for line in LINES), f"{label}: lines of the step",
          sorted(places)[:4])
    check("nothing lost" in run.said, f"{label}: nothing is lost")
    print(f"     verdict: {recording.verdict}", flush=True)


def main():
    try:
        import torch
    except ImportError:
        print("SKIP: no torch")
        return 77
    if not torch.cuda.is_available():
        print("SKIP: no GPU that torch can use")
        return 77
    import headway
    print(f"torch {torch.__version__}, CUDA {torch.version.cuda}, {torch.cuda.get_device_name()}", flush=True)
    folder = tempfile.mkdtemp(prefix="headway-python-gpu-")
    step = make_program()
    losses = [step() for _ in range(WARM_UP)]  # CUDA is in use before Headway is loaded
    torch.cuda.synchronize()
    environment, runs = dict(os.environ), []
    for first in (0, 2 * STEPS):
        with headway.record(f"{folder}/steps{first}.hwy", quiet=True) as run:
            for i in range(first, first + STEPS):
                with headway.range(f"step_{i}"):
                    losses.append(step())
        runs.append((run, first))
        if first == 0:
            losses += [step() for _ in range(STEPS)]  # between the recordings
    for run, first in runs:
        look(run, first, headway)
    check(dict(os.environ) == environment, "the environment is as it was")

    done = subprocess.run([sys.executable, __file__, "plain"], capture_output=True, text=True, check=False)
    expected = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else done.stderr[-300:]
    check(losses == expected, "the program computes what it computes without Headway",
          f"{len(losses)} losses, the last {losses[-1]!r}")

    def time_steps():
        began = time.perf_counter()
        for _ in range(STEPS):
            step()
        return (time.perf_counter() - began) / STEPS * 1e3

    after = min(time_steps() for _ in range(3))
    with headway.record(f"{folder}/timed.hwy", quiet=True):
        inside = min(time_steps() for _ in range(3))
    print(f"     a step takes {after:.3f} ms after two recordings, {inside:.3f} ms while it is recorded", flush=True)

    with headway.record(f"{folder}/torch.hwy", trace="cuda,nvtx,pytorch", quiet=True) as run:
        torch.cuda.nvtx.range_push("a range of torch")
        step()
        torch.cuda.nvtx.range_pop()
        torch.cuda.synchronize()
    names = [span.name for span in run.recording.spans("range")]
    check("a range of torch" in names or any("torch" in note for note in run.notes),
          "torch's own NVTX is recorded, or a note says why not", f"{names[:3]}, {run.notes}")
    check(run.recording.kinds.get("op", 0) > 20, "operators of PyTorch", run.recording.kinds)
    print(f"{'FAIL' if failed else 'ok  '} python_record: {len(failed)} checks failed{': ' if failed else ''}"
          f"{'; '.join(failed)}")
    return 1 if failed else 0


with open(__file__, encoding="utf-8") as source:
    LAST = next(number for number, text in enumerate(source, 1) if text.rstrip().endswith("# this line waits"))
LINES = range(LAST - 5, LAST + 1)
if __name__ == "__main__":
    sys.exit(plain() if sys.argv[1:] == ["plain"] else main())
