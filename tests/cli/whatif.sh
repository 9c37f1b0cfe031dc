#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
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

# The sanitizers look at the code, on the recordings of tests/data; whether predictions come true the release build tells.
is_sanitized && SHARED=

recordings=()
for packed in "$DATA"/nsys/*.sqlite.xz; do
	recordings+=("$(unpack "$packed")")
done
[ -d "$DATA/gpu" ] && recordings+=("$DATA"/gpu/*.hwy)
recordings+=("$DATA"/whatif/*.hwy)
if [ -n "$SHARED" ]; then
	for packed in "$SHARED"/data/nsys/*.sqlite.xz "$SHARED"/data/public-nsys/*.sqlite.xz; do
		recordings+=("$(unpack "$packed")")
	done
	recordings+=("$SHARED"/data/torch/*.json.gz)
fi

for file in "${recordings[@]}"; do
	[ "$(ask "$file" "r['quality']['exact'], 0 <= r['quality']['residual_share'] <= 1" --check)" = "True True" ] ||
		fail "$file: the replay is not exact, or what it does not explain is no share"
	[ "$(ask "$file" "all(p['step_ns'] > 0 for p in r['predictions'])")" = True ] || fail "$file: a step of no length"
done

# Removing nothing changes nothing; removing something never makes it slower.
file=$(unpack "$DATA/nsys/power_base.sqlite.xz")
[ "$(ask "$file" "r['predictions'][0]['step_ns'] == r['step_ns']" --apply faster:gpu:0)" = True ] ||
	fail "0 % faster is not the same"
# A factor of the CPU is a share of its time, and who names no kernel is told what else there is.
[ "$(ask "$file" "r['predictions'][0]['step_ns']" --apply faster:cpu=2)" = "$(ask "$file" "r['predictions'][0]['step_ns']" --apply faster:cpu:50)" ] ||
	fail "twice as fast is not half of the time"
for what in faster faster:cpu faster:=2; do
	run whatif --apply $what "$file"
	expect_status 2 "$what"
	grep -qF 'faster:cpu=2' "$work/err" || fail "$what has no example: $(cat "$work/err")"
done
run whatif --apply faster:layer_0=4 "$file"
expect_refusal "a factor for a range" "faster:layer_0:75"
run whatif --help
grep -qF 'faster:gpu:20' "$work/out" || fail "--help has no example for faster"
for edit in remove-wait read-late pin no-alloc background faster:cpu:30; do
	[ "$(ask "$file" "r['predictions'][0]['step_ns'] <= r['step_ns']" --apply $edit)" = True ] ||
		fail "$edit predicts slower"
done

# Each edit can be asked for alone, in a recording of which nothing but it has read columns.
for edit in $("$HEADWAY" whatif --list | sed -n 's/^ *\([a-z][a-z-]*\).*/\1/p'); do
	for other in "$file" "$DATA/nsys/mlp_sync.hwy" "$DATA/torch/decode_eager.hwy"; do
		run whatif --apply "$edit" "$other"
		[ "$status" -le 2 ] || fail "$edit of $other ends with status $status"
	done
done

# Fixes that were measured on an H200: no prediction is off by more than 20 %, half of them by no more than 7 %, and no gain is
# predicted as a loss. (That one loss, inmodel-16384, is predicted as a gain of 2 % is known.)
while read -r name before after parts edits; do
	[ "$name" = "#" ] && continue
	predicted=$(ask "$DATA/whatif/$name.hwy" "r['predictions'][0]['step_ns'] * $parts / 1e3, r['predictions'][0]['speedup']" \
		$(printf -- '--apply %s ' $edits) | tr -d '(),')
	echo "$name $before $after $predicted"
done <"$DATA/whatif/truths.txt" >"$work/predicted"
python3 - "$work/predicted" <<-'EOF' || fail "predictions are not what was measured"
	import statistics, sys
	errors, bad = [], []
	for line in open(sys.argv[1]):
	    name, *numbers = line.split()
	    before, after, predicted, speedup = map(float, numbers)
	    errors.append(abs(predicted / after - 1))
	    if errors[-1] > 0.2 or before / after > 1.03 and speedup <= 1:
	        bad.append(f"{name}: predicted {predicted:.1f} us, {speedup:.2f} times as fast; measured {after:.1f}, {before / after:.2f}")
	median = statistics.median(errors)
	print(*bad, f"{len(errors)} predictions, median error {100 * median:.1f} %", sep="\n")
	sys.exit(len(errors) < 21 or bool(bad) or median > 0.07)
