/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_flush.c - the thread that asks CUPTI for its buffers, so that a killed program loses
 * little.
 *
 * Every flush_ms the thread fetches the records that are complete, reports losses and devices,
 * keeps buffers ready, follows the control page and begins what could not begin earlier
 * (late.h); every 1000/launch_stacks ms it opens a round of launch samples. The thread starts
 * with the first buffer (a process that makes no CUDA call has none), takes no signals and does
 * not exist in forked children. Fetching costs the program nothing that could be measured (H200,
 * CUDA 13.0: 4.3 µs a launch, whether records are fetched every 5, 20 or 100 ms).
 *
 * At exit the same thread makes the last, forced flush, and the exiting thread waits
 * LAST_FLUSH_S seconds for it at most: flushes have been seen to hang.
 */
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "collect/cuda/cuda.h"
#include "collect/late.h"
#include "collect/process.h"

enum { LAST_FLUSH_S = 4, STACK_BYTES = 1024 * 1024 };
/* How long the thread waits for work that was running on the device when recording ended: in all,
 * and since CUPTI gave back the last buffer. */
#define LINGER_NS INT64_C(2000000000)
#define LINGER_QUIET_NS INT64_C(200000000)

static struct {
	_Atomic bool started, was_last;
	_Atomic uint32_t tid;
	pthread_mutex_t lock;
	/* Signals that one of the fields below has changed; waits for it use CLOCK_MONOTONIC. */
	pthread_cond_t changed;
	/* is_running: true from the flush thread's start to its last flush. */
	_Atomic bool is_running;
	bool was_started, must_end, has_ended; /* states of the flush thread; guarded by 'lock' */
	/* A recording has ended, and somebody waits until its records are fetched; guarded by
	 * 'lock'. */
	bool must_drain;
	uint32_t drained; /* how often that was done; guarded by 'lock' */
} flush = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

/* Sleeps until 'time' (ns); false when the process exits meanwhile. */
static bool sleep_until(int64_t time)
{
	struct timespec until = timespec_of(time);
	pthread_mutex_lock(&flush.lock);
	while (!flush.must_end && !flush.must_drain && collect_now() < time)
		pthread_cond_timedwait(&flush.changed, &flush.lock, &until);
	bool goes_on = !flush.must_end;
	pthread_mutex_unlock(&flush.lock);
	return goes_on;
}

static void cuda_flush_fetch(uint32_t flags)
{
	cuda.cupti.cuptiActivityFlushAll(flags);
	cuda_buffers_convert();
	cuda_records_report_losses(flags == CUPTI_FLUSH_FORCED);
	cuda_device_report();
}

static int64_t round_ns(void)
{
	uint32_t rate = collect_control->launch_stacks;
	return rate == 0 ? INT64_MAX : INT64_C(1000000000) / (rate < 1000 ? rate : 1000);
}

static int64_t flush_ns(void)
{
	uint32_t ms = collect_control->flush_ms;
	return (ms > 0 ? ms : 100) * INT64_C(1000000);
}

static bool cuda_flush_linger(void);

/* Fetches all records of a recording that has ended, where somebody waits for that. */
static void cuda_flush_drain_if_asked(void)
{
	pthread_mutex_lock(&flush.lock);
	bool is_asked = flush.must_drain;
	flush.must_drain = false; /* before it lingers, which sleeps */
	pthread_mutex_unlock(&flush.lock);
	if (!is_asked)
		return;
	cuda_flush_linger();
	cuda_flush_fetch(CUPTI_FLUSH_FORCED);
	cuda_nodes_report_losses();
	pthread_mutex_lock(&flush.lock);
	flush.drained++;
	pthread_cond_broadcast(&flush.changed);
	pthread_mutex_unlock(&flush.lock);
}

/* Fetches records until recording is over for good (true) or the process exits (false). */
static bool cuda_flush_while_recording(void)
{
	int64_t now = collect_now(), next_fetch = now + flush_ns(), next_round = now;
	while (sleep_until(next_round < next_fetch ? next_round : next_fetch)) {
		if (!cuda_is_on())
			return false;
		cuda_flush_drain_if_asked();
		cuda_buffers_convert();
		cuda_calls_settle();
		now = collect_now();
		if (now >= next_round) {
			int64_t period = round_ns();
			next_round = period == INT64_MAX ? period : now + period;
			if (period != INT64_MAX && collect_is_on(REC_TRACE_CUDA)) {
				cuda_callback_new_round();
				cuda_calls_sample(true);
			}
		}
		if (now >= next_fetch) {
			next_fetch = now + flush_ns();
			if (!process.has_run)
				continue; /* between two recordings there is nothing to fetch */
			cuda_follow_control();
			cuda_buffers_top_up();
			late_look();
			cuda_flush_fetch(0);
			if (cuda_is_over())
				return true;
		}
	}
	return false;
}

