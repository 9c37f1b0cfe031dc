#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# headway gate and baseline: rules and baselines pass or fail, every format, refusals, and the script of docs/ci.md.
# shellcheck source=common.bash
source "$(dirname "$0")/common.bash"
type python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
export LC_ALL=C.UTF-8
root=$(cd "$(dirname "$0")/../.." && pwd)
unpack streams_pageable1
unpack streams_pinned4
unpack power_base
a=$work/streams_pageable1.sqlite b=$work/streams_pinned4.sqlite

# ---- budgets
cat >"$work/good.toml" <<-'END'
	# what pinned memory and four streams give
	step.p50 <= 12ms
	gpu.busy >= 90%
	copies.pageable_bytes == 0
	findings.forbid = ["pageable-copy", "copy-serial"]
	lost_records == 0
END
run gate --budget "$work/good.toml" "$b"
expect_status 0 "a budget that holds"
grep -q 'passes: 6 of 6 checks hold' "$work/out" || fail "good: $(tail -1 "$work/out")"
grep -Eq 'gpu.busy +99.4 % +>= 90.0 % +pass +stable' "$work/out" || fail "a rule's line: $(grep busy "$work/out")"
run gate --budget "$work/good.toml" "$a"
expect_status 1 "a budget that does not hold"
for line in 'step.p50 .*fail' 'copies.pageable_bytes .*fail' 'pageable-copy .*forbidden .*fail' 'gpu.busy .*pass'; do
	grep -Eq "$line" "$work/out" || fail "no '$line'"
done
run gate --budget "$work/good.toml" --format json "$a"
python3 - "$work/out" <<-'END' || fail "json"
	import json, sys
	r = json.load(open(sys.argv[1]))
	verdicts = {c["metric"]: c["verdict"] for c in r["checks"]}
	assert not r["passes"] and verdicts["gpu.busy"] == "pass" and verdicts["pageable-copy"] == "fail", verdicts
	assert all(c["stable"] == (not c["metric"].startswith("step")) for c in r["checks"])
END
run gate --budget "$work/good.toml" --junit "$work/gate.xml" --summary "$work/summary.md" "$a"
python3 - "$work/gate.xml" <<-'END' || fail "junit"
	import sys, xml.etree.ElementTree as tree
	suite = tree.parse(sys.argv[1]).getroot().find("testsuite")
	assert suite.get("tests") == "6" == str(len(suite.findall("testcase"))), suite.attrib
	assert suite.get("failures") == str(len(suite.findall("testcase/failure"))) == "3", suite.attrib
END
grep -q '| copies.pageable\\_bytes | 537 MB | == 0 bytes | ❌ fail' "$work/summary.md" || fail "summary: $(cat "$work/summary.md")"

# ---- baselines
run baseline -o "$work/b.json" "$b"
run gate --baseline "$work/b.json" "$b"
expect_status 0 "against itself"
run gate --baseline "$work/b.json" --max-regression 3% "$a"
expect_status 1 "ten times slower"
grep -q 'a step is slower: exposed copies' "$work/out" || fail "no cause: $(cat "$work/out")"
run gate --baseline "$work/b.json" --format markdown "$a"
grep -q '^- ⚠️ command: streams pinned 4 → streams pageable 1$' "$work/out" || fail "markdown: $(head -5 "$work/out")"
run gate --baseline "$work/b.json" --max-regression 2000% "$a"
expect_status 0 "ten times slower within the limit"
run gate --baseline "$work/b.json" --metric copies.pageable_bytes --metric copies_per_step "$a"
expect_status 1 "bytes that were not there before"
grep -q '^| finding .*| where |' <("$HEADWAY" diff --format markdown "$b" "$a") || fail "diff: no place of findings"
# What is compared where nobody says it: the median, and the counts that the baseline has.
run gate --baseline "$work/b.json" --format json "$b"
python3 - "$work/out" <<-'END' || fail "default metrics"
	import json, sys
	names = [c["metric"] for c in json.load(open(sys.argv[1]))["checks"]]
	assert names == ["step.p50", "syncs_per_step", "copies.bytes"], names
