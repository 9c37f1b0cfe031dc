/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_of.c - what a Parquet file holds, read by the tests' own reader (tests/unit/parquet_read.h).
 *
 *   parquet_of FILE           its rows as CSV, as `headway export -t csv` writes them; nulls are empty
 *   parquet_of schema FILE    its columns: name, type, whether there may be nulls
 *   parquet_of facts FILE     rows, row groups, the column rows are sorted by, and the key-values of its footer
 *   parquet_of cuts FILE      fails unless every file that is cut short, and every one with a flipped bit in the
 *                             footer, is refused
 *
 * The exit status is 1, with a line on stderr, where the file is not as it must be.
 */
#include <inttypes.h>

#include "parquet_read.h"

static uint8_t *load(const char *path, size_t *n)
{
	FILE *file = fopen(path, "rb");
	if (!file || fseek(file, 0, SEEK_END) != 0) {
		perror(path);
		exit(2);
	}
	*n = (size_t)ftell(file);
	rewind(file);
	uint8_t *bytes = malloc(*n + 1);
	if (fread(bytes, 1, *n, file) != *n)
		exit(2);
	fclose(file);
	return bytes;
}

static void put_text(const char *text, uint32_t n)
{
	bool quote = false;
	for (uint32_t i = 0; i < n; i++)
		quote |= strchr(",\"\n\r", text[i]) && text[i];
	if (!quote) {
		fwrite(text, 1, n, stdout);
		return;
	}
	putchar('"');
	for (uint32_t i = 0; i < n; i++) {
		if (text[i] == '"')
			putchar('"');
		putchar(text[i]);
	}
	putchar('"');
}

static void put_cell(const struct read_column *column, const struct read_cell *cell)
{
	double real;
	if (cell->is_null)
		return;
	memcpy(&real, &cell->number, sizeof real);
	switch (column->type) {
	case 2: printf("%" PRId64, cell->number); break;
	case 5: printf("%.17g", real); break;
	default: put_text(cell->text, cell->length);
	}
}

static void print_rows(const struct parquet_read *r)
{
	for (uint32_t i = 0; i < r->n_columns; i++)
		printf("%s%s", i ? "," : "", r->columns[i].name);
	putchar('\n');
	for (uint64_t row = 0; row < r->rows; row++) {
		for (uint32_t i = 0; i < r->n_columns; i++) {
			if (i)
				putchar(',');
			put_cell(&r->columns[i], &r->columns[i].cells[row]);
		}
		putchar('\n');
	}
}

static void print_schema(const struct parquet_read *r)
{
	for (uint32_t i = 0; i < r->n_columns; i++)
		printf("%s %s%s\n", r->columns[i].name,
		       r->columns[i].type == 2   ? "INT64"
		       : r->columns[i].type == 5 ? "DOUBLE"
						 : "STRING",
		       r->columns[i].is_optional ? "" : " required");
}

static void print_facts(const struct parquet_read *r)
{
	const struct read_tree *list = read_tree_field(r->footer, 5);
	printf("rows %" PRIu64 "\ngroups %u\nsorted %s\n", r->rows, r->n_groups,
	       r->sorted < 0 ? "-" : r->columns[r->sorted].name);
	for (uint32_t i = 0; list && i < list->n; i++) {
		const struct read_tree *key = read_tree_field(&list->items[i], 1);
		const struct read_tree *value = read_tree_field(&list->items[i], 2);
		printf("%.*s %.*s\n", (int)key->length, (const char *)key->bytes,
		       (int)value->length, (const char *)value->bytes);
	}
}

static void expect_refused(const uint8_t *bytes, size_t n, const char *what, size_t at)
{
	struct parquet_read r;
	/* A copy of the exact size: a sanitizer sees what reads behind it. */
	uint8_t *copy = malloc(n ? n : 1);
	memcpy(copy, bytes, n);
	if (parquet_read(copy, n, &r)) {
		fprintf(stderr, "%s %zu is read\n", what, at);
		exit(1);
	}
	parquet_read_free(&r);
	free(copy);
}

static int try_cuts(uint8_t *bytes, size_t n)
{
	size_t footer =
		n - 8 - (bytes[n - 8] | (size_t)bytes[n - 7] << 8 | (size_t)bytes[n - 6] << 16);
	for (size_t cut = 0; cut < n; cut++)
		expect_refused(bytes, cut, "a file cut after byte", cut);
	for (size_t at = footer; at < n; at++)
		for (int bit = 0; bit < 8; bit++) {
			bytes[at] ^= (uint8_t)(1 << bit);
			expect_refused(bytes, n, "a file with a flipped bit in byte", at);
			bytes[at] ^= (uint8_t)(1 << bit);
		}
	printf("%zu cuts and %zu flipped bits are refused\n", n, 8 * (n - footer));
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "rows";
	struct parquet_read r;
	size_t n;
	uint8_t *bytes = load(argv[argc - 1], &n);
	if (!parquet_read(bytes, n, &r)) {
		fprintf(stderr, "%s: %s\n", argv[argc - 1], r.why);
		return 1;
	}
	if (strcmp(what, "rows") == 0)
		print_rows(&r);
	else if (strcmp(what, "schema") == 0)
		print_schema(&r);
	else if (strcmp(what, "facts") == 0)
		print_facts(&r);
	parquet_read_free(&r);
	int status = strcmp(what, "cuts") == 0 ? try_cuts(bytes, n) : 0;
	free(bytes);
	return status;
}
