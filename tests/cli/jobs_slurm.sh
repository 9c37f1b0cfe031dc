#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A real Slurm on loopback, two nodes and four tasks: headway before srun, and behind it in a batch script.
#
# The daemons live in namespaces of their own, for processes and for the network: they end with the first process of
# them, however this test ends, and no port is open to anybody else.
source "$(dirname "$0")/jobs.bash"
skip() {
	echo "SKIP: $*"
	exit 77
}
for tool in munged slurmctld slurmd srun sbatch unshare ip; do
	PATH=$PATH:/usr/sbin:/sbin command -v $tool >/dev/null || skip "no $tool (slurm-wlm, munge)"
done
build_rank mpich || skip "no MPICH"
[ "$(id -u)" = 0 ] || skip "a Slurm of our own needs root"
export PATH=$PATH:/usr/sbin:/sbin
inside=(timeout -s KILL 120 unshare --net --mount --pid --fork --kill-child --mount-proc)
"${inside[@]}" true 2>/dev/null || skip "no namespaces here"

cat >cluster.bash <<'END'
# Starts the cluster, and waits until its nodes are idle.
d=$1
ip link set lo up
ip addr add 10.111.0.1/32 dev lo # getaddrinfo leaves out a host that has loopback only
host=$(uname -n)
head -c 1024 /dev/urandom >munge.key
chmod 600 munge.key
munged --force --socket="$d/munge.sock" --key-file="$d/munge.key" --pid-file="$d/munge.pid" \
	--log-file="$d/munge.log" --seed-file="$d/munge.seed"
mkdir state spool.n1 spool.n2
cat >slurm.conf <<CONF
ClusterName=headway
SlurmctldHost=${host%%.*}(127.0.0.1)
SlurmctldPort=17000
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$d/munge.sock
CredType=cred/munge
StateSaveLocation=$d/state
SlurmdSpoolDir=$d/spool.%n
SlurmctldPidFile=$d/slurmctld.pid
SlurmdPidFile=$d/slurmd.%n.pid
SlurmctldLogFile=$d/slurmctld.log
SlurmdLogFile=$d/slurmd.%n.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/linear
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SlurmdParameters=config_overrides
SchedulerParameters=sched_min_interval=0
KillWait=5
MailProg=/bin/true
NodeName=n1 NodeHostname=${host%%.*} NodeAddr=127.0.0.1 Port=17001 CPUs=4
NodeName=n2 NodeHostname=${host%%.*} NodeAddr=127.0.0.1 Port=17002 CPUs=4
PartitionName=p Nodes=n1,n2 Default=YES State=UP
CONF
export SLURM_CONF=$d/slurm.conf
slurmctld && slurmd -N n1 && slurmd -N n2 || exit 70
for ((i = 0; i < 200; i++)); do
	[ "$(sinfo -h -o '%D %T' 2>/dev/null)" = "2 idle" ] && break
	sleep 0.1
done
[ $i -lt 200 ] || exit 70
END
cat >session.bash <<'END'
source "$1/cluster.bash" "$1"
cat >batch.sh <<BATCH
#!/bin/bash
# headway in a batch script, not behind srun, is no rank
"$HEADWAY" profile -t osrt -o alone true
srun --mpi=pmi2 "$HEADWAY" profile -t osrt "$2"
srun --mpi=pmi2 "$HEADWAY" profile -t osrt -o named "$2"
BATCH
timeout 60 "$HEADWAY" profile -t osrt srun --mpi=pmi2 -N2 -n4 "$2" >srun.out 2>srun.err
echo $? >srun.status
timeout 60 "$HEADWAY" profile -t osrt -o dies srun --mpi=pmi2 -K -N2 -n4 "$2" exit 1 >dies.out 2>dies.err
echo $? >dies.status
timeout 60 srun --mpi=pmi2 -K -N2 -n4 "$2" exit 1 >/dev/null 2>&1
echo $? >plain.status
timeout 60 sbatch -W -N2 -n4 -o batch.out batch.sh >sbatch.out 2>&1
echo $? >batch.status
END
"${inside[@]}" bash session.bash "$work" "$work/rank_mpich" >session.out 2>&1 </dev/null
[ -e batch.status ] || skip "Slurm does not start here: $(tail -n 3 session.out slurmctld.log 2>/dev/null | tr '\n' ' ')"

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
