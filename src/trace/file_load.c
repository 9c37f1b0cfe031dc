/* SPDX-License-Identifier: Apache-2.0 */
/* file_load.c - brings blocks of an open report into memory: chunks of columns, and plain bytes.
 *
 * The file is read, not mapped: a report that shrinks while it is open is then an error line
 * instead of a SIGBUS, and a block is copied once from the page cache, which costs little beside
 * its decompression. What was loaded has been checked; what failed its check is not loaded.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "trace/columns.h"
#include "trace/file_format.h"

bool file_read_at(struct hwy_file *file, void *to, size_t n, uint64_t place, const char **reason)
{
	char *at = to;
	while (n) {
		ssize_t got = pread(file->fd, at, n, (off_t)place);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			*reason = got < 0 ? hwy_strerror(errno) : "the file has become shorter";
			return false;
		}
		at += got;
		n -= (size_t)got;
		place += (uint64_t)got;
	}
	return true;
}

static bool load_chunk(struct hwy_file *file, struct hwy_chunk *chunk, uint32_t rows,
		       const char **reason)
{
	if (chunk->stored == 0) { /* the chunk failed its check (file_accept_chunk) */
		*reason = "value out of range";
		return false;
	}
	void *block = codec_room(file->codec, chunk->stored);
	uint8_t *planes = codec_planes(file->codec);
	if (!file_read_at(file, block, chunk->stored, chunk->place, reason))
		return false;
	*reason = codec_decompress(file->codec, block, chunk->stored, planes,
				   (size_t)rows * chunk->planes);
	if (*reason)
		return false;
	*reason = "value out of range";
	return codec_decode(file->codec, chunk, rows, planes);
}

bool file_load_chunks(struct hwy_file *file, struct hwy_column *column, uint64_t *place,
		      const char **reason)
{
	for (uint32_t i = 0; i < column->n_chunks; i++) {
		struct hwy_chunk *chunk = &column->chunks[i];
		*place = chunk->place;
		if (!chunk->loaded && !load_chunk(file, chunk, chunk_rows(column->rows, i), reason))
			return false;
	}
	return true;
}

/* ---- spans of unknown kinds, which are left out ---------------------------------------------- */

bool file_renumber(const struct hwy_file *file, int64_t *id)
{
	uint64_t shift = 0;
	for (uint32_t i = 0; i < file->n_skips && (uint64_t)*id >= file->skips[i].first; i++) {
		if ((uint64_t)*id - file->skips[i].first < file->skips[i].rows)
			return false;
		shift += file->skips[i].rows;
	}
	*id -= (int64_t)shift;
	return true;
}

/* Renumbers a stored link, that is, a reference to a span. */
static int64_t file_renumber_link(const struct hwy_file *file, int64_t link)
{
	if (!hwy_ref_is_set(link))
		return link;
	int64_t id = hwy_ref_index(link);
	return file_renumber(file, &id) ? hwy_ref(id) : HWY_REF_NONE;
}

static void renumber_links(const struct hwy_file *file, struct hwy_chunk *chunk, uint32_t rows)
{
	struct hwy_column before = {.chunks = chunk}, after = {0};
	for (uint32_t row = 0; row < rows; row++) {
		column_append(&after, row, file_renumber_link(file, column_get(&before, row)));
	}
	column_finish(&after, rows);
	free(chunk->data);
	chunk->base = after.chunks[0].base;
	chunk->width = after.chunks[0].width;
	chunk->data = after.chunks[0].data;
	free(after.chunks);
}

/* ---- chunks of spans ------------------------------------------------------------------------- */

bool file_accept_chunk(struct hwy_file *file, struct hwy_column *column, uint32_t at,
		       struct hwy_err *err)
{
	struct hwy_chunk *chunk = &column->chunks[at];
	struct hwy_err why;
	if (column->id == HWY_LINK && file->n_skips)
		renumber_links(file, chunk, chunk_rows(column->rows, at));
	if (check_chunk(file->trace, &file->trace->strips[column->strip], column->id, at, &why))
		return true;
	/* The chunk is marked as bad, so that every later request for it fails too. */
	free(chunk->data);
	chunk->data = NULL;
	chunk->loaded = 0;
	chunk->stored = 0;
	return hwy_fail(err, "%s: %s", file->path, why.text);
}

