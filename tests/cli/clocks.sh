#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Clocks and power of the GPU, recorded by a process beside the program: what becomes of them, and that nothing which
# happens to NVML reaches the program, its output, its exit status or the rest of the recording. A mock libcupti makes
# the program's CUDA work, a mock libnvidia-ml is the GPU as the driver shows it.
source "$(dirname "$0")/common.bash"
: "${COLLECT:?the folder of test programs}"

cd "$work" || exit 1
export TMPDIR=$work/tmp XDG_CACHE_HOME=$work/cache HEADWAY_LIB=$COLLECT_LIBRARY
mkdir tmp
mock=$DATA/../mock/data
export HEADWAY_CUPTI=$COLLECT/mock/libcupti.so.13 MOCK_CUPTI_NAMES=$mock/callbacks.txt
export MOCK_CUPTI_DATA=$mock/mix_graph.cupti MOCK_NVML_LOG=$work/log
export MOCK_NVML_UUID=GPU-00010203-0405-0607-0809-0a0b0c0d0e0f # of the recording mix_graph
nvml=$COLLECT/mock/nvml

# record WORDS [OPTIONS…]: of half a second of CUDA work, with a GPU of which the mock says WORDS.
record() {
	local words=$1
	shift
	: >log
	MOCK_NVML=$words LD_LIBRARY_PATH=$nvml run profile --no-calibration -f true -o r "$@" "$COLLECT/cuda_target" busy
	expect_status 3 "$words: the program's own status"
	grep -qx "the program's last line" out || fail "$words: the program's output: $(cat out)"
	[ -z "$(ls -A tmp)" ] || fail "$words: left $(ls -A tmp)"
	for pid in $(awk '{print $2}' log | sort -u); do
		[ -e "/proc/$pid" ] && fail "$words: the watcher is still there"
	done
	"$HEADWAY" info --all r.hwy >info || fail "$words: info"
	kernels=$(awk '$1 == "kernel" && $2 != "=" {print $2}' info)
	[ "$kernels" = 149 ] || [ $# -gt 0 ] || fail "$words: $kernels kernels recorded, not 149"
	grep -q "^Dropped      nothing" info || fail "$words: $(grep ^Dropped info)"
}
lanes() { # how many lanes of counters the report has
	sed -n 's/^Lanes .* \([0-9]*\) counter.*/\1/p' info
}
property() {
	sed -n "s/^ *\(Properties *\)\{0,1\}gpu\.0\.$1 = //p" info
}
says() { # says SEVERITY TEXT: a message of the report
	grep -qE "^ *(Messages +)?$1 +.*$2" info
}
says_nothing() {
	grep -qE "clocks and power|NVML" info && fail "$1: $(grep -E 'clocks and power|NVML' info)"
}

# ---- a GPU that answers
record ""
[ "$(lanes)" = 5 ] || fail "lanes: $(grep ^Lanes info)"
[ "$(property lost.power_cap_ns)" = 0 ] || fail "time lost to the power limit: '$(property lost.power_cap_ns)'"
[ "$(property most_sm_clock_hz)" = 1980000000 ] || fail "the highest clock: '$(property most_sm_clock_hz)'"
[ "$(property power_limit_mw)" = 700000 ] || fail "the power limit: '$(property power_limit_mw)'"
[ "$(property energy_mj)" -gt 0 ] || fail "energy: '$(property energy_mj)'"
says_nothing "a GPU that answers"
[ "$(cut -d' ' -f1 log | tr '\n' ' ')" = "init shutdown " ] || fail "NVML's own begin and end: $(cat log)"
run export -t csv --kinds counter -o csv -f r.hwy
for line in "SM Clock,[0-9]*,1980000000" "Memory Clock,[0-9]*,3201000000" "Power,[0-9]*,300" "Temperature,[0-9]*,51" \
	"Throttle Reasons,[0-9]*,0"; do
	grep -rq "$line\$" csv || fail "no '$line' in $(head -9 csv/counter.csv)"
done
# The GPU that the program does not use has no lanes.
[ "$(cut -d, -f9 csv/counter.csv | grep -c "SM Clock")" -ge 1 ] || fail "csv: $(cat csv/counter.csv)"
cut -d, -f5 csv/counter.csv | sed 1d | grep -qvx 0 && fail "values of another device: $(cat csv/counter.csv)"

record throttled
grep -rq "SM Clock,[0-9]*,1485000000\$" csv && fail "the csv is old"
[ "$(property lost.power_cap_ns)" -gt 0 ] || fail "throttled: '$(property lost.power_cap_ns)'"
for words in hot hot,later-fields; do
	record $words
	[ "$(property lost.sw_thermal_ns)" -gt 0 ] || fail "$words: '$(property lost.sw_thermal_ns)'"
	[ "$(property lost.hw_thermal_ns)" -gt 0 ] || fail "$words: '$(property lost.hw_thermal_ns)'"
	[ "$(property lost.power_brake_ns)" = 0 ] || fail "$words: '$(property lost.power_brake_ns)'"
done
record no-fields
[ "$(lanes)" = 5 ] && [ -z "$(property lost.power_cap_ns)" ] || fail "no fields: $(cat info)"

# ---- what is said of them
record ""
cp r.hwy fast.hwy
grep -q "^Clocks       SM 1,980 MHz; memory 3,201 MHz; 300 W on average, 300 at most (limit 700); up to 51 °C; nothing held it down" info ||
	fail "info: $(grep -A1 ^Clocks info)"
"$HEADWAY" info --format json r.hwy | python3 -c '
import json, sys
clocks = json.load(sys.stdin)["clocks"]
assert len(clocks) == 1 and clocks[0]["device"] == 0, clocks
assert clocks[0]["sm_hz"]["median"] == 1980e6 and clocks[0]["lost_ns"]["power_cap"] == 0, clocks' || fail "info as JSON"
"$HEADWAY" analyze r.hwy | grep -q throttled && fail "throttled at full clock"
record throttled
cp r.hwy slow.hwy
grep -q "^Clocks .*held down for .* by the power limit" info || fail "info of a throttled run: $(grep -A1 ^Clocks info)"
"$HEADWAY" stats -r gpu_metrics_sum r.hwy >table
grep -q "SM Clock" table && ! grep -q "Throttle Reasons" table || fail "the table of metrics: $(cat table)" # bits have no mean
"$HEADWAY" analyze r.hwy >analyzed
grep -q "^ *[0-9]*  throttled " analyzed || fail "not found throttled: $(cat analyzed)"
says="GPU clock while busy: 1,980 MHz → 1,485 MHz: the comparison says little"
run diff fast.hwy slow.hwy
grep -qF "$says" out || fail "diff: $(cat out)"
run diff --format markdown fast.hwy slow.hwy
grep -q "GPU clock while busy *| *1,980 MHz *| *1,485 MHz: the comparison says little" out || fail "diff, Markdown: $(cat out)"
run diff --format json fast.hwy slow.hwy
grep -q '"so": "the comparison says little"' out || fail "diff, JSON: $(head -40 out)"
run baseline -o fast.json fast.hwy
run gate --baseline fast.json slow.hwy
grep -qF "$says" out || fail "gate: $(cat out)"
run diff fast.hwy fast.hwy
grep -q "GPU clock" out && fail "one clock, but a note: $(cat out)"

# ---- metrics where counters cannot be sampled: GPM
if [ ! -e /proc/driver/nvidia/version ]; then
	record "" --gpu-metrics-devices=all
	says warning "GPU metrics: not sampled: " || fail "GPM: no word about counters: $(cat info)"
	says info "GPU metrics are those of NVML's GPM, 8 samples a second" || fail "GPM: $(cat info)"
	grep -q "gpu_metrics.source = NVML, GPM" info || fail "GPM: $(grep gpu_metrics info)"
	[ "$(lanes)" = 19 ] || fail "GPM: lanes: $(grep ^Lanes info)"
	run export -t csv --kinds counter -o csv -f r.hwy
	# The mock's metrics have the value of their number; rates are MiB.
	for line in "SMs Active \[Throughput %\],[0-9]*,2" "DRAM Bandwidth \[Throughput %\],[0-9]*,10" "PCIe RX,[0-9]*,22020096"; do
		grep -q "$line\$" csv/counter.csv || fail "GPM: no '$line' in $(grep -v Clock csv/counter.csv | head -20)"
	done
	record no-gpm --gpu-metrics-devices=0
	says warning "GPU metrics: not recorded: no GPU that was asked for has GPM" || fail "no GPM: $(cat info)"
	[ "$(lanes)" = 5 ] || fail "no GPM: $(grep ^Lanes info)"
	record lost=4 --gpu-metrics-devices=all
	says warning "GPU metrics of GPU 0 end early: NVML: GPU is lost" || fail "GPM, lost: $(cat info)"
	record refused --gpu-metrics-devices=all
	says warning "GPU metrics: not recorded: NVML cannot be used" || fail "GPM, refused: $(cat info)"
fi

# ---- a library that prints
record noisy
grep -q "a word" out err && fail "NVML's output is in the program's: $(cat out err)"

# ---- absence, refusal
for words in refused not-loaded; do
	record $words
	says info "clocks and power of the GPU: not recorded: NVML cannot be used: (Insufficient|Driver)" || fail "$words: $(cat info)"
	[ -z "$(lanes)" ] || fail "$words, but lanes: $(grep ^Lanes info)"
	[ "$(grep -c "^headway: " err)" = 1 ] || fail "$words: more than one line: $(cat err)"
done
if [ ! -e /proc/driver/nvidia/version ]; then
	nvml=$work
	record absent
	says_nothing absent
	nvml=$COLLECT/mock/nvml
fi
: >log
MOCK_NVML='' LD_LIBRARY_PATH=$nvml run profile --no-calibration -f true -o r -t nvtx sleep 0.1
[ -s log ] && fail "-t nvtx, but NVML was asked"

# ---- a GPU that is lost in mid-run; a library that hangs, crashes or leaves
record lost=3
says warning "GPU 0 \(NVIDIA H200\): the driver lost it .* s after the begin" || fail "lost: $(cat info)"
[ "$(lanes)" = 5 ] || fail "lost: what was seen before is not there: $(grep ^Lanes info)"
record hang=3
says warning "not recorded to the end: the driver's library stopped answering" || fail "hang: $(cat info)"
[ "$(lanes)" = 5 ] || fail "hang: what was seen before is not there: $(grep ^Lanes info)"
record hang=0 # while it begins: a run of half a second does not wait for it, and does not call it dead
[ -z "$(lanes)" ] || fail "hang=0: $(grep ^Lanes info)"
record crash=3
says warning "the driver's library crashed \(Aborted\)" || fail "crash: $(cat info)"
[ "$(lanes)" = 5 ] || fail "crash: what was seen before is not there: $(grep ^Lanes info)"
record exit=3
says warning "ended with status 3" || fail "exit: $(cat info)"

# The kernel kills it, for want of memory: that is no fault of the driver.
: >log
MOCK_NVML='' LD_LIBRARY_PATH=$nvml run profile --no-calibration -f true -o r bash -c '
	for _ in $(seq 200); do grep -q init log && break; sleep 0.01; done
	kill -9 "$(sed -n "s/^init //p" log)"
	exec "$0" busy' "$COLLECT/cuda_target"
expect_status 3 "the watcher is killed"
grep -qx "the program's last line" out || fail "the watcher is killed: the program's output: $(cat out)"
"$HEADWAY" info --all r.hwy >info
says warning "killed the process that asks for them" || fail "the watcher is killed: $(cat info)"

# ---- recording that begins late, and a ring
record throttled -y 0.2
lost=$(property lost.power_cap_ns)
[ "$lost" -gt 0 ] && [ "$lost" -lt 450000000 ] || fail "-y 0.2: $lost ns lost, of 480 ms"
record "" --keep-last=1s
[ "$(lanes)" = 5 ] || fail "--keep-last: $(cat info)"

# ---- who looks at headway's processes sees the program first, and no second headway; signals of the group
: >log
MOCK_NVML='' LD_LIBRARY_PATH=$nvml "$HEADWAY" profile --no-calibration -f true -o r bash -c '
	"$0" busy >/dev/null
	watcher=$(sed -n "s/^init //p" log)
	tr -d "\0" <"/proc/$watcher/cmdline" | grep -q . && echo "the watcher has a command line"
	[ "$(cat "/proc/$watcher/comm")" = hwy-watcher ] || echo "the watcher is called $(cat "/proc/$watcher/comm")"
	own=$(cut -d" " -f5,6 /proc/$$/stat) its=$(cut -d" " -f5,6 "/proc/$watcher/stat")
	[ "${own% *}" != "${its% *}" ] || echo "the watcher is in the program'\''s process group"
	ls -l "/proc/$watcher/fd" | grep -qE "pipe:|\.hwy|control" && ls -l "/proc/$watcher/fd"
	exit 0' "$COLLECT/cuda_target" >seen 2>err | cat
[ ! -s seen ] || fail "the watcher: $(cat seen)"

# A signal of the terminal reaches the whole process group: the program decides what it does, and the watcher goes on.
: >log
MOCK_NVML='' LD_LIBRARY_PATH=$nvml setsid -w "$HEADWAY" profile --no-calibration -f true -o r bash -c '
	trap "" INT TERM HUP QUIT
	"$0" busy >/dev/null
	for signal in INT TERM HUP QUIT USR1; do trap "" $signal; kill -$signal 0; done
	"$0" busy' "$COLLECT/cuda_target" >out 2>err
grep -qx "the program's last line" out || fail "signals of the group: the program's output: $(cat out err)"
"$HEADWAY" info --all r.hwy >info
[ "$(lanes)" = 5 ] && [ -n "$(property lost.power_cap_ns)" ] || fail "signals of the group: $(cat info)"
says_nothing "signals of the group"

# ---- headway is killed: the watcher ends, the run can be recovered at once, with what was seen
for words in "" hang=3; do
	: >log
	# In a shell of its own, which keeps quiet about a program that is killed.
	MOCK_NVML=$words LD_LIBRARY_PATH=$nvml bash -c '"$@" >out 2>err; :' - "$HEADWAY" profile \
		--no-calibration -f true -o r bash -c '"$0" busy; sleep 0.2; kill -9 $PPID; sleep 0.1' \
		"$COLLECT/cuda_target" 2>/dev/null
	[ -s log ] || fail "killed: there was no watcher"
	for _ in $(seq 300); do # a watcher that can writes its last values first
		[ -z "$words" ] && ! grep -q shutdown log && sleep 0.01
	done
	directory=$(echo tmp/headway-*)
	run recover -f -o recovered "$directory"
	expect_status 0 "recover ($words)"
	"$HEADWAY" info --all recovered.hwy >info
	[ "$(lanes)" = 5 ] || fail "recovered ($words): $(grep ^Lanes info)"
	[ -n "$words" ] || [ -n "$(property lost.power_cap_ns)" ] || fail "recovered: the watcher did not finish: $(cat info)"
	watcher=$(sed -n 's/^init //p' log)
	for _ in $(seq 300); do
		[ -e "/proc/$watcher" ] || break
		sleep 0.01
	done
	[ -e "/proc/$watcher" ] && [ "$(cat "/proc/$watcher/comm")" = hwy-watcher ] && fail "killed ($words): the watcher lives on"
	rm -rf "$directory"
done
finish
