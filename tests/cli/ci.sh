#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The GitHub action and the GitLab template: the action and the workflows are what GitHub's own parser takes, and their scripts run here on an OpenCL
# device of the CPU, with a service on loopback that takes the comments. ci_lines.sh is about the scripts themselves.
source "$(dirname "$0")/common.bash"
root=$(cd "$(dirname "$0")/../.." && pwd)
modules=$root/build/github-actions
command -v node >/dev/null || { echo "SKIP: no node"; exit 77; }
[ "$(node -p 'parseInt(process.versions.node)')" -ge 20 ] || { echo "SKIP: the parser of actions needs node 20"; exit 77; }
[ -d "$modules/node_modules/@actions/workflow-parser" ] || { echo "SKIP: no parser in build/github-actions (scripts/setup test)"; exit 77; }
read_action() { node --no-warnings "$root/tests/ci/read_action.mjs" "$modules" "$@"; }

# ---- the files are what the services take
read_action check "$root/action.yml" "$root"/.github/workflows/*.yml || fail "not what GitHub takes"
mkdir -p "$work/bad"
sed 's/^      shell: bash$//' "$root/action.yml" >"$work/bad/action.yml"
read_action check "$work/bad/action.yml" >"$work/out" && fail "an action without a shell is taken"
grep -q 'Required property is missing: shell' "$work/out" || fail "what is wrong is not told: $(cat "$work/out")"
while read -r input; do
	grep -qF "| \`$input\`" "$root/docs/ci.md" || fail "docs/ci.md does not name the input $input"
done < <(sed -n '/^inputs:/,/^outputs:/s/^  \([a-z-]*\):$/\1/p' "$root/action.yml")

# ---- a comment that cannot be made decides nothing
uncommented() { # uncommented WHAT SAYS [NAME=VALUE…]
	(cd "$work" && env "${@:3}" "$root/recipes/ci/comment") >"$work/out" 2>"$work/err"
	status=$?
	expect_status 0 "$1"
	[ ! -s "$work/err" ] && [ "$(wc -l <"$work/out")" = 1 ] && grep -q "^comment: .*$2" "$work/out" || fail "$1: $(cat "$work/out" "$work/err")"
}
uncommented "no gate.md" "headway-ci/gate.md"
mkdir "$work/headway-ci"
echo "passes" >"$work/headway-ci/gate.md"
uncommented "no request" "nothing is written"
uncommented "no address of GitLab" "not written: KeyError" HEADWAY_GITLAB_TOKEN=token CI_MERGE_REQUEST_IID=7
for event in '[]' '{' '{"pull_request": {"number": "seven"}}' '{"pull_request": 7}'; do
	echo "$event" >"$work/event.json"
	uncommented "the event $event" "not written" GITHUB_TOKEN=token GITHUB_EVENT_PATH="$work/event.json" GITHUB_REPOSITORY=ann/app
done

# ---- a repository with the example
export POCL_CACHE_DIR=$work/pocl XDG_CACHE_HOME=$work/cache
mkdir -p "$work/bin" "$work/repository/build/examples" "$work/repository/perf" "$work/runner"
ln -s "$(realpath "$HEADWAY")" "$work/bin/headway"
PATH=$work/bin:$PATH
cd "$work/repository" || exit 2
make -s -C "$root/examples" BIN="$PWD/build/examples" "$PWD/build/examples/mlp_cl" >"$work/log" 2>&1
if ! build/examples/mlp_cl async 2 1 64 64 >/dev/null 2>&1; then
	echo "SKIP (in part): no OpenCL device, or built without its headers"
	exit $bad
fi
cp "$root"/recipes/ci/example/headway.toml perf
python3 "$root/tests/ci/service.py" "$work/runner" &
service=$!
trap 'kill $service; rm -rf "$work"' EXIT
for _ in $(seq 100); do [ -s "$work/runner/address" ] && break; sleep 0.05; done
address=$(cat "$work/runner/address")
own_comments() { # the bodies that begin with Headway's marker, one a line
	python3 -c 'import json, sys
for one in json.load(open(sys.argv[1])):
    if one["body"].startswith("<!-- headway"): print(json.dumps(one["body"]))' "$work/runner/comments.json"
}

# ---- GitHub
export RUNNER_TEMP=$work/runner GITHUB_API_URL=$address GITHUB_REPOSITORY=ann/app GITHUB_EVENT_PATH=$work/runner/event.json
echo '{"pull_request": {"number": 7}}' >"$GITHUB_EVENT_PATH"
action() { # action MODE [NAME=VALUE…]: the action on mlp_cl in this mode
	read_action steps "$root/action.yml" program="build/examples/mlp_cl $1 30 4 64 64" runs=1 trace=opencl baseline=perf/baseline.json \
		budget=perf/headway.toml metrics='launches_per_step kernels_per_step copies.bytes' "${@:2}" >"$work/steps"
	python3 "$root/tests/ci/run_steps.py" "$work/the action" "$work/runner" <"$work/steps" >"$work/out" 2>"$work/err"
	status=$?
}
folder=$work/runner/headway
ln -s "$root" "$work/the action" # as a runner in a folder with a space has it
action async
expect_status 1 "the action with a baseline that is not there: $(tail -n 3 -q "$work/out")"
grep -q 'gate: perf/baseline.json: no such file; HEADWAY_ALLOW_MISSING_BASELINE=true lets a first run pass' "$work/out" "$work/err" ||
	fail "it is not said that the baseline is not there: $(tail -n 5 -q "$work/out" "$work/err")"
[ -s "$folder/baseline.json" ] || fail "no baseline to commit: $(ls "$folder")"
action async allow-missing-baseline=true
expect_status 0 "the action without a baseline: $(tail -n 3 -q "$work/out")"
grep -q 'There is no `perf/baseline.json`. If this is the first run, commit' "$folder/gate.md" || fail "it is not said how to begin: $(cat "$folder/gate.md")"
[ -s "$folder/page.html" ] && [ -s "$folder/gate.xml" ] && [ -s "$folder/run1.hwy" ] || fail "the artifact has: $(ls "$folder")"
cp "$folder/baseline.json" perf/baseline.json
action async
expect_status 0 "the action against its own baseline: $(tail -n 3 -q "$work/out")"
grep -q '^passes=true$' "$work/runner/github_output" || fail "outputs: $(cat "$work/runner/github_output")"
grep -q 'What changed' "$work/runner/github_step_summary" || fail "no summary"
action sync
expect_status 1 "the waiting version"
grep -q '^passes=false$' "$work/runner/github_output" || fail "outputs: $(cat "$work/runner/github_output")"
[ "$(tail -1 "$work/out")" = "step verdict: status 1" ] || fail "it ends at: $(tail -1 "$work/out")"
[ "$(own_comments | wc -l)" = 1 ] || fail "comments after three runs: $(own_comments | wc -l)"
own_comments | grep -q 'd2h' || fail "the comment does not say what fails: $(own_comments | head -c 400)"
action async token=read-only
expect_status 0 "a token that may not comment"
grep -q 'comment: not written: HTTP Error 403' "$work/out" || fail "403 is not told: $(cat "$work/out")"
echo 'step.mean <= banana' >perf/broken.toml
action async budget=perf/broken.toml
[ "$(tail -1 "$work/out")" = "step verdict: status 1" ] || fail "a budget that cannot be read: $(tail -n 3 "$work/out")"
grep -q 'could not be checked' "$folder/gate.md" && grep -q '^    headway: .*banana' "$folder/gate.md" && [ ! -e "$folder/gate.xml" ] ||
	fail "what an earlier run found is left: $(cat "$folder/gate.md")"
action async comment=false name=other
[ -s "$work/runner/other/gate.md" ] || fail "another name"
read_action steps "$root/action.yml" program='exit 5' | python3 "$root/tests/ci/run_steps.py" "$root" "$work/runner" >"$work/out" 2>&1
[ "$(tail -1 "$work/out")" = "step verdict: status 1" ] && grep -q '::error::.*status 5' "$work/out" || fail "a benchmark that fails: $(tail -1 "$work/out")"
own_comments | grep -q 'run 1 of the benchmark ended with status 5' || fail "the comment is still that of an earlier run: $(own_comments | head -c 300)"
# The baseline of the repository's own workflow.
action async baseline="$root/recipes/ci/example/baseline.json"
expect_status 0 "the example's baseline: $(cat "$folder/gate.md" | head -c 600)"

# ---- GitLab
unset GITHUB_EVENT_PATH
read_action gitlab "$root/recipes/ci/gitlab.yml" >"$work/gitlab.json"
python3 - "$work/gitlab.json" >"$work/gitlab.sh" <<'PY'
import json, shlex, sys
job = json.load(open(sys.argv[1]))
given = {"HEADWAY_PROGRAM": "build/examples/mlp_cl sync 30 4 64 64", "HEADWAY_RUNS": "1", "HEADWAY_TRACE": "opencl",
         "HEADWAY_BUDGET": "perf/headway.toml"}
assert "HEADWAY_OUT" not in job["variables"], "GitLab shows no artifact whose path has a variable"
for name, value in {**job["variables"], **given}.items():
    if name != "HEADWAY_RECIPES":
        print(f"export {name}={shlex.quote(value)}")
print("\n".join(job["script"]))
PY
HEADWAY_OUT=elsewhere HEADWAY_RECIPES=$root/recipes HEADWAY_GITLAB_TOKEN=token CI_API_V4_URL=$address CI_PROJECT_ID=3 CI_MERGE_REQUEST_IID=7 \
	bash -eo pipefail "$work/gitlab.sh" >"$work/out" 2>"$work/err"
status=$?
expect_status 1 "the job of GitLab with the waiting version"
grep -q '^comment: changed' "$work/out" || fail "GitLab's comment: $(tail -n 3 -q "$work/out" "$work/err")"
read -r junit page < <(python3 -c 'import json, sys
kept = json.load(open(sys.argv[1]))["artifacts"]
print(kept["reports"]["junit"], kept["paths"][0] + "page.html")' "$work/gitlab.json")
[ -s "$junit" ] && [ -s "$page" ] || fail "GitLab's artifacts: '$junit' '$page' $(ls)"

# ---- the workflow for an installed package
mkdir -p "$work/workflow/.github/workflows"
sed -n '/^<!-- tests\/cli\/ci.sh reads this -->/,/^These lines/s/^    //p' "$root/docs/ci.md" >"$work/workflow/.github/workflows/performance.yml"
grep -q 'recipes/ci/gate' "$work/workflow/.github/workflows/performance.yml" || fail "docs/ci.md has no workflow for a package"
read_action check "$work/workflow/.github/workflows/performance.yml" || fail "the workflow of docs/ci.md is not what GitHub takes"

exit $bad
