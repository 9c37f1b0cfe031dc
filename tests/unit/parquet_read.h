/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_read.h - a reader of Parquet files for tests, written from the format's specification and not from our writer.
 *
 * It reads flat tables of INT64, DOUBLE and BYTE_ARRAY columns, with the encodings PLAIN, RLE_DICTIONARY and DELTA_BINARY_PACKED,
 * in plain pages or such that zstd has compressed, and believes nothing: every size is checked, every checksum too (the footer's
 * is one of our own, docs/parquet.md), numbers that are told twice must agree, statistics must be true, and a row group that
 * claims an order must have it. Values are kept as they are read; parquet_read_free frees them.
 */
#ifndef PARQUET_READ_H
#define PARQUET_READ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "parquet_decode.h"

struct read_cell {
	bool is_null;
	int64_t number;   /* INT64, or the bits of a DOUBLE */
	const char *text; /* BYTE_ARRAY */
	uint32_t length;
};

struct read_column {
	char *name;
	int type; /* Parquet's: 2 INT64, 5 DOUBLE, 6 BYTE_ARRAY */
	bool is_optional;
	struct read_cell *cells; /* by row */
	uint64_t dictionary_pages, delta_pages, plain_pages;
};

struct parquet_read {
	struct read_column *columns;
	uint32_t n_columns;
	uint64_t rows;
	uint32_t n_groups;
	int64_t sorted; /* the column that all row groups are sorted by, or -1 */
	struct read_tree *footer;
	void **kept; /* memory that cells point into */
	uint32_t n_kept, cap_kept;
	char why[200]; /* what is wrong, where parquet_read yields false */
};

static inline bool read_fails(struct parquet_read *r, const char *why)
{
	if (!r->why[0])
		snprintf(r->why, sizeof r->why, "%s", why);
	return false;
}

static inline void *read_keep(struct parquet_read *r, void *memory)
{
	if (r->n_kept == r->cap_kept) {
		r->cap_kept = r->cap_kept ? 2 * r->cap_kept : 16;
		r->kept = realloc(r->kept, r->cap_kept * sizeof *r->kept);
	}
	return r->kept[r->n_kept++] = memory;
}

static inline void parquet_read_free(struct parquet_read *r)
{
	for (uint32_t i = 0; i < r->n_columns; i++) {
		free(r->columns[i].name);
		free(r->columns[i].cells);
	}
	for (uint32_t i = 0; i < r->n_kept; i++)
		free(r->kept[i]);
	free(r->kept);
	free(r->columns);
	read_tree_free(r->footer);
	memset(r, 0, sizeof *r);
}

/* The value of a key-value of the footer, or NULL; not ended by a 0. */
static inline const struct read_tree *parquet_read_fact(const struct parquet_read *r,
							const char *key)
{
	const struct read_tree *list = read_tree_field(r->footer, 5);
	for (uint32_t i = 0; list && i < list->n; i++) {
		const struct read_tree *name = read_tree_field(&list->items[i], 1);
		if (name && name->length == strlen(key) && !memcmp(name->bytes, key, name->length))
			return read_tree_field(&list->items[i], 2);
	}
	return NULL;
}

/* ---- pages ---- */

struct read_chunk { /* one column chunk while its pages are read */
	struct read_column *column;
	int64_t codec;
	const struct read_tree *encodings;
	struct read_cell *dictionary;
	uint64_t n_dictionary;
	struct read_cell *cells; /* where the chunk's rows go */
	uint64_t rows, done;
	uint64_t whole; /* bytes of all pages, uncompressed, with their headers */
};

/* Reads n PLAIN values. */
static inline bool read_plain(struct read_bytes *in, int type, struct read_cell *cells, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		cells[i] = (struct read_cell){0};
		if (type == 6) {
			cells[i].length = (uint32_t)read_little(in, 4);
			cells[i].text = (const char *)read_take(in, cells[i].length);
		} else {
			cells[i].number = (int64_t)read_little(in, 8);
		}
		if (in->is_bad)
			return false;
	}
	return true;
}

static inline bool read_has_encoding(const struct read_chunk *c, int64_t encoding)
{
	for (uint32_t i = 0; i < c->encodings->n; i++)
		if (c->encodings->items[i].number == encoding)
			return true;
	return false;
}

