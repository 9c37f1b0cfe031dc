/* SPDX-License-Identifier: Apache-2.0 */
/* file_read.c - opens a report: header, trailer, directory, texts and records; columns stay in the
 * file.
 *
 * Nothing in the file is believed. Every offset and size is held against the file's size before it
 * is used, and what opening allocates is held against a budget that grows with the file, so that a
 * few bytes cannot ask for all memory. An open trace's records and whatever was loaded have passed
 * file_check.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lang.h"
#include "trace/file_format.h"
#include "trace/privacy.h"

enum {
	BUDGET_FLOOR = 64 << 20, /* bytes that opening any report may allocate */
	BUDGET_RATIO = 1000,     /* bytes that opening may allocate for each byte of the file */
	BUDGET_SPAN = 8,         /* bytes of the budget that each span takes at least */
};

struct opening {
	struct hwy_file *file;
	struct hwy_trace *trace;
	struct hwy_err *err;
	/* The section that is being read. */
	struct hwy_bytes_reader body;
	/* Offset of the first block that no column has yet, and the offset at which the blocks
	 * end. */
	uint64_t place, end;
	uint64_t section_start;
	uint32_t section_id;
	/* What was read so far. */
	uint64_t seen;    /* bit i is set where section i, which may come only once, was read */
	uint64_t n_spans; /* number of spans, also of unknown kinds */
	uint32_t last_lane, last_kind;
	bool any_strip;
};

static bool damaged(struct opening *o, const char *reason)
{
	return hwy_fail(o->err,
			"%s: directory is damaged (section %" PRIu32 ", blocks at offset %" PRIu64
			": %s)",
			o->file->path, o->section_id, o->section_start, reason);
}

static bool spend(struct opening *o, uint64_t bytes)
{
	if (bytes > o->file->budget)
		return hwy_fail(o->err,
				"%s: damaged: it claims more than a file of %" PRIu64
				" bytes can hold",
				o->file->path, o->file->size);
	o->file->budget -= bytes;
	return true;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static bool file_read_read_chunk(struct opening *o, struct hwy_chunk *chunk, uint32_t rows)
{
	uint8_t head = hwy_bytes_read_byte(&o->body);
	chunk->base = hwy_bytes_read_zigzag(&o->body);
	chunk->coding = head & CHUNK_CODING;
	if (chunk->coding == CODEC_CONSTANT) {
		chunk->loaded = 1;
		return head == 0 || damaged(o, "chunk");
	}
	chunk->planes = (uint8_t)((head >> CHUNK_PLANES_SHIFT) + 1);
	chunk->width = (uint8_t)(1u << (head >> CHUNK_WIDTH_SHIFT & 3));
	if (head & CHUNK_INLINE) {
		const uint8_t *planes = hwy_bytes_take(&o->body, (uint64_t)rows * chunk->planes);
		if (!spend(o, (uint64_t)rows * chunk->width))
			return false;
		return planes && codec_decode(o->file->codec, chunk, rows, planes)
			       ? true
			       : damaged(o, "chunk");
	}
	chunk->stored = (uint32_t)hwy_bytes_read_count(&o->body, UINT32_MAX);
	/* Our writer writes no block that is larger than its planes plus the frame that zstd
	 * adds. */
	if (chunk->stored == 0 || chunk->stored > o->end - o->place ||
	    chunk->stored > (uint64_t)rows * chunk->planes + 1024)
		return damaged(o, "block size");
	chunk->place = o->place;
	o->place += chunk->stored;
	return true;
}

/* Reads the description of one column. Yields NULL on failure. */
static struct hwy_column *read_column(struct opening *o, uint32_t rows)
{
	uint32_t n = chunks_of(rows);
	/* A chunk takes at least two bytes of the directory, so a larger number of chunks is
	 * refused before allocating. */
	if (n > (uint64_t)(o->body.end - o->body.next) / 2) {
		damaged(o, "rows");
		return NULL;
	}
	if (!spend(o, sizeof(struct hwy_column) + n * sizeof(struct hwy_chunk)))
		return NULL;
	struct hwy_column *column = hwy_zalloc(sizeof *column);
	column->rows = rows;
	column->chunks = hwy_zarray(n, sizeof *column->chunks);
	column->n_chunks = column->cap_chunks = n;
	for (uint32_t i = 0; i < n; i++)
		if (!file_read_read_chunk(o, &column->chunks[i], chunk_rows(rows, i))) {
			column_free(column);
			return NULL;
		}
	return column;
}

/* Reads a table. Columns with numbers from 'known' on were added by a newer version and are
 * skipped. The caller frees 'columns' on failure too. */
static bool file_read_read_table(struct opening *o, uint32_t *rows, struct hwy_column **columns,
				 uint32_t known)
{
	*rows = (uint32_t)hwy_bytes_read_count(&o->body, INT32_MAX);
	uint64_t n = hwy_bytes_read_varint(&o->body);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t id = hwy_bytes_read_varint(&o->body);
		struct hwy_column *column = o->body.is_bad ? NULL : read_column(o, *rows);
		if (!column)
			return o->body.is_bad ? damaged(o, "ends early") : false;
		if (id < known && columns[id]) {
			column_free(column);
			return damaged(o, "a column twice");
		}
		if (id < known)
			columns[id] = column;
		else
			column_free(column);
	}
	return !o->body.is_bad || damaged(o, "ends early");
}

