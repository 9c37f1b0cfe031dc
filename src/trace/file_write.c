/* SPDX-License-Identifier: Apache-2.0 */
/* file_write.c - a trace becomes a report: header, blocks, directory, trailer
 * (docs/report-format.md).
 *
 * Done means: the whole file is on disk under its name. Until then nothing has that name but what
 * had it before; after any failure nothing is left behind. Memory: one column's blocks and the
 * directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "trace/file_format.h"
#include "trace/pyramid.h"

struct writer {
	struct hwy_trace *trace;
	const struct hwy_progress *progress;
	const char *path;
	char *target; /* the path with symbolic links followed */
	char *temporary;
	int fd;
	int failed; /* errno of the first write that failed */
	struct codec *codec;
	/* Offset in the file of the next byte: the bytes written so far, and the bytes that are
	 * still in 'out'. */
	uint64_t place;
	struct hwy_bytes out;
	struct hwy_bytes directory;
	uint32_t n_sections;
	struct hwy_bytes body; /* the body of the section that is being written */
	uint64_t section_place;
};

/* ---- bytes to the file ----------------------------------------------------------------------- */

static void file_write_write_all(struct writer *w, const void *bytes, size_t n)
{
	const char *at = bytes;
	while (n && !w->failed) {
		ssize_t done = write(w->fd, at, n);
		if (done < 0 && errno != EINTR)
			w->failed = errno;
		if (done > 0) {
			at += done;
			n -= (size_t)done;
		}
	}
}

static void emit(struct writer *w, const void *bytes, size_t n)
{
	enum { ENOUGH = 1 << 20 };
	hwy_bytes_put(&w->out, bytes, n);
	w->place += n;
	if (w->out.n >= ENOUGH) {
		file_write_write_all(w, w->out.bytes, w->out.n);
		w->out.n = 0;
	}
}

static void put_le(uint8_t *to, uint64_t value, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		to[i] = (uint8_t)(value >> (8 * i));
}

/* ---- sections -------------------------------------------------------------------------------- */

static void begin_section(struct writer *w)
{
	w->body.n = 0;
	w->section_place = w->place;
}

static void end_section(struct writer *w, uint32_t id)
{
	hwy_bytes_put_varint(&w->directory, id);
	hwy_bytes_put_varint(&w->directory, SECTION_VERSION);
	hwy_bytes_put_varint(&w->directory, w->body.n);
	hwy_bytes_put_varint(&w->directory, w->place - w->section_place);
	hwy_bytes_put(&w->directory, w->body.bytes, w->body.n);
	w->n_sections++;
}

static unsigned width_bits(uint8_t width)
{
	return width >= 8 ? 3 : width >= 4 ? 2 : width >= 2 ? 1 : 0;
}

static void put_column(struct writer *w, uint32_t id, const struct hwy_column *column)
{
	hwy_bytes_put_varint(&w->body, id);
	for (uint32_t i = 0; i < column->n_chunks; i++) {
		const struct hwy_chunk *chunk = &column->chunks[i];
		uint32_t rows = chunk_rows(column->rows, i);
		bool in_place = rows < INLINE_ROWS;
		struct codec_block block = codec_encode(w->codec, chunk, rows, !in_place);
		if (block.coding == CODEC_CONSTANT) {
			hwy_bytes_put_byte(&w->body, 0);
			hwy_bytes_put_zigzag(&w->body, chunk->base);
			continue;
		}
		hwy_bytes_put_byte(&w->body,
				   (uint8_t)(block.coding | (in_place ? CHUNK_INLINE : 0u) |
					     width_bits(chunk->width) << CHUNK_WIDTH_SHIFT |
					     (unsigned)(block.planes - 1) << CHUNK_PLANES_SHIFT));
		hwy_bytes_put_zigzag(&w->body, chunk->base);
		if (!block.bytes) {
			w->failed = w->failed ? w->failed : ENOMEM;
		} else if (in_place) {
			hwy_bytes_put(&w->body, block.bytes, block.length);
		} else {
			hwy_bytes_put_varint(&w->body, block.length);
			emit(w, block.bytes, block.length);
		}
	}
}

