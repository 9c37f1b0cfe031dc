/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_file.h - one Parquet file: row groups of column chunks, then the footer that says
 * where they are.
 *
 *   static const struct parquet_field fields[] = {{"start", PARQUET_NUMBER, false}};
 *   const struct parquet_table table = {.name = "kernel", .fields = fields, .n_fields = 1};
 *   int64_t starts[] = {0, 10, 25};
 *   struct parquet_packer *packer = parquet_packer_new();
 *   struct parquet_file file;
 *   if (!parquet_file_open(&file, path, path, &table, packer, err))
 *           return false;
 *   parquet_group_begin(&file, 3);
 *   parquet_group_column(&file, &(struct parquet_values){.values = starts});
 *   parquet_group_end(&file);
 *   bool is_whole = parquet_file_close(&file);
 *   parquet_packer_free(packer);
 *
 * The first error is kept in err, and what is written after it is dropped. The file has the name
 * it is opened with from the begin: whoever opens it chooses a temporary one.
 *
 * The footer has a checksum of its own among its key-values ("headway.footer_crc32"), since
 * Parquet has one for pages only: the CRC-32 of the footer's bytes in which the eight digits of
 * the checksum are zeros.
 */
#ifndef HWY_EXPORT_PARQUET_PARQUET_FILE_H
#define HWY_EXPORT_PARQUET_PARQUET_FILE_H

#include <stdio.h>

#include "base/err.h"
#include "export/out.h"
#include "export/parquet/parquet_column.h"

#define PARQUET_CREATED_BY "Headway version " HEADWAY_VERSION
#define PARQUET_FOOTER_CRC "headway.footer_crc32"

struct parquet_key_value {
	const char *key, *value;
};

struct parquet_table {
	const char *name;
	const struct parquet_field *fields;
	uint32_t n_fields;
	int sorted; /* the field by which rows ascend, or -1 */
	/* Facts about the file that readers show, for people. */
	const struct parquet_key_value *facts;
	uint32_t n_facts;
};

struct parquet_file {
	const struct parquet_table *table;
	struct parquet_packer *packer;
	FILE *file;
	struct out out;
	uint64_t size;           /* bytes written so far */
	struct hwy_bytes groups; /* the row groups as the footer has them */
	uint32_t n_groups;
	uint64_t rows;
	/* The row group that is being written. */
	struct hwy_bytes columns;
	uint32_t group_rows, next_column;
	uint64_t group_start, group_whole;
	const char *target; /* the name of the file in messages */
	bool failed;
	struct hwy_err *err;
};

/* Creates the file, mode 0600; there must be none of that name. 'table' and 'packer' must
 * outlive it. */
bool parquet_file_open(struct parquet_file *file, const char *path, const char *target,
		       const struct parquet_table *table, struct parquet_packer *packer,
		       struct hwy_err *err);
void parquet_group_begin(struct parquet_file *file, uint32_t rows);
/* Writes the next column of the row group. */
void parquet_group_column(struct parquet_file *file, const struct parquet_values *values);
void parquet_group_end(struct parquet_file *file);
/* Writes the footer, and closes the file. False where anything failed since it was opened. */
bool parquet_file_close(struct parquet_file *file);

#endif