static bool read_blob(struct opening *o, struct file_blob *blob)
{
	blob->bytes = hwy_bytes_read_varint(&o->body);
	blob->place = o->place;
	uint64_t n = blob->bytes / BLOB_BLOCK + (blob->bytes % BLOB_BLOCK != 0);
	if (o->body.is_bad || n > (uint64_t)(o->body.end - o->body.next))
		return damaged(o, "ends early");
	if (!spend(o, blob->bytes + n * sizeof *blob->stored))
		return false;
	blob->stored = hwy_zarray(n, sizeof *blob->stored);
	for (; blob->n_blocks < n; blob->n_blocks++) {
		uint64_t stored = hwy_bytes_read_count(&o->body, (uint64_t)2 * BLOB_BLOCK);
		if (stored == 0 || stored > o->end - o->place)
			return damaged(o, "block size");
		blob->stored[blob->n_blocks] = (uint32_t)stored;
		o->place += stored;
	}
	return true;
}

static bool load_now(struct opening *o, struct hwy_column *column, const char *what,
		     uint32_t number)
{
	uint64_t place;
	const char *reason;
	return file_load_chunks(o->file, column, &place, &reason) ||
	       hwy_fail(o->err, "%s: block of %s %" PRIu32 " at offset %" PRIu64 " is damaged (%s)",
			o->file->path, what, number, place, reason);
}

/* ---- sections -------------------------------------------------------------------------------- */

static bool fill_records(struct opening *o, struct hwy_column *const *columns, uint32_t rows,
			 uint32_t fields, int64_t **records)
{
	if (!spend(o, (uint64_t)rows * fields * sizeof(int64_t)))
		return false;
	int64_t *values = *records = hwy_array((size_t)rows * fields, sizeof *values);
	for (uint32_t f = 0; f < fields; f++) {
		if (columns[f] && !load_now(o, columns[f], "a table: section", o->section_id))
			return false;
		for (uint32_t row = 0; row < rows; row++)
			values[(size_t)row * fields + f] =
				columns[f] ? column_get(columns[f], row) : HWY_NONE;
	}
	return true;
}

/* Reads a table of records. Yields NULL and sets *ok to false on failure. */
static void *read_records(struct opening *o, size_t record_bytes, uint32_t *n, uint32_t *cap,
			  bool *ok)
{
	struct hwy_column *columns[MOST_FIELDS] = {0};
	uint32_t fields = (uint32_t)(record_bytes / sizeof(int64_t)), rows = 0;
	int64_t *records = NULL;
	assert(fields <= MOST_FIELDS);
	*ok = file_read_read_table(o, &rows, columns, fields) &&
	      fill_records(o, columns, rows, fields, &records);
	for (uint32_t f = 0; f < fields; f++)
		column_free(columns[f]);
	*n = *cap = *ok ? rows : 0;
	return records;
}