EOF

# Without --apply: the edits of all findings and acquittals, each once.
tried=$(ask "$file" "sorted(p['edits'][0] for p in r['predictions'] if len(p['edits']) == 1)")
diagnosed=$("$HEADWAY" analyze --format json "$file" | python3 -c "
import json, sys
r = json.load(sys.stdin)
found = [f for f in r['findings'] + r['acquitted'] if 'predicted' in f and f['phase'] == r['summary']['phase']]
print(sorted({f['predicted']['edits'][0] for f in found}))")
[ "$tried" = "$diagnosed" ] || fail "tried $tried, and the findings' edits are $diagnosed"

# Where the graph explains too little for analyze to show a prediction, too; and that is said.
unsure=$(unpack "$DATA/nsys/unified_memory.sqlite.xz")
[ "$(ask "$unsure" "sorted(p['edits'][0] for p in r['predictions'] if len(p['edits']) == 1)")" = "['graph', 'remove-wait']" ] ||
	fail "not the findings' edits are tried: $(ask "$unsure" "r['predictions']")"
run whatif "$unsure"
grep -q "take predictions for guesses" "$work/out" || fail "no doubt about a graph that explains little: $(cat "$work/out")"
run whatif "$file"
grep -q "guesses" "$work/out" && fail "doubt about a graph that explains the recording"

# Misuse.
run whatif "$file" --apply remove-weight
expect_status 2 "an unknown edit"
grep -q "did you mean 'remove-wait'" "$work/err" || fail "no nearest edit: $(cat "$work/err")"
run whatif "$file" --apply remove-wait:nowhere.py:1
expect_refusal "a place without waits" "nowhere.py:1"
run whatif "$file" --apply streams:many
expect_status 2 "a number of streams"
grep -q "streams:4" "$work/err" || fail "no word about the number of streams: $(cat "$work/err")"
run whatif "$file" --phase 9
expect_refusal "a phase that is not there" "phase"
run path "$file"
expect_status 0 "path"
grep -q "The largest contributors" "$work/out" || fail "path shows no contributors"
# Copies and graphs have no name of their own, kernels and places very long ones.
for name in mlp_sync streams_pageable1 rebuild_every; do
	run path "$DATA/gpu/$name.hwy"
	expect_status 0 "path of $name"
	step=$("$HEADWAY" path --format json "$DATA/gpu/$name.hwy" | sed -n 's/.*"step_ns": \([0-9]*\).*/\1/p')
	"$HEADWAY" analyze --format json "$DATA/gpu/$name.hwy" >"$work/analysis"
	grep -q "\"step_ns\": $step\b" "$work/analysis" ||
		fail "path of $name has another step than analyze: $step"
	! grep -qE '^  [a-z-]+:  ' "$work/out" || fail "$name: a contributor without a name: $(cat "$work/out")"
	! LC_ALL=C.UTF-8 grep -E '^.{101}' "$work/out" || fail "$name: wider than 100 columns"
done

# Where the recorder's cost is not known nothing is taken out, and that is said.
run whatif "$DATA/breakdown/two_gpus.json"
grep -qxF "60.25 µs a step as recorded, 60.25 µs without the recorder (its cost on this GPU is not known)" "$work/out" ||
	fail "an unknown GPU: $(head -1 "$work/out")"

# What does not apply is left out, with a note, unless nothing is left.
run whatif "$file" --apply straggler --apply remove-wait
expect_status 0 "one of two edits applies"
grep -q "straggler does not apply: " "$work/out" || fail "no note: $(cat "$work/out")"
[ "$(ask "$file" "r['predictions'][0]['edits'], len(r['notes'])" --apply straggler --apply remove-wait)" = "['remove-wait'] 1" ] ||
	fail "the JSON does not say what was left out"
run whatif "$file" --apply straggler --apply overlap-comm
expect_refusal "no edit applies" "straggler"
run whatif "$file" --apply straggler
expect_refusal "a straggler in one recording" "several ranks"

# A report carries its paths; they are the source's, and nobody writes them later.
"$HEADWAY" convert -o "$work/kept.hwy" "$file" >/dev/null 2>&1 || fail "convert"
chmod 400 "$work/kept.hwy"
before=$(cksum <"$work/kept.hwy")
"$HEADWAY" path --format json "$file" >"$work/made"
"$HEADWAY" path --format json "$work/kept.hwy" >"$work/read"
cmp -s "$work/made" "$work/read" || fail "the path of a report is not its source's"
"$HEADWAY" export -t perfetto -o "$work/kept.pftrace" "$work/kept.hwy" >/dev/null 2>&1 || fail "export of a report"
[ "$before" = "$(cksum <"$work/kept.hwy")" ] || fail "a report was written to"

# Ranks: rank 1 has 0.4 ms more to do in each step, and a clock of its own.
mkdir "$work/ranks"
python3 - "$work/ranks" <<'PY'
import json, sys

more, skew = [0, 400, 0], [0, 7e6, -3e6]
ranks = [[], [], []]
clock = 1000.0

def add(rank, name, cat, tid, ts, dur, **args):
    pid = rank if cat == "kernel" else 100 + rank
    if "correlation" in args:
        args["correlation"] += 1000 * rank
    ranks[rank].append(dict(ph="X", name=name, cat=cat, pid=pid, tid=tid + 100 * rank, ts=ts, dur=dur, args=args))

for step in range(12):
    arrivals = []
    for r in range(3):
        add(r, "cudaLaunchKernel", "cuda_runtime", 1, clock, 5, correlation=step * 10 + 1)
        add(r, "cudaLaunchKernel", "cuda_runtime", 1, clock + 10, 5, correlation=step * 10 + 2)
        add(r, "gemm", "kernel", 7, clock + 8, 1000 + more[r], device=r, stream=7, correlation=step * 10 + 1)
        arrivals.append(clock + 8 + 1000 + more[r] + 1)
    end = max(arrivals) + 100
    for r in range(3):
        add(r, "ncclDevKernel_AllReduce", "kernel", 7, arrivals[r], end - arrivals[r], device=r, stream=7, correlation=step * 10 + 2)
        add(r, "cudaStreamSynchronize", "cuda_runtime", 1, clock + 20, end + 3 - clock - 20, correlation=step * 10 + 3)
        add(r, f"ProfilerStep#{step}", "user_annotation", 1, clock - 5, end + 5 - clock, **{"External id": step})
    clock = end + 20
with open(f"{sys.argv[1]}/../one.json", "w") as one:
    json.dump(dict(schemaVersion=1, traceEvents=sum(ranks, [])), one)
for r in range(3):
    for event in ranks[r]:
        event["ts"] += skew[r]
    about = dict(schemaVersion=1, distributedInfo=dict(backend="nccl", rank=r, world_size=3), traceEvents=ranks[r])
    json.dump(about, open(f"{sys.argv[1]}/rank{r}.json", "w"))
PY
[ "$(ask "$work/ranks" "r['quality']['exact'], r['ranks']['numbers'], r['ranks']['collectives']" --check)" = "True [0, 1, 2] 12" ] ||
	fail "three ranks are not one exact graph: $(ask "$work/ranks" "r['ranks']" --check)"
for edit in straggler straggler:1; do
	within "$edit" "$(ask "$work/ranks" "(r['step_ns'] - r['predictions'][0]['step_ns']) / 1e3" --apply $edit)" 390 410
done
within "a rank that is no straggler" "$(ask "$work/ranks" "r['predictions'][0]['speedup']" --apply straggler:2)" 1 1.001
within "kernels of all ranks" "$(ask "$work/ranks" "(r['step_ns'] - r['predictions'][0]['step_ns']) / 1e3" --apply faster:gemm:50)" 690 710
"$HEADWAY" analyze --format json "$work/ranks" | python3 -c "
import json, sys
found = [f for f in json.load(sys.stdin)['findings'] if f['id'] == 'rank-straggler']
p = found[0]['predicted']
sys.exit(not (found[0]['rank'] == 1 and p['edits'] == ['straggler:1'] and 390e3 < p['before_ns'] - p['step_ns'] < 410e3))" ||
	fail "analyze does not say what the straggler costs"
# A rank without device work is not the one that is shown.
mkdir "$work/cpu"
cp "$work/ranks/rank1.json" "$work/ranks/rank2.json" "$work/cpu"
echo '{"schemaVersion": 1, "distributedInfo": {"rank": 0}, "traceEvents": [
	{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}' >"$work/cpu/rank0.json"
run analyze "$work/cpu"
grep -q "rank-straggler   rank 1" "$work/out" || # it is late, and rank 2 shows what that costs
	fail "analyze shows a rank without device work: $(cat "$work/out")"
# Nor is one that meets nobody, and it does not count among those that wait.
mkdir "$work/apart"
for r in 0 1 2; do
	sed "s/\"rank\": $r/\"rank\": $((r + 1))/" "$work/ranks/rank$r.json" >"$work/apart/$r.json"
done
for r in 0 4; do
	sed "s/ncclDevKernel_AllReduce/gemm/g; s/\"rank\": 0/\"rank\": $r/" "$work/ranks/rank0.json" >"$work/apart/alone$r.json"
done
run analyze "$work/apart"
grep -q "Rank 2 makes the others wait 400 µs of 1.53 ms a step" "$work/out" ||
	fail "ranks that meet nobody count: $(cat "$work/out")"
# Nor does a rank without device work stop whatif, whichever mark is asked for; a launcher does not even have a rank.
cp "$work/cpu/rank0.json" "$work/cpu/launcher.json"
sed -i 's/"rank": 0//' "$work/cpu/launcher.json"
[ "$(ask "$work/cpu" "r['quality']['exact'], r['ranks']['numbers']" --step 'ProfilerStep#' --apply straggler)" = "True [1, 2]" ] ||
	fail "a rank without device work stops whatif: $(cat "$work/err")"
for name in rank0 launcher; do
	grep -q "left out: .*$name.json: no device work" "$work/err" || fail "$name is not named: $(cat "$work/err")"
done
run whatif "$work/cpu/rank0.json" "$work/ranks/rank2.json"
expect_status 0 "one rank with device work is left"
run whatif "$work/cpu/rank0.json" "$work/cpu/launcher.json"
expect_refusal "no rank with device work" "no device work"
# The same ranks as processes of one recording.
[ "$(ask "$work/one.json" "r['quality']['exact'], r['ranks']['collectives']" --check)" = "True 12" ] ||
	fail "three ranks in one recording are not one exact graph"
within "straggler in one recording" "$(ask "$work/one.json" "(r['step_ns'] - r['predictions'][0]['step_ns']) / 1e3" --apply straggler)" 390 410
"$HEADWAY" analyze "$work/one.json" >"$work/out" || fail "analyze of ranks in one recording"
grep -q "rank-straggler .* → " "$work/out" || fail "analyze finds no straggler in one recording: $(cat "$work/out")"
run whatif "$work/ranks" --apply straggler:9
expect_refusal "a rank that was not recorded" "rank 9"
run whatif "$work/ranks/rank0.json" "$work/ranks/rank0.json"
expect_refusal "one rank twice" "different ranks"

if [ -z "$SHARED" ]; then
	is_sanitized && exit $bad
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
# There is nothing to wait for, but reading costs: the copy's call, 12 us of 590, the CPU's way to it and back, 8 us, and colder
# caches. (Unprofiled the two programs overlap: 0.27 to 0.43 ms, and 0.32 to 0.41 without.)
within "itemloop without its wait" "$(ask "$(at itemloop_item)" "r['predictions'][0]['speedup']" --apply remove-wait)" 1.03 1.12
# Not measured: 8 ms is less than one of the 19 batches' loading, spread over them, on top of the rest.
within "starve with perfect input" "$(ask "$(at starve_0)" "$step" --apply perfect-input)" 3 8
resnet=$(echo "$SHARED"/data/public-traces/kineto-tb_plugin/samples/resnet50_num_workers_0/*)
[ "$(ask "$SHARED/data/public-traces/HolisticTraceAnalysis/trace_filter" "r['quality']['exact'], r['ranks']['collectives'] > 3" --check)" = "True True" ] ||
	fail "two real ranks are not one exact graph"
within "resnet50 with perfect input" "$(ask "$resnet" "$step" --apply perfect-input)" 118 142
exit $bad
