#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# job_answers.sh - the answers of a job: planted faults are told apart, nobody innocent is accused, all formats say the same, two jobs are
# compared, and real jobs give the numbers that a calculation of its own gives.
. "$(dirname "$0")/common.bash"
here=$(dirname "$0")

# value JOB EXPRESSION: of the JSON of analyze, with j the member "job" and f the ids of its findings.
value() {
	"$HEADWAY" analyze --format json "$1" | python3 -c "
import json, sys
r = json.load(sys.stdin)
j = r['job']
f = [x['id'] for x in j['findings']]
print($2)"
}

expect_value() { # JOB EXPRESSION WANTED WHAT
	local got
	got=$(value "$1" "$2")
	[ "$got" = "$3" ] || fail "$4: '$got', not '$3'"
}

for fault in even slow-gpu more-work input turns uneven host early; do
	python3 "$here/job_make.py" "$work/$fault" $fault 4 24
done

# Who is late, and why.
expect_value "$work/even" "j['lateness']['kind'], j['lateness']['ranks']" "in-time []" "an even job"
expect_value "$work/slow-gpu" "j['lateness']['kind'], j['lateness']['ranks'], j['verdict'], f[0]" "repeats [3] comm rank-straggler" "a slow GPU"
expect_value "$work/slow-gpu" "j['lateness']['cause']['part'], j['lateness']['cause']['kernel'], j['lateness']['cause']['threads_ratio']" "compute gemm 1.0" "what a slow GPU does"
expect_value "$work/more-work" "j['lateness']['cause']['part'], j['lateness']['cause']['threads_ratio']" "compute 1.5" "a rank with more work"
expect_value "$work/input" "j['lateness']['ranks'], j['lateness']['cause']['doing'], 490000 < j['lateness']['cause']['more_ns'] < 510000" \
	"[3] load_batch True" "a rank whose batches come late"
expect_value "$work/turns" "j['lateness']['kind'], j['lateness']['ranks'], f[0]" "takes-turns [] late-by-turns" "ranks that take turns"
expect_value "$work/uneven" "j['lateness']['kind'], j['lateness']['cause']['part'], j['lateness']['cause']['threads_ratio'] > 1.1" \
	"takes-turns compute True" "work that differs from step to step"
expect_value "$work/host" "j['lateness']['kind'], j['lateness']['ranks']" "repeats [2, 3]" "two ranks of one host"
expect_value "$work/early" "j['lateness']['kind'], j['lateness']['ranks'], 'rank-straggler' in f" "early [0] False" "a rank with less to do"
for fault in even early; do
	expect_value "$work/$fault" "'rank-straggler' in f or 'late-by-turns' in f or 'slow-link' in f" False "nobody is to blame in $fault"
done

# The parts of each rank's step add up to it; what is waited is shared out once.
for fault in slow-gpu uneven input; do
	expect_value "$work/$fault" "all(x['step_ns'] == sum(x[k] for k in ('compute_ns', 'transfer_ns', 'wait_ns', 'start_ns', 'copy_ns', 'idle_ns'))
    and x['idle_ns'] == sum(x['idle_causes'].values()) for x in j['ranks']) and all(sum(w) == x['waited_ns'] for w, x in zip(j['waits_ns'], j['ranks']))" \
		True "sums of $fault"
done

# Every format says it.
run analyze "$work/slow-gpu"
for text in "4 ranks" "Rank 3 makes the others wait 499 µs" "how late each rank is, step by step" "who waits for whom" "rank-straggler   rank 3"; do
	grep -qF -- "$text" "$work/out" || fail "the text does not say '$text': $(cat "$work/out")"
done
[ "$(wc -L <"$work/out")" -le 100 ] || fail "a line is $(wc -L <"$work/out") columns wide"
LC_ALL=C run analyze "$work/slow-gpu"
grep -qP '[^\x00-\x7f]' "$work/out" && fail "not ASCII: $(grep -P '[^\x00-\x7f]' "$work/out" | head -2)"
grep -q '####' "$work/out" || fail "no map in ASCII"
run analyze --format brief "$work/slow-gpu"
[ "$(wc -c <"$work/out")" -lt 2000 ] && grep -q "Verdict: comm. Rank 3" "$work/out" || fail "brief: $(cat "$work/out")"
run analyze --format markdown "$work/slow-gpu"
grep -q '^| rank | step |' "$work/out" && grep -q '^| rank-straggler | rank 3 |' "$work/out" || fail "markdown: $(cat "$work/out")"
expect_value "$work/slow-gpu" "r['summary']['verdict'], r['findings'][0]['rank']" "comm 3" "the summary has the job's verdict"

