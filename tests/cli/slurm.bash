# SPDX-License-Identifier: Apache-2.0
# slurm.bash - a real Slurm on loopback, two nodes of four CPUs, for tests.
#
#     need_slurm                     ends the test as skipped where there is none
#     slurm_more='Epilog=/x.sh'      more lines of slurm.conf
#     slurm_seconds=250              the most that a session takes (120)
#     cat >session.bash <<'END'      what to do with it; in the test's folder
#     srun -N2 -n4 hostname
#     END
#     slurm_session WORDS            starts the cluster, runs session.bash with the words as $1 …
#
# The daemons live in namespaces of their own, for processes and for the network: they end with the first process of
# them, however the test ends, and no port is open to anybody else.
source "$(dirname "$0")/jobs.bash"
export slurm_more=

skip() {
	echo "SKIP: $*"
	exit 77
}

need_slurm() {
	local tool
	for tool in munged slurmctld slurmd srun sbatch unshare ip; do
		PATH=$PATH:/usr/sbin:/sbin command -v $tool >/dev/null || skip "no $tool (slurm-wlm, munge)"
	done
	[ "$(id -u)" = 0 ] || skip "a Slurm of our own needs root"
	export PATH=$PATH:/usr/sbin:/sbin
	inside=(timeout -s KILL "${slurm_seconds:-120}" unshare --net --mount --pid --fork --kill-child --mount-proc)
	"${inside[@]}" true 2>/dev/null || skip "no namespaces here"
}

slurm_session() {
	work=$work "${inside[@]}" bash -c 'source ./cluster.bash && source ./session.bash' session "$@" >session.out 2>&1 </dev/null
	[ -e started ] || skip "Slurm does not start here: $(tail -n 3 session.out slurmctld.log 2>/dev/null | tr '\n' ' ')"
}

cat >cluster.bash <<'END'
# Starts the cluster, and waits until its nodes are idle.
d=$work
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
$slurm_more
CONF
export SLURM_CONF=$d/slurm.conf
slurmctld && slurmd -N n1 && slurmd -N n2 || exit 70
for ((i = 0; i < 200; i++)); do
	[ "$(sinfo -h -o '%D %T' 2>/dev/null)" = "2 idle" ] && break
	sleep 0.1
done
[ $i -lt 200 ] || exit 70
touch started
END
