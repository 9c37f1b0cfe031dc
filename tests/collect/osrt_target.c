/* SPDX-License-Identifier: Apache-2.0 */
/* osrt_target.c - calls that block, known in advance; for the tests of OS calls.
 *
 * osrt_target calls: makes each call THRICE, blocked for BLOCKED_MS, and prints a line for each: its name, when it
 * was about to begin, when it had ended (CLOCK_MONOTONIC ns), and in hexadecimal the object's address or 0.
 * osrt_target wakes: one wait of each kind, woken by another thread that was at it for a while.
 * osrt_target rough: cancellation, signals, errno and the like; what it prints must be that of a plain run.
 * osrt_target end: a thread is in a call when the process ends, another is cancelled in one.
 * osrt_target many N: N threads that lock and wake each other. What helpers do goes past libc where it must not
 * be recorded.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKED_MS = 4, THRICE = 3 };
static int helper_ms = BLOCKED_MS; /* how long helpers let the others wait */

static int64_t now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void pause_ms(int ms)
{
	struct timespec time = {.tv_nsec = ms * 1000000L};
	syscall(SYS_nanosleep, &time, NULL);
}

static struct timespec in_ms(clockid_t clock, int ms)
{
	struct timespec time;
	clock_gettime(clock, &time);
	time.tv_nsec += ms * 1000000L;
	time.tv_sec += time.tv_nsec / 1000000000;
	time.tv_nsec %= 1000000000;
	return time;
}

/* ---- a helper that does something after a while --------------------------------------------------- */

static struct later {
	void (*act)(void);
	pthread_t thread, main;
} later;

static void *run_later(void *unused)
{
	(void)unused;
	pause_ms(helper_ms);
	later.act();
	return NULL;
}

static void begin_later(void (*act)(void))
{
	later.act = act;
	later.main = pthread_self();
	pthread_create(&later.thread, NULL, run_later, NULL);
}

static void end_later(void)
{
	pthread_join(later.thread, NULL);
}

/* ---- objects -------------------------------------------------------------------------------------- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static int pipe_ends[2], sockets[2], listener, event, locked[2];
static struct sockaddr_in address = {.sin_family = AF_INET};

static void make_objects(void)
{
	char name[] = "/tmp/osrt-target-XXXXXX";
	socklen_t size = sizeof address;
	int failed = pipe(pipe_ends) + socketpair(AF_UNIX, SOCK_STREAM, 0, sockets);
	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&semaphore, 0, 0);
	event = eventfd(0, 0);
	locked[0] = mkstemp(name);
	locked[1] = open(name, O_RDWR);
	unlink(name);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	failed += bind(listener, (struct sockaddr *)&address, sizeof address);
	failed += listen(listener, 4) + getsockname(listener, (struct sockaddr *)&address, &size);
	if (failed || event < 0 || locked[0] < 0 || locked[1] < 0)
		abort();
}

static void fill_pipe(void)
{
	if (write(pipe_ends[1], "x", 1) != 1)
		abort();
}
static void fill_socket(void)
{
	if (send(sockets[1], "x", 1, 0) != 1)
		abort();
}
static void fill_event(void)
{
	uint64_t one = 1;
	if (write(event, &one, 8) != 8)
		abort();
}
static void post(void)
{
	sem_post(&semaphore);
}
static void raw_signal(void)
{
	pthread_kill(later.main, SIGUSR1);
}
static void wake_condition(void)
{
	pthread_mutex_lock(&mutex);
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
}
static void arrive(void)
{
	pthread_barrier_wait(&barrier);
}
static void nothing(void)
{
}
static void visit(void)
{
	int fd = (int)syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
	syscall(SYS_connect, fd, &address, sizeof address);
	syscall(SYS_close, fd);
}
static void drain(void)
{
	static char bytes[65536];
	if (syscall(SYS_read, pipe_ends[0], bytes, sizeof bytes) <= 0)
		abort();
}

/* Held by another thread for a while. */
static sem_t held;
static void *hold_mutex(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&mutex);
	sem_post(&held);
	pause_ms(helper_ms);
	pthread_mutex_unlock(&mutex);
	return NULL;
}
static void *hold_rwlock(void *unused)
{
	(void)unused;
	pthread_rwlock_wrlock(&rwlock);
	sem_post(&held);
	pause_ms(helper_ms);
	pthread_rwlock_unlock(&rwlock);
	return NULL;
}
static void *hold_file(void *unused)
{
	(void)unused;
	syscall(SYS_flock, locked[0], LOCK_EX);
	sem_post(&held);
	pause_ms(helper_ms);
	syscall(SYS_flock, locked[0], LOCK_UN);
	return NULL;
}
static void begin_held(void *(*hold)(void *))
{
	sem_init(&held, 0, 0);
	pthread_create(&later.thread, NULL, hold, NULL);
	while (sem_trywait(&held) != 0)
		pause_ms(0);
}

