/* SPDX-License-Identifier: Apache-2.0 */
/* file_format.h - what writer and reader of the report share: numbers of the format, the open file,
 * and the checks that both apply, so that what is written can be read. The specification is
 * docs/report-format.md.
 */
#ifndef HWY_TRACE_FILE_FORMAT_H
#define HWY_TRACE_FILE_FORMAT_H

#include "trace/codec.h"
#include "trace/file.h"

/* The file begins with bytes that a text-mode transfer or a 7-bit channel would change. */
#define FORMAT_MAGIC "\x89HWY\r\n\x1a\n"
#define FORMAT_END "HWY.END\n"

enum {
	FORMAT_MAJOR = 1,
	FORMAT_MINOR = 0,
	FORMAT_HEADER = 24,
	FORMAT_TRAILER = 32,

	/* Sections 1 … 31 are for the records of trace.h. */
	SECTION_STRINGS = 32,
	SECTION_STRIP = 33,
	SECTION_PYRAMID = 34,
	SECTION_RESULT = 35,
	SECTION_VERSION = 1, /* the version of every section */

	/* Bits of the first byte of a chunk in the directory; 0: every row has the same value. */
	CHUNK_CODING = 0x03,    /* bits of the coding: CODEC_… */
	CHUNK_INLINE = 0x04,    /* bit: the planes follow in the directory; there is no block */
	CHUNK_WIDTH_SHIFT = 3,  /* two bits: 1, 2, 4 or 8 bytes hold an offset */
	CHUNK_PLANES_SHIFT = 5, /* three bits: the number of planes, less 1 */

	MOST_FIELDS = 64,     /* fields that a record may have */
	INLINE_ROWS = 256,    /* chunks of fewer rows are kept in the directory, without a block */
	BLOB_BLOCK = 1 << 20, /* texts and results are cut into blocks of so many bytes */
};

static inline uint32_t chunk_rows(uint32_t rows, uint32_t chunk)
{
	uint32_t rest = rows - (chunk << HWY_CHUNK_BITS);
	return rest < HWY_CHUNK_ROWS ? rest : HWY_CHUNK_ROWS;
}

/* ---- the open file --------------------------------------------------------------------------- */

enum { PYRAMID_COLUMNS = 9 }; /* columns of one level of a pyramid, see pyramid.c */

struct file_level { /* one level of one lane's pyramid */
	uint32_t lane, level, rows;
	struct hwy_column *columns[PYRAMID_COLUMNS];
	int64_t *reach; /* by block of 64 rows: the latest end; NULL until the level was checked */
};

/* Texts or a cached result: bytes in compressed blocks. */
struct file_blob {
	uint64_t bytes, place;
	uint32_t n_blocks;
	uint32_t *stored; /* by block: its bytes in the file */
};

struct hwy_file {
	int fd;
	char *path;
	uint64_t size;
	uint64_t budget;         /* bytes that opening the report may still allocate */
	struct hwy_trace *trace; /* the trace whose columns come from this file */
	struct codec *codec;
	struct file_level *levels; /* sorted by lane, then level */
	uint32_t n_levels, cap_levels;
	struct file_blob *results; /* by the index of the result */
	uint32_t n_results;
	struct file_skip { /* spans of an unknown kind: ids from 'first' on, as the file counts */
		uint64_t first, rows;
	} * skips;
	uint32_t n_skips, cap_skips;
};

/* Reads n bytes at an offset of the file. Yields false with a reason that can follow "PATH: ". */
bool file_read_at(struct hwy_file *file, void *to, size_t n, uint64_t place, const char **reason);
/* Loads all chunks of a column. Where it yields false, *place and *reason say where and why. */
bool file_load_chunks(struct hwy_file *file, struct hwy_column *column, uint64_t *place,
		      const char **reason);
bool file_load_level(struct hwy_file *file, struct file_level *level, struct hwy_err *err);
/* Checks a loaded chunk; unloads a chunk that fails. */
bool file_accept_chunk(struct hwy_file *file, struct hwy_column *column, uint32_t at,
		       struct hwy_err *err);
bool file_load_blob(struct hwy_file *file, const struct file_blob *blob, void *to, uint64_t *place,
		    const char **reason);
/* Turns a span id of the file, which counts spans of unknown kinds, into the id of the trace, which
 * leaves them out. False where the span is of an unknown kind. */
bool file_renumber(const struct hwy_file *file, int64_t *id);

/* ---- checks ---------------------------------------------------------------------------------- */

/* Every value of a loaded column means something: indexes are in range, starts ascend, links lead
 * to calls. The message has no file in it. */
bool check_column(const struct hwy_trace *trace, const struct hwy_strip *strip, unsigned col,
		  struct hwy_err *err);
/* check_column for one chunk; its starts are compared also with neighbouring chunks that are
 * loaded. */
bool check_chunk(const struct hwy_trace *trace, const struct hwy_strip *strip, unsigned col,
		 uint32_t at, struct hwy_err *err);
/* check_column for one value; a start is not compared with its neighbours. */
bool check_value(const struct hwy_trace *trace, const struct hwy_strip *strip, unsigned col,
		 int64_t value, struct hwy_err *err);
bool check_records(const struct hwy_trace *trace, struct hwy_err *err);

#endif
