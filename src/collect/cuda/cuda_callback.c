/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_callback.c - CUPTI's callbacks on calls: takes stacks of long waits, of allocations and of
 * some launches, and has waits recorded (cuda_sync.c), and nodes of graphs (cuda_nodes.c).
 *
 * Runs on the program's threads, inside its CUDA calls. The end of a call is timed first, so that
 * the collector's own time is not counted as the call's. A driver call made by a runtime call has
 * the runtime call's correlation id, by which it is recognised. Nothing here blocks: locks are only
 * tried.
 */
#include <string.h>

#include "collect/cuda/cuda.h"

/* ns that a round of launch samples stays open at least, so that a thread that launches all the
 * time does not take the samples of a thread that seldom does. */
enum { ROUND_NS = 500 * 1000 };
/* How many short allocations of a thread get a stack per second. */
enum { SHORT_ALLOCATIONS_PER_S = 1000 };

static struct {
	_Atomic uint32_t number;
	_Atomic int64_t opened;
} round_;

static __thread struct {
	int64_t start; /* ns when the thread's current CUDA call began */
	/* correlation: correlation id of the thread's current CUDA call; 0: the thread is in no
	 * call. */
	uint32_t correlation;
	uint16_t domain; /* CUPTI_DOMAIN_ of the thread's current CUDA call */
	/* passes: how many launches of the thread go by in this sampling round before one gets a
	 * stack. */
	uint16_t passes;
	/* Number of the sampling round in which the thread's last launch got a stack. */
	uint32_t round;
	/* How many short allocations got a stack in the second that began at 'second' (ns). */
	uint32_t allocations;
	int64_t second;
} thread __attribute__((tls_model("initial-exec")));

void cuda_callback_new_round(void)
{
	atomic_store(&round_.opened, collect_now());
	atomic_fetch_add(&round_.number, 1);
}

/* How many launches pass before one is sampled: less than 1, 2, 4, ... or 64, each bound with the
 * same chance. Rounds mostly open while threads wait. If the next launch were always sampled, it
 * would be the first launch after a wait again and again. */
static uint16_t draw_passes(int64_t now)
{
	/* The multiplication spreads the last digits of the clock over all bits. */
	uint32_t chance = (uint32_t)now * 2654435761u;
	uint32_t among = (chance >> 26) % 7;
	return (uint16_t)((chance >> 16) & ((1u << among) - 1));
}

/* Whether this launch gets a stack: in each sampling round (ROUND_NS) one launch of every thread
 * does. */
static bool is_sampled(int64_t now)
{
	if (collect_control->launch_stacks == 0)
		return false;
	uint32_t number = atomic_load_explicit(&round_.number, memory_order_relaxed);
	if (thread.round != number) {
		if (thread.passes > 0) {
			thread.passes--;
			return false;
		}
		thread.round = number;
		thread.passes = draw_passes(now);
		return true;
	}
	if (cuda_calls_sampling() && now - atomic_load(&round_.opened) > ROUND_NS)
		cuda_calls_sample_off_if_free();
	return false;
}

static bool is_allocation_sampled(int64_t now, bool is_long)
{
	if (is_long)
		return true;
	if (now - thread.second > INT64_C(1000000000)) {
		thread.second = now;
		thread.allocations = 0;
	}
	return thread.allocations++ < SHORT_ALLOCATIONS_PER_S;
}

static void cuda_callback_take_stack(unsigned flags, int64_t now, uint32_t correlation)
{
	/* The user wants no stacks. */
	if (collect_control->stack_threshold < 0)
		return;
	bool is_long = now - thread.start >= collect_control->stack_threshold;
	if ((flags & CALL_ALLOC) && is_allocation_sampled(now, is_long))
		collect_stack(REC_WHY_ALLOC, thread.start, correlation);
	else if ((flags & (CALL_WAIT | CALL_COPY)) && is_long)
		collect_stack(REC_WHY_WAIT, thread.start, correlation);
	else if ((flags & (CALL_LAUNCH | CALL_COPY)) && is_sampled(now))
		collect_stack(REC_WHY_LAUNCH, thread.start, correlation);
}

static void cuda_callback_enter(uint32_t domain, uint32_t cbid, unsigned flags,
				uint32_t correlation)
{
	if (domain == CUPTI_DOMAIN_DRIVER && thread.correlation == correlation &&
	    thread.domain == CUPTI_DOMAIN_RUNTIME) {
		cuda_calls_nested(cbid);
		return;
	}
	thread.correlation = correlation;
	thread.domain = (uint16_t)domain;
	if (flags & CALL_STOP)
		collect_set_recording(false);
	thread.start = collect_now();
}

static void cuda_callback_leave(uint32_t domain, unsigned flags, const struct cupti_callback *call)
{
	/* A callback that was switched on while a call was running sees only the exit of that
	 * call. */
	if (thread.correlation != call->correlation || thread.domain != domain)
		return;
	int64_t now = collect_now();
	if (flags & CALL_START) {
		collect_set_recording(true);
	} else if (collect_is_on(REC_TRACE_CUDA)) {
		if ((flags & CALL_SYNC) && cuda_sync_uses_callbacks())
			cuda_sync_put(flags, call, thread.start, now);
		cuda_callback_take_stack(flags, now, call->correlation);
	}
	thread.correlation = 0;
}

static void state_changed(uint32_t cbid, const struct cupti_state *state)
{
	if (cbid != CUPTI_STATE_FATAL_ERROR)
		return;
	atomic_store(&cuda.stage, CUDA_GONE); /* after a fatal error CUPTI has shut itself down */
	collect_note(3, "CUPTI stopped recording: %s (error %u)",
		     state->message ? state->message : "no reason given", state->result);
}

/* CUPTI may be detached only in the exit of a call; the first thread that gets there detaches
 * it. */
static void cuda_callback_detach(const struct cupti_callback *call)
{
	int leaving = CUDA_LEAVING;
	if (call->site == CUPTI_EXIT &&
	    atomic_compare_exchange_strong(&cuda.stage, &leaving, CUDA_GONE))
		cuda.cupti.cuptiFinalize();
}

void cuda_callback(void *user, uint32_t domain, uint32_t cbid, const void *data)
{
	(void)user;
	int stage = atomic_load_explicit(&cuda.stage, memory_order_acquire);
	if (stage == CUDA_OFF || stage == CUDA_GONE)
		return;
	if (domain == CUPTI_DOMAIN_STATE) {
		state_changed(cbid, data);
		return;
	}
	if (domain == CUPTI_DOMAIN_RESOURCE && stage == CUDA_ON)
		cuda_nodes_callback(cbid, data);
	if (domain != CUPTI_DOMAIN_RUNTIME && domain != CUPTI_DOMAIN_DRIVER)
		return;
	const struct cupti_callback *call = data;
	if (stage == CUDA_LEAVING) {
		cuda_callback_detach(call);
		return;
	}
	unsigned flags = cuda_calls_flags(domain, cbid);
	if (call->site == CUPTI_ENTER)
		cuda_callback_enter(domain, cbid, flags, call->correlation);
	else
		cuda_callback_leave(domain, flags, call);
}