/* ---- calls ---------------------------------------------------------------------------------------- */

static void on_signal(int number)
{
	(void)number;
}

/* What goes before it, the call, what goes after it. 'object': an address, or NULL. */
#define CALL(name, object, before, call, after)                                                    \
	for (int i_ = 0; i_ < THRICE; i_++) {                                                      \
		before;                                                                            \
		int64_t from_ = now();                                                             \
		(void)!(call);                                                                     \
		int64_t to_ = now();                                                               \
		printf("%s %lld %lld %lx\n", name, (long long)from_, (long long)to_,               \
		       (unsigned long)(uintptr_t)(object));                                        \
		after;                                                                             \
	}

static char bytes[65536];
static struct timespec until;
static const struct timespec while_blocked = {.tv_nsec = BLOCKED_MS * 1000000L};

static void fill_up(void)
{
	fcntl(pipe_ends[1], F_SETFL, O_NONBLOCK);
	while (syscall(SYS_write, pipe_ends[1], bytes, 4096) == 4096)
		;
	fcntl(pipe_ends[1], F_SETFL, 0);
}

static void call_files(void)
{
	struct iovec vector = {bytes, 1};
	struct pollfd polled = {.fd = event, .events = POLLIN};
	struct epoll_event found;
	int epoll = epoll_create1(0);
	CALL("read", 0, begin_later(fill_pipe), read(pipe_ends[0], bytes, 1), end_later())
	CALL("readv", 0, begin_later(fill_pipe), readv(pipe_ends[0], &vector, 1), end_later())
	CALL("write", 0, fill_up();
	     begin_later(drain), write(pipe_ends[1], bytes, 4096), end_later())
	fcntl(pipe_ends[0], F_SETFL, O_NONBLOCK);
	while (syscall(SYS_read, pipe_ends[0], bytes, sizeof bytes) > 0)
		;
	fcntl(pipe_ends[0], F_SETFL, 0);
	CALL("poll", 0, , poll(&polled, 1, BLOCKED_MS), )
	CALL("ppoll", 0, , ppoll(&polled, 1, &while_blocked, NULL), )
	struct timeval left;
	CALL("select", 0, left = (struct timeval){.tv_usec = BLOCKED_MS * 1000},
	     select(0, NULL, NULL, NULL, &left), )
	CALL("pselect", 0, , pselect(0, NULL, NULL, NULL, &while_blocked, NULL), )
	CALL("epoll_wait", 0, , epoll_wait(epoll, &found, 1, BLOCKED_MS), )
	CALL("epoll_pwait", 0, , epoll_pwait(epoll, &found, 1, BLOCKED_MS, NULL), )
	CALL("flock", 0, begin_held(hold_file), flock(locked[1], LOCK_EX),
	     syscall(SYS_flock, locked[1], LOCK_UN);
	     end_later())
	close(epoll);
}

static void call_network(void)
{
	struct iovec vector = {bytes, 1};
	struct msghdr message = {.msg_iov = &vector, .msg_iovlen = 1};
	int fd = -1;
	CALL("recv", 0, begin_later(fill_socket), recv(sockets[0], bytes, 1, 0), end_later())
	CALL("recvfrom", 0, begin_later(fill_socket), recvfrom(sockets[0], bytes, 1, 0, NULL, NULL),
	     end_later())
	CALL("recvmsg", 0, begin_later(fill_socket), recvmsg(sockets[0], &message, 0), end_later())
	CALL("accept", 0, begin_later(visit), (fd = accept(listener, NULL, NULL)),
	     syscall(SYS_close, fd);
	     end_later())
	CALL("accept4", 0, begin_later(visit), (fd = accept4(listener, NULL, NULL, 0)),
	     syscall(SYS_close, fd);
	     end_later())
}