/* Reads the n values of a data page that are not null, into 'values'. */
static inline bool read_values(struct read_chunk *c, struct read_bytes *in, int64_t encoding,
			       struct read_cell *values, uint64_t n)
{
	bool ok = false;
	if (encoding == 0) {
		c->column->plain_pages++;
		return read_plain(in, c->column->type, values, n) && in->n == 0;
	}
	uint64_t *numbers = malloc((n + 1) * sizeof *numbers);
	if (encoding == 8 && c->dictionary) {
		unsigned width = (unsigned)read_little(in, 1);
		c->column->dictionary_pages++;
		ok = width <= 32 && read_hybrid(in, width, numbers, n) && in->n == 0;
		for (uint64_t i = 0; i < n && ok; i++) {
			ok = numbers[i] < c->n_dictionary;
			if (ok)
				values[i] = c->dictionary[numbers[i]];
		}
	} else if (encoding == 5 && c->column->type == 2) {
		c->column->delta_pages++;
		ok = read_delta(in, numbers, n) && in->n == 0;
		for (uint64_t i = 0; i < n && ok; i++)
			values[i] = (struct read_cell){.number = (int64_t)numbers[i]};
	}
	free(numbers);
	return ok;
}

/* Reads a data page: definition levels, then the values of the rows that have one. */
static inline bool read_data_page(struct read_chunk *c, struct read_bytes in,
				  const struct read_tree *head)
{
	uint64_t n = (uint64_t)read_tree_number(head, 1, -1), present = 0;
	int64_t encoding = read_tree_number(head, 2, -1);
	if (n > c->rows - c->done || !read_has_encoding(c, encoding) ||
	    read_tree_number(head, 3, -1) != 3 || read_tree_number(head, 4, -1) != 3)
		return false;
	uint64_t *levels = malloc((n + 1) * sizeof *levels);
	bool ok = true;
	for (uint64_t i = 0; i < n; i++)
		levels[i] = 1;
	if (c->column->is_optional) {
		uint32_t length = (uint32_t)read_little(&in, 4);
		struct read_bytes part = {read_take(&in, length), length, in.is_bad};
		ok = !part.is_bad && read_hybrid(&part, 1, levels, n) && part.n == 0;
	}
	for (uint64_t i = 0; i < n && ok; i++)
		present += levels[i];
	struct read_cell *values = malloc((present + 1) * sizeof *values);
	/* A page of nulls alone has no values, whatever its encoding. */
	ok = ok && (present == 0 ? in.n == 0 || encoding != 0
				 : read_values(c, &in, encoding, values, present));
	for (uint64_t i = 0, at = 0; i < n && ok; i++) {
		struct read_cell *cell = &c->cells[c->done++];
		*cell = levels[i] ? values[at++] : (struct read_cell){.is_null = true};
	}
	free(levels);
	free(values);
	return ok;
}

/* Yields the content of a page, uncompressed and kept. */
static inline bool read_content(struct parquet_read *r, const struct read_chunk *c,
				const uint8_t *stored, uint64_t n, uint64_t whole,
				struct read_bytes *content)
{
	uint8_t *bytes = read_keep(r, malloc(whole + 1));
	if (c->codec == 0 && n == whole)
		memcpy(bytes, stored, n);
	else if (c->codec != 6 || ZSTD_getFrameContentSize(stored, n) != whole ||
		 ZSTD_decompress(bytes, whole, stored, n) != whole)
		return false;
	*content = (struct read_bytes){bytes, whole, false};
	return true;
}

static inline bool read_page(struct parquet_read *r, struct read_chunk *c, struct read_bytes *in)
{
	uint64_t before = in->n;
	struct read_tree *head = read_tree(in);
	bool ok = false;
	int64_t type = read_tree_number(head, 1, -1), whole = read_tree_number(head, 2, -1);
	int64_t n = read_tree_number(head, 3, -1);
	uint64_t head_bytes = before - in->n;
	const uint8_t *stored = head && n >= 0 ? read_take(in, (uint64_t)n) : NULL;
	struct read_bytes content;
	if (stored && whole >= 0 && whole < INT32_MAX &&
	    (uint32_t)read_tree_number(head, 4, 0) == crc32_z(0, stored, (size_t)n) &&
	    read_content(r, c, stored, (uint64_t)n, (uint64_t)whole, &content)) {
		const struct read_tree *dictionary = read_tree_field(head, 7);
		c->whole += head_bytes + (uint64_t)whole;
		if (type == 2 && dictionary && !c->dictionary && c->done == 0) {
			uint64_t entries = (uint64_t)read_tree_number(dictionary, 1, -1);
			ok = entries <= (uint64_t)whole && read_has_encoding(c, 0) &&
			     read_tree_number(dictionary, 2, -1) == 0;
			if (ok) {
				c->dictionary =
					read_keep(r, malloc((entries + 1) * sizeof *c->dictionary));
				c->n_dictionary = entries;
				ok = read_plain(&content, c->column->type, c->dictionary,
						entries) &&
				     content.n == 0;
			}
		} else if (type == 0 && read_tree_field(head, 5)) {
			ok = read_data_page(c, content, read_tree_field(head, 5));
		}
	}
	read_tree_free(head);
	return ok;
}