static bool place_texts(struct opening *o, const struct hwy_column *lengths, const char *bytes,
			uint64_t n_bytes)
{
	struct hwy_strings *strings = &o->trace->strings;
	for (uint32_t id = 0; id < lengths->rows; id++) {
		int64_t length = column_get(lengths, id);
		if (length < 0 || (uint64_t)length >= n_bytes || length > UINT32_MAX ||
		    bytes[length] != 0)
			return damaged(o, "texts");
		strings->texts[id] = (struct hwy_text){.at = bytes, .length = (uint32_t)length};
		bytes += length + 1;
		n_bytes -= (uint64_t)length + 1;
	}
	return strings->texts[0].length == 0 || damaged(o, "texts");
}

static bool read_texts(struct opening *o, struct hwy_column **lengths, struct file_blob *blob)
{
	struct hwy_strings *strings = &o->trace->strings;
	uint32_t rows;
	if (!file_read_read_table(o, &rows, lengths, 1) || !read_blob(o, blob))
		return false;
	if (rows == 0 || !*lengths)
		return damaged(o, "texts");
	if (!spend(o, (uint64_t)rows * sizeof *strings->texts) ||
	    !load_now(o, *lengths, "texts: column", 0))
		return false;
	hwy_strings_free(strings);
	strings->texts = hwy_zarray(rows, sizeof *strings->texts);
	char *bytes = hwy_arena_alloc(&strings->arena, blob->bytes);
	uint64_t place;
	const char *reason;
	if (!file_load_blob(o->file, blob, bytes, &place, &reason))
		return hwy_fail(o->err, "%s: block of texts at offset %" PRIu64 " is damaged (%s)",
				o->file->path, place, reason);
	strings->n = strings->cap = rows;
	return place_texts(o, *lengths, bytes, blob->bytes);
}

static bool read_strings(struct opening *o)
{
	struct hwy_column *lengths = NULL;
	struct file_blob blob = {0};
	bool ok = read_texts(o, &lengths, &blob);
	column_free(lengths);
	free(blob.stored);
	return ok;
}

static bool read_strip(struct opening *o)
{
	struct hwy_trace *trace = o->trace;
	struct hwy_strip strip = {
		.lane = (uint32_t)hwy_bytes_read_count(&o->body, UINT32_MAX),
		.kind = (uint32_t)hwy_bytes_read_count(&o->body, UINT32_MAX),
	};
	if (o->any_strip && (strip.lane < o->last_lane ||
			     (strip.lane == o->last_lane && strip.kind <= o->last_kind)))
		return damaged(o, "strips out of order");
	o->any_strip = true;
	o->last_lane = strip.lane;
	o->last_kind = strip.kind;
	if (strip.kind >= HWY_KINDS) {
		struct hwy_file *file = o->file;
		HWY_GROW(file->skips, file->n_skips, file->cap_skips);
		uint64_t rows = hwy_bytes_read_count(&o->body, INT32_MAX);
		file->skips[file->n_skips++] =
			(struct file_skip){.first = o->n_spans, .rows = rows};
		o->n_spans += rows;
		return !o->body.is_bad || damaged(o, "ends early");
	}
	if (!spend(o, 2 * sizeof strip)) /* twice, because the array of strips grows by doubling */
		return false;
	HWY_GROW(trace->strips, trace->n_strips, trace->cap_strips);
	strip.first = trace->n_spans;
	bool ok = file_read_read_table(o, &strip.rows, strip.columns, HWY_COLS);
	for (unsigned c = 0; c < HWY_COLS; c++)
		if (strip.columns[c]) {
			strip.columns[c]->strip = trace->n_strips;
			strip.columns[c]->id = c;
		}
	trace->strips[trace->n_strips++] = strip;
	o->n_spans += strip.rows;
	if (ok && (strip.rows == 0 || o->n_spans >= UINT32_MAX))
		ok = damaged(o, "rows");
	/* Constant or absent columns take no memory, but reading their spans takes time, so each
	 * span costs budget. */
	ok = ok && spend(o, (uint64_t)strip.rows * BUDGET_SPAN);
	trace->n_spans += ok ? strip.rows : 0;
	return ok;
}

