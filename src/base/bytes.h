/* SPDX-License-Identifier: Apache-2.0 */
/* bytes.h - a growing buffer of bytes with numbers in it, and a reader of the same that never
 * leaves its bytes.
 *
 *   struct hwy_bytes message = {0};
 *   hwy_bytes_put_varint(&message, 300);
 *   hwy_bytes_put_zigzag(&message, -2);
 *   hwy_bytes_put_little(&message, 7, 4);
 *   struct hwy_bytes_reader reader = hwy_bytes_reader(message.bytes, message.n);
 *   uint64_t first = hwy_bytes_read_varint(&reader); // 300
 *   int64_t second = hwy_bytes_read_zigzag(&reader); // -2
 *   uint64_t third = hwy_bytes_read_little(&reader, 4); // 7
 *   if (reader.is_bad)
 *           hwy_fail(err, "%s: too short", path);
 *   hwy_bytes_free(&message);
 *
 * Varints are LEB128: seven bits a byte, the lowest first, 0x80 set in every byte but the last.
 * Zigzag makes small numbers of both signs small: 0, -1, 1, -2 become 0, 1, 2, 3. Numbers of a
 * fixed size are little-endian.
 */
#ifndef HWY_BASE_BYTES_H
#define HWY_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { HWY_VARINT_BYTES = 10 }; /* length of the longest varint: 64 bits in groups of 7 */

static inline uint64_t hwy_zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static inline int64_t hwy_unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

/* Writes a varint to memory that has room for HWY_VARINT_BYTES bytes; yields the address after the
 * varint. */
static inline uint8_t *hwy_varint_write(uint8_t *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*to++ = (uint8_t)(value | 0x80);
	*to++ = (uint8_t)value;
	return to;
}

/* Write and read the lowest n bytes of a number, at most 8, little-endian. */
static inline void hwy_little_write(uint8_t *to, uint64_t value, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		to[i] = (uint8_t)(value >> 8 * i);
}

static inline uint64_t hwy_little_read(const uint8_t *from, unsigned n)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < n; i++)
		value |= (uint64_t)from[i] << 8 * i;
	return value;
}

/* ---- the buffer: zeroed memory is empty ------------------------------------------------------ */

struct hwy_bytes {
	uint8_t *bytes; /* NULL until the first byte is added */
	size_t n, cap;
};

void hwy_bytes_free(struct hwy_bytes *buffer);
void hwy_bytes_grow(struct hwy_bytes *buffer, size_t more); /* for this header only */

/* Makes room for 'more' bytes and yields where they go; the buffer does not have them yet: whoever
 * writes there adds what was written to buffer->n. Valid until the next call. */
static inline uint8_t *hwy_bytes_reserve(struct hwy_bytes *buffer, size_t more)
{
	if (more > buffer->cap - buffer->n)
		hwy_bytes_grow(buffer, more);
	return buffer->bytes + buffer->n;
}

/* Adds n uninitialised bytes and yields their address, which is valid until the next call. */
static inline uint8_t *hwy_bytes_add(struct hwy_bytes *buffer, size_t n)
{
	uint8_t *added = hwy_bytes_reserve(buffer, n);
	buffer->n += n;
	return added;
}

static inline void hwy_bytes_put(struct hwy_bytes *buffer, const void *from, size_t n)
{
	if (n)
		memcpy(hwy_bytes_add(buffer, n), from, n);
}

static inline void hwy_bytes_put_byte(struct hwy_bytes *buffer, uint8_t value)
{
	*hwy_bytes_add(buffer, 1) = value;
}

static inline void hwy_bytes_put_varint(struct hwy_bytes *buffer, uint64_t value)
{
	uint8_t *end = hwy_varint_write(hwy_bytes_reserve(buffer, HWY_VARINT_BYTES), value);
	buffer->n = (size_t)(end - buffer->bytes);
}

static inline void hwy_bytes_put_zigzag(struct hwy_bytes *buffer, int64_t value)
{
	hwy_bytes_put_varint(buffer, hwy_zigzag(value));
}

/* Adds the lowest n bytes of a number, at most 8, little-endian. */
static inline void hwy_bytes_put_little(struct hwy_bytes *buffer, uint64_t value, unsigned n)
{
	hwy_little_write(hwy_bytes_add(buffer, n), value, n);
}

static inline void hwy_bytes_put_double(struct hwy_bytes *buffer, double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	hwy_bytes_put_little(buffer, bits, 8);
}

static inline void hwy_bytes_put_float(struct hwy_bytes *buffer, float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	hwy_bytes_put_little(buffer, bits, 4);
}

/* ---- the reader: past the end it yields zeros and sets is_bad -------------------------------- */

struct hwy_bytes_reader {
	const uint8_t *next, *end;
	bool is_bad; /* a read went past the end, or found what no writer writes */
};

static inline struct hwy_bytes_reader hwy_bytes_reader(const void *bytes, size_t n)
{
	const uint8_t *begin = bytes;
	return (struct hwy_bytes_reader){.next = begin, .end = n ? begin + n : begin};
}

/* Yields the next n bytes; NULL where fewer bytes are left, which are then skipped. */
const uint8_t *hwy_bytes_take(struct hwy_bytes_reader *reader, uint64_t n);
uint8_t hwy_bytes_read_byte(struct hwy_bytes_reader *reader);
/* Reads a varint; sets is_bad where the varint has more than 64 bits. */
uint64_t hwy_bytes_read_varint(struct hwy_bytes_reader *reader);
int64_t hwy_bytes_read_zigzag(struct hwy_bytes_reader *reader);
/* Reads a varint; where it is above 'limit', sets is_bad and yields 0. */
uint64_t hwy_bytes_read_count(struct hwy_bytes_reader *reader, uint64_t limit);
uint64_t hwy_bytes_read_little(struct hwy_bytes_reader *reader, unsigned n);
double hwy_bytes_read_double(struct hwy_bytes_reader *reader);
float hwy_bytes_read_float(struct hwy_bytes_reader *reader);

#endif
