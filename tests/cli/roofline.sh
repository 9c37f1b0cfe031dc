#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# FLOP, bytes and rates of operators equal a calculation of its own from the trace's JSON; occupancy agrees with Kineto's
# estimate; what TraceLens publishes for its traces is repeated.
source "$(dirname "$0")/common.bash"
check=$(dirname "$0")/roofline_check.py

# compare KIND TRACE FILE: FILE is what headway reads, TRACE its JSON.
compare() {
	local report=op_roofline
	[ "$1" = occupancy ] && report=kernel_occupancy
	run stats -r $report --format csv "$3"
	expect_status 0 "stats -r $report $(basename "$3")"
	cp "$work/out" "$work/table.csv"
	python3 "$check" "$1" "$2" "$work/table.csv" >"$work/compared" 2>&1 ||
		fail "$1 of $(basename "$3"): $(grep -E 'FAIL|Error|compared' "$work/compared" | head -5)"
	echo "$1 of $(basename "$3"): $(tail -1 "$work/compared")"
}

for name in mlp_sync mlp_async decode_eager itemloop_item starve_0; do
	trace=${SHARED:-}/data/torch/$name.json.gz
	if [ ! -e "$trace" ]; then
		trace=$work/$name.json
		exports chrome "$DATA/torch/$name.hwy" "$trace"
	fi
	compare products "$trace" "$DATA/torch/$name.hwy"
	[[ $trace == *.gz ]] && compare occupancy "$trace" "$trace"
done

public=${SHARED:-}/data/public-traces/TraceLens
if [ -d "$public" ]; then
	for trace in "$public"/h100/Qwen*.json.gz "$public/mi300/resnet_act_checkpoint.json.gz" \
		"$SHARED"/data/verdicts/{owlv2,falconsai}_h100.json.gz; do
		[ -e "$trace" ] || continue
		compare products "$trace" "$trace"
		compare published "$trace" "$trace"
	done
else
	echo "not compared with published numbers: TraceLens's traces are not here (../shared/data/public-traces)"
fi

# What is faster than its roof claims no bound and no gain; data that fit into the cache came from there.
for name in mlp_sync mlp_async decode_eager itemloop_item starve_0; do
	for report in op_roofline kernel_roofline; do
		run stats -r $report --format csv "$DATA/torch/$name.hwy"
		python3 - "$work/out" <<-'EOF' >>"$work/above" || fail "$report of $name: $(tail -1 "$work/above")"
			import csv, sys
			for row in csv.DictReader(open(sys.argv[1])):
			    of = {k.split(" (")[0]: v for k, v in row.items()}
			    if of["Of Roof"] and float(of["Of Roof"]) > 100:
			        print(of["Name"], of["Of Roof"], of["Bound"], of["Gain"])
			        if of["Bound"] not in ("unknown", "from cache") or float(of["Gain"]) != 0:
			            sys.exit("claims a bound or a gain: %s" % row)
		EOF
	done
done
grep -q "^aten::gelu .* from cache" "$work/above" || fail "no point came from the cache: $(cat "$work/above")"

# A recording without shapes has no rows, and says so.
run stats -r op_roofline "$DATA/nsys/mlp_sync.hwy"
expect_status 0 "op_roofline without operators"
grep -q "no operators with shapes" "$work/err" || fail "op_roofline without operators: $(head -c 300 "$work/err")"
run stats -r kernel_occupancy --format csv "$DATA/nsys/mlp_sync.hwy"
expect_status 0 "kernel_occupancy of nsys's export"
[ "$(wc -l <"$work/out")" -gt 5 ] || fail "kernel_occupancy of nsys's export: $(head -c 300 "$work/out")"

# A window counts only what is in it.
run stats -r op_roofline --format csv --from 900ms --to 950ms "$DATA/torch/mlp_sync.hwy"
expect_status 0 "op_roofline in a window"
calls=$(awk -F, '/aten::mm/ {print $3}' "$work/out")
[ "${calls:-0}" -gt 0 ] && [ "$calls" -lt 342 ] || fail "op_roofline in a window: '$calls' products"
finish
