/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_make.h - a table in memory, written by our writer and read back by the tests' reader (parquet_read.h). */
#ifndef PARQUET_MAKE_H
#define PARQUET_MAKE_H

#include "base/mem.h"
#include "base/utf8.h"
#include "export/parquet/parquet_file.h"
#include "parquet_read.h"

enum { MADE_COLUMNS = 8, MADE_TEXTS = 64 };

struct made_table {
	struct parquet_field fields[MADE_COLUMNS];
	struct parquet_values
		columns[MADE_COLUMNS]; /* all rows; values of texts are indexes into 'texts' */
	uint32_t n_columns, rows;
	uint32_t group; /* rows of a row group */
	int sorted;
	const struct hwy_text *texts;
};

static inline struct hwy_text made_text(void *user, int64_t key)
{
	const struct made_table *table = user;
	return table->texts[key];
}

/* Writes the table to a file that is not there yet. */
static inline bool made_write(const struct made_table *made, const char *path, struct hwy_err *err)
{
	struct parquet_table table = {"made", made->fields, made->n_columns, made->sorted, NULL, 0};
	struct parquet_packer *packer = parquet_packer_new();
	struct parquet_file file;
	bool ok = parquet_file_open(&file, path, path, &table, packer, err);
	for (uint32_t first = 0; first < made->rows && ok; first += made->group) {
		uint32_t left = made->rows - first, n = left < made->group ? left : made->group;
		parquet_group_begin(&file, n);
		for (uint32_t i = 0; i < made->n_columns; i++) {
			struct parquet_values values = made->columns[i];
			if (!values.is_constant) {
				values.values += first;
				values.is_null += values.is_null ? first : 0;
			}
			values.text = made_text;
			values.user = (void *)(uintptr_t)made;
			parquet_group_column(&file, &values);
		}
		parquet_group_end(&file);
	}
	ok = ok && parquet_file_close(&file);
	parquet_packer_free(packer);
	return ok;
}

/* A text as Parquet holds it: UTF-8, with U+FFFD for bytes that are none. */
static inline struct hwy_text made_utf8(struct hwy_text text, char *room)
{
	uint32_t n = 0;
	for (uint32_t at = 0; at < text.length;) {
		size_t length = hwy_utf8_length(text.at + at, text.length - at);
		memcpy(room + n, length ? text.at + at : "\xef\xbf\xbd", length ? length : 3);
		n += (uint32_t)(length ? length : 3);
		at += (uint32_t)(length ? length : 1);
	}
	return (struct hwy_text){room, n};
}

static inline bool made_cell_is(const struct made_table *made, uint32_t column, uint32_t row,
				const struct read_cell *cell)
{
	const struct parquet_values *values = &made->columns[column];
	uint32_t at = values->is_constant ? 0 : row;
	bool is_null = made->fields[column].is_optional && values->has_nulls && values->is_null[at];
	if (is_null || cell->is_null)
		return is_null == cell->is_null;
	if (made->fields[column].type != PARQUET_TEXT)
		return cell->number == values->values[at];
	struct hwy_text text = made->texts[values->values[at]];
	char *room = malloc(3 * (size_t)text.length + 1);
	struct hwy_text expected = made_utf8(text, room);
	bool same = cell->length == expected.length &&
		    (!expected.length || memcmp(cell->text, expected.at, expected.length) == 0);
	free(room);
	return same;
}

/* Whether a file has the rows of the table; 'why' gets what differs. */
static inline bool made_is(const struct made_table *made, const struct parquet_read *r, char *why,
			   size_t size)
{
	if (r->n_columns != made->n_columns || r->rows != made->rows ||
	    r->n_groups != (made->rows + made->group - 1) / made->group) {
		snprintf(why, size, "%u columns, %llu rows, %u row groups", r->n_columns,
			 (unsigned long long)r->rows, r->n_groups);
		return false;
	}
	for (uint32_t i = 0; i < made->n_columns; i++)
		for (uint32_t row = 0; row < made->rows; row++)
			if (strcmp(r->columns[i].name, made->fields[i].name) != 0 ||
			    !made_cell_is(made, i, row, &r->columns[i].cells[row])) {
				snprintf(why, size, "column %u, row %u", i, row);
				return false;
			}
	return true;
}

static inline uint8_t *made_load(const char *path, size_t *n)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		abort();
	fseek(file, 0, SEEK_END);
	*n = (size_t)ftell(file);
	rewind(file);
	uint8_t *bytes = malloc(*n + 1);
	if (fread(bytes, 1, *n, file) != *n)
		abort();
	fclose(file);
	return bytes;
}

#endif
