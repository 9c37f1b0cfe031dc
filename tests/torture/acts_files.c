/* SPDX-License-Identifier: Apache-2.0 */
/* acts_files.c - descriptors, their numbers, files, and what calls on them return. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "torture.h"

static void *use_files(void *unused)
{
	nvtx_push("files");
	for (int i = 0; i < 20; i++)
		close(open("/dev/null", O_RDWR | O_CLOEXEC));
	pass_us(150);
	nvtx_pop();
	return unused;
}

/* Descriptors are the lowest free numbers, before and after all others are closed. */
static void act_close_all(void)
{
	unsigned long thread;
	int ends[2], pair[2];
	use_files(NULL);
	if (chance(2)) {
		start_thread(&thread, 0, use_files, NULL);
		end_thread(thread);
	}
	switch (chance(3)) {
	case 0: syscall(SYS_close_range, 3, ~0U, 0); break;
	case 1:
		for (int fd = 3; fd < 1024; fd++)
			close(fd);
		break;
	default: closefrom(3);
	}
	if (pipe(ends) != 0 || socketpair(AF_UNIX, SOCK_DGRAM, 0, pair) != 0)
		give_up("pipe");
	say(" %d %d %d %d", ends[0], ends[1], pair[0], pair[1]);
	use_files(NULL);
	start_thread(&thread, 0, use_files, NULL);
	end_thread(thread);
	say(" %d %d", eventfd(0, 0), epoll_create1(0));
	pid_t child = fork();
	if (child == 0)
		_exit(open("/dev/null", O_RDONLY));
	say(" %d", status_of(child));
}

/* Without 0, 1 and 2: the next files get these numbers, and nobody else writes there. */
static void act_no_standard(void)
{
	unsigned long thread;
	int out = dup(STDOUT_FILENO), numbers[3];
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	start_thread(&thread, 0, use_files, NULL);
	end_thread(thread);
	for (int i = 0; i < 3; i++)
		numbers[i] = open(act_file("standard"), O_RDWR | O_CREAT | O_APPEND, 0600);
	use_files(NULL);
	start_thread(&thread, 0, use_files, NULL);
	end_thread(thread);
	pid_t child = fork();
	if (child == 0) {
		use_files(NULL);
		execl("/bin/echo", "echo", "into", "the", "file", (char *)NULL);
		_exit(1);
	}
	int status = status_of(child);
	dup2(out, STDOUT_FILENO);
	say(" %d %d %d, %d", numbers[0], numbers[1], numbers[2], status);
}

static void act_files(void)
{
	char text[64] = "", folder[80];
	const char *path = act_file("file");
	struct stat about;
	struct iovec parts[2] = {{"one ", 4}, {"two ", 4}};
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
	say(" %ld %ld", (long)STEADILY(writev(fd, parts, 2)),
	    (long)STEADILY(pwrite(fd, "three", 5, 8)));
	say(" %ld %s", (long)STEADILY(pread(fd, text, sizeof text - 1, 0)), text);
	say(" %d %d", ftruncate(fd, 6), fsync(fd));
	fstat(fd, &about);
	say(" %ld %o", (long)about.st_size, about.st_mode & 0777);
	close(fd);
	snprintf(folder, sizeof folder, "%s.folder", path);
	say(" %d", mkdir(folder, 0700));
	SAY_RESULT(mkdir(folder, 0700));
	FILE *stream = fopen(path, "a");
	fprintf(stream, "%d\n", 42);
	say(" %d", fclose(stream));
}

