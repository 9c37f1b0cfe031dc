#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# headway diff: right verdicts with the cause first, parts that add up, formats, and refusals.
# shellcheck source=common.bash
source "$(dirname "$0")/common.bash"
type python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }
export LC_ALL=C.UTF-8

# expect NAME BEFORE AFTER VERDICT CAUSE [LOW HIGH]: verdict, first part of the split, change as a share; with the run noise in $noise.
noise=
expect() {
	"$HEADWAY" diff --format json ${noise:+--run-noise "$noise"} "$2" "$3" >"$work/out" 2>"$work/err"
	status=$?
	[ "$status" = "$([ "$4" = slower ] && echo 1 || echo 0)" ] || fail "$1: exit status $status: $(head -c 300 "$work/err")"
	python3 - "$work/out" "$@" <<-'END' || fail "$1: see above"
		import json, sys
		r = json.load(open(sys.argv[1]))
		name, _, _, verdict, cause = sys.argv[2:7]
		parts, change = r["split"], r["change"]
		problems = []
		if r["verdict"] != verdict:
		    problems.append(f"verdict {r['verdict']}, not {verdict}")
		if cause and parts[0]["part"] != cause:
		    problems.append(f"cause {parts[0]['part']}, not {cause}")
		if sum(p["change_ns"] for p in parts) != change["ns"]:
		    problems.append("the parts do not add up to the change")
		if r["after"]["step_ns"] - r["before"]["step_ns"] != change["ns"]:
		    problems.append("the change is not that of the steps")
		for side in ("before", "after"):
		    if sum(p[side + "_ns"] for p in parts) != r[side]["step_ns"]:
		        problems.append(f"the parts {side} do not add up to the step")
		if not change["low"] <= change["share"] <= change["high"]:
		    problems.append("the change is outside of its interval")
		if len(sys.argv) > 7 and not float(sys.argv[7]) <= change["share"] <= float(sys.argv[8]):
		    problems.append(f"changed by {change['share']}")
		for p in problems:
		    print(f"{name}: {p}")
		sys.exit(bool(problems))
	END
}

unpack streams_pageable1
unpack streams_pinned4
unpack power_base
unpack graphs_node
unpack mixed_nodes
a=$work/streams_pageable1.sqlite b=$work/streams_pinned4.sqlite
expect "pinned memory and streams" "$a" "$b" faster exposed_copy -0.92 -0.88
expect "and back" "$b" "$a" slower exposed_copy
for one in "$a" "$b" "$work/power_base.sqlite" "$work/graphs_node.sqlite"; do
	expect "$one against itself" "$one" "$one" same ""
done

# ---- two halves of a run: the same, unless it is so noisy that it moved by itself; never faster or slower
# expect_halves REPORT VERDICTS: one of these.
expect_halves() {
	"$HEADWAY" diff --halves --format json "$1" >"$work/out" 2>&1
	grep -qE "\"verdict\": \"($2)\"" "$work/out" || fail "halves of $1: $(head -2 "$work/out")"
}
gpu=$(dirname "$0")/../data/gpu
for name in mlp_sync graphs_launch inmodel_if phases_marks power_blocking priority_same roundtrip_cpu starve_0; do
	expect_halves "$gpu/$name.hwy" same
done
for name in decode_eager events_host itemloop_item; do # by 15, 6 and 5 %
	expect_halves "$gpu/$name.hwy" unknown
done

# ---- formats: text on one screen, and the others whole
run diff "$a" "$b"
expect_status 0 "text"
[ "$(wc -l <"$work/out")" -le 40 ] || fail "text: $(wc -l <"$work/out") lines"
grep -q 'faster .*61.5 ms → 6.05 ms a step' "$work/out" || fail "text: $(head -5 "$work/out")"
grep -q '; one run a side: less sure$' "$work/out" || fail "text: how sure one run is: $(head -9 "$work/out")"
grep -q 'cause     exposed copies −51' "$work/out" || fail "text has no cause"
grep -q 'command: streams pageable 1 → streams pinned 4' "$work/out" || fail "text does not tell the commands apart"
grep -q 'gone      pageable-copy' "$work/out" || fail "text has no finding"
run diff --format markdown "$a" "$b"
grep -q '| exposed copies | 52.2 ms | 1.07 ms |' "$work/out" || fail "markdown: $(grep exposed "$work/out")"
run diff --format html -o "$work/diff.html" "$a" "$b"
expect_status 0 "html"
python3 - "$work/diff.html" <<-'END' || fail "html is not balanced"
	import html.parser, sys
	class Check(html.parser.HTMLParser):
	    open = []
	    def handle_starttag(self, tag, attributes):
	        if tag != "meta": self.open.append(tag)
	    def handle_endtag(self, tag):
	        assert self.open.pop() == tag, tag
	check = Check()
	check.feed(open(sys.argv[1], encoding="utf-8").read())
	sys.exit(bool(check.open))
END

