#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# digest.sh - digests of reports: made once, joined in any order, damage told; and jobs of few and of 4,096 ranks answered from them.
. "$(dirname "$0")/common.bash"
here=$(cd "$(dirname "$0")" && pwd)
cd "$work" || exit 2

# value EXPRESSION OPERANDS…: of the JSON of analyze, with j the member "job".
value() {
	"$HEADWAY" analyze --format json "${@:2}" 2>"$work/err" | python3 -c "
import json, sys
j = json.load(sys.stdin)['job']
print($1)"
}

expect_value() { # WHAT WANTED EXPRESSION OPERANDS…
	local got
	got=$(value "${@:3}")
	[ "$got" = "$2" ] || fail "$1: '$got', not '$2': $(head -c 300 "$work/err")"
}

# ---- one digest beside each report, made once ----------------------------------------------------------------------------------
for fault in even slow-gpu more-work input turns uneven host early; do
	python3 "$here/job_make.py" "$fault" $fault 4 24
done
run digest slow-gpu
expect_status 0 "digests of a folder"
grep -q "4 digests: 4 made, 0 fresh" "$work/err" || fail "digests are not counted: $(cat "$work/err")"
[ "$(stat -c %a slow-gpu/rank2.hwd)" = 600 ] || fail "others may read a digest"
run digest slow-gpu/rank0.json slow-gpu/rank1.json
grep -q "2 digests: 0 made, 2 fresh" "$work/err" || fail "fresh digests are made again: $(cat "$work/err")"
run digest --check slow-gpu
expect_status 0 "all are there"

# A report that has changed, one that cannot be read, and a rank that is missing.
cp -r slow-gpu odd
sed 's/"gemm"/"gemv"/g' slow-gpu/rank1.json >odd/rank1.json
run analyze --digests odd
grep -q "left out, because the report is newer than the digest: 1" "$work/out" || fail "a stale digest: $(cat "$work/out")"
run digest -q odd/rank0.json odd/rank2.json odd/rank3.json
run digest --check odd
expect_status 1 "a stale digest"
grep -q "odd/rank1.json: has no fresh digest" "$work/err" || fail "which digest is stale: $(cat "$work/err")"
echo nothing >odd/rank2.json
rm odd/rank3.*
run digest odd
expect_status 1 "a report that cannot be read"
for text in "no digest: odd/rank2.json" "rank 2: its digest is of an earlier report" "1 of 4 ranks of job odd have no digest here: 3" "1 made, 1 fresh"; do
	grep -qF "$text" "$work/err" || fail "what is missing: no '$text' in $(cat "$work/err")"
done
mkdir none
echo nothing >none/rank0.json
run digest none
expect_status 2 "nothing has a digest"

# ---- damage --------------------------------------------------------------------------------------------------------------------
head -c 300 slow-gpu/rank0.hwd >cut.hwd
run analyze cut.hwd
expect_refusal "a digest that was cut off" "300 bytes long instead of"
cp -r slow-gpu damaged
printf 'x' | dd of=damaged/rank1.hwd bs=1 seek=200 conv=notrunc status=none
run analyze --digests damaged
expect_status 0 "a damaged digest in a folder"
grep -q "left out: damaged/rank1.hwd: damaged: its checksum is wrong" "$work/out" || fail "a damaged digest in a folder: $(cat "$work/out")"

# ---- joined in any order --------------------------------------------------------------------------------------------------------
run digest -q -o whole.hwd slow-gpu
"$HEADWAY" digest -q -o a.hwd slow-gpu/rank3.hwd slow-gpu/rank1.hwd 2>"$work/err"
[ $? = 1 ] && grep -q "2 of 4 ranks of job slow-gpu have no digest here: 0, 2" "$work/err" || fail "half a job: $(cat "$work/err")"
"$HEADWAY" digest -q -o b.hwd slow-gpu/rank2.hwd slow-gpu/rank0.hwd slow-gpu/rank1.hwd 2>/dev/null
for order in "a.hwd b.hwd" "b.hwd a.hwd" "a.hwd b.hwd whole.hwd a.hwd" "slow-gpu b.hwd"; do
	# shellcheck disable=SC2086
	run digest -q -f -o joined.hwd $order
	cmp -s whole.hwd joined.hwd || fail "joined in the order $order"
