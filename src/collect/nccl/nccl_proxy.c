/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_proxy.c - what NCCL's proxy threads and kernels do for an operation, summed up in slots
 * of a table and recorded when it ends: one record for each channel.
 *
 * A proxy operation moves the data of one channel in steps, several at a time. While it lasts,
 * each moment counts for at most one kind of wait:
 *   network  a step is under way: it was sent and not acknowledged, or it is to come, or is being flushed;
 *   peer     no step is under way, and one may not be sent because the peer has given no credit, or the first
 *            step is to come: until the peer sends, its network has nothing to do;
 *   gpu      all steps wait for the GPU to produce or consume the data.
 * A peer that sends slowly after its first step looks like a slow network here.
 *
 * A slot belongs to the thread that started it until that thread stops it; a step and its
 * operation are told by one proxy thread. A handle names the slot and the number of its use, so
 * that a handle from an earlier use is recognised.
 */
#include <errno.h>

#include "collect/nccl/nccl.h"

enum { SLOTS = 1 << 14, SLOT_BITS = 14 };
enum wait { WAIT_NOT, WAIT_GPU, WAIT_PEER, WAIT_NETWORK, WAITS };
enum slot_kind { SLOT_PROXY, SLOT_STEP, SLOT_CHANNEL };

struct slot {
	_Atomic uint64_t use;  /* counts starts and stops: odd while the slot is in use */
	_Atomic uint32_t next; /* of a free slot: the next free one, as index + 1; 0: none */
	uint8_t kind, flags;
	uint16_t channel;
	int64_t start;
	uint64_t operation;
	union {
		struct {                       /* SLOT_PROXY */
			int64_t since;         /* when 'waiting' last changed */
			int64_t waited[WAITS]; /* ns */
			/* steps that are in this wait; [WAIT_PEER] also the operation itself */
			uint32_t waiting[WAITS];
			uint32_t steps, pid;
			int32_t peer;
			bool has_moved; /* a step has come */
			/* below version 4 the operation waits for credits, not a step */
			bool has_no_credit;
		};
		struct { /* SLOT_STEP */
			void *proxy;
			uint8_t wait;
		};
		struct { /* SLOT_CHANNEL */
			uint64_t gpu_start, gpu_end;
		};
	};
};
static struct slot slots[SLOTS];
static _Atomic uint32_t used_slots; /* slots from here on were never used */
/* The first free slot as index + 1 in the lower half; the upper half counts changes, so that a
 * slot which came back meanwhile is noticed. */
static _Atomic uint64_t free_slots;

/* ---- the table ------------------------------------------------------------------------------- */

static struct slot *slot_pop(void)
{
	uint64_t head = atomic_load_explicit(&free_slots, memory_order_acquire);
	while ((uint32_t)head) {
		struct slot *slot = &slots[(uint32_t)head - 1];
		uint64_t next = ((head >> 32) + 1) << 32 |
				atomic_load_explicit(&slot->next, memory_order_relaxed);
		if (atomic_compare_exchange_weak_explicit(
			    &free_slots, &head, next, memory_order_acquire, memory_order_acquire))
			return slot;
	}
	uint32_t fresh = atomic_load_explicit(&used_slots, memory_order_relaxed);
	while (fresh < SLOTS)
		if (atomic_compare_exchange_weak_explicit(&used_slots, &fresh, fresh + 1,
							  memory_order_relaxed,
							  memory_order_relaxed))
			return &slots[fresh];
	return NULL;
}

static void slot_push(struct slot *slot)
{
	uint64_t head = atomic_load_explicit(&free_slots, memory_order_relaxed), now;
	do {
		atomic_store_explicit(&slot->next, (uint32_t)head, memory_order_relaxed);
		now = ((head >> 32) + 1) << 32 | (uint32_t)(slot - slots + 1);
	} while (!atomic_compare_exchange_weak_explicit(
		&free_slots, &head, now, memory_order_release, memory_order_relaxed));
}

