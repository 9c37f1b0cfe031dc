# SPDX-License-Identifier: Apache-2.0
"""Part 7: a program that uses torch.profiler itself is left as it is; who has CUPTI has the device's rows."""
import json

from harness import headway, info, last_words, run, said, target

TITLE = "torch.profiler inside the program"
WORDS = ("cupti", "torch.profiler", "kineto", "subscriber")


def one(part, order, plain, leave):
    name = f"{order}{', --leave-cupti' if leave else ''}"
    path, result = part.work / f"{order}{leave}.hwy", part.work / f"{order}{leave}.json"
    options = ["--leave-cupti"] if leave else []
    done = run(headway(path, target("kineto", order, result), *options))
    part.check(f"{name}: exit status, stdout", f"{done.rc}, {done.out.strip()}", f"7, {plain['out']}",
               done.rc == 7 and done.out.strip() == plain["out"])
    if not (path.exists() and result.exists()):
        part.check(f"{name}: report", last_words(done), "there", False)
        return
    torch, found = json.loads(result.read_text()), info(path)
    kernels = found["spans"].get("kernel", {}).get("count", 0)
    ranges = found["spans"].get("range", {}).get("count", 0)
    told = said(found, *WORDS) or next((line for line in done.err.splitlines()
                                        if any(word in line.lower() for word in WORDS)), None)
    part.note(f"{name}: ms of work, plain and recorded", f"{plain['ms']:.2f}, {torch['ms']:.2f}")
    part.check(f"{name}: NVTX ranges", ranges, plain["ranges"], ranges == plain["ranges"])
    theirs = torch["device_events"] >= plain["device_events"]
    ours = kernels >= plain["kernels"] * plain["ranges"]  # one range a piece of work
    rows = (f"torch {torch['device_events']} of {plain['device_events']} device events, "
            f"headway {kernels} of {plain['kernels'] * plain['ranges']} kernels")
    if leave:
        part.check(f"{name}: device rows", rows, "all torch's", theirs)
        part.check(f"{name}: says that CUDA is missing", told, "a line", kernels > 0 or told is not None)
    else:
        part.check(f"{name}: device rows", rows, "one of them has all", theirs or ours)
        part.check(f"{name}: says who lost", told, "a line, if anybody did",
                   (theirs and ours) or told is not None)


def go(part):
    for order in ("late", "early"):
        if not part.wants(order):
            continue
        result = part.work / f"{order}.json"
        done = run(target("kineto", order, result))
        if done.rc != 7:
            part.check(f"{order}: plain", last_words(done), "exit 7", False)
            continue
        plain = json.loads(result.read_text())
        plain.update(out=done.out.strip(), ranges=22 if order == "late" else 21)
        for leave in (False, True):
            one(part, order, plain, leave)
