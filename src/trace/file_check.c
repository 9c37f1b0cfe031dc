/* SPDX-License-Identifier: Apache-2.0 */
/* file_check.c - are the numbers of a report what model.h says they are?
 *
 * The rest of Headway indexes tables with these numbers without looking twice. A checksum finds
 * accidents; this finds what was written wrong, or with intent. The writer asks too: what it writes
 * can be read.
 */
#include <inttypes.h>

#include "trace/columns.h"
#include "trace/file_format.h"

static bool out_of_range(const struct hwy_strip *strip, unsigned col, int64_t value,
			 struct hwy_err *err)
{
	return hwy_fail(err,
			"column '%s' of lane %" PRIu32 " (%s): value %" PRId64 " is out of range",
			hwy_columns[col].name, strip->lane, hwy_kind_names[strip->kind], value);
}

static bool check_limits(const struct hwy_strip *strip, unsigned col, uint32_t at, int64_t low,
			 int64_t high, struct hwy_err *err)
{
	const struct hwy_column *column = strip->columns[col];
	const struct hwy_chunk *chunk = &column->chunks[at];
	if (chunk->base < low || chunk->base > high)
		return out_of_range(strip, col, chunk->base, err);
	uint64_t top = chunk_top(chunk, chunk_rows(column->rows, at));
	return top <= (uint64_t)high - (uint64_t)chunk->base ||
	       out_of_range(strip, col, (int64_t)((uint64_t)chunk->base + top), err);
}

/* Whether the starts of a chunk ascend, also across the borders to neighbouring chunks that are
 * loaded. */
static bool check_ascending(const struct hwy_strip *strip, uint32_t at, struct hwy_err *err)
{
	const struct hwy_column *column = strip->columns[HWY_START];
	uint32_t row = at << HWY_CHUNK_BITS, end = row + chunk_rows(column->rows, at);
	int64_t before =
		at && column->chunks[at - 1].loaded ? column_get(column, row - 1) : INT64_MIN;
	if (end < column->rows && column->chunks[at + 1].loaded)
		end++;
	for (; row < end; row++) {
		int64_t start = column_get(column, row);
		if (start < before)
			return hwy_fail(err,
					"lane %" PRIu32 " (%s): span %" PRIu32
					" starts before the one in front of it",
					strip->lane, hwy_kind_names[strip->kind], row);
		before = start;
	}
	return true;
}

/* Whether every link leads to a call: hwy_corr relies on that and does not check it again. */
static bool check_links(const struct hwy_trace *trace, const struct hwy_strip *strip, uint32_t at,
			struct hwy_err *err)
{
	const struct hwy_column *column = strip->columns[HWY_LINK];
	const struct hwy_strip *api = NULL; /* the strip of the previous link's call */
	uint32_t row = at << HWY_CHUNK_BITS, end = row + chunk_rows(column->rows, at);
	for (; row < end; row++) {
		int64_t link = column_get(column, row);
		uint32_t id, api_row;
		if (!hwy_ref_to_index(link, &id))
			continue;
		if (!api || id < api->first || id - api->first >= api->rows)
			api = hwy_strip_of(trace, id, &api_row);
		if (api->kind != HWY_API)
			return out_of_range(strip, HWY_LINK, link, err);
	}
	return true;
}

static int64_t least_value(unsigned col)
{
	return col == HWY_START ? -HWY_TIME_LIMIT : 0;
}

bool check_chunk(const struct hwy_trace *trace, const struct hwy_strip *strip, unsigned col,
		 uint32_t at, struct hwy_err *err)
{
	int64_t limit = hwy_column_limit(trace, col);
	if (limit >= 0 && !check_limits(strip, col, at, least_value(col), limit, err))
		return false;
	if (col == HWY_START)
		return check_ascending(strip, at, err);
	return col != HWY_LINK || check_links(trace, strip, at, err);
}