static void *slot_handle(const struct slot *slot)
{
	uint64_t use = atomic_load_explicit(&slot->use, memory_order_relaxed);
	uint64_t number = use << SLOT_BITS | (uint64_t)(slot - slots);
	return (void *)(uintptr_t)(number << NCCL_HANDLE_BITS | NCCL_IS_SLOT);
}

/* The slot of a handle; NULL: the handle is none, or its use of the slot is over. */
static struct slot *slot_of(const void *handle)
{
	if (nccl_handle_kind(handle) != NCCL_IS_SLOT)
		return NULL;
	struct slot *slot = &slots[(uintptr_t)handle >> NCCL_HANDLE_BITS & (SLOTS - 1)];
	return slot_handle(slot) == handle ? slot : NULL;
}

static struct slot *slot_start(enum slot_kind kind)
{
	if (!nccl_is_on())
		return NULL;
	int saved = errno;
	struct slot *slot = slot_pop();
	if (!slot) {
		collect_drop(
			"NCCL: more steps of proxies and kernels at a time than the recorder keeps",
			1);
		errno = saved;
		return NULL;
	}
	atomic_fetch_add_explicit(&slot->use, 1, memory_order_relaxed);
	slot->kind = (uint8_t)kind;
	slot->flags = 0;
	slot->start = collect_now();
	return slot;
}

static void slot_end(struct slot *slot)
{
	atomic_fetch_add_explicit(&slot->use, 1, memory_order_relaxed);
	slot_push(slot);
}

/* ---- proxies --------------------------------------------------------------------------------- */

void *nccl_start_proxy(void *operation, const struct abi_nccl_proxy_op *op)
{
	struct slot *slot = slot_start(SLOT_PROXY);
	if (!slot)
		return NULL;
	slot->flags = op->is_send ? REC_NCCL_SEND : 0;
	slot->channel = op->channel;
	slot->operation = nccl_id(operation);
	slot->since = slot->start;
	slot->pid = (uint32_t)op->pid;
	slot->peer = op->peer;
	slot->steps = 0;
	slot->has_moved = slot->has_no_credit = false;
	for (int i = 0; i < WAITS; i++) {
		slot->waited[i] = 0;
		slot->waiting[i] = 0;
	}
	return slot_handle(slot);
}

/* The wait that the time up to now counts for. */
static enum wait wait_of(const struct slot *proxy)
{
	if (proxy->waiting[WAIT_NETWORK])
		return (proxy->flags & REC_NCCL_SEND) || proxy->has_moved ? WAIT_NETWORK
									  : WAIT_PEER;
	if (proxy->waiting[WAIT_PEER] || proxy->has_no_credit)
		return WAIT_PEER;
	return proxy->waiting[WAIT_GPU] ? WAIT_GPU : WAIT_NOT;
}

static void proxy_advance(struct slot *proxy, int64_t now)
{
	proxy->waited[wait_of(proxy)] += now - proxy->since;
	proxy->since = now;
}

static void step_enter(struct slot *step, enum wait wait)
{
	struct slot *proxy = slot_of(step->proxy);
	if (proxy) {
		proxy_advance(proxy, collect_now());
		proxy->waiting[step->wait]--;
		proxy->waiting[wait]++;
	}
	step->wait = (uint8_t)wait;
}

void *nccl_start_step(void *proxy_handle)
{
	struct slot *proxy = slot_of(proxy_handle);
	struct slot *step = proxy && proxy->kind == SLOT_PROXY ? slot_start(SLOT_STEP) : NULL;
	if (!step)
		return NULL;
	step->proxy = proxy_handle;
	step->wait = WAIT_NOT;
	proxy->waiting[WAIT_NOT]++;
	proxy->steps++;
	return slot_handle(step);
}

