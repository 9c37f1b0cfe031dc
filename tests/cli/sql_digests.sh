#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# sql_digests.sh - the tables of digests: the same numbers as the reports have, from a folder, from one file of digests, and without any report.
. "$(dirname "$0")/common.bash"

cp -r "$DATA/jobs/halo_late" "$work/job"
run digest "$work/job"
expect_status 0 "digests"

# ask WHERE QUERY: the answer as CSV, without its head.
ask() {
	"$HEADWAY" sql --digests --format csv "$1" "$2" | tail -n +2
}

[ "$(ask "$work/job" "select count(*), min(rank), max(rank), max(stale) from digests")" = 4,0,3,0 ] || fail "four ranks"
for rank in 0 1 2 3; do
	step=$("$HEADWAY" analyze --format json "$work/job/rank$rank.hwy" | python3 -c 'import json, sys; print(json.load(sys.stdin)["summary"]["step_ns"])')
	[ "$(ask "$work/job" "select step from digests where rank = $rank")" = "$step" ] || fail "the step of rank $rank is not $step"
done
# States add up to the step, buckets have all steps, and the late rank has the longest own time.
[ "$(ask "$work/job" "select count(*) from digests where compute + exposed_comm + copy + idle <> step")" = 0 ] || fail "states do not add up"
[ "$(ask "$work/job" "select count(*) from digests d where d.steps <> (select sum(steps) from digest_steps s where s.digest_id = d.id)")" = 0 ] ||
	fail "buckets do not have all steps"
[ "$(ask "$work/job" "select rank from digests order by own desc limit 1")" = 3 ] || fail "the late rank"
# The program sends and receives two rows of 8,192 bytes each in a step; exchanges of the steady steps count.
[ "$(ask "$work/job" "select count(*) from digests d where d.steps * 4 * 8192 <> (select sum(bytes) from digest_exchanges e where e.digest_id = d.id and way <> 'collective')")" = 0 ] ||
	fail "bytes of messages"
[ "$(ask "$work/job" "select count(*) from digest_findings where cost <= 0 or share <= 0")" = 0 ] || fail "findings without a cost"

# One file of digests answers the same, with the reports gone.
run digest -o "$work/all.hwd" "$work/job"
rm -r "$work/job"
[ "$(ask "$work/all.hwd" "select rank from digests order by own desc limit 1")" = 3 ] || fail "the late rank, from one file"
run sql "$work/all.hwd" "select count(*) from kernel" --format csv
[ "$(tail -n 1 "$work/out")" = 0 ] || fail "no report is opened"

run sql --digests "$DATA/gpu/mlp_sync.hwy" "select 1"
expect_refusal "no digests" "has no digests"
finish
