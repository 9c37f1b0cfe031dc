# SPDX-License-Identifier: Apache-2.0
"""Part 17: programs of PyTorch and JAX compute the same with and without headway.

Each program runs plain, recorded with every source that looks into Python and PyTorch, and plain again, through targets/exact.py, which makes
it deterministic and prints what it computed to the last bit. Where the two plain runs differ the program is not deterministic, and only the
exit status is compared. Several programs run at a time. Then programs that use torch.profiler themselves are run with and without.
"""
import collections
import concurrent.futures
import json
import os

from frameworks import differences, program
from harness import EXAMPLES, HERE, headway, info, last_words, run, said, target

TITLE = "Twenty programs, with and without"
AT_ONCE = 8
ALL = ["-t", "cuda,nvtx,osrt,pytorch,python", "--no-calibration"]
PROGRAMS = ["compiled --fixed", "vision", "shapes", "sampler", "attention", "finetune", "attention_parts", "generate", "uncached", "fp32", "masks",
            "adam_loop", "adam_each", "clips", "offload", "embeddings", "rollout", "metrics", "graphnet", "million_objects", "gil_threads", "recast",
            "jax_eager", "jax_input", "jax_float"]
LEAST = 20
EXACT = {"CUBLAS_WORKSPACE_CONFIG": ":4096:8", "PYTHONHASHSEED": "0", "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
         "XLA_FLAGS": "--xla_gpu_deterministic_ops=true --xla_gpu_autotune_level=0"}
WORDS = ("torch.profiler", "kineto", "operators", "cupti")
LONGEST_S = 110


def command(line):
    name, *arguments = line.split()
    return target("exact", os.path.relpath(HERE / "programs" / f"{name}.py", EXAMPLES), *arguments)


def one(part, line):
    """Runs of a program: plain, recorded, plain. None where there was no time."""
    if part.time_left() < 60:
        return None
    report = part.work / f"{line.split()[0]}.hwy"
    ways = (command(line), headway(report, command(line), *ALL), command(line))
    return [run(way, timeout=LONGEST_S, env=EXACT) for way in ways]


def first_difference(one_text, other):
    for mine, theirs in zip(one_text.splitlines(), other.splitlines()):
        if mine != theirs:
            return f"{mine[:60]} | {theirs[:60]}"
    return f"{len(one_text.splitlines())} and {len(other.splitlines())} lines"


def judge(part, line, runs):
    """True where the program's output could be compared."""
    name = line.split()[0]
    plain, recorded, again = runs
    took = f"{plain.seconds:.0f}, {recorded.seconds:.0f}, {again.seconds:.0f} s"
    if plain.rc != 7 or again.rc != 7:
        part.note(f"{name}: cannot be run here", f"exit {plain.rc}, {again.rc}: {last_words(plain)}")
        return False
    part.check(f"{name}: exit status", f"{recorded.rc} {last_words(recorded) if recorded.rc != 7 else ''}".strip(), "7", recorded.rc == 7)
    report = part.work / f"{name}.hwy"
    part.check(f"{name}: report", report.exists(), True, report.exists())
    if plain.out != again.out:
        part.note(f"{name}: not deterministic", first_difference(plain.out, again.out))
        return False
    part.check(f"{name}: output", first_difference(plain.out, recorded.out) if plain.out != recorded.out
               else f"{len(plain.out.splitlines())} lines alike; {took}", "to the last bit", plain.out == recorded.out)
    return True


def twenty(part):
    wanted = [line for line in PROGRAMS if part.wants(line.split()[0])]
    compared = 0
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        running = {pool.submit(one, part, line): line for line in wanted}
        for done in concurrent.futures.as_completed(running):
            if done.result():
                compared += judge(part, running[done], done.result())
            else:
                part.note(f"{running[done]}: left out", "no time left")
    if not part.only:
        part.check("programs whose output was compared", compared, f"at least {LEAST}", compared >= LEAST)


def profiled(part, name, *arguments):
    """A program that counts its own operators by torch.profiler."""
    counts, runs = [], []
    for way in ("plain", "recorded"):
        result = part.work / f"profiled-{name}-{way}.json"
        words = program(name, "--profiler", result, *arguments)
        report = part.work / f"profiled-{name}.hwy"
        runs.append(run(headway(report, words, *ALL) if way == "recorded" else words, timeout=LONGEST_S, env=EXACT))
        if runs[-1].rc or not result.exists():
            part.check(f"torch.profiler in {name}: {way}", f"exit {runs[-1].rc}: {last_words(runs[-1])}", "exit 0", False)
            return
        counts.append(collections.Counter(json.loads(result.read_text())["events"]))
    part.check(f"torch.profiler in {name}: output", runs[1].out.strip(), runs[0].out.strip(), runs[0].out == runs[1].out)
    wrong = differences(counts[1], counts[0])
    told = said(info(report), *WORDS) or next((line for line in runs[1].err.splitlines() if any(word in line.lower() for word in WORDS)), None)
    part.check(f"torch.profiler in {name}: events", f"{sum(counts[1].values())} of {sum(counts[0].values())}, {len(wrong)} names differ",
               "as without headway, or a line says why", not wrong or told is not None)
    for row in wrong[:5]:
        part.note(f"torch.profiler in {name}: differs: {row[0]}", f"recorded {row[1]}, plain {row[2]}")
    part.note(f"torch.profiler in {name}: headway says", told or "nothing")


def go(part):
    for name in ("amp", "resnet"):
        if part.wants(f"profiler-{name}"):
            profiled(part, name)
    twenty(part)
