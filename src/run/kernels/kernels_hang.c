/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_hang.c - ends a program that hangs in a measurement.
 *
 * While a launch is measured nothing else of its process reaches the device. A kernel that waits
 * for another kernel, or for the CPU, then waits for ever. The targets say in a shared file what
 * they measure and since when; a thread looks at it, and kills the processes of the run where
 * one measurement takes longer than LONGEST_NS. A program that takes its time outside of
 * measurements is never ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "run/kernels/kernels_internal.h"

#define LONGEST_NS (INT64_C(60) * 1000 * 1000 * 1000)
enum { LOOK_MS = 20 };

struct kernels_hang {
	const struct run *run;
	struct kernels_watch *watch;
	pthread_t thread;
	int64_t longest;
	_Atomic bool is_over, was_killed;
	/* what was measured when the program was ended; read after the thread has ended */
	uint32_t target;
};

static bool hang_path(const struct run *run, char path[PATH_MAX])
{
	return snprintf(path, PATH_MAX, "%s/" KERNELS_WATCH_FILE, run->directory) < PATH_MAX;
}

bool kernels_hang_prepare(const struct run *run, struct hwy_err *err)
{
	char path[PATH_MAX];
	struct kernels_watch none = {0};
	int fd = hang_path(run, path) ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	bool made = fd >= 0 && write(fd, &none, sizeof none) == (ssize_t)sizeof none;
	if (fd >= 0)
		close(fd);
	return made || hwy_fail(err, "%s: cannot be written to", run->directory);
}

static void *hang_watch(void *argument)
{
	struct kernels_hang *hang = argument;
	struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
	while (!hang->is_over) {
		nanosleep(&pause, NULL);
		int64_t since = __atomic_load_n(&hang->watch->since, __ATOMIC_ACQUIRE);
		if (!since || run_now() - since < hang->longest || hang->is_over)
			continue;
		pid_t pid = (pid_t)__atomic_load_n(&hang->watch->pid, __ATOMIC_RELAXED);
		if (pid <= 0 || (kill(pid, 0) != 0 && errno == ESRCH)) {
			/* The process died while it measured: nothing hangs. */
			__atomic_store_n(&hang->watch->since, 0, __ATOMIC_RELAXED);
			continue;
		}
		hang->target = __atomic_load_n(&hang->watch->target, __ATOMIC_RELAXED);
		hang->was_killed = true;
		descendants_signal(hang->run, SIGKILL);
		break;
	}
	return NULL;
}

/* Tests do not wait a minute for a program that hangs. */
static int64_t longest_measurement(void)
{
	const char *wish = getenv("HEADWAY_MEASURE_LONGEST_MS");
	int64_t ms = wish ? strtoll(wish, NULL, 10) : 0;
	return ms > 0 && ms < INT_MAX ? ms * 1000000 : LONGEST_NS;
}

struct kernels_hang *kernels_hang_begin(const struct run *run)
{
	char path[PATH_MAX];
	int fd = hang_path(run, path) ? open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;
	void *watch = fd >= 0 ? mmap(NULL, sizeof(struct kernels_watch), PROT_READ | PROT_WRITE,
				     MAP_SHARED, fd, 0)
			      : MAP_FAILED;
	if (fd >= 0)
		close(fd);
	if (watch == MAP_FAILED)
		return NULL;
	struct kernels_hang *hang = hwy_zalloc(sizeof *hang);
	hang->run = run;
	hang->watch = watch;
	hang->longest = longest_measurement();
	if (pthread_create(&hang->thread, NULL, hang_watch, hang) == 0)
		return hang;
	munmap(watch, sizeof(struct kernels_watch));
	free(hang);
	return NULL;
}

bool kernels_hang_end(struct kernels_hang *hang, uint32_t *target)
{
	if (!hang)
		return false;
	hang->is_over = true;
	pthread_join(hang->thread, NULL);
	bool was_killed = hang->was_killed;
	*target = hang->target;
	munmap(hang->watch, sizeof(struct kernels_watch));
	free(hang);
	return was_killed;
}
