#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# analyze --format html: the page of 'view --html', byte for byte; nothing of a recording becomes markup of it.
source "$(dirname "$0")/common.bash"
type python3 >/dev/null || { echo "SKIP: no python3"; exit 77; }

unpack power_base
run analyze --format html "$work/power_base.sqlite"
if grep -q 'built without npm' "$work/err"; then
	expect_refusal "a build without the page" "npm"
	echo "SKIP: the page was not built (npm --prefix web ci)"
	exit 77
fi
expect_status 0 "a page"
cp "$work/out" "$work/plain.html"
run view --html "$work/view.html" "$work/power_base.sqlite"
expect_status 0 "view --html"
cmp -s "$work/plain.html" "$work/view.html" || fail "the two commands write different pages"
LC_ALL=C "$HEADWAY" analyze --format html "$work/power_base.sqlite" | cmp -s - "$work/plain.html" ||
	fail "a page depends on the locale"

run analyze --format html --max-size 1 -o "$work/small.html" "$work/power_base.sqlite"
expect_status 0 "--max-size"
[ "$(wc -c <"$work/small.html")" -le 1000000 ] || fail "--max-size 1: $(wc -c <"$work/small.html") bytes"
run analyze --format html --max-size 0 "$work/power_base.sqlite"
expect_status 2 "--max-size 0"

# The page says of the records what the text says: it has the words from the one function that both ask.
for file in programs/jax_input gpu/mlp_sync; do
	run analyze "$DATA/$file.hwy"
	tr -s ' \n' ' ' <"$work/out" >"$work/flat"
	says=$("$HEADWAY" analyze --format json "$DATA/$file.hwy" | python3 -c 'import json, sys; print(json.load(sys.stdin)["summary"]["records_say"])')
	[ "$file:$says" = "programs/jax_input:records incomplete" ] || [ "$file:$says" = "gpu/mlp_sync:nothing lost" ] || fail "$file: records_say is '$says'"
	grep -qF " · $says " "$work/flat" || fail "$file: the text does not say '$says': $(head -3 "$work/out")"
done

# page FILE WHAT KEY TEXT: its page has no more markup than the plain one, and its answer to KEY holds the text.
page() {
	run analyze --format html "$1"
	expect_status 0 "$2"
	python3 - "$work/plain.html" "$work/out" "$3" "$4" >"$work/differences" 2>&1 <<'CHECK' || fail "$2: $(head -c 800 "$work/differences")"
import base64, gzip, json, re, sys
plain, page = (open(path, encoding="utf-8").read() for path in sys.argv[1:3])
data = re.compile(r"<script>window\.HEADWAY_INLINE=(\{.*?\n\})</script>", re.S)
assert data.sub("", plain) == data.sub("", page), "the page around the data differs"
assert "<" not in data.search(page)[1], "markup in the data"
assert not any(ord(c) < 32 and c not in "\n\t" for c in data.search(page)[1]), "control characters in the data"
answer = gzip.decompress(base64.b64decode(json.loads(data.search(page)[1])[sys.argv[3]])).decode()
json.loads(answer)
assert json.dumps(sys.argv[4], ensure_ascii=False)[1:-1] in answer, answer[:300]
CHECK
}

page "$DATA/breakdown/two_gpus.json" "two GPUs" 'lanes?t=0' 'GPU 1'
page "$DATA/gpu/mlp_sync.hwy" "a report" 'diagnosis?t=0' 'sync-in-loop'

# ---- names from a recording are data, whatever they are ----

python3 - "$work/hostile.json" <<'END_OF_MAKER'
import json, sys
events = [{"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "<script>alert(1)</script>"}}]
nasty = ["<script>alert(1)</script>", "</text></svg><img src=x onerror=alert(1)>", "a\x1b[31m\x00\u202egnp.exe",
         "\"'><b>&amp;", "L" * 100000, "http://example.com/x.js"]
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
END_OF_MAKER
page "$work/hostile.json" "hostile names" 'names/0' '</text></svg><img src=x onerror=alert(1)>'
cp "$work/hostile.json" "$work/<script>alert(2)<.json"
page "$work/<script>alert(2)<.json" "a hostile file name" 'info' '<script>alert(2)<.json'

# ---- nothing to say, and where it goes ----

echo '[{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 9, "tid": 9, "ts": 1, "dur": 2}]' >"$work/cpu.json"
page "$work/cpu.json" "no device work" 'diagnosis?t=0' 'phase'
run analyze --format html -o "$work/page.html" "$work/power_base.sqlite"
expect_status 0 "-o page.html"
[ -s "$work/out" ] && fail "-o writes to the file alone"
cmp -s "$work/page.html" "$work/plain.html" || fail "-o writes another page"
finish