static void call_locks(void)
{
	until = in_ms(CLOCK_REALTIME, 60000);
	struct timespec steady = in_ms(CLOCK_MONOTONIC, 60000);
#define UNLOCK                                                                                     \
	pthread_mutex_unlock(&mutex);                                                              \
	end_later()
#define UNLOCK_RW                                                                                  \
	pthread_rwlock_unlock(&rwlock);                                                            \
	end_later()
	CALL("pthread_mutex_lock", &mutex, begin_held(hold_mutex), pthread_mutex_lock(&mutex),
	     UNLOCK)
	CALL("pthread_mutex_timedlock", &mutex, begin_held(hold_mutex),
	     pthread_mutex_timedlock(&mutex, &until), UNLOCK)
	CALL("pthread_mutex_clocklock", &mutex, begin_held(hold_mutex),
	     pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &steady), UNLOCK)
	CALL("pthread_rwlock_rdlock", &rwlock, begin_held(hold_rwlock),
	     pthread_rwlock_rdlock(&rwlock), UNLOCK_RW)
	CALL("pthread_rwlock_wrlock", &rwlock, begin_held(hold_rwlock),
	     pthread_rwlock_wrlock(&rwlock), UNLOCK_RW)
	CALL("pthread_rwlock_timedrdlock", &rwlock, begin_held(hold_rwlock),
	     pthread_rwlock_timedrdlock(&rwlock, &until), UNLOCK_RW)
	CALL("pthread_rwlock_timedwrlock", &rwlock, begin_held(hold_rwlock),
	     pthread_rwlock_timedwrlock(&rwlock, &until), UNLOCK_RW)
	pthread_mutex_lock(&mutex);
	CALL("pthread_cond_wait", &condition, begin_later(wake_condition),
	     pthread_cond_wait(&condition, &mutex), )
	end_later();
	CALL("pthread_cond_timedwait", &condition, until = in_ms(CLOCK_REALTIME, BLOCKED_MS),
	     pthread_cond_timedwait(&condition, &mutex, &until), )
	CALL("pthread_cond_clockwait", &condition, until = in_ms(CLOCK_MONOTONIC, BLOCKED_MS),
	     pthread_cond_clockwait(&condition, &mutex, CLOCK_MONOTONIC, &until), )
	pthread_mutex_unlock(&mutex);
	CALL("pthread_barrier_wait", &barrier, begin_later(arrive), pthread_barrier_wait(&barrier),
	     end_later())
	CALL("sem_wait", &semaphore, begin_later(post), sem_wait(&semaphore), end_later())
	CALL("sem_timedwait", &semaphore, until = in_ms(CLOCK_REALTIME, BLOCKED_MS),
	     sem_timedwait(&semaphore, &until), )
	CALL("sem_clockwait", &semaphore, until = in_ms(CLOCK_MONOTONIC, BLOCKED_MS),
	     sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until), )
	CALL("pthread_join", later.thread, begin_later(nothing), pthread_join(later.thread, NULL), )
	CALL("pthread_timedjoin_np", later.thread, until = in_ms(CLOCK_REALTIME, 60000);
	     begin_later(nothing), pthread_timedjoin_np(later.thread, NULL, &until), )
}

static pid_t child(void)
{
	pid_t pid = (pid_t)syscall(SYS_fork);
	if (pid == 0) {
		pause_ms(BLOCKED_MS);
		syscall(SYS_exit_group, 0);
	}
	return pid;
}

