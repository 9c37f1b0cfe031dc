/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_records.c - the tables that say who is who and what was told beside spans: lanes,
 * processes, devices, properties, messages …
 *
 * Columns that end in _id hold the id of a row of another table of the same rank. Launch shapes,
 * symbols and stacks are spelled out in the tables of spans.
 */
#include <stddef.h>
#include <string.h>

#include "export/parquet/parquet.h"

/* What a column holds, and what of the record: a number of a field. */
enum holds {
	NUMBER,
	TEXT,
	TIME,
	STACK, /* a reference to a stack: its functions */
	REAL,
	LANE_TYPE,
	VALUE_TYPE,
	EDGE_KIND,
	MESSAGE_KIND,
	SEVERITY,
	ROW, /* not a field: the number of the row */
	/* Of a lane, not fields: what its spans have in the columns of these names. */
	LANE_PID,
	LANE_TID,
	LANE_THREAD,
	LANE_DEVICE,
	LANE_CONTEXT,
	LANE_STREAM,
	LANE_LABEL,
	/* Of a message, not fields: those of its process and its communicator. */
	MESSAGE_PID,
	MESSAGE_RANK,
	GROUP_NAME,
	GROUP_RANKS,
};

struct record_column {
	const char *name;
	enum holds holds;
	unsigned field;
};

static const char *const value_types[] = {"", "", "i64", "double"};
static const char *const message_kinds[HWY_MESSAGE_KINDS] = {"send", "receive", "collective"};
static const char *const severities[] = {"", "info", "warning", "error"};
#define NAMES(list)                                                                                \
	{                                                                                          \
		list, sizeof list / sizeof *list                                                   \
	}
static const struct {
	const char *const *names;
	uint32_t n;
} names_of[] = {
	[LANE_TYPE] = {hwy_lane_type_names, HWY_LANE_TYPES},
	[VALUE_TYPE] = NAMES(value_types),
	[EDGE_KIND] = NAMES(hwy_edge_kind_names),
	[MESSAGE_KIND] = NAMES(message_kinds),
	[SEVERITY] = NAMES(severities),
};

/* clang-format off */
#define AS(name, holds, type, field) {name, holds, offsetof(struct type, field) / sizeof(int64_t)}
#define OF(holds, type, field) AS(#field, holds, type, field)
#define ID {"id", ROW, 0}

