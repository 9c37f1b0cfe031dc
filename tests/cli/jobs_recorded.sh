#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# jobs_recorded.sh - jobs that were recorded on an H200 (tests/gpu/programs/jobs): who is late, where, and what the job would take without it. The
# times of the programs without their fault were measured there.
. "$(dirname "$0")/common.bash"

# value JOB EXPRESSION: of the JSON of analyze, with j the member "job" and f the ids of its findings.
value() {
	"$HEADWAY" analyze --format json "$DATA/jobs/$1" | python3 -c "
import json, sys
j = json.load(sys.stdin)['job']
f = [x['id'] for x in j['findings']]
print($2)"
}

expect_value() { # JOB EXPRESSION WANTED
	local got
	got=$(value "$1" "$2")
	[ "$got" = "$3" ] || fail "$1: $2 is '$got', not '$3'"
}

# expect_prediction JOB MS: what whatif says of the job without its straggler is within a quarter of what was measured.
expect_prediction() {
	"$HEADWAY" whatif --apply straggler --format json "$DATA/jobs/$1" | python3 -c "
import json, sys
ms = json.load(sys.stdin)['predictions'][0]['step_ns'] / 1e6
sys.exit(0 if abs(ms / $2 - 1) < 0.25 else f'{ms} ms, measured were $2')" || fail "$1: the prediction"
}

# Two ranks by torchrun over gloo: one prepares its batches longer. The two buckets of gradients wait side by side, and gloo copies inside of its calls.
expect_value ddp_late "j['verdict'], j['lateness']['kind'], j['lateness']['ranks'], f[0]" "comm repeats [1] rank-straggler"
expect_value ddp_late "j['lateness']['cause']['file'].endswith('ddp_late.py'), j['lateness']['cause']['line']" "True 46"
expect_value ddp_late "all(x['costs_others_ns'] <= x['step_ns'] and x['waited_ns'] <= x['step_ns'] for x in j['ranks'])" True
expect_value ddp_late "any('2 ranks share one NVIDIA H200' in x for x in j['problems'])" True
expect_prediction ddp_late 3.70

# Four ranks by mpirun with CuPy, in a ring: everybody waits for a neighbour, and only one of them is late.
expect_value halo_late "j['verdict'], j['lateness']['kind'], j['lateness']['ranks'], f[0]" "comm repeats [3] rank-straggler"
expect_value halo_late "'before halo_cupy.py:38' in j['lateness']['cause']['says']" True
expect_prediction halo_late 2.03

# Four ranks, another one late in each step: nobody is accused.
expect_value ddp_turns "j['lateness']['kind'], j['lateness']['ranks'], 'rank-straggler' in f, 'late-by-turns' in f" "takes-turns [] False True"

# What the programs counted: 120 calls of Sendrecv and 60 of Allreduce on each rank.
for rank in 0 1 2 3; do
	run stats -r mpi_event_sum --format csv --rank $rank "$DATA/jobs/halo_late"
	awk -F, '$NF == "MPI_Sendrecv" && $3 == 120 { n++ } $NF == "MPI_Allreduce" && $3 == 60 { n++ } END { exit n != 2 }' "$work/out" ||
		fail "calls of rank $rank: $(cat "$work/out")"
done

# docs/slurm.md shows what is printed.
run analyze "$DATA/jobs/ddp_late"
sed -n '/^\$ headway analyze ddp_late/,/^```/p' "$DATA/../../docs/slurm.md" | sed '1d;$d;/^$/d' >"$work/shown"
[ "$(wc -l <"$work/shown")" -gt 5 ] || fail "docs/slurm.md shows nothing"
while IFS= read -r line; do
	grep -qxF -- "$line" "$work/out" || fail "docs/slurm.md shows what is not printed: $line"
done <"$work/shown"
exit $bad