static void call_processes(void)
{
	pid_t pid = 0;
	siginfo_t about;
	struct rusage usage;
	FILE *file = NULL;
	CALL("wait", 0, child(), wait(NULL), )
	CALL("waitpid", 0, pid = child(), waitpid(pid, NULL, 0), )
	CALL("wait3", 0, child(), wait3(NULL, 0, &usage), )
	CALL("wait4", 0, pid = child(), wait4(pid, NULL, 0, &usage), )
	CALL("waitid", 0, pid = child(), waitid(P_PID, (id_t)pid, &about, WEXITED), )
	CALL("system", 0, , system("sleep 0.004"), )
	CALL("pclose", 0, file = popen("sleep 0.01", "r"), pclose(file), )
	CALL("nanosleep", 0, , nanosleep(&while_blocked, NULL), )
	CALL("clock_nanosleep", 0, , clock_nanosleep(CLOCK_MONOTONIC, 0, &while_blocked, NULL), )
	CALL("usleep", 0, , usleep(BLOCKED_MS * 1000), )
}

static void call_signals(void)
{
	sigset_t set, none;
	int number;
	sigemptyset(&none);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	signal(SIGUSR1, on_signal);
	CALL("pause", 0, begin_later(raw_signal), pause(), end_later())
	sigset_t blocked;
	pthread_sigmask(SIG_BLOCK, &set, &blocked);
	CALL("sigsuspend", 0, begin_later(raw_signal), sigsuspend(&none), end_later())
	CALL("sigwait", 0, begin_later(raw_signal), sigwait(&set, &number), end_later())
	CALL("sigwaitinfo", 0, begin_later(raw_signal), sigwaitinfo(&set, NULL), end_later())
	CALL("sigtimedwait", 0, , sigtimedwait(&set, NULL, &while_blocked), )
	pthread_sigmask(SIG_SETMASK, &blocked, NULL);
}

static void calls(void)
{
	make_objects();
	call_files();
	call_network();
	call_locks();
	call_processes();
	call_signals();
}

/* ---- wakes ---------------------------------------------------------------------------------------- */

static int tcp[2];
static void fill_tcp(void)
{
	if (write(tcp[1], "x", 1) != 1)
		abort();
}

