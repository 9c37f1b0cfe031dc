#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# headway digest --share: processes divide the reports of a job, by numbers and behind real launchers.
source "$(dirname "$0")/jobs.bash"
"${RANKS_OF:?}" job 9 4 "$DATA/jobs/ddp_late/rank0.hwy" "$DATA/jobs/ddp_late/rank1.hwy" || fail "no reports"

digests() {
	(cd job && ls -- *.hwd 2>/dev/null | tr '\n' ' ')
}

# --- shares are apart from each other, and together all
run digest -q --share 0/2 job
expect_status 0 "the first half"
[ "$(digests)" = "rank0.hwd rank2.hwd rank4.hwd rank6.hwd rank8.hwd " ] || fail "the first half: $(digests)"
[ -s err ] && fail "the first half says what is missing elsewhere: $(cat err)"
run digest -q --share 1/2 job
expect_status 0 "the second half"
[ "$(digests | wc -w)" = 9 ] || fail "both halves: $(digests)"
run digest --share 1/2 job
expect_said "4 digests: 0 made, 4 fresh" "once more"
rm job/*.hwd
run digest --share 1/3 job/rank{0..3}.hwy job/rank{4..8}.hwy
[ "$(digests)" = "rank1.hwd rank4.hwd rank7.hwd " ] || fail "a share of files: $(digests)"

# --- a share without a report has nothing to do; one whose report cannot be read says so and goes on
run digest --share 9/10 job
expect_status 0 "more processes than reports"
[ -s err ] && fail "more processes than reports: $(cat err)"
cp job/rank0.hwy kept.hwy
head -c 1000 kept.hwy >job/rank0.hwy
run digest --share 0/4 job
expect_status 1 "a report that is cut"
expect_said "rank0.hwy" "a report that is cut"
[ "$(digests)" = "rank1.hwd rank4.hwd rank7.hwd rank8.hwd " ] || fail "a report that is cut: $(digests)"
cp kept.hwy job/rank0.hwy

# --- what is no share
for share in 2/2 -1/2 1/ /2 1 1/2x 1/0 0x1/2 +1/2 5000000000/6000000000 Auto ''; do
	run digest --share "$share" job
	expect_status 2 "--share '$share'"
	expect_said "I/N" "--share '$share'"
done
run digest --share 0/2 -o job.hwd job
expect_status 2 "--share with -o"
run digest --share auto job
expect_status 2 "--share auto without a launcher"
expect_said "no launcher" "--share auto without a launcher"
# A batch script of Slurm is not one of the tasks.
SLURM_JOB_ID=7 SLURM_PROCID=0 SLURM_NTASKS=4 run digest --share auto job
expect_status 2 "--share auto in a batch script"

# --- processes of two hosts, or two containers, may have one number and make the same digest: neither is in the other's way
apart=(unshare --pid --fork --mount-proc)
if "${apart[@]}" true 2>/dev/null; then
	for i in {1..5}; do
		"${apart[@]}" "$HEADWAY" digest -qf job/rank{0..8}.hwy 2>err.a &
		"${apart[@]}" "$HEADWAY" digest -qf job/rank{0..8}.hwy 2>err.b
		status=$?
		wait $! || fail "two with one number: $(head -n 1 err.a)"
		[ $status = 0 ] || fail "two with one number: $(head -n 1 err.b)"
		[ $bad = 0 ] || break
	done
	run digest --check -q job
	expect_status 0 "two with one number"
	[ -z "$(ls job | grep part)" ] || fail "two with one number: left behind: $(ls job)"
fi

# --- each launcher that is here
for make in openmpi mpich; do
	command -v mpirun.$make >/dev/null || continue
	more=()
	[ $make = openmpi ] && more=(--oversubscribe)
	rm -f job/*.hwd
	timeout 60 mpirun.$make "${more[@]}" -n 4 "$HEADWAY" digest --share auto job >out 2>err </dev/null
	status=$?
	expect_status 0 "$make"
	[ "$(digests | wc -w)" = 9 ] || fail "$make: $(digests)"
	[ "$(grep -c ' made, 0 fresh' err)" = 4 ] || fail "$make: four processes divide the reports: $(cat err)"
	[ "$(sed -n 's/.*: \([0-9]*\) made.*/\1/p' err | sort | tr '\n' ' ')" = "2 2 2 3 " ] || fail "$make: $(cat err)"
done
finish