bool check_column(const struct hwy_trace *trace, const struct hwy_strip *strip, unsigned col,
		  struct hwy_err *err)
{
	for (uint32_t i = 0; i < strip->columns[col]->n_chunks; i++)
		if (!check_chunk(trace, strip, col, i, err))
			return false;
	return true;
}

bool check_value(const struct hwy_trace *trace, const struct hwy_strip *strip, unsigned col,
		 int64_t value, struct hwy_err *err)
{
	int64_t limit = hwy_column_limit(trace, col);
	if (limit >= 0 && (value < least_value(col) || value > limit))
		return out_of_range(strip, col, value, err);
	uint32_t call, row;
	if (col == HWY_LINK && hwy_ref_to_index(value, &call) &&
	    hwy_strip_of(trace, call, &row)->kind != HWY_API)
		return out_of_range(strip, col, value, err);
	return true;
}

/* ---- records --------------------------------------------------------------------------------- */

struct range {
	const char *field;
	int64_t value, count;
	bool may_be_none;
};

static bool check_ranges(const char *table, uint32_t row, const struct range *ranges, size_t n,
			 struct hwy_err *err)
{
	for (size_t i = 0; i < n; i++) {
		const struct range *r = &ranges[i];
		if ((r->value == HWY_NONE && r->may_be_none) ||
		    (r->value >= 0 && r->value < r->count))
			continue;
		return hwy_fail(err, "%s %" PRIu32 ": '%s' is %" PRId64 ", there are %" PRId64,
				table, row, r->field, r->value, r->count);
	}
	return true;
}

static struct range index_range(const char *field, int64_t value, uint32_t count)
{
	return (struct range){.field = field, .value = value, .count = count, .may_be_none = true};
}