# ---- a baseline in place of a report, and several runs a side
run baseline -o "$work/a.json" "$a"
expect_status 0 "baseline"
[ "$(wc -c <"$work/a.json")" -lt 10000 ] || fail "a baseline of $(wc -c <"$work/a.json") bytes"
# A baseline keeps no spans.
"$HEADWAY" diff --format json "$a" "$b" | grep -vE '"file"|"before_span"' >"$work/direct"
"$HEADWAY" diff --format json "$work/a.json" "$b" | grep -vE '"file"|"before_span"' >"$work/kept"
cmp -s "$work/direct" "$work/kept" || fail "a baseline gives another comparison: $(diff "$work/direct" "$work/kept" | head -5)"
run baseline -o "$work/three.json" "$a" "$a" "$work/a.json"
run diff --format json "$work/three.json" -- "$b" "$b" "$b"
grep -q '"method": "welch"' "$work/out" || fail "three runs a side are not compared as runs"
run diff "$work/three.json" "$b"
expect_status 0 "three runs against one"

# ---- more or fewer times: the count stands first, as the time may go the other way
python3 - "$work/a.json" "$work/often.json" <<-'END' || fail "no baseline could be made"
	import json, sys
	new = json.load(open(sys.argv[1]))
	for phase in new["runs"][0]["phases"]:
	    phase["kernels"]["rows"][0]["count"] *= 2
	json.dump(new, open(sys.argv[2], "w"), indent=1)
END
run diff "$work/a.json" "$work/often.json"
grep -Eq '^   more +[0-9.]+ → [0-9.]+ launches, [0-9.]+ [mµ]s → [0-9.]+ [mµ]s a step  ' "$work/out" || fail "more launches: $(grep more "$work/out")"
for help in "compare:did you mean 'diff'?"; do
	run "${help%%:*}" a b
	expect_refusal "another word for a command" "${help#*:}"
done
"$HEADWAY" --help diff >"$work/one" && "$HEADWAY" diff --help >"$work/two"
cmp -s "$work/one" "$work/two" || fail "--help diff is not diff --help: $(head -2 "$work/one")"
"$HEADWAY" --help | grep -q '^  profile .*OpenCL' || fail "--help does not say that profile records OpenCL"

# ---- refusals
run diff "$a"
expect_status 2 "one file"
run diff "$a" "$a" "$b"
expect_status 2 "three files"
run diff "$a" -- "$b" --format json
expect_status 2 "an option after --"
grep -q "^headway diff: --format: there is no such file; options go before '--'" "$work/err" || fail "an option after --: $(cat "$work/err")"
run diff "$a" "$work/nowhere.hwy"
expect_refusal "no such file" nowhere.hwy
run diff --run-noise many "$a" "$b"
expect_status 2 "noise"
sed 's/"mean": *[0-9]*/"mean": 5/' "$work/a.json" >"$work/bad.json"
run diff "$work/bad.json" "$b"
expect_refusal "a damaged baseline" "do not add up"
sed 's/"headway_baseline": 1/"headway_baseline": 9/' "$work/a.json" >"$work/new.json"
run diff "$work/new.json" "$b"
expect_refusal "a newer baseline" "version 9"
head -c 700 "$work/a.json" >"$work/cut.json"
run diff "$work/cut.json" "$b"
expect_refusal "a cut baseline" "cut.json"

if [ -z "$SHARED" ]; then
	echo "SKIP (in part): ../shared is not there"
	finish
fi

# ---- what the changes turned out to be (shared/data/README.md)
for name in mlp_sync mlp_async graphs_launch graphs_graph decode_eager decode_graph; do
	xz -dc "$SHARED/data/nsys/$name.sqlite.xz" >"$work/$name.sqlite"
done
torch=$SHARED/data/torch
at() { echo "$work/$1.sqlite"; }
expect "mlp" "$(at mlp_sync)" "$(at mlp_async)" faster idle_blocked -0.09 -0.04
expect "mlp by torch.profiler" "$torch/mlp_sync.json.gz" "$torch/mlp_async.json.gz" faster idle_blocked -0.09 -0.04
expect "graphs" "$(at graphs_launch)" "$(at graphs_graph)" faster idle_launch
expect "decode" "$(at decode_eager)" "$(at decode_graph)" faster idle_launch
expect "decode by torch.profiler" "$torch/decode_eager.json.gz" "$torch/decode_graph.json.gz" faster idle_launch
resnet=$SHARED/data/public-traces/kineto-tb_plugin/samples/resnet50_num_workers_
# Four steps, of which one is a quarter longer: one such run a side tells nothing, but where runs are known to lie 2 % apart.
expect "resnet50, one run a side" "$(echo "${resnet}0"/*)" "$(echo "${resnet}4"/*)" unknown idle_input
noise=2%
expect "resnet50" "$(echo "${resnet}0"/*)" "$(echo "${resnet}4"/*)" faster idle_input
expect "resnet50 and back" "$(echo "${resnet}4"/*)" "$(echo "${resnet}0"/*)" slower idle_input
noise=
for name in mlp_sync mlp_async graphs_graph decode_graph; do
	expect_halves "$(at $name)" same
done
for name in "$(at graphs_launch)" "$(at decode_eager)" "$torch"/*.json.gz "${resnet}0"/*; do
	expect_halves "$name" 'same|unknown'
done
finish
