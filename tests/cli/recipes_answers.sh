#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# recipes/answers.sh alone, by shares and behind mpirun: what is made, joined and named.
source "$(dirname "$0")/jobs.bash"
export HEADWAY
answers=$here/../../recipes/answers.sh
"${RANKS_OF:?}" job 9 4 "$DATA/jobs/ddp_late/rank0.hwy" "$DATA/jobs/ddp_late/rank1.hwy" || fail "no reports"

# answered WORDS…: runs the recipe; leaves what run leaves.
answered() {
	timeout 100 "$@" >out 2>err </dev/null
	status=$?
}
# expect_ranks RANKS WHAT: these have a digest and Parquet.
expect_ranks() {
	local digests parquet
	digests=$(cd job && ls -d rank*.hwd 2>/dev/null | tr -dc '0-9\n' | tr '\n' ' ')
	parquet=$(cd lake/job=made.9 2>/dev/null && ls -d rank=* | tr -dc '0-9\n' | tr '\n' ' ')
	[ "$digests" = "$1" ] || fail "$2: digests of $digests"
	[ "$parquet" = "$1" ] || fail "$2: Parquet of $parquet"
}

# --- shares, which join nothing
SHARE=1/4 answered "$answers" job lake
expect_status 0 "a share"
expect_ranks "1 5 " "a share"
[ -e job.hwd ] && fail "a share: joined"
for share in 4/4 a/b 3 /2 1/; do
	SHARE=$share answered "$answers" job lake
	expect_status 2 "SHARE=$share"
done

# --- alone: the rest, joined
answered "$answers" job/ lake
expect_status 0 "alone"
expect_ranks "0 1 2 3 4 5 6 7 8 " "alone"
run analyze job.hwd
expect_status 0 "what was joined"
grep -q "9 ranks on 2 hosts" out || fail "what was joined: $(head -n 3 out)"

# --- behind mpirun
for make in openmpi mpich; do
	command -v mpirun.$make >/dev/null || continue
	more=()
	[ $make = openmpi ] && more=(--oversubscribe)
	rm -rf lake job/*.hwd
	answered mpirun.$make "${more[@]}" -n 4 "$answers" job lake
	expect_status 0 "$make"
	expect_ranks "0 1 2 3 4 5 6 7 8 " "$make"
done

# --- a report that cannot be read costs no other, and is named
rm -rf lake job/*.hwd job.hwd
cp job/rank3.hwy kept.hwy
head -c 1000 kept.hwy >job/rank3.hwy
answered "$answers" job lake
expect_status 1 "a report that is cut"
expect_ranks "0 1 2 4 5 6 7 8 " "a report that is cut"
expect_said "1 of 9 ranks of job made.9 have no digest here: 3" "a report that is cut"
expect_said "run this again" "a report that is cut"
cp kept.hwy job/rank3.hwy
answered "$answers" job lake
expect_status 0 "the report that was mended"
expect_ranks "0 1 2 3 4 5 6 7 8 " "the report that was mended"

# --- nothing to do
answered "$answers" nothing
expect_status 2 "no folder"
answered "$answers"
expect_status 2 "no words"
finish
