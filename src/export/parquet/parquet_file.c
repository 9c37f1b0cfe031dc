/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_file.c - see parquet_file.h. The numbers of fields are those of parquet.thrift. */
#include "export/parquet/parquet_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/mem.h"
#include "export/parquet/thrift.h"

static const char magic[] = "PAR1";
enum { MAGIC = sizeof magic - 1 };

/* Parquet's numbers of physical types. */
static const int physical[PARQUET_TYPES] = {
	[PARQUET_NUMBER] = 2, [PARQUET_REAL] = 5, [PARQUET_TEXT] = 6};

static void parquet_file_put(struct parquet_file *file, const void *bytes, size_t n)
{
	if (!file->failed && n)
		out_bytes(&file->out, bytes, n);
	file->size += n;
}

bool parquet_file_open(struct parquet_file *file, const char *path, const char *target,
		       const struct parquet_table *table, struct parquet_packer *packer,
		       struct hwy_err *err)
{
	*file = (struct parquet_file){
		.table = table, .packer = packer, .target = target, .err = err};
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	file->file = fd < 0 ? NULL : fdopen(fd, "w");
	if (!file->file)
		return hwy_fail(err, "%s: %s", target, hwy_strerror(errno));
	out_open(&file->out, file->file, false);
	parquet_file_put(file, magic, MAGIC);
	return true;
}

/* ---- row groups ------------------------------------------------------------------------------ */

void parquet_group_begin(struct parquet_file *file, uint32_t rows)
{
	file->columns.n = 0;
	file->next_column = 0;
	file->group_rows = rows;
	file->group_start = file->size;
	file->group_whole = 0;
}

static void put_statistics(struct thrift *t, const struct parquet_chunk *chunk)
{
	thrift_struct(t, 12);
	thrift_i64(t, 3, chunk->nulls);
	if (chunk->has_max)
		thrift_binary(t, 5, chunk->max.bytes, chunk->max.n);
	if (chunk->has_min)
		thrift_binary(t, 6, chunk->min.bytes, chunk->min.n);
	if (chunk->has_max)
		thrift_bool(t, 7, true); /* the largest is a value of the column, not a bound */
	if (chunk->has_min)
		thrift_bool(t, 8, true);
	thrift_end(t);
}

/* Adds what the footer says about a chunk (ColumnChunk and the ColumnMetaData in it). */
static void put_chunk(struct parquet_file *file, const struct parquet_field *field,
		      const struct parquet_chunk *chunk)
{
	uint64_t start = file->size;
	struct thrift t = thrift_begin(&file->columns);
	thrift_i64(&t, 2, 0); /* file_offset: the standard wants 0 where no metadata stands there */
	thrift_struct(&t, 3);
	thrift_i32(&t, 1, physical[field->type]);
	thrift_list(&t, 2, THRIFT_I32, (uint32_t)__builtin_popcount(chunk->encodings));
	for (int encoding = 0; encoding < 32; encoding++)
		if (chunk->encodings & 1u << encoding)
			thrift_number(&t, encoding);
	thrift_list(&t, 3, THRIFT_BINARY, 1);
	thrift_word(&t, field->name);
	thrift_i32(&t, 4, (int32_t)chunk->codec);
	thrift_i64(&t, 5, chunk->rows);
	thrift_i64(&t, 6, (int64_t)chunk->whole);
	thrift_i64(&t, 7, (int64_t)chunk->pages.n);
	thrift_i64(&t, 9, (int64_t)(start + chunk->dictionary));
	if (chunk->dictionary)
		thrift_i64(&t, 11, (int64_t)start);
	put_statistics(&t, chunk);
	thrift_end(&t);
	thrift_end(&t);
}

void parquet_group_column(struct parquet_file *file, const struct parquet_values *values)
{
	assert(file->next_column < file->table->n_fields);
	const struct parquet_field *field = &file->table->fields[file->next_column++];
	if (file->failed)
		return;
	const struct parquet_chunk *chunk =
		parquet_pack(file->packer, field, values, file->group_rows, file->err);
	if (!chunk) {
		file->failed = true;
		return;
	}
	put_chunk(file, field, chunk);
	file->group_whole += chunk->whole;
	parquet_file_put(file, chunk->pages.bytes, chunk->pages.n);
}

void parquet_group_end(struct parquet_file *file)
{
	const struct parquet_table *table = file->table;
	assert(file->next_column == table->n_fields);
	struct thrift t = thrift_begin(&file->groups);
	thrift_list(&t, 1, THRIFT_STRUCT, table->n_fields);
	hwy_bytes_put(&file->groups, file->columns.bytes, file->columns.n);
	thrift_i64(&t, 2, (int64_t)file->group_whole);
	thrift_i64(&t, 3, file->group_rows);
	if (table->sorted >= 0) {
		thrift_list(&t, 4, THRIFT_STRUCT, 1);
		thrift_element(&t);
		thrift_i32(&t, 1, table->sorted);
		thrift_bool(&t, 2, false); /* ascending */
		thrift_bool(&t, 3, false); /* nulls last; there are none */
		thrift_end(&t);
	}
	thrift_i64(&t, 5, (int64_t)file->group_start);
	thrift_i64(&t, 6, (int64_t)(file->size - file->group_start));
	thrift_end(&t);
	file->n_groups++;
	file->rows += file->group_rows;
}

