/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_fuzz.c - any columns as a Parquet file: the tests' reader reads back what was written, with true statistics; and any
 * change of the footer, and any cut, is refused.
 *
 * The input says how many columns there are, of which types, how rows are grouped, and then the values, two bytes or eight each.
 */
#include <assert.h>
#include <stdint.h>
#include <unistd.h>

#include "fuzz_folder.h"
#include "parquet_make.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { MOST_ROWS = 600 };

struct input {
	const uint8_t *at;
	size_t n;
};

static uint64_t take(struct input *in, unsigned n)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < n && in->n; i++, in->n--)
		value |= (uint64_t)*in->at++ << 8 * i;
	return value;
}

/* A column: a byte says the type, how large values are, whether they repeat, and whether there are nulls. */
static void make_column(struct made_table *table, uint32_t column, struct input *in,
			uint32_t n_texts)
{
	static const char *const names[MADE_COLUMNS] = {"a", "b", "c", "d", "e", "f", "g", "h"};
	unsigned how = (unsigned)take(in, 1);
	enum parquet_type type = (enum parquet_type)(how % PARQUET_TYPES);
	struct parquet_values *values = &table->columns[column];
	int64_t last = 0, step = how & 16 ? (int64_t)take(in, 8) : 0;
	table->fields[column] = (struct parquet_field){names[column], type, how & 32};
	values->values = malloc((table->rows + 1) * sizeof *values->values);
	values->is_null = calloc(table->rows + 1, sizeof *values->is_null);
	values->is_constant = how & 64;
	values->values[0] = 0;
	for (uint32_t row = 0; row < table->rows; row++) {
		bool is_new = in->n > 0 && (row < 8 || !(how & 128) || row % 16 == 0);
		int64_t read = is_new ? (int64_t)take(in, how & 8 ? 8 : 2) : last;
		last = (int64_t)((uint64_t)read + (uint64_t)step);
		values->values[row] =
			type == PARQUET_TEXT ? (int64_t)((uint64_t)last % n_texts) : last;
		values->is_null[row] = (how & 32) && (read & 3) == 1;
		values->has_nulls |= values->is_null[row];
	}
}

static void check_refused(const uint8_t *bytes, size_t n)
{
	struct parquet_read r;
	uint8_t *copy = malloc(n ? n : 1);
	memcpy(copy, bytes, n);
	if (parquet_read(copy, n, &r))
		abort();
	parquet_read_free(&r);
	free(copy);
}

/* Cuts the file at a place and flips a bit of its footer, both by the input. */
static void damage(uint8_t *bytes, size_t n, struct input *in)
{
	struct read_bytes end = {bytes + n - 8, 4, false};
	size_t footer = n - 8 - (size_t)read_little(&end, 4);
	size_t at = footer + (size_t)take(in, 3) % (n - footer);
	unsigned bit = (unsigned)take(in, 1) % 8;
	check_refused(bytes, (size_t)take(in, 3) % n);
	bytes[at] ^= (uint8_t)(1 << bit);
	check_refused(bytes, n);
}

static void write_and_read(const struct made_table *table, struct input *in)
{
	static char path[100];
	struct hwy_err err;
	struct parquet_read r;
	char why[200];
	size_t n;
	snprintf(path, sizeof path, "%s/headway-parquet-fuzz-%d",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
	unlink(path);
	if (!made_write(table, path, &err))
		abort();
	uint8_t *bytes = made_load(path, &n);
	unlink(path);
	if (!parquet_read(bytes, n, &r)) {
		fprintf(stderr, "not read: %s\n", r.why);
		abort();
	}
	if (!made_is(table, &r, why, sizeof why)) {
		fprintf(stderr, "differs: %s\n", why);
		abort();
	}
	parquet_read_free(&r);
	damage(bytes, n, in);
	free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct input in = {bytes, size};
	struct hwy_text texts[MADE_TEXTS];
	fuzz_use_memory();
	struct made_table table = {.n_columns = (uint32_t)take(&in, 1) % MADE_COLUMNS + 1,
				   .rows = (uint32_t)take(&in, 2) % MOST_ROWS,
				   .group = (uint32_t)take(&in, 2) % MOST_ROWS + 1,
				   .sorted = -1,
				   .texts = texts};
	/* Texts are pieces of the input itself: any bytes, UTF-8 or not. */
	uint32_t n_texts = (uint32_t)take(&in, 1) % MADE_TEXTS + 1;
	for (uint32_t i = 0; i < n_texts; i++) {
		size_t first = size ? (size_t)take(&in, 1) % size : 0, left = size - first;
		texts[i] = (struct hwy_text){(const char *)bytes + first,
					     (uint32_t)(left < i ? left : i)};
	}
	for (uint32_t i = 0; i < table.n_columns; i++)
		make_column(&table, i, &in, n_texts);
	write_and_read(&table, &in);
	for (uint32_t i = 0; i < table.n_columns; i++) {
		free(table.columns[i].values);
		free(table.columns[i].is_null);
	}
	return 0;
}
