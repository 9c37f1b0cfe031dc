#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# headway profile stands between the program and whoever started both: the program gets what was meant for it
# (signals, timers, limits, descriptors), whoever waits sees how the program ended, and headway survives what would end it.
source "$(dirname "$0")/common.bash"

command -v python3 >/dev/null || { echo "SKIP: python3 is not installed"; exit 77; }
cd "$work" || exit 1
export TMPDIR=$work/tmp
mkdir tmp
# AddressSanitizer would set handlers of its own, also where a signal was ignored.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_abort=0
expect() { # expect GOT WANTED WHAT
	[ "$1" = "$2" ] || fail "$3: '$1', not '$2'; stderr: $(head -c 500 err)"
}
nothing_left() { # nothing_left WHAT
	[ -z "$(ls -A tmp)" ] || fail "$1: left $(ls -A tmp)"
	rm -rf tmp/*
}
build() { # build NAME <<C
	cc -O1 -pthread -o "$1" -x c - || fail "$1 does not compile"
}

# ---- what a process keeps over exec: the same with headway and without
cat >given.py <<'END'
import ctypes, os, resource, signal, sys
# given.py CASE PROGRAM…: puts this process into a state, then becomes the program.
case, program = sys.argv[1], sys.argv[2:]
kind, _, rest = case.partition(":")
every = [n for n in range(1, 32) if n not in (signal.SIGKILL, signal.SIGSTOP)] + [40]
numbers = every if rest == "all" else [int(rest)] if rest.isdigit() else []
if kind == "ignored":
    for n in numbers:
        signal.signal(n, signal.SIG_IGN)
elif kind == "blocked":
    signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
elif kind == "pending":
    signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    for n in numbers:
        os.kill(os.getpid(), n)
elif kind == "timer":
    signal.setitimer(int(rest), 1000, 5)
elif kind == "closed":
    os.close(int(rest))
elif kind == "limit":
    name, soft, hard = rest.split(",")
    resource.setrlimit(getattr(resource, name), (int(soft), int(hard)))
elif kind == "death":
    ctypes.CDLL(None).prctl(1, int(rest))
elif kind == "nice":
    os.nice(3), os.umask(0o27)
os.execv(program[0], program)
END
build state <<'C'
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
/* Prints what this process was started with. Timers: whether they run, not how far they are. */
int main(void)
{
	FILE *out = fopen("state.out", "w");
	sigset_t mask, pending;
	sigprocmask(SIG_BLOCK, NULL, &mask);
	sigpending(&pending);
	for (int n = 1; n <= SIGRTMAX; n++) {
		struct sigaction a;
		if (sigaction(n, NULL, &a) != 0) continue;
		fprintf(out, "%d %d %d %d\n", n, a.sa_handler == SIG_IGN, sigismember(&mask, n), sigismember(&pending, n));
	}
	for (int t = 0; t < 3; t++) {
		struct itimerval timer;
		getitimer(t, &timer);
		fprintf(out, "timer %d %ld\n", timer.it_value.tv_sec > 900, (long)timer.it_interval.tv_sec);
	}
	for (int r = 0; r < RLIM_NLIMITS; r++) {
		struct rlimit limit;
		getrlimit(r, &limit);
		fprintf(out, "limit %d %lld %lld\n", r, (long long)limit.rlim_cur, (long long)limit.rlim_max);
	}
	int death = 0, reaper = 0;
	prctl(PR_GET_PDEATHSIG, &death);
	prctl(PR_GET_CHILD_SUBREAPER, &reaper);
	fprintf(out, "open %d %d %d death %d reaper %d nice %d umask %o\n", fcntl(0, F_GETFD) >= 0, fcntl(1, F_GETFD) >= 0,
		fcntl(2, F_GETFD) >= 0, death, reaper, getpriority(PRIO_PROCESS, 0), umask(0));
	return fclose(out) ? 1 : 3;
}
C
# unchanged CASE: the program finds the same state with headway, and headway ends as the program does.
unchanged() {
	rm -f state.out r.hwy
	python3 given.py "$1" ./state >out 2>err </dev/null
	local alone=$?
	mv state.out alone.out 2>/dev/null || : >alone.out
	timeout -k 1 60 python3 given.py "$1" "$HEADWAY" profile -q -f -o r ./state >out 2>err </dev/null
	expect $? $alone "$1: exit status"
	[ -e state.out ] || : >state.out
	cmp -s alone.out state.out || fail "$1: $(diff alone.out state.out | head -4 | tr '\n' ' ')"
	nothing_left "$1"
}
for n in all 1 2 13 14 15 17 25; do unchanged ignored:$n; done
unchanged blocked:all
unchanged blocked:17
unchanged pending:all
for n in 0 1 2; do unchanged timer:$n; unchanged closed:$n; done
unchanged limit:RLIMIT_FSIZE,102400,102400
unchanged limit:RLIMIT_FSIZE,102400,-1
unchanged limit:RLIMIT_CPU,1,1
unchanged limit:RLIMIT_CPU,1,100
for n in 4 6 8 12; do unchanged limit:RLIMIT_NOFILE,$n,$n; done
unchanged limit:RLIMIT_NOFILE,8,1000
unchanged limit:RLIMIT_MEMLOCK,0,0
unchanged limit:RLIMIT_SIGPENDING,0,0
unchanged limit:RLIMIT_STACK,65536,65536
unchanged limit:RLIMIT_NPROC,1,1
unchanged death:15
unchanged nice
# ---- timers that ran before headway did
timed() { # timed EXPRESSION STATUS WHAT: Perl runs it, then becomes headway; the program needs more than its timer has.
	rm -f r.hwy
	{ timeout -k 1 60 perl -MTime::HiRes=setitimer,ITIMER_REAL,ITIMER_VIRTUAL,ITIMER_PROF -e "$1; exec @ARGV" \
		"$HEADWAY" profile -q -f -o r sh -c 'while :; do :; done' >out 2>err </dev/null; } 2>/dev/null
	expect $? "$2" "$3"
	[ -s r.hwy ] || fail "$3: no report"
	nothing_left "$3"
}
timed 'alarm 1' 142 "an alarm ends the program, not headway"
timed 'setitimer(ITIMER_PROF, 0.1)' 155 "a timer of CPU time ends the program"

# ---- a limit that is met in the middle
(ulimit -f 600; timeout -k 1 60 "$HEADWAY" profile -q -f -o r -s process-tree --sampling-frequency 5000 \
	sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done; exit 3' >out 2>err </dev/null)
expect $? 3 "ulimit -f is met by the samples"
rm -rf tmp/*

# ---- signals reach the program once, whomever they were sent to
build counts <<'C'
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
/* Counts SIGTERM, SIGUSR1 and SIGALRM for a second after the first; each gets a digit of what is printed. */
static volatile int n[3];
static void on(int number) { n[number == SIGTERM ? 0 : number == SIGUSR1 ? 1 : 2]++; }
int main(void)
{
	struct sigaction a = {.sa_handler = on};
	sigaction(SIGTERM, &a, 0), sigaction(SIGUSR1, &a, 0), sigaction(SIGALRM, &a, 0);
	puts("ready"), fflush(stdout);
	for (int i = 0; i < 1000 && !(n[0] || n[1] || n[2]); i++) usleep(20000);
	struct timespec t = {0, 500000000};
	while (nanosleep(&t, &t)) ;
	printf("%d%d%d\n", n[0], n[1], n[2]);
	return 0;
}
C
# sent SIGNAL WHOM COUNTS WHAT: WHOM is a kill's operand: $P is headway, which leads a group of its own.
sent() {
	rm -f out r.hwy
	setsid "$HEADWAY" profile -q -f -o r ./counts >out 2>err </dev/null &
	local P=$! i
	for ((i = 0; i < 400; i++)); do grep -qs ready out && break; sleep 0.02; done
	kill -s "$1" -- "${2//P/$P}"
	wait $P
	expect $? 0 "$4: exit status"
	expect "$(tail -1 out)" "$3" "$4"
	[ -s r.hwy ] || fail "$4: no report"
}
for ((round = 0; round < 3; round++)); do
	sent TERM -P 100 "SIGTERM to the group"
	sent TERM P 100 "SIGTERM to headway alone"
done
sent USR1 -P 010 "SIGUSR1 to the group"
sent ALRM P 001 "SIGALRM to headway alone"

# ---- headway ends as the program did
cat >died.py <<'END'
import os, resource, subprocess, sys
# died.py HEADWAY SIGNAL: says what is wrong where headway is not ended by the signal that ends the program.
os.mkdir("cores")
resource.setrlimit(resource.RLIMIT_CORE, (resource.getrlimit(resource.RLIMIT_CORE)[1],) * 2)
program = [sys.argv[1], "profile", "-f", "-o", "../r", "sh", "-c", f"ulimit -c 0; kill -{sys.argv[2]} $$"]
status = subprocess.run(program, stderr=subprocess.DEVNULL, cwd="cores").returncode
if status != -int(sys.argv[2]):
    print("headway's status is", status)
if not os.path.exists("r.hwy"):
    print("there is no report")
if os.listdir("cores"):
    print("headway left", os.listdir("cores"))
END
for n in 2 6 9 11 15; do
	rm -rf r.hwy cores
	expect "$(python3 died.py "$HEADWAY" $n)" "" "the program died of signal $n"
	nothing_left "the program died of signal $n"
done
# A shell's loop ends with Ctrl-C only where the command that it waited for died of SIGINT.
printf '#!/bin/sh\necho ready\nexec sleep 30\n' >sleeps
chmod +x sleeps
cat >loop.sh <<'END'
for i in 1 2 3; do "$@"; echo "after $i"; done
END
rm -f out
env --default-signal=INT setsid bash loop.sh "$HEADWAY" profile -q -f -o r ./sleeps >out 2>err </dev/null &
loop=$!
for ((i = 0; i < 400; i++)); do grep -qs ready out && break; sleep 0.02; done
kill -INT -- -$loop
wait $loop
expect "$(cat out)" ready "an interrupted loop"
nothing_left "an interrupted loop"

# ---- what cannot be started
: >not-executable
for name in ./not-there ./not-executable .; do
	env "$name" >out 2>err
	alone=$?
	run profile -o none "$name"
	expect_status $alone "$name"
	[ "$(wc -l <err)" = 1 ] && grep -q "^headway: $name: " err || fail "$name: $(cat err)"
	nothing_left "$name"
	[ ! -e none.hwy ] || fail "$name: a report of nothing"
done

# ---- what went wrong is told as it is
(ulimit -n 5; "$HEADWAY" profile -f -o r sh -c 'echo on; exit 3' >out 2>err </dev/null)
expect "$? $(cat out)" "3 on" "with 5 descriptors the program runs"
grep -q "nothing can be recorded, the program runs without: .*Too many open files" err || fail "5 descriptors: $(cat err)"
nothing_left "5 descriptors"
(ulimit -f 100; "$HEADWAY" profile -f -o r sh -c 'echo on; exit 3' >out 2>err </dev/null)
expect "$? $(cat out)" "3 on" "with files of 100 KiB the program runs"
grep -q "nothing can be recorded, the program runs without: .*(ulimit -f)" err || fail "ulimit -f: $(cat err)"
nothing_left "ulimit -f"
run profile -f -o r sh -c 'rm -rf tmp/headway-*; exit 3'
expect_status 3 "the run directory was deleted"
grep -q "the recording is lost: its directory was removed" err || fail "the run directory was deleted: $(cat err)"
grep -q "headway recover" err && fail "the run directory was deleted: $(cat err)"

# ---- a daemon's parent is init, and headway waits for the daemon nevertheless
build daemon <<'C'
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	if (fork()) return 4;
	setsid();
	pid_t parent = getppid();
	while (getppid() == parent && parent != 1) usleep(1000);
	usleep(400000);
	printf("%d\n", getppid());
	return 0;
}
C
./daemon >alone
for ((i = 0; i < 200; i++)); do [ -s alone ] && break; sleep 0.02; done
rm -f r.hwy
run profile -f -o r ./daemon
expect_status 4 "a daemon's first process"
expect "$(cat out)" "$(cat alone)" "a daemon's parent, and that it has ended when headway has"
# ---- as the init process of a container headway has the orphans as children, and leaves no zombies
if unshare -rpf --mount-proc true 2>/dev/null; then
	TMPDIR=$work/tmp unshare -rpf --mount-proc "$HEADWAY" profile -q -f -o r bash -c \
		'for i in 1 2 3; do (sleep 0.01 & exit); done; sleep 0.5; cat /proc/[0-9]*/stat | grep -c ") Z " >zombies; exit 5' >out 2>err
	expect "$? $(cat zombies)" "5 0" "zombies where headway is the init process"
	nothing_left "headway is the init process"
fi

# ---- programs that recorded nothing are told of
untold() { # untold WHAT: the report says that one of two programs is missing, and profile does not say that nothing is lost
	grep -q '1 program not recorded' err || fail "$1: $(cat err)"
	"$HEADWAY" info r.hwy >info 2>&1
	grep -q '^  weakens    1 of 2 programs of the run recorded nothing' info || fail "$1: $(grep -A2 ^Trust info)"
}
if echo 'int main(void) { return 9; }' | cc -x c -static -o static - 2>/dev/null; then
	run profile -f -o r -t osrt bash -c 'exec ./static'
	expect_status 9 "a process that becomes a static program"
	untold "a process that becomes a static program"
	run profile -f -o r -t osrt sh -c './static; exit 8'
	expect_status 8 "a static program that is started"
	untold "a static program that is started"
	run profile -f -o r bash -c 'exec ./static'
	expect_status 9 "a process that becomes a static program"
fi
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	run profile -f -o r -t osrt setpriv --reuid=65534 --regid=65534 --clear-groups true
	untold "a process that changes its user"
fi
if unshare -T --monotonic 1000 true 2>/dev/null; then
	run profile -f -o r -t osrt unshare -T --monotonic 1000 true
	untold "a process with another clock"
	grep -qE '^Recorded .* for (9[0-9]{2}|1[0-9]{3})[.0-9]* s' info && fail "another clock: $(grep ^Recorded info)"
fi
# The counts that the processes of a run leave in its state: unreached, unfit, sealed, elsewhen (struct rec_control).
cat >count.py <<'END'
import glob, struct
with open(glob.glob("tmp/headway-*/state")[0], "r+b") as state:
    state.seek(32)
    state.write(struct.pack("<4I", 1, 2, 3, 4))
END
run profile -f -o r -t osrt python3 count.py
grep -q '10 programs not recorded' err || fail "counted programs: $(cat err)"
for line in '1 program that cannot reach the run directory' '2 programs that cannot load the collect library' \
	'3 programs that may not make all system calls' '4 programs that had another clock'; do
	grep -q "^headway: nothing is recorded inside $line" err || fail "counted programs: '$line' is missing in: $(cat err)"
done
run profile -f -o r -t cuda,nvtx python3 count.py
grep -q '8 programs not recorded' err || fail "programs without a library weaken recordings of OS calls only: $(cat err)"
run profile -f -o r -t osrt sh -c 'true; ls >/dev/null; exec true'
grep -q 'nothing lost' err || fail "all programs recorded: $(cat err)"
finish
