/* SPDX-License-Identifier: Apache-2.0 */
/* torch_exchanges.c - see torch_exchanges.h.
 *
 * A table without a lock. A slot's 'function' is NULL (free), TAKEN (one thread reads or writes
 * the slot), or the address of the at::RecordFunction. libtorch ends each function once, and
 * frees it afterwards: no two threads look for the same address.
 */
#include "collect/torch/torch_exchanges.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "collect/collect.h"

enum { SLOTS = 256 };

static struct slot {
	_Atomic(const void *) function;
	struct torch_exchange exchange; /* belongs to the thread that made 'function' TAKEN */
} slots[SLOTS];
static const char taken_mark;
#define TAKEN ((const void *)&taken_mark)
static _Atomic uint32_t n_open;

bool torch_exchanges_has_name(const char *name)
{
	return strncmp(name, "gloo:", 5) == 0 || strncmp(name, "mpi:", 4) == 0 ||
	       strncmp(name, "ucc:", 4) == 0;
}

static uint32_t first_slot(const void *function)
{
	return (uint32_t)((uintptr_t)function * UINT64_C(0x9e3779b97f4a7c15) >> 56);
}

void torch_exchanges_begin(const void *function, const struct torch_exchange *exchange)
{
	static atomic_flag is_told = ATOMIC_FLAG_INIT;
	for (uint32_t i = 0; i < SLOTS; i++) {
		struct slot *slot = &slots[(first_slot(function) + i) % SLOTS];
		const void *free_slot = NULL;
		if (!atomic_compare_exchange_strong_explicit(&slot->function, &free_slot, TAKEN,
							     memory_order_acquire,
							     memory_order_relaxed))
			continue;
		slot->exchange = *exchange;
		atomic_fetch_add_explicit(&n_open, 1, memory_order_relaxed);
		atomic_store_explicit(&slot->function, function, memory_order_release);
		return;
	}
	if (!atomic_flag_test_and_set(&is_told))
		collect_note(1, "some collectives on the CPU are not recorded: more than 256 were "
				"under way at a time");
}

bool torch_exchanges_take(const void *function, struct torch_exchange *exchange)
{
	if (atomic_load_explicit(&n_open, memory_order_relaxed) == 0)
		return false;
	for (uint32_t i = 0; i < SLOTS; i++) {
		struct slot *slot = &slots[(first_slot(function) + i) % SLOTS];
		const void *wanted = function;
		if (!atomic_compare_exchange_strong_explicit(&slot->function, &wanted, TAKEN,
							     memory_order_acquire,
							     memory_order_relaxed))
			continue;
		*exchange = slot->exchange;
		atomic_fetch_sub_explicit(&n_open, 1, memory_order_relaxed);
		atomic_store_explicit(&slot->function, NULL, memory_order_release);
		return true;
	}
	return false;
}
