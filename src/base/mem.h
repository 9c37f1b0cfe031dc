/* SPDX-License-Identifier: Apache-2.0 */
/* mem.h - allocation that cannot fail, growing arrays, and an arena.
 *
 * Running out of memory ends the process with a message: there is nothing a profiler's reader could
 * do instead. What comes from a file is therefore checked against the file's size before it is
 * allocated. Who has something to do all the same (a program to wait for, a directory to name) sets
 * a rescue point.
 */
#ifndef HWY_BASE_MEM_H
#define HWY_BASE_MEM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A rescue point: the place to which this thread jumps where memory runs out, instead of ending the
 * process. What was allocated since is lost, and what was being changed may be half changed.
 *
 *   struct hwy_rescue rescue;
 *   if (HWY_RESCUED(&rescue))
 *           return hwy_fail(err, "out of memory"); // the point is not set any more
 *   hwy_alloc(UINT64_MAX);
 *   hwy_rescue_end(&rescue);
 *
 * Points nest: the last one that was set is used. The function that sets a point ends it, and
 * changes none of its local variables in between (see setjmp). */
struct hwy_rescue {
	jmp_buf place;
	struct hwy_rescue *outer;
	size_t asked; /* the number of bytes that could not be had */
};
#define HWY_RESCUED(rescue) (hwy_rescue_begin(rescue), setjmp((rescue)->place) != 0)
void hwy_rescue_begin(struct hwy_rescue *rescue); /* for HWY_RESCUED only */
void hwy_rescue_end(struct hwy_rescue *rescue);

/* Functions that allocate never yield NULL: without memory they end the process. */
#define HWY_ALLOCATES __attribute__((returns_nonnull))

HWY_ALLOCATES void *hwy_alloc(size_t bytes);  /* uninitialised memory */
HWY_ALLOCATES void *hwy_zalloc(size_t bytes); /* zeroed memory */
HWY_ALLOCATES void *hwy_realloc(void *old, size_t bytes);
HWY_ALLOCATES void *hwy_copy(const void *from, size_t bytes); /* a malloc'ed copy */

/* Arrays of 'count' elements of 'size' bytes:
 *
 *   int64_t *times = hwy_array(n, sizeof *times);
 *   times = hwy_resize(times, 2 * n, sizeof *times);
 *   free(times);
 *
 * A product that does not fit size_t ends the process like lack of memory. The result is never
 * NULL, also for 0 elements: callers need no "n + 1". */
HWY_ALLOCATES void *hwy_array(size_t count, size_t size);             /* uninitialised memory */
HWY_ALLOCATES void *hwy_zarray(size_t count, size_t size);            /* zeroed memory */
HWY_ALLOCATES void *hwy_resize(void *old, size_t count, size_t size); /* 'old' may be NULL */
/* Yields a copy of an array; 'from' may be NULL where count is 0. */
HWY_ALLOCATES void *hwy_copy_array(const void *from, size_t count, size_t size);

/* Makes room for one more element in a growing array: HWY_GROW(v, n, cap); v[n++] = x; */
#ifdef __clang_analyzer__ /* the analyzer does not know that an array with room is not NULL */
#define HWY_GROW(v, n, cap) ((void)((v) = hwy_grow((v), &(cap), sizeof *(v))))
#else
#define HWY_GROW(v, n, cap)                                                                        \
	((n) < (cap) ? (void)0 : (void)((v) = hwy_grow((v), &(cap), sizeof *(v))))
#endif
HWY_ALLOCATES void *hwy_grow(void *v, uint32_t *cap, size_t element);

/* Compares two int64_t for qsort, the smallest first. */
int hwy_ascending(const void *left, const void *right);

/* An arena: memory that is freed all at once. */
struct hwy_arena {
	struct hwy_arena_block *last;
};

/* Yields zeroed memory in the arena, aligned to 8 bytes. */
HWY_ALLOCATES void *hwy_arena_alloc(struct hwy_arena *arena, size_t bytes);
/* Yields a copy of a text in the arena, with a 0 after its end. */
HWY_ALLOCATES char *hwy_arena_text(struct hwy_arena *arena, const char *text, size_t length);
/* Yields text of any length as printf writes it, in the arena. */
HWY_ALLOCATES char *hwy_arena_format(struct hwy_arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
HWY_ALLOCATES char *hwy_arena_vformat(struct hwy_arena *arena, const char *format,
				      va_list arguments) __attribute__((format(printf, 2, 0)));
/* Arrays inside an arena: the functions check the product of count and size and never yield
 * NULL. */
/* Yields a zeroed array, aligned to 8 bytes. */
HWY_ALLOCATES void *hwy_arena_array(struct hwy_arena *arena, size_t count, size_t size);
HWY_ALLOCATES void *hwy_arena_copy_array(struct hwy_arena *arena, const void *from, size_t count,
					 size_t size);
void hwy_arena_free(struct hwy_arena *arena);

#endif
