#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# mpi_exports.sh - a job of MPI in the formats of others: tables add up to what the program did, arrows go from who sends to who
# receives, and Perfetto's trace processor finds them.
source "$(dirname "$0")/mpi.bash"
cat >"$work/exchange.c" <<'C'
#include <mpi.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int rank, numbers[5] = {0};
	double in[10] = {0}, out[10];
	MPI_Request request, both[2];
	MPI_Status done[2];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 5; i++) {
		if (rank == 1)
			usleep(2000);
		MPI_Allreduce(in, out, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Irecv(out, 10, MPI_DOUBLE, 1 - rank, 3, MPI_COMM_WORLD, &request);
	MPI_Send(in, 10, MPI_DOUBLE, 1 - rank, 3, MPI_COMM_WORLD);
	MPI_Wait(&request, done);
	MPI_Send_init(numbers, 5, MPI_INT, 1 - rank, 9, MPI_COMM_WORLD, &both[0]);
	MPI_Recv_init(out, 5, MPI_INT, 1 - rank, 9, MPI_COMM_WORLD, &both[1]);
	for (int i = 0; i < 3; i++) {
		MPI_Startall(2, both);
		MPI_Waitall(2, both, done);
	}
	MPI_Sendrecv(in, 4, MPI_DOUBLE, 1 - rank, 7, out, 4, MPI_DOUBLE, 1 - rank, 7, MPI_COMM_WORLD, done);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
C
perfetto=${PERFETTO:-$(cd "$(dirname "$0")/.." && pwd)/../build/perfetto/package/assets/trace-processor}
# What each rank did: name, source, messages, bytes.
cat >"$work/want" <<'ROWS'
MPI_Allreduce coll_recv 5 400
MPI_Allreduce coll_send 5 400
MPI_Irecv p2p 1 80
MPI_Send p2p 1 80
MPI_Sendrecv p2p 2 64
MPI_Startall p2p 6 120
ROWS

for library in "${libraries[@]}"; do
	mpicc."$library" -w -O1 -o "$work/exchange.$library" "$work/exchange.c" || fail "not built for $library"
	record "$library" 2 "$work/exchange.$library"
	expect_status 0 "$library"
	run stats -r mpi_msg_size_sum --by-rank --format csv "$work/job"
	for rank in 0 1; do
		awk -F, -v rank=$rank '$1 == rank { print $10, $9, $3, $2 }' "$work/out" | sort >"$work/have"
		expect_same "$library: sizes of rank $rank" "$work/want" "$work/have"
	done
	"$HEADWAY" export -t chrome -f -o "$work/job.json" "$work/job" >/dev/null || fail "$library: chrome"
	python3 - "$work/job.json" >"$work/out" 2>&1 <<'PY' || fail "$library: arrows: $(cat "$work/out")"
import json, sys

events = json.load(open(sys.argv[1]))["traceEvents"]
slices = [e for e in events if e.get("cat") == "MPI"]

def inside(e):
    return {s["name"] for s in slices if s["pid"] == e["pid"] and s["ts"] <= e["ts"] <= s["ts"] + s["dur"]}

ends = {}
for e in events:
    if e.get("cat") in ("message", "collective"):
        ends.setdefault((e["cat"], e["id"]), {})[e["ph"]] = e
pairs = []
for (kind, _), arrow in ends.items():
    assert arrow["s"]["pid"] != arrow["f"]["pid"] and inside(arrow["s"]) and inside(arrow["f"]), arrow
    pairs.append((kind, *sorted(inside(arrow["s"]) | inside(arrow["f"]))))
# Each rank sends 1 + 3 + 1 messages.
assert sum(p[0] == "message" for p in pairs) == 10, pairs
assert pairs.count(("message", "MPI_Send", "MPI_Wait")) == 2 and pairs.count(("message", "MPI_Startall", "MPI_Waitall")) == 6, pairs
assert ("collective", "MPI_Allreduce") in pairs, pairs
PY
	"$HEADWAY" export -t perfetto --plain -f -o "$work/job.pftrace" "$work/job" >/dev/null || fail "$library: perfetto"
	if command -v node >/dev/null && [ -e "$perfetto/trace_processor.wasm" ]; then
		node "$(dirname "$0")/../perfetto_query.cjs" "$perfetto" "$work/job.pftrace" \
			"SELECT count(*) >= 11 FROM flow" \
			"SELECT sum(a.int_value) FROM slice s JOIN args a USING (arg_set_id) WHERE a.key = 'debug.bytes sent'" \
			"SELECT count(*) FROM stats WHERE severity IN ('error', 'data_loss') AND value > 0" >"$work/says" 2>&1
		# 5 × 80 of the collectives, 80, 3 × 20 and 32 bytes of each rank.
		[ "$(tr '\n' ' ' <"$work/says")" = "1  $(((400 + 80 + 60 + 32) * 2))  0  " ] || fail "$library: perfetto: $(tr '\n' ' ' <"$work/says")"
	fi
done
exit $bad