done
run digest -o joined.hwd a.hwd
expect_status 2 "a file that exists"
run digest -q -f -o both.hwd slow-gpu even
run analyze both.hwd
expect_status 2 "digests of two jobs"
grep -q "digests of several jobs: 'even' and 'slow-gpu'" "$work/err" || fail "digests of two jobs: $(cat "$work/err")"

# ---- digests say what the reports say ---------------------------------------------------------------------------------------------
same="j['verdict'], [] if j['lateness']['kind'] == 'early' else j['lateness']['ranks'], (j['lateness']['cause'] or {}).get('part') if j['lateness']['ranks'] and j['lateness']['kind'] != 'early' else ''"
for fault in even slow-gpu more-work input turns uneven host early; do
	run digest -q $fault
	whole=$(value "$same" --whole $fault)
	expect_value "$fault from digests" "$whole" "$same" --digests $fault
done
expect_value "a slow GPU launches the same" "1.0 gemm" "j['lateness']['cause']['threads_ratio'], j['lateness']['cause']['kernel']" --digests slow-gpu
expect_value "a rank with more work" "1.5" "j['lateness']['cause']['threads_ratio']" --digests more-work
expect_value "ranks that take turns" "takes-turns" "j['lateness']['kind']" --digests turns
cp "$DATA/programs/ddp.hwy" .
mkdir ddp && cp ddp.hwy ddp/
run digest -q ddp
whole=$(value "j['verdict'], j['lateness']['kind'], len(j['ranks'])" --whole ddp.hwy)
expect_value "two recorded ranks" "$whole" "j['verdict'], j['lateness']['kind'], len(j['ranks'])" --digests ddp
if [ -n "${SHARED:-}" ] && [ -d "$SHARED/data/verdicts/dlrm_8ranks" ]; then
	cp -r "$SHARED/data/verdicts/dlrm_8ranks" eight && chmod -R u+w eight
	run digest -q eight
	expect_value "eight recorded ranks" "True [] few-steps" "j['verdict'] in ('launch', 'comm'), j['lateness']['ranks'], j['lateness']['kind']" --digests eight
else
	echo "SKIP (in part): the recordings of real jobs are not here"
fi
expect_value "parts add up" True "all(x['step_ns'] == sum(x[k] for k in ('compute_ns', 'transfer_ns', 'wait_ns', 'copy_ns', 'idle_ns')) for x in j['ranks'])" --digests host

# ---- more ranks than are opened -----------------------------------------------------------------------------------------------------
python3 "$here/job_make.py" seventy slow-gpu 70 16
run digest -q seventy
run analyze seventy
for text in "70 ranks" "from digests" "69 like" "Rank 69 makes the others wait" "from the reports of ranks 69," "headway analyze seventy/rank69.json"; do
	grep -qF -- "$text" "$work/out" || fail "many ranks: no '$text' in $(head -c 2500 "$work/out")"
