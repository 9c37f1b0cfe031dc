/* SPDX-License-Identifier: Apache-2.0 */
/* sql_fuzz.c - queries of any content over a small trace: answered, refused or stopped, without harm.
 *
 * Whatever was asked, the connection still answers afterwards, and the trace is what it was. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "sql/sql.h"
#include "trace/builder.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct hwy_trace *make_trace(void)
{
	struct hwy_builder *b = hwy_builder_new();
	struct hwy_trace *trace = hwy_builder_trace(b);
	uint32_t process = hwy_new_processes(b), thread = hwy_new_threads(b);
	uint32_t device = hwy_new_devices(b), stream = hwy_new_streams(b);
	trace->processes[process].pid = 100;
	trace->processes[process].rank = 1;
	trace->threads[thread].process = process;
	trace->threads[thread].tid = 101;
	trace->devices[device].ordinal = 0;
	trace->streams[stream].device = device;
	trace->streams[stream].process = process;
	trace->streams[stream].number = 7;
	struct hwy_lane lane = hwy_lane_of(HWY_LANE_STREAM, process, HWY_NONE);
	lane.device = device;
	lane.stream = stream;
	uint32_t work = hwy_add_lane(b, lane);
	uint32_t calls = hwy_add_lane(b, hwy_lane_of(HWY_LANE_API, process, thread));
	static const char *const names[] = {"gemm", "copy", "cudaLaunchKernel", "%a%b", ""};
	for (int64_t i = 0; i < 40; i++) {
		struct hwy_row row = {0};
		row.v[HWY_START] = i * 1000;
		row.v[HWY_DUR] = 700 + i;
		row.v[HWY_CORR] = i + 1;
		row.v[HWY_NAME] = hwy_text_id(b, "cudaLaunchKernel");
		hwy_add_span(b, calls, HWY_API, &row);
		row.v[HWY_START] += 500;
		row.v[HWY_NAME] = hwy_text_id(b, names[i % 5]);
		row.v[HWY_BYTES] = i % 3 ? i : 0;
		hwy_add_span(b, work, i % 4 ? HWY_KERNEL : HWY_COPY, &row);
	}
	return hwy_builder_finish(b, false);
}

static uint64_t rows;

static void sink_begin(void *self, const char *const *names, uint32_t n)
{
	(void)self;
	for (uint32_t i = 0; i < n; i++)
		rows += strlen(names[i]);
}

static bool sink_row(void *self, const struct hwy_cell *cells, uint32_t n)
{
	(void)self;
	for (uint32_t i = 0; i < n; i++)
		rows += cells[i].type == HWY_CELL_TEXT && cells[i].text.length
				? (uint8_t)cells[i].text.at[0]
				: 1;
	return true;
}

static bool count_row(void *self, const struct hwy_cell *cells, uint32_t n)
{
	*(int64_t *)self = n == 2 ? cells[0].number * 1000 + cells[1].number : -1;
	return true;
}

/* One call of printf('%.*c', 2000000000, 'x') takes SQLite seconds, which the command ends by a signal: not what is sought here. */
static bool is_slow(const char *query)
{
	return strcasestr(query, "printf") || strcasestr(query, "format");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static struct sql_db *db;
	struct sql_limits limits = {.time = 20000000, .memory = 32 << 20};
	struct sql_sink sink = {NULL, sink_begin, sink_row};
	int64_t counted = 0;
	struct sql_sink counter = {&counted, sink_begin, count_row};
	struct hwy_err err;
	if (!db)
		db = sql_open(make_trace(), &limits, &err);
	if (!db)
		abort();
	char *query = hwy_alloc(size + 1);
	memcpy(query, bytes, size);
	query[size] = '\0';
	if (!is_slow(query))
		(void)sql_query(db, query, &sink, &err);
	if (!sql_query(db, "select count(*), (select count(*) from kernel) from spans", &counter,
		       &err) ||
	    counted != 80030)
		abort();
	free(query);
	return 0;
}
