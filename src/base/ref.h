/* SPDX-License-Identifier: Apache-2.0 */
/* ref.h - a reference to a numbered thing that may be absent, in one integer: 0 is none, n + 1 is
 * the n-th.
 *
 *   int64_t parent = depth > 0 ? hwy_ref(open_ranges[depth - 1]) : HWY_REF_NONE;
 *   if (hwy_ref_is_set(parent))
 *           printf("inside range %lld\n", (long long)hwy_ref_index(parent));
 *
 * Zeroed memory therefore refers to nothing, and a column of references packs well: most are 0. Use
 * these functions instead of "+ 1" and "- 1", so that nobody forgets one of them. (struct hwy_ref
 * of trace/builder.h is something else.)
 */
#ifndef HWY_BASE_REF_H
#define HWY_BASE_REF_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

enum { HWY_REF_NONE = 0 };

/* Yields the reference to the thing with this index; 0 <= index < INT64_MAX. */
static inline int64_t hwy_ref(int64_t index)
{
	assert(index >= 0 && index < INT64_MAX);
	return index + 1;
}

/* Whether a reference refers to anything: 0 does not, nor do negative numbers, which only a damaged
 * file holds. */
static inline bool hwy_ref_is_set(int64_t ref)
{
	return ref > 0;
}

/* Yields the index that a reference refers to; the reference must be set. */
static inline int64_t hwy_ref_index(int64_t ref)
{
	assert(hwy_ref_is_set(ref));
	return ref - 1;
}

/* hwy_ref in 32 bits; index < UINT32_MAX. */
static inline uint32_t hwy_ref32(uint32_t index)
{
	assert(index < UINT32_MAX);
	return index + 1;
}

static inline bool hwy_ref32_is_set(uint32_t ref)
{
	return ref > 0;
}

static inline uint32_t hwy_ref32_index(uint32_t ref)
{
	assert(hwy_ref32_is_set(ref));
	return ref - 1;
}

#endif