/* ---- statistics ---- */

static inline int read_compare(const struct read_cell *a, const struct read_cell *b, int type)
{
	if (type == 2)
		return (a->number > b->number) - (a->number < b->number);
	if (type == 5) {
		double x, y;
		memcpy(&x, &a->number, sizeof x);
		memcpy(&y, &b->number, sizeof y);
		return (x > y) - (x < y);
	}
	uint32_t n = a->length < b->length ? a->length : b->length;
	int order = n ? memcmp(a->text, b->text, n) : 0;
	return order ? order : (a->length > b->length) - (a->length < b->length);
}

/* Whether a statistic is there only where it may be, and is the extreme itself. sign: 1 the largest, -1 the least. */
static inline bool read_extreme_is_true(const struct read_chunk *c, const struct read_tree *told,
					int sign)
{
	const struct read_cell *extreme = NULL;
	int type = c->column->type;
	for (uint64_t i = 0; i < c->rows; i++) {
		const struct read_cell *cell = &c->cells[i];
		double real;
		memcpy(&real, &cell->number, sizeof real);
		if (!cell->is_null && type == 5 && real != real)
			return !told; /* with a value that is no number nothing may be said */
		if (!cell->is_null && (!extreme || sign * read_compare(cell, extreme, type) > 0))
			extreme = cell;
	}
	if (!told) /* may be left out of texts only, or where there is no value */
		return !extreme || type == 6;
	struct read_cell cell = {.text = (const char *)told->bytes,
				 .length = (uint32_t)told->length};
	if (type != 6) {
		struct read_bytes in = {told->bytes, told->length, false};
		cell.number = (int64_t)read_little(&in, 8);
		if (in.is_bad || in.n)
			return false;
	}
	return extreme && read_compare(&cell, extreme, type) == 0;
}

static inline bool read_statistics_are_true(const struct read_chunk *c,
					    const struct read_tree *told)
{
	int64_t nulls = 0;
	for (uint64_t i = 0; i < c->rows; i++)
		nulls += c->cells[i].is_null;
	return told && read_tree_number(told, 3, -1) == nulls &&
	       read_extreme_is_true(c, read_tree_field(told, 5), 1) &&
	       read_extreme_is_true(c, read_tree_field(told, 6), -1);
}

/* ---- row groups and the footer ---- */

static inline bool read_chunk(struct parquet_read *r, const uint8_t *bytes, uint64_t end,
			      const struct read_tree *chunk, struct read_column *column,
			      uint64_t first, uint64_t rows)
{
	const struct read_tree *meta = read_tree_field(chunk, 3), *path = read_tree_field(meta, 3);
	int64_t start = read_tree_number(meta, 9, -1), n = read_tree_number(meta, 7, -1);
	int64_t dictionary = read_tree_number(meta, 11, start);
	if (!meta || !path || path->n != 1 || path->items[0].length != strlen(column->name) ||
	    memcmp(path->items[0].bytes, column->name, path->items[0].length) != 0 ||
	    read_tree_number(meta, 1, -1) != column->type ||
	    read_tree_number(meta, 5, -1) != (int64_t)rows || !read_tree_field(meta, 2))
		return read_fails(r, "a column chunk is not that of its column");
	if (dictionary < 4 || start < dictionary || n < 0 || (uint64_t)n > end ||
	    (uint64_t)dictionary > end - (uint64_t)n)
		return read_fails(r, "a column chunk lies outside the file");
	struct read_chunk c = {.column = column,
			       .codec = read_tree_number(meta, 4, -1),
			       .encodings = read_tree_field(meta, 2),
			       .cells = column->cells + first,
			       .rows = rows};
	struct read_bytes in = {bytes + dictionary, (uint64_t)n, false};
	while (in.n > 0)
		if (!read_page(r, &c, &in))
			return read_fails(r, "a page is damaged");
	if (c.done != rows || (int64_t)c.whole != read_tree_number(meta, 6, -1))
		return read_fails(r, "a column chunk has not the rows or bytes that it claims");
	if (!read_statistics_are_true(&c, read_tree_field(meta, 12)))
		return read_fails(r, "statistics are not true");
	return true;
}

static inline bool read_order_is_true(struct parquet_read *r, const struct read_tree *group,
				      uint64_t first, uint64_t rows)
{
	const struct read_tree *list = read_tree_field(group, 4);
	int64_t sorted = list && list->n == 1 ? read_tree_number(&list->items[0], 1, -1) : -1;
	if (list && (sorted < 0 || sorted >= r->n_columns))
		return false;
	r->sorted = r->n_groups == 0 || r->sorted == sorted ? sorted : -1;
	for (uint64_t i = first + 1; i < first + rows && list; i++) {
		const struct read_column *column = &r->columns[sorted];
		if (read_compare(&column->cells[i - 1], &column->cells[i], column->type) > 0)
			return false;
	}
	return true;
}

