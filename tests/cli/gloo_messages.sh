#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gloo_messages.sh - two ranks of PyTorch over gloo: what was recorded is what the program exchanged, on both ranks in one order.
source "$(dirname "$0")/common.bash"
need_torch
"$python" -c 'import torch.distributed as d; assert d.is_available()' 2>/dev/null || {
	echo "SKIP: PyTorch without torch.distributed"
	exit 77
}
cat >"$work/ranks.py" <<'PY'
import sys

import torch
import torch.distributed as dist

rank = int(sys.argv[2])
dist.init_process_group("gloo", init_method="file://" + sys.argv[1], rank=rank, world_size=2)
x = torch.ones(1024)
for _ in range(5):
    dist.all_reduce(x)
for work in [dist.all_reduce(torch.ones(10, dtype=torch.double), async_op=True) for _ in range(3)]:
    work.wait()
dist.all_gather([torch.empty(6) for _ in range(2)], torch.ones(6))
dist.broadcast(x, 1)
if rank == 0:
    dist.send(torch.ones(7), 1)
else:
    dist.recv(torch.ones(7), 0)
dist.barrier()
PY
cat >"$work/check.py" <<'PY'
import csv, sys
from collections import Counter

def rows(rank):
    return list(csv.DictReader(open(f"{sys.argv[1]}/csv{rank}/messages.csv")))

collectives = Counter({("AllReduce", "4096"): 5, ("AllReduce", "80"): 3, ("AllGather", "24"): 1, ("Broadcast", "4096"): 1,
                       ("Barrier", "0"): 1})
order = []
for rank, single in (0, ("send", "28", "0")), (1, ("receive", "0", "28")):
    found = rows(rank)
    together = [m for m in found if m["kind"] == "collective"]
    print(rank, len(found), "messages")
    assert all(m["library"] == "gloo" and m["rank"] == str(rank) for m in found), found
    assert Counter((m["name"], m["sent"]) for m in together) == collectives, together
    assert [(m["kind"], m["sent"], m["received"]) for m in found if m["kind"] != "collective"] == [single], found
    together.sort(key=lambda m: int(m["sequence"]))
    assert [int(m["sequence"]) for m in together] == list(range(11))
    order.append([(m["name"], m["sent"]) for m in together])
    if sys.argv[2] == "nccl":  # collectives alone, without the operators that ask for them
        continue
    # Who asked for it is known, and asked before it began.
    operators = {m["id"]: m["name"] for m in csv.DictReader(open(f"{sys.argv[1]}/csv{rank}/op.csv"))}
    for m in found:
        assert operators[m["asked"]].startswith("c10d::") and int(m["posted"]) <= int(m["start"]) <= int(m["end"]), m
assert order[0] == order[1], order
PY

# check_ranks SOURCE [OPTION…]: both ranks recorded with the source have the messages of the program.
check_ranks() {
	rm -rf "$work"/{store,csv?,job}
	for rank in 0 1; do
		TORCHELASTIC_RUN_ID=test$$ RANK=$rank WORLD_SIZE=2 timeout 120 "$HEADWAY" profile -t "$@" -o "$work/job" -- \
			"$python" "$work/ranks.py" "$work/store" $rank >"$work/out$rank" 2>&1 &
	done
	wait
	for rank in 0 1; do
		[ -e "$work/job/rank$rank.hwy" ] || fail "$1, rank $rank: $(tail -n 3 "$work/out$rank")"
		"$HEADWAY" export -t csv "$work/job/rank$rank.hwy" -o "$work/csv$rank" >/dev/null
	done
	python3 "$work/check.py" "$work" "$1" || fail "-t $1: messages differ from what the program exchanged"
}
check_ranks pytorch --pytorch-shapes
check_ranks nccl
# The two as a job, for Chrome: an arrow for each collective in which a rank waited, from a slice of one rank into one of the other.
"$HEADWAY" export -t chrome "$work/job" -o "$work/job.json" >/dev/null || fail "export of the job"
python3 - "$work/job.json" <<'PY' || fail "arrows between ranks"
import json, sys

events = json.load(open(sys.argv[1]))["traceEvents"]
slices = [e for e in events if e["ph"] == "X" and e["name"].startswith("gloo:")]
arrows = [e for e in events if e.get("cat") == "collective"]
ends = {}
for e in arrows:
    ends.setdefault(e["id"], {})[e["ph"]] = e
print(len(ends), "arrows")
assert len(slices) == 24 and ends, len(slices)
for arrow in ends.values():
    begin, end = arrow["s"], arrow["f"]
    assert begin["pid"] != end["pid"] and begin["ts"] <= end["ts"], arrow
    for e in begin, end:
        assert any(s["pid"] == e["pid"] and s["ts"] <= e["ts"] <= s["ts"] + s["dur"] for s in slices), e
reduces = [s["args"] for s in slices if s["name"] == "gloo:all_reduce"]
assert sorted(a["bytes sent"] for a in reduces) == [80] * 6 + [4096] * 10, reduces
PY
finish
