/* SPDX-License-Identifier: Apache-2.0 */
/* ncu_rows.c - see ncu_rows.h.
 *
 * A field that begins with a quote ends with the next quote that is not doubled; it may hold
 * commas and line ends. In other fields a quote is a character like any other, so that a stray
 * quote in the program's output does not swallow the table behind it.
 */
#include "import/ncu/ncu_rows.h"

#include <stdlib.h>
#include <string.h>

static const char kernel_name[] = "Kernel Name";

bool ncu_rows_open(struct ncu_rows *rows, const char *path, size_t window, struct hwy_err *err)
{
	*rows = (struct ncu_rows){.next_line = 1};
	return source_open(&rows->source, path, window, err);
}

void ncu_rows_close(struct ncu_rows *rows)
{
	source_close(&rows->source);
	hwy_bytes_free(&rows->text);
	free(rows->fields);
}

/* ---- where a row ends ------------------------------------------------------------------------ */

/* A search for the end of a row: how far it got, counted from source->cursor. */
struct row_end {
	size_t at;
	uint64_t lines; /* line ends before 'at' */
	bool is_quoted, begins_field, is_plain;
};

/* Goes on until the line end that ends the row; false where the window ends before it. */
static bool find_row_end(const struct source *source, struct row_end *end)
{
	size_t length = (size_t)(source->end - source->cursor);
	for (; end->at < length; end->at++) {
		char byte = source->cursor[end->at];
		if (byte == '"' && !end->is_plain && (end->begins_field || end->is_quoted))
			end->is_quoted = !end->is_quoted;
		else if (byte == '"' && !end->is_plain && end->at > 0 &&
			 source->cursor[end->at - 1] == '"')
			end->is_quoted = true; /* a doubled quote: the field goes on */
		else if (byte == '\n' && !end->is_quoted)
			return true;
		end->lines += byte == '\n';
		end->begins_field = byte == ',' && !end->is_quoted;
	}
	return false;
}

/* Makes sure that the window holds a whole row, and yields its length without the line end. */
static bool read_row(struct ncu_rows *rows, bool is_plain, const struct hwy_progress *progress,
		     size_t *length, struct hwy_err *err)
{
	struct source *source = &rows->source;
	struct row_end end = {.begins_field = true, .is_plain = is_plain};
	while (!find_row_end(source, &end)) {
		if (source->finished)
			break;
		if (!source_more(source, progress, err))
			return false;
	}
	*length = end.at;
	rows->line = rows->next_line;
	rows->next_line += end.lines + 1;
	return !end.is_quoted ||
	       hwy_fail(err,
			"%s: line %llu: the file ends inside of a quoted field; was it cut off?",
			source_path(source), (unsigned long long)rows->line);
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* Copies the field that begins at 'at' to rows->text, without its quotes; yields where the next
 * one begins, behind 'end' where this was the last one. */
static const char *copy_field(struct ncu_rows *rows, const char *at, const char *end)
{
	uint8_t *to = hwy_bytes_reserve(&rows->text, (size_t)(end - at) + 1);
	size_t n = 0;
	bool is_quoted = at < end && *at == '"';
	for (at += is_quoted; at < end && (is_quoted || *at != ','); at++) {
		if (is_quoted && *at == '"') {
			if (at + 1 < end && at[1] == '"')
				at++;
			else
				is_quoted = false;
			if (!is_quoted)
				continue;
		}
		to[n++] = (uint8_t)*at;
	}
	if (n > 0 && to[n - 1] == '\r' && at == end)
		n--;
	to[n] = 0;
	HWY_GROW(rows->fields, rows->n, rows->cap);
	/* The text may still move: until the row is whole, 'at' is an offset. */
	rows->fields[rows->n++] =
		(struct hwy_text){(const char *)(uintptr_t)rows->text.n, (uint32_t)n};
	rows->text.n += n + 1;
	return at + 1;
}

static bool split_row(struct ncu_rows *rows, const char *at, size_t length, struct hwy_err *err)
{
	const char *end = at + length;
	rows->n = 0;
	rows->text.n = 0;
	rows->is_header = false;
	while (at <= end && rows->n < NCU_MOST_FIELDS)
		at = copy_field(rows, at, end);
	if (at <= end)
		return hwy_fail(err, "%s: line %llu: more than %d columns",
				source_path(&rows->source), (unsigned long long)rows->line,
				NCU_MOST_FIELDS);
	for (uint32_t i = 0; i < rows->n; i++) {
		rows->fields[i].at = (const char *)rows->text.bytes + (uintptr_t)rows->fields[i].at;
		if (strcmp(rows->fields[i].at, kernel_name) == 0)
			rows->is_header = true;
	}
	return true;
}

/* Yields where the names of the columns begin in a line, or NULL. What the program printed last
 * may stand before them, where it ended without a line end. */
static const char *find_header(const char *line, size_t length)
{
	static const char *const firsts[] = {"\"ID\",", "\"Process ID\",", "\"Kernel Name\","};
	if (!memmem(line, length, kernel_name, sizeof kernel_name - 1))
		return NULL;
	for (size_t i = 0; i < sizeof firsts / sizeof *firsts; i++) {
		const char *found = memmem(line, length, firsts[i], strlen(firsts[i]));
		if (found)
			return found;
	}
	return memchr(line, ',', length) ? line : NULL;
}

/* Reads lines up to the header; rows->n stays 0 where the file has none. */
static bool skip_to_header(struct ncu_rows *rows, const struct hwy_progress *progress,
			   struct hwy_err *err)
{
	struct source *source = &rows->source;
	for (;;) {
		size_t length;
		if (!read_row(rows, true, progress, &length, err))
			return false;
		const char *line = source->cursor, *header = find_header(line, length);
		if (header) {
			if (!split_row(rows, header, (size_t)(line + length - header), err))
				return false;
			rows->in_table = rows->is_header;
			rows->is_bare = *header != '"';
		}
		bool is_last = source->finished && line + length >= source->end;
		source->cursor = is_last ? source->end : line + length + 1;
		if (rows->in_table)
			return true;
		rows->n = 0;
		if (is_last)
			return true;
	}
}

bool ncu_rows_next(struct ncu_rows *rows, const struct hwy_progress *progress, struct hwy_err *err)
{
	struct source *source = &rows->source;
	rows->n = 0;
	if (!rows->in_table)
		return skip_to_header(rows, progress, err);
	for (;;) {
		while (source->cursor == source->end && !source->finished)
			if (!source_more(source, progress, err))
				return false;
		if (source->cursor == source->end)
			return true;
		char first = *source->cursor;
		bool is_plain = rows->is_bare ? first == '=' || first == '\n' || first == '\r'
					      : first != '"';
		size_t length;
		if (!read_row(rows, is_plain, progress, &length, err))
			return false;
		const char *line = source->cursor;
		bool is_empty = length == 0 || (length == 1 && *line == '\r');
		bool is_row = !is_plain && split_row(rows, line, length, err);
		if (!is_plain && !is_row)
			return false;
		rows->skipped += is_plain && !is_empty && !(length > 1 && !memcmp(line, "==", 2));
		source->cursor = line + length + (line + length < source->end);
		if (is_row)
			return true;
	}
}
