/* SPDX-License-Identifier: Apache-2.0 */
/* stats_nccl_test.c - nccl_sum on made-up traces: sizes and bandwidths of nccl-tests, the link's peak, skew and transfer. */
#include "make_trace.h"

#include <math.h>

#include "stats/stats.h"

enum { MOST_ROWS = 16, MOST_COLUMNS = 32, NAME = 64 };
struct seen {
	const struct stats_column *columns;
	uint32_t n_columns, n;
	struct stats_cell cells[MOST_ROWS][MOST_COLUMNS];
	char texts[MOST_ROWS][MOST_COLUMNS][NAME];
};

static void see_columns(void *self, const struct stats_column *columns, uint32_t n)
{
	((struct seen *)self)->columns = columns;
	((struct seen *)self)->n_columns = n;
}
static void see_row(void *self, const struct stats_cell *cells, uint32_t n)
{
	struct seen *seen = self;
	for (uint32_t i = 0; i < n; i++) {
		seen->cells[seen->n][i] = cells[i];
		if (stats_is_text(&seen->columns[i]) && !cells[i].empty)
			snprintf(seen->texts[seen->n][i], NAME, "%.*s", (int)cells[i].text.length,
				 cells[i].text.at);
	}
	seen->n++;
}

static struct seen *table(struct hwy_trace *trace)
{
	struct seen *seen = hwy_zalloc(sizeof *seen);
	struct stats_sink sink = {seen, see_columns, see_row};
	struct stats_options options = {.from = INT64_MIN, .to = INT64_MAX};
	struct hwy_err err;
	assert_true(stats_run(trace, stats_find("nccl_sum"), &options, &sink, &err));
	return seen;
}

static uint32_t column(const struct seen *seen, const char *name)
{
	for (uint32_t i = 0; i < seen->n_columns; i++)
		if (strcmp(seen->columns[i].name, name) == 0)
			return i;
	fail_msg("no column %s", name);
	return 0;
}
static const struct stats_cell *cell(const struct seen *seen, uint32_t row, const char *name)
{
	assert_true(row < seen->n);
	return &seen->cells[row][column(seen, name)];
}
static const char *text(const struct seen *seen, uint32_t row, const char *name)
{
	return seen->texts[row][column(seen, name)];
}
#define ASSERT_REAL(seen, row, name, value)                                                        \
	assert_true(fabs(cell(seen, row, name)->real - (value)) < 1e-6)

/* ---- a job in one trace ------------------------------------------------------------------------------ */

struct ranks {
	struct hwy_builder *b;
	struct hwy_trace *trace;
	uint32_t n, process[8], group[8], lane[8];
};

/* n ranks with an H200 each, of one communicator. 'nodes': NULL: not told. */
static struct ranks make_ranks(uint32_t n, const char *nodes)
{
	struct ranks r = {.b = hwy_builder_new(), .n = n};
	char members[16];
	r.trace = hwy_builder_trace(r.b);
	snprintf(members, sizeof members, "0-%u", n - 1);
	uint32_t host = hwy_new_hosts(r.b);
	for (uint32_t i = 0; i < n; i++) {
		r.process[i] = hwy_new_processes(r.b);
		struct hwy_process *process = &r.trace->processes[r.process[i]];
		process->host = host;
		process->pid = 100 + i;
		process->rank = i;
		process->world = n;
		uint32_t device = hwy_new_devices(r.b);
		r.trace->devices[device].host = host;
		r.trace->devices[device].ordinal = i;
		r.trace->devices[device].compute_major = 9;
		r.trace->devices[device].compute_minor = 0;
		r.trace->devices[device].name = hwy_text_id(r.b, "NVIDIA H200");
		uint32_t stream = hwy_new_streams(r.b);
		r.trace->streams[stream].process = r.process[i];
		r.trace->streams[stream].device = device;
		r.lane[i] = hwy_add_stream_lane(r.b, HWY_LANE_STREAM, stream);
		r.group[i] = hwy_new_groups(r.b);
		struct hwy_group *group = &r.trace->groups[r.group[i]];
		group->process = r.process[i];
		group->name = hwy_text_id(r.b, "c0ffee");
		group->backend = hwy_text_id(r.b, "NCCL");
		group->size = n;
		group->ranks = hwy_text_id(r.b, members);
	}
	if (nodes)
		hwy_add_property(r.b, "nccl.c0ffee.nodes", nodes);
	return r;
}

static void add(struct ranks *r, uint32_t rank, const char *name, int64_t sent, int64_t received,
		int64_t sequence, int64_t start, int64_t end)
{
	struct hwy_message m = hwy_message_none();
	struct hwy_row row = {0};
	row.v[HWY_START] = start;
	row.v[HWY_DUR] = end - start;
	row.v[HWY_NAME] = hwy_text_id(r->b, "ncclDevKernel");
	hwy_message_at(&m.span, hwy_add_span(r->b, r->lane[rank], HWY_KERNEL, &row));
	m.process = r->process[rank];
	m.group = r->group[rank];
	m.library = hwy_text_id(r->b, "NCCL");
	m.kind = HWY_MESSAGE_COLLECTIVE;
	m.name = hwy_text_id(r->b, name);
	m.sent = sent;
	m.received = received;
	m.sequence = sequence;
	m.start = start;
	m.end = end;
	hwy_add_message(r->b, &m);
}

static struct hwy_trace *finish_ranks(struct ranks *r)
{
	struct hwy_trace *trace = hwy_builder_finish(r->b, false);
	assert_non_null(trace);
	return trace;
}

