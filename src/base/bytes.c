/* SPDX-License-Identifier: Apache-2.0 */
/* bytes.c - see bytes.h. */
#include "base/bytes.h"

#include <stdlib.h>

#include "base/mem.h"

void hwy_bytes_free(struct hwy_bytes *buffer)
{
	free(buffer->bytes);
	*buffer = (struct hwy_bytes){0};
}

void hwy_bytes_grow(struct hwy_bytes *buffer, size_t more)
{
	enum { FIRST_BYTES = 64 };
	size_t needed;
	/* hwy_resize ends the process where the sum, or twice the sum, does not fit size_t. */
	if (__builtin_add_overflow(buffer->n, more, &needed))
		needed = SIZE_MAX;
	needed = needed < FIRST_BYTES ? FIRST_BYTES : needed;
	buffer->bytes = hwy_resize(buffer->bytes, needed, 2);
	buffer->cap = needed * 2;
}

const uint8_t *hwy_bytes_take(struct hwy_bytes_reader *reader, uint64_t n)
{
	if (n > (uint64_t)(reader->end - reader->next)) {
		reader->is_bad = true;
		reader->next = reader->end;
		return NULL;
	}
	const uint8_t *taken = reader->next;
	reader->next += n;
	return taken;
}

uint8_t hwy_bytes_read_byte(struct hwy_bytes_reader *reader)
{
	const uint8_t *byte = hwy_bytes_take(reader, 1);
	return byte ? *byte : 0;
}

uint64_t hwy_bytes_read_varint(struct hwy_bytes_reader *reader)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = hwy_bytes_read_byte(reader);
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (shift == 63 && byte > 1)
			break; /* the varint has more than 64 bits */
		if (!(byte & 0x80))
			return value;
	}
	reader->is_bad = true;
	return 0;
}

int64_t hwy_bytes_read_zigzag(struct hwy_bytes_reader *reader)
{
	return hwy_unzigzag(hwy_bytes_read_varint(reader));
}

uint64_t hwy_bytes_read_count(struct hwy_bytes_reader *reader, uint64_t limit)
{
	uint64_t value = hwy_bytes_read_varint(reader);
	if (value <= limit)
		return value;
	reader->is_bad = true;
	return 0;
}

uint64_t hwy_bytes_read_little(struct hwy_bytes_reader *reader, unsigned n)
{
	const uint8_t *bytes = hwy_bytes_take(reader, n);
	return bytes ? hwy_little_read(bytes, n) : 0;
}

double hwy_bytes_read_double(struct hwy_bytes_reader *reader)
{
	uint64_t bits = hwy_bytes_read_little(reader, 8);
	double value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

float hwy_bytes_read_float(struct hwy_bytes_reader *reader)
{
	uint32_t bits = (uint32_t)hwy_bytes_read_little(reader, 4);
	float value;
	memcpy(&value, &bits, sizeof value);
	return value;
}
