/* packed.h - an answer while it is put together: little-endian numbers one after the other. */
#ifndef HWY_SERVE_PACKED_H
#define HWY_SERVE_PACKED_H

#include <stdint.h>
#include <string.h>

#include "base/mem.h"

struct packed { /* free(v) */
	uint8_t *v;
	size_t n, cap;
};

static inline uint8_t *packed_room(struct packed *packed, size_t n)
{
	if (packed->n + n > packed->cap) {
		packed->cap = (packed->n + n) * 2;
		packed->v = hwy_realloc(packed->v, packed->cap);
	}
	packed->n += n;
	return packed->v + packed->n - n;
}

static inline void packed_put(struct packed *packed, const void *from, size_t n)
{
	if (n)
		memcpy(packed_room(packed, n), from, n);
}

/* The lowest n bytes of a number. */
static inline void packed_number(struct packed *packed, uint64_t value, unsigned n)
{
	uint8_t *to = packed_room(packed, n);
	for (unsigned i = 0; i < n; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

static inline void packed_double(struct packed *packed, double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	packed_number(packed, bits, 8);
}

static inline void packed_float(struct packed *packed, float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	packed_number(packed, bits, 4);
}

/* LEB128 */
static inline void packed_varint(struct packed *packed, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*packed_room(packed, 1) = (uint8_t)(value | 0x80);
	*packed_room(packed, 1) = (uint8_t)value;
}

static inline void packed_zigzag(struct packed *packed, int64_t value)
{
	packed_varint(packed, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

static inline uint64_t packed_read(const uint8_t *from, unsigned n)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < n; i++)
		value |= (uint64_t)from[i] << 8 * i;
	return value;
}

#endif
