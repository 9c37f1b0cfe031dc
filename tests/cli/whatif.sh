#!/usr/bin/env bash
# whatif.sh - predictions: the graph gives back the recording, and fixes are worth what they turned out to be.
. "$(dirname "$0")/common.bash"

# ask FILE KEY ARGS…: the value of a key (a Python expression on r) of `headway whatif --format json`.
ask() {
	local file=$1 key=$2
	shift 2
	"$HEADWAY" whatif --format json "$@" "$file" 2>"$work/err" |
		python3 -c "import json, sys; r = json.load(sys.stdin); print($key)" 2>>"$work/err" ||
		{ fail "$file $*: $(head -c 300 "$work/err")"; echo 0; }
}

# within WHAT VALUE LOW HIGH
within() {
	python3 -c "import sys; sys.exit(not float('$3') <= float('$2') <= float('$4'))" ||
		fail "$1: $2, not between $3 and $4"
}

unpack() {
	xz -dc "$1" >"$work/$(basename "$1" .xz)"
	echo "$work/$(basename "$1" .xz)"
}

recordings=()
for packed in "$DATA"/nsys/*.sqlite.xz; do
	recordings+=("$(unpack "$packed")")
done
[ -d "$DATA/gpu" ] && recordings+=("$DATA"/gpu/*.hwy)
if [ -n "$SHARED" ]; then
	for packed in "$SHARED"/data/nsys/*.sqlite.xz "$SHARED"/data/public-nsys/*.sqlite.xz; do
		recordings+=("$(unpack "$packed")")
	done
	recordings+=("$SHARED"/data/torch/*.json.gz)
fi

for file in "${recordings[@]}"; do
	[ "$(ask "$file" "r['quality']['exact']" --check)" = True ] || fail "$file: the replay is not exact"
	[ "$(ask "$file" "all(p['step_ns'] > 0 for p in r['predictions'])")" = True ] || fail "$file: a step of no length"
done

# Removing nothing changes nothing; removing something never makes it slower.
file=$(unpack "$DATA/nsys/power_base.sqlite.xz")
[ "$(ask "$file" "r['predictions'][0]['step_ns'] == r['step_ns']" --apply faster:gpu:0)" = True ] ||
	fail "0 % faster is not the same"
for edit in remove-wait read-late pin no-alloc background faster:cpu:30; do
	[ "$(ask "$file" "r['predictions'][0]['step_ns'] <= r['step_ns']" --apply $edit)" = True ] ||
		fail "$edit predicts slower"
done

# Without --apply: the edits of all findings and acquittals, each once.
tried=$(ask "$file" "sorted(p['edits'][0] for p in r['predictions'] if len(p['edits']) == 1)")
diagnosed=$("$HEADWAY" analyze --format json "$file" | python3 -c "
import json, sys
r = json.load(sys.stdin)
found = [f for f in r['findings'] + r['acquitted'] if 'predicted' in f and f['phase'] == r['summary']['phase']]
print(sorted({f['predicted']['edits'][0] for f in found}))")
[ "$tried" = "$diagnosed" ] || fail "tried $tried, and the findings' edits are $diagnosed"

# Misuse.
run whatif "$file" --apply remove-weight
expect_status 2 "an unknown edit"
grep -q "did you mean 'remove-wait'" "$work/err" || fail "no nearest edit: $(cat "$work/err")"
run whatif "$file" --apply remove-wait:nowhere.py:1
expect_refusal "a place without waits" "nowhere.py:1"
run whatif "$file" --apply streams:many
expect_refusal "a number of streams" "streams:4"
run whatif "$file" --phase 9
expect_refusal "a phase that is not there" "phase"
run path "$file"
expect_status 0 "path"
grep -q "The largest contributors" "$work/out" || fail "path shows no contributors"

if [ -z "$SHARED" ]; then
	echo "SKIP: predictions against other recordings: ../shared is not there"
	[ $bad = 0 ] && exit 77
	exit 1
fi

# What the fix turned out to be worth, unprofiled (shared/data/README.md).
at() { echo "$work/$1.sqlite"; }
step="r['predictions'][0]['step_ns'] / 1e6"
within "mlp without the wait" "$(ask "$(at mlp_sync)" "$step" --apply remove-wait)" 10.08 10.71
within "streams pinned, four of them" "$(ask "$(at streams_pageable1)" "$step" --apply pin --apply streams:4)" 4.47 7.45
within "graphs as a graph" "$(ask "$(at graphs_launch)" "$step" --apply graph)" 0.671 1.245
within "power without its waits" "$(ask "$(at power_base)" "r['predictions'][0]['speedup']" --apply remove-wait)" 1.0 1.03
within "itemloop without its wait" "$(ask "$(at itemloop_item)" "r['predictions'][0]['speedup']" --apply remove-wait)" 1.0 1.03
# Not measured: 8 ms is less than one of the 19 batches' loading, spread over them, on top of the rest.
within "starve with perfect input" "$(ask "$(at starve_0)" "$step" --apply perfect-input)" 3 8
resnet=$(echo "$SHARED"/data/public-traces/kineto-tb_plugin/samples/resnet50_num_workers_0/*)
within "resnet50 with perfect input" "$(ask "$resnet" "$step" --apply perfect-input)" 118 142
exit $bad