/* Writes a table. A NULL in 'columns' stands for a column that the table does not have. */
static void file_write_put_table(struct writer *w, uint32_t rows, struct hwy_column *const *columns,
				 uint32_t n)
{
	uint32_t present = 0;
	for (uint32_t c = 0; c < n; c++)
		present += columns[c] != NULL;
	hwy_bytes_put_varint(&w->body, rows);
	hwy_bytes_put_varint(&w->body, present);
	for (uint32_t c = 0; c < n; c++)
		if (columns[c])
			put_column(w, c, columns[c]);
}

static void put_piece(struct writer *w, const void *bytes, size_t n)
{
	size_t stored = 0;
	const void *block = codec_compress(w->codec, CODEC_LEVEL_TEXT, bytes, n, &stored);
	if (!block) {
		w->failed = w->failed ? w->failed : ENOMEM;
		return;
	}
	hwy_bytes_put_varint(&w->body, stored);
	emit(w, block, stored);
}

static void put_blob(struct writer *w, const uint8_t *bytes, uint64_t n)
{
	hwy_bytes_put_varint(&w->body, n);
	for (uint64_t at = 0; at < n; at += BLOB_BLOCK)
		put_piece(w, bytes + at, n - at < BLOB_BLOCK ? (size_t)(n - at) : BLOB_BLOCK);
}

/* Writes all texts as one blob, piece by piece, so that memory never holds a second copy of all
 * texts. */
static void put_texts(struct writer *w, const struct hwy_strings *strings, uint64_t size)
{
	struct hwy_bytes piece = {0};
	hwy_bytes_put_varint(&w->body, size);
	for (uint32_t id = 0; id < strings->n; id++) {
		const char *at = strings->texts[id].at;
		size_t left = (size_t)strings->texts[id].length + 1;
		while (left) {
			size_t n = left < BLOB_BLOCK - piece.n ? left : BLOB_BLOCK - piece.n;
			hwy_bytes_put(&piece, at, n);
			at += n;
			left -= n;
			if (piece.n == BLOB_BLOCK) {
				put_piece(w, piece.bytes, piece.n);
				piece.n = 0;
			}
		}
	}
	if (piece.n)
		put_piece(w, piece.bytes, piece.n);
	free(piece.bytes);
}

static void write_strings(struct writer *w)
{
	const struct hwy_strings *strings = &w->trace->strings;
	struct hwy_column *lengths = hwy_zalloc(sizeof *lengths);
	uint64_t size = 0;
	for (uint32_t id = 0; id < strings->n; id++) {
		column_append(lengths, id, strings->texts[id].length);
		size += (uint64_t)strings->texts[id].length + 1;
	}
	column_finish(lengths, strings->n);
	begin_section(w);
	file_write_put_table(w, strings->n, &lengths, 1);
	put_texts(w, strings, size);
	end_section(w, SECTION_STRINGS);
	column_free(lengths);
}

/* Yields a column with the field 'field' of n records; NULL where the field is HWY_NONE in every
 * record. */
static struct hwy_column *field_column(const int64_t *records, uint32_t n, uint32_t fields,
				       uint32_t field)
{
	struct hwy_column *column = NULL;
	for (uint32_t row = 0; row < n && !column; row++)
		if (records[(size_t)row * fields + field] != HWY_NONE)
			column = hwy_zalloc(sizeof *column);
	for (uint32_t row = 0; row < n && column; row++)
		column_append(column, row, records[(size_t)row * fields + field]);
	if (column)
		column_finish(column, n);
	return column;
}

static void write_records(struct writer *w, uint32_t section, const void *records, uint32_t n,
			  size_t record_bytes)
{
	struct hwy_column *columns[MOST_FIELDS] = {0};
	uint32_t fields = (uint32_t)(record_bytes / sizeof(int64_t));
	assert(fields <= MOST_FIELDS);
	if (n == 0)
		return;
	for (uint32_t f = 0; f < fields; f++)
		columns[f] = field_column(records, n, fields, f);
	begin_section(w);
	file_write_put_table(w, n, columns, fields);
	end_section(w, section);
	for (uint32_t f = 0; f < fields; f++)
		column_free(columns[f]);
}

static void write_strip(struct writer *w, const struct hwy_strip *strip)
{
	begin_section(w);
	hwy_bytes_put_varint(&w->body, strip->lane);
	hwy_bytes_put_varint(&w->body, strip->kind);
	file_write_put_table(w, strip->rows, strip->columns, HWY_COLS);
	end_section(w, SECTION_STRIP);
}

