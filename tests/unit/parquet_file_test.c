/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_file_test.c - Parquet files that our writer makes, read back by the tests' reader, which checks statistics, order and
 * checksums, too (parquet_read.h). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash.h"
#include "parquet_make.h"

static char folder[] = "/tmp/headway-parquet-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/it.parquet", folder);
	return 0;
}

static int remove_folder(void **state)
{
	return rmdir(folder);
}

/* Writes the table, reads it back, compares; yields the file read, to be freed with *bytes. */
static struct parquet_read round_trip(const struct made_table *table, uint8_t **bytes, size_t *n)
{
	struct hwy_err err = {0};
	struct parquet_read r;
	char why[200] = "";
	if (!made_write(table, path, &err))
		fail_msg("%s", err.text);
	*bytes = made_load(path, n);
	unlink(path);
	if (!parquet_read(*bytes, *n, &r))
		fail_msg("%s", r.why);
	if (!made_is(table, &r, why, sizeof why))
		fail_msg("differs: %s", why);
	return r;
}

static void check(const struct made_table *table)
{
	uint8_t *bytes;
	size_t n;
	struct parquet_read r = round_trip(table, &bytes, &n);
	parquet_read_free(&r);
	free(bytes);
}

static struct made_table one_column(enum parquet_type type, bool is_optional, int64_t *values,
				    bool *is_null, uint32_t rows)
{
	struct made_table table = {.n_columns = 1, .rows = rows, .group = 1000, .sorted = -1};
	table.fields[0] = (struct parquet_field){"it", type, is_optional};
	table.columns[0] = (struct parquet_values){
		.values = values, .is_null = is_null, .has_nulls = is_null != NULL};
	return table;
}

static int64_t bits(double real)
{
	int64_t number;
	memcpy(&number, &real, sizeof number);
	return number;
}

/* ---- small tables ---- */

static const struct hwy_text words[] = {
	{"", 0},         {"a", 1},     {"kernel", 6},       {"kernel\0with a zero", 18},
	{"\xff\xfe", 2}, {"naïve", 6}, {"cut \xe2\x82", 6}, {"日本語", 9}};
enum { WORDS = sizeof words / sizeof *words };

static void a_table_without_rows_is_a_file(void **state)
{
	struct made_table table = one_column(PARQUET_NUMBER, true, NULL, NULL, 0);
	check(&table);
}

static void one_row_of_each_type_comes_back(void **state)
{
	for (int type = 0; type < PARQUET_TYPES; type++)
		for (int64_t value = 0; value < 3; value++) {
			struct made_table table =
				one_column((enum parquet_type)type, value % 2, &value, NULL, 1);
			table.texts = words;
			check(&table);
		}
}

static void columns_of_nulls_come_back(void **state)
{
	enum { ROWS = 2500 };
	int64_t values[ROWS] = {0};
	bool is_null[ROWS];
	memset(is_null, true, sizeof is_null);
	for (int type = 0; type < PARQUET_TYPES; type++)
		for (uint32_t rows = 1; rows <= ROWS; rows += ROWS - 1)
			for (int constant = 0; constant < 2; constant++) {
				struct made_table table = one_column((enum parquet_type)type, true,
								     values, is_null, rows);
				table.columns[0].is_constant = constant;
				table.texts = words;
				check(&table);
			}
}

static void constant_columns_come_back(void **state)
{
	int64_t values[] = {2};
	bool is_null[] = {false};
	for (int type = 0; type < PARQUET_TYPES; type++)
		for (int optional = 0; optional < 2; optional++) {
			struct made_table table = one_column((enum parquet_type)type, optional,
							     values, is_null, 2222);
			table.columns[0].is_constant = true;
			table.texts = words;
			check(&table);
		}
}

static void extreme_numbers_come_back_with_true_statistics(void **state)
{
	int64_t values[] = {INT64_MIN, INT64_MAX, 0, -1, INT64_MIN, 1, INT64_MAX};
	for (uint32_t first = 0; first < 7; first++)
		for (uint32_t n = 1; n + first <= 7; n++) {
			struct made_table table =
				one_column(PARQUET_NUMBER, false, values + first, NULL, n);
			check(&table);
		}
}

static void doubles_that_are_none_leave_no_statistics(void **state)
{
	int64_t values[] = {bits(1.5), bits(NAN),  bits(-INFINITY),
			    bits(0.0), bits(-0.0), bits(1e300)};
	struct made_table table = one_column(PARQUET_REAL, false, values, NULL, 6);
	uint8_t *bytes;
	size_t n;
	struct parquet_read r = round_trip(&table, &bytes, &n); /* the reader wants none, too */
	parquet_read_free(&r);
	free(bytes);
	table = one_column(PARQUET_REAL, false, values + 2, NULL, 4);
	check(&table);
	table = one_column(PARQUET_REAL, false, values + 3, NULL, 2);
	check(&table);
}