static const struct record_column lane_columns[] = {
	ID, {"pid", LANE_PID, 0}, {"tid", LANE_TID, 0}, {"thread", LANE_THREAD, 0}, {"device", LANE_DEVICE, 0},
	{"context", LANE_CONTEXT, 0}, {"stream", LANE_STREAM, 0}, AS("lane", LANE_TYPE, hwy_lane, type),
	AS("domain", TEXT, hwy_lane, name), AS("process_id", NUMBER, hwy_lane, process),
	AS("thread_id", NUMBER, hwy_lane, thread), AS("device_id", NUMBER, hwy_lane, device),
	AS("stream_id", NUMBER, hwy_lane, stream), OF(TEXT, hwy_lane, unit), OF(VALUE_TYPE, hwy_lane, value_type),
	{"label", LANE_LABEL, 0},
};
static const struct record_column host_columns[] = {
	ID, OF(TEXT, hwy_host, name), OF(TEXT, hwy_host, cpu), OF(NUMBER, hwy_host, cpus), OF(TEXT, hwy_host, kernel),
	OF(TEXT, hwy_host, os), OF(TEXT, hwy_host, boot_id),
};
static const struct record_column process_columns[] = {
	ID, OF(NUMBER, hwy_process, pid), OF(TEXT, hwy_process, name), OF(TEXT, hwy_process, command),
	AS("host_id", NUMBER, hwy_process, host), AS("parent_id", NUMBER, hwy_process, parent),
	OF(TIME, hwy_process, start), OF(TIME, hwy_process, end), OF(NUMBER, hwy_process, exit),
	OF(NUMBER, hwy_process, rank), OF(NUMBER, hwy_process, local_rank), OF(NUMBER, hwy_process, world),
	OF(TEXT, hwy_process, labels), AS("source", NUMBER, hwy_process, source_id),
};
static const struct record_column thread_columns[] = {
	ID, OF(NUMBER, hwy_thread, tid), OF(TEXT, hwy_thread, name), AS("process_id", NUMBER, hwy_thread, process),
	OF(NUMBER, hwy_thread, priority), OF(TEXT, hwy_thread, source_name),
};
static const struct record_column device_columns[] = {
	ID, AS("device", NUMBER, hwy_device, ordinal), OF(TEXT, hwy_device, name), AS("host_id", NUMBER, hwy_device, host),
	OF(TEXT, hwy_device, uuid), OF(TEXT, hwy_device, bus), OF(NUMBER, hwy_device, compute_major),
	OF(NUMBER, hwy_device, compute_minor), OF(NUMBER, hwy_device, sms), OF(NUMBER, hwy_device, threads_per_warp),
	OF(NUMBER, hwy_device, max_warps_per_sm), OF(NUMBER, hwy_device, max_blocks_per_sm),
	OF(NUMBER, hwy_device, max_threads_per_sm), OF(NUMBER, hwy_device, max_threads_per_block),
	OF(NUMBER, hwy_device, registers_per_sm), OF(NUMBER, hwy_device, registers_per_block),
	OF(NUMBER, hwy_device, shared_per_sm), OF(NUMBER, hwy_device, shared_per_block),
	OF(NUMBER, hwy_device, shared_per_block_optin), OF(NUMBER, hwy_device, l2_bytes),
	OF(NUMBER, hwy_device, memory_bytes), OF(NUMBER, hwy_device, memory_bandwidth), OF(NUMBER, hwy_device, clock_hz),
	OF(NUMBER, hwy_device, copy_engines), OF(NUMBER, hwy_device, pcie_generation), OF(NUMBER, hwy_device, pcie_width),
};
static const struct record_column context_columns[] = {
	ID, AS("context", NUMBER, hwy_context, number), AS("process_id", NUMBER, hwy_context, process),
	AS("device_id", NUMBER, hwy_context, device), OF(NUMBER, hwy_context, parent), OF(NUMBER, hwy_context, green),
	OF(NUMBER, hwy_context, null_stream), OF(NUMBER, hwy_context, sms), OF(TEXT, hwy_context, name),
};
static const struct record_column stream_columns[] = {
	ID, AS("stream", NUMBER, hwy_stream, number), OF(TEXT, hwy_stream, name), AS("process_id", NUMBER, hwy_stream, process),
	AS("device_id", NUMBER, hwy_stream, device), OF(NUMBER, hwy_stream, context), OF(NUMBER, hwy_stream, green),
	OF(NUMBER, hwy_stream, priority), OF(NUMBER, hwy_stream, flags), AS("process_device", NUMBER, hwy_stream, ordinal),
};
static const struct record_column module_columns[] = {
	ID, OF(TEXT, hwy_module, path), AS("process_id", NUMBER, hwy_module, process), OF(TEXT, hwy_module, build_id),
	OF(NUMBER, hwy_module, base), OF(NUMBER, hwy_module, size),
};
static const struct record_column edge_columns[] = {
	ID, OF(EDGE_KIND, hwy_edge, kind), AS("source", NUMBER, hwy_edge, from), AS("target", NUMBER, hwy_edge, to),
	AS("arrow", NUMBER, hwy_edge, id),
};
static const struct record_column group_columns[] = {
	ID, OF(TEXT, hwy_group, name), AS("process_id", NUMBER, hwy_group, process), OF(TEXT, hwy_group, description),
	OF(TEXT, hwy_group, backend), OF(NUMBER, hwy_group, size), OF(TEXT, hwy_group, ranks),
};
static const struct record_column clock_columns[] = {
	ID, AS("host_id", NUMBER, hwy_clock, host), OF(TIME, hwy_clock, monotonic), OF(NUMBER, hwy_clock, monotonic_raw),
	OF(NUMBER, hwy_clock, realtime), AS("device_id", NUMBER, hwy_clock, device), OF(NUMBER, hwy_clock, device_time),
};
static const struct record_column calibration_columns[] = {
	ID, AS("device_id", NUMBER, hwy_calibration, device), OF(TEXT, hwy_calibration, name),
	OF(NUMBER, hwy_calibration, value), OF(NUMBER, hwy_calibration, spread), OF(TEXT, hwy_calibration, unit),
};
static const struct record_column drop_columns[] = {
	ID, OF(TEXT, hwy_drop, source), OF(TEXT, hwy_drop, reason), OF(NUMBER, hwy_drop, count), OF(NUMBER, hwy_drop, bytes),
	AS("start", TIME, hwy_drop, from), AS("end", TIME, hwy_drop, to), AS("process_id", NUMBER, hwy_drop, process),
	AS("thread_id", NUMBER, hwy_drop, thread),
};
static const struct record_column diagnostic_columns[] = {
	ID, OF(SEVERITY, hwy_diagnostic, severity), OF(TIME, hwy_diagnostic, time),
	AS("process_id", NUMBER, hwy_diagnostic, process), OF(TEXT, hwy_diagnostic, text),
};
static const struct record_column property_columns[] = {
	ID, OF(TEXT, hwy_property, name), OF(TEXT, hwy_property, value),
};
static const struct record_column node_columns[] = {
	ID, AS("process_id", NUMBER, hwy_node, process), AS("thread_id", NUMBER, hwy_node, thread),
	OF(NUMBER, hwy_node, graph), OF(NUMBER, hwy_node, node), OF(TIME, hwy_node, time), OF(STACK, hwy_node, stack),
};
static const struct record_column node_edge_columns[] = {
	ID, AS("process_id", NUMBER, hwy_node_edge, process), OF(NUMBER, hwy_node_edge, graph),
	OF(NUMBER, hwy_node_edge, node), OF(NUMBER, hwy_node_edge, after),
};
static const struct record_column measured_columns[] = {
	ID, OF(TEXT, hwy_measured, kernel), AS("device_id", NUMBER, hwy_measured, device),
	OF(NUMBER, hwy_measured, ordinal), OF(NUMBER, hwy_measured, launches), OF(TEXT, hwy_measured, source),
};
static const struct record_column measure_columns[] = {
	ID, AS("measured_id", NUMBER, hwy_measure, measured), OF(TEXT, hwy_measure, metric), OF(REAL, hwy_measure, value),
};
static const struct record_column stalled_columns[] = {
	ID, OF(TEXT, hwy_stalled_line, kernel), OF(TEXT, hwy_stalled_line, file), OF(NUMBER, hwy_stalled_line, line),
	OF(TEXT, hwy_stalled_line, reason), OF(NUMBER, hwy_stalled_line, samples),
};
static const struct record_column ping_columns[] = {
	ID, AS("process_id", NUMBER, hwy_ping, process), OF(NUMBER, hwy_ping, peer), OF(TIME, hwy_ping, time),
	OF(NUMBER, hwy_ping, peer_time), OF(NUMBER, hwy_ping, error),
};
/* The columns of messages.csv. */
static const struct record_column message_columns[] = {
	ID, {"pid", MESSAGE_PID, 0}, {"rank", MESSAGE_RANK, 0}, OF(TEXT, hwy_message, library),
	OF(MESSAGE_KIND, hwy_message, kind), OF(TEXT, hwy_message, name), {"communicator", GROUP_NAME, 0},
	{"ranks", GROUP_RANKS, 0}, OF(NUMBER, hwy_message, peer), OF(NUMBER, hwy_message, tag),
	OF(NUMBER, hwy_message, sent), OF(NUMBER, hwy_message, received), OF(NUMBER, hwy_message, count),
	OF(TEXT, hwy_message, datatype), OF(NUMBER, hwy_message, sequence), OF(TEXT, hwy_message, algorithm),
	OF(TEXT, hwy_message, protocol), OF(NUMBER, hwy_message, channels), OF(TIME, hwy_message, posted),
	OF(TIME, hwy_message, start), OF(TIME, hwy_message, end), OF(NUMBER, hwy_message, wait_gpu),
	OF(NUMBER, hwy_message, wait_peer), OF(NUMBER, hwy_message, wait_network), OF(NUMBER, hwy_message, span),
	OF(NUMBER, hwy_message, asked), OF(NUMBER, hwy_message, done),
};
/* clang-format on */

