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
	rm -rf "$work"/{store,csv?,rank?.hwy}
	for rank in 0 1; do
		RANK=$rank WORLD_SIZE=2 timeout 120 "$HEADWAY" profile -t "$@" -o "$work/rank$rank" -- \
			"$python" "$work/ranks.py" "$work/store" $rank >"$work/out$rank" 2>&1 &
	done
	wait
	for rank in 0 1; do
		[ -e "$work/rank$rank.hwy" ] || fail "$1, rank $rank: $(tail -n 3 "$work/out$rank")"
		"$HEADWAY" export -t csv "$work/rank$rank.hwy" -o "$work/csv$rank" >/dev/null
	done
	python3 "$work/check.py" "$work" "$1" || fail "-t $1: messages differ from what the program exchanged"
}
check_ranks pytorch --pytorch-shapes
check_ranks nccl
finish
