#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One command records every rank of a job, under real launchers: into one folder, with the launcher's status, and what a
# rank recorded survives whatever ends it.
source "$(dirname "$0")/jobs.bash"

# For the sanitizers one launcher is enough: headway reads the words of both in unit.job_launchers_test.
makes=(openmpi mpich)
is_sanitized && command -v mpirun.openmpi >/dev/null && makes=(openmpi)
tried=0
for make in "${makes[@]}"; do
	build_rank $make || { echo "without $make: mpicc.$make or mpirun.$make is missing"; continue; }
	tried=1
	app=$work/rank_$make
	many=
	[ $make = openmpi ] && many=--oversubscribe

	# --- one command, four ranks
	launch 60 -t osrt "mpirun.$make" $many -n 4 "$app"
	expect_status 0 "$make"
	[ "$(sort "$work/out")" = "$(printf 'rank %d of 4, sum 6\n' 0 1 2 3)" ] || fail "$make: output: $(cat "$work/out")"
	expect_job job1 4 "$make"
	[ "$(wc -l <"$work/err")" = 1 ] || fail "$make: more than one line: $(cat "$work/err")"
	expect_said "job1  4 ranks on 1 host, 4 reports" "$make"
	[ "$(member job1 3 local_rank) $(member job1 3 world) $(member job1 3 host)" = "3 4 $(uname -n)" ] || fail "$make: rank 3"
	[ "$(member job1 "" status)" = 0 ] || fail "$make: the job's status"

	# --- the launcher's status, a name, and a name that is taken
	launch 60 -t osrt -o named "mpirun.$make" $many -n 2 "$app" status
	expect_status 3 "$make: status"
	expect_job named 2 "$make: -o"
	launch 60 -t osrt -o named "mpirun.$make" $many -n 2 "$app"
	expect_refusal "$make: a name that is taken" "named: exists and is kept"
	launch 60 -t osrt -f -o named "mpirun.$make" $many -n 1 "$app"
	expect_status 0 "$make: -f"
	expect_job named 1 "$make: -f leaves nothing of the earlier job"

	# --- several programs
	cp "$app" "$work/other"
	launch 60 -t osrt -o mixed "mpirun.$make" $many -n 1 "$app" : -n 2 "$work/other" x
	expect_status 0 "$make: two programs"
	expect_job mixed 3 "$make: two programs"
	"$HEADWAY" info mixed/rank2.hwy | grep -q 'Command *.*/other x' || fail "$make: the second program's arguments"
	run info mixed
	expect_status 0 "$make: the folder of two programs is one job"

	# --- a job that is still being recorded is left alone: a rank asks for its own report
	launch 60 -t osrt -o early "mpirun.$make" $many -n 1 sh -c '"$0" recover early; ls -A early | grep -c "^.rank0.run"' "$HEADWAY"
	expect_status 0 "$make: recover while the job runs"
	expect_said "rank 0 on $(uname -n): still being recorded; when it has ended: headway recover early" "$make: recover while the job runs"
	[ "$(cat "$work/out")" = 1 ] || fail "$make: the note of a rank that runs is gone"
	expect_job early 1 "$make: recover while the job runs"

	# --- ranks that die
	launch 60 -t osrt -o killed "mpirun.$make" $many -n 3 "$app" kill 1
	"mpirun.$make" $many -n 3 "$app" kill 1 >/dev/null 2>&1
	expect_status $? "$make: a killed rank"
	expect_job killed 3 "$make: a killed rank"
	expect_said "rank 1 on $(uname -n): died of SIGKILL" "$make: a killed rank"
	launch 60 -t osrt -o aborted "mpirun.$make" $many -n 3 "$app" abort 0
	expect_status 7 "$make: abort"
	expect_job aborted 3 "$make: abort"

	# --- Ctrl-C: the terminal tells the launcher and headway alike
	setsid --wait "$HEADWAY" profile -t osrt -o stopped "mpirun.$make" $many -n 2 "$app" sleep >"$work/out" 2>"$work/err" </dev/null &
	for ((i = 0; i < 300; i++)); do
		[ "$(wc -l <"$work/out")" = 2 ] && break
		sleep 0.05
	done
	kill -INT -- "-$(member stopped "" pid)"
	wait
	expect_job stopped 2 "$make: Ctrl-C"

	# --- headway itself is killed: the rank ends too, and what it recorded is made into a report
	launch 60 -t osrt -o lost "mpirun.$make" $many -n 2 "$app" sleep &
	for ((i = 0; i < 300; i++)); do
		[ -e lost/.rank1.run ] && [ "$(cat "$work/out" 2>/dev/null | wc -l)" = 2 ] && break
		sleep 0.05
	done
	kill -9 "$(sed -n 's/.*"pid": \([0-9]*\).*/\1/p' lost/.rank1.run)"
	wait
	expect_job lost 2 "$make: a killed headway"
	[ "$(member lost 1 state)" = recovered ] || fail "$make: a killed headway: $(member lost 1 state)"
	expect_said "killed together with headway" "$make: a killed headway"

	# --- behind the launcher, once per rank
	timeout -s KILL 60 "mpirun.$make" $many -n 3 "$HEADWAY" profile -t osrt "$app" >"$work/out" 2>"$work/err"
	status=$?
	expect_status 0 "$make: behind the launcher"
	expect_job "$(echo job-*)" 3 "$make: behind the launcher"
	rm -rf job-*
	timeout -s KILL 60 "mpirun.$make" $many -n 3 "$HEADWAY" profile -t osrt -o by_name "$app" >"$work/out" 2>"$work/err"
	expect_job by_name 3 "$make: behind the launcher, by name"
	timeout -s KILL 60 "mpirun.$make" $many -n 2 "$HEADWAY" profile -f -t osrt -o by_name "$app" >"$work/out" 2>"$work/err"
	expect_job by_name 2 "$make: behind the launcher, the same name again"
	timeout -s KILL 60 "mpirun.$make" $many -n 2 "$HEADWAY" profile -t osrt -o own_%p "$app" >"$work/out" 2>"$work/err"
	[ "$(ls own_*.hwy | wc -l)" = 2 ] || fail "$make: names with %p are files"

	# --- a place that cannot be told, and a program that is not there
	launch 60 -t osrt -o doubt "mpirun.$make" $many --not-an-option "$app"
	expect_said "does not tell where the program begins" "$make: an unknown option"
	launch 60 -t osrt -o nothing "mpirun.$make" $many -n 2 "$work/not_there"
	[ "$status" != 0 ] || fail "$make: a program that is not there: status 0"
	grep -q 'No such file' "$work/err" || fail "$make: a program that is not there: $(cat "$work/err")"
	rm -rf job* named mixed early killed aborted stopped lost by_name own_* doubt* nothing
