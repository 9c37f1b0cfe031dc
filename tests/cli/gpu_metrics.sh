#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# GPU metrics, sampled by the process beside the program: what becomes of them, and what happens when they are refused,
# taken, run over, lost, or when CUPTI hangs or crashes. A mock libcupti is the program's CUDA and the device's counters,
# a mock libcuda the driver.
source "$(dirname "$0")/common.bash"
: "${COLLECT:?the folder of test programs}"

cd "$work" || exit 1
export TMPDIR=$work/tmp XDG_CACHE_HOME=$work/cache HEADWAY_LIB=$COLLECT_LIBRARY
mkdir tmp
mock=$DATA/../mock/data
export HEADWAY_CUPTI=$COLLECT/mock/libcupti.so.13 MOCK_CUPTI_NAMES=$mock/callbacks.txt
export MOCK_CUPTI_DATA=$mock/mix_graph.cupti
export MOCK_CUDA_UUID=GPU-00010203-0405-0607-0809-0a0b0c0d0e0f # of the recording mix_graph
driver=$COLLECT/mock/driver

# record MODE [OPTIONS…]: half a second of CUDA work beside counters that behave as MODE says.
record() {
	local mode=$1
	shift
	MOCK_PM=$mode LD_LIBRARY_PATH=$driver run profile --no-calibration -f true -o r "$@" "$COLLECT/cuda_target" busy
	expect_status 3 "$mode: the program's own status"
	grep -qx "the program's last line" out || fail "$mode: the program's output: $(cat out)"
	[ -z "$(ls -A tmp)" ] || fail "$mode: left $(ls -A tmp)"
	"$HEADWAY" info --all r.hwy >info || fail "$mode: info"
	kernels=$(awk '$1 == "kernel" && $2 != "=" {print $2}' info)
	[ "$kernels" = 149 ] || fail "$mode: $kernels kernels recorded, not 149"
}
lanes() { # how many lanes of counters the report has
	sed -n 's/^Lanes .* \([0-9]*\) counter.*/\1/p' info
}
property() {
	sed -n "s/^ *\(Properties *\)\{0,1\}gpu_metrics\.$1 = //p" info
}
says() { # says TEXT: a message of the report
	grep -qF -- "$1" info || fail "the report does not say '$1': $(sed -n '/^Messages/,$p' info)"
}
values() { # values LANE: the values of a lane, and how often
	grep -h "$1,[0-9]*," csv/counter.csv | sed 's/.*,//' | sort | uniq -c
}