static const struct record_table {
	const char *name;
	enum hwy_table table;
	const struct record_column *columns;
	uint32_t n_columns, record; /* record: how many fields the record has */
	bool joins_spans;           /* rows name spans, which a part of a recording may lack */
} record_tables[] = {
#define TABLE(name, type, list, joins)                                                             \
	{                                                                                          \
#name, HWY_TABLE_##name, list, sizeof list / sizeof *list,                         \
			sizeof(struct type) / sizeof(int64_t), joins                               \
	}
	TABLE(lanes, hwy_lane, lane_columns, false),
	TABLE(hosts, hwy_host, host_columns, false),
	TABLE(processes, hwy_process, process_columns, false),
	TABLE(threads, hwy_thread, thread_columns, false),
	TABLE(devices, hwy_device, device_columns, false),
	TABLE(contexts, hwy_context, context_columns, false),
	TABLE(streams, hwy_stream, stream_columns, false),
	TABLE(modules, hwy_module, module_columns, false),
	TABLE(edges, hwy_edge, edge_columns, true),
	TABLE(groups, hwy_group, group_columns, false),
	TABLE(clocks, hwy_clock, clock_columns, false),
	TABLE(calibrations, hwy_calibration, calibration_columns, false),
	TABLE(drops, hwy_drop, drop_columns, false),
	TABLE(diagnostics, hwy_diagnostic, diagnostic_columns, false),
	TABLE(properties, hwy_property, property_columns, false),
	TABLE(nodes, hwy_node, node_columns, false),
	TABLE(node_edges, hwy_node_edge, node_edge_columns, false),
	TABLE(measured, hwy_measured, measured_columns, false),
	TABLE(measures, hwy_measure, measure_columns, false),
	TABLE(stalled_lines, hwy_stalled_line, stalled_columns, false),
	TABLE(messages, hwy_message, message_columns, true),
	TABLE(pings, hwy_ping, ping_columns, false),
#undef TABLE
};
enum { TABLES = sizeof record_tables / sizeof *record_tables };