done
[ $tried = 1 ] || { echo "SKIP: neither Open MPI nor MPICH"; exit 77; }

# --- two jobs at once take two folders
make=mpich
[ -e "$work/rank_$make" ] || make=openmpi
launch 60 -t osrt "mpirun.$make" -n 1 "$work/rank_$make" &
first=$!
"$HEADWAY" profile -t osrt "mpirun.$make" -n 1 "$work/rank_$make" >/dev/null 2>&1
wait $first
expect_job job1 1 "two jobs at once"
expect_job job2 1 "two jobs at once"

# --- a rank without a headway, or with another one, runs all the same
mkdir fake
printf '#!/bin/sh\necho headway 99.0\n' >fake/other
chmod +x fake/other
words=$(strings -n 40 "$HEADWAY" | grep '^if test "$("$0" --version')
for which in "$work/fake/other" "$work/fake/none"; do
	out=$(sh -c "$words" "$which" "headway 1" 3 profile --job-rank=x -- echo "a  b" 2>"$work/err")
	[ "$out" = "a  b" ] || fail "without this headway: '$out'"
	grep -q "this rank is not recorded" "$work/err" || fail "without this headway: $(cat "$work/err")"
done

# --- a folder that a rank cannot write: the report stays on its host, and is named
mkdir -m 500 sealed
if [ "$(id -u)" != 0 ]; then
	PMI_RANK=1 PMI_SIZE=2 launch 20 -t osrt --job-rank="$work/sealed" true
	expect_said "its report is $TMPDIR/sealed-rank1.hwy" "a folder that cannot be written"
