/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_column.c - see parquet_column.h. */
#include "export/parquet/parquet_column.h"

#include <math.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"
#include "export/parquet/encodings.h"
#include "export/parquet/thrift.h"

enum {
	LEVEL = 3,        /* of zstd */
	SAMPLE = 1 << 14, /* values that decide on the encoding */
	/* Numbers with more different values than this are not worth a dictionary. */
	MOST_NUMBERS = 1 << 16,
	MOST_BYTES = 1 << 25, /* of a dictionary of texts */
	PAGE_BYTES = 1 << 20, /* of a page of texts that are not in the dictionary */
	MOST_TEXT = 1 << 28,  /* of one text: a page must stay below 2^31 bytes */
	/* Longer texts are left out of the statistics. They would be in the footer once a row
	 * group. */
	MOST_STATISTIC = 96,
	PAGE_DATA = 0, /* Parquet's numbers of pages */
	PAGE_DICTIONARY = 2,
};

/* How the values of a page can be written. */
enum way { WAY_DICTIONARY, WAY_DICTIONARY_BYTES, WAY_DELTA, WAY_DELTA_BYTES, WAY_PLAIN, WAYS };
static const enum parquet_encoding way_encodings[WAYS] = {
	[WAY_DICTIONARY] = PARQUET_DICTIONARY, [WAY_DICTIONARY_BYTES] = PARQUET_DICTIONARY,
	[WAY_DELTA] = PARQUET_DELTA,           [WAY_DELTA_BYTES] = PARQUET_DELTA,
	[WAY_PLAIN] = PARQUET_PLAIN,
};

struct parquet_packer {
	ZSTD_CCtx *zstd;
	struct parquet_chunk chunk;
	struct parquet_dictionary dictionary;
	struct hwy_bytes page;   /* a page before compression */
	struct hwy_bytes packed; /* room for what is compressed */
	int64_t *values;         /* those of rows that have one */
	uint32_t *levels;
	uint32_t cap_values, cap_levels;
};

struct parquet_packer *parquet_packer_new(void)
{
	return hwy_zalloc(sizeof(struct parquet_packer));
}

