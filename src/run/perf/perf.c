/* SPDX-License-Identifier: Apache-2.0 */
/* perf.c - see perf.h: the reader thread.
 *
 * The thread reads the rings every few ms, often enough that none can fill up. Where Python runs,
 * the thread is woken for every sample instead, since a thread's Python stack has to be read before
 * it has changed.
 */
#include "run/perf/perf.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "run/journal.h"
#include "run/perf/perf_internal.h"
#include "run/run.h"

enum { MOST_RECORD = 64 * 1024, SAMPLE_BYTES = REC_STACK_BYTES + 2048 };

/* ---- reading --------------------------------------------------------------------------------- */

static void drain(struct perf *perf, struct perf_ring *ring, bool keep)
{
	const char *data = (const char *)ring->page + ring->page->data_offset;
	uint64_t size = perf->ring_bytes, tail = ring->page->data_tail;
	uint64_t head = atomic_load_explicit((_Atomic uint64_t *)&ring->page->data_head,
					     memory_order_acquire);
	while (head - tail >= sizeof(struct perf_event_header)) {
		uint64_t offset = tail & (size - 1);
		const struct perf_event_header *record = (const void *)(data + offset);
		uint16_t bytes = record->size;
		/* A record with this length is impossible: skip all that is in the ring. */
		if (bytes < sizeof *record || bytes > head - tail) {
			tail = head;
			break;
		}
		if (offset + bytes > size) {
			size_t first = (size_t)(size - offset);
			memcpy(perf->record_copy, record, first);
			memcpy(perf->record_copy + first, data, bytes - first);
			record = (const void *)perf->record_copy;
		}
		perf_records_take(perf, record, keep);
		tail += bytes;
		atomic_store_explicit((_Atomic uint64_t *)&ring->page->data_tail, tail,
				      memory_order_release);
	}
	atomic_store_explicit((_Atomic uint64_t *)&ring->page->data_tail, tail,
			      memory_order_release);
}

static void drain_all(struct perf *perf)
{
	bool recording = atomic_load((_Atomic uint32_t *)&perf->run->control->recording);
	/* Records written just before recording ended are still in the rings. */
	bool keep = recording || perf->kept_before;
	for (uint32_t i = 0; i < perf->n_rings; i++)
		drain(perf, &perf->rings[i], keep);
	perf->kept_before = recording;
}

/* Yields the ms between two reads: a quarter of the time in which the smallest ring can fill up
 * with samples. */
static int pause_ms(const struct perf *perf)
{
	uint64_t rate = perf->settings.samples == PERF_NONE ? 1000 : perf->settings.rate_hz;
	uint64_t ms = perf->ring_bytes * 1000 / (rate * SAMPLE_BYTES) / 4;
	return ms < 1 ? 1 : ms > 20 ? 20 : (int)ms;
}

static void read_until_stopped(struct perf *perf)
{
	int pause = pause_ms(perf);
	struct pollfd stop = {.fd = perf->stop, .events = POLLIN};
	/* Raises the priority of this thread only; fails where that is not permitted. */
	setpriority(PRIO_PROCESS, 0, -10);
	pthread_setname_np(pthread_self(), "headway-perf");
	if (perf->system_wide)
		perf_tasks_record_all(perf);
	for (;;) {
		drain_all(perf);
		if (perf->pythons) {
			struct epoll_event event;
			epoll_wait(perf->prompt, &event, 1, pause);
		}
		if (poll(&stop, 1, perf->pythons ? 0 : pause) > 0 || atomic_load(&perf->is_stopped))
			break;
	}
	drain_all(perf);
}

static void *reader(void *self)
{
	struct perf *perf = self;
	struct hwy_rescue rescue;
	if (HWY_RESCUED(&rescue)) {
		perf->was_rescued = true;
		return NULL;
	}
	read_until_stopped(perf);
	hwy_rescue_end(&rescue);
	return NULL;
}

/* ---- beginning ------------------------------------------------------------------------------- */

static bool watch_rings(struct perf *perf)
{
	perf->stop = eventfd(0, EFD_CLOEXEC);
	perf->prompt = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event event = {.events = EPOLLIN};
	if (perf->stop < 0 || perf->prompt < 0 ||
	    epoll_ctl(perf->prompt, EPOLL_CTL_ADD, perf->stop, &event) != 0)
		return false;
	event.events = EPOLLIN | EPOLLET;
	for (uint32_t i = 0; i < perf->n_rings; i++)
		if (epoll_ctl(perf->prompt, EPOLL_CTL_ADD, perf->rings[i].fd, &event) != 0)
			return false;
	return true;
}

