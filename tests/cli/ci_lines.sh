#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# recipes/ci/record and gate by themselves, and the lines of docs/ci.md for any service: what fails is never taken for what passes, in any shell, and
# gate.md always says what holds now.
source "$(dirname "$0")/common.bash"
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$work/bin" "$work/repository/build/examples" "$work/repository/perf"
ln -s "$(realpath "$HEADWAY")" "$work/bin/headway"
PATH=$work/bin:$PATH
cd "$work/repository" || exit 2
ln -s "$root/recipes" recipes
do_script() { # do_script WHAT STATUS [NAME=VALUE…] -- WORDS…: runs a script, and looks at its status
	local what=$1 expected=$2 env=()
	shift 2
	while [ "$1" != -- ]; do env+=("$1") && shift; done
	env "${env[@]}" "${@:2}" >"$work/out" 2>"$work/err"
	status=$?
	expect_status "$expected" "$what"
}

# ---- how many runs: said before anything is deleted
mkdir headway-ci
for runs in abc 0 -1 1.5 '3 3' 99999; do
	echo earlier >headway-ci/run1.hwy
	do_script "HEADWAY_RUNS=$runs" 2 HEADWAY_RUNS="$runs" -- recipes/ci/record touch "$work/ran"
	grep -q '^record: HEADWAY_RUNS=.*a number from 1 to 9999$' "$work/err" && [ "$(wc -l <"$work/err")" = 1 ] || fail "HEADWAY_RUNS=$runs: $(cat "$work/err")"
	[ "$(cat headway-ci/run1.hwy)" = earlier ] && [ ! -e "$work/ran" ] || fail "HEADWAY_RUNS=$runs has deleted or run something"
done
rm -r headway-ci

# ---- no recordings, and recordings that cannot be read
do_script "no recordings" 2 HEADWAY_BUDGET=perf/headway.toml -- recipes/ci/gate
grep -q '^### headway gate ⚠️ could not be checked$' headway-ci/gate.md && grep -q '^    gate: no recordings in headway-ci' headway-ci/gate.md ||
	fail "no recordings: $(cat headway-ci/gate.md)"
echo "no recording" >headway-ci/run1.hwy
do_script "no recording" 2 HEADWAY_BUDGET=perf/headway.toml -- recipes/ci/gate
grep -q '^### headway gate ⚠️ could not be checked$' headway-ci/gate.md && grep -q '^    headway: headway-ci/run1.hwy' headway-ci/gate.md ||
	fail "no recording: $(cat headway-ci/gate.md)"
rm -r headway-ci

export POCL_CACHE_DIR=$work/pocl XDG_CACHE_HOME=$work/cache
make -s -C "$root/examples" BIN="$PWD/build/examples" "$PWD/build/examples/mlp_cl" >"$work/log" 2>&1
if ! build/examples/mlp_cl async 2 1 64 64 >/dev/null 2>&1; then
	echo "SKIP (in part): no OpenCL device, or built without its headers"
	exit $bad
fi
cp "$root"/recipes/ci/example/headway.toml perf
export HEADWAY_TRACE=opencl

# ---- nothing recorded: the step that records says so, and what would
do_script "a recording without device work" 2 HEADWAY_RUNS=1 HEADWAY_TRACE=nvtx -- recipes/ci/record build/examples/mlp_cl async 3 1 64 64
grep -q 'it was recorded with -t nvtx: .*-t opencl' "$work/err" || fail "what it was recorded with: $(cat "$work/err")"
grep -q '^record: .*needs HEADWAY_TRACE=opencl' "$work/err" || fail "what would record: $(cat "$work/err")"
do_script "a program without a device" 2 HEADWAY_RUNS=1 HEADWAY_TRACE=cuda,nvtx,opencl -- recipes/ci/record true
grep -q '^record: run 1 has no work' "$work/err" && ! grep -q 'needs HEADWAY_TRACE' "$work/err" || fail "a trace that has everything: $(cat "$work/err")"

