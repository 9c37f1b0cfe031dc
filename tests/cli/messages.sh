#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# messages.sh - what ranks exchange, in public PyTorch traces, against a calculation of its own from their JSON.
set -u
[ -n "${SHARED:-}" ] && [ -d "$SHARED/data/verdicts/dlrm_8ranks" ] || {
	echo "SKIP: the public traces are not here (\$SHARED)"
	exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for file in "$SHARED"/data/verdicts/dlrm_8ranks/*.json.gz "$SHARED"/data/verdicts/queue_negative.json.gz \
	"$SHARED"/data/public-traces/HolisticTraceAnalysis/nccl_parser_config/nccl_data.json.gz \
	"$SHARED"/data/public-traces/HolisticTraceAnalysis/trace_filter/*.json.gz \
	"$SHARED"/data/public-traces/TraceLens/*/*.json.gz; do
	rm -rf "$work/csv"
	"$HEADWAY" export -t csv "$file" -o "$work/csv" >"$work/out" 2>&1 || {
		cat "$work/out"
		exit 1
	}
	python3 - "$file" "$work/csv" <<'PY' || exit 1
import csv, gzip, json, os, sys

path, folder = sys.argv[1:]
trace = json.loads(gzip.open(path).read().decode("utf8", "replace"), strict=False)
spans = [e for e in trace["traceEvents"] if isinstance(e, dict) and e.get("ph") == "X"]
SIZES = {"Float": 4, "float": 4, "Long": 8, "long int": 8, "long": 8, "BFloat16": 2, "c10::BFloat16": 2, "int": 4,
         "unsigned char": 1, "signed char": 1, "Byte": 1}
NAMES = {"allreduce": "AllReduce", "all_reduce": "AllReduce", "all_to_all": "AllToAll", "broadcast": "Broadcast",
         "_allgather_base": "AllGather", "_all_gather_base": "AllGather", "_reduce_scatter_base": "ReduceScatter"}
launches = {e["args"]["correlation"]: e for e in spans
            if str(e.get("cat", "")).lower() in ("cuda_runtime", "cuda_driver", "runtime") and "correlation" in e.get("args", {})}
scopes = [e for e in spans if str(e["name"]).startswith(("nccl:", "c10d::"))]

def around(call, start):
    inside = [s for s in scopes if s["name"].startswith(start) and s["tid"] == call["tid"] and s["pid"] == call["pid"]
              and s["ts"] <= call["ts"] <= s["ts"] + s["dur"]]
    return max(inside, key=lambda s: s["ts"], default=None)

def elements(dims):
    n = 1
    for d in dims:
        n *= d
    return n

expected = []
for e in spans:
    if e.get("cat") != "kernel" or "nccl" not in e["name"].lower():
        continue
    args, call = e.get("args", {}), launches.get(e.get("args", {}).get("correlation"))
    scope = around(call, "nccl:") if call else None
    if "Collective name" in args:
        size = SIZES[args["dtype"]]
        row = [NAMES[args["Collective name"]], args["In msg nelems"] * size, args["Out msg nelems"] * size]
    elif scope:
        c10d, inputs = around(call, "c10d::"), scope["args"].get("Input Dims")
        row = [NAMES[scope["name"][5:]], "", ""]
        if inputs:
            size = SIZES[scope["args"]["Input type"][0]]
            out = inputs[0] if row[0] == "AllReduce" else c10d["args"]["Input Dims"][0]
            row[1:] = [elements(inputs[0]) * size, elements(out) * size]
    else:
        row = [None, "", ""]
    expected.append((float(e["ts"]), *map(str, row)))
expected.sort()
file = os.path.join(folder, "messages.csv")
found = list(csv.DictReader(open(file))) if os.path.exists(file) else []
found = [m for m in found if m["library"]]  # not the collectives that engines have kernels of their own for
found.sort(key=lambda m: int(m["start"]))
print(os.path.basename(path), len(expected), "kernels,", len(found), "messages")
assert len(found) == len(expected), (len(found), len(expected))
for m, (_, name, sent, received) in zip(found, expected):
    # A broadcast gives at its root only; the rest is as the recorder tells it.
    if name == "Broadcast" and m["peer"] and m["peer"] == m["rank"]:
        received = "0"
    assert name == "None" or (m["name"], m["sent"], m["received"]) == (name, sent, received), (m, name, sent, received)
steps = {}
for m in found:
    steps.setdefault(m["communicator"], []).append(int(m["sequence"]))
assert all(sorted(s) == list(range(len(s))) for s in steps.values()), steps
PY
done