static struct parquet_field record_field(const struct record_column *column)
{
	static const uint32_t numbers = 1u << NUMBER | 1u << TIME | 1u << ROW | 1u << LANE_PID |
					1u << LANE_TID | 1u << LANE_DEVICE | 1u << LANE_CONTEXT |
					1u << LANE_STREAM | 1u << MESSAGE_PID | 1u << MESSAGE_RANK;
	enum parquet_type type = column->holds == REAL                    ? PARQUET_REAL
				 : numbers & UINT32_C(1) << column->holds ? PARQUET_NUMBER
									  : PARQUET_TEXT;
	return (struct parquet_field){column->name, type, column->holds != ROW};
}

const char *parquet_record_fields(uint32_t i, struct parquet_field fields[PARQUET_MOST_FIELDS],
				  uint32_t *n)
{
	if (i >= TABLES)
		return NULL;
	*n = record_tables[i].n_columns;
	for (uint32_t c = 0; c < *n; c++)
		fields[c] = record_field(&record_tables[i].columns[c]);
	return record_tables[i].name;
}

/* ---- cells ----------------------------------------------------------------------------------- */

static const int64_t *records_of(const struct hwy_trace *trace, enum hwy_table table)
{
	switch (table) {
#define X(type, field, section)                                                                    \
	case HWY_TABLE_##field: return (const int64_t *)(const void *)trace->field;
		HWY_RECORDS(X)
#undef X
	case HWY_TABLE_NONE: break;
	}
	return NULL;
}

static bool number_cell(int64_t number, int64_t *value)
{
	*value = number;
	return number != HWY_NONE;
}

static bool text_cell(const struct parquet *p, int64_t id, int64_t *value)
{
	*value = id;
	return hwy_text(p->x.trace, id).length > 0;
}

