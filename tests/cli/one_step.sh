#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Traces of one step: every command says the same length, and what is judged is what the step did.
source "$(dirname "$0")/common.bash"
traces=${SHARED:+$SHARED/data/public-traces}
[ -d "$traces" ] || { echo "SKIP: no public traces"; exit 77; }
type python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }

# The trace begins in the middle of the step before: 436 kernels were launched before the mark.
trace=$(echo "$traces"/TraceLens/h100/Qwen*.json.gz)
for command in analyze breakdown path; do
	run $command --format json "$trace"
	expect_status 0 $command
	mv "$work/out" "$work/$command.json"
done
python3 - "$work" <<'EOF' || bad=1
import json, sys
read = lambda name: json.load(open(f"{sys.argv[1]}/{name}.json"))
analyzed, broken, path = read("analyze"), read("breakdown"), read("path")
step = analyzed["summary"]["step_ns"]
(other,) = [one["span_ns"] for one in broken["steps"]]
assert step == other, (step, other)
assert 0 <= step - path["length_ns"] < 0.01 * step, (step, path["length_ns"])
storm = [one["says"] for one in analyzed["acquitted"] + analyzed["findings"] if one["id"] == "kernel-storm"]
assert "1029 kernels a step" in storm[0], storm
EOF
run show "$trace"
grep -q '^  49.38 ms, .*; the step takes 35.18 ms of it' "$work/out" || fail "show: $(sed -n 2p "$work/out")"

# Nothing repeats, and the first call of all makes CUDA's context for 29.9 s.
trace=$(echo "$traces"/HolisticTraceAnalysis/critical_path/alexnet/*.json.gz)
run analyze --format json "$trace"
mv "$work/out" "$work/analyze.json"
run info --format json "$trace"
python3 - "$work" <<'EOF' || bad=1
import json, sys
read = lambda name: json.load(open(f"{sys.argv[1]}/{name}"))
summary, info = read("analyze.json")["summary"], read("out")
account = summary["account"]
assert account["recording_ns"] == info["duration_ns"], (account, info["duration_ns"])
parts = ("before_calls_ns", "before_ns", "warm_up_ns", "judged_ns", "other_phases_ns", "after_ns")
assert sum(account[part] for part in parts) == account["recording_ns"], account
assert summary["verdict"] == "first-use" and summary["step_ns"] > 42e9, summary["step_ns"]
assert "cudaDeviceGetStreamPriorityRange, takes 29.9 s" in read("analyze.json")["findings"][0]["says"]
EOF

# One step has no spread, and nothing that comes back in every step.
for format in brief markdown text; do
	run analyze --format $format "$trace"
	grep -qE 'median|42.9 s a step| a step at ' "$work/out" && fail "$format: $(cat "$work/out")"
	grep -qE '42.9 s in all' "$work/out" || fail "$format does not say how long it is: $(head -3 "$work/out")"
done
grep -q 'headway 0 for 99.8 % of the time, at most 34.8 ms' "$work/out" || fail "headway: $(grep headway "$work/out")"

# Parts of the time, as they are said, are the whole; and a range has one name.
run analyze "$DATA/nsys/starve_0.hwy"
grep -q 'compute 0.4 % · idle 99.5 %' "$work/out" || fail "parts: $(grep idle "$work/out")"
xz -dc "$SHARED/data/public-nsys/power_iteration.sqlite.xz" >"$work/power.sqlite"
for command in analyze path; do
	run $command "$work/power.sqlite"
	grep -q 'Step N to N' "$work/out" || fail "$command: $(grep Step "$work/out")"
	grep -qE 'Step # |Step [0-9]+ to N' "$work/out" && fail "$command folds numbers in a way of its own"
done
finish