static void enable(struct perf *perf, bool on)
{
	unsigned long what = on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;
	for (uint32_t i = 0; i < perf->n_rings; i++) {
		ioctl(perf->rings[i].fd, what, 0);
		if (perf->rings[i].wakes >= 0)
			ioctl(perf->rings[i].wakes, what, 0);
	}
}

static bool perf_start(struct perf *perf)
{
	const struct run *run = perf->run;
	perf->definitions = perf_spool_open(run->directory, "perf.spool", 0, run_now);
	perf->events =
		perf_spool_open(run->directory, "perf.0.spool", run->control->keep_s, run_now);
	perf->record_copy = hwy_alloc(MOST_RECORD);
	if (perf->definitions)
		perf_spool_limit(perf->definitions, run->control);
	if (perf->events)
		perf_spool_limit(perf->events, run->control);
	if (!perf->definitions || !perf->events || !watch_rings(perf))
		return false;
	perf->kept_before = run->control->recording;
	if (perf->system_wide)
		enable(perf, true);
	perf->started = pthread_create(&perf->thread, NULL, reader, perf) == 0;
	return perf->started;
}

static void note(const struct run *run, const char *format, const char *reason)
{
	char text[512];
	snprintf(text, sizeof text, format, reason);
	journal_note(run->journal, 2, text);
}

struct perf *perf_begin(const struct run *run, const struct perf_settings *settings)
{
	if (!run->directory || (settings->samples == PERF_NONE && settings->switches == PERF_NONE))
		return NULL;
	char reason[256];
	struct perf *perf = hwy_zalloc(sizeof *perf);
	perf->settings = *settings;
	perf->run = run;
	perf->stop = perf->prompt = -1;
	perf->system_wide = settings->samples == PERF_SYSTEM || settings->switches == PERF_SYSTEM;
	bool opened = perf_open(perf, reason, sizeof reason);
	if (!opened && perf->system_wide) {
		note(run, "only the program's own processes are sampled: %s", reason);
		perf->system_wide = false;
		opened = perf_open(perf, reason, sizeof reason);
	}
	if (!opened)
		note(run, "CPU samples and scheduling are not recorded: %s", reason);
	else if (!perf_start(perf))
		note(run, "CPU samples and scheduling are not recorded: %s", hwy_strerror(errno));
	else
		return perf;
	perf_end(perf);
	return NULL;
}

/* ---- the end --------------------------------------------------------------------------------- */

void perf_stop(struct perf *perf)
{
	if (perf)
		enable(perf, false);
}

static void record_losses(struct perf *perf)
{
	/* The kernel writes how many records it lost when it has room for the next record. Where a
	 * ring was full until the end, only the counters of its events know. */
	uint64_t counted = perf_losses(perf);
	if (counted > perf->lost)
		perf->lost = counted;
	if (perf->lost)
		perf_spool_drop(perf, "no room for samples and switches in the kernel's ring",
				perf->lost);
	if (perf->throttled)
		note(perf->run, "the kernel held back CPU samples for a while%s",
		     ": they cost it too much time (kernel.perf_cpu_time_max_percent)");
}

/* Ends the reading thread. */
static void end_reader(struct perf *perf)
{
	uint64_t one = 1;
	ssize_t n;
	do
		n = write(perf->stop, &one, sizeof one);
	while (n < 0 && errno == EINTR);
	/* Where the eventfd could not be written, the thread sees the flag after its next pause. */
	atomic_store(&perf->is_stopped, true);
	pthread_join(perf->thread, NULL);
	record_losses(perf);
}

void perf_end(struct perf *perf)
{
	if (!perf)
		return;
	enable(perf, false);
	if (perf->started)
		end_reader(perf);
	perf_close(perf);
	if (perf->was_rescued) {
		/* The thread may have left its lists half changed: they are not touched again. */
		note(perf->run, "out of memory: %s",
		     "CPU samples and scheduling are recorded up to this time only");
		return;
	}
	perf_stack_free(perf);
	perf_tasks_free(perf);
	perf_spool_close(perf->definitions);
	perf_spool_close(perf->events);
	hwy_index_free(&perf->texts);
	if (perf->stop >= 0)
		close(perf->stop);
	if (perf->prompt >= 0)
		close(perf->prompt);
	free(perf->rings);
	free(perf->wake_ids);
	free(perf->record_copy);
	free(perf);
}
