#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Names come from recordings and may hold anything: what is printed stays UTF-8 without control characters,
# and what has a syntax (JSON, Markdown, HTML) keeps it.
source "$(dirname "$0")/common.bash"

python3 - "$work/odd.json" <<'PY'
import json, sys
odd = ["a|b|c", "`tick`", "<script>alert(1)</script>", "esc\x1b[31m", "two\nlines", "nul\0", "\u202eback", "LATIN", "LATIN1", "\u00c2",
       "*bold* _it_ [l](x)", "=1+1", "x" * 5000, "", "%s%n", "\ud800"]
events = []
for i in range(480):
    t, name = 1000 * i, odd[i % len(odd)]
    events += [dict(ph="X", cat="user_annotation", name="<b>|step`_" + str(i), pid=1, tid=1, ts=t, dur=900),
               dict(ph="X", cat="cpu_op", name="op|" + name, pid=1, tid=1, ts=t + 1, dur=890),
               dict(ph="X", cat="cuda_runtime", name="cudaLaunchKernel", pid=1, tid=1, ts=t + 5, dur=5, args=dict(correlation=i + 1)),
               dict(ph="X", cat="cuda_runtime", name="cudaDeviceSynchronize", pid=1, tid=1, ts=t + 12, dur=500),
               dict(ph="X", cat="kernel", name="k" + name, pid=0, tid=7, ts=t + 11, dur=500, args=dict(correlation=i + 1, stream=7, device=0))]
text = json.dumps({"traceEvents": events}).encode()
open(sys.argv[1], "wb").write(text.replace(b"LATIN1", b"caf\xe9").replace(b"LATIN", b"\xc2"))
PY

check() { # check KIND ARGS…
	run "${@:2}" "$work/odd.json"
	expect_status 0 "${*:2}"
	python3 - "$1" "$work/out" <<'PY' || fail "${*:2}"
import html.parser, json, re, sys
kind, text = sys.argv[1], open(sys.argv[2], "rb").read().decode("utf-8")
bad = re.search("[\x00-\x09\x0b-\x1f\x7f\x80-\x9f]" if kind != "tsv" else "[\x00-\x08\x0b-\x1f\x7f\x80-\x9f]", text)
assert not bad, "control character: " + repr(text[max(0, bad.start() - 30):bad.end()])
if kind == "json":
    json.loads(text)
if kind == "html":
    assert "<script>alert" not in text
if kind == "markdown":
    cells = None
    for line in text.splitlines():
        n = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else None
        assert None in (n, cells) or n == cells, line[:200]
        cells = n
        assert "<script>" not in re.sub(r"\\.", "", line), line[:200]
PY
}
for command in info "info --all" stats breakdown analyze "analyze -v" "analyze --format brief" whatif path show "show --ascii"; do
	check text $command
done
check tsv stats --format tsv
check markdown stats --format markdown
check markdown analyze --format markdown
check html analyze --format html
for command in info stats breakdown analyze whatif path; do
	check json $command --format json
done
check json export -t chrome -o -
for format in text markdown html json; do
	check $format diff --format $format "$work/odd.json"
	[ $format = html ] || check $format gate --format $format --baseline "$work/odd.json"
done
exit $bad