done
expect_value "reports that were opened" "True 69" "2 <= len(j['reports_opened']) <= 4, j['reports_opened'][0]" seventy
run analyze --format brief --whole seventy
grep -q "Verdict: comm. Rank 69" "$work/out" && ! grep -q digests "$work/out" || fail "--whole: $(cat "$work/out")"
rm seventy/*.json
expect_value "digests alone" "[69] []" "j['lateness']['ranks'], j['reports_opened']" seventy
python3 "$here/job_make.py" seventy slow-gpu 70 16
run view --html page.html seventy
grep -q "of 70 ranks these are opened: 69 (late), [0-9]* (typical)" "$work/err" || fail "which ranks are viewed: $(cat "$work/err")"
run view --html other.html --ranks 3,200 seventy
expect_status 2 "a rank that is not there"
grep -q "seventy: there is no report of rank 200" "$work/err" || fail "a rank that is not there: $(cat "$work/err")"

# ---- 4,096 ranks with known faults ----------------------------------------------------------------------------------------------------
run digest -q ddp.hwy
"$DIGESTS_OF" ddp.hwd big.hwd 4096 1000 1 clock:611:0.08 clock:612:0.06 drift:3001:0.1 link:1702:0.3 || fail "4,096 digests cannot be made"
[ "$(stat -c %s big.hwd)" -lt $((4096 * 6000)) ] || fail "4,096 digests take $(stat -c %s big.hwd) bytes"
expect_value "all that is planted, and nothing else" "[611, 612] [3001] [[1702, 1703]] None [('host', 'n076')]" \
	"j['lateness']['ranks'], j['slowing'], [x['ranks'] for x in j['links']], j['trend'], [(x['what'], x['value']) for x in j['lateness']['in_common']]" big.hwd
expect_value "nobody else is late" "{'in-time': 4093, 'late': 2, 'slowing': 1}" \
	"dict(sorted(__import__('collections').Counter(x['state'] for x in j['ranks']).items()))" big.hwd
for seed in $(is_sanitized || echo 1 2) 3; do
	"$DIGESTS_OF" ddp.hwd even.hwd 4096 300 $seed
	expect_value "nothing is planted, seed $seed" "[] [] [] None" "j['lateness']['ranks'], j['slowing'], j['links'], j['trend']" even.hwd
done
run analyze big.hwd
for text in "4,096 ranks on 512 hosts" "4,093 like" "on host n076." "rank 3001 on n375" "1702 → 1703" "512–767"; do
	grep -qF -- "$text" "$work/out" || fail "4,096 ranks: no '$text' in $(head -c 3000 "$work/out")"
done
[ "$(wc -L <"$work/out")" -le 100 ] || fail "a line is $(wc -L <"$work/out") columns wide"
[ "$(wc -l <"$work/out")" -le 70 ] || fail "4,096 ranks take $(wc -l <"$work/out") lines"
LC_ALL=C run analyze big.hwd
grep -qP '[^\x00-\x7f]' "$work/out" && fail "not ASCII: $(grep -P '[^\x00-\x7f]' "$work/out" | head -2)"
run analyze --format brief big.hwd
[ "$(wc -c <"$work/out")" -lt 2000 ] && grep -q "Late: Ranks 611 and 612" "$work/out" || fail "brief: $(cat "$work/out")"
run analyze --format markdown big.hwd
grep -q '^| ranks | host |' "$work/out" && grep -q '^| rank 611 | n076 |' "$work/out" || fail "markdown: $(head -c 1500 "$work/out")"
run analyze --format html big.hwd
expect_status 2 "a page of digests"

run analyze --anonymous big.hwd
expect_refusal "names that are in digests" "--anonymous"
run stats big.hwd
expect_refusal "tables of digests" "digests of ranks, which have no timeline"

# Two such jobs, and a gate.
run diff even.hwd big.hwd
expect_status 1 "a job that became slower"
grep -q "late: nobody is late → ranks 611 and 612 are late" "$work/out" || fail "diff: $(cat "$work/out")"
run baseline -f -o base.json even.hwd
run gate --baseline base.json --metric step.mean --metric job.late_ranks big.hwd
expect_status 1 "a job that does not pass"
grep -q "job.late_ranks *0 → 3" "$work/out" || fail "gate: $(cat "$work/out")"
echo "job.late_ranks <= 0" >budget.toml
run gate --budget budget.toml even.hwd
expect_status 0 "a job that passes"
exit $bad
