/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_column.h - the values of one column in one row group, as Parquet's pages: a column chunk.
 *
 * A chunk has one page, behind a dictionary page where that is smaller; texts beyond a bound of the
 * dictionary stand in pages of their own. Of the encodings that fit the column's type the one is
 * taken that zstd makes smallest of the first values.
 */
#ifndef HWY_EXPORT_PARQUET_PARQUET_COLUMN_H
#define HWY_EXPORT_PARQUET_PARQUET_COLUMN_H

#include "base/err.h"
#include "export/parquet/parquet_dictionary.h"

enum parquet_type {
	PARQUET_NUMBER, /* INT64 */
	PARQUET_REAL,   /* DOUBLE */
	PARQUET_TEXT,   /* BYTE_ARRAY with the logical type STRING */
	PARQUET_TYPES
};

struct parquet_field {
	const char *name;
	enum parquet_type type;
	bool is_optional; /* a row may have no value */
};

struct parquet_values {
	int64_t *values; /* by row: the number, the bits of the double, or the key of the text */
	bool *is_null;   /* by row; read only of optional columns where has_nulls is true */
	bool has_nulls;
	bool is_constant; /* values[0], and is_null[0], stand for all rows */
	parquet_text *text;
	void *user; /* for 'text' */
};

/* Parquet's numbers. */
enum parquet_encoding {
	PARQUET_PLAIN = 0,
	PARQUET_RLE = 3,
	PARQUET_DELTA = 5,
	PARQUET_DICTIONARY = 8
};
enum parquet_codec { PARQUET_PLAIN_BYTES = 0, PARQUET_ZSTD = 6 };

struct parquet_chunk {
	struct hwy_bytes pages; /* as the file has them */
	size_t dictionary; /* length of the dictionary page, which comes first; 0: there is none */
	uint64_t whole;    /* length of the pages before compression, headers included */
	enum parquet_codec codec;
	uint32_t encodings; /* bits: 1 << enum parquet_encoding */
	uint32_t rows, nulls;
	bool has_min, has_max; /* else nothing is said about it */
	struct hwy_bytes min, max;
};

/* Buffers for one chunk after the other. */
struct parquet_packer;
struct parquet_packer *parquet_packer_new(void);
void parquet_packer_free(struct parquet_packer *packer);

/* Packs the rows of a column. The chunk belongs to the packer and is valid until the next call.
 * NULL, with a sentence that begins with the column's name, where the values do not fit a
 * Parquet file. */
const struct parquet_chunk *parquet_pack(struct parquet_packer *packer,
					 const struct parquet_field *field,
					 const struct parquet_values *values, uint32_t rows,
					 struct hwy_err *err);

#endif
