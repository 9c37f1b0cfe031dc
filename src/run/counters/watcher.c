/* SPDX-License-Identifier: Apache-2.0 */
/* watcher.c - the watcher's process: see watcher.h and watched.h.
 *
 * The main thread does nothing but wait for the end of recording, or of headway, and for the
 * sources' threads after that. So it can end the process whatever a library does. The process
 * leaves by _exit: libraries of a driver that misbehaves get no chance to do so in their
 * destructors.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/lang.h"
#include "base/mem.h"
#include "run/counters/watched.h"
#include "run/run.h"

enum {
	MOST_SOURCES = 4,
	LINE = 0,            /* descriptor of the socket to headway */
	LOOK_EVERY_MS = 100, /* how often the main thread looks whether recording is over */
	FINISH_EVERY_MS = 10,
	/* ms without a sign of life after which the watcher gives up, where headway has ended
	 * before it. */
	ALONE_MS = 1000,
	ALONE_METRICS_MS = 4000, /* closing CUPTI's session gives no sign */
};
/* How often a source that does not record looks whether recording begins. */
static const int64_t IDLE_NS = 20 * 1000 * 1000;

struct source_thread {
	struct watched *watched;
	const struct watch_source *source;
	pthread_t thread;
	_Atomic bool is_done;
};

