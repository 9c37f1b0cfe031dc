/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_decode.h - what Parquet files are made of, read for tests: Thrift's compact protocol, the hybrid of runs and packed
 * bits, packed differences. Written from the specifications of both formats; see parquet_read.h. */
#ifndef PARQUET_DECODE_H
#define PARQUET_DECODE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct read_bytes {
	const uint8_t *at;
	uint64_t n; /* bytes that are left */
	bool is_bad;
};

/* Yields the next n bytes, or NULL. */
static inline const uint8_t *read_take(struct read_bytes *in, uint64_t n)
{
	if (in->is_bad || n > in->n) {
		in->is_bad = true;
		return NULL;
	}
	const uint8_t *taken = in->at;
	in->at += n;
	in->n -= n;
	return taken;
}

static inline uint64_t read_little(struct read_bytes *in, unsigned n)
{
	const uint8_t *bytes = read_take(in, n);
	uint64_t value = 0;
	for (unsigned i = 0; i < n && bytes; i++)
		value |= (uint64_t)bytes[i] << 8 * i;
	return value;
}

static inline uint64_t read_varint(struct read_bytes *in)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint64_t byte = read_little(in, 1);
		value |= (byte & 0x7f) << shift;
		if (in->is_bad || !(byte & 0x80))
			return in->is_bad ? 0 : value;
	}
	in->is_bad = true;
	return 0;
}

