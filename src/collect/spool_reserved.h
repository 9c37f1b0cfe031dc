/* SPDX-License-Identifier: Apache-2.0 */
/* spool_reserved.h - the word of a spool that says which record is being written.
 *
 * One word, so that a signal handler always finds all of it: how many slots the record has (bits
 * 0 to 15), whether it is in the file of definitions (bit 16), and at which slot of the chunk it
 * begins (from bit 17 on). 0: no record is being written.
 */
#ifndef HWY_COLLECT_SPOOL_RESERVED_H
#define HWY_COLLECT_SPOOL_RESERVED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "collect/spool.h"

static inline uint32_t reserved_word(const struct spool *spool, const struct spool_file *file,
				     uint32_t at, unsigned slots)
{
	return slots | (uint32_t)(file == &spool->definitions) << 16 | at << 17;
}
static_assert(SPOOL_FILE_SLOTS < 1 << 14, "a place in a chunk fits the word");

static inline uint32_t reserved_slots(uint32_t word)
{
	return word & 0xffff;
}

static inline struct spool_file *reserved_file(struct spool *spool, uint32_t word)
{
	return word >> 16 & 1 ? &spool->definitions : &spool->events;
}

static inline uint32_t reserved_at(uint32_t word)
{
	return word >> 17;
}

/* Changes the word from one value to another; false if it has a third value. 0 to a record: the
 * record is begun, unless another one is being written. A record to 0: the record is done,
 * unless it was stepped over. The instruction is whole for signal handlers of the thread, which
 * is all that is needed, and costs less than one that is whole for other CPUs. */
static inline bool reserved_change(uint32_t *word, uint32_t from, uint32_t to)
{
#if defined(__x86_64__)
	uint32_t found = from;
	__asm__ volatile("cmpxchgl %2, %1" : "+a"(found), "+m"(*word) : "r"(to) : "cc", "memory");
	return found == from;
#else
	return atomic_compare_exchange_strong_explicit((_Atomic uint32_t *)word, &from, to,
						       memory_order_relaxed, memory_order_relaxed);
#endif
}

#endif
