#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What recording costs: measured after the program's end, once; its absence is a note in the report. A mock
# libcupti makes the program's CUDA work, a mock libcuda is the helper's GPU.
source "$(dirname "$0")/common.bash"
: "${COLLECT:?the folder of test programs}"

"$COLLECT/abi_cuda"
status=$?
[ $status = 77 ] || expect_status 0 "declarations of CUDA"

cd "$work" || exit 1
export TMPDIR=$work/tmp XDG_CACHE_HOME=$work/cache HEADWAY_LIB=$COLLECT_LIBRARY
mkdir tmp
mock=$DATA/../mock/data
export HEADWAY_CUPTI=$COLLECT/mock/libcupti.so.13 MOCK_CUPTI_NAMES=$mock/callbacks.txt
export MOCK_CUPTI_DATA=$mock/mix_graph.cupti

# profile ARGS…: of the program that makes up CUDA work.
profile() {
	run profile -f true -o r "$@" "$COLLECT/cuda_target" replay
	expect_status 3 "profile $*"
	[ -z "$(ls -A tmp)" ] || fail "profile $*: left $(ls -A tmp)"
}
notes() { # of the report
	"$HEADWAY" info --all r.hwy | grep -A9 ^Messages | grep -c "what recording costs was not measured: .*$1"
}
files() { # with something in them: a lock may be left empty
	find "$XDG_CACHE_HOME" -type f -size +0 2>/dev/null | wc -l
}

# ---- no driver
run calibrate-helper GPU-1
expect_status 2 "the helper without a driver"
grep -q "^failed: there is no CUDA driver: " out || fail "the helper says: $(cat out)"
[ ! -s err ] || fail "the helper says on stderr: $(cat err)"
run --help
grep -q calibrate out && fail "the helper is in the help"
profile
[ "$(notes 'there is no CUDA driver')" = 1 ] || fail "no driver: no note: $("$HEADWAY" info --all r.hwy)"
[ "$(grep -c "^headway: " err)" = 1 ] || fail "no driver: not one line of its own: $(cat err)"
[ "$(files)" = 0 ] || fail "no driver: something was cached"
"$HEADWAY" info r.hwy | grep -q ^Calibrated && fail "no driver, but calibrated"

# ---- a driver
export LD_LIBRARY_PATH=$COLLECT/mock/driver
ldd "$HEADWAY" | grep -q libcuda && fail "headway is linked with libcuda"
export CUDA_VISIBLE_DEVICES=7 # of the user; the helper is given the GPU that was used
profile --no-calibration
[ "$(files)" = 0 ] || fail "--no-calibration: something was cached"
"$HEADWAY" info --all r.hwy | grep -q "what recording costs" && fail "--no-calibration: a note"
MOCK_CUDA=absent profile
[ "$(notes 'there is no GPU GPU-')" = 1 ] || fail "no GPU: $("$HEADWAY" info --all r.hwy)"
MOCK_CUDA=fail profile
[ "$(notes 'CUDA_ERROR_LAUNCH_FAILED (719)')" = 1 ] || fail "failing launches: $("$HEADWAY" info --all r.hwy)"
[ "$(files)" = 0 ] || fail "failures were cached"

# A program without CUDA: the helper is not started.
run profile -f true -o none true
expect_status 0 "no CUDA"
grep -q measuring err && fail "measured for a program without CUDA"
"$HEADWAY" info --all none.hwy | grep -q "what recording costs" && fail "tried for a program without CUDA"

# A preloaded library cannot come before a sanitizer: the helper would not start.
[ -n "${HEADWAY_SANITIZED:-}" ] && finish
profile
grep -q "^headway: measuring what recording costs" err || fail "the first time is not told: $(cat err)"
[ "$(files)" = 1 ] || fail "$(files) files in the cache"
"$HEADWAY" info r.hwy | grep -qE "^Calibrated   a recorded launch costs [0-9.]+ (ns|µs) more, a wait [0-9.]+ (ns|µs), a range [0-9.]+ (ns|µs)" ||
	fail "info: $("$HEADWAY" info r.hwy)"