static inline bool read_schema(struct parquet_read *r)
{
	const struct read_tree *schema = read_tree_field(r->footer, 2);
	if (!schema || schema->n < 1 ||
	    read_tree_number(&schema->items[0], 5, -1) != (int64_t)schema->n - 1)
		return read_fails(r, "the schema is not that of a flat table");
	r->columns = calloc(schema->n, sizeof *r->columns);
	for (uint32_t i = 1; i < schema->n; i++) {
		const struct read_tree *field = &schema->items[i],
				       *name = read_tree_field(field, 4);
		struct read_column *column = &r->columns[r->n_columns];
		column->type = (int)read_tree_number(field, 1, -1);
		int64_t repetition = read_tree_number(field, 3, -1);
		if (!name || !name->length || repetition < 0 || repetition > 1 ||
		    (column->type != 2 && column->type != 5 && column->type != 6))
			return read_fails(r, "a column is of a type that is not read here");
		/* STRING for texts, INT(64, signed) for numbers, nothing for doubles. */
		const struct read_tree *logical = read_tree_field(field, 10);
		bool fits = column->type == 5 ? !logical
			    : column->type == 6
				    ? read_tree_field(logical, 1) != NULL
				    : read_tree_number(read_tree_field(logical, 10), 1, 0) == 64;
		if (!fits)
			return read_fails(r, "a column has another logical type");
		column->is_optional = repetition == 1;
		column->name = strndup((const char *)name->bytes, name->length);
		r->n_columns++;
	}
	return true;
}

static inline bool read_footer_crc(struct parquet_read *r, const uint8_t *footer, uint64_t n)
{
	const struct read_tree *told = parquet_read_fact(r, "headway.footer_crc32");
	if (!told || told->length != 8)
		return read_fails(r, "the footer has no checksum");
	uint8_t *copy = malloc(n);
	memcpy(copy, footer, n);
	memset(copy + (told->bytes - footer), '0', 8);
	char text[16];
	snprintf(text, sizeof text, "%08lx", (unsigned long)crc32_z(0, copy, n));
	free(copy);
	return memcmp(text, told->bytes, 8) == 0 || read_fails(r, "the footer's checksum is wrong");
}

/* Reads the whole file; false, with r->why, where anything is not as it must be. r must be freed in any case. */
static inline bool parquet_read(const uint8_t *bytes, uint64_t n, struct parquet_read *r)
{
	*r = (struct parquet_read){.sorted = -1};
	if (n < 12 || memcmp(bytes, "PAR1", 4) != 0 || memcmp(bytes + n - 4, "PAR1", 4) != 0)
		return read_fails(r, "is not a whole Parquet file");
	struct read_bytes last = {bytes + n - 8, 4, false};
	uint64_t length = read_little(&last, 4);
	if (length > n - 12)
		return read_fails(r, "the footer is longer than the file");
	struct read_bytes in = {bytes + n - 8 - length, length, false};
	r->footer = read_tree(&in);
	if (!r->footer || in.n != 0)
		return read_fails(r, "the footer is damaged");
	if (!read_footer_crc(r, bytes + n - 8 - length, length) || !read_schema(r))
		return false;
	const struct read_tree *groups = read_tree_field(r->footer, 4);
	int64_t rows = read_tree_number(r->footer, 3, -1);
	const struct read_tree *orders = read_tree_field(r->footer, 7);
	if (!groups || rows < 0 || rows > INT32_MAX || !orders || orders->n != r->n_columns)
		return read_fails(r, "the footer lacks what every footer has");
	for (uint32_t i = 0; i < r->n_columns; i++)
		r->columns[i].cells = calloc((size_t)rows + 1, sizeof(struct read_cell));
	for (uint32_t g = 0; g < groups->n; g++) {
		const struct read_tree *group = &groups->items[g],
				       *chunks = read_tree_field(group, 1);
		int64_t count = read_tree_number(group, 3, -1);
		if (!chunks || chunks->n != r->n_columns || count < 0 ||
		    (uint64_t)count > (uint64_t)rows - r->rows)
			return read_fails(r, "a row group has too many rows or too few columns");
		for (uint32_t i = 0; i < r->n_columns; i++)
			if (!read_chunk(r, bytes, n - 8 - length, &chunks->items[i], &r->columns[i],
					r->rows, (uint64_t)count))
				return false;
		if (!read_order_is_true(r, group, r->rows, (uint64_t)count))
			return read_fails(r, "rows are not in the order that is claimed");
		r->rows += (uint64_t)count;
		r->n_groups++;
	}
	return r->rows == (uint64_t)rows || read_fails(r, "rows are missing");
}

#endif