static void texts_become_utf8(void **state)
{
	int64_t values[100];
	for (int i = 0; i < 100; i++)
		values[i] = (int64_t)(hwy_mix((uint64_t)i) % WORDS);
	struct made_table table = one_column(PARQUET_TEXT, false, values, NULL, 100);
	table.texts = words;
	check(&table);
}

/* ---- encodings ---- */

static void the_smaller_encoding_is_taken(void **state)
{
	enum { ROWS = 20000 };
	int64_t *values = malloc(ROWS * sizeof *values);
	uint8_t *bytes;
	size_t n;
	for (int64_t i = 0; i < ROWS; i++) /* times */
		values[i] = (INT64_C(1) << 50) + i * 1000 + (int64_t)(hwy_mix((uint64_t)i) % 512);
	struct made_table table = one_column(PARQUET_NUMBER, false, values, NULL, ROWS);
	table.group = ROWS;
	struct parquet_read r = round_trip(&table, &bytes, &n);
	assert_int_equal(r.columns[0].delta_pages, 1);
	assert_true(n < ROWS * 3 / 2);
	parquet_read_free(&r);
	free(bytes);
	for (int64_t i = 0; i < ROWS; i++) /* sizes, of which there are few */
		values[i] = INT64_C(1) << hwy_mix((uint64_t)i) % 60;
	r = round_trip(&table, &bytes, &n);
	assert_int_equal(r.columns[0].dictionary_pages, 1);
	assert_true(n < ROWS);
	parquet_read_free(&r);
	free(bytes);
	free(values);
}

/* A dictionary of texts has a bound: what does not fit stands in pages without one. */
static void texts_beyond_the_dictionary_come_back(void **state)
{
	enum { ROWS = 16000, LENGTH = 1024 };
	char *room = malloc((size_t)ROWS * LENGTH);
	struct hwy_text *texts = malloc(ROWS * sizeof *texts);
	int64_t *values = malloc(ROWS * sizeof *values);
	bool *is_null = malloc(ROWS * sizeof *is_null);
	uint8_t *bytes;
	size_t n;
	for (uint32_t i = 0; i < ROWS; i++) {
		char *at = room + (size_t)i * LENGTH;
		memset(at, 0xff, LENGTH); /* no UTF-8: three times as long in the file */
		memcpy(at, &i, sizeof i);
		texts[i] = (struct hwy_text){at, LENGTH};
		values[i] = i;
		is_null[i] = i % 5 == 3;
	}
	struct made_table table = one_column(PARQUET_TEXT, true, values, is_null, ROWS);
	table.texts = texts;
	table.group = ROWS;
	struct parquet_read r = round_trip(&table, &bytes, &n);
	assert_int_equal(r.columns[0].dictionary_pages, 1);
	assert_true(r.columns[0].plain_pages > 1);
	parquet_read_free(&r);
	free(bytes);
	free(room);
	free(texts);
	free(values);
	free(is_null);
}

static void a_text_that_is_too_large_for_a_dictionary_comes_back(void **state)
{
	uint32_t length =
		12 << 20; /* in the file it would be three times as long if it were no UTF-8 */
	char *large = malloc(length);
	memset(large, 'x', length);
	struct hwy_text texts[] = {{"small", 5}, {large, length}};
	int64_t values[] = {0, 1, 0, 1};
	struct made_table table = one_column(PARQUET_TEXT, false, values, NULL, 4);
	table.texts = texts;
	check(&table);
	table.columns[0].is_constant = true;
	values[0] = 1;
	check(&table);
	free(large);
}

/* ---- any tables ---- */

static uint64_t seed;

static uint64_t chance(uint64_t below)
{
	seed = hwy_mix(seed + 0x9e3779b97f4a7c15u);
	return seed % below;
}

static void fill_by_chance(struct made_table *table, uint32_t column)
{
	struct parquet_values *values = &table->columns[column];
	unsigned shift = (unsigned)chance(64), repeats = (unsigned)chance(40);
	int64_t last = 0;
	for (uint32_t row = 0; row < table->rows; row++) {
		if (repeats < 20 || chance(repeats) == 0)
			last = table->fields[column].type == PARQUET_TEXT
				       ? (int64_t)chance(WORDS)
				       : (int64_t)(hwy_mix(chance(UINT64_MAX)) >> shift) *
						 (chance(2) ? 1 : -1);
		values->values[row] = last;
		values->is_null[row] = repeats % 3 == 0 && chance(4) == 0;
	}
	values->has_nulls = repeats % 3 == 0;
}