static bool word_cell(struct parquet *p, const char *word, int64_t *value)
{
	*value = export_text_id(&p->x, word);
	return *word != '\0';
}

static bool stack_cell(struct parquet *p, int64_t stack, int64_t *value)
{
	if (!hwy_ref_is_set(stack))
		return false;
	struct hwy_text text = parquet_stack_text(p, stack);
	*value = p->x.trace->strings.n + hwy_intern(&p->x.extra, text.at, text.length);
	return true;
}

static bool lane_cell(struct parquet *p, uint32_t row, enum holds holds, int64_t *value)
{
	const struct hwy_trace *trace = p->x.trace;
	const struct hwy_lane *lane = &trace->lanes[row];
	const struct hwy_process *process = export_process(trace, lane->process);
	const struct hwy_thread *thread = export_thread(trace, lane->thread);
	const struct hwy_device *device = export_device(trace, lane->device);
	const struct hwy_stream *stream = export_stream(trace, lane->stream);
	char label[512];
	switch (holds) {
	case LANE_PID: return number_cell(process ? process->pid : HWY_NONE, value);
	case LANE_TID: return number_cell(thread ? thread->tid : HWY_NONE, value);
	case LANE_THREAD: return text_cell(p, thread ? thread->name : 0, value);
	case LANE_DEVICE: return number_cell(device ? device->ordinal : HWY_NONE, value);
	case LANE_CONTEXT: return number_cell(stream ? stream->context : HWY_NONE, value);
	case LANE_STREAM: return number_cell(stream ? stream->number : HWY_NONE, value);
	default:
		export_lane_label(trace, row, label, sizeof label);
		return word_cell(p, label, value);
	}
}

static bool message_cell(struct parquet *p, uint32_t row, enum holds holds, int64_t *value)
{
	const struct hwy_trace *trace = p->x.trace;
	const struct hwy_message *message = &trace->messages[row];
	const struct hwy_process *process = export_process(trace, message->process);
	const struct hwy_group *group =
		message->group == HWY_NONE ? NULL : &trace->groups[message->group];
	switch (holds) {
	case MESSAGE_PID: return number_cell(process ? process->pid : HWY_NONE, value);
	case MESSAGE_RANK: return number_cell(process ? process->rank : HWY_NONE, value);
	case GROUP_NAME: return text_cell(p, group ? group->name : 0, value);
	default: return text_cell(p, group ? group->ranks : 0, value);
	}
}

static bool record_cell(struct parquet *p, const void *user, uint32_t row, uint32_t field,
			int64_t *value)
{
	const struct record_table *table = user;
	const struct record_column *column = &table->columns[field];
	const int64_t *records = records_of(p->x.trace, table->table);
	int64_t stored = records[(size_t)row * table->record + column->field];
	if (column->holds >= MESSAGE_PID)
		return message_cell(p, row, column->holds, value);
	if (column->holds >= LANE_PID)
		return lane_cell(p, row, column->holds, value);
	switch (column->holds) {
	case ROW: return number_cell(row, value);
	case NUMBER: return number_cell(stored, value);
	case TEXT: return text_cell(p, stored, value);
	case TIME: *value = parquet_time(p, stored); return stored != HWY_NONE;
	case REAL: *value = stored; return true;
	case STACK: return stack_cell(p, stored, value);
	default:
		return stored >= 0 && stored < names_of[column->holds].n &&
		       word_cell(p, names_of[column->holds].names[stored], value);
	}
}

bool parquet_records_write(struct parquet *p)
{
	struct parquet_field fields[PARQUET_MOST_FIELDS];
	uint32_t n;
	bool ok = true;
	for (uint32_t i = 0; i < TABLES && ok; i++) {
		const struct record_table *table = &record_tables[i];
		if (table->joins_spans && export_is_cut(&p->x))
			continue;
		parquet_record_fields(i, fields, &n);
		ok = parquet_cells_write(
			p, &(struct parquet_cells){table->name, fields, n,
						   hwy_table_rows(p->x.trace, table->table),
						   record_cell, table});
	}
	return ok;
}
