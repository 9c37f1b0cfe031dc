#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calculates rooflines of PyTorch traces again, from the JSON alone, and compares headway's tables with the result.

roofline_check.py products TRACE OPS.csv         FLOP, bytes and TFLOP/s of every product of matrices, convolution and attention
roofline_check.py occupancy TRACE OCCUPANCY.csv  Kineto's own estimate of each kernel's occupancy follows from our blocks
roofline_check.py published TRACE OPS.csv        numbers that TraceLens (MIT, github.com/AMD-AGI/TraceLens, tests/traces) publishes
"""
import csv
import gzip
import json
import re
import sys
from collections import defaultdict

SIZES = {"float": 4, "c10::Half": 2, "c10::BFloat16": 2, "double": 8, "long int": 8}


def product(list_of_numbers):
    result = 1
    for number in list_of_numbers:
        result *= number
    return result


def gemm(args, left, right, added=None):
    a, b = args["Input Dims"][left], args["Input Dims"][right]
    size = SIZES[args["Input type"][left]]
    rows, k, n = product(a[:-1]), a[-1], b[-1]
    flop, items = 2 * rows * k * n, product(a) + product(b) + rows * n
    if added is not None:
        flop += rows * n
        items += product(args["Input Dims"][added])
    return flop, items * size


def convolution(args, padding, stride, dilation, groups):
    data, weights = args["Input Dims"][:2]
    values = [json.loads(args["Concrete Inputs"][i]) for i in (padding, stride, dilation)]
    assert data[1] == weights[1] * int(args["Concrete Inputs"][groups])
    result = data[0] * weights[0]
    for size, window, p, s, d in zip(data[2:], weights[2:], *values):
        result *= (size + 2 * p - d * (window - 1) - 1) // s + 1
    return 2 * result * product(weights[1:]), (product(data) + product(weights) + result) * SIZES[args["Input type"][0]]


def convolution_backward(args):
    gradient, data, weights = args["Input Dims"][:3]
    wanted = args["Concrete Inputs"][10].strip("[]").split(", ")
    assert args["Concrete Inputs"][7] == "False"
    n = wanted[:2].count("True")
    size = SIZES[args["Input type"][0]]
    return n * 2 * product(gradient) * product(weights[1:]), n * (product(gradient) + product(data) + product(weights)) * size


def attention(args, causal):
    q, k, v = args["Input Dims"][:3]
    flop = 2 * q[0] * q[1] * q[2] * k[2] * (q[3] + v[3])
    if args["Concrete Inputs"][causal] == "True":
        assert q[2] == k[2]
        flop //= 2
    size = SIZES[args["Input type"][0]]
    return flop, (product(q) + product(k) + product(v) + product(q[:3]) * v[3]) * size


MODELS = {
    "aten::mm": lambda a: gemm(a, 0, 1),
    "aten::bmm": lambda a: gemm(a, 0, 1),
    "aten::addmm": lambda a: gemm(a, 1, 2, 0),
    "aten::cudnn_convolution": lambda a: convolution(a, 2, 3, 4, 5),
    "aten::miopen_convolution": lambda a: convolution(a, 3, 4, 5, 6),
    "aten::convolution_backward": convolution_backward,
    "aten::_scaled_dot_product_flash_attention": lambda a: attention(a, 4),
    "aten::_scaled_dot_product_cudnn_attention": lambda a: attention(a, 6),
}


# Small operators that these call: their work is their own.
INNER = {"aten::sum", "aten::copy_", "aten::fill_", "aten::zero_", "aten::add_"}


def load(path):
    with (gzip.open if path.endswith(".gz") else open)(path) as file:
        return json.load(file)


def calls_with_work(trace):
    """Every call of a modelled operator: its event, and the device work launched in it, as [(is a fill, µs)]."""
    operators, calls, work = defaultdict(list), {}, []
    for event in trace["traceEvents"]:
        if event.get("ph") != "X":
            continue
        category, args = event.get("cat", "").lower(), event.get("args") or {}
        if category in ("cpu_op", "operator"):
            operators[event["pid"], event["tid"]].append(event)
        elif category in ("cuda_runtime", "cuda_driver", "runtime", "hip_runtime"):
            calls[args.get("correlation")] = event
        elif category in ("kernel", "gpu_memset", "gpu_memcpy", "memset", "memcpy"):
            work.append(event)
    moments = defaultdict(list)
    for event in work:
        call = calls.get(event["args"].get("correlation"))
        if call:
            moments[call["pid"], call["tid"]].append((call["ts"], event))
    found = {}
    for thread, launched in moments.items():
        around, rest = [], sorted(operators[thread], key=lambda e: (e["ts"], -e["dur"]))
        rest.reverse()
        for moment, event in sorted(launched, key=lambda pair: pair[0]):
            while rest and rest[-1]["ts"] <= moment:
                around.append(rest.pop())
            around = [e for e in around if e["ts"] + e["dur"] > moment]
            for operator in reversed(around):
                if operator["name"] in INNER:
                    break
                if operator["name"] in MODELS:
                    found.setdefault(id(operator), (operator, []))[1].append(
                        (event["cat"].lower().endswith("memset"), event["dur"]))
                    break
    return found.values()


def by_shapes(trace):
    sums = defaultdict(lambda: {"calls": 0, "us": 0.0, "fills": 0.0, "flop": 0, "bytes": 0})
    for operator, work in calls_with_work(trace):
        if "Input Dims" not in operator["args"]:
            continue
        one = sums[operator["name"], json.dumps(operator["args"]["Input Dims"])]
        flop, moved = MODELS[operator["name"]](operator["args"])
        one["calls"] += 1
        one["us"] += sum(us for _, us in work)
        one["fills"] += sum(us for is_fill, us in work if is_fill)
        one["flop"] += flop
        one["bytes"] += moved
    return sums


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def table(path):
    found = defaultdict(list)
    for row in rows(path):
        found[row["Name"], row["Input Shapes"]].append(row)
    return found


bad = 0


def near(what, got, want, share=1e-4, digits=0.00051):
    global bad
    if abs(got - want) > abs(want) * share + digits:
        print(f"FAIL: {what}: {got}, not {want}")
        bad += 1


def products(trace, path):
    ours, n = table(path), 0
    for (name, shapes), want in by_shapes(load(trace)).items():
        lines = ours.get((name, shapes), [])
        what = f"{name} {shapes}"
        near(what + " calls", sum(int(line["Calls"]) for line in lines), want["calls"], 0, 0)
        near(what + " ns", sum(int(line["Total Time (ns)"]) for line in lines), want["us"] * 1e3, 1e-6, 2)
        if len(lines) == 1:
            line, seconds = lines[0], want["us"] * 1e-6
            near(what + " TFLOP/s", float(line["TFLOP/s"]), want["flop"] / seconds / 1e12)
            near(what + " GB/s", float(line["GB/s"]), want["bytes"] / seconds / 1e9)
            near(what + " GFLOP", float(line["GFLOP"]), want["flop"] / want["calls"] / 1e9)
            near(what + " FLOP/Byte", float(line["FLOP/Byte"]), want["flop"] / want["bytes"])
            n += 1
    print(f"{n} kinds of calls compared")
    return n


def occupancy(trace, path):
    """Kineto: min(blocks of the grid for each SM, resident blocks) x threads / threads of an SM, in whole percent."""
    data, ours, n = load(trace), {}, 0
    device = data["deviceProperties"][0]
    numbers = lambda text: tuple(map(int, text.split()))
    for row in rows(path):
        key = row["Name"], numbers(row["GridXYZ"]), numbers(row["BlockXYZ"]), int(row["Registers"]), int(row["Shared Bytes"])
        ours[key] = int(row["Blocks/SM"])
    for event in data["traceEvents"]:
        args = event.get("args") or {}
        if event.get("cat") != "kernel" or "est. achieved occupancy %" not in args:
            continue
        grid, block = tuple(args["grid"]), tuple(args["block"])
        blocks = ours[event["name"], grid, block, args["registers per thread"], args["shared memory"]]
        resident = min(product(grid) / device["numSms"], blocks)
        want = 100 * resident * product(block) / device["maxThreadsPerMultiprocessor"]
        if args["shared memory"] > 48 * 1024:  # Kineto does not know that a kernel may ask for more, and says 0
            continue
        near(f"occupancy of {event['name'][:60]}", want, args["est. achieved occupancy %"], 0, 1)
        n += 1
    print(f"{n} kernels compared")
    return n


# name, shapes, GFLOP and MiB of a call, sum of the kernels' µs, mean of TFLOP/s of all calls
PUBLISHED = {
    "Qwen": [  # H100; commits 932e7421, 4771a861, 87031cdf
        ("aten::mm", [[8944, 1024], [1024, 2816]], 51.581550592, 71.0078125, 4055.252, 610.6657),
        ("aten::addmm", [[1024], [8944, 1024], [1024, 1024], [], []], 18.766086144, 36.939453125, 2329.076, 580.1844),
        ("aten::mm", [[8944, 2816], [2816, 1024]], 51.581550592, 71.0078125, 1835.287, 674.5510),
        ("aten::mm", [[8944, 1024], [1024, 1024]], 18.756927488, 36.9375, 778.142, 578.5261),
        ("aten::_scaled_dot_product_flash_attention", [[16, 16, 559, 64]] * 3 + [[]] * 4, 10.239377408, 69.875, 2722.704, 90.2892),
        ("aten::mul", [[16, 559, 1024], [16, 559, 1]], 0.009158656, 69.90911865, 1608.922, 0.27898),
        ("aten::mul", [[1024], [16, 559, 1024]], 0.009158656, 34.939453125, 1233.979, 0.36377),
        ("aten::mul", [[16, 559, 2816], [16, 559, 2816]], 0.025186304, 144.1171875, 1227.131, 0.49266),
        ("aten::add", [[16, 559, 1024], [16, 559, 1024], []], 0.009158656, 52.40625, 854.619, 0.51483),
    ],
    "owlv2": [  # H100; commit 7182e545
        ("aten::bmm", [[16, 5185, 64], [16, 64, 5185]], 55.0588928, 840.695343, 130015.700, 50.8181),
        ("aten::bmm", [[16, 5185, 5185], [16, 5185, 64]], 55.0588928, 840.695343, 99311.412, 66.5296),
        ("aten::addmm", [[1024], [5185, 1024], [1024, 1024], [], []], 10.87904256, 22.255859375, 10485.194, 498.1385),
        ("aten::addmm", [[1024], [5185, 4096], [4096, 1024], [], []], 43.50024192, 58.63671875, 7882.351, 662.2941),
        ("aten::addmm", [[4096], [5185, 1024], [1024, 4096], [], []], 43.51617024, 58.642578125, 7000.659, 745.9506),
        ("aten::addmm", [[768], [5, 768], [768, 768], [], []], 0.00590208, 1.14111328125, 1579.854, 0.89696),
        ("aten::addmm", [[768], [5, 3072], [3072, 768], [], []], 0.0235968, 4.5380859375, 525.840, 2.69374),
        ("aten::addmm", [[1024], [5184, 1024], [1024, 1024], [], []], 10.876944384, 22.251953125, 431.964, 503.8564),
        ("aten::bmm", [[12, 5, 64], [12, 64, 5]], 3.84e-05, 0.01522064, 185.698, 0.01241),
    ],
    "falconsai": [  # H100; commit 7182e545
        ("aten::_scaled_dot_product_flash_attention", [[4, 12, 197, 64]] * 3 + [[]] * 4, 0.476884992, 4.6171875, 122.848, 46.6035),
    ],
    "resnet_act_checkpoint": [  # MI300X; commit 05c9e7e9. Convolutions are named aten::convolution there.
        ("aten::mm", [[10, 1000], [1000, 512]], 0.01024, 1.005401611, 26.597, 1.15943),
        ("aten::mm", [[1000, 10], [10, 512]], 0.01024, 1.005401611, 17.877, 1.72807),
        ("aten::addmm", [[1000], [10, 512], [512, 1000], [], []], 0.01025, 1.00730896, 16.597, 1.85810),
        ("aten::miopen_convolution", [[10, 64, 56, 56], [64, 64, 3, 3]] + [[]] * 7, 2.31211008, 7.7265625, 1007.279, 56.0221),
        ("aten::miopen_convolution", [[10, 512, 7, 7], [512, 512, 3, 3]] + [[]] * 7, 2.31211008, 5.45703125, 943.530, 44.2138),
        ("aten::miopen_convolution", [[10, 128, 28, 28], [256, 128, 3, 3]] + [[]] * 7, 1.15605504, 3.43359375, 272.042, 26.1812),
        ("aten::miopen_convolution", [[10, 64, 56, 56], [128, 64, 3, 3]] + [[]] * 7, 1.15605504, 5.8828125, 272.729, 25.6315),
        ("aten::convolution_backward", [[10, 64, 56, 56], [10, 64, 56, 56], [64, 64, 3, 3]] + [[]] * 8, 4.62422016, 15.453125, 1164.010, 47.8635),
        ("aten::convolution_backward", [[10, 512, 7, 7], [10, 512, 7, 7], [512, 512, 3, 3]] + [[]] * 8, 4.62422016, 10.9140625, 917.218, 45.7687),
    ],
}


def published(trace, path):
    lines, ours, n = next(v for k, v in PUBLISHED.items() if k in trace), table(path), 0
    fills = {key: one["fills"] for key, one in by_shapes(load(trace)).items()}
    for name, dims, gflop, mib, us, tflops in lines:
        shapes, what = json.dumps(dims), f"{name} {json.dumps(dims)}"
        [line] = ours[name, shapes]
        near(what + " GFLOP", float(line["GFLOP"]), gflop)
        near(what + " bytes", float(line["Bytes (MB)"]), mib * 1.048576)
        # TraceLens has the fills of cuBLAS's products in its times, but not those of MIOpen's convolutions.
        taken = int(line["Total Time (ns)"]) / 1e3
        without = taken - (fills[name, shapes] if "convolution" in name else 0)
        near(what + " µs", without, us, 1e-4, 0.02)
        # It averages the rates of the calls; ours is the rate of all calls together, which is never higher. They differ most
        # where calls took differently long: 2.6 % for one convolution, whose rates spread by 15 %.
        rate = float(line["TFLOP/s"]) * taken / without
        near(what + " TFLOP/s", rate, tflops, 0.03, 0.001)
        near(what + " TFLOP/s, not more", max(rate, tflops), tflops, 0.0001, 0.001)
        print(f"{what[:70]}: {line['TFLOP/s']} TFLOP/s, published {tflops}, {100 * (1 - without / taken):.1f} % of the time in fills")
        n += 1
    return n


kind, trace_path, table_path = sys.argv[1:4]
compared = {"products": products, "occupancy": occupancy, "published": published}[kind](trace_path, table_path)
sys.exit(1 if bad or not compared else 0)
