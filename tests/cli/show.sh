#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# headway show: pictures of shipped recordings, what is chosen, and what is refused.
# shellcheck source=common.bash
source "$(dirname "$0")/common.bash"
here=$(dirname "$0")
export LC_ALL=C.UTF-8

# looks NAME WHAT ARGUMENTS…: the picture is golden/show/NAME.
looks() {
	local name=$1 what=$2
	shift 2
	run show "$@"
	expect_status 0 "$what"
	diff "$here/golden/show/$name" "$work/out" || fail "$what: the picture is another one"
	grep -q $'\033' "$work/out" && fail "$what: colours where there is no terminal"
	grep -qE ' +$' "$work/out" && fail "$what: spaces at the end of a line"
}

for name in power_base streams_pinned4 streams_pageable1 graphs_node two_processes; do
	unpack $name
	looks $name.txt "$name" "$work/$name.sqlite"
done
looks power_base_step.txt "--step-number, --ascii and --width" --step-number 30 --ascii --width 72 "$work/power_base.sqlite"
LC_ALL=C grep -q '[^ -~]' "$work/out" && fail "--ascii: $(cat "$work/out")"
LC_ALL=C run show --step-number 30 --width 72 "$work/power_base.sqlite"
cmp -s "$work/out" "$here/golden/show/power_base_step.txt" || fail "the C locale gets plain characters"
looks two_gpus.txt "a PyTorch trace with two GPUs" --from 0 --to 61us --width 80 "$DATA/breakdown/two_gpus.json"

# A report shows what its source shows.
run convert "$work/power_base.sqlite" -o "$work/power_base.hwy"
run show "$work/power_base.hwy"
diff <(tail -n +2 "$here/golden/show/power_base.txt") <(tail -n +2 "$work/out") || fail "the report gives another picture"

run show --width 60 "$work/power_base.sqlite"
while IFS= read -r line; do
	[ ${#line} -le 60 ] || fail "--width: '$line'"
done < <(sed -n '4,8p' "$work/out")

run show --step-number 1000 "$work/power_base.sqlite"
expect_refusal "a step that is not there" "has no step 1000"
run show --step-number 4 "$work/streams_pinned4.sqlite"
expect_refusal "a step that is not there, without marks" "its steps are 0 to 3"
run show --step-number 1 "$DATA/breakdown/two_gpus.json"
expect_refusal "nothing repeats" "has no step 1, only ProfilerStep#7: nothing repeats"
run show --step-number 0 "$DATA/breakdown/two_gpus.json"
expect_status 0 "the only step"
grep -q 'ProfilerStep#7, the only step$' "$work/out" || fail "the only step is said: $(head -n 1 "$work/out")"
run show --step ste "$DATA/nsys/mlp_sync.hwy"
expect_refusal "the begin of a name" "names that begin so: 'step_N'"
run analyze --step ste "$DATA/nsys/mlp_sync.hwy"
expect_refusal "the begin of a name" "names that begin so: 'step_N'"
run show --step step_N --width 80 "$DATA/nsys/mlp_sync.hwy"
expect_status 0 "a name as it is suggested"
run show --from 11s --to 11.5s "$DATA/nsys/mlp_sync.hwy"
expect_status 0 "a stretch in which nothing happens"
grep -q '^  nothing is launched, and no device works, there$' "$work/out" || fail "nothing happens there: $(cat "$work/out")"
grep -q '^  before: cudaStreamSynchronize.* ended at 5.868 s$' "$work/out" || fail "what was before: $(cat "$work/out")"
grep -q '^  after: .* begins at 12.17 s$' "$work/out" || fail "what comes after: $(cat "$work/out")"
run show --from 40s --to 41s "$DATA/nsys/mlp_sync.hwy"
grep -q '^  after:' "$work/out" && fail "nothing comes after the end: $(cat "$work/out")"
run show --from 5s --to 4s "$work/power_base.sqlite"
expect_status 2 "--from after --to"
run show --step-number 3 --from 5s "$work/power_base.sqlite"
expect_status 2 "--step-number and --from"
run show --width 10 "$work/power_base.sqlite"
expect_status 2 "too narrow"
run show
expect_status 2 "no file"
echo '[{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": 1, "dur": 2}]' >"$work/cpu.json"
run show "$work/cpu.json"
expect_status 0 "operators alone"
grep -q '^  CPU .*█  runs 100.0 %$' "$work/out" || fail "when a thread was in operators: $(cat "$work/out")"
# Threads without a row launch nothing where there is nothing to launch.
for thread in 1 2 3 4 5; do
	echo "{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 9, \"tid\": $thread, \"ts\": 1, \"dur\": 2}"
done | paste -sd, | sed 's/.*/[&]/' >"$work/threads.json"
run show "$work/threads.json"
grep -qx '  2 more threads (--threads)' "$work/out" || fail "threads that launch nothing: $(tail -1 "$work/out")"
run show --step-number 1 "$work/cpu.json"
expect_refusal "a step of a recording without device work" "so no steps"
echo '[{"ph": "C", "name": "memory", "pid": 9, "ts": 1, "args": {"bytes": 2}}]' >"$work/nothing.json"
run show "$work/nothing.json"
expect_refusal "nothing to show" "'headway info"
run show --from 0 --to 1ms "$work/cpu.json"
expect_status 0 "an empty stretch"
# Where nothing repeats, analyze names the time of what proves its first finding, and show draws that.
run analyze "$DATA/gpu/persistent_serve.hwy"
read -ra next < <(sed -n 's/.* next: headway \(show --from .*\)/\1/p' "$work/out")
[ "${#next[@]}" = 6 ] || fail "analyze leads elsewhere: $(tail -1 "$work/out")"
run "${next[@]}"
expect_status 0 "what analyze proposes"
grep -q '^  GPU 0 ' "$work/out" || fail "what analyze proposes draws no device: $(cat "$work/out")"
# ---- what is offered can be copied into a shell
cp "$DATA/gpu/mlp_sync.hwy" "$work/it's my file.hwy"
run analyze "$work/it's my file.hwy"
grep -qF "next: headway show '$work/it'\\''s my file.hwy'" "$work/out" || fail "the next command: $(tail -n 3 "$work/out")"

finish