# ---- a run that fails is no measurement, nor are those before it
cat >fails.sh <<'SH'
build/examples/mlp_cl async 30 4 64 64 >/dev/null
[ ! -e ran ] || kill -SEGV $$
touch ran
SH
do_script "the second run crashes" 139 HEADWAY_RUNS=3 -- recipes/ci/record bash fails.sh
[ "$(cd headway-ci && echo run*)" = 'run*' ] && [ -s headway-ci/failed.hwy ] || fail "after a run that failed there are: $(ls headway-ci)"
do_script "the gate after a run that failed" 2 HEADWAY_BUDGET=perf/headway.toml -- recipes/ci/gate
grep -q '^    record: run 2 of the benchmark ended with status 139' headway-ci/gate.md || fail "why it was not checked: $(cat headway-ci/gate.md)"

# ---- any shell: the lines of docs/ci.md
sed -n '/^<!-- tests\/cli\/ci_lines.sh runs this -->/,/^```$/p' "$root/docs/ci.md" | sed '1,2d;$d' >"$work/lines.sh"
grep -q recipes/ci/gate "$work/lines.sh" || fail "docs/ci.md has no lines for a shell"
lines() { # lines WHAT STATUS: the lines in a shell that ends at errors and in one that does not
	local shell
	for shell in "bash" "bash -e"; do
		# shellcheck disable=SC2086
		do_script "the lines of docs/ci.md by $shell: $1" "$2" -- $shell "$work/lines.sh"
		tail -n 1 "$work/out" | grep -q '^comment: ' || fail "$shell: $1: the comment is not the last that runs: $(tail -n 3 "$work/out")"
	done
}
lines "no baseline yet" 2
grep -q '^### headway gate ⚠️ could not be checked: there is no `perf/baseline.json`$' headway-ci/gate.md || fail "the heading: $(head -n 3 headway-ci/gate.md)"
grep -q '^The budget alone: passes' headway-ci/gate.md || fail "what the budget says: $(head -n 5 headway-ci/gate.md)"
cp headway-ci/baseline.json perf
lines "nothing has changed" 0
[ -s headway-ci/page.html ] && [ -s headway-ci/gate.xml ] || fail "the lines of docs/ci.md left: $(ls headway-ci)"
sed -i 's/mlp_cl async/mlp_cl sync/' "$work/lines.sh"
lines "the waiting version" 1
sed -i 's/^recipes.ci.record build.*64 /recipes\/ci\/record bash fails.sh /' "$work/lines.sh"
lines "a program that crashes" 2
[ ! -e headway-ci/run1.hwy ] && grep -q 'ended with status 139' headway-ci/gate.md || fail "a program that crashes: $(cat headway-ci/gate.md)"

# ---- what cannot be checked is said in gate.md, and what an earlier run found is gone
do_script "recorded" 0 HEADWAY_RUNS=1 -- recipes/ci/record build/examples/mlp_cl async 30 4 64 64
cannot() { # cannot WHAT SAYS NAME=VALUE…
	do_script "passes" 0 HEADWAY_BASELINE=perf/baseline.json HEADWAY_METRICS=copies.bytes -- recipes/ci/gate
	do_script "$1" 2 HEADWAY_BASELINE=perf/baseline.json "${@:3}" -- recipes/ci/gate
	[ "$(head -n 1 headway-ci/gate.md)" = '### headway gate ⚠️ could not be checked' ] && grep -q "^    headway.*: .*$2" headway-ci/gate.md ||
		fail "$1: $(cat headway-ci/gate.md)"
	[ ! -e headway-ci/gate.xml ] || fail "$1: a gate.xml of an earlier run"
}
cannot "a wrong metric" "setp.p50" HEADWAY_METRICS=setp.p50
cannot "a bad option" "banana" HEADWAY_MAX_REGRESSION=banana
cannot "no budget file" "perf/nothing.toml" HEADWAY_BUDGET=perf/nothing.toml
do_script "nothing to compare with" 0 -- recipes/ci/gate
grep -q '^Headway recorded 1 run; ' headway-ci/gate.md || fail "the number of runs: $(cat headway-ci/gate.md)"
exit $bad