static inline int64_t read_zigzag(struct read_bytes *in)
{
	uint64_t value = read_varint(in);
	return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

/* ---- Thrift: a value and what is in it ---- */

struct read_tree {
	int type; /* 1 true, 2 false, 3 byte, 4 i16, 5 i32, 6 i64, 7 double, 8 binary, 9 list, 12 struct */
	int64_t id;
	int64_t number;
	const uint8_t *bytes;
	uint64_t length;
	struct read_tree *items; /* elements of a list, fields of a struct */
	uint32_t n, cap;
};

static inline void read_tree_clear(struct read_tree *tree)
{
	for (uint32_t i = 0; i < tree->n; i++)
		read_tree_clear(&tree->items[i]);
	free(tree->items);
}

static inline void read_tree_free(struct read_tree *tree)
{
	if (tree)
		read_tree_clear(tree);
	free(tree);
}

static inline struct read_tree *read_tree_add(struct read_tree *tree)
{
	if (tree->n == tree->cap) {
		tree->cap = tree->cap ? 2 * tree->cap : 8;
		tree->items = realloc(tree->items, tree->cap * sizeof *tree->items);
	}
	tree->items[tree->n] = (struct read_tree){0};
	return &tree->items[tree->n++];
}

static inline void read_tree_value(struct read_bytes *in, struct read_tree *to, int depth);

static inline void read_tree_struct(struct read_bytes *in, struct read_tree *to, int depth)
{
	int64_t id = 0;
	while (!in->is_bad) {
		unsigned head = (unsigned)read_little(in, 1);
		if (head == 0)
			return;
		id = head >> 4 ? id + (head >> 4) : read_zigzag(in);
		struct read_tree *field = read_tree_add(to);
		field->id = id;
		field->type = head & 15;
		read_tree_value(in, field, depth + 1);
	}
}

static inline void read_tree_list(struct read_bytes *in, struct read_tree *to, int depth)
{
	unsigned head = (unsigned)read_little(in, 1);
	uint64_t n = head >> 4 == 15 ? read_varint(in) : head >> 4;
	if (n > in->n) { /* an element has a byte at least */
		in->is_bad = true;
		return;
	}
	for (uint64_t i = 0; i < n && !in->is_bad; i++) {
		struct read_tree *element = read_tree_add(to);
		element->type = head & 15;
		read_tree_value(in, element, depth + 1);
	}
}

static inline void read_tree_value(struct read_bytes *in, struct read_tree *to, int depth)
{
	if (depth > 12) {
		in->is_bad = true;
		return;
	}
	switch (to->type) {
	case 1: to->number = 1; return;
	case 2: return;
	case 3: to->number = (int8_t)read_little(in, 1); return;
	case 4:
	case 5:
	case 6: to->number = read_zigzag(in); return;
	case 7: to->number = (int64_t)read_little(in, 8); return;
	case 8:
		to->length = read_varint(in);
		to->bytes = read_take(in, to->length);
		return;
	case 9: read_tree_list(in, to, depth); return;
	case 12: read_tree_struct(in, to, depth); return;
	default: in->is_bad = true;
	}
}

/* Reads a struct; NULL where it is damaged. */
static inline struct read_tree *read_tree(struct read_bytes *in)
{
	struct read_tree *tree = calloc(1, sizeof *tree);
	tree->type = 12;
	read_tree_struct(in, tree, 0);
	if (!in->is_bad)
		return tree;
	read_tree_free(tree);
	return NULL;
}

static inline const struct read_tree *read_tree_field(const struct read_tree *tree, int64_t id)
{
	for (uint32_t i = 0; tree && tree->type == 12 && i < tree->n; i++)
		if (tree->items[i].id == id)
			return &tree->items[i];
	return NULL;
}

static inline int64_t read_tree_number(const struct read_tree *tree, int64_t id, int64_t none)
{
	const struct read_tree *field = read_tree_field(tree, id);
	return field && field->type >= 1 && field->type <= 6 ? field->number : none;
}

/* ---- encodings ---- */

/* Value number i of packed bits, the first in the lowest bits. */
static inline uint64_t read_packed(const uint8_t *bytes, uint64_t i, unsigned width)
{
	uint64_t value = 0;
	for (unsigned bit = 0; bit < width; bit++) {
		uint64_t at = i * width + bit;
		value |= (uint64_t)(bytes[at / 8] >> at % 8 & 1) << bit;
	}
	return value;
}

/* Reads n values of the hybrid encoding. */
static inline bool read_hybrid(struct read_bytes *in, unsigned width, uint64_t *values, uint64_t n)
{
	for (uint64_t done = 0; done < n;) {
		uint64_t head = read_varint(in), count = head >> 1;
		if (in->is_bad || count == 0 || count > UINT32_MAX)
			return false;
		if (head & 1) {
			const uint8_t *packed = read_take(in, count * width);
			for (uint64_t i = 0; i < 8 * count && packed; i++) {
				uint64_t value = read_packed(packed, i, width);
				if (done < n)
					values[done++] = value;
				else if (value || 8 * count - i > 7)
					return false; /* only the last group is filled up, with zeros */
			}
		} else {
			uint64_t value = read_little(in, (width + 7) / 8);
			if (count > n - done || (width < 64 && value >> width))
				return false;
			while (count-- > 0)
				values[done++] = value;
		}
		if (in->is_bad)
			return false;
	}
	return true;
}

/* Reads n values of DELTA_BINARY_PACKED. */
static inline bool read_delta(struct read_bytes *in, uint64_t *values, uint64_t n)
{
	uint64_t block = read_varint(in), minis = read_varint(in), total = read_varint(in);
	uint64_t value = (uint64_t)read_zigzag(in), mini = minis ? block / minis : 0;
	if (in->is_bad || total != n || block % 128 || minis == 0 || minis > 64 || mini % 32 ||
	    !mini || block % minis || block > 65536)
		return false;
	if (n)
		values[0] = value;
	for (uint64_t done = 1; done < n;) {
		int64_t least = read_zigzag(in);
		const uint8_t *widths = read_take(in, minis);
		for (uint64_t m = 0; m < minis && done < n; m++) {
			if (!widths || widths[m] > 64)
				return false;
			const uint8_t *packed = read_take(in, mini / 8 * widths[m]);
			for (uint64_t i = 0; i < mini && done < n && packed; i++) {
				value += (uint64_t)least + read_packed(packed, i, widths[m]);
				values[done++] = value;
			}
			if (!packed)
				return false;
		}
	}
	return !in->is_bad;
}

#endif
