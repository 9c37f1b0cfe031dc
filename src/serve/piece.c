/* SPDX-License-Identifier: Apache-2.0 */
/* piece.c - see piece.h. */
#include "serve/piece.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "export/export.h"
#include "trace/file.h"

const char *const piece_types[PIECE_TYPES + 1] = {"hwy", "perfetto", NULL};

bool piece_count(const char *report, const struct hwy_append_part *part, uint64_t *spans,
		 struct hwy_err *err)
{
	struct hwy_trace *trace = hwy_file_open(report, err);
	bool ok = trace && hwy_append_count(trace, part, spans, err);
	hwy_trace_free(trace);
	return ok;
}

/* Yields the part as a trace of its own; its times stay as they are. */
static struct hwy_trace *piece_cut(const char *report, const struct hwy_append_part *part,
				   struct hwy_err *err)
{
	uint64_t n = 0;
	struct hwy_trace *trace = hwy_file_open(report, err), *piece = NULL;
	if (!trace)
		return NULL;
	bool ok = hwy_append_count(trace, part, &n, err);
	if (ok && n == 0)
		ok = hwy_fail(err, "nothing was recorded there");
	if (ok && n > PIECE_SPANS)
		ok = hwy_fail(
			err,
			"%s spans are there, and at most %s are saved from the page: choose a shorter time, or use headway export --from --to",
			hwy_say_count_grouped(n).text, hwy_say_count_grouped(PIECE_SPANS).text);
	if (ok) {
		struct hwy_builder *builder = hwy_builder_new();
		const struct hwy_append how = {.rank = HWY_NONE, .part = part};
		ok = hwy_append(builder, trace, &how, err);
		if (ok)
			piece = hwy_builder_finish(builder, false);
		else
			hwy_builder_free(builder);
	}
	hwy_trace_free(trace);
	return piece;
}

/* Reads a file from its begin on and closes it. */
static bool piece_read(FILE *in, struct hwy_bytes *out, struct hwy_err *err)
{
	size_t got = 0;
	enum { PART = 1 << 16 };
	if (!in)
		return hwy_fail(err, "cannot read what was written: %s", hwy_strerror(errno));
	rewind(in);
	do {
		got = fread(hwy_bytes_reserve(out, PART), 1, PART, in);
		out->n += got;
	} while (got > 0);
	bool ok = !ferror(in);
	fclose(in);
	return ok || hwy_fail(err, "cannot read what was written");
}

/* Writes a report to a file in a private folder, reads it and removes both: a report cannot be
 * written to memory. */
static bool put_report(struct hwy_trace *piece, struct hwy_bytes *out, struct hwy_err *err)
{
	const char *temporary = getenv("TMPDIR");
	char folder[PATH_MAX - 16], path[PATH_MAX];
	snprintf(folder, sizeof folder, "%s/headway-piece-XXXXXX",
		 temporary && *temporary ? temporary : "/tmp");
	if (!mkdtemp(folder))
		return hwy_fail(err, "no folder for the piece: %s", hwy_strerror(errno));
	snprintf(path, sizeof path, "%s/piece.hwy", folder);
	bool ok = hwy_file_write(piece, path, true, NULL, err) &&
		  piece_read(fopen(path, "re"), out, err);
	unlink(path);
	rmdir(folder);
	return ok;
}

static bool put_perfetto(struct hwy_trace *piece, struct hwy_bytes *out, struct hwy_err *err)
{
	const struct export_type *type = export_types;
	while (strcmp(type->name, "perfetto") != 0)
		type++;
	const struct export_options options = {.target = "the piece",
					       .from = INT64_MIN,
					       .to = INT64_MAX,
					       .kinds = UINT32_MAX,
					       .plain = true,
					       .rank = HWY_NONE};
	struct export_result result = {0};
	FILE *file = tmpfile(); /* it has no name */
	if (!file)
		return hwy_fail(err, "no file for the piece: %s", hwy_strerror(errno));
	if (type->stream(piece, file, false, &options, NULL, &result, err))
		return piece_read(file, out, err);
	fclose(file);
	return false;
}

bool piece_make(const char *report, const struct hwy_append_part *part, enum piece_type type,
		struct hwy_bytes *out, struct hwy_err *err)
{
	struct hwy_trace *piece = piece_cut(report, part, err);
	if (!piece)
		return false;
	bool ok =
		type == PIECE_REPORT ? put_report(piece, out, err) : put_perfetto(piece, out, err);
	hwy_trace_free(piece);
	return ok;
}