static void step_state(struct slot *step, int state)
{
	struct slot *proxy = slot_of(step->proxy);
	switch (state) {
	case ABI_NCCL_STEP_SEND_GPU_WAIT: step_enter(step, WAIT_GPU); break;
	case ABI_NCCL_STEP_SEND_PEER_WAIT: step_enter(step, WAIT_PEER); break;
	case ABI_NCCL_STEP_SEND_WAIT:
	case ABI_NCCL_STEP_RECV_WAIT: step_enter(step, WAIT_NETWORK); break;
	case ABI_NCCL_STEP_RECV_FLUSH_WAIT:
	case ABI_NCCL_STEP_RECV_GPU_WAIT:
		step_enter(step, state == ABI_NCCL_STEP_RECV_GPU_WAIT ? WAIT_GPU : WAIT_NETWORK);
		if (proxy)
			proxy->has_moved = true;
		break;
	default: break;
	}
}

/* Below version 4 a state of the operation tells that the peer has given no credit. */
static void proxy_enter(struct slot *proxy, int state)
{
	bool has_no_credit = state == ABI_NCCL_OP_SEND_REMOTE_WAIT;
	if (has_no_credit || state == ABI_NCCL_OP_SEND_TRANSMITTED) {
		proxy_advance(proxy, collect_now());
		proxy->has_no_credit = has_no_credit;
	}
}

static void proxy_put(struct slot *proxy)
{
	int64_t now = collect_now();
	proxy_advance(proxy, now);
	struct rec_nccl_proxy *record = collect_reserve(REC_NCCL_PROXY, 2);
	if (!record)
		return;
	record->head.flags = proxy->flags;
	record->head.value = (uint32_t)proxy->peer;
	record->start = proxy->start;
	record->duration = now - proxy->start;
	record->operation = proxy->operation;
	record->wait_gpu = proxy->waited[WAIT_GPU];
	record->wait_peer = proxy->waited[WAIT_PEER];
	record->wait_network = proxy->waited[WAIT_NETWORK];
	record->pid = proxy->pid;
	record->channel = proxy->channel;
	record->steps = (uint16_t)(proxy->steps < UINT16_MAX ? proxy->steps : UINT16_MAX);
	collect_publish(record);
}

/* ---- kernels --------------------------------------------------------------------------------- */

void *nccl_start_channel(void *operation, unsigned channel, uint64_t timer)
{
	struct slot *slot = slot_start(SLOT_CHANNEL);
	if (!slot)
		return NULL;
	slot->channel = (uint16_t)channel;
	slot->operation = nccl_id(operation);
	slot->gpu_start = timer;
	slot->gpu_end = 0;
	return slot_handle(slot);
}

static void channel_put(const struct slot *channel)
{
	struct rec_nccl_channel *record = collect_reserve(REC_NCCL_CHANNEL, 2);
	if (!record)
		return;
	record->head.value = channel->channel;
	record->start = channel->start;
	record->duration = collect_now() - channel->start;
	record->operation = channel->operation;
	record->gpu_start = channel->gpu_start;
	record->gpu_end = channel->gpu_end;
	collect_publish(record);
}

/* ---- both ------------------------------------------------------------------------------------ */

void nccl_proxy_state(void *handle, int state, uint64_t kernel_timer)
{
	struct slot *slot = slot_of(handle);
	if (!slot)
		return;
	if (slot->kind == SLOT_STEP)
		step_state(slot, state);
	else if (slot->kind == SLOT_PROXY)
		proxy_enter(slot, state);
	else if (state == ABI_NCCL_KERNEL_CHANNEL_STOP)
		slot->gpu_end = kernel_timer;
}

void nccl_proxy_stop(void *handle)
{
	struct slot *slot = slot_of(handle);
	if (!slot)
		return;
	int saved = errno;
	if (slot->kind == SLOT_STEP) {
		step_enter(slot, WAIT_NOT);
		struct slot *proxy = slot_of(slot->proxy);
		if (proxy)
			proxy->waiting[WAIT_NOT]--;
	} else if (nccl_is_on()) {
		if (slot->kind == SLOT_PROXY)
			proxy_put(slot);
		else
			channel_put(slot);
	}
	slot_end(slot);
	errno = saved;
}
