#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# headway export -t parquet --missing: what is there and later than its report stays, the rest is written.
source "$(dirname "$0")/jobs.bash"
"${RANKS_OF:?}" job 4 1 "$DATA/jobs/ddp_late/rank0.hwy" "$DATA/jobs/ddp_late/rank1.hwy" || fail "no reports"
place=lake/job=made.4
numbers() {
	stat -c '%n %i' $place/rank=* # a rank that was written again is another folder
}

run export -t parquet --check job/rank2.hwy -o lake
expect_status 1 "a look at nothing"
expect_line err "headway: job/rank2.hwy: lake/job=made.4/rank=2 is missing" "a look at nothing"
[ -e lake ] && fail "a look at nothing: something was written"
run export -t parquet --missing job/rank2.hwy -o lake
expect_status 0 "the first rank"
before=$(numbers)
run export -t parquet --missing job/rank2.hwy -o lake
expect_status 0 "once more"
expect_line out "lake: nothing is missing" "once more"
[ "$(numbers)" = "$before" ] || fail "once more: it was written again"
run export -t parquet job/rank2.hwy -o lake
expect_refusal "without --missing" "exists and is kept"

# --- the ranks of a folder, of which one is there
run export -t parquet --missing job -o lake
expect_status 0 "a folder"
[ "$(ls $place | tr '\n' ' ')" = "rank=0 rank=1 rank=2 rank=3 " ] || fail "a folder: $(ls $place)"
[ "$(numbers | grep rank=2)" = "$before" ] || fail "a folder: rank 2 was written again"

# --- a report that is later than what was made of it
before=$(numbers)
run export -t parquet --check job -o lake
expect_status 0 "a look at all"
[ -s out ] || [ -s err ] && fail "a look at all: $(cat out err)"
touch -d '1 minute' job/rank1.hwy
run export -t parquet --check job -o lake
expect_status 1 "a look at a later report"
expect_line err "headway: job/rank1.hwy: lake/job=made.4/rank=1 is missing" "a look at a later report"
run export -t parquet --missing job -o lake
expect_status 0 "a later report"
[ "$(diff <(echo "$before") <(numbers) | grep -c '^>')" = 1 ] || fail "a later report: $(diff <(echo "$before") <(numbers))"
[ "$(diff <(echo "$before") <(numbers) | grep -c 'rank=1 ')" = 2 ] || fail "a later report: another rank was written"
[ "$(ls -A | grep -c '^lake\.')" = 0 ] || fail "left behind: $(ls -A)"

# --- a file in the place of a rank is not trusted
rm -r $place/rank=0 && mkdir $place/rank=0 && echo mine >$place/rank=0/notes.txt && touch -d '1 minute ago' $place/rank=0
touch -d '30 seconds ago' job/rank0.hwy
run export -t parquet --missing job/rank0.hwy -o lake
expect_refusal "somebody's file" "notes.txt"
finish
