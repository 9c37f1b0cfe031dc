#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tree: a model of two blocks by hand, then recordings, whose parts must add up.
source "$(dirname "$0")/common.bash"
type python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }

# ---- by hand: two blocks with two layers each, a backward pass, an optimizer ----

python3 - "$work/model.json" <<'END'
import json, sys
events, n = [], 0
def span(cat, name, ts, dur, tid=1, pid=1, **args):
    events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args})
def launch(ts, start, dur, name, tid=1):
    global n
    n += 1
    span("cuda_runtime", "cudaLaunchKernel", ts, 2, tid, correlation=n)
    span("kernel", name, start, dur, 7, 0, correlation=n, device=0, stream=7)
def arrow(i, ts, tid, end):
    events.append({"ph": "f" if end else "s", "cat": "fwdbwd", "name": "fwdbwd", "id": i, "pid": 1, "tid": tid, "ts": ts, "bp": "e"})
span("python_function", "train.py(12): step", 0, 1000)
span("python_function", "nn.Module: Net_0", 1, 400)
for i in range(4):
    at = 10 + 100 * i
    span("python_function", "nn.Module: Block_%d" % (i // 2), at, 90)
    span("python_function", "nn.Module: Linear_%d" % i, at + 1, 80)
    span("cpu_op", "aten::linear", at + 2, 20, **{"Sequence number": i})
    arrow(i, at + 2, 1, False)
    launch(at + 3, at + 30, 10, "gemm")
for i in range(4):
    at = 500 + 50 * i
    span("cpu_op", "autograd::engine::evaluate_function: MmBackward0", at, 30, 2)
    span("cpu_op", "MmBackward0", at + 1, 20, 2)
    arrow(3 - i, at + 1, 2, True)
    launch(at + 3, at + 10, 20, "gemm_back", 2)
span("user_annotation", "Optimizer.step#SGD.step", 800, 100)
span("cpu_op", "aten::_foreach_add_", 810, 50)
launch(820, 830, 5, "axpy")
launch(950, 960, 7, "mine")
json.dump({"traceEvents": events}, open(sys.argv[1], "w"))
END

run tree "$work/model.json"
expect_status 0 "text"
for part in '95 % of it has an operator' 'Net_0.Block ×2' 'Linear[1]' 'MmBackward0 › gemm_back' \
	'Optimizer.step#SGD.step › aten::_foreach_add_ › axpy' \
	'outside of modules › train.py:12 step()'; do
	grep -qF -- "$part" "$work/out" || fail "the text lacks '$part': $(cat "$work/out")"
done
grep -q $'\033' "$work/out" && fail "colours where there is no terminal"
grep -qE ' +$' "$work/out" && fail "spaces at the end of a line"

run tree --each-layer "$work/model.json"
grep -qF 'Block_1' "$work/out" || fail "--each-layer: $(cat "$work/out")"
grep -qF '×' "$work/out" && fail "--each-layer merges: $(cat "$work/out")"

run tree --depth 1 "$work/model.json"
grep -qF 'aten::linear' "$work/out" && fail "--depth 1: $(cat "$work/out")"
run tree --by operator --min-share 20% "$work/model.json"
grep -qF 'axpy' "$work/out" && fail "--min-share: $(cat "$work/out")"
grep -qF 'MmBackward0' "$work/out" || fail "--by operator: $(cat "$work/out")"

run tree --format folded "$work/model.json"
expect_status 0 "folded"
grep -qxF 'Net_0;Block;Linear[0];aten::linear;gemm 20000' "$work/out" || fail "folded: $(cat "$work/out")"
grep -qxF 'Net_0;Block;Linear[0];MmBackward0;gemm_back 40000' "$work/out" || fail "folded: $(cat "$work/out")"

# ---- without a GPU: the CPU's time ----

printf '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 5, "dur": 30, "args": {}}]}' >"$work/cpu.json"
run tree "$work/cpu.json"
expect_status 0 "no device work"
grep -qF 'no device work; CPU time 30.00 µs in 1 call of operators' "$work/out" || fail "no device work: $(cat "$work/out")"
grep -qE '30.00 µs +100.0 % +1  aten::mm' "$work/out" || fail "no device work: $(cat "$work/out")"

# ---- what is refused ----

run tree
expect_status 2 "no file"
grep -qF -- "which file?" "$work/err" || fail "no file: $(cat "$work/err")"
run tree --from 2s --to 1s "$work/model.json"
expect_status 2 "times in the wrong order"
grep -qF -- "--from must be before --to" "$work/err" || fail "times in the wrong order: $(cat "$work/err")"
run tree --from 1us --phase 1 "$work/model.json"
expect_status 2 "a phase and a time"
grep -qF -- "not both" "$work/err" || fail "a phase and a time: $(cat "$work/err")"
run tree --by colour "$work/model.json"
expect_status 2 "--by colour"
run tree --phase 9 "$work/model.json"
expect_refusal "a phase that is not there" "phase"

# ---- recordings: leaves add up to all work, operators to those of op_sum ----

cat >"$work/check.py" <<'END'
import csv, json, subprocess, sys
headway, path, work = sys.argv[1:4]
def out(*args):
    return subprocess.run([headway, *args], check=True, capture_output=True, text=True).stdout
def leaves(node):
    return [node] if "inner" not in node else [leaf for inner in node["inner"] for leaf in leaves(inner)]
def walk(node):
    inner = node.get("inner", [])
    assert not inner or sum(i["gpu_ns"] for i in inner) == node["gpu_ns"], node["name"]
    assert sum(i["idle_ns"] for i in inner) <= node["idle_ns"], node["name"]
    for i in inner:
        walk(i)
breakdown = json.loads(out("breakdown", "--format", "json", path))
ops = {}
for line in csv.DictReader(out("stats", "-r", "op_sum", "--format", "csv", path).splitlines()[0:]):
    ops[line["Name"]] = line
for by in "module", "operator", "line", "scope":
    tree = json.loads(out("tree", "--by", by, "--format", "json", path))
    walk(tree["tree"])
    assert sum(leaf["gpu_ns"] for leaf in leaves(tree["tree"])) == tree["gpu_ns"]
    if len(breakdown["devices"]) == 1:
        assert tree["idle_ns"] == breakdown["idle_ns"], (tree["idle_ns"], breakdown["idle_ns"])
    folded = out("tree", "--by", by, "--format", "folded", path).splitlines()
    assert sum(int(line.rsplit(" ", 1)[1]) for line in folded) == tree["gpu_ns"]
    if ops:
        self_cpu = sum(int(line["Self CPU (ns)"]) for line in ops.values())
        assert tree["tree"]["cpu_ns"] == self_cpu, (tree["tree"]["cpu_ns"], self_cpu)
        self_gpu = sum(int(line["Self GPU (ns)"]) for line in ops.values())
        assert tree["with_operator_ns"] == self_gpu, (tree["with_operator_ns"], self_gpu)
END
for recording in "$DATA"/torch/mlp_sync.hwy "$DATA"/torch/itemloop_item.hwy "$DATA"/gpu/graphs_launch.hwy "$DATA"/gpu/inmodel_if.hwy; do
	python3 "$work/check.py" "$HEADWAY" "$recording" "$work" 2>"$work/differences" ||
		fail "$recording: $(tail -3 "$work/differences")"
done

run tree --phase 1 "$DATA"/torch/mlp_sync.hwy
expect_status 0 "--phase"
grep -qF 'steady steps' "$work/out" || fail "--phase: $(cat "$work/out")"
run tree --step-number 3 --format json "$DATA"/torch/mlp_sync.hwy
expect_status 0 "--step-number"
python3 -c 'import json, sys; t = json.load(sys.stdin); sys.exit(not 0 < t["gpu_ns"] < 40e6)' <"$work/out" ||
	fail "--step-number: $(head -5 "$work/out")"

# ---- diff: the module that became slower ----

for slow in 10 30; do
	python3 - "$work/steps_$slow.json" "$slow" <<'END'
import json, sys
events, n = [], 0
def span(cat, name, ts, dur, tid=1, pid=1, **args):
    events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args})
for step in range(12):
    at = 1000 * step
    span("user_annotation", "ProfilerStep#%d" % step, at, 990)
    span("python_function", "nn.Module: Net_0", at + 1, 900)
    for i, kind in enumerate(("Linear", "Norm", "Linear", "Norm")):
        begin = at + 10 + 200 * i
        span("python_function", "nn.Module: %s_%d" % (kind, i // 2), begin, 150)
        span("cpu_op", "aten::op", begin + 1, 100)
        n += 1
        span("cuda_runtime", "cudaLaunchKernel", begin + 2, 3, correlation=n)
        span("kernel", "k", begin + 10, int(sys.argv[2]) if kind == "Norm" else 40, 7, 0, correlation=n, device=0, stream=7)
json.dump({"traceEvents": events}, open(sys.argv[1], "w"))
END
done
run diff "$work/steps_10.json" "$work/steps_30.json"
grep -A1 -xF '   modules' "$work/out" | grep -qF 'slower    20.0 µs → 60.0 µs a step  Net.Norm' || fail "diff: $(cat "$work/out")"
grep -qF 'Net.Linear' "$work/out" && fail "diff tells a module that did not change: $(cat "$work/out")"
finish
