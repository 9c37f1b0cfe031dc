/* SPDX-License-Identifier: Apache-2.0 */
/* mem.c - see mem.h. */
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_BLOCK = 64 * 1024 };

struct hwy_arena_block {
	struct hwy_arena_block *before;
	size_t used, size;
	_Alignas(8) unsigned char bytes[];
};

/* malloc, calloc and realloc may yield NULL for 0 bytes, so 1 byte is allocated instead. */
static size_t at_least_one(size_t bytes)
{
	return bytes ? bytes : 1;
}

/* The last rescue point that this thread has set. */
static _Thread_local struct hwy_rescue *innermost;

void hwy_rescue_begin(struct hwy_rescue *rescue)
{
	rescue->outer = innermost;
	innermost = rescue;
}

void hwy_rescue_end(struct hwy_rescue *rescue)
{
	innermost = rescue->outer;
}

static void *checked(void *memory, size_t bytes)
{
	if (memory)
		return memory;
	if (innermost) {
		struct hwy_rescue *rescue = innermost;
		hwy_rescue_end(rescue);
		rescue->asked = bytes;
		longjmp(rescue->place, 1);
	}
	fprintf(stderr, "headway: out of memory (asked for %zu bytes)\n", bytes);
	abort();
}

void *hwy_alloc(size_t bytes)
{
	return checked(malloc(at_least_one(bytes)), bytes);
}

void *hwy_zalloc(size_t bytes)
{
	return checked(calloc(1, at_least_one(bytes)), bytes);
}

void *hwy_realloc(void *old, size_t bytes)
{
	return checked(realloc(old, at_least_one(bytes)), bytes);
}

void *hwy_copy(const void *from, size_t bytes)
{
	void *copy = hwy_alloc(bytes);
	if (bytes)
		memcpy(copy, from, bytes);
	return copy;
}

/* Yields the size of an array in bytes; ends the process where the product is above PTRDIFF_MAX,
 * malloc's limit. */
static size_t array_bytes(size_t count, size_t size)
{
	size_t bytes;
	if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX)
		checked(NULL, SIZE_MAX);
	return bytes;
}

void *hwy_array(size_t count, size_t size)
{
	return hwy_alloc(array_bytes(count, size));
}

void *hwy_zarray(size_t count, size_t size)
{
	return hwy_zalloc(array_bytes(count, size));
}

void *hwy_resize(void *old, size_t count, size_t size)
{
	return hwy_realloc(old, array_bytes(count, size));
}

void *hwy_copy_array(const void *from, size_t count, size_t size)
{
	void *copy = hwy_array(count, size);
	if (count && size)
		memcpy(copy, from, count * size);
	return copy;
}

void *hwy_grow(void *v, uint32_t *cap, size_t element)
{
	uint64_t next = *cap ? (uint64_t)*cap * 2 : 16;
	if (next > UINT32_MAX)
		checked(NULL, SIZE_MAX);
	*cap = (uint32_t)next;
	return hwy_resize(v, next, element);
}

void *hwy_arena_alloc(struct hwy_arena *arena, size_t bytes)
{
	bytes = (bytes + 7) & ~(size_t)7;
	struct hwy_arena_block *block = arena->last;
	if (!block || block->size - block->used < bytes) {
		size_t size = bytes > ARENA_BLOCK ? bytes : ARENA_BLOCK;
		block = hwy_alloc(sizeof *block + size);
		*block = (struct hwy_arena_block){.before = arena->last, .size = size};
		arena->last = block;
	}
	void *place = block->bytes + block->used;
	block->used += bytes;
	return memset(place, 0, bytes);
}

char *hwy_arena_text(struct hwy_arena *arena, const char *text, size_t length)
{
	char *copy = hwy_arena_alloc(arena, length + 1);
	if (length)
		memcpy(copy, text, length);
	return copy;
}

char *hwy_arena_vformat(struct hwy_arena *arena, const char *format, va_list arguments)
{
	va_list again;
	va_copy(again, arguments);
	int length = vsnprintf(NULL, 0, format, again);
	va_end(again);
	size_t size = length < 0 ? 1 : (size_t)length + 1;
	char *text = hwy_arena_alloc(arena, size);
	vsnprintf(text, size, format, arguments);
	return text;
}

char *hwy_arena_format(struct hwy_arena *arena, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	char *text = hwy_arena_vformat(arena, format, arguments);
	va_end(arguments);
	return text;
}

void *hwy_arena_array(struct hwy_arena *arena, size_t count, size_t size)
{
	return hwy_arena_alloc(arena, array_bytes(count, size));
}

void *hwy_arena_copy_array(struct hwy_arena *arena, const void *from, size_t count, size_t size)
{
	void *copy = hwy_arena_array(arena, count, size);
	if (count && size)
		memcpy(copy, from, count * size);
	return copy;
}

void hwy_arena_free(struct hwy_arena *arena)
{
	while (arena->last) {
		struct hwy_arena_block *before = arena->last->before;
		free(arena->last);
		arena->last = before;
	}
}

int hwy_ascending(const void *left, const void *right)
{
	int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
	return (a > b) - (a < b);
}
