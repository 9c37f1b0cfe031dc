#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A program under headway profile is the program: stdout, stderr and exit status are, byte for byte, those of a
# plain run. Real programs, each in its own way rough with processes, descriptors, limits or signals.
# PROFILE_OPTIONS: more options for headway profile (osrt_unchanged.sh).
source "$(dirname "$0")/common.bash"

cd "$work" || exit 1
export TMPDIR=$work/tmp
mkdir tmp
ulimit -c 0

has() {
	command -v "$1" >/dev/null || {
		echo "not tried, there is no $1"
		return 1
	}
}

# same NAME COMMAND…: runs it both ways. (The shell's own comments on children that died are of no interest.)
same() {
	local name=$1 plain
	shift
	{
		timeout 60 "$@" >want.out 2>want.err </dev/null
		plain=$?
	} 2>/dev/null
	timeout 60 "$HEADWAY" profile -q -f -o same ${PROFILE_OPTIONS:-} "$@" >out 2>err </dev/null
	status=$?
	[ $status = $plain ] || fail "$name: exit status $status, not $plain; stderr: $(head -c 300 err)"
	cmp -s want.out out || fail "$name: stdout is another: $(diff want.out out | head -5)"
	cmp -s want.err err || fail "$name: stderr is another: $(diff want.err err | head -5)"
	[ -s same.hwy ] || fail "$name: no report"
	[ -z "$(ls -A tmp)" ] || fail "$name: left $(ls -A tmp)"
	rm -rf same.hwy tmp/*
}

# ---- shells
same "an exit status" sh -c 'exit 3'
same "pipes and subshells" bash -c 'for i in 1 2 3; do (echo $i | cat); done; trap "echo bye" EXIT; exit 42'
same "a failing exec" sh -c 'exec /nonexistent'
same "closed standard descriptors" sh -c 'exec 0<&- 1>&- 2>&-; exec true'
same "many children" sh -c 'seq 20 | xargs -P8 -n1 echo | sort -n'
same "a large environment" env BIG="$(head -c 100000 /dev/zero | tr '\0' x)" sh -c 'echo ${#BIG}; sh -c "echo \${#BIG}"'
same "more variables than are handed on" \
	bash -c 'for i in {1..5000}; do export V$i=$i; done; env | grep -c ^V'
same "no files at all" sh -c 'ulimit -n 3; echo hi; (exit 4)'
same "little memory for data" sh -c 'ulimit -d 700; /bin/echo hi'
same "no room in files" bash -c 'ulimit -f 0; (exit 3); exit $?'
# As after a chroot, or where other rights do not see it.
mkdir lib
cp "$(dirname "$HEADWAY")"/libheadway-*.so lib
HEADWAY_LIB=$work/lib same "a library that goes away" sh -c 'mv lib away; /bin/echo hi; env /bin/echo ho; mv away lib'
same "something preloaded that is not there" env LD_PRELOAD=/nonexistent.so sh -c 'echo hi'
for signal in HUP INT QUIT ILL TRAP ABRT BUS FPE KILL SEGV USR1 USR2 PIPE ALRM TERM XCPU XFSZ SYS; do
	same "SIG$signal" bash -c "echo hi; kill -$signal \$\$; sleep 0.2; echo alive"
done

# ---- programs
if has python3; then
	cat >program.py <<'PYTHON'
import gc, multiprocessing, os, subprocess, sys, threading, time

if __name__ == "__main__":
    print(subprocess.run(["sh", "-c", "echo x; exit 4"], capture_output=True))
    print(subprocess.run(["sh", "-c", "echo $A"], capture_output=True, env={"A": "1"}))
    threads = [threading.Thread(target=subprocess.run, args=(["true"],)) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    for method in "fork", "spawn", "forkserver":
        with multiprocessing.get_context(method).Pool(3) as pool:
            print(pool.map(abs, range(-5, 5)))
    try:
        subprocess.run(["/nonexistent"])
    except OSError as error:
        print(error)
    # A pool closes its pipes when it likes, and another thread's first record opens its file for a moment.
    gc.collect()
    print(sorted(set.intersection(*(set(os.listdir("/proc/self/fd")) for _ in range(5) if not time.sleep(0.02)))))
    sys.exit(17)
PYTHON
	same python python3 program.py
	# Daemon threads come out of their sleep while Python is being taken down, their states freed and overwritten.
	cat >late.py <<'PYTHON'
import builtins, random, threading, time

def sleep(depth, chance):
    if depth:
        sleep(depth - 1, chance)
    while True:
        time.sleep(chance.random() * 0.5)

class Slow:
    def __del__(self, time=time.time, made=[]):
        end = time() + 0.5
        for n in range(64, 900, 4):
            made += [b"A" * n for _ in range(20)]
        while time() < end:
            pass

for seed in range(50):
    threading.Thread(target=sleep, args=(20, random.Random(seed)), daemon=True).start()
builtins.slow = Slow()
time.sleep(0.7)
print("end")
PYTHON
	same "Python threads that outlive Python" env PYTHONMALLOC=malloc python3 late.py
	# Making a generator unmaps the frame that the thread is still in, where that was the first of its piece of memory.
	cat >generators.py <<'PYTHON'
def generator(a=1, b=2, c=3):
    yield a

def at(depth):
    if depth:
        return at(depth - 1)
    for _ in range(20):
        generator()

for depth in range(1, 200):
    at(depth)
print("end")
PYTHON
	same "generators at every depth" python3 generators.py
fi
has perl && same perl perl -e 'print `echo a`; system("sh", "-c", "exit 3"); print $? >> 8, "\n";
	my $pid = fork; if (!$pid) { exec "/bin/echo", "child" } waitpid $pid, 0; kill 9, $$'
has git && same git git -C "$DATA" log --oneline -3
printf 'all: a b c\na b c:\n\t@echo $@ >$@.made\nfail:\n\tfalse\n' >rules
has make && same make make -s -j3 -f rules && same "make that fails" make -f rules fail
has sqlite3 && same sqlite3 sqlite3 :memory: 'create table a (b); insert into a values (1); select * from a; select * from c'
has node && same node node -e 'const c = require("child_process"); console.log(c.execSync("echo hi").toString());
	c.spawn("sh", ["-c", "exit 3"]).on("exit", code => { console.log(code); process.exit(7) })'

# ---- programs of our own
has "${CC:-cc}" || finish

# build NAME FLAGS…: from stdin
build() {
	"${CC:-cc}" -w -x c -o "$1" - "${@:2}" -pthread 2>build.log && return
	echo "not tried, does not build here: $1"
	return 1
}

build ends <<'C' && for how in vfork clone handler thread narrow own; do same "_exit: $how" ./ends $how; done
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static int at_once(void *status) { _exit((int)(long)status); }
static void on_signal(int number) { _exit(21); }
/* A crash handler on a small stack of its own, in a thread that has recorded nothing. */
static void *of_narrow(void *unused)
{
	/* The page below it must not be touched. */
	char *pages = mmap(NULL, 4096 + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	mprotect(pages + 4096, 8192, PROT_READ | PROT_WRITE);
	stack_t narrow = {.ss_sp = pages + 4096, .ss_size = 8192};
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
	sigaltstack(&narrow, NULL);
	sigaction(SIGSEGV, &action, NULL);
	*(volatile int *)NULL = 1;
	return NULL;
}
static void *of_thread(void *ends) { if (ends) _exit(11); for (;;) usleep(10); }
int main(int n, char **words)
{
	int status = 0;
	pthread_t thread;
	static char stack[65536];
	if (!strcmp(words[1], "vfork")) {
		for (int i = 0; i < 100; i++) {
			if (vfork() == 0) _exit(4);
			wait(&status);
		}
		printf("%d\n", WEXITSTATUS(status));
		if (vfork() == 0) { execl("/nonexistent", "x", NULL); _exit(errno); }
		wait(&status);
	} else if (!strcmp(words[1], "clone")) {
		int flags[] = {SIGCHLD, SIGCHLD | CLONE_VM | CLONE_VFORK, SIGCHLD | CLONE_VM};
		for (int i = 0; i < 3; i++) {
			waitpid(clone(at_once, stack + sizeof stack, flags[i], (void *)5L), &status, 0);
			printf("%d\n", WEXITSTATUS(status));
		}
	} else if (!strcmp(words[1], "handler")) {
		signal(SIGALRM, on_signal);
		ualarm(20000, 0);
		for (;;) ;
	} else if (!strcmp(words[1], "thread")) {
		for (int i = 0; i < 20; i++) pthread_create(&thread, NULL, of_thread, NULL);
		pthread_create(&thread, NULL, of_thread, &thread);
		pthread_exit(NULL);
	} else if (!strcmp(words[1], "narrow")) {
		pthread_create(&thread, NULL, of_narrow, NULL);
		pthread_join(thread, NULL);
	}
	printf("%d\n", WEXITSTATUS(status));
	fflush(stdout);
	_Exit(9);
}
C
build own_exit <<'C' && same "an _exit of its own" ./own_exit
#include <sys/syscall.h>
#include <unistd.h>
void _exit(int status) { write(1, "mine\n", 5); syscall(SYS_exit_group, status + 1); for (;;) ; }
int main(void) { _exit(3); }
C
build closes <<'C' && same "a program that closes all it has" ./closes
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	int ends[2];
	for (int i = 3; i < 5000; i++) close(i);
	pipe(ends);
	printf("%d %d\n", ends[0], ends[1]);
	fflush(stdout);
	for (int i = 0; i < 3; i++) close(i);
	return ends[0] + ends[1];
}
C
build hasty <<'C' && same "a thread that frees what its handle is in" ./hasty
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
static void *of_thread(void *handle) { munmap(handle, 4096); return NULL; }
int main(void)
{
	pthread_attr_t detached;
	pthread_attr_init(&detached);
	pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < 300; i++) {
		pthread_t *handle = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		pthread_create(handle, &detached, of_thread, handle);
	}
	usleep(100000);
	puts("done");
}
C
# The loader's lock, once held by another thread at a fork, is held for ever in the child. Here it is held long,
# whoever takes it in the name of a thread that only waits.
build forks -rdynamic -ldl <<'C' && same "a fork while another thread records" ./forks
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
typedef int callback(struct dl_phdr_info *, size_t, void *);
static volatile int held, stop;
static __thread int only_waits;
static int slow(struct dl_phdr_info *object, size_t size, void *unused) { held = 1; usleep(50000); return 1; }
int dl_iterate_phdr(callback *call, void *data)
{
	static int (*real)(callback *, void *);
	if (!real) real = dlsym(RTLD_NEXT, "dl_iterate_phdr");
	if (only_waits) real(slow, NULL);
	held = 0;
	return real(call, data);
}
static void *waits(void *unused) { only_waits = 1; while (!stop) poll(NULL, 0, 1); return NULL; }
static int nothing(struct dl_phdr_info *object, size_t size, void *data) { return 1; }
int main(void)
{
	pthread_t thread;
	int status;
	pthread_create(&thread, NULL, waits, NULL);
	for (int i = 0; i < 5; i++) {
		for (volatile int tries = 0; tries < 50000000 && !held; tries++) ; /* no call that is recorded */
		pid_t child = fork();
		if (child == 0) { alarm(5); dl_iterate_phdr(nothing, NULL); _exit(0); }
		waitpid(child, &status, 0);
		printf("%d\n", status);
	}
	stop = 1;
	pthread_join(thread, NULL);
	return 0;
}
C
# As many threads as a process can have maps for, with two for each of our own it could not.
build crowd <<'C' && [ -w /dev/shm ] && [ "$(./crowd)" = 15000 ] && {
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>
enum { THREADS = 15000 };
static sem_t end;
static void *of_thread(void *unused) { usleep(1); while (sem_wait(&end)) ; return NULL; }
int main(void)
{
	static pthread_t threads[THREADS];
	int made = 0;
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 32768);
	while (made < THREADS && !pthread_create(&threads[made], &small, of_thread, NULL)) made++;
	for (int i = 0; i < made; i++) sem_post(&end);
	for (int i = 0; i < made; i++) pthread_join(threads[i], NULL);
	printf("%d\n", made);
}
C
	TMPDIR=$(mktemp -d -p /dev/shm) # files are quickly made there
	same "a crowd of threads" ./crowd
	rmdir "$TMPDIR"
	TMPDIR=$work/tmp
}
# A wait that a handler gives up may be left anywhere, also where something is being recorded of it.
build gives_up <<'C' && same "a handler that leaves by longjmp" ./gives_up
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static sigjmp_buf out;
static volatile int ready;
static void leave(int number) { if (ready) siglongjmp(out, 1); }
static void reads(void)
{
	char byte;
	int ends[2];
	pipe(ends);
	for (int i = 0; i < 50; i++) { write(ends[1], "x", 1); read(ends[0], &byte, 1); open("/nonexistent", 0); }
	close(ends[0]);
	close(ends[1]);
}
static void *of_thread(void *unused) { reads(); return NULL; }
int main(void)
{
	struct itimerval often = {{0, 211}, {0, 211}}, never = {{0}};
	pthread_t thread;
	time_t end = time(NULL) + 2;
	signal(SIGALRM, leave);
	setitimer(ITIMER_REAL, &often, NULL);
	while (time(NULL) < end) {
		if (sigsetjmp(out, 1)) {
			for (int fd = 3; fd < 20; fd++) close(fd);
			continue;
		}
		ready = 1;
		reads();
		ready = 0;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	pthread_create(&thread, NULL, of_thread, NULL);
	pthread_join(thread, NULL);
	puts("done");
}
C
# A lock of its own, and system calls under it, as tcmalloc has; meanwhile another thread's dlclose frees memory.
build allocator <<'C' && same "an allocator of its own" ./allocator
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *at;
static size_t left;
void *malloc(size_t size)
{
	size = (size + 31) & ~15ul;
	pthread_mutex_lock(&lock);
	if (left < size) {
		left = size + 4096;
		at = mmap(NULL, left, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
	char *block = at;
	at += size;
	left -= size;
	*(size_t *)block = size - 16;
	pthread_mutex_unlock(&lock);
	return block + 16;
}
void free(void *block) { pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); }
void *calloc(size_t n, size_t size) { return memset(malloc(n * size), 0, n * size); }
void *realloc(void *old, size_t size)
{
	char *new = malloc(size);
	size_t had = old ? ((size_t *)old)[-2] : 0;
	return memcpy(new, old, had < size ? had : size);
}
static volatile int done;
static void *opens(void *unused)
{
	for (int i = 0; i < 500; i++) dlclose(dlopen("libm.so.6", RTLD_NOW));
	done = 1;
	return NULL;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, opens, NULL);
	while (!done) malloc(100000);
	pthread_join(thread, NULL);
	puts("done");
}
C
build daemon <<'C' && same "a daemon" ./daemon
#include <stdio.h>
#include <unistd.h>
int main(void)
{
	puts("before");
	fflush(stdout);
	if (daemon(1, 1)) return 9;
	usleep(100000);
	return 7;
}
C
build sandbox <<'C' && for how in exit _exit; do same "a sandbox: $how" ./sandbox $how; done
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#define ALLOW(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
int main(int n, char **words)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(SYS_write), ALLOW(SYS_exit_group), ALLOW(SYS_exit), ALLOW(SYS_fstat), ALLOW(SYS_newfstatat),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
	puts("before");
	fflush(stdout);
	if (prctl(PR_SET_SECCOMP, 77, NULL) == 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return 1;
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) return 2;
	puts("after");
	if (!strcmp(words[1], "_exit")) { fflush(stdout); _exit(6); }
	exit(5);
}
C
build static -static <<<'int puts(const char *); int main(void) { puts("static"); return 8; }' && same "a static program" ./static
sanitized='#include <stdlib.h>
int puts(const char *);
int main(int n, char **words) { char *volatile at = malloc(8); puts("in it"); free(at); return n > 1 ? at[0] : 3; }'
for sanitizer in address thread undefined leak; do
	build $sanitizer -fsanitize=$sanitizer <<<"$sanitized" || continue
	# Where not even a plain run works (no ptrace, no room for shadow memory) there is nothing to compare.
	./$sanitizer >/dev/null 2>&1
	[ $? = 3 ] || continue
	same "a program with -fsanitize=$sanitizer" ./$sanitizer
	same "started by another: -fsanitize=$sanitizer" sh -c "./$sanitizer; echo \$?"
done

finish