# ---- counters that can be sampled
record fine --gpu-metrics-devices=all --gpu-metrics-frequency 1000
n=$(lanes)
[ "${n:-0}" -gt 15 ] || fail "lanes: $(grep ^Lanes info)"
[ "$(property frequency_hz)" = 1000 ] || fail "rate: '$(property frequency_hz)'"
property set | grep -q "^general: [0-9]* metrics$" || fail "set: '$(property set)'"
property source | grep -q "PM sampling" || fail "source: '$(property source)'"
run export -t csv --kinds counter -o csv -f r.hwy
for lane in "GR Active \[Throughput %\],75" "DRAM Read,1000000000" "GPC Clock Frequency \[MHz\],1980000000"; do
	value=${lane##*,}
	values "${lane%,*}" >found
	awk -v value="$value" '$2 == value && $1 > 50 {ok = 1} END {exit !ok}' found || fail "$lane: $(cat found)"
done

[ "$(property samples)" -gt 100 ] || fail "samples: '$(property samples)'"
[ "$(property holes)" = 0 ] || fail "holes: '$(property holes)'"

# Samples follow each other every ms.
grep -h "GR Active" csv/counter.csv | awk -F, '
	{time[++n] = $(NF - 1)}
	END {
		for (i = 2; i <= n; i++)
			odd += time[i] - time[i - 1] < 300000 || time[i] - time[i - 1] > 1700000
		print n, odd + 0
		exit n < 100 || odd > n / 20
	}' >found || fail "samples, and those that do not follow the one before them: $(cat found)"

# ---- chosen GPUs, another set
record fine --gpu-metrics-devices=0 --gpu-metrics-set=memory --gpu-metrics-frequency 1000
few=$(lanes)
[ "${few:-0}" -gt 5 ] && [ "$few" -lt "$n" ] || fail "the set for memory: $few lanes of $n"
record fine --gpu-metrics-devices=7
says "none of them was asked for"

# ---- without a recording of CUDA the GPUs that were asked for are kept
MOCK_PM=fine LD_LIBRARY_PATH=$driver run profile -t nvtx -f true -o r --gpu-metrics-devices=all sleep 0.3
expect_status 0 "a program without CUDA"
"$HEADWAY" info --all r.hwy >info
[ "$(lanes)" = "$n" ] || fail "a program without CUDA: $(grep ^Lanes info)"

# ---- what is refused
record refused --gpu-metrics-devices=all
says "the driver lets only root read counters"
says "NVreg_RestrictProfilingToAdminUsers=0"
record taken --gpu-metrics-devices=all
says "another profiler holds the counters"
record no-device --gpu-metrics-devices=all
says "GPU metrics: not recorded"

# ---- the buffer runs over: half the rate, and the report says so
# (on a busy machine it may run over before the first samples were read, which is refused)
for _ in 1 2 3; do
	record overflow --gpu-metrics-devices=all --gpu-metrics-frequency 10000
	grep -q 'the first samples cannot be read' info || break
done
says "ran over at 10000 samples a second; from here on half as many"
[ "$(property frequency_end_hz)" = 5000 ] || fail "rate after it ran over: '$(property frequency_end_hz)'"

# ---- not one sample: the report says so, and why; an image that got full costs samples, which are counted
record silent --gpu-metrics-devices=all
says "GPU metrics: not one sample of"
says "the GPU gave 0 samples in"
record late --gpu-metrics-devices=all --gpu-metrics-frequency 10000
says "GPU metrics: samples without a time"
[ "$(lanes)" -gt 15 ] || fail "behind an image that got full there are no samples"

# ---- the device is lost
record lost --gpu-metrics-devices=all --gpu-metrics-frequency 1000
says "GPU metrics end early: samples cannot be read: the device does not answer"
[ "$(lanes)" -gt 15 ] || fail "what was sampled before is gone"

# ---- CUPTI hangs or crashes: the rest of the recording is whole
record hang --gpu-metrics-devices=all
says "takes long to begin: the program was started without them"
record stuck --gpu-metrics-devices=all --gpu-metrics-frequency 1000
says "GPU metrics are not recorded to the end: CUPTI stopped answering"
grep -q "clocks and power.*not recorded to the end" info && fail "the clocks are said to be lost where CUPTI hangs"
[ "$(lanes)" -gt 15 ] || fail "what was sampled before CUPTI hung is gone"
record crash --gpu-metrics-devices=all
says "the driver's library crashed (Aborted), in a process of headway's own"

# ---- CUPTI without counters
HEADWAY_CUPTI=$COLLECT/mock/libcupti.so.11.8 MOCK_PM=fine LD_LIBRARY_PATH=$driver \
	run profile --no-calibration -f true -o r --gpu-metrics-devices=all "$COLLECT/cuda_target" busy
expect_status 3 "an old CUPTI: the program's own status"

# ---- lists
MOCK_PM=fine LD_LIBRARY_PATH=$driver run profile --gpu-metrics-devices=help
expect_status 0 "the list of GPUs"
grep -q "^  0: .*(MOCK1), [0-9]* metrics$" out || fail "the list of GPUs: $(cat out)"
MOCK_PM=refused LD_LIBRARY_PATH=$driver run profile --gpu-metrics-devices=help
grep -q "cannot be sampled: the driver lets only root read counters; run as root" out || fail "refused in the list: $(cat out)"
run profile --gpu-metrics-set=help
expect_status 0 "the list of sets"
grep -q "^  general: " out && grep -q "^    Tensor Active" out || fail "the list of sets: $(cat out)"

# ---- the doctor
MOCK_PM=refused LD_LIBRARY_PATH=$driver run doctor
grep -q "GPU counters" out && { grep -q "root" out || fail "the doctor: $(cat out)"; }

# ---- misuse
for wrong in "--gpu-metrics-devices=0,x" "--gpu-metrics-devices=" "--gpu-metrics-frequency=5" "--gpu-metrics-set=nothing"; do
	run profile "$wrong" true
	expect_status 2 "$wrong"
done
run profile -o s -f true --gpu-metrics-set=gh100 true
grep -q "built for the GPU at hand" err || fail "a set of nsys: $(cat err)"
finish