# A rank that is missing is named; files that are no recordings are left out.
cp -r "$work/slow-gpu" "$work/lacking"
rm "$work/lacking/rank1.json"
echo nothing >"$work/lacking/rank9.json"
run analyze "$work/lacking"
expect_status 0 "a job that lacks a rank"
grep -q "1 of 4 ranks have no recording here: 1" "$work/out" || fail "the missing rank is not named: $(cat "$work/out")"
grep -q "rank-straggler   rank 3" "$work/out" || fail "the straggler of a job that lacks a rank"

# Two jobs.
run diff "$work/slow-gpu" "$work/even"
expect_status 0 "a job that became faster"
grep -q "late: rank 3 is late → nobody is late" "$work/out" && grep -q "as predicted" "$work/out" || fail "diff: $(cat "$work/out")"
run diff "$work/even" "$work/slow-gpu"
expect_status 1 "a job that became slower"
run diff --format json "$work/slow-gpu" "$work/even"
python3 - "$work/out" <<'PY' || fail "the JSON of diff: $(head -c 600 "$work/out")"
import json, sys
r = json.load(open(sys.argv[1]))
j = r["job"]
assert r["verdict"] == "faster" and j["before"]["late_ranks"] == [3] and j["after"]["late_ranks"] == []
for side in ("before", "after"):
    assert sum(j[side]["parts"].values()) == j[side]["step_ns"], side
assert [x["rank"] for x in j["ranks"]] == [0, 1, 2, 3]
assert j["ranks"][3]["before"]["compute_ns"] - j["ranks"][3]["after"]["compute_ns"] == 500000
PY
run diff --format markdown "$work/slow-gpu" "$work/even"
grep -q "^| waiting |" "$work/out" || fail "the Markdown of diff: $(cat "$work/out")"
run diff --format html "$work/slow-gpu" "$work/even"
grep -q "<td>waiting</td>" "$work/out" || fail "the page of diff"

# A job of MPI without device work: rank 0 collects and answers, so that others wait for it, but rank 1 is to blame.
if command -v mpirun.openmpi >/dev/null && /usr/bin/python3 -c 'import mpi4py' 2>/dev/null; then
	cat >"$work/late.py" <<'PY'
import time
from mpi4py import MPI
for _ in range(10):
    time.sleep(0.05 if MPI.COMM_WORLD.rank == 1 else 0.005)
    MPI.COMM_WORLD.allreduce(1.0)
PY
	OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$HEADWAY" profile -o "$work/mpi" mpirun.openmpi --oversubscribe -n 3 \
		/usr/bin/python3 "$work/late.py" >/dev/null 2>"$work/err" || fail "a job of MPI: $(tail -3 "$work/err")"
	expect_value "$work/mpi" "j['verdict'], max(j['exchanges'], key=lambda x: x['costs_others_ns'])['rank'], ' of that to rank 1' in j['says']" \
		"comm 1 True" "the culprit behind a rank that only passes its waiting on"
	expect_value "$work/mpi" "r['summary']['verdict'], r['summary']['verdict_says'] == j['says']" "comm True" "the verdict of the rank shown"
	run analyze --format markdown "$work/mpi"
	grep -q '^| rank | host | time |' "$work/out" || fail "the Markdown of a job of MPI: $(cat "$work/out")"
	run convert -o "$work/whole.hwy" "$work/mpi"
	expect_value "$work/whole.hwy" "j['verdict'], [x['rank'] for x in j['ranks']]" "comm [0, 1, 2]" "a job in one report"
	run whatif "$work/mpi"
	grep -q '^ *straggler:1 ' "$work/out" || fail "whatif does not try the late rank: $(cat "$work/out")"
	grep -q bucket "$work/out" && fail "whatif merges collectives that the program waits for: $(cat "$work/out")"
else
	echo "SKIP (in part): no Open MPI with mpi4py"
fi

# Real jobs, against a calculation of its own.
real=0
for folder in verdicts/dlrm_8ranks public-traces/HolisticTraceAnalysis/trace_filter; do
	[ -n "${SHARED:-}" ] && [ -d "$SHARED/data/$folder" ] || continue
	real=$((real + 1))
	python3 "$here/job_truth.py" "$HEADWAY" "$SHARED/data/$folder" >"$work/truth" || fail "$folder: $(cat "$work/truth")"
done
if [ $real -gt 0 ]; then
	# Truth of the eight ranks: launch or communication; rank 7 is late after the first collective, and mending it saves at most 1.3 ms.
	eight=$SHARED/data/verdicts/dlrm_8ranks
	expect_value "$eight" "j['verdict'] in ('launch', 'comm'), 'rank-straggler' in f, j['lateness']['kind']" "True False few-steps" "eight ranks"
	expect_value "$eight" "max(j['ranks'], key=lambda x: x['costs_others_ns'])['rank'], max(x['costs_others_ns'] for x in j['ranks']) < 1310000" "7 True" "the latest of eight"
else
	echo "SKIP (in part): the recordings of real jobs are not here"
fi
exit $bad
