#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Counters of kernels without a GPU: a stand-in for libcupti whose counters follow from the launch goes through the real
# collector, run and evaluation into the report, and whatever it refuses leaves program and report whole.
source "$(dirname "$0")/common.bash"
: "${COLLECT:?test programs}"
command -v python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
export MOCK_CUPTI_NAMES=$DATA/../mock/data/callbacks.txt HEADWAY_CUPTI=$COLLECT/mock/profiler/libcupti.so.13
unset LD_LIBRARY_PATH
program=$COLLECT/kernels_target

"$HEADWAY" profile --no-calibration -o "$work/plain.hwy" "$program" >"$work/out" 2>"$work/err" || fail "profile: $(cat "$work/err")"

# measure ARGS…: measures a fresh copy of the report; what the program prints is $work/out with the table behind it.
measure() {
	cp "$work/plain.hwy" "$work/r.hwy"
	run kernels "$work/r.hwy" "$@"
}

# value KERNEL COUNTER: the counters of a kernel in the report, one a line, a kernel of several shapes by its order.
value() {
	"$HEADWAY" kernels "$work/r.hwy" --format json >"$work/json" 2>"$work/err" || fail "json: $(cat "$work/err")"
	python3 - "$work/json" "$1" "$2" <<'PYTHON'
import json, sys
def walk(x):
    if isinstance(x, dict):
        if sys.argv[2] in str(x.get("name", "")) and "counters" in x:
            yield x
        for v in x.values():
            yield from walk(v)
    elif isinstance(x, list):
        for v in x:
            yield from walk(v)
for kernel in walk(json.load(open(sys.argv[1]))):
    value = kernel["counters"].get(sys.argv[3])
    print("none" if value is None else value)
PYTHON
}

# The counters are those of the launch: its duration, and what its threads read and write.
measure -- "$program"
expect_status 0 "measure"
[ "$(head -1 "$work/out")" = "12 steps" ] || fail "the program's output is not its own: $(head -3 "$work/out")"
grep -q "measured 5 of 5 kernels in 1 run" "$work/err" || fail "four kernels: $(cat "$work/err")" # 4 passes
[ "$(value scale duration_ns)" = 900000 ] || fail "duration: $(value scale duration_ns)"
[ "$(value scale dram_read_bytes)" = $((4 * 64 * 256)) ] || fail "bytes read: $(value scale dram_read_bytes)"
[ "$(value nccl duration_ns)" = 400000 ] || fail "a collective: $(value nccl duration_ns)"
[ "$(value add dram_written_bytes | sort -n | xargs)" = "$((8 * 128)) $((8 * 128 * 128))" ] ||
	fail "two shapes are two kernels: $(value add dram_written_bytes | xargs)"

# The roofline alone: time, bytes and occupancy, but no stall reasons and no hit rates.
measure --set=roofline -- "$program"
expect_status 0 "the roofline alone"
[ "$(value scale duration_ns)" = 900000 ] || fail "the roofline's duration: $(value scale duration_ns)"
[ "$(value scale l2_hit)" = none ] || fail "the roofline has a hit rate: $(value scale l2_hit)"

# A collective is not repeated: its launches share the passes, and the program runs again where they are too few.
MOCK_PROFILER_PASS=4 measure -k nccl -- "$program"
grep -q "in [2-6] runs" "$work/err" || fail "16 passes, at most 12 launches: $(cat "$work/err")"
[ "$(value nccl occupancy)" = 0.5 ] || fail "counters of the first pass: $(value nccl occupancy)"
[ "$(value nccl of_l1)" = 0.5 ] || fail "counters of the last pass: $(value nccl of_l1)"

# Measured again, a kernel has one row, not two.
cp "$work/r.hwy" "$work/again.hwy"
run kernels "$work/again.hwy" -- "$program"
expect_status 0 "again"
cp "$work/again.hwy" "$work/r.hwy"
[ "$(value scale duration_ns | wc -l)" = 1 ] || fail "a second measurement adds to the first"

# A kernel by its name.
measure -k scale -- "$program"
grep -q "measured 1 of 1 kernel" "$work/err" || fail "by name: $(cat "$work/err")"

