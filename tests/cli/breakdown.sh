#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# breakdown: a trace checked by hand, then every recording at hand against sums made without Headway.
source "$(dirname "$0")/common.bash"
here=$(dirname "$0")
type python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }

# compare WHAT WANTED [KEY]: $work/out holds the numbers of WANTED.
compare() {
	local what=$1
	shift
	expect_status 0 "$what"
	python3 "$here/breakdown_compare.py" "$work/out" "$@" >"$work/differences" 2>&1 ||
		fail "$what: $(head -5 "$work/differences")"
}

# ---- by hand: two GPUs; a step whose kernel outlasts it; NCCL half under a kernel ----

hand=$DATA/breakdown/two_gpus.json
run breakdown --format json "$hand"
expect_status 0 "two_gpus.json"
diff "$DATA/breakdown/two_gpus.expected.json" "$work/out" >"$work/differences" ||
	fail "two_gpus.json: $(head -20 "$work/differences")"
cp "$work/out" "$work/hand.out"

run convert "$hand" -o "$work/hand.hwy"
expect_status 0 "convert"
run breakdown --format json "$work/hand.hwy"
cmp -s "$work/out" "$work/hand.out" || fail "a report gives what its source gave"

run breakdown "$hand"
expect_status 0 "text"
for part in '2 GPUs' '4 ops on 3 streams' 'window 61.00 µs: first to last device op' '█' '░' 'the union over' \
	'GPU 0 stream 20' 'hidden under compute  10.13 µs' '2 of 4 ops have no recorded launch'; do
	grep -qF -- "$part" "$work/out" || fail "the text lacks '$part': $(cat "$work/out")"
done
grep -q $'\033' "$work/out" && fail "colours where there is no terminal"
grep -qE ' +$' "$work/out" && fail "spaces at the end of a line"

printf '{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5, "dur": 0, "args": {"device": 0, "stream": 7}}]}' >"$work/moment.json"
run breakdown "$work/moment.json"
grep -qF '1 op on 1 stream' "$work/out" || fail "work that takes no time is work: $(cat "$work/out")"

printf '{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "multimem_all_reduce_kernel", "pid": 0, "tid": 7, "ts": 5, "dur": 3, "args": {"device": 0, "stream": 7}}]}' >"$work/custom.json"
run breakdown "$work/custom.json"
grep -qF 'comm is what HTA counts' "$work/out" || fail "an all-reduce among the compute is not told: $(cat "$work/out")"
run breakdown "$hand"
grep -qF 'comm is what HTA counts' "$work/out" && fail "only NCCL communicates, and a caution is printed"

# ---- options ----

run breakdown --format json --device 1 "$hand"
python3 -c 'import json, sys; b = json.load(sys.stdin); sys.exit(b["busy_ns"] != 11000 or len(b["devices"]) != 1)' \
	<"$work/out" || fail "--device 1"
run breakdown --device 5 "$hand"
expect_refusal "a GPU that is not there" "has no GPU 5"
run breakdown --format json --from 30us --to 50us "$hand"
python3 -c 'import json, sys; b = json.load(sys.stdin); sys.exit(b["busy_ns"] != 20000 or b["span_ns"] != 20000)' \
	<"$work/out" || fail "--from and --to: $(head -c 600 "$work/out")"
run breakdown --from 50us --to 30us "$hand"
expect_status 2 "--from after --to"
run breakdown --format yaml "$hand"
expect_status 2 "an unknown format"
run breakdown --format json -o "$work/written" "$hand"
expect_status 0 "-o"
cmp -s "$work/written" "$work/hand.out" || fail "-o writes what stdout gets"
run breakdown -o "$work/written" "$hand"
expect_status 2 "-o keeps an existing file"
cmp -s "$work/written" "$work/hand.out" || fail "-o left the existing file alone"
run breakdown -f -o "$work/written" "$hand"
expect_status 0 "-f overwrites"

# ---- no device work ----