/* ---- */

static void bandwidths_are_those_of_nccl_tests(void **s)
{
	(void)s;
	static const struct {
		const char *name;
		int64_t sent, received;
		double bytes, factor;
	} operations[] = {
		{"AllReduce", 1000, 1000, 1000, 2 * 7.0 / 8},
		{"AllGather", 125, 1000, 1000, 7.0 / 8},
		{"ReduceScatter", 1000, 125, 1000, 7.0 / 8},
		{"AllToAll", 1000, 1000, 1000, 7.0 / 8},
		{"Broadcast", 1000, 0, 1000, 1},
		{"Reduce", 1000, 0, 1000, 1},
		{"Send", 1000, 0, 1000, 1},
	};
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
		struct ranks r = make_ranks(8, "1");
		/* 1000 bytes in 10 ns and in 30 ns: 50 GB/s on the mean */
		add(&r, 0, operations[i].name, operations[i].sent, operations[i].received, 0, 0,
		    10);
		add(&r, 0, operations[i].name, operations[i].sent, operations[i].received, 1, 50,
		    80);
		struct hwy_trace *trace = finish_ranks(&r);
		struct seen *seen = table(trace);
		assert_int_equal(seen->n, 1);
		assert_string_equal(text(seen, 0, "Operation"), operations[i].name);
		assert_int_equal(cell(seen, 0, "Instances")->number, 2);
		assert_int_equal(cell(seen, 0, "Total Time")->number, 40);
		assert_int_equal(cell(seen, 0, "Bytes")->number, (int64_t)operations[i].bytes);
		ASSERT_REAL(seen, 0, "Algorithm GB/s", 50);
		ASSERT_REAL(seen, 0, "Bus GB/s", 50 * operations[i].factor);
		assert_string_equal(text(seen, 0, "Link"), "NVLink");
		ASSERT_REAL(seen, 0, "Peak GB/s", 450);
		ASSERT_REAL(seen, 0, "Of Peak", 100 * 50 * operations[i].factor / 450);
		/* One rank of eight is recorded: nobody knows when the others came. */
		assert_true(cell(seen, 0, "Skew")->empty && cell(seen, 0, "Transfer")->empty);
		free(seen);
		hwy_trace_free(trace);
	}
}

static void where_all_ranks_are_known_the_wait_for_the_last_one_stands_apart(void **s)
{
	(void)s;
	struct ranks r = make_ranks(2, "1");
	for (int64_t i = 0; i < 4; i++) {
		int64_t from = 10000 * i;
		add(&r, 0, "AllReduce", 8000, 8000, i, from, from + 1000);
		add(&r, 1, "AllReduce", 8000, 8000, i, from + 800, from + 1000); /* comes late */
	}
	struct hwy_trace *trace = finish_ranks(&r);
	struct seen *seen = table(trace);
	assert_int_equal(seen->n, 1);
	assert_int_equal(cell(seen, 0, "Instances")->number, 8);
	ASSERT_REAL(seen, 0, "Skew", 400);     /* 800 ns of one, none of the other */
	ASSERT_REAL(seen, 0, "Transfer", 200); /* of both */
	ASSERT_REAL(seen, 0, "Transfer Bus GB/s", 40);
	ASSERT_REAL(seen, 0, "Bus GB/s", 8000.0 / 600);
	free(seen);
	hwy_trace_free(trace);
}

static void a_link_that_is_not_known_is_said_to_be_so(void **s)
{
	(void)s;
	static const struct {
		uint32_t ranks;
		const char *nodes, *link;
	} cases[] = {{8, NULL, "not known"}, {8, "2", "network"}, {1, "1", "none: one rank"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ranks r = make_ranks(cases[i].ranks, cases[i].nodes);
		add(&r, 0, "AllReduce", 1000, 1000, 0, 0, 10);
		struct hwy_trace *trace = finish_ranks(&r);
		struct seen *seen = table(trace);
		assert_string_equal(text(seen, 0, "Link"), cases[i].link);
		assert_true(cell(seen, 0, "Peak GB/s")->empty && cell(seen, 0, "Of Peak")->empty);
		free(seen);
		hwy_trace_free(trace);
	}
}

static void what_is_not_known_is_left_empty(void **s)
{
	(void)s;
	struct ranks r = make_ranks(2, "1");
	add(&r, 0, "AllGather", 1000, HWY_NONE, 0, 0, 10);
	add(&r, 0, "AllReduce", 10, 10, 0, 20, 30);
	uint32_t other = hwy_text_id(r.b, "MPI");
	struct hwy_trace *trace = finish_ranks(&r);
	trace->messages[0].start = trace->messages[0].end = HWY_NONE;
	trace->messages[1].library = other; /* not NCCL's */
	struct seen *seen = table(trace);
	assert_int_equal(seen->n, 1);
	assert_int_equal(cell(seen, 0, "Instances")->number, 1);
	assert_true(cell(seen, 0, "Bytes")->empty);
	assert_true(cell(seen, 0, "Avg")->empty);
	assert_true(cell(seen, 0, "Bus GB/s")->empty);
	assert_true(cell(seen, 0, "Wait GPU")->empty);
	free(seen);
	hwy_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bandwidths_are_those_of_nccl_tests),
		cmocka_unit_test(where_all_ranks_are_known_the_wait_for_the_last_one_stands_apart),
		cmocka_unit_test(a_link_that_is_not_known_is_said_to_be_so),
		cmocka_unit_test(what_is_not_known_is_left_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