# What CUPTI refuses: one line that permits it; program and report are as they were.
MOCK_PROFILER_REFUSE=35 measure -- "$program"
grep -q "NVreg_RestrictProfilingToAdminUsers=0" "$work/err" || fail "refused: $(cat "$work/err")"
cmp -s "$work/plain.hwy" "$work/r.hwy" || fail "refused: the report changed"
grep -qx "12 steps" "$work/out" || fail "refused: the program did not run on"

# Evaluation that crashes costs the counters, not headway.
MOCK_PROFILER_CRASH=1 measure -- "$program"
expect_status 2 "crash"
grep -q "crashed" "$work/err" || fail "crash: $(cat "$work/err")"
cmp -s "$work/plain.hwy" "$work/r.hwy" || fail "crash: the report changed"

# A counter that the chip has not is left out, and takes none with it.
MOCK_PROFILER_LACKS=dram__bytes_read.sum measure -- "$program"
expect_status 0 "lacks"
[ "$(value scale dram_read_bytes)" = none ] || fail "lacks: $(value scale dram_read_bytes)"
[ "$(value scale duration_ns)" = 900000 ] || fail "lacks: the others are gone"

# A kernel that never ends while it is measured: the program is ended, and told of.
HEADWAY_MEASURE_LONGEST_MS=300 MOCK_PROFILER_HANG=1 measure -- "$program"
grep -q "did not end while it was measured" "$work/err" || fail "hang: $(cat "$work/err")"
cmp -s "$work/plain.hwy" "$work/r.hwy" || fail "hang: the report changed"

# A CUPTI that takes no other counters in a process than the first ones: the others are read in a run of their own.
for trouble in MOCK_PROFILER_STUCK MOCK_PROFILER_ONCE; do
	export $trouble=1
	measure --replay kernel -- "$program"
	unset $trouble
	grep -q "measured 5 of 5 kernels in [23] runs" "$work/err" || fail "$trouble: $(cat "$work/err")"
	[ "$(value scale duration_ns)" = 900000 ] || fail "$trouble: $(value scale duration_ns)"
	[ "$(value elementwise duration_ns)" = 600000 ] || fail "$trouble: $(value elementwise duration_ns)"
done

# Threads that launch at the same time wait for a measurement: the stand-in ends a program in which they do not.
for i in 1 2 3; do
	measure --launches 6 -- "$program" 12 0 4
	expect_status 0 "threads"
	grep -qx "12 steps" "$work/out" || fail "threads: $(head -c 300 "$work/out" "$work/err")"
	[ "$(value scale duration_ns)" = 900000 ] || fail "threads: $(value scale duration_ns)"
done

# What was measured before a program was killed is kept.
measure -- "$program" 12 1009
grep -q "measured 5 of 5 kernels" "$work/err" || fail "killed: $(cat "$work/err")"
[ "$(value scale duration_ns)" = 900000 ] || fail "killed: $(value scale duration_ns)"
grep -q "the program ended by signal 9 while it was measured" "$work/out" || fail "killed: no note in $(cat "$work/out")"
measure -- "$program" 12 3
grep -q "measured 5 of 5 kernels" "$work/err" || fail "status 3: $(cat "$work/err")"
grep -q "the program ended with status 3 while it was measured" "$work/out" || fail "status 3: no note in $(cat "$work/out")"
measure -- "$program"
! grep -q "the program ended" "$work/out" "$work/err" || fail "a program that ends well: $(cat "$work/out")"
for end in "exit 3:with status 3" "kill -SEGV \$\$:by signal 11"; do
	measure -- sh -c "${end%:*}"
	expect_status 2 "$end"
	grep -q "nothing was measured: .*the program ended ${end#*:} while it was measured" "$work/err" || fail "no launch, $end: $(cat "$work/err")"
	cmp -s "$work/plain.hwy" "$work/r.hwy" || fail "no launch, $end: the report changed"
done

# Another program makes none of the launches.
measure -- true
[ "$status" != 0 ] || fail "another program: status $status"
grep -q "nothing was measured" "$work/err" || fail "another program: $(cat "$work/err")"
measure -- "$work/not-there"
[ "$status" != 0 ] || fail "no program: status $status"

# Source lines: samples by line and reason, each sample once.
measure --source -- "$program"
expect_status 0 "source"
grep -q "/src/scale.cu:10" "$work/out" || grep -q "scale.cu:10" "$work/out" || fail "source: no line of scale.cu in $(cat "$work/out")"

[ $bad = 0 ] && echo "ok"
exit $bad