bool file_load_chunk(struct hwy_file *file, struct hwy_column *column, uint32_t at,
		     struct hwy_err *err)
{
	struct hwy_chunk *chunk = &column->chunks[at];
	if (chunk->loaded)
		return true;
	const struct hwy_strip *strip = &file->trace->strips[column->strip];
	const char *reason = NULL;
	if (!load_chunk(file, chunk, chunk_rows(column->rows, at), &reason))
		return hwy_fail(err,
				"%s: block of column '%s' of lane %" PRIu32
				" (%s) at offset %" PRIu64 " is damaged (%s)",
				file->path, hwy_columns[column->id].name, strip->lane,
				hwy_kind_names[strip->kind], chunk->place, reason);
	return file_accept_chunk(file, column, at, err);
}

bool file_peek(struct hwy_file *file, const struct hwy_column *column, uint32_t at,
	       struct hwy_chunk *copy, struct hwy_err *err)
{
	const char *reason;
	return load_chunk(file, copy, chunk_rows(column->rows, at), &reason) ||
	       hwy_fail(err, "%s: block of column '%s' at offset %" PRIu64 " is damaged (%s)",
			file->path, hwy_columns[column->id].name, copy->place, reason);
}

bool file_accept_value(struct hwy_file *file, const struct hwy_column *column, int64_t *value,
		       struct hwy_err *err)
{
	if (column->id == HWY_LINK)
		*value = file_renumber_link(file, *value);
	struct hwy_err why;
	return check_value(file->trace, &file->trace->strips[column->strip], column->id, *value,
			   &why) ||
	       hwy_fail(err, "%s: %s", file->path, why.text);
}

bool file_load_blob(struct hwy_file *file, const struct file_blob *blob, void *to, uint64_t *place,
		    const char **reason)
{
	char *at = to;
	*place = blob->place;
	for (uint32_t i = 0; i < blob->n_blocks; i++) {
		uint64_t left = blob->bytes - (uint64_t)i * BLOB_BLOCK;
		size_t length = left < BLOB_BLOCK ? (size_t)left : BLOB_BLOCK;
		void *block = codec_room(file->codec, blob->stored[i]);
		if (!file_read_at(file, block, blob->stored[i], *place, reason))
			return false;
		*reason = codec_decompress(file->codec, block, blob->stored[i], at, length);
		if (*reason)
			return false;
		at += length;
		*place += blob->stored[i];
	}
	return true;
}

const void *hwy_result_bytes(struct hwy_trace *trace, uint32_t result, struct hwy_err *err)
{
	if (result >= trace->n_results) {
		hwy_fail(err, "there is no result %" PRIu32, result);
		return NULL;
	}
	if (!trace->result_bytes)
		trace->result_bytes = hwy_zarray(trace->n_results, sizeof *trace->result_bytes);
	void **slot = &trace->result_bytes[result];
	struct hwy_file *file = trace->file;
	if (*slot)
		return *slot;
	if (!file || result >= file->n_results) {
		hwy_fail(err, "result %" PRIu32 " has no bytes", result);
		return NULL;
	}
	const struct file_blob *blob = &file->results[result];
	void *bytes = hwy_array(blob->bytes, 1);
	uint64_t place;
	const char *reason;
	if (file_load_blob(file, blob, bytes, &place, &reason))
		return *slot = bytes;
	free(bytes);
	hwy_fail(err, "%s: block of result %" PRIu32 " at offset %" PRIu64 " is damaged (%s)",
		 file->path, result, place, reason);
	return NULL;
}

bool file_load_level(struct hwy_file *file, struct file_level *level, struct hwy_err *err)
{
	for (unsigned c = 0; c < PYRAMID_COLUMNS; c++) {
		uint64_t place;
		const char *reason;
		if (level->columns[c] &&
		    !file_load_chunks(file, level->columns[c], &place, &reason))
			return hwy_fail(err,
					"%s: block of the pyramid of lane %" PRIu32
					" at offset %" PRIu64 " is damaged (%s)",
					file->path, level->lane, place, reason);
	}
	return true;
}

bool hwy_file_load_all(struct hwy_trace *trace, struct hwy_err *err)
{
	if (!hwy_need(trace, UINT32_MAX, UINT64_MAX, err))
		return false;
	for (uint32_t i = 0; trace->file && i < trace->file->n_levels; i++)
		if (!file_load_level(trace->file, &trace->file->levels[i], err))
			return false;
	for (uint32_t i = 0; i < trace->n_results; i++)
		if (!hwy_result_bytes(trace, i, err))
			return false;
	return true;
}