static void write_pyramid(struct writer *w, uint32_t lane)
{
	struct hwy_pyramid *pyramid = pyramid_build(w->trace, lane);
	for (uint32_t i = 0; pyramid && i < pyramid->n_levels; i++) {
		const struct file_level *level = &pyramid->levels[i];
		begin_section(w);
		hwy_bytes_put_varint(&w->body, lane);
		hwy_bytes_put_varint(&w->body, level->level);
		file_write_put_table(w, level->rows, level->columns, PYRAMID_COLUMNS);
		end_section(w, SECTION_PYRAMID);
	}
	pyramid_free(pyramid);
}

static bool write_results(struct writer *w, struct hwy_err *err)
{
	for (uint32_t i = 0; i < w->trace->n_results; i++) {
		const void *bytes = hwy_result_bytes(w->trace, i, err);
		if (!bytes)
			return false;
		begin_section(w);
		hwy_bytes_put_varint(&w->body, i);
		put_blob(w, bytes, (uint64_t)w->trace->results[i].bytes);
		end_section(w, SECTION_RESULT);
	}
	return true;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void fill_header(uint8_t header[FORMAT_HEADER], uint64_t size)
{
	memcpy(header, FORMAT_MAGIC, 8); /* NOLINT(bugprone-not-null-terminated-result) */
	put_le(header + 8, FORMAT_MAJOR, 2);
	put_le(header + 10, FORMAT_MINOR, 2);
	put_le(header + 12, 0, 4); /* no features that a reader must know */
	put_le(header + 16, size, 8);
}

static void write_directory(struct writer *w)
{
	struct hwy_bytes whole = {0};
	hwy_bytes_put_zigzag(&whole, w->trace->wall);
	hwy_bytes_put_varint(&whole, w->n_sections);
	hwy_bytes_put(&whole, w->directory.bytes, w->directory.n);
	size_t stored = 0;
	const void *block = codec_compress(w->codec, CODEC_LEVEL, whole.bytes, whole.n, &stored);
	if (block) {
		uint8_t trailer[FORMAT_TRAILER];
		put_le(trailer, w->place, 8);
		put_le(trailer + 8, stored, 8);
		put_le(trailer + 16, whole.n, 8);
		/* NOLINTNEXTLINE(bugprone-not-null-terminated-result) */
		memcpy(trailer + 24, FORMAT_END, 8);
		emit(w, block, stored);
		emit(w, trailer, sizeof trailer);
	} else {
		w->failed = w->failed ? w->failed : ENOMEM;
	}
	free(whole.bytes);
}

static bool write_strips(struct writer *w, struct hwy_err *err)
{
	struct hwy_trace *trace = w->trace;
	for (uint32_t s = 0; s < trace->n_strips && !w->failed; s++) {
		hwy_tell(w->progress, "writing", trace->strips[s].first, trace->n_spans);
		for (unsigned c = 0; c < HWY_COLS; c++) {
			struct hwy_err why;
			if (trace->strips[s].columns[c] &&
			    !check_column(trace, &trace->strips[s], c, &why))
				return hwy_fail(err, "%s: cannot write: %s", w->path, why.text);
		}
		if (trace->strips[s].rows)
			write_strip(w, &trace->strips[s]);
	}
	for (uint32_t lane = 0; lane < trace->n_lanes && !w->failed; lane++)
		write_pyramid(w, lane);
	return true;
}

static bool write_content(struct writer *w, struct hwy_err *err)
{
	struct hwy_err why;
	if (!check_records(w->trace, &why))
		return hwy_fail(err, "%s: cannot write: %s", w->path, why.text);
	uint8_t header[FORMAT_HEADER];
	fill_header(header, 0);
	emit(w, header, sizeof header);
	write_strings(w);
#define X(type, field, section)                                                                    \
	write_records(w, section, w->trace->field, w->trace->n_##field, sizeof(struct type));
	HWY_RECORDS(X)
#undef X
	if (!write_strips(w, err) || !write_results(w, err))
		return false;
	write_directory(w);
	file_write_write_all(w, w->out.bytes, w->out.n);
	/* The header gets the size of the file last, so that a reader sees when a file was cut
	 * short. */
	fill_header(header, w->place);
	if (!w->failed && lseek(w->fd, 0, SEEK_SET) != 0)
		w->failed = errno;
	file_write_write_all(w, header, sizeof header);
	if (!w->failed && fsync(w->fd) != 0)
		w->failed = errno;
	if (w->failed)
		return hwy_fail(err, "%s: cannot write: %s", w->path, hwy_strerror(w->failed));
	hwy_tell(w->progress, "writing", w->trace->n_spans, w->trace->n_spans);
	return true;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Refuses targets that rename must not replace, such as a device or an existing file, before
 * anything is written. */
static bool check_target(struct writer *w, bool overwrite, struct hwy_err *err)
{
	struct stat status;
	/* Where the path is a symbolic link, the link stays and the file behind it is replaced. */
	w->target = realpath(w->path, NULL);
	if (!w->target)
		w->target = hwy_copy(w->path, strlen(w->path) + 1);
	if (stat(w->target, &status) != 0)
		return true; /* open_temporary reports the error, if there is one */
	if (S_ISDIR(status.st_mode))
		return hwy_fail(err, "%s: cannot write: is a directory", w->path);
	if (!S_ISREG(status.st_mode))
		return hwy_fail(err, "%s: cannot write: is not a regular file", w->path);
	if (!overwrite)
		return hwy_fail(err, "%s: exists already and is kept", w->path);
	return true;
}

static bool open_temporary(struct writer *w, struct hwy_err *err)
{
	const char *name = hwy_basename(w->target);
	int folder = (int)(name - w->target);
	size_t size = strlen(w->target) + 64;
	w->temporary = hwy_alloc(size);
	int why = 0;
	for (unsigned attempt = 0; attempt < 100; attempt++) {
		/* The target's name may have the greatest length of a file name, so the temporary
		 * name uses only 200 bytes of it. */
		snprintf(w->temporary, size, "%.*s.%.200s.tmp.%ld", folder, w->target, name,
			 (long)getpid() + (long)attempt * 10000000);
		/* The name is announced before the file exists: a signal handler that runs in
		 * between finds nothing to remove. Only this process uses the name. */
		hwy_temporary(w->progress, w->temporary, true);
		w->fd = open(w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (w->fd >= 0)
			return true;
		why = errno;
		hwy_temporary(w->progress, w->temporary, false);
		if (why != EEXIST)
			break;
	}
	free(w->temporary);
	w->temporary = NULL;
	return hwy_fail(err, "%s: cannot write: %s", w->path, hwy_strerror(why));
}

static void forget_temporary(struct writer *w)
{
	hwy_temporary(w->progress, w->temporary, false);
	free(w->temporary);
	w->temporary = NULL;
}

static bool give_name(struct writer *w, bool overwrite, struct hwy_err *err)
{
	int failed;
	assert(w->temporary);
	if (overwrite) {
		failed = rename(w->temporary, w->target);
	} else {
		failed = renameat2(AT_FDCWD, w->temporary, AT_FDCWD, w->target, RENAME_NOREPLACE);
		/* Some file systems do not support a rename that refuses to replace a file. */
		if (failed && (errno == EINVAL || errno == ENOSYS)) {
			failed = link(w->temporary, w->target);
			if (!failed)
				unlink(w->temporary);
		}
	}
	if (failed && errno == EEXIST)
		return hwy_fail(err, "%s: exists already and is kept", w->path);
	if (failed)
		return hwy_fail(err, "%s: cannot write: %s", w->path, hwy_strerror(errno));
	forget_temporary(w);
	return true;
}

bool hwy_file_write(struct hwy_trace *trace, const char *path, bool overwrite,
		    const struct hwy_progress *progress, struct hwy_err *err)
{
	struct writer w = {
		.trace = trace,
		.progress = progress,
		.path = path,
		.fd = -1,
		.codec = codec_new(),
	};
	bool ok = check_target(&w, overwrite, err) && hwy_file_load_all(trace, err) &&
		  open_temporary(&w, err) && write_content(&w, err);
	if (w.fd >= 0 && close(w.fd) != 0 && ok)
		ok = hwy_fail(err, "%s: cannot write: %s", path, hwy_strerror(errno));
	ok = ok && give_name(&w, overwrite, err);
	if (w.temporary) {
		unlink(w.temporary);
		forget_temporary(&w);
	}
	free(w.target);
	free(w.out.bytes);
	free(w.directory.bytes);
	free(w.body.bytes);
	codec_free(w.codec);
	return ok;
}