fi
PMI_RANK=1 PMI_SIZE=2 launch 20 -t osrt --job-rank="$work/nowhere" -- true
expect_status 0 "a folder that is not there"
expect_said "its report is $TMPDIR/nowhere-rank1.hwy" "a folder that is not there"
[ -e "$TMPDIR/nowhere-rank1.hwy" ] || fail "a folder that is not there: no report"

# --- a launcher's polite signals do not stop a rank's report
rm -f begun
PMI_RANK=1 PMI_SIZE=2 setsid --wait "$HEADWAY" profile -t osrt --job-rank="$work/job1" -- \
	bash -c 'trap "" TERM; echo $PPID >begun; sleep 0.2; exit 6' >/dev/null 2>&1 &
signalled=$!
for ((i = 0; i < 300; i++)); do
	[ -s begun ] && break
	sleep 0.02
done
while kill -TERM -- "-$(cat begun)" 2>/dev/null; do
	sleep 0.002
done
wait $signalled
[ $? = 6 ] || fail "a rank that is told to end while its report is made: another status"
[ -e job1/rank1.hwy ] || fail "a rank that is told to end while its report is made: no report"
rm job1/rank1.hwy

# --- a program in the working directory, which launchers find without its folder
cp "$(type -P true)" own_program
PMI_RANK=0 PMI_SIZE=1 launch 20 -t osrt --job-rank="$work/job1" -- own_program
expect_status 0 "a program in the working directory"

# --- a tree of ranks on this host is taken apart
mkdir bin
cat >bin/torchrun <<-'END'
	#!/usr/bin/env python3
	"""Starts the ranks of one host as torchrun does."""
	import os, subprocess, sys
	n = int(sys.argv[1])
	ranks = [subprocess.Popen([sys.executable] + sys.argv[2:], env=dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank),
	         WORLD_SIZE=str(n), LOCAL_WORLD_SIZE=str(n), TORCHELASTIC_RUN_ID="none")) for rank in range(n)]
	sys.exit(max(rank.wait() for rank in ranks))
END
chmod +x bin/torchrun
cat >worker.py <<-'END'
	import os, subprocess, sys
	subprocess.run(["true"])
	sys.exit(4 * int(os.environ["RANK"]))
END
launch 60 -t osrt -o tree bin/torchrun 3 worker.py
expect_status 8 "torchrun"
expect_job tree 3 "torchrun"
[ "$(grep -c 'rank 1 of 3' <("$HEADWAY" info tree/rank1.hwy))" = 2 ] || fail "torchrun: a child belongs to its parent's rank"
"$HEADWAY" info tree/rank1.hwy | grep -q torchrun.*thread && fail "torchrun: the launcher is in a rank's report"
# the same as a task of srun: the launcher's variables are not the ranks'
SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=1 SLURM_STEP_NUM_TASKS=2 launch 60 -t osrt bin/torchrun 2 worker.py
expect_job job-7.0 2 "torchrun in a task of srun"

# ... and typed on two hosts: the second joins the first
sed -i 's/^n = .*/n, first = 4, int(sys.argv[-1])/; s/sys.argv\[2:\]/sys.argv[3:]/; s/range(n)/range(first, first + 2)/' bin/torchrun
launch 60 -t osrt bin/torchrun --nnodes=2 --rdzv-id=night worker.py 0
[ -e job-night/.rank1.run ] || fail "torchrun on two hosts: the job is over too early"
launch 60 -t osrt bin/torchrun --nnodes=2 --rdzv-id=night worker.py 2
expect_job job-night 4 "torchrun on two hosts"

# --- recover takes a folder
cp -r tree cut
bash -c 'PMI_RANK=0 PMI_SIZE=1 "$0" "$@"; exit' "$HEADWAY" profile -t osrt --job-rank="$work/cut" -- sh -c 'kill -9 $PPID; sleep 1' >/dev/null 2>&1
run recover cut
expect_status 0 "recover of a folder"
[ "$(member cut 0 state)" = recovered ] || fail "recover of a folder: $(cat cut/job.json)"
[ -z "$(ls -A "$TMPDIR" | grep '^headway-')" ] || fail "recover of a folder: run directory left"

# --- nothing of a job's command line where that is to be left out
launch 60 -t osrt --no-args -o discreet bin/torchrun 1 worker.py secret
grep -q secret discreet/job.json && fail "--no-args: job.json has the arguments"
finish
