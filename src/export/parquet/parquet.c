/* SPDX-License-Identifier: Apache-2.0 */
/* parquet.c - see parquet.h. Files stay announced as temporary until all tables are written; who
 * calls export_parquet moves the folder to its place. */
#include "export/parquet/parquet.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

int64_t parquet_time(const struct parquet *p, int64_t time)
{
	const struct export_options *options = p->x.options;
	/* Times of records may be anything: what is no time of a recording stays as it is. */
	if (!options->map || time <= -2 * HWY_TIME_LIMIT || time >= 2 * HWY_TIME_LIMIT)
		return time;
	int64_t mapped = options->map(options->clock, time);
	if (mapped <= -HWY_TIME_LIMIT)
		return -HWY_TIME_LIMIT + 1;
	return mapped >= HWY_TIME_LIMIT ? HWY_TIME_LIMIT - 1 : mapped;
}

struct hwy_text parquet_text_of(void *user, int64_t id)
{
	const struct parquet *p = user;
	return export_text(&p->x, id);
}

/* ---- files ----------------------------------------------------------------------------------- */

bool parquet_table_open(struct parquet *p, struct parquet_file *file, struct parquet_table *table)
{
	char *folder = hwy_arena_format(&p->texts, "%s/table=%s", p->folder, table->name);
	char *path = hwy_arena_format(&p->texts, "%s/part-0.parquet", folder);
	table->facts = p->facts;
	table->n_facts = p->n_facts;
	if (mkdir(folder, 0700) != 0)
		return hwy_fail(p->x.err, "%s: %s", p->x.options->target, hwy_strerror(errno));
	return parquet_file_open(file, path, p->x.options->target, table, p->packer, p->x.err);
}

bool parquet_table_close(struct parquet *p, struct parquet_file *file)
{
	bool ok = parquet_file_close(file);
	p->x.result->files++;
	p->x.result->rows += file->rows;
	p->x.result->bytes += file->size;
	return ok;
}

static void write_cells(struct parquet *p, const struct parquet_cells *cells,
			struct parquet_file *file, uint32_t first, uint32_t n)
{
	int64_t *values = hwy_array(n, sizeof *values);
	bool *is_null = hwy_array(n, sizeof *is_null);
	parquet_group_begin(file, n);
	for (uint32_t field = 0; field < cells->n_fields; field++) {
		struct parquet_values column = {
			.values = values, .is_null = is_null, .text = parquet_text_of, .user = p};
		for (uint32_t row = 0; row < n; row++) {
			is_null[row] =
				!cells->cell(p, cells->user, first + row, field, &values[row]);
			column.has_nulls |= is_null[row];
		}
		parquet_group_column(file, &column);
	}
	parquet_group_end(file);
	free(values);
	free(is_null);
}

bool parquet_cells_write(struct parquet *p, const struct parquet_cells *cells)
{
	struct parquet_table table = {cells->name, cells->fields, cells->n_fields, -1, NULL, 0};
	struct parquet_file file;
	if (cells->rows == 0)
		return true;
	if (!parquet_table_open(p, &file, &table))
		return false;
	for (uint32_t first = 0; first < cells->rows && !file.failed; first += PARQUET_GROUP_ROWS) {
		uint32_t left = cells->rows - first;
		write_cells(p, cells, &file, first,
			    left < PARQUET_GROUP_ROWS ? left : PARQUET_GROUP_ROWS);
	}
	return parquet_table_close(p, &file) && !p->x.failed;
}

/* ---- the rank -------------------------------------------------------------------------------- */

static const struct parquet_field rank_fields[] = {
	{"id", PARQUET_NUMBER, false},        {"rank", PARQUET_NUMBER, false},
	{"world", PARQUET_NUMBER, true},      {"host", PARQUET_TEXT, true},
	{"processes", PARQUET_NUMBER, false}, {"spans", PARQUET_NUMBER, false},
	{"source", PARQUET_TEXT, true},       {"epoch", PARQUET_NUMBER, true},
};
enum { RANK_FIELDS = sizeof rank_fields / sizeof *rank_fields };