static void wakes(void)
{
	helper_ms = 30; /* a busy machine must not be late for the wait */
	make_objects();
	tcp[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (connect(tcp[0], (struct sockaddr *)&address, sizeof address) != 0)
		abort();
	tcp[1] = accept(listener, NULL, NULL);
	struct pollfd polled = {.fd = pipe_ends[0], .events = POLLIN};
	uint64_t count;
	CALL("pipe", 0, begin_later(fill_pipe), read(pipe_ends[0], bytes, 1), end_later())
	CALL("poll", 0, begin_later(fill_pipe), poll(&polled, 1, -1), end_later();
	     syscall(SYS_read, pipe_ends[0], bytes, 1))
	CALL("socket", 0, begin_later(fill_socket), recv(sockets[0], bytes, 1, 0), end_later())
	CALL("tcp", 0, begin_later(fill_tcp), recvfrom(tcp[0], bytes, 1, 0, NULL, NULL),
	     end_later())
	CALL("event", 0, begin_later(fill_event), read(event, &count, 8), end_later())
	CALL("sem", 0, begin_later(post), sem_wait(&semaphore), end_later())
	CALL("mutex", 0, begin_held(hold_mutex), pthread_mutex_lock(&mutex),
	     pthread_mutex_unlock(&mutex);
	     end_later())
	CALL("rwlock", 0, begin_held(hold_rwlock), pthread_rwlock_rdlock(&rwlock),
	     pthread_rwlock_unlock(&rwlock);
	     end_later())
	CALL("barrier", 0, begin_later(arrive), pthread_barrier_wait(&barrier), end_later())
	pthread_mutex_lock(&mutex);
	CALL("cond", 0, begin_later(wake_condition), pthread_cond_wait(&condition, &mutex),
	     pthread_mutex_unlock(&mutex);
	     end_later(); pthread_mutex_lock(&mutex))
	pthread_mutex_unlock(&mutex);
	/* nobody waits: nothing to keep */
	for (int i = 0; i < 1000; i++) {
		pthread_cond_signal(&condition);
		sem_post(&semaphore);
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
}

/* ---- rough ---------------------------------------------------------------------------------------- */

static void clean_up(void *text)
{
	pthread_mutex_unlock(&mutex);
	printf("cleaned up: %s\n", (const char *)text);
}

static void *cancelled_in_wait(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(clean_up, (void *)"condition");
	for (;;)
		pthread_cond_wait(&condition, &mutex);
	pthread_cleanup_pop(0);
	return unused;
}

static void *cancelled_in_read(void *unused)
{
	if (read(pipe_ends[0], bytes, 1) == 1)
		puts("never");
	return unused;
}

static void *cancelled_in_semaphore(void *unused)
{
	sem_wait(&semaphore);
	return unused;
}

static void *cancelled_in_sleep(void *unused)
{
	sleep(100);
	return unused;
}

static void *ends_by_exit(void *unused)
{
	usleep(2000);
	pthread_exit(unused);
}

static void cancel(void *(*run)(void *), const char *what)
{
	pthread_t thread;
	void *value;
	pthread_create(&thread, NULL, run, NULL);
	pause_ms(5);
	pthread_cancel(thread);
	pthread_join(thread, &value);
	printf("%s: %s\n", what, value == PTHREAD_CANCELED ? "cancelled" : "ended");
}

static sigjmp_buf back;
static void jump(int number)
{
	siglongjmp(back, number);
}

static void signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	struct itimerval timer = {.it_value.tv_usec = 3000};
	sigaction(SIGALRM, &action, NULL);
	errno = 0;
	setitimer(ITIMER_REAL, &timer, NULL);
	ssize_t n = read(pipe_ends[0], bytes, 1);
	printf("read: %zd %s\n", n, strerror(errno));
	setitimer(ITIMER_REAL, &timer, NULL);
	int result = sem_wait(&semaphore);
	printf("sem_wait: %d %s\n", result, strerror(errno));
	setitimer(ITIMER_REAL, &timer, NULL);
	result = usleep(50000);
	printf("usleep: %d %s\n", result, strerror(errno));
	until = in_ms(CLOCK_REALTIME, 2);
	result = sem_timedwait(&semaphore, &until);
	printf("sem_timedwait: %d %s\n", result, strerror(errno));
	fcntl(pipe_ends[0], F_SETFL, O_NONBLOCK);
	n = read(pipe_ends[0], bytes, 1);
	printf("read: %zd %s\n", n, strerror(errno));
	fcntl(pipe_ends[0], F_SETFL, 0);
	result = close(-1);
	printf("close: %d %s\n", result, strerror(errno));
	result = open("/nonexistent", O_RDONLY);
	printf("open: %d %s\n", result, strerror(errno));
	errno = EDOM;
	if (write(pipe_ends[1], "x", 1) == 1 && read(pipe_ends[0], bytes, 1) == 1 &&
	    usleep(1000) == 0)
		printf("errno: %s\n", strerror(errno));
	signal(SIGALRM, jump);
	for (int i = 0; i < 20; i++) {
		if (sigsetjmp(back, 1) == 0) {
			setitimer(ITIMER_REAL, &timer, NULL);
			for (;;)
				n = read(pipe_ends[0], bytes, 1);
		}
	}
	puts("jumped");
}

static void locks(void)
{
	pthread_mutexattr_t attributes;
	pthread_mutex_t checked, recursive;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
	pthread_mutex_init(&checked, &attributes);
	int first = pthread_mutex_lock(&checked), second = pthread_mutex_lock(&checked);
	until = in_ms(CLOCK_REALTIME, 2);
	int third = pthread_mutex_timedlock(&checked, &until);
	printf("checked: %d %d %d %d %d\n", first, second, third, pthread_mutex_unlock(&checked),
	       pthread_mutex_unlock(&checked));
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&recursive, &attributes);
	first = pthread_mutex_lock(&recursive);
	second = pthread_mutex_lock(&recursive);
	printf("recursive: %d %d %d %d %d\n", first, second, pthread_mutex_unlock(&recursive),
	       pthread_mutex_unlock(&recursive), pthread_mutex_unlock(&recursive));
	pthread_mutex_lock(&mutex);
	until = in_ms(CLOCK_REALTIME, 2);
	printf("timed: %d\n", pthread_mutex_timedlock(&mutex, &until));
	pthread_mutex_unlock(&mutex);
}

