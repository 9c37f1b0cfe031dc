#!/usr/bin/env bash
# analyze --format html: one well-formed page that asks nothing of any network, and shows hostile names as text.
source "$(dirname "$0")/common.bash"
here=$(dirname "$0")
type python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }

# page FILE WHAT [TEXT …]: its page is in order and shows these texts.
page() {
	local file=$1 what=$2
	shift 2
	run analyze --format html "$file"
	expect_status 0 "$what"
	python3 "$here/analyze_html_check.py" "$work/out" "$@" >"$work/differences" 2>&1 ||
		fail "$what: $(head -c 800 "$work/differences")"
}

for name in power_base streams_pageable1 streams_pinned4 graphs_node two_processes; do
	unpack $name
	page "$work/$name.sqlite" "$name"
done
page "$work/power_base.sqlite" "a page holds what the text says" 'power.py' 'launch-bound' 'Why it was idle' \
	'Headway over time' 'Steps one by one' 'Looked at, not guilty' 'How far to trust this'
page "$DATA/breakdown/two_gpus.json" "two GPUs" '2 GPUs'

# ---- names from a recording are text, whatever they are ----

python3 - "$work/hostile.json" <<'END'
import json, sys
events = [{"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "<script>alert(1)</script>"}}]
nasty = ["<script>alert(1)</script>", "</text></svg><img src=x onerror=alert(1)>", "a\x1b[31m\x00\u202egnp.exe",
         "\"'><b>&amp;", "L" * 5000, "http://example.com/x.js"]
for step in range(12):
    t = step * 1000
    events.append({"ph": "X", "cat": "user_annotation", "name": "step_%d<svg onload=alert(1)>" % step,
                   "pid": 9, "tid": 9, "ts": t, "dur": 900})
    for i, name in enumerate(nasty):
        c = step * 10 + i + 1
        events.append({"ph": "X", "cat": "cpu_op", "name": "aten::" + name, "pid": 9, "tid": 9,
                       "ts": t + i * 100, "dur": 60})
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 9, "tid": 9,
                       "ts": t + i * 100 + 1, "dur": 9, "args": {"correlation": c}})
        events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": t + i * 100 + 20,
                       "dur": 10, "args": {"device": 0, "stream": 7, "correlation": c}})
json.dump(events, open(sys.argv[1], "w"))
END
page "$work/hostile.json" "hostile names" '<script>alert(1)</script>'
cp "$work/hostile.json" "$work/<script>alert(2)<.json"
page "$work/<script>alert(2)<.json" "a hostile file name" '<script>alert(2)<.json'
[ "$(wc -c <"$work/out")" -lt 200000 ] || fail "a page of $(wc -c <"$work/out") bytes"

# ---- nothing to say, and where it goes ----

echo '[{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": 1, "dur": 2}]' >"$work/cpu.json"
page "$work/cpu.json" "no device work" 'No device work in this recording'
run analyze --format html -o "$work/page.html" "$work/power_base.sqlite"
expect_status 0 "-o page.html"
[ -s "$work/out" ] && fail "-o writes to the file alone"
grep -q '^<!DOCTYPE html>' "$work/page.html" || fail "no page in the file"
LC_ALL=C "$HEADWAY" analyze --format html "$work/power_base.sqlite" | cmp -s - "$work/page.html" ||
	fail "a page is UTF-8 whatever the locale is"
finish