"$HEADWAY" info --format json r.hwy >first.json
grep -A4 '"machine.queue_depth"' first.json | grep -q '"value": 1022' || fail "queue depth: $(grep -A4 queue first.json)"
for name in cost.launch cost.sync cost.range cost.graph_launch cost.graph_node machine.launch \
	machine.copy_{h2d,d2h}_{pinned,pageable}_{latency,bandwidth}; do
	grep -q "\"name\": \"$name\"" first.json || fail "$name is missing"
done
# A push and a pop are recorded through the real collector: they cost something.
[ "$(grep -A1 '"cost.range"' first.json | grep -o '[0-9]*')" -gt 5 ] || fail "a range costs nothing"

profile
grep -q measuring err && fail "measured again"
"$HEADWAY" info --format json r.hwy >second.json
[ "$(sed -n '/"calibration"/,/\]/p' first.json)" = "$(sed -n '/"calibration"/,/\]/p' second.json)" ] ||
	fail "the cached values are others"
"$HEADWAY" convert -f -o again.hwy r.hwy >/dev/null
[ "$("$HEADWAY" info r.hwy | grep ^Calib)" = "$("$HEADWAY" info again.hwy | grep ^Calib)" ] || fail "convert loses it"

echo garbled >"$(find "$XDG_CACHE_HOME" -type f)"
profile -q
[ -s err ] && fail "-q is quiet: $(cat err)"
[ "$(files)" = 1 ] && [ "$(grep -c '' "$(find "$XDG_CACHE_HOME" -type f)")" -gt 20 ] || fail "a garbled file is kept"
profile --cuda-graph-trace=node
[ "$(files)" = 2 ] || fail "graph modes share a calibration"

# Several programs that end at once: one measures, the others wait for it.
rm -rf "$XDG_CACHE_HOME"
for i in 1 2 3 4; do
	"$HEADWAY" profile -f true -o "at-once-$i" "$COLLECT/cuda_target" replay >/dev/null 2>"err-$i" &
done
wait
[ "$(cat err-? | grep -c "measuring what")" = 1 ] || fail "measured at once: $(cat err-?)"
[ "$(cat err-? | grep -c "waiting for another")" = 3 ] || fail "not told that they wait: $(cat err-?)"
[ "$(for i in 1 2 3 4; do "$HEADWAY" info at-once-$i.hwy | grep ^Calibrated; done | uniq -c | awk '{print $1}')" = 4 ] ||
	fail "ended at once, not calibrated alike: $("$HEADWAY" info at-once-4.hwy)"
[ "$(files)" = 1 ] || fail "ended at once: $(files) files in the cache"

# One that waits and is interrupted: its report is written, and the next one waits, too.
rm -rf "$XDG_CACHE_HOME" err-?
until_says() { # FILE TEXT
	local try
	for ((try = 0; try < 100; try++)); do
		grep -qs "$2" "$1" && return
		sleep 0.1
	done
	fail "$1 never says '$2': $(cat "$1")"
}
pids=()
for i in 1 2 3; do
	MOCK_CUDA=hang "$HEADWAY" profile -f true -o "in-turn-$i" "$COLLECT/cuda_target" replay >/dev/null 2>"err-$i" &
	pids+=($!)
	until_says err-$i "$([ $i = 1 ] && echo measuring what || echo waiting for another)"
	[ $i = 2 ] && kill -TERM ${pids[1]} && wait ${pids[1]}
done
kill -TERM ${pids[2]} ${pids[0]}
wait
for i in 1 2 3; do
	"$HEADWAY" info --all in-turn-$i.hwy | grep -q "what recording costs was not measured: interrupted" ||
		fail "in turn, interrupted: $("$HEADWAY" info --all in-turn-$i.hwy)"
done

# An impatient user: the report is written all the same.
rm -rf "$XDG_CACHE_HOME" err
MOCK_CUDA=hang "$HEADWAY" profile -f true -o r "$COLLECT/cuda_target" replay >out 2>err &
pid=$!
until_says err measuring
kill -TERM $pid
wait $pid
status=$?
expect_status 3 "interrupted"
[ "$(notes interrupted)" = 1 ] || fail "interrupted: $("$HEADWAY" info --all r.hwy)"
[ "$(files)" = 0 ] || fail "interrupted, but cached"
finish