void parquet_packer_free(struct parquet_packer *p)
{
	if (!p)
		return;
	ZSTD_freeCCtx(p->zstd);
	parquet_dictionary_free(&p->dictionary);
	hwy_bytes_free(&p->chunk.pages);
	hwy_bytes_free(&p->chunk.min);
	hwy_bytes_free(&p->chunk.max);
	hwy_bytes_free(&p->page);
	hwy_bytes_free(&p->packed);
	free(p->values);
	free(p->levels);
	free(p);
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* Compresses into p->packed; false where zstd fails, which means that memory ran out. */
static bool zstd_compress(struct parquet_packer *p, const struct hwy_bytes *from)
{
	if (!p->zstd)
		p->zstd = ZSTD_createCCtx();
	p->packed.n = 0;
	size_t room = ZSTD_compressBound(from->n);
	uint8_t *to = hwy_bytes_reserve(&p->packed, room);
	size_t n = p->zstd ? ZSTD_compressCCtx(p->zstd, to, room, from->bytes, from->n, LEVEL) : 0;
	if (!p->zstd || ZSTD_isError(n))
		return false;
	p->packed.n = n;
	return true;
}

/* Adds a page of 'values' values to the chunk, compressed where the chunk's codec says so. */
static bool add_page(struct parquet_packer *p, const struct hwy_bytes *content, int type,
		     enum parquet_encoding encoding, uint32_t values, struct hwy_err *err)
{
	struct parquet_chunk *chunk = &p->chunk;
	if (chunk->codec == PARQUET_ZSTD && !zstd_compress(p, content))
		return hwy_fail(err, "out of memory");
	const struct hwy_bytes *stored = chunk->codec == PARQUET_ZSTD ? &p->packed : content;
	size_t before = chunk->pages.n;
	struct thrift t = thrift_begin(&chunk->pages);
	thrift_i32(&t, 1, type);
	thrift_i32(&t, 2, (int32_t)content->n);
	thrift_i32(&t, 3, (int32_t)stored->n);
	thrift_i32(&t, 4, (int32_t)crc32_z(0, stored->bytes, stored->n));
	thrift_struct(&t, type == PAGE_DICTIONARY ? 7 : 5);
	thrift_i32(&t, 1, (int32_t)values);
	thrift_i32(&t, 2, (int32_t)encoding);
	if (type == PAGE_DATA) {
		thrift_i32(&t, 3, PARQUET_RLE); /* definition levels */
		thrift_i32(&t, 4, PARQUET_RLE); /* repetition levels, of which there are none */
	}
	thrift_end(&t);
	thrift_end(&t);
	chunk->whole += chunk->pages.n - before + content->n;
	hwy_bytes_put(&chunk->pages, stored->bytes, stored->n);
	chunk->encodings |= 1u << encoding;
	if (type == PAGE_DICTIONARY)
		chunk->dictionary = chunk->pages.n;
	else
		chunk->encodings |= 1u << PARQUET_RLE;
	return true;
}

/* Begins p->page with the definition levels of n rows: 1 where a row has a value. */
static void page_put_levels(struct parquet_packer *p, const struct parquet_values *values,
			    uint32_t first, uint32_t n)
{
	size_t head = p->page.n;
	hwy_bytes_put_little(&p->page, 0, 4);
	if (!values->has_nulls) {
		encodings_run(&p->page, 1, n, 1);
	} else if (values->is_constant) {
		encodings_run(&p->page, 0, n, 1);
	} else {
		if (n > p->cap_levels) {
			p->levels = hwy_resize(p->levels, n, sizeof *p->levels);
			p->cap_levels = n;
		}
		for (uint32_t i = 0; i < n; i++)
			p->levels[i] = !values->is_null[first + i];
		encodings_hybrid(&p->page, p->levels, n, 1);
	}
	hwy_little_write(p->page.bytes + head, p->page.n - head - 4, 4);
}

static void page_put_plain(struct hwy_bytes *out, const int64_t *values, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		hwy_bytes_put_little(out, (uint64_t)values[i], 8);
}

static void page_put_values(struct parquet_packer *p, enum way way, const int64_t *values,
			    uint32_t n)
{
	unsigned width = encodings_width(p->dictionary.n ? p->dictionary.n - 1 : 0);
	switch (way) {
	case WAY_DICTIONARY_BYTES: width = encodings_whole_bytes(width); /* fall through */
	case WAY_DICTIONARY:
		hwy_bytes_put_byte(&p->page, (uint8_t)width);
		if (p->dictionary.n == 1)
			encodings_run(&p->page, 0, n, width);
		else
			encodings_hybrid(&p->page, p->dictionary.indexes, n, width);
		break;
	case WAY_DELTA:
	case WAY_DELTA_BYTES: encodings_delta(&p->page, values, n, way == WAY_DELTA_BYTES); break;
	default: page_put_plain(&p->page, values, n);
	}
}

/* ---- statistics ------------------------------------------------------------------------------ */

static void note_number(struct hwy_bytes *to, int64_t value)
{
	to->n = 0;
	hwy_bytes_put_little(to, (uint64_t)value, 8);
}

static void find_range(const int64_t *values, uint32_t n, int64_t *min, int64_t *max)
{
	int64_t low = values[0], high = values[0];
	for (uint32_t i = 1; i < n; i++) {
		low = values[i] < low ? values[i] : low;
		high = values[i] > high ? values[i] : high;
	}
	*min = low;
	*max = high;
}

/* Parquet: nothing is said where a value is not a number; a least 0 is -0, a largest 0 is +0. */
static void note_reals(struct parquet_chunk *chunk, const int64_t *values, uint32_t n)
{
	double low = INFINITY, high = -INFINITY, real;
	for (uint32_t i = 0; i < n; i++) {
		memcpy(&real, &values[i], sizeof real);
		if (isnan(real))
			return;
		low = real < low ? real : low;
		high = real > high ? real : high;
	}
	chunk->min.n = chunk->max.n = 0;
	hwy_bytes_put_double(&chunk->min, low == 0 ? -0.0 : low);
	hwy_bytes_put_double(&chunk->max, high == 0 ? 0.0 : high);
	chunk->has_min = chunk->has_max = true;
}

static bool chunk_note_text(struct hwy_bytes *to, struct hwy_text text)
{
	to->n = 0;
	if (text.length > MOST_STATISTIC)
		return false;
	hwy_bytes_put(to, text.at, text.length);
	return true;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static size_t size_of_way(struct parquet_packer *p, enum way way, const int64_t *values, uint32_t n)
{
	p->page.n = 0;
	page_put_values(p, way, values, n);
	return zstd_compress(p, &p->page) ? p->packed.n : SIZE_MAX;
}

/* Chooses by the first values. The dictionary's page counts as far as these are a part of all. */
static enum way choose_way(struct parquet_packer *p, enum parquet_type type, const int64_t *values,
			   uint32_t n, bool has_dictionary)
{
	uint32_t sample = n < SAMPLE ? n : SAMPLE;
	enum way best = has_dictionary           ? WAY_DICTIONARY
			: type == PARQUET_NUMBER ? WAY_DELTA
						 : WAY_PLAIN;
	size_t least = SIZE_MAX, entries = 0;
	unsigned width = encodings_width(p->dictionary.n ? p->dictionary.n - 1 : 0);
	if (has_dictionary && type != PARQUET_TEXT && zstd_compress(p, &p->dictionary.page))
		entries = (size_t)((uint64_t)p->packed.n * sample / n);
	for (enum way way = 0; way < WAYS; way++) {
		bool by_dictionary = way == WAY_DICTIONARY || way == WAY_DICTIONARY_BYTES;
		bool by_delta = way == WAY_DELTA || way == WAY_DELTA_BYTES;
		if ((by_dictionary && !has_dictionary) ||
		    (way == WAY_DICTIONARY_BYTES && width % 8 == 0) ||
		    (by_delta && type != PARQUET_NUMBER) ||
		    (way == WAY_PLAIN && type != PARQUET_REAL))
			continue;
		size_t size = size_of_way(p, way, values, sample) + (by_dictionary ? entries : 0);
		if (size < least) {
			least = size;
			best = way;
		}
	}
	return best;
}

/* Adds the one data page of a chunk, behind its dictionary's. Pages that zstd would make no smaller
 * are stored as they are: most columns that a recording does not fill are a few bytes long. */
static bool add_pages(struct parquet_packer *p, const struct parquet_field *field,
		      const struct parquet_values *from, enum way way, const int64_t *values,
		      uint32_t n, struct hwy_err *err)
{
	bool by_dictionary = way_encodings[way] == PARQUET_DICTIONARY;
	p->page.n = 0;
	if (field->is_optional)
		page_put_levels(p, from, 0, p->chunk.rows);
	if (n || way != WAY_PLAIN)
		page_put_values(p, way, values, n);
	if (!zstd_compress(p, &p->page))
		return hwy_fail(err, "out of memory");
	size_t saved = p->page.n > p->packed.n ? p->page.n - p->packed.n : 0;
	if (by_dictionary ? p->dictionary.page.n < 256 && saved < 16 : saved == 0)
		p->chunk.codec = PARQUET_PLAIN_BYTES;
	if (by_dictionary &&
	    !add_page(p, &p->dictionary.page, PAGE_DICTIONARY, PARQUET_PLAIN, p->dictionary.n, err))
		return false;
	return add_page(p, &p->page, PAGE_DATA, way_encodings[way], p->chunk.rows, err);
}

static bool pack_numbers(struct parquet_packer *p, const struct parquet_field *field,
			 const struct parquet_values *from, const int64_t *values, uint32_t n,
			 struct hwy_err *err)
{
	struct parquet_chunk *chunk = &p->chunk;
	uint32_t listed = from->is_constant ? 1 : n;
	int64_t min, max;
	find_range(values, listed, &min, &max);
	if (field->type == PARQUET_NUMBER) {
		note_number(&chunk->min, min);
		note_number(&chunk->max, max);
		chunk->has_min = chunk->has_max = true;
	} else {
		note_reals(chunk, values, listed);
	}
	uint32_t most = n / 4 + 1 < MOST_NUMBERS ? n / 4 + 1 : MOST_NUMBERS;
	bool has_dictionary = parquet_dictionary_make(&p->dictionary, values, listed, min, max,
						      most, 0, NULL, NULL) == listed;
	enum way way =
		min == max ? WAY_DICTIONARY : choose_way(p, field->type, values, n, has_dictionary);
	return add_pages(p, field, from, way, values, n, err);
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Adds pages of texts that the dictionary has no room for: the rows from 'row' on. */
static bool add_plain_texts(struct parquet_packer *p, const struct parquet_field *field,
			    const struct parquet_values *from, uint32_t row, struct hwy_err *err)
{
	struct parquet_chunk *chunk = &p->chunk;
	struct hwy_bytes texts = {0};
	bool ok = true;
	while (row < chunk->rows && ok) {
		uint32_t end = row;
		for (texts.n = 0; end < chunk->rows && texts.n < PAGE_BYTES; end++) {
			if (from->has_nulls && from->is_null[end])
				continue;
			int64_t key = from->values[from->is_constant ? 0 : end];
			parquet_put_text(&texts, from->text(from->user, key));
		}
		p->page.n = 0;
		if (field->is_optional)
			page_put_levels(p, from, row, end - row);
		hwy_bytes_put(&p->page, texts.bytes, texts.n);
		ok = add_page(p, &p->page, PAGE_DATA, PARQUET_PLAIN, end - row, err);
		row = end;
	}
	hwy_bytes_free(&texts);
	return ok;
}

/* The row behind that of value number 'n'. */
static uint32_t row_behind(const struct parquet_values *from, uint32_t n)
{
	uint32_t row = 0;
	for (; n > 0; row++)
		n -= !(from->has_nulls && from->is_null[row]);
	return row;
}

static bool texts_fit(const struct parquet_field *field, const struct parquet_values *from,
		      const int64_t *values, uint32_t first, uint32_t n, struct hwy_err *err)
{
	for (uint32_t i = first; i < n; i++) {
		struct hwy_text text = from->text(from->user, values[i]);
		if (text.length > MOST_TEXT)
			return hwy_fail(err, "%s: a text of %u bytes is too long for Parquet",
					field->name, text.length);
	}
	return true;
}

/* Packs texts of which only the first 'fit' have room in the dictionary: their rows are a page, the
 * other rows pages without a dictionary. Nothing is said about the least and the largest. */
static bool pack_many_texts(struct parquet_packer *p, const struct parquet_field *field,
			    const struct parquet_values *from, const int64_t *values, uint32_t fit,
			    uint32_t n, struct hwy_err *err)
{
	uint32_t row = row_behind(from, fit);
	if (!texts_fit(field, from, values, fit, n, err))
		return false;
	if (fit > 0) {
		if (!add_page(p, &p->dictionary.page, PAGE_DICTIONARY, PARQUET_PLAIN,
			      p->dictionary.n, err))
			return false;
		p->page.n = 0;
		if (field->is_optional)
			page_put_levels(p, from, 0, row);
		page_put_values(p, WAY_DICTIONARY, values, fit);
		if (!add_page(p, &p->page, PAGE_DATA, PARQUET_DICTIONARY, row, err))
			return false;
	}
	return add_plain_texts(p, field, from, row, err);
}

static bool pack_texts(struct parquet_packer *p, const struct parquet_field *field,
		       const struct parquet_values *from, const int64_t *values, uint32_t n,
		       struct hwy_err *err)
{
	struct parquet_chunk *chunk = &p->chunk;
	uint32_t listed = from->is_constant ? 1 : n;
	int64_t min, max;
	find_range(values, listed, &min, &max);
	uint32_t fit = parquet_dictionary_make(&p->dictionary, values, listed, min, max, UINT32_MAX,
					       MOST_BYTES, from->text, from->user);
	if (fit < listed)
		return pack_many_texts(p, field, from, values, fit, listed, err);
	const struct parquet_dictionary *d = &p->dictionary;
	chunk->has_min = chunk_note_text(&chunk->min, parquet_dictionary_text(d, d->least));
	chunk->has_max = chunk_note_text(&chunk->max, parquet_dictionary_text(d, d->largest));
	enum way way = min == max ? WAY_DICTIONARY : choose_way(p, field->type, values, n, true);
	return add_pages(p, field, from, way, values, n, err);
}

/* ---- the chunk ------------------------------------------------------------------------------- */

/* Yields the values of the rows that have one, and their number in *n; of a constant column the
 * first value only. */
static const int64_t *values_that_are(struct parquet_packer *p, const struct parquet_values *from,
				      uint32_t rows, uint32_t *n)
{
	*n = from->is_constant && from->has_nulls ? 0 : rows;
	if (!from->has_nulls || from->is_constant)
		return from->values;
	if (rows > p->cap_values) {
		p->values = hwy_resize(p->values, rows, sizeof *p->values);
		p->cap_values = rows;
	}
	*n = 0;
	for (uint32_t i = 0; i < rows; i++) {
		p->values[*n] = from->values[i];
		*n += !from->is_null[i];
	}
	return p->values;
}

const struct parquet_chunk *parquet_pack(struct parquet_packer *p,
					 const struct parquet_field *field,
					 const struct parquet_values *from, uint32_t rows,
					 struct hwy_err *err)
{
	struct parquet_chunk *chunk = &p->chunk;
	struct parquet_values values = *from;
	uint32_t n;
	values.has_nulls = values.has_nulls && field->is_optional &&
			   (!values.is_constant || values.is_null[0]);
	const int64_t *found = values_that_are(p, &values, rows, &n);
	*chunk = (struct parquet_chunk){.pages = chunk->pages,
					.min = chunk->min,
					.max = chunk->max,
					.codec = PARQUET_ZSTD,
					.rows = rows,
					.nulls = rows - n};
	chunk->pages.n = 0;
	bool ok;
	if (n == 0)
		ok = add_pages(p, field, &values, WAY_PLAIN, found, 0, err);
	else if (field->type == PARQUET_TEXT)
		ok = pack_texts(p, field, &values, found, n, err);
	else
		ok = pack_numbers(p, field, &values, found, n, err);
	return ok ? chunk : NULL;
}