static bool read_level(struct opening *o)
{
	struct hwy_file *file = o->file;
	struct file_level level = {
		.lane = (uint32_t)hwy_bytes_read_count(&o->body, UINT32_MAX),
		.level = (uint32_t)hwy_bytes_read_count(&o->body, 61),
	};
	if (!spend(o, 2 * sizeof level))
		return false;
	bool ok = file_read_read_table(o, &level.rows, level.columns, PYRAMID_COLUMNS);
	HWY_GROW(file->levels, file->n_levels, file->cap_levels);
	file->levels[file->n_levels++] = level;
	return ok;
}

static bool read_result(struct opening *o)
{
	struct hwy_file *file = o->file;
	uint64_t index = hwy_bytes_read_varint(&o->body);
	/* Results must come in the order of their indexes, so that the array has no holes. */
	if (index != file->n_results)
		return damaged(o, "results out of order");
	if (!spend(o, sizeof *file->results))
		return false;
	file->results = hwy_resize(file->results, file->n_results + 1u, sizeof *file->results);
	struct file_blob *blob = &file->results[file->n_results++];
	*blob = (struct file_blob){0};
	return read_blob(o, blob);
}

static bool read_section(struct opening *o, uint64_t id, uint64_t version)
{
	bool ok = true;
	if (version != SECTION_VERSION)
		return true; /* docs/report-format.md: readers skip sections of a newer version */
	if (id <= SECTION_STRINGS) {
		if (o->seen & UINT64_C(1) << id)
			return damaged(o, "a table twice");
		o->seen |= UINT64_C(1) << id;
	}
	switch (id) {
#define X(type, field, section)                                                                    \
	case section:                                                                              \
		o->trace->field = read_records(o, sizeof(struct type), &o->trace->n_##field,       \
					       &o->trace->cap_##field, &ok);                       \
		return ok;
		HWY_RECORDS(X)
#undef X
	case SECTION_STRINGS: return read_strings(o);
	case SECTION_STRIP: return read_strip(o);
	case SECTION_PYRAMID: return read_level(o);
	case SECTION_RESULT: return read_result(o);
	default: return true;
	}
}

static bool read_sections(struct opening *o, struct hwy_bytes_reader *directory,
			  uint64_t blocks_end)
{
	o->trace->wall = hwy_bytes_read_zigzag(directory);
	uint64_t n = hwy_bytes_read_varint(directory), place = FORMAT_HEADER;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t id = hwy_bytes_read_varint(directory),
			 version = hwy_bytes_read_varint(directory);
		uint64_t length = hwy_bytes_read_varint(directory),
			 stored = hwy_bytes_read_varint(directory);
		const uint8_t *body = hwy_bytes_take(directory, length);
		o->section_id = (uint32_t)id;
		o->section_start = place;
		if (directory->is_bad || stored > blocks_end - place)
			return damaged(o, "ends early");
		o->body = hwy_bytes_reader(body, length);
		o->place = place;
		o->end = place += stored;
		if (!read_section(o, id, version))
			return false;
	}
	o->section_id = 0;
	if (directory->is_bad || directory->next != directory->end || place != blocks_end)
		return damaged(o, "its sections do not add up");
	return true;
}

/* ---- what is only known when all sections are read ------------------------------------------- */

static void renumber_edges(struct opening *o)
{
	struct hwy_trace *trace = o->trace;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < trace->n_edges; i++) {
		struct hwy_edge edge = trace->edges[i];
		if (edge.from >= 0 && edge.to >= 0 && file_renumber(o->file, &edge.from) &&
		    file_renumber(o->file, &edge.to))
			trace->edges[kept++] = edge;
	}
	trace->n_edges = kept;
	for (uint32_t i = 0; i < trace->n_messages; i++) {
		struct hwy_message *m = &trace->messages[i];
		int64_t *const spans[] = {&m->span, &m->asked, &m->done};
		for (size_t k = 0; k < sizeof spans / sizeof *spans; k++)
			if (*spans[k] < 0 || !file_renumber(o->file, spans[k]))
				*spans[k] = HWY_NONE;
	}
}