static void processes(void)
{
	int status;
	pid_t pid = vfork();
	if (pid == 0) {
		/* as shells and Python do it: closing and opening, all in the parent's memory */
		close(pipe_ends[0]);
		int fd = open("/dev/null", O_WRONLY);
		dup2(fd, 1);
		for (int i = 0; i < 100; i++)
			if (write(fd, "x", 1) != 1)
				_exit(1);
		usleep(3000);
		_exit(4);
	}
	waitpid(pid, &status, 0);
	printf("vfork: %d\n", WEXITSTATUS(status));
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		usleep(2000);
		_exit(write(pipe_ends[1], "c", 1) == 1 ? 5 : 6);
	}
	if (read(pipe_ends[0], bytes, 1) != 1)
		abort();
	wait(&status);
	printf("fork: %d %c\n", WEXITSTATUS(status), bytes[0]);
	status = system("exit 3");
	printf("system: %d\n", WEXITSTATUS(status));
	FILE *file = popen("echo popen", "r");
	if (!fgets(bytes, sizeof bytes, file))
		abort();
	status = pclose(file);
	printf("popen: %s%d\n", bytes, WEXITSTATUS(status));
}

static void *small(void *unused)
{
	usleep(1000);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void small_stacks(void)
{
	pthread_attr_t attributes;
	pthread_t threads[8];
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN) > 16384
						       ? (size_t)sysconf(_SC_THREAD_STACK_MIN)
						       : 16384);
	for (int i = 0; i < 8; i++)
		if (pthread_create(&threads[i], &attributes, small, NULL) != 0)
			abort();
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	puts("small stacks");
}

static void rough(void)
{
	make_objects();
	cancel(cancelled_in_wait, "condition");
	cancel(cancelled_in_read, "read");
	cancel(cancelled_in_semaphore, "semaphore");
	cancel(cancelled_in_sleep, "sleep");
	pthread_create(&later.thread, NULL, ends_by_exit, NULL);
	printf("exit: %d\n", pthread_join(later.thread, NULL));
	signals();
	locks();
	processes();
	small_stacks();
}

/* ---- its end -------------------------------------------------------------------------------------- */

static sem_t waiting;

static void *waits_for_ever(void *unused)
{
	pthread_setname_np(pthread_self(), "patient");
	pthread_mutex_lock(&mutex);
	sem_post(&waiting);
	for (;;)
		pthread_cond_wait(&condition, &mutex);
	return unused;
}

static void end(void)
{
	pthread_t thread;
	make_objects();
	cancel(cancelled_in_read, "read");
	sem_init(&waiting, 0, 0);
	pthread_create(&thread, NULL, waits_for_ever, NULL);
	sem_wait(&waiting);
	/* It is in its wait when it gives the mutex away. */
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	pause_ms(5);
}

/* ---- many ----------------------------------------------------------------------------------------- */

static int turn, threads_n;

static void *takes_turns(void *number)
{
	int me = (int)(intptr_t)number;
	for (int i = 0; i < 20; i++) {
		pthread_mutex_lock(&mutex);
		while (turn % threads_n != me)
			pthread_cond_wait(&condition, &mutex);
		turn++;
		pthread_cond_broadcast(&condition);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void many(int n)
{
	pthread_t *threads = calloc((size_t)n, sizeof *threads);
	threads_n = n;
	for (int i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, takes_turns, (void *)(intptr_t)i);
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	printf("%d turns\n", turn);
	free(threads);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	setvbuf(stdout, NULL, _IONBF, 0);
	if (strcmp(what, "calls") == 0)
		calls();
	else if (strcmp(what, "wakes") == 0)
		wakes();
	else if (strcmp(what, "rough") == 0)
		rough();
	else if (strcmp(what, "end") == 0)
		end();
	else if (strcmp(what, "many") == 0)
		many(argc > 2 ? atoi(argv[2]) : 8);
	else
		return 2;
	return 0;
}
