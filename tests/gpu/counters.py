# SPDX-License-Identifier: Apache-2.0
"""What the parts about the inside of the GPU share: Nsight Compute, the planted programs, tables of GPU metrics, clocks.

Nothing here sets a clock. ncu runs with --clock-control none and --cache-control none, as `headway kernels` does.
"""
import csv
import glob
import json
import os
import re
import shutil
import statistics

from harness import BUILT_TARGETS, EXAMPLES, HERE, PYTHON, ROOT, run, table

PROGRAMS = HERE / "programs"
BUILT_PROGRAMS = os.path.abspath(os.environ.get("PROGRAMS_BIN", ROOT / "build" / "gpu-programs"))
TRUTHS = json.loads((PROGRAMS / "truth.json").read_text())
STEP_MS = re.compile(r"^step_ms ([0-9.]+)", re.M)
METRICS = ["--gpu-metrics-devices=all", "--gpu-metrics-frequency=10000"]


def find_ncu():
    found = os.environ.get("NCU") or shutil.which("ncu")
    return found or next(iter(sorted(glob.glob("/opt/nvidia/nsight-compute/*/ncu") + glob.glob("/usr/local/cuda*/bin/ncu"))), "ncu")


# ---- programs


def own_twelve(rounds):
    """The kernels of targets/twelve.cu; target("twelve") is the script with torch's."""
    return [os.path.relpath(BUILT_TARGETS / "twelve", EXAMPLES), str(rounds)]


def planted(name, *arguments):
    """The command of a planted program, relative to the folder that programs are run in."""
    script = PROGRAMS / f"{name}.py"
    if script.exists():
        return [PYTHON, os.path.relpath(script, EXAMPLES), *arguments]
    if not os.path.exists(f"{BUILT_PROGRAMS}/{name}"):
        done = run(["make", "-s", "-C", PROGRAMS, f"BIN={BUILT_PROGRAMS}"])
        if done.rc:
            raise RuntimeError(f"{PROGRAMS} could not be built")
    return [os.path.relpath(f"{BUILT_PROGRAMS}/{name}", EXAMPLES), *arguments]


def step_ms(done):
    """What a planted program says of a step; None where it says nothing."""
    found = STEP_MS.findall(done.out)
    return float(found[-1]) if found else None


# ---- numbers that should be alike


def alike(mine, theirs, share=0.05, least=0.0):
    """Whether two values differ by less than a share of the second, or by less than 'least'."""
    return abs(mine - theirs) <= max(share * abs(theirs), least)


def percent_off(mine, theirs):
    return f"{100 * (mine / theirs - 1):+.1f} %" if theirs else "of 0"


# ---- ncu


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def read_ncu(lines):
    """Launches of `ncu --csv --page raw --print-units base`: each a dictionary of texts. What ncu says before is left out."""
    lines = list(lines)
    begin = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if begin is None:
        return []
    rows = list(csv.DictReader(lines[begin:]))
    return [row for row in rows if row.get("ID")]  # the first row has the units


def base_name(name):
    """A kernel's function name: without its return type, namespaces, template's arguments and parameters."""
    name = name.replace("(anonymous namespace)", "unnamed").replace("<unnamed>", "unnamed")
    plain, depth = "", 0
    for letter in name:
        depth += letter == "<"
        if letter == "(" and depth == 0:
            break
        if depth == 0:
            plain += letter
        depth -= letter == ">"
    return re.split(r"::|\s", plain.strip())[-1]


def middle_of(launches, *metrics, sign=1.0):
    """The median over launches of a metric, or of a sum of several; None where ncu has none."""
    sums = []
    for launch in launches:
        values = [number(launch.get(metric) or "") for metric in metrics]
        if any(value is None for value in values):
            return None
        sums.append(sign * sum(values))
    return statistics.median(sums) if sums else None


FLOP = {"fadd": 1, "fmul": 1, "ffma": 2, "hadd": 1, "hmul": 1, "hfma": 2, "dadd": 1, "dmul": 1, "dfma": 2}
TENSOR = ("bf16_dst_fp32", "fp16", "tf32_dst_fp32", "fp8", "int8", "fp64")
FLOP_METRICS = [f"sm__sass_thread_inst_executed_op_{op}_pred_on.sum" for op in FLOP] + [f"sm__ops_path_tensor_src_{kind}.sum" for kind in TENSOR]


def ncu_flop(launch):
    """All operations of a launch, as ncu's counters have them; a fused one is two."""
    plain = sum(weight * (number(launch.get(f"sm__sass_thread_inst_executed_op_{op}_pred_on.sum") or "") or 0) for op, weight in FLOP.items())
    return plain + sum(number(launch.get(f"sm__ops_path_tensor_src_{kind}.sum") or "") or 0 for kind in TENSOR)


BUSY = 60.0   # percent: a unit is what a kernel waits for
NEAR = 5.0    # points: two units are equally busy
SM = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
DRAM = "dram__throughput.avg.pct_of_peak_sustained_elapsed"
MEMORY = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"


def ncu_bounds(launches, multiprocessors=132):
    """The bounds that ncu's speed-of-light numbers allow, the plainest first.

    They are those at the head of its section: "Compute (SM) Throughput" and "Memory Throughput" (the busiest part of DRAM, L2 and L1; the throughput that
    it prints for L2 alone counts more and is above 60 % where DRAM is the limit). One of 60 % or more names the bound; two that are less than 5 points apart
    allow both. Below 60 % the kernel waits: "latency"; ncu has one word for that, so "occupancy" says the same where the grid does not fill the
    multiprocessors or less than a third of their warps are there. Less than 5 points from 60 %, both sides of it are right.
    """
    compute, memory = middle_of(launches, SM) or 0, middle_of(launches, MEMORY) or 0
    busy = ["compute", "memory"] if compute > memory else ["memory", "compute"]
    busy = busy if abs(compute - memory) < NEAR else busy[:1]
    blocks = middle_of(launches, "launch__grid_size") or 0
    occupancy = middle_of(launches, "sm__warps_active.avg.pct_of_peak_sustained_active") or 0
    waits = ["occupancy", "latency"] if blocks < multiprocessors else ["latency"] + (["occupancy"] if occupancy < 100 / 3 else [])
    most = max(compute, memory)
    if abs(most - BUSY) < NEAR:
        return busy + waits if most >= BUSY else waits + busy
    return busy if most >= BUSY else waits


# ---- GPU metrics


def metric_table(report, *options):
    """Metric -> its row of gpu_metrics_sum."""
    return {row["Metric"]: row for row in table(report, "gpu_metrics_sum", *options)}


# ---- clocks

FIELDS = ("clocks.sm", "clocks.mem", "power.draw.instant", "temperature.gpu", "clocks_event_reasons.active", "clocks_event_reasons_counters.sw_power_cap")


def clocks_now():
    """What nvidia-smi says of the first GPU: MHz, W, degrees, the mask of reasons, and us lost to the power cap since ever. None where it says nothing."""
    done = run(["nvidia-smi", f"--query-gpu={','.join(FIELDS)}", "--format=csv,noheader,nounits"], timeout=20)
    cells = [cell.strip() for cell in done.out.splitlines()[0].split(",")] if done.rc == 0 and done.out.strip() else []
    if len(cells) != len(FIELDS):
        return None
    return dict(zip(FIELDS, [int(cell, 16) if cell.startswith("0x") else number(cell) for cell in cells]))


def say_clocks(now):
    return f"{now['clocks.sm']:.0f} MHz, {now['power.draw.instant']:.0f} W" if now else "not known"