static void free_levels(struct hwy_file *file)
{
	for (uint32_t i = 0; i < file->n_levels; i++) {
		for (unsigned c = 0; c < PYRAMID_COLUMNS; c++)
			column_free(file->levels[i].columns[c]);
		free(file->levels[i].reach);
	}
	file->n_levels = 0;
}

/* Checks the chunks that stand in the directory; chunks in blocks are checked when they are
 * loaded. */
static bool check_strips(struct opening *o)
{
	struct hwy_trace *trace = o->trace;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		if (trace->strips[s].lane >= trace->n_lanes)
			return hwy_fail(o->err,
					"%s: spans on lane %" PRIu32 ", but there are %" PRIu32
					" lanes",
					o->file->path, trace->strips[s].lane, trace->n_lanes);
		for (unsigned c = 0; c < HWY_COLS; c++) {
			struct hwy_column *column = trace->strips[s].columns[c];
			for (uint32_t i = 0; column && i < column->n_chunks; i++)
				if (column->chunks[i].loaded &&
				    !file_accept_chunk(o->file, column, i, o->err))
					return false;
		}
	}
	return true;
}

static bool check_all(struct opening *o)
{
	struct hwy_trace *trace = o->trace;
	if (o->file->n_skips) {
		/* The stored pyramids count also spans of unknown kinds, which were left out: the
		 * pyramids are not used. */
		renumber_edges(o);
		free_levels(o->file);
	}
	struct hwy_err why;
	if (!check_records(trace, &why))
		return hwy_fail(o->err, "%s: damaged: %s", o->file->path, why.text);
	for (uint32_t i = 0; i < trace->n_results; i++)
		if (i >= o->file->n_results ||
		    o->file->results[i].bytes != (uint64_t)trace->results[i].bytes)
			return hwy_fail(o->err, "%s: damaged: result %" PRIu32 " has no bytes",
					o->file->path, i);
	return check_strips(o);
}

/* ---- header, trailer, directory -------------------------------------------------------------- */

static uint64_t get_le(const uint8_t *from, unsigned n)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < n; i++)
		value |= (uint64_t)from[i] << (8 * i);
	return value;
}

bool hwy_file_is_report(const void *head, size_t length)
{
	return length >= 8 && memcmp(head, FORMAT_MAGIC, 8) == 0;
}

static bool check_header(const struct hwy_file *file, const uint8_t *header, struct hwy_err *err)
{
	if (!hwy_file_is_report(header, FORMAT_HEADER))
		return hwy_fail(err, "%s: is not a Headway report", file->path);
	unsigned major = (unsigned)get_le(header + 8, 2), minor = (unsigned)get_le(header + 10, 2);
	if (major != FORMAT_MAJOR || get_le(header + 12, 4) != 0)
		return hwy_fail(
			err,
			"%s: has report format %u.%u (features %#x); this version of headway reads "
			"%d.x",
			file->path, major, minor, (unsigned)get_le(header + 12, 4), FORMAT_MAJOR);
	uint64_t size = get_le(header + 16, 8);
	if (size != file->size)
		return hwy_fail(err, "%s: %s: it should have %" PRIu64 " bytes but has %" PRIu64,
				file->path, hwy_tr(size > file->size ? "truncated" : "damaged"),
				size, file->size);
	return true;
}

