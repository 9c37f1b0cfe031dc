/* SPDX-License-Identifier: Apache-2.0 */
/* report_document_test.c - a reader written from docs/report-format.md finds in a report what we find. */
#include "make_trace.h"

#include "trace/file_format.h"

static char report[256], listing[256];

static uint64_t fold(uint64_t hash, uint64_t value)
{
	return hash * 31 + value;
}

static uint64_t hash_column(const struct hwy_column *column)
{
	uint64_t hash = 0;
	for (uint32_t row = 0; row < column->rows; row++)
		hash = fold(hash, (uint64_t)column_get(column, row));
	return hash;
}

static uint64_t hash_bytes(const void *bytes, size_t n)
{
	uint64_t hash = 0;
	for (size_t i = 0; i < n; i++)
		hash = fold(hash, ((const uint8_t *)bytes)[i]);
	return hash;
}

static bool is_set(const int64_t *field, uint32_t rows, size_t stride)
{
	for (uint32_t row = 0; row < rows; row++)
		if (field[row * stride] != HWY_NONE)
			return true;
	return false;
}

/* Fields without their names, which only the document has: "… name=HASH" becomes "… HASH". */
static void list_records(FILE *out, const char *name, const int64_t *records, uint32_t rows,
			 size_t fields)
{
	if (rows == 0)
		return;
	fprintf(out, "%s %u", name, rows);
	for (size_t f = 0; f < fields; f++) {
		if (!is_set(records + f, rows, fields))
			continue;
		uint64_t hash = 0;
		for (uint32_t row = 0; row < rows; row++)
			hash = fold(hash, (uint64_t)records[row * fields + f]);
		fprintf(out, " %016llx", (unsigned long long)hash);
	}
	fprintf(out, "\n");
}

static void list_columns(FILE *out, uint32_t rows, struct hwy_column *const *columns, unsigned n,
			 bool has_names)
{
	fprintf(out, " %u", rows);
	for (unsigned c = 0; c < n; c++) {
		if (!columns[c])
			continue;
		fprintf(out, " ");
		if (has_names)
			fprintf(out, "%s=", hwy_columns[c].name);
		fprintf(out, "%016llx", (unsigned long long)hash_column(columns[c]));
	}
	fprintf(out, "\n");
}

/* What we read, in the reader's words. */
static void list_trace(struct hwy_trace *trace, FILE *out)
{
	struct hwy_err err;
	uint64_t hash = 0;
	for (uint32_t i = 0; i < trace->strings.n; i++)
		hash = fold(hash,
			    hash_bytes(trace->strings.texts[i].at, trace->strings.texts[i].length));
	fprintf(out, "wall %lld\n", (long long)trace->wall);
	fprintf(out, "texts %u %016llx\n", trace->strings.n, (unsigned long long)hash);
#define X(type, field, section)                                                                    \
	list_records(out, #field, (const int64_t *)trace->field, trace->n_##field,                 \
		     sizeof(struct type) / sizeof(int64_t));
	HWY_RECORDS(X)
#undef X
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		fprintf(out, "strip %u %u", trace->strips[s].lane, trace->strips[s].kind);
		list_columns(out, trace->strips[s].rows, trace->strips[s].columns, HWY_COLS, true);
	}
	for (uint32_t i = 0; i < trace->file->n_levels; i++) {
		struct file_level *level = &trace->file->levels[i];
		for (unsigned c = 0; c < PYRAMID_COLUMNS; c++) {
			uint64_t place;
			const char *reason;
			if (level->columns[c])
				assert_true(file_load_chunks(trace->file, level->columns[c], &place,
							     &reason));
		}
		fprintf(out, "level %u %u", level->lane, level->level);
		list_columns(out, level->rows, level->columns, PYRAMID_COLUMNS, false);
	}
	for (uint32_t i = 0; i < trace->n_results; i++)
		fprintf(out, "result %u %016llx\n", i,
			(unsigned long long)hash_bytes(hwy_result_bytes(trace, i, &err),
						       (size_t)trace->results[i].bytes));
}

/* Takes the names out of "name=HASH" on lines of records and levels. */
static void drop_names(char *line)
{
	if (strncmp(line, "strip ", 6) == 0)
		return;
	char *to = line;
	for (const char *from = line; *from; from++) {
		if (*from != '=') {
			*to++ = *from;
			continue;
		}
		while (to[-1] != ' ')
			to--;
	}
	*to = 0;
}

static void assert_same_lines(const char *ours, FILE *theirs)
{
	static char line[1 << 16];
	while (fgets(line, sizeof line, theirs)) {
		drop_names(line);
		if (strncmp(ours, line, strlen(line)) != 0)
			fail_msg("the reader says '%s' but we '%.200s'", line, ours);
		ours += strlen(line);
	}
	assert_string_equal(ours, "");
}

static void a_reader_made_from_the_document_agrees_with_ours(void **state)
{
	struct hwy_err err = {0};
	char command[1200], *text = NULL;
	size_t size = 0;
	if (system("command -v python3 >/dev/null") != 0) {
		print_message("SKIP: no python3\n");
		skip();
	}
	for (uint64_t seed = 30; seed < 33; seed++) {
		struct hwy_trace *trace = random_trace(seed, 5, seed == 30 ? 100 : 25000);
		assert_true(hwy_file_write(trace, report, true, NULL, &err));
		struct hwy_trace *back = hwy_file_open(report, &err);
		assert_non_null(back);
		assert_true(hwy_need(back, UINT32_MAX, UINT64_MAX, &err));
		FILE *out = open_memstream(&text, &size);
		list_trace(back, out);
		fclose(out);
		/* ctest runs us in tests/, people where they are. */
		const char *reader = access("report_reader.py", R_OK) == 0
					     ? "report_reader.py"
					     : "tests/report_reader.py";
		snprintf(command, sizeof command, "python3 %s '%s' > '%s'", reader, report,
			 listing);
		assert_int_equal(system(command), 0);
		FILE *theirs = fopen(listing, "r");
		assert_non_null(theirs);
		assert_same_lines(text, theirs);
		fclose(theirs);
		free(text);
		hwy_trace_free(back);
		hwy_trace_free(trace);
	}
}

int main(void)
{
	const char *folder = make_folder();
	snprintf(report, sizeof report, "%s/a.hwy", folder);
	snprintf(listing, sizeof listing, "%s/listing", folder);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_reader_made_from_the_document_agrees_with_ours),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	drop_folder(folder);
	return failed;
}