/* INDEX(lane, process, processes): lane->process is an index into trace->processes, or HWY_NONE. */
#define INDEX(record, field, table) index_range(#field, (record)->field, trace->n_##table)
#define CHECK(table, record, ...)                                                                  \
	for (uint32_t i = 0; i < trace->n_##table; i++) {                                          \
		const __typeof__(*trace->table) *record = &trace->table[i];                        \
		const struct range ranges[] = {__VA_ARGS__};                                       \
		if (!check_ranges(#table, i, ranges, sizeof ranges / sizeof *ranges, err))         \
			return false;                                                              \
	}

/* Checks the records of lanes, processes, threads, devices, contexts, streams and modules. */
static bool check_places(const struct hwy_trace *trace, struct hwy_err *err)
{
	CHECK(lanes, lane, {"type", lane->type, HWY_LANE_TYPES, false},
	      INDEX(lane, process, processes), INDEX(lane, thread, threads),
	      INDEX(lane, device, devices), INDEX(lane, stream, streams))
	CHECK(processes, process, INDEX(process, host, hosts), INDEX(process, parent, processes))
	CHECK(threads, thread, INDEX(thread, process, processes))
	CHECK(devices, device, INDEX(device, host, hosts))
	CHECK(contexts, context, INDEX(context, process, processes),
	      INDEX(context, device, devices))
	CHECK(streams, stream, INDEX(stream, process, processes), INDEX(stream, device, devices))
	CHECK(modules, module, INDEX(module, process, processes))
	return true;
}

/* Checks the records of messages, pings, clocks, calibrations, drops, diagnostics and results. */
static bool check_reports(const struct hwy_trace *trace, struct hwy_err *err)
{
	CHECK(messages, message, INDEX(message, process, processes), INDEX(message, group, groups),
	      INDEX(message, span, spans), INDEX(message, asked, spans),
	      INDEX(message, done, spans), {"kind", message->kind, HWY_MESSAGE_KINDS, false})
	CHECK(pings, ping, INDEX(ping, process, processes))
	CHECK(clocks, clock, INDEX(clock, host, hosts), INDEX(clock, device, devices))
	CHECK(calibrations, calibration, INDEX(calibration, device, devices))
	CHECK(drops, drop, INDEX(drop, process, processes), INDEX(drop, thread, threads))
	CHECK(diagnostics, diagnostic, INDEX(diagnostic, process, processes))
	CHECK(results, result, {"version", result->version, INT64_MAX, true},
	      {"bytes", result->bytes, INT64_MAX, false})
	return true;
}

/* Checks the records of stacks, edges, groups, graph nodes and measured kernels. */
static bool check_stories(const struct hwy_trace *trace, struct hwy_err *err)
{
	/* A caller's entry stands before the entries of its callees, so the trie has no cycle. */
	CHECK(stacks, stack, {"parent", stack->parent, (int64_t)i + 1, false},
	      {"frame", stack->frame, trace->n_frames, false})
	CHECK(edges, edge, {"kind", edge->kind, HWY_EDGE_KINDS, false},
	      {"from", edge->from, trace->n_spans, false}, {"to", edge->to, trace->n_spans, false})
	CHECK(groups, group, INDEX(group, process, processes))
	CHECK(nodes, node, INDEX(node, process, processes), INDEX(node, thread, threads),
	      {"stack", node->stack, (int64_t)trace->n_stacks + 1, false})
	CHECK(node_edges, edge, INDEX(edge, process, processes))
	CHECK(measured, kernel, INDEX(kernel, shape, shapes), INDEX(kernel, device, devices))
	CHECK(measures, measure, {"measured", measure->measured, trace->n_measured, false})
	return true;
}

static bool is_out_of_time(int64_t time)
{
	return time != HWY_NONE && (time >= HWY_TIME_LIMIT || time <= -HWY_TIME_LIMIT);
}

/* Whether the nodes of graphs and their edges are sorted, since lookups are binary searches, and
 * whether times of nodes are within the limits of spans. */
static bool check_node_order(const struct hwy_trace *trace, struct hwy_err *err)
{
	for (uint32_t i = 0; i < trace->n_nodes; i++) {
		if (is_out_of_time(trace->nodes[i].time))
			return hwy_fail(err, "nodes %" PRIu32 ": 'time' is out of range", i);
	}
	for (uint32_t i = 1; i < trace->n_nodes; i++) {
		const struct hwy_node *now = &trace->nodes[i], *before = now - 1;
		if (now->process < before->process ||
		    (now->process == before->process && now->node <= before->node))
			return hwy_fail(err, "nodes %" PRIu32 ": not in order", i);
	}
	for (uint32_t i = 1; i < trace->n_node_edges; i++) {
		const struct hwy_node_edge *now = &trace->node_edges[i], *before = now - 1;
		if (now->process < before->process ||
		    (now->process == before->process && now->node < before->node))
			return hwy_fail(err, "node_edges %" PRIu32 ": not in order", i);
	}
	return true;
}

/* Whether times of messages and pings are within the limits of spans: analyses subtract them. */
static bool check_message_times(const struct hwy_trace *trace, struct hwy_err *err)
{
	for (uint32_t i = 0; i < trace->n_messages; i++) {
		const struct hwy_message *m = &trace->messages[i];
		const int64_t times[] = {m->posted, m->start, m->end};
		for (size_t t = 0; t < sizeof times / sizeof *times; t++)
			if (is_out_of_time(times[t]))
				return hwy_fail(err, "messages %" PRIu32 ": a time is out of range",
						i);
	}
	for (uint32_t i = 0; i < trace->n_pings; i++)
		if (is_out_of_time(trace->pings[i].time) ||
		    is_out_of_time(trace->pings[i].peer_time))
			return hwy_fail(err, "pings %" PRIu32 ": a time is out of range", i);
	return true;
}

bool check_records(const struct hwy_trace *trace, struct hwy_err *err)
{
	return check_places(trace, err) && check_stories(trace, err) && check_reports(trace, err) &&
	       check_node_order(trace, err) && check_message_times(trace, err);
}
