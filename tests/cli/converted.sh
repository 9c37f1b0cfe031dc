#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every command gives the same answer for a recording and for its report. A report holds no columns until
# they are asked for, so an analysis that forgets to ask is found here and nowhere else.
source "$(dirname "$0")/common.bash"

# A trace with something of every kind that PyTorch records.
python3 - "$work/torch.json" <<'PY'
import json, sys
events = []
def add(cat, name, tid, ts, dur, pid=1, ph="X", **args):
    events.append(dict(ph=ph, cat=cat, name=name, pid=pid, tid=tid, ts=ts, dur=dur, args=args))
for i in range(400):
    t, c = 1000 * i, 10 * i + 1
    add("user_annotation", f"ProfilerStep#{i}", 1, t, 990)
    add("python_function", "train.py(12): step", 1, t + 1, 980, **{"Python id": i + 1})
    add("cpu_op", "aten::mm", 1, t + 5, 60, **{"External id": i + 1, "Input Dims": [[i * i % 97, 4], [4, 4]]})
    add("cpu_op", "aten::copy_", 2, t + 5, 30)
    add("cuda_runtime", "cudaLaunchKernel", 1, t + 10, 9, correlation=c)
    add("cuda_runtime", "cudaMemcpyAsync", 2, t + 12, 9, correlation=c + 1)
    add("cuda_runtime", "cudaStreamSynchronize", 1, t + 100, 500, correlation=c + 2)
    add("kernel", "gemm", 7, t + 40, 500, 0, correlation=c, stream=7, device=0, grid=[1, 2, 3], block=[32, 1, 1])
    add("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 8, t + 50, 90, 0, correlation=c + 1, stream=8, device=0, bytes=4096)
    add("cuda_sync", "Stream Sync", 7, t + 100, 500, 0, correlation=c + 2, stream=7, device=0, cuda_sync_kind="Stream Sync")
    add("cpu_instant_event", "[memory]", 1, t + 6, 0, ph="i", Bytes=512, Addr=64 + i, **{"Total Allocated": 512 * i, "Device Type": 1, "Device Id": 0})
json.dump({"schemaVersion": 1, "traceEvents": events}, open(sys.argv[1], "w"))
PY
# Answers are compared in the release build; the sanitizers look at the code that reads parts of a report.
names=(graphs_node unified_memory)
is_sanitized || names+=(power_base two_processes)
for name in "${names[@]}"; do
	unpack $name
	mv "$work/$name.sqlite" "$work/${name%_*}.sqlite" # Markdown would escape the underscore
done

# Names and sizes of files, the command that measures kernels (counters are added to reports only), and what is said on stderr, may differ.
same() {
	"$HEADWAY" "$@" "$source" 2>/dev/null | sed "s#$source#FILE#g; s#$(basename "$source")#FILE#g; s#headway kernels FILE .*#headway kernels FILE#" >"$work/of_source"
	local of_source=${PIPESTATUS[0]}
	"$HEADWAY" "$@" "$work/report.hwy" 2>"$work/err" | sed "s#$work/report.hwy#FILE#g; s#report.hwy#FILE#g; s#headway kernels FILE .*#headway kernels FILE#" >"$work/of_report"
	local of_report=${PIPESTATUS[0]}
	[ "$of_source" = "$of_report" ] || fail "$* $(basename "$source"): exit status $of_source, of its report $of_report: $(head -c 300 "$work/err")"
	cmp -s "$work/of_source" "$work/of_report" ||
		fail "$* $(basename "$source"): $(diff "$work/of_source" "$work/of_report" | head -n 5)"
}
reports=$("$HEADWAY" stats --help-reports | awk '/^  [a-z_]+ /{print $1}' | sort -u | paste -sd,)
for source in "$work/torch.json" "$work"/*.sqlite; do
	run convert -f "$source" -o "$work/report.hwy"
	expect_status 0 "convert $(basename "$source")"
	same info --format json
	same stats
	for report in ${reports//,/ }; do
		same stats --format csv -r "$report"
	done
	same stats -r op_sum --shapes
	same breakdown --all-steps --all-streams
	same breakdown --format json
	for format in text json markdown; do # the page packs names of files
		same analyze --format $format
	done
	same whatif
	same whatif --check
	same path
	same show
	same baseline
	same diff --halves
	same export -t chrome -o -
	same export -t folded --fold gpu -o -
done

# ---- lanes in plenty are read in the time their spans take: a scan of all for each took minutes
python3 - "$work/lanes.json" <<'PY'
import json, sys
events = []
for i in range(30000):
    events.append(dict(ph="X", cat="cpu_op", name="op", pid=1, tid=i, ts=i, dur=5))
    events.append(dict(ph="X", cat="kernel", name="k", pid=0, tid=i, ts=i, dur=5, args=dict(stream=i, device=0)))
json.dump({"traceEvents": events}, open(sys.argv[1], "w"))
PY
for command in stats analyze breakdown show; do
	(ulimit -t 10 && "$HEADWAY" $command "$work/lanes.json" >/dev/null 2>"$work/err") ||
		fail "$command of 30,000 streams and threads: $(cat "$work/err")"
done
exit $bad