/* After recording has ended: waits a while for work that is running on the device. False: the
 * process exits. */
static bool cuda_flush_linger(void)
{
	int64_t begin = collect_now(), heard = begin, now = begin;
	uint64_t completed = cuda_buffers_completed();
	while (cuda_buffers_outstanding() > 0 && now - begin < LINGER_NS &&
	       now - heard < LINGER_QUIET_NS) {
		if (!sleep_until(now + 20 * INT64_C(1000000)))
			return false;
		cuda_flush_fetch(0);
		now = collect_now();
		if (cuda_buffers_completed() != completed)
			heard = now;
		completed = cuda_buffers_completed();
	}
	return true;
}

static void *cuda_flush_run(void *unused)
{
	collect_is_ours = true;
	(void)unused;
	atomic_store(&flush.tid, collect_tid());
	pthread_setname_np(pthread_self(), "headway-flush");
	bool is_over = cuda_flush_while_recording() && cuda_flush_linger();
	if (cuda_is_on())
		cuda_flush_fetch(CUPTI_FLUSH_FORCED);
	atomic_store(&flush.is_running,
		     /* Buffers that CUPTI delivers from now on are converted by the thread in
		      * which it delivers them. */
		     false);
	cuda_buffers_convert();
	if (is_over)
		cuda_leave();
	pthread_mutex_lock(&flush.lock);
	flush.has_ended = true;
	pthread_cond_broadcast(&flush.changed);
	pthread_mutex_unlock(&flush.lock);
	return NULL;
}

static bool start_thread(void)
{
	pthread_attr_t attributes;
	pthread_condattr_t clock;
	pthread_t id;
	sigset_t all, before;
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&flush.changed, &clock);
	pthread_condattr_destroy(&clock);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(&id, &attributes, cuda_flush_run, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return error == 0;
}

bool cuda_flush_is_running(void)
{
	return atomic_load(&flush.is_running);
}

void cuda_flush_start(void)
{
	if (atomic_load_explicit(&flush.started, memory_order_relaxed) ||
	    atomic_exchange(&flush.started, true))
		return;
	pthread_mutex_lock(&flush.lock);
	atomic_store(&flush.is_running, true);
	flush.was_started = start_thread();
	bool failed = !flush.was_started;
	if (failed)
		atomic_store(&flush.is_running, false);
	pthread_mutex_unlock(&flush.lock);
	if (failed)
		collect_note(2,
			     "no thread for fetching CUDA records: they are written at exit only");
}

bool cuda_flush_is_thread(uint32_t tid)
{
	return atomic_load_explicit(&flush.tid, memory_order_relaxed) == tid;
}

void cuda_flush_drain(void)
{
	if (!cuda_is_on() || !atomic_load(&flush.started))
		return;
	struct timespec until = timespec_of(collect_now() + LAST_FLUSH_S * INT64_C(1000000000));
	pthread_mutex_lock(&flush.lock);
	uint32_t before = flush.drained;
	bool is_running = flush.was_started && !flush.has_ended;
	flush.must_drain = is_running;
	pthread_cond_broadcast(&flush.changed);
	while (is_running && flush.drained == before && !flush.has_ended)
		if (pthread_cond_timedwait(&flush.changed, &flush.lock, &until) != 0)
			break;
	bool is_done = !is_running || flush.drained != before;
	pthread_mutex_unlock(&flush.lock);
	if (!is_running)
		cuda_flush_fetch(CUPTI_FLUSH_FORCED);
	if (!is_done)
		collect_note(3, "CUPTI did not give its last records within %d s: they are lost",
			     LAST_FLUSH_S);
}

void cuda_flush_last(void)
{
	/* CUPTI never asked for a buffer, so that there are no records to fetch, and a flush
	 * might hang. */
	if (!atomic_load(&flush.started) || atomic_exchange(&flush.was_last, true))
		return;
	struct timespec until = timespec_of(collect_now() + LAST_FLUSH_S * INT64_C(1000000000));
	pthread_mutex_lock(&flush.lock);
	flush.must_end = true;
	bool was_started = flush.was_started;
	if (was_started)
		pthread_cond_broadcast(&flush.changed);
	while (was_started && !flush.has_ended)
		if (pthread_cond_timedwait(&flush.changed, &flush.lock, &until) != 0)
			break;
	bool has_ended = flush.has_ended;
	pthread_mutex_unlock(&flush.lock);
	if (!was_started)
		cuda_flush_fetch(CUPTI_FLUSH_FORCED);
	if (!was_started || has_ended)
		return;
	cuda_buffers_convert();
	collect_note(3, "CUPTI did not give its last records within %d s: they are lost",
		     LAST_FLUSH_S);
}