static void tables_of_any_columns_and_row_groups_come_back(void **state)
{
	enum { ROWS = 700 };
	for (uint64_t round = 0; round < 150; round++) {
		seed = round;
		struct made_table table = {.rows = (uint32_t)chance(ROWS),
					   .group = (uint32_t)chance(300) + 1,
					   .sorted = -1,
					   .texts = words,
					   .n_columns = (uint32_t)chance(MADE_COLUMNS) + 1};
		static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g-h", "日本"};
		for (uint32_t i = 0; i < table.n_columns; i++) {
			table.fields[i] = (struct parquet_field){
				names[i], (enum parquet_type)chance(PARQUET_TYPES), chance(2)};
			table.columns[i].values = malloc(ROWS * sizeof(int64_t));
			table.columns[i].is_null = malloc(ROWS * sizeof(bool));
			fill_by_chance(&table, i);
		}
		check(&table);
		for (uint32_t i = 0; i < table.n_columns; i++) {
			free(table.columns[i].values);
			free(table.columns[i].is_null);
		}
	}
}

static void the_order_of_rows_is_said(void **state)
{
	int64_t values[3000];
	for (int i = 0; i < 3000; i++)
		values[i] = i / 2;
	struct made_table table = one_column(PARQUET_NUMBER, false, values, NULL, 3000);
	uint8_t *bytes;
	size_t n;
	table.sorted = 0;
	struct parquet_read r = round_trip(&table, &bytes, &n);
	assert_int_equal(r.sorted, 0);
	assert_int_equal(r.n_groups, 3);
	parquet_read_free(&r);
	free(bytes);
}

/* ---- damage and failure ---- */

static void a_file_that_is_cut_or_changed_is_refused(void **state)
{
	int64_t values[50];
	for (int i = 0; i < 50; i++)
		values[i] = (int64_t)(hwy_mix((uint64_t)i) % WORDS);
	struct made_table table = one_column(PARQUET_TEXT, false, values, NULL, 50);
	table.texts = words;
	uint8_t *bytes;
	size_t n;
	struct parquet_read r = round_trip(&table, &bytes, &n);
	parquet_read_free(&r);
	struct read_bytes end = {bytes + n - 8, 4, false};
	size_t footer = n - 8 - read_little(&end, 4);
	for (size_t cut = 0; cut < n; cut++) {
		assert_false(parquet_read(bytes, cut, &r));
		parquet_read_free(&r);
	}
	for (size_t at = 0; at < n; at++) {
		bytes[at] ^= (uint8_t)(1 << at % 8);
		bool is_read = parquet_read(bytes, n, &r);
		parquet_read_free(&r);
		bytes[at] ^= (uint8_t)(1 << at % 8);
		/* A page's header has no checksum: a flipped bit there may say nothing that a reader needs. */
		if (is_read)
			assert_true(at > 4 && at < footer);
	}
	free(bytes);
}

static void a_file_that_is_there_is_kept(void **state)
{
	struct hwy_err err = {0};
	struct parquet_file file;
	struct parquet_table table = {.name = "it", .sorted = -1};
	FILE *old = fopen(path, "w");
	fputs("old", old);
	fclose(old);
	assert_false(parquet_file_open(&file, path, "out", &table, NULL, &err));
	assert_string_equal(err.text, "out: File exists");
	unlink(path);
}

static void a_full_disk_is_told(void **state)
{
	if (access("/dev/full", W_OK) != 0)
		skip();
	struct hwy_err err = {0};
	struct parquet_file file;
	int64_t value = 1;
	struct made_table made = one_column(PARQUET_NUMBER, false, &value, NULL, 1);
	struct parquet_table table = {"it", made.fields, 1, -1, NULL, 0};
	struct parquet_packer *packer = parquet_packer_new();
	assert_true(parquet_file_open(&file, path, "out", &table, packer, &err));
	FILE *full = freopen("/dev/full", "w", file.file);
	assert_non_null(full);
	file.file = full;
	file.out.fd = fileno(full);
	parquet_group_begin(&file, 1);
	parquet_group_column(&file, &made.columns[0]);
	parquet_group_end(&file);
	assert_false(parquet_file_close(&file));
	assert_string_equal(err.text, "out: No space left on device");
	parquet_packer_free(packer);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table_without_rows_is_a_file),
		cmocka_unit_test(one_row_of_each_type_comes_back),
		cmocka_unit_test(columns_of_nulls_come_back),
		cmocka_unit_test(constant_columns_come_back),
		cmocka_unit_test(extreme_numbers_come_back_with_true_statistics),
		cmocka_unit_test(doubles_that_are_none_leave_no_statistics),
		cmocka_unit_test(texts_become_utf8),
		cmocka_unit_test(the_smaller_encoding_is_taken),
		cmocka_unit_test(texts_beyond_the_dictionary_come_back),
		cmocka_unit_test(a_text_that_is_too_large_for_a_dictionary_comes_back),
		cmocka_unit_test(tables_of_any_columns_and_row_groups_come_back),
		cmocka_unit_test(the_order_of_rows_is_said),
		cmocka_unit_test(a_file_that_is_cut_or_changed_is_refused),
		cmocka_unit_test(a_file_that_is_there_is_kept),
		cmocka_unit_test(a_full_disk_is_told),
	};
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