/* Calls on descriptors that are ready, not ready, wrong or gone. */
static void act_errors(void)
{
	int ends[2], value = 1;
	char byte = 0;
	/* The compiler would refuse the constants. */
	volatile int wrong_count = -1;
	void *volatile nowhere = NULL;
	struct pollfd one;
	struct epoll_event event = {.events = EPOLLIN};
	struct timespec wrong = {0, 1000000000}, before = {-1, 0};
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0)
		give_up("pipe2");
	one = (struct pollfd){.fd = ends[0], .events = POLLIN};
	SAY_RESULT(read(ends[0], &byte, 1));
	say(" %d", STEADILY(poll(&one, 1, 1)));
	say(" %ld", (long)write(ends[1], "x", 1));
	say(" %d %d", STEADILY(poll(&one, 1, 1000)), one.revents);
	int set = epoll_create1(EPOLL_CLOEXEC);
	say(" %d", epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event));
	say(" %d", STEADILY(epoll_wait(set, &event, 1, 1000)));
	SAY_RESULT(epoll_wait(set, &event, 0, 0));
	SAY_RESULT(epoll_wait(-1, &event, 1, 0));
	SAY_RESULT(nanosleep(&wrong, NULL));
	say(" %d %d", clock_nanosleep(CLOCK_MONOTONIC, 0, &before, NULL),
	    clock_nanosleep(77, 0, &before, NULL));
	SAY_RESULT(select(-1, NULL, NULL, NULL, NULL));
	SAY_RESULT(readv(ends[0], NULL, wrong_count));
	SAY_RESULT(read(ends[0], nowhere, 1));
	SAY_RESULT(pread(ends[0], &byte, 1, 0));
	SAY_RESULT(fcntl(ends[0], 12345));
	close(ends[0]);
	close(ends[1]);
	close(set);
	SAY_RESULT(fsync(-1));
	struct sockaddr_in nobody = {
		.sin_family = AF_INET, .sin_port = 1, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	SAY_RESULT(STEADILY(connect(s, (struct sockaddr *)&nobody, sizeof nobody)));
	say(" %d", setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &value, sizeof value));
	SAY_RESULT(accept(s, NULL, NULL));
	close(s);
}

/* A connection over loopback, both ends in this thread. */
static void act_sockets(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof any;
	char text[16] = "";
	int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	say(" %d", bind(server, (struct sockaddr *)&any, sizeof any));
	say(" %d", listen(server, 3));
	getsockname(server, (struct sockaddr *)&any, &size);
	int connected = connect(client, (struct sockaddr *)&any, sizeof any);
	say(" %d", connected == 0 || errno == EINTR ? 0 : errno);
	int accepted = STEADILY(accept4(server, NULL, NULL, SOCK_CLOEXEC));
	say(" %ld", (long)STEADILY(send(client, "hello", 5, MSG_NOSIGNAL)));
	say(" %ld %s", (long)STEADILY(recv(accepted, text, sizeof text - 1, 0)), text);
	close(client);
	say(" %ld", (long)STEADILY(recv(accepted, text, sizeof text - 1, 0)));
	say(" %ld", (long)STEADILY(send(accepted, "x", 1, MSG_NOSIGNAL)));
	close(accepted);
	close(server);
}

static void act_timers(void)
{
	struct itimerspec soon = {.it_value = {0, 500000}};
	uint64_t count = 0;
	int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	int event = eventfd(3, EFD_CLOEXEC | EFD_SEMAPHORE);
	timerfd_settime(timer, 0, &soon, NULL);
	say(" %ld", (long)STEADILY(read(timer, &count, sizeof count)));
	say(" %llu", (unsigned long long)count);
	for (int i = 0; i < 3; i++) {
		say(" %ld", (long)STEADILY(read(event, &count, sizeof count)));
		say("/%llu", (unsigned long long)count);
	}
	close(timer);
	close(event);
}

const struct act file_acts[] = {
	{"close_all", act_close_all, NEEDS_IMAGE | NEEDS_CALM},
	{"no_standard", act_no_standard, NEEDS_IMAGE | NEEDS_CALM},
	{"files", act_files, 0},
	{"errors", act_errors, 0},
	{"sockets", act_sockets, 0},
	{"timers", act_timers, 0},
	{NULL, NULL, 0},
};