struct watched {
	struct watch_settings settings;
	struct rec_control *control;
	struct watched_spool *spool;
	struct source_thread threads[MOST_SOURCES];
	uint32_t n;
	_Atomic bool is_over;
	_Atomic uint32_t signs; /* signs of life of the sources */
	/* Wakes the sources' threads when is_over is set. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
};

const struct watch_settings *watched_settings(const struct watched *watched)
{
	return &watched->settings;
}

const struct rec_control *watched_control(const struct watched *watched)
{
	return watched->control;
}

struct watched_spool *watched_spool_of(struct watched *watched)
{
	return watched->spool;
}

void watched_is_alive(struct watched *watched)
{
	atomic_fetch_add(&watched->signs, 1);
}

bool watched_is_over(const struct watched *watched)
{
	return atomic_load(&watched->is_over);
}

/* ---- a source's thread ----------------------------------------------------------------------- */

static void sleep_until(struct watched *watched, int64_t when)
{
	struct timespec time = {.tv_sec = when / 1000000000, .tv_nsec = when % 1000000000};
	pthread_mutex_lock(&watched->lock);
	while (!watched_is_over(watched) && run_now() < when)
		pthread_cond_timedwait(&watched->changed, &watched->lock, &time);
	pthread_mutex_unlock(&watched->lock);
}

static bool is_recording(const struct watched *watched)
{
	return atomic_load((const _Atomic uint32_t *)&watched->control->recording) != 0;
}

/* Opens the source, or the one that takes its place; NULL where none can be opened. */
static void *open_source(struct watched *watched, const struct watch_source **source)
{
	for (; *source; *source = (*source)->otherwise) {
		struct hwy_err err = {0};
		void *state = (*source)->open(watched, &err);
		if (state)
			return state;
		if (*err.text)
			watched_note(watched, (*source)->was_asked_for ? 2 : 1,
				     (*source)->otherwise ? hwy_tr("%s: not sampled: %s")
							  : hwy_tr("%s: not recorded: %s"),
				     hwy_tr((*source)->what), err.text);
	}
	return NULL;
}

static void watch(struct watched *watched, const struct watch_source *source, void *state)
{
	bool records = false;
	int64_t next = 0;
	while (!watched_is_over(watched)) {
		int64_t now = run_now();
		bool wanted = is_recording(watched);
		if (wanted != records) {
			if (wanted && source->begin)
				source->begin(state, now);
			else if (!wanted && source->end)
				source->end(state, now);
			records = wanted;
			next = now;
		}
		if (records && next <= now)
			next = source->poll(state, now);
		int64_t idle = now + IDLE_NS;
		sleep_until(watched, records && next < INT64_MAX && next > now ? next : idle);
	}
	if (records && source->end)
		source->end(state, run_now());
}

static void tell_headway(char what)
{
	send(LINE, &what, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void *live_source(void *self)
{
	struct source_thread *thread = self;
	const struct watch_source *source = thread->source;
	struct hwy_rescue rescue;
	pthread_setname_np(pthread_self(), "hwy-source");
	if (HWY_RESCUED(&rescue)) {
		atomic_store(&thread->is_done, true);
		return NULL;
	}
	void *state = open_source(thread->watched, &source);
	if (thread->source->was_asked_for)
		tell_headway(WATCHER_METRICS);
	if (state) {
		tell_headway(WATCHER_OPENED);
		watch(thread->watched, source, state);
		source->finish(state);
	}
	if (!thread->source->was_asked_for)
		tell_headway(WATCHER_CLOCKS);
	hwy_rescue_end(&rescue);
	atomic_store(&thread->is_done, true);
	return NULL;
}

static void start_source(struct watched *watched, const struct watch_source *source)
{
	struct source_thread *thread = &watched->threads[watched->n];
	thread->watched = watched;
	thread->source = source;
	if (pthread_create(&thread->thread, NULL, live_source, thread) == 0)
		watched->n++;
	else
		watched_note(watched, 1, hwy_tr("%s: not recorded: no thread for it"),
			     hwy_tr(source->what));
}

/* ---- the process ----------------------------------------------------------------------------- */

/* Maps the state of the run, and copies the settings. The pages that the parent mapped are given
 * up: they hold the lock by which others see that headway lives. */
static struct rec_control *map_control(const struct run *run)
{
	char path[PATH_MAX];
	struct rec_control *control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (control == MAP_FAILED ||
	    snprintf(path, sizeof path, "%s/%s", run->directory, STATE_FILE) >= (int)sizeof path)
		return NULL;
	memcpy(control, run->control, REC_STATE_OFFSET);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	void *state = fd < 0 ? MAP_FAILED
			     : mmap(&control->recording, REC_STATE_BYTES, PROT_READ,
				    MAP_SHARED | MAP_FIXED, fd, 0);
	munmap(run->control, sizeof *run->control);
	return state == MAP_FAILED ? NULL : control;
}

/* Leaves headway's session, name, descriptors and core files alone. */
static bool stand_apart(int line)
{
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	sentinel_take_name("hwy-watcher");
	const struct rlimit none = {0, 0};
	setrlimit(RLIMIT_CORE, &none);
	/* Descriptors 1 and 2 lead nowhere: a library may print. */
	return dup2(line, LINE) == LINE && close_range(1, ~0u, 0) == 0 &&
	       open("/dev/null", O_RDWR) == 1 && open("/dev/null", O_RDWR) == 2;
}

static bool is_everything_done(struct watched *watched)
{
	for (uint32_t i = 0; i < watched->n; i++)
		if (!atomic_load(&watched->threads[i].is_done))
			return false;
	return true;
}

/* Waits until recording has ended for good, headway has ended or told the watcher to, or no
 * source is left. */
static void await_end(struct watched *watched)
{
	struct pollfd line = {.fd = LINE, .events = POLLIN};
	do {
		if (poll(&line, 1, LOOK_EVERY_MS) > 0)
			return;
	} while (!is_everything_done(watched) &&
		 !atomic_load((const _Atomic uint32_t *)&watched->control->finished));
}

/* Lets the sources write what is left, and passes their signs of life on to headway. */
static void finish_sources(struct watched *watched)
{
	uint32_t signs = atomic_load(&watched->signs);
	int64_t until = INT64_MAX;
	bool samples = watched->settings.metrics.devices != PM_DEVICES_NONE;
	pthread_mutex_lock(&watched->lock);
	atomic_store(&watched->is_over, true);
	pthread_cond_broadcast(&watched->changed);
	pthread_mutex_unlock(&watched->lock);
	while (!is_everything_done(watched) && run_now() < until) {
		poll(NULL, 0, FINISH_EVERY_MS);
		uint32_t now = atomic_load(&watched->signs);
		if (now == signs && until != INT64_MAX)
			continue;
		signs = now;
		until = run_now() + (samples ? ALONE_METRICS_MS : ALONE_MS) * INT64_C(1000000);
		tell_headway(WATCHER_ALIVE);
	}
}

_Noreturn void watched_run(const struct run *run, const struct watch_settings *settings, int line)
{
	static struct watched watched;
	struct hwy_rescue rescue;
	pthread_condattr_t monotonic;
	if (HWY_RESCUED(&rescue))
		_exit(1);
	watched.settings = *settings;
	watched.control = map_control(run);
	if (!watched.control || !stand_apart(line))
		_exit(1);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&watched.changed, &monotonic);
	pthread_mutex_init(&watched.lock, NULL);
	watched.spool = watched_spool_new(run->directory, watched.control);
	bool samples = settings->metrics.devices != PM_DEVICES_NONE;
	if (samples)
		pm_devices_environment(&settings->metrics);
	if (settings->clocks)
		start_source(&watched, &nvml_clocks_source);
	if (samples)
		start_source(&watched, &pm_source);
	if (watched.n) {
		await_end(&watched);
		finish_sources(&watched);
	}
	_exit(is_everything_done(&watched) ? 0 : 1);
}
