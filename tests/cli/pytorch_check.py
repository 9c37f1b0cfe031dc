#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pytorch_check.py TRAIN WORKERS - what recordings of two programs of pytorch.sh must hold, as Chrome traces."""
import collections
import json
import sys

failed = False


def check(what, found, wanted):
    global failed
    if found != wanted:
        print(f"FAIL: {what}: {found!r}, not {wanted!r}")
        failed = True


def operators(path):
    events = json.load(open(path))["traceEvents"]
    return events, [event for event in events if event.get("cat") == "cpu_op"]


def stack_of(op):
    return op["args"].get("Call stack", "").split("; ")


def check_training(path, steps=20):
    events, ops = operators(path)
    count = collections.Counter(op["name"] for op in ops)
    check("linear layers", count["aten::linear"], 7 * steps)
    check("optimizer steps", count["Optimizer.step#Adam.step"], steps)
    check("scopes of the program", count["my scope"], steps)
    check("backward of a linear layer", count["AddmmBackward0"], 7 * steps)
    # Where each linear layer is called, in the order of a step. The first few stacks only prove the layout.
    called = [stack_of(op) for op in ops if op["name"] == "aten::linear"]
    expected = [f"Net.blocks.{i}.{name}" for i in range(3) for name in ("first", "second")] + ["Net.head"]
    for index, stack in enumerate(called):
        layers = [frame for frame in stack if frame.startswith("Net") and "forward" not in frame]
        name = expected[index % 7]
        wanted = [name, *([name.rsplit(".", 1)[0]] if "blocks" in name else []), "Net"]
        check(f"modules around linear layer {index}", layers, wanted)
        check(f"the functions around linear layer {index}", stack[0] == "Linear.forward" and stack[-1] == "<module>", True)
    # Inner operators have no place of their own, and each backward operator has its forward operator.
    check("places of inner operators", {op["args"].get("Call stack") for op in ops if op["name"] == "aten::addmm"}, {None})
    check_pairs(events, ops)


def check_pairs(events, ops):
    by_place = {(op["tid"], op["ts"]): op for op in ops}
    arrows = collections.defaultdict(dict)
    for event in events:
        if event.get("cat") == "fwdbwd":
            arrows[event["id"]][event["ph"]] = by_place[event["tid"], event["ts"]]["name"]
    pairs = collections.Counter((a["s"], a["f"]) for a in arrows.values())
    check("forward and backward", sorted(pairs), [
        ("aten::add", "AddBackward0"), ("aten::addmm", "AddmmBackward0"), ("aten::mean", "MeanBackward0"),
        ("aten::pow", "PowBackward0"), ("aten::relu", "ReluBackward0"), ("aten::t", "TBackward0")])


def check_workers(path):
    _, ops = operators(path)
    pids = collections.Counter(op["pid"] for op in ops if op["name"] == "aten::full")
    check("elements made in two workers", sorted(pids.values()), [16, 16])
    lines = {stack_of(op)[0] for op in ops if op["name"] == "aten::full"}
    check("the function that makes them", lines, {"Squares.__getitem__"})


check_training(sys.argv[1])
check_workers(sys.argv[2])
sys.exit(failed)