static bool open_and_measure(struct hwy_file *file, struct hwy_err *err)
{
	struct stat status;
	/* O_NONBLOCK: opening a pipe that nobody writes to must not block. */
	file->fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file->fd < 0 || fstat(file->fd, &status) != 0)
		return hwy_fail(err, "%s: %s", file->path, hwy_strerror(errno));
	if (!S_ISREG(status.st_mode))
		return hwy_fail(
			err, "%s: is %s", file->path,
			hwy_tr(S_ISDIR(status.st_mode) ? "a directory" : "not a regular file"));
	file->size = (uint64_t)status.st_size;
	file->budget = BUDGET_FLOOR +
		       (file->size < UINT64_MAX / BUDGET_RATIO / 2 ? file->size : 0) * BUDGET_RATIO;
	return true;
}

/* Yields the bytes of the directory, which the caller frees; NULL on failure. */
static uint8_t *read_directory(struct opening *o, uint64_t *offset, uint64_t *length)
{
	struct hwy_file *file = o->file;
	uint8_t header[FORMAT_HEADER] = {0}, trailer[FORMAT_TRAILER];
	const char *reason = NULL;
	if (file->size < FORMAT_HEADER + FORMAT_TRAILER) {
		hwy_fail(o->err, "%s: too short for a Headway report (%" PRIu64 " bytes)",
			 file->path, file->size);
		return NULL;
	}
	if (!file_read_at(file, header, sizeof header, 0, &reason) ||
	    !file_read_at(file, trailer, sizeof trailer, file->size - sizeof trailer, &reason)) {
		hwy_fail(o->err, "%s: %s", file->path, reason);
		return NULL;
	}
	if (!check_header(file, header, o->err))
		return NULL;
	*offset = get_le(trailer, 8);
	uint64_t stored = get_le(trailer + 8, 8);
	*length = get_le(trailer + 16, 8);
	uint64_t room = file->size - FORMAT_HEADER - FORMAT_TRAILER;
	if (memcmp(trailer + 24, FORMAT_END, 8) != 0 || *offset < FORMAT_HEADER ||
	    *offset - FORMAT_HEADER > room || stored != room - (*offset - FORMAT_HEADER)) {
		hwy_fail(o->err, "%s: trailer at offset %" PRIu64 " is damaged", file->path,
			 file->size - FORMAT_TRAILER);
		return NULL;
	}
	if (!spend(o, *length) || !spend(o, stored))
		return NULL;
	uint8_t *directory = hwy_array(*length, 1);
	void *block = codec_room(file->codec, stored);
	if (file_read_at(file, block, stored, *offset, &reason))
		reason = codec_decompress(file->codec, block, stored, directory, *length);
	if (reason) {
		hwy_fail(o->err, "%s: directory at offset %" PRIu64 " is damaged (%s)", file->path,
			 *offset, reason);
		free(directory);
		return NULL;
	}
	return directory;
}

struct hwy_trace *hwy_file_open(const char *path, struct hwy_err *err)
{
	struct hwy_file *file = hwy_zalloc(sizeof *file);
	struct hwy_trace *trace = hwy_zalloc(sizeof *trace);
	*file = (struct hwy_file){
		.fd = -1,
		.path = hwy_copy(path, strlen(path) + 1),
		.trace = trace,
		.codec = codec_new(),
	};
	trace->file = file;
	trace->wall = HWY_NONE;
	hwy_strings_init(&trace->strings);
	struct opening o = {.file = file, .trace = trace, .err = err};
	uint64_t offset = 0, length = 0;
	uint8_t *directory =
		open_and_measure(file, err) ? read_directory(&o, &offset, &length) : NULL;
	struct hwy_bytes_reader reader = hwy_bytes_reader(directory, directory ? length : 0);
	bool ok = directory && read_sections(&o, &reader, offset) && check_all(&o);
	free(directory);
	if (ok) {
		hwy_privacy_mask(trace);
		return trace;
	}
	hwy_trace_free(trace);
	return NULL;
}

void file_close(struct hwy_file *file)
{
	if (!file)
		return;
	if (file->fd >= 0)
		close(file->fd);
	free_levels(file);
	free(file->levels);
	for (uint32_t i = 0; i < file->n_results; i++)
		free(file->results[i].stored);
	free(file->results);
	free(file->skips);
	codec_free(file->codec);
	free(file->path);
	free(file);
}