END
# A mean that went the other way than what is gated explains nothing; a new finding has its line in the headline.
python3 - "$work/b.json" "$work" <<-'END' || fail "no baselines could be made"
	import copy, json, sys
	whole = json.load(open(sys.argv[1]))
	def made(name, steps, finding=None, runs=1):
	    new = copy.deepcopy(whole)
	    run = new["runs"][0]
	    phase = run["phases"][0]
	    run["phases"] = [phase]
	    phase["steps_ns"], phase["group"], phase["steady_steps"] = steps, 1, phase.get("steady_steps")
	    mean, old = sum(steps) // len(steps), phase["step_ns"]["mean"]
	    parts = phase["parts_ns"]
	    first = max(parts, key=parts.get)
	    parts[first] += mean - old
	    assert parts[first] >= 0
	    ordered = sorted(steps)
	    at = lambda q: ordered[int(q * (len(ordered) - 1))]
	    phase["step_ns"].update(mean=mean, p10=at(.1), p50=at(.5), p90=at(.9), p99=at(.99), max=ordered[-1])
	    if finding:
	        phase["findings"].append(finding)
	    new["runs"] = [run] * runs
	    json.dump(new, open(f"{sys.argv[2]}/{name}.json", "w"), indent=1)
	ms = 1000000
	made("hiccup", [300 * ms if i % 20 == 7 else 10 * ms + i for i in range(60)], runs=3)
	made("slower", [15 * ms + i for i in range(60)], runs=3)
	noisy = [(10 + 6 * (i // 4 % 2)) * ms for i in range(60)]
	made("noisy", noisy)
	made("slow", [5 * v for v in noisy])
	made("noisier", [int(1.2 * v) for v in noisy],
	     {"id": "sync-in-loop", "title": "t", "place": "train.py:41", "cost_ns": 5, "share": 0.1, "inside": False})
END
run gate --baseline "$work/hiccup.json" "$work/slower.json"
expect_status 1 "a slower median behind a mean that is faster"
grep -q 'step.p50 .*fail' "$work/out" || fail "the median: $(cat "$work/out")"
grep -q 'a step is faster' "$work/out" && fail "explained by what went the other way: $(cat "$work/out")"
run diff "$work/hiccup.json" "$work/slower.json"
expect_status 0 "a mean against the median"
grep -q '^   unknown ' "$work/out" || fail "a mean against the median: $(head -5 "$work/out")"
grep -q 'but the middle half of the steps by +50 %: a few long steps decide the mean' "$work/out" || fail "why: $(head -8 "$work/out")"
run gate --baseline "$work/noisy.json" --format markdown "$work/noisier.json"
expect_status 0 "what cannot be told"
head -1 "$work/out" | grep -q '^### headway gate ⚠️ cannot tell: 2 of 3 checks hold, 1 cannot be told .*; new: sync-in-loop at train.py:41$' ||
	fail "headline: $(head -1 "$work/out")"
run gate --baseline "$work/noisy.json" "$work/slow.json"
expect_status 1 "five times as slow, above the noise"
grep -q 'step.p50 .*fail' "$work/out" || fail "the median of noisy runs: $(cat "$work/out")"
run gate --strict --baseline "$work/noisy.json" "$work/noisier.json"
expect_status 1 "what cannot be told, --strict"
grep -q 'fails: 2 of 3 checks hold' "$work/out" || fail "--strict: $(tail -1 "$work/out")"
run gate --baseline "$a" --metric step.p90 --metric gpu.exposed_copy "$b"
expect_status 0 "better is no regression"

# ---- a run whose step cannot be told, as records are missing, is no regression; counts that rose are
python3 - "$work" <<-'END' || fail "no baselines could be made"
	import copy, json, sys
	whole = json.load(open(f"{sys.argv[1]}/slower.json"))
	for name, cause, times in (("missing", "idle_missing", 1.2), ("unknown", "idle_unknown", 1.2)):
	    new = copy.deepcopy(whole)
	    for run in new["runs"]:
	        phase = run["phases"][0]
	        phase["steps_ns"] = [int(times * v) for v in phase["steps_ns"]]
	        step = phase["step_ns"] = {k: int(times * v) for k, v in phase["step_ns"].items()}
	        phase["parts_ns"] = {k: 0 for k in phase["parts_ns"]} | {"compute": step["mean"] // 2, cause: step["mean"] - step["mean"] // 2}
	        phase["counts"]["waits"] = phase["counts"].get("waits", 0) + 10 * phase["steady_steps"]
	    json.dump(new, open(f"{sys.argv[1]}/{name}.json", "w"), indent=1)
END
run gate --baseline "$work/slower.json" --metric step.p50 --metric gpu.busy "$work/missing.json"
expect_status 0 "a step that cannot be told"
grep -q 'step.p50: records of the device are missing in .*missing.json, so that its step cannot be told' "$work/out" || fail "missing: $(cat "$work/out")"
grep -q 'cannot tell: 0 of 2 checks hold, 2 cannot be told' "$work/out" || fail "missing: $(tail -1 "$work/out")"
run gate --baseline "$work/slower.json" --metric step.p50 "$work/unknown.json"
expect_status 1 "idle time without a cause is time"
run gate --baseline "$work/slower.json" --metric syncs_per_step --metric idle.missing "$work/missing.json"
expect_status 1 "counts that rose, and missing records that somebody gates"
grep -q 'fails: 0 of 2' "$work/out" || fail "missing: $(cat "$work/out")"

# ---- the wait that a change added is named with its line, also where others have moved
python3 - "$work" <<-'END' || fail "no baselines could be made"
	import copy, json, sys
	whole = json.load(open(f"{sys.argv[1]}/slower.json"))
	def made(name, waits):
	    new = copy.deepcopy(whole)
	    for run in new["runs"]:
	        phase = run["phases"][0]
	        phase["waits"] = [{"call": call, "place": place, "count": each * phase["steady_steps"]} for call, place, each in waits]
	        phase["counts"]["waits"] = sum(wait["count"] for wait in phase["waits"])
	        if not any(place for _, place, _ in waits):
	            del phase["waits"]
	    json.dump(new, open(f"{sys.argv[1]}/{name}.json", "w"), indent=1)
	made("one", [("clFinish", "a.c:41", 1), ("clWaitForEvents", "a.c:50", 1)])
	made("two", [("clFinish", "a.c:44", 1), ("clFinish", "a.c:76", 1), ("clWaitForEvents", "a.c:53", 1)])
	made("other", [("clFinish", "a.c:41", 1), ("clWaitForEvents", "a.c:50", 1), ("clWaitForEvents", "b.c:7", 2)])
	made("often", [("clFinish", "a.c:41", 1), ("clWaitForEvents", "a.c:50", 5)])
	made("old", [("clFinish", "", 1)])
END
named() { # named BEFORE AFTER SAYS: the check that fails says so, and so does diff
	run gate --baseline "$work/$1.json" --metric syncs_per_step "$work/$2.json"
	expect_status 1 "$1, $2"
	grep -qF "syncs_per_step: $3" "$work/out" || fail "$1, $2: no '$3' in $(cat "$work/out")"
	run diff "$work/$1.json" "$work/$2.json"
	grep -qF "$3" "$work/out" || fail "diff $1 $2: no '$3' in $(cat "$work/out")"
}
named one two "new wait: clFinish at a.c:76"
named one other "new wait: clWaitForEvents at b.c:7"
named one often "more waits: clWaitForEvents at a.c:50; 1 → 5 a step of this call"
run gate --baseline "$work/one.json" --metric syncs_per_step --format markdown "$work/two.json"
grep -q 'fail: new wait: clFinish at a.c:76 |' "$work/out" || fail "markdown: $(cat "$work/out")"
grep -q '^Verdict: gpu: the device works nearly all of a step.$' "$work/out" || fail "what the verdict means: $(cat "$work/out")"
run gate --baseline "$work/old.json" --metric syncs_per_step "$work/two.json"
expect_status 1 "a baseline of an older version"
grep -q 'new wait' "$work/out" && fail "a baseline without lines: $(cat "$work/out")"
run diff --format json "$work/two.json" "$work/one.json"
grep -q '"new_wait": ""' "$work/out" || fail "a wait that is gone is none that came"

# ---- what is no baseline says so
mkdir "$work/perf files"
cp "$work/one.json" "$work/perf files/baseline.json"
run gate --baseline "$work/perf files" "$work/two.json"
expect_refusal "a folder" "a folder without recordings; the baseline in it is '$work/perf files/baseline.json'"
(echo '<<<<<<< HEAD'; cat "$work/one.json") >"$work/conflict.json"
run gate --baseline "$work/conflict.json" "$work/two.json"
expect_refusal "a conflict at the beginning" "no baseline: it has conflict markers of git"
sed '9i<<<<<<< HEAD' "$work/one.json" >"$work/conflict.json"
run diff "$work/conflict.json" "$work/two.json"
expect_refusal "a conflict" "no baseline: it has conflict markers of git"
echo hello >"$work/text.json"
run gate --baseline "$work/text.json" "$work/two.json"
expect_refusal "a text" "diff and gate also read baselines"
run gate --baseline "$work/one.json" --max-regression 1000% "$work/two.json"
grep -q ' 1000 % more ' "$work/out" || fail "a large limit: $(cat "$work/out")"

# ---- several runs: more of them hide nothing, gate and diff agree, and a baseline says what it is worth
python3 - "$work/b.json" "$work" <<-'END' || fail "no runs could be made"
	import copy, json, sys
	whole = json.load(open(sys.argv[1]))
	def made(name, all_ms):
	    new = {"headway_baseline": 1, "runs": []}
	    for ms in all_ms:
	        run = copy.deepcopy(whole["runs"][0])
	        phase = run["phases"][0]
	        run["phases"] = [phase]
	        steps = [int(ms * 1000000) + i for i in range(60)]
	        mean = sum(steps) // len(steps)
	        phase["parts_ns"] = {k: 0 for k in phase["parts_ns"]} | {"compute": mean}
	        phase["steps_ns"], phase["group"] = steps, 1
	        phase["step_ns"].update({k: mean for k in phase["step_ns"]})
	        new["runs"].append(run)
	    json.dump(new, open(f"{sys.argv[2]}/{name}.json", "w"), indent=1)
	made("wide", [4.2, 11.1, 5.6])
	made("close", [3.11, 3.08, 3.16])
	made("tenfold", [100, 58, 51])
	made("fourfold", [8.9, 15.95, 9.94])
END
for pair in "wide tenfold" "close fourfold"; do
	read -r before after <<<"$pair"
	run gate --baseline "$work/$before.json" "$work/$after.json"
	expect_status 1 "gate: $pair"
	grep -q 'step.p50 .*fail' "$work/out" || fail "gate: $pair: $(cat "$work/out")"
	run diff "$work/$before.json" "$work/$after.json"
	expect_status 1 "diff: $pair"
done
run baseline -o "$work/again.json" "$work/close.json"
grep -qx "headway: $work/again.json: 3 runs of streams, a step takes 3.08 ms … 3.16 ms" "$work/err" || fail "baseline says: $(cat "$work/err")"
run baseline -o "$work/again.json" -f "$work/wide.json"
grep -q 'the runs differ by a factor of 2.6: .* --metric launches_per_step .*--metric copies.bytes$' "$work/err" ||
	fail "a baseline of runs that differ: $(cat "$work/err")"
run baseline "$work/close.json"
[ ! -s "$work/err" ] || fail "a baseline on standard output says: $(cat "$work/err")"
run gate --baseline "$work/close.json" --format markdown "$work/fourfold.json"
grep -qxF '| check | value | limit | verdict | stable |' "$work/out" || fail "markdown: $(head -4 "$work/out")"

# ---- refusals: one line, exit status 2
# refuse WHAT TEXT LINE…: a budget of these lines is refused with TEXT.
refuse() {
	local what=$1 text=$2
	shift 2
	printf '%s\n' "$@" >"$work/bad.toml"
	run gate --budget "$work/bad.toml" "$b"
	expect_refusal "$what" "$text"
}
refuse "an unknown metric" "bad.toml:2: there is no metric 'gpu.bussy'; did you mean 'gpu.busy'?" "" "gpu.bussy >= 1%"
refuse "an unknown finding" "did you mean 'sync-in-loop'?" 'findings.forbid = ["sync-in-lop"]'
refuse "a wrong unit" "'12' is not a time such as 12ms" "step.p50 <= 12"
refuse "no rules" "no rules" "# nothing"
refuse "no TOML" "bad.toml:1" "{json: 1}"
refuse "a kernel that is not there" "'flash_fwd'" 'kernel["flash_fwd"].mean <= 80us'
run gate --budget "$work/nowhere.toml" "$b"
expect_refusal "no such budget" nowhere.toml
noise 300 1 >"$work/noise.toml"
run gate --budget "$work/noise.toml" "$b"
expect_refusal "noise" noise.toml
run gate --baseline "$work/b.json" --metric step.men "$a"
expect_refusal "an unknown metric" "did you mean 'step.mean'?"
run gate --baseline "$work/b.json" --metric step "$a"
expect_refusal "a family of metrics" "did you mean 'step.p50'?"
run gate --baseline "$work/b.json" --threshold 3% "$a"
expect_status 2 "another tool's option"
grep -q "unknown option '--threshold'; did you mean '--max-regression'?" "$work/err" || fail "--threshold: $(cat "$work/err")"
run gate --baseline "$work/power_base.sqlite" "$b"
expect_refusal "a baseline of another program" "another program"
for option in max-regression run-noise; do
	run gate --baseline "$work/b.json" --$option 10 "$b"
	expect_refusal "a share above 1" "--$option 10: do you mean 10%?"
done
run gate --baseline "$work/b.json" --max-regression 0.1 "$b"
expect_status 0 "a fraction"
run gate "$b"
expect_status 2 "against nothing"
run gate --list
grep -q '^  gpu.busy  *stable ' "$work/out" || fail "--list: $(head -3 "$work/out")"
while read -r name _; do
	grep -qF "| \`$name\`" "$root/docs/ci.md" || fail "docs/ci.md does not name $name"
done < <(sed '/^$/,$d' "$work/out")
# A recording in which nothing repeats.
if [ -n "$SHARED" ]; then
	xz -dc "$SHARED"/data/public-nsys/cuda_graph_3_24.sqlite.xz >"$work/once.sqlite" 2>/dev/null
	run gate --budget "$work/good.toml" "$work/once.sqlite"
	expect_refusal "no steps" "nothing repeats"
	run gate --baseline "$work/b.json" "$work/once.sqlite"
	expect_refusal "no steps" "nothing repeats"
fi

# ---- the script of docs/ci.md, on a device that every machine has
export POCL_CACHE_DIR=$work/pocl XDG_CACHE_HOME=$work/cache
mkdir -p "$POCL_CACHE_DIR" "$work/ci/build/examples" "$work/bin"
ln -s "$(realpath "$HEADWAY")" "$work/bin/headway"
make -s -C "$root/examples" BIN="$work/ci/build/examples" "$work/ci/build/examples/mlp_cl" >"$work/log" 2>&1
if ! "$work/ci/build/examples/mlp_cl" async 2 1 64 64 >/dev/null 2>&1; then
	echo "SKIP (in part): no OpenCL device, or built without its headers"
	finish
fi
sed -n '/^<!-- tests\/cli\/gate.sh runs this -->/,/^```$/p' "$root/docs/ci.md" | sed '1,2d;$d' |
	sed "s|^make -C examples$|:|" >"$work/ci.sh"
grep -q 'headway gate --budget' "$work/ci.sh" || fail "docs/ci.md has no script: $(cat "$work/ci.sh")"
(cd "$work/ci" && PATH=$work/bin:$PATH bash -e "$work/ci.sh") >"$work/out" 2>"$work/err" ||
	fail "the script of docs/ci.md: $(cat "$work/out" "$work/err")"
[ -s "$work/ci/gate.xml" ] || fail "the script wrote no JUnit file"
# The same budget does not let the waiting version through, however noisy the machine is.
cd "$work/ci" || exit 1
"$HEADWAY" profile -q -t opencl -o sync.hwy build/examples/mlp_cl sync 30 4 64 64 >/dev/null 2>&1
run gate --budget headway.toml sync.hwy
expect_status 1 "the waiting version"
grep -Eq 'copies.d2h_bytes .*fail' "$work/out" || fail "waiting version: $(cat "$work/out")"
finish