/* ---- the footer ------------------------------------------------------------------------------ */

static void footer_put_field(struct thrift *t, const struct parquet_field *field)
{
	thrift_element(t);
	thrift_i32(t, 1, physical[field->type]);
	thrift_i32(t, 3, field->is_optional ? 1 : 0); /* OPTIONAL, REQUIRED */
	thrift_text(t, 4, field->name);
	if (field->type == PARQUET_TEXT) {
		thrift_i32(t, 6, 0);  /* ConvertedType UTF8, for old readers */
		thrift_struct(t, 10); /* LogicalType */
		thrift_struct(t, 1);  /* STRING */
		thrift_end(t);
		thrift_end(t);
	} else if (field->type == PARQUET_NUMBER) {
		thrift_i32(t, 6, 18); /* INT_64 */
		thrift_struct(t, 10);
		thrift_struct(t, 10); /* INT */
		thrift_i8(t, 1, 64);
		thrift_bool(t, 2, true); /* signed */
		thrift_end(t);
		thrift_end(t);
	}
	thrift_end(t);
}

static void put_schema(struct thrift *t, const struct parquet_table *table)
{
	thrift_list(t, 2, THRIFT_STRUCT, table->n_fields + 1);
	thrift_element(t);
	thrift_text(t, 4, table->name);
	thrift_i32(t, 5, (int32_t)table->n_fields);
	thrift_end(t);
	for (uint32_t i = 0; i < table->n_fields; i++)
		footer_put_field(t, &table->fields[i]);
}

static void footer_put_fact(struct thrift *t, const char *key, const char *value)
{
	thrift_element(t);
	thrift_text(t, 1, key);
	thrift_text(t, 2, value);
	thrift_end(t);
}

static void put_footer(struct parquet_file *file, struct hwy_bytes *footer)
{
	static const char zeros[] = "00000000";
	const struct parquet_table *table = file->table;
	struct thrift t = thrift_begin(footer);
	thrift_i32(&t, 1, 1); /* version: the one that every reader takes */
	put_schema(&t, table);
	thrift_i64(&t, 3, (int64_t)file->rows);
	thrift_list(&t, 4, THRIFT_STRUCT, file->n_groups);
	hwy_bytes_put(footer, file->groups.bytes, file->groups.n);
	thrift_list(&t, 5, THRIFT_STRUCT, table->n_facts + 1);
	for (uint32_t i = 0; i < table->n_facts; i++)
		footer_put_fact(&t, table->facts[i].key, table->facts[i].value);
	footer_put_fact(&t, PARQUET_FOOTER_CRC, zeros);
	size_t digits = footer->n - 1 - (sizeof zeros - 1);
	thrift_text(&t, 6, PARQUET_CREATED_BY);
	/* Statistics of all columns are ordered as their types are (TYPE_ORDER). */
	thrift_list(&t, 7, THRIFT_STRUCT, table->n_fields);
	for (uint32_t i = 0; i < table->n_fields; i++) {
		thrift_element(&t);
		thrift_struct(&t, 1);
		thrift_end(&t);
		thrift_end(&t);
	}
	thrift_end(&t);
	char text[sizeof zeros];
	snprintf(text, sizeof text, "%08" PRIx32, (uint32_t)crc32_z(0, footer->bytes, footer->n));
	memcpy(footer->bytes + digits, text, sizeof zeros - 1);
}

bool parquet_file_close(struct parquet_file *file)
{
	struct hwy_bytes footer = {0};
	put_footer(file, &footer);
	if (footer.n > INT32_MAX && !file->failed)
		file->failed = !hwy_fail(file->err, "%s: has too many row groups for Parquet",
					 file->target);
	parquet_file_put(file, footer.bytes, footer.n);
	uint8_t end[4 + MAGIC];
	hwy_little_write(end, footer.n, 4);
	memcpy(end + 4, magic, MAGIC);
	parquet_file_put(file, end, sizeof end);
	hwy_bytes_free(&footer);
	hwy_bytes_free(&file->groups);
	hwy_bytes_free(&file->columns);
	struct hwy_err ignored;
	bool ok = out_close(&file->out, file->target, file->failed ? &ignored : file->err) &&
		  !file->failed;
	if (fclose(file->file) != 0 && ok)
		ok = hwy_fail(file->err, "%s: %s", file->target, hwy_strerror(errno));
	return ok;
}
