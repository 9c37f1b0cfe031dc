#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A real Slurm on loopback, two nodes and four tasks: headway before srun, and behind it in a batch script.
source "$(dirname "$0")/slurm.bash"
build_rank mpich || skip "no MPICH"
need_slurm
cat >session.bash <<'END'
cat >batch.sh <<BATCH
#!/bin/bash
# headway in a batch script, not behind srun, is no rank
"$HEADWAY" profile -t osrt -o alone true
srun --mpi=pmi2 "$HEADWAY" profile -t osrt "$1"
srun --mpi=pmi2 "$HEADWAY" profile -t osrt -o named "$1"
BATCH
timeout 60 "$HEADWAY" profile -t osrt srun --mpi=pmi2 -N2 -n4 "$1" >srun.out 2>srun.err
echo $? >srun.status
timeout 60 "$HEADWAY" profile -t osrt -o dies srun --mpi=pmi2 -K -N2 -n4 "$1" exit 1 >dies.out 2>dies.err
echo $? >dies.status
timeout 60 srun --mpi=pmi2 -K -N2 -n4 "$1" exit 1 >/dev/null 2>&1
echo $? >plain.status
timeout 60 sbatch -W -N2 -n4 -o batch.out batch.sh >sbatch.out 2>&1
echo $? >batch.status
END
slurm_session "$work/rank_mpich"

# --- headway before srun
cp srun.err err
status=$(cat srun.status)
expect_status 0 "headway before srun"
[ "$(sort srun.out)" = "$(printf 'rank %d of 4, sum 6\n' 0 1 2 3)" ] || fail "headway before srun: $(cat srun.out srun.err)"
expect_job job1 4 "headway before srun"
expect_said "job1  4 ranks" "headway before srun"
[ "$(member job1 "" launcher)" = srun ] || fail "headway before srun: launcher"
[ "$(member job1 2 local_rank)" = 0 ] || fail "headway before srun: the third rank is the first of its node"

# --- a rank that ends badly ends the others: all are there and named
cp dies.err err
[ "$(cat dies.status)" = "$(cat plain.status)" ] || fail "a rank that fails: status $(cat dies.status), plain $(cat plain.status)"
expect_job dies 4 "a rank that fails"
[ "$(member dies 1 status)" = 1280 ] || fail "a rank that fails: $(member dies 1 status)"

# --- inside a batch script
[ "$(cat batch.status)" = 0 ] || fail "batch: $(cat sbatch.out batch.out)"
[ -e alone.hwy ] || fail "batch: a program outside srun has a report of its own"
expect_job job-4.0 4 "srun in a batch script"
expect_job named 4 "srun in a batch script, by name"
[ "$(member named "" id)" = 4.1 ] || fail "batch: identity $(member named "" id)"
[ "$(grep -c 'headway: job-4.0  4 ranks' batch.out)" = 1 ] || fail "batch: one summary: $(cat batch.out)"
finish
