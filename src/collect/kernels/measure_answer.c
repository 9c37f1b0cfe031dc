/* SPDX-License-Identifier: Apache-2.0 */
/* measure_answer.c - writes what was measured to the process's file in the run directory.
 *
 * Answers are whole or absent for a reader: head and payload go out in one call, and a reader
 * stops at one that is cut. The watch is a page that the parent maps too.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "collect/collect.h"
#include "collect/kernels/measure.h"
#include "collect/process.h"
#include "collect/sys.h"

enum { MOST_NOTES = 16 };

static struct {
	pthread_mutex_t lock;
	bool was_opened;
	int fd; /* -1: answers cannot be written */
	struct kernels_watch *watch;
	uint32_t notes[MOST_NOTES]; /* hashes of the notes that were written */
	unsigned n_notes;
} answers = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

/* Opens the files of this process when the first answer comes. */
static void answer_open(void)
{
	char path[sizeof process.run + 64];
	if (answers.was_opened)
		return;
	answers.was_opened = true;
	snprintf(path, sizeof path, "%s/" KERNELS_ANSWER_PREFIX "%u", process.run, process.pid);
	answers.fd = sys_open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW);
	snprintf(path, sizeof path, "%s/" KERNELS_WATCH_FILE, process.run);
	int watch = sys_open(path, O_RDWR | O_NOFOLLOW);
	if (watch >= 0) {
		answers.watch = sys_map(sizeof *answers.watch, MAP_SHARED, watch, 0);
		sys_close(watch);
	}
}

static bool answer_write(const struct kernels_answer *head, const void *payload)
{
	static const char zeros[8];
	uint64_t pad = (8 - head->bytes % 8) % 8;
	struct iovec parts[] = {
		{(void *)(uintptr_t)head, sizeof *head},
		{(void *)(uintptr_t)payload, head->bytes},
		{(void *)(uintptr_t)zeros, pad},
	};
	long whole = (long)(sizeof *head + head->bytes + pad);
	return syscall(SYS_writev, answers.fd, parts, 3L) == whole;
}

bool measure_answer(enum kernels_answer_type type, uint32_t device, uint64_t number, uint32_t value,
		    const void *payload, uint64_t bytes)
{
	struct kernels_answer head = {
		.type = type,
		.target = measure.target,
		.device = device,
		.rank = measure.rank,
		.ordinal = number,
		.value = value,
		.bytes = bytes,
	};
	int saved = errno;
	pthread_mutex_lock(&answers.lock);
	answer_open();
	bool is_written = answers.fd >= 0 && answer_write(&head, payload);
	if (answers.fd >= 0 && !is_written) {
		/* What follows a part of an answer could not be told from it. */
		sys_close(answers.fd);
		answers.fd = -1;
	}
	pthread_mutex_unlock(&answers.lock);
	errno = saved;
	return is_written;
}

void measure_note(int result, const char *format, ...)
{
	char text[512];
	va_list args;
	va_start(args, format);
	int length = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (length <= 0)
		return;
	uint32_t hash = (uint32_t)kernels_plan_hash(text);
	pthread_mutex_lock(&answers.lock);
	bool again = answers.n_notes == MOST_NOTES;
	for (unsigned i = 0; i < answers.n_notes; i++)
		again |= answers.notes[i] == hash;
	if (!again)
		answers.notes[answers.n_notes++] = hash;
	pthread_mutex_unlock(&answers.lock);
	if (!again)
		measure_answer(KERNELS_ANSWER_NOTE, 0, 0, (uint32_t)result, text,
			       strnlen(text, sizeof text));
}

void measure_watch(bool runs)
{
	pthread_mutex_lock(&answers.lock);
	answer_open();
	struct kernels_watch *watch = answers.watch;
	if (watch) {
		__atomic_store_n(&watch->target, measure.target, __ATOMIC_RELAXED);
		__atomic_store_n(&watch->pid, process.pid, __ATOMIC_RELAXED);
		__atomic_store_n(&watch->since, runs ? collect_now() : 0, __ATOMIC_RELEASE);
		if (!runs)
			__atomic_fetch_add(&watch->done, 1, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&answers.lock);
}

void measure_answer_after_fork(void)
{
	pthread_mutex_init(&answers.lock, NULL);
	answers.was_opened = true;
	answers.fd = -1;
	answers.watch = NULL;
}
