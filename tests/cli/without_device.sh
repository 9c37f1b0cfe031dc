#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A recording without device work says what it holds: stats, show and analyze of a program on the CPU alone.
# shellcheck source=common.bash
source "$(dirname "$0")/common.bash"
export LC_ALL=C.UTF-8

run profile -t osrt -o "$work/sleep.hwy" sleep 0.05
expect_status 0 "recording calls into the operating system"

run stats "$work/sleep.hwy"
expect_status 0 "stats"
grep -q '^System calls  osrt_sum' "$work/out" || fail "stats without -r leaves out the only table that has rows: $(cat "$work/out")"
grep -q 'nothing to tell' "$work/err" && fail "stats says that there is nothing to tell"

run show "$work/sleep.hwy"
expect_status 0 "show"
grep -q '^  CPU  *[^ ]*─' "$work/out" || fail "show draws no wait in the OS: $(cat "$work/out")"

run analyze "$work/sleep.hwy"
expect_status 0 "analyze"
grep -q '^   System calls   .*nanosleep' "$work/out" || fail "analyze does not say what was recorded: $(cat "$work/out")"
grep -q 'next: headway stats ' "$work/out" || fail "analyze names no command: $(cat "$work/out")"
# What a line names is ranges and operators, not their sort; and what the shares are of.
if [ -x "${COLLECT:-}/nvtx_target" ]; then
	run profile -q -t nvtx -o "$work/ranges.hwy" "$COLLECT/nvtx_target"
	run analyze "$work/ranges.hwy"
	tr -s ' \n' ' ' <"$work/out" >"$work/flat"
	grep -q 'NVTX ranges [^%]*outer [0-9.]* % ([0-9.]* [nµm]*s).* more (% of the sum of all their times)' "$work/flat" ||
		fail "ranges without their names: $(cat "$work/out")"
	grep -q PushPop "$work/out" && fail "the sort of a range stands for its name"
fi
printf '{"traceEvents":[%s,%s]}' \
	'{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":0,"dur":30}' \
	'{"ph":"X","cat":"cpu_op","name":"aten::relu","pid":1,"tid":1,"ts":40,"dur":10}' >"$work/ops.json"
run analyze "$work/ops.json"
tr -s ' \n' ' ' <"$work/out" | grep -qF 'Operators aten::mm 75.0 % (30.0 µs), aten::relu 25.0 % (10.0 µs) (% of the CPU time of all operators)' ||
	fail "operators without shares: $(cat "$work/out" "$work/err")"
run analyze --format brief "$work/sleep.hwy"
grep -q '^Next: headway stats ' "$work/out" || fail "the brief names no command: $(cat "$work/out")"

# Lines of the program, what its thread did, and Python's collections, which are no ranges of the program.
if command -v python3 >/dev/null; then
	cat >"$work/busy.py" <<-'END'
		import gc
		def spin(n):
		    total = 0
		    for i in range(n):
		        total += i * i % 7
		    return total
		for turn in range(3):
		    spin(400000)
		    gc.collect()
	END
	run profile -q -t nvtx,python,osrt -s process-tree -o "$work/busy.hwy" python3 "$work/busy.py"
	run analyze "$work/busy.hwy"
	expect_status 0 "analyze of a program in Python"
	tr -s ' \n' ' ' <"$work/out" >"$work/flat"
	grep -q 'Headway judges programs that drive a device' "$work/flat" || fail "what Headway judges is not said: $(cat "$work/out")"
	grep -q 'gc generation' "$work/flat" && fail "a collection of Python is called a range: $(cat "$work/out")"
	if "$HEADWAY" stats -r nvtx_sum "$work/busy.hwy" 2>&1 | grep -q 'gc generation'; then
		grep -q 'Python collected garbage [0-9]* times*, ' "$work/flat" || fail "collections are not told: $(cat "$work/out")"
	fi
	if "$HEADWAY" sql "$work/busy.hwy" -f hot-functions 2>/dev/null | grep -q 'spin.*busy.py'; then
		grep -q 'Hottest lines .*busy.py:[45] spin() ' "$work/flat" || fail "no line of the program: $(cat "$work/out")"
		grep -q 'next: headway sql .*busy.hwy -f hot-functions' "$work/flat" || fail "samples do not lead to hot-functions: $(cat "$work/out")"
	fi
	if "$HEADWAY" stats -r thread_state_sum "$work/busy.hwy" 2>/dev/null | grep -q running; then
		grep -q 'Busiest thread python3 [0-9]*: running [0-9.]* % (' "$work/flat" || fail "what the thread did is not told: $(cat "$work/out")"
	fi
	run diff "$work/busy.hwy" "$work/busy.hwy"
	grep -q 'of one on the CPU alone headway analyze says' "$work/err" || fail "diff gives advice that does not fit: $(cat "$work/err")"
fi

# A recording in which nothing happened leads to the command that would have recorded something: without a driver of NVIDIA
# that is the one that `headway` alone and `headway doctor` name, else one that asks for more than CUDA.
again='profile -t opencl,osrt -s process-tree'
[ -e /proc/driver/nvidia/version ] || again=profile
run profile -q -t nvtx -o "$work/nothing.hwy" sh -c 'exit 0'
for command in analyze stats show; do
	run $command "$work/nothing.hwy"
	cat "$work/out" "$work/err" >"$work/said"
	grep -q "headway $again sh " "$work/said" ||
		fail "$command of an empty recording is a dead end: $(cat "$work/said")"
done

# Of several recordings without device work the one that holds most is shown.
run analyze "$work/nothing.hwy" "$work/sleep.hwy"
expect_status 0 "two recordings without device work"
grep -q 'all without device work; this is .*sleep.hwy' "$work/out" && grep -q '^   System calls ' "$work/out" ||
	fail "the recording with nothing in it is shown: $(cat "$work/out")"

# The first command of a newcomer records something wherever it runs.
if [ ! -e /proc/driver/nvidia/version ]; then
	(
		unset HEADWAY_CUPTI
		run profile -o "$work/first.hwy" sh -c 'sleep 0.05; sleep 0.05'
		expect_status 0 "profile without options"
		grep -q ' 0 spans' "$work/err" && fail "the first recording is empty: $(cat "$work/err")"
		run sql --format csv "$work/first.hwy" "select value from properties where name = 'capture.traces'"
		[ "$(tail -1 "$work/out")" = '"cuda,nvtx,opencl,osrt,pytorch,python"' ] || [ "$(tail -1 "$work/out")" = 'cuda,nvtx,opencl,osrt,pytorch,python' ] ||
			fail "what is recorded without a driver: $(cat "$work/out")"
		[ $bad = 0 ]
	) || bad=1
	run
	grep -q ' headway profile PROGRAM ' "$work/out" || fail "headway alone names another command: $(cat "$work/out")"
	run doctor
	grep -qx 'next: headway profile PROGRAM' "$work/out" || fail "doctor names another command: $(tail -1 "$work/out")"
fi
finish