echo '[{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": 1, "dur": 2}]' >"$work/cpu.json"
run breakdown "$work/cpu.json"
expect_status 0 "no device work"
grep -q 'No device work in this recording' "$work/out" || fail "no device work is said: $(cat "$work/out")"
run breakdown --format json "$work/cpu.json"
python3 -c 'import json, sys; sys.exit(any(json.load(sys.stdin).values()))' <"$work/out" || fail "everything is 0"

# ---- nsys recordings: against their tables ----

recordings=("$DATA"/nsys/*.sqlite.xz)
is_sanitized && SHARED= # the sums of larger recordings are compared in the release build
[ -n "${SHARED:-}" ] && recordings+=("$SHARED"/data/nsys/*.sqlite.xz "$SHARED"/data/public-nsys/*.sqlite.xz)
for recording in "${recordings[@]}"; do
	[ -e "$recording" ] || continue
	xz -dc "$recording" >"$work/recording.sqlite"
	python3 "$here/breakdown_truth.py" "$work/recording.sqlite" >"$work/wanted"
	run breakdown --format json "$work/recording.sqlite"
	compare "$recording" "$work/wanted"
done

# ---- PyTorch traces: expected-intervals.json, and the same from their reports ----

public=${SHARED:-}/data/public-traces
if [ -z "${SHARED:-}" ] || [ ! -e "$public/expected-intervals.json" ]; then
	is_sanitized || echo "SKIP (in part): no public traces"
	finish
fi
while read -r trace; do
	run breakdown --format json "$public/$trace"
	compare "$trace" "$public/expected-intervals.json" "$trace"
	mv "$work/out" "$work/source.out"
	"$HEADWAY" convert -f "$public/$trace" -o "$work/trace.hwy" >/dev/null || fail "convert $trace"
	run breakdown --format json "$work/trace.hwy"
	cmp -s "$work/out" "$work/source.out" || fail "$trace: its report gives other numbers"
done < <(python3 -c 'import json, sys; print("\n".join(json.load(open(sys.argv[1]))))' "$public/expected-intervals.json")

# What HTA printed, on traces where it drops no events.
check_hta() {
	run breakdown --format json "$public/$2"
	python3 "$here/breakdown_hta.py" "$work/out" "$public/hta-output.json" "$1" >"$work/differences" 2>&1 ||
		fail "$1 beside HTA: $(head -5 "$work/differences")"
}
hta=HolisticTraceAnalysis
check_hta nccl_parser_config $hta/nccl_parser_config/nccl_data.json.gz
check_hta alexnet $hta/critical_path/alexnet/benchmark_result_2869224_1695835535_trace.json.gz
check_hta simple_add $hta/critical_path/simple_add/benchmark_result_493459_1694039959_trace.json.gz
check_hta cuda_event_sync $hta/critical_path/cuda_event_sync/event_sync_trace.json.gz
check_hta cuda_event_sync_multi_stream $hta/critical_path/cuda_event_sync_multi_stream/event_sync_trace.json.gz
check_hta amd_mi250 $hta/amd_trace/mi250_minitoy_train_ROCm6_2_kineto.json.gz
for workers in 0 4; do
	check_hta kineto_resnet50_w$workers \
		"$(cd "$public" && echo kineto-tb_plugin/samples/resnet50_num_workers_$workers/*.gz)"
done

# What the TensorBoard plugin showed: step, kernel, memcpy, memset, runtime, loader, cpu op, other.
check_steps() {
	got=$("$HEADWAY" breakdown --format json "$public/kineto-tb_plugin/samples/$1"/*.gz |
		python3 "$here/breakdown_steps.py")
	[ "$got" = "$2" ] || fail "steps of $1: $got, not $2"
}
check_steps resnet50_num_workers_0 "177592 98589 1915 89 2908 59262 13674 1156"
check_steps resnet50_num_workers_4 "141068 99145 3160 98 10564 1186 22665 4251"
finish