const char *parquet_rank_fields(struct parquet_field fields[PARQUET_MOST_FIELDS], uint32_t *n)
{
	memcpy(fields, rank_fields, sizeof rank_fields);
	*n = RANK_FIELDS;
	return "ranks";
}

/* Wall-clock time (Unix, ns) of time 0 of the tables; HWY_NONE: not known. */
static int64_t parquet_epoch(const struct parquet *p)
{
	return p->x.options->map ? p->x.options->epoch : p->x.trace->wall;
}

static bool rank_cell(struct parquet *p, const void *user, uint32_t row, uint32_t field,
		      int64_t *value)
{
	(void)user;
	(void)row;
	const struct hwy_trace *trace = p->x.trace;
	int64_t world = HWY_NONE, host = trace->n_hosts ? 0 : HWY_NONE;
	for (uint32_t i = trace->n_processes; i-- > 0;) {
		const struct hwy_process *process = &trace->processes[i];
		world = process->world > world ? process->world : world;
		host = process->host >= 0 && process->host < trace->n_hosts ? process->host : host;
	}
	const int64_t cells[RANK_FIELDS] = {
		0,
		p->x.options->rank,
		world,
		host == HWY_NONE ? 0 : trace->hosts[host].name,
		trace->n_processes,
		(int64_t)p->x.result->spans,
		export_text_id(&p->x, p->x.options->source ? p->x.options->source : ""),
		parquet_epoch(p),
	};
	*value = cells[field];
	if (rank_fields[field].type == PARQUET_TEXT)
		return export_text(&p->x, *value).length > 0;
	return *value != HWY_NONE;
}

bool parquet_rank_write(struct parquet *p)
{
	return parquet_cells_write(
		p, &(struct parquet_cells){"ranks", rank_fields, RANK_FIELDS, 1, rank_cell, NULL});
}

/* ---- facts about the export ------------------------------------------------------------------ */

/* Names of files and jobs may be any bytes; texts of a footer are UTF-8. */
static void add_fact(struct parquet *p, const char *key, const char *value)
{
	struct hwy_bytes text = {0};
	parquet_put_text(&text, (struct hwy_text){value, (uint32_t)strlen(value)});
	p->facts[p->n_facts++] = (struct parquet_key_value){
		key, hwy_arena_text(&p->texts, (const char *)text.bytes + 4, text.n - 4)};
	hwy_bytes_free(&text);
}

static void add_facts(struct parquet *p)
{
	const struct export_options *options = p->x.options;
	add_fact(p, "headway.version", HEADWAY_VERSION);
	add_fact(p, "headway.schema", "1");
	add_fact(p, "headway.job", options->job ? options->job : "");
	add_fact(p, "headway.rank", hwy_arena_format(&p->texts, "%" PRId64, options->rank));
	add_fact(p, "headway.source", options->source ? options->source : "");
	add_fact(p, "headway.times", "ns since the epoch");
	add_fact(p, "headway.sizes", "bytes");
	add_fact(p, "headway.clock", options->map ? "first rank" : "recording");
	if (parquet_epoch(p) != HWY_NONE)
		add_fact(p, "headway.epoch_unix_ns",
			 hwy_arena_format(&p->texts, "%" PRId64, parquet_epoch(p)));
}

bool export_parquet(struct hwy_trace *trace, const char *path, const struct export_options *options,
		    const struct hwy_progress *progress, struct export_result *result,
		    struct hwy_err *err)
{
	struct parquet p = {.folder = path};
	if (!export_open(&p.x, trace, options, progress, result, err))
		return false;
	p.packer = parquet_packer_new();
	add_facts(&p);
	bool ok = parquet_spans_write(&p) && parquet_records_write(&p) && parquet_rank_write(&p) &&
		  (options->plain || export_is_cut(&p.x) || parquet_analysis_write(&p));
	parquet_packer_free(p.packer);
	hwy_bytes_free(&p.stack);
	hwy_arena_free(&p.texts);
	export_close(&p.x);
	return ok;
}
