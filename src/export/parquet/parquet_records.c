/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_records.c - the tables that say who is who and what was told beside spans: lanes, processes,
 * devices, properties, messages …
 *
 * The columns are the fields of the report's tables (docs/report-format.md), '-' in place of '_', behind
 * "id", the number by which other tables refer to a row. Launch shapes, symbols and stacks are spelled out
 * in the tables of spans.
 */
#include <string.h>

#include "export/parquet/parquet.h"

/* What a field holds: a number, a text, a time, a span's id … */
enum holds {
	NUMBER,
	TEXT,
	TIME,
	STACK,
	REAL,
	LANE_TYPE,
	VALUE_TYPE,
	EDGE_KIND,
	MESSAGE_KIND,
	SEVERITY,
};
static const char *const value_types[] = {"", "", "i64", "double"};
static const char *const edge_kinds[] = {"event",      "forward", "wake",   "spawn",
					 "collective", "launch",  "message"};
static const char *const message_kinds[] = {"send", "receive", "collective"};
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
	[EDGE_KIND] = NAMES(edge_kinds),
	[MESSAGE_KIND] = NAMES(message_kinds),
	[SEVERITY] = NAMES(severities),
};

#define ID                                                                                         \
	{                                                                                          \
		"id", PARQUET_NUMBER, false                                                        \
	}
#define N(name)                                                                                    \
	{                                                                                          \
		name, PARQUET_NUMBER, true                                                         \
	}
#define T(name)                                                                                    \
	{                                                                                          \
		name, PARQUET_TEXT, true                                                           \
	}
#define R(name)                                                                                    \
	{                                                                                          \
		name, PARQUET_REAL, true                                                           \
	}

static const struct parquet_field lane_fields[] = {
	ID,          T("type"), N("process"), N("thread"),     N("device"),
	N("stream"), T("name"), T("unit"),    T("value-type"), T("label")};
static const struct parquet_field host_fields[] = {ID,          T("name"), T("cpu"),    N("cpus"),
						   T("kernel"), T("os"),   T("boot-id")};
static const struct parquet_field process_fields[] = {
	ID,       N("host"), N("pid"),  N("parent"),     T("name"),  T("command"), N("start"),
	N("end"), N("exit"), N("rank"), N("local-rank"), N("world"), T("labels"),  N("source-id")};
static const struct parquet_field thread_fields[] = {ID,        N("process"),  N("tid"),
						     T("name"), N("priority"), T("source-name")};
static const struct parquet_field device_fields[] = {ID,
						     N("host"),
						     N("ordinal"),
						     T("uuid"),
						     T("name"),
						     T("bus"),
						     N("compute-major"),
						     N("compute-minor"),
						     N("sms"),
						     N("threads-per-warp"),
						     N("max-warps-per-sm"),
						     N("max-blocks-per-sm"),
						     N("max-threads-per-block"),
						     N("registers-per-sm"),
						     N("registers-per-block"),
						     N("shared-per-sm"),
						     N("shared-per-block"),
						     N("shared-per-block-optin"),
						     N("l2-bytes"),
						     N("memory-bytes"),
						     N("memory-bandwidth"),
						     N("clock-hz"),
						     N("copy-engines"),
						     N("pcie-generation"),
						     N("pcie-width"),
						     N("max-threads-per-sm")};
static const struct parquet_field context_fields[] = {
	ID,         N("process"),     N("device"), N("number"), N("parent"),
	N("green"), N("null-stream"), N("sms"),    T("name")};
static const struct parquet_field stream_fields[] = {
	ID,          N("process"),  N("device"), N("context"), N("green"),
	N("number"), N("priority"), N("flags"),  T("name"),    N("ordinal")};
static const struct parquet_field module_fields[] = {
	ID, N("process"), T("path"), T("build-id"), N("base"), N("size")};
static const struct parquet_field edge_fields[] = {ID, T("kind"), N("from"), N("to"),
						   N("source-id")};
static const struct parquet_field group_fields[] = {
	ID, N("process"), T("name"), T("description"), T("backend"), N("size"), T("ranks")};
static const struct parquet_field clock_fields[] = {
	ID,          N("host"),       N("monotonic"), N("monotonic-raw"), N("realtime"),
	N("device"), N("device-time")};
static const struct parquet_field calibration_fields[] = {ID,         N("device"), T("name"),
							  N("value"), N("spread"), T("unit")};
static const struct parquet_field drop_fields[] = {ID,          N("process"), N("thread"),
						   T("source"), T("reason"),  N("count"),
						   N("bytes"),  N("from"),    N("to")};
static const struct parquet_field diagnostic_fields[] = {ID, N("time"), T("severity"), N("process"),
							 T("text")};
static const struct parquet_field property_fields[] = {ID, T("name"), T("value")};
static const struct parquet_field node_fields[] = {ID,        N("process"), N("thread"), N("graph"),
						   N("node"), N("time"),    T("stack")};
static const struct parquet_field node_edge_fields[] = {ID, N("process"), N("graph"), N("node"),
							N("after")};
static const struct parquet_field measured_fields[] = {
	ID, T("kernel"), N("shape"), N("device"), N("ordinal"), N("launches"), T("source")};
static const struct parquet_field measure_fields[] = {ID, N("measured"), T("metric"), R("value")};
static const struct parquet_field stalled_fields[] = {ID,        T("kernel"), T("file"),
						      N("line"), T("reason"), N("samples")};
static const struct parquet_field ping_fields[] = {ID,        N("process"),   N("peer"),
						   N("time"), N("peer-time"), N("error")};
/* The columns of messages.csv. */
static const struct parquet_field message_fields[] = {ID,
						      N("pid"),
						      N("rank"),
						      T("library"),
						      T("kind"),
						      T("name"),
						      T("communicator"),
						      T("ranks"),
						      N("peer"),
						      N("tag"),
						      N("sent"),
						      N("received"),
						      N("count"),
						      T("datatype"),
						      N("sequence"),
						      T("algorithm"),
						      T("protocol"),
						      N("channels"),
						      N("posted"),
						      N("start"),
						      N("end"),
						      N("wait-gpu"),
						      N("wait-peer"),
						      N("wait-network"),
						      N("span"),
						      N("asked"),
						      N("done")};

/* Fields that are neither numbers nor texts, by their place in the record. */
struct special {
	uint8_t field, holds;
};

static const struct record_table {
	const char *name;
	enum hwy_table table;
	const struct parquet_field *fields;
	uint32_t n_fields, record; /* record: how many fields the record has */
	struct special specials[3];
} record_tables[] = {
#define TABLE(name, type, list, ...)                                                               \
	{                                                                                          \
#name, HWY_TABLE_##name, list, sizeof list / sizeof *list,                         \
			sizeof(struct type) / sizeof(int64_t),                                     \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
	TABLE(lanes, hwy_lane, lane_fields, {0, LANE_TYPE}, {7, VALUE_TYPE}),
	TABLE(hosts, hwy_host, host_fields, {0, TEXT}),
	TABLE(processes, hwy_process, process_fields, {5, TIME}, {6, TIME}),
	TABLE(threads, hwy_thread, thread_fields, {2, TEXT}),
	TABLE(devices, hwy_device, device_fields, {2, TEXT}),
	TABLE(contexts, hwy_context, context_fields, {7, TEXT}),
	TABLE(streams, hwy_stream, stream_fields, {7, TEXT}),
	TABLE(modules, hwy_module, module_fields, {1, TEXT}),
	TABLE(edges, hwy_edge, edge_fields, {0, EDGE_KIND}),
	TABLE(groups, hwy_group, group_fields, {1, TEXT}),
	TABLE(clocks, hwy_clock, clock_fields, {1, TIME}),
	TABLE(calibrations, hwy_calibration, calibration_fields, {1, TEXT}),
	TABLE(drops, hwy_drop, drop_fields, {6, TIME}, {7, TIME}),
	TABLE(diagnostics, hwy_diagnostic, diagnostic_fields, {0, TIME}, {1, SEVERITY}),
	TABLE(properties, hwy_property, property_fields, {0, TEXT}),
	TABLE(nodes, hwy_node, node_fields, {4, TIME}, {5, STACK}),
	TABLE(node_edges, hwy_node_edge, node_edge_fields, {0, NUMBER}),
	TABLE(measured, hwy_measured, measured_fields, {0, TEXT}),
	TABLE(measures, hwy_measure, measure_fields, {2, REAL}),
	TABLE(stalled_lines, hwy_stalled_line, stalled_fields, {0, TEXT}),
	TABLE(pings, hwy_ping, ping_fields, {2, TIME}),
#undef TABLE
};
enum { TABLES = sizeof record_tables / sizeof *record_tables };

const char *parquet_record_fields(uint32_t i, const struct parquet_field **fields, uint32_t *n)
{
	if (i > TABLES)
		return NULL;
	*fields = i < TABLES ? record_tables[i].fields : message_fields;
	*n = i < TABLES ? record_tables[i].n_fields
			: sizeof message_fields / sizeof *message_fields;
	return i < TABLES ? record_tables[i].name : "messages";
}

/* ---- cells ------------------------------------------------------------------------------------- */

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

static bool text_cell(const struct parquet *p, int64_t id, int64_t *value)
{
	*value = id;
	return export_text(&p->x, id).length > 0;
}

static bool word_cell(struct parquet *p, const char *word, int64_t *value)
{
	*value = export_text_id(&p->x, word);
	return *word != '\0';
}

static bool special_cell(struct parquet *p, enum holds holds, int64_t stored, int64_t *value)
{
	switch (holds) {
	case TIME: *value = parquet_time(p, stored); return stored != HWY_NONE;
	case REAL: *value = stored; return true;
	case STACK: {
		if (!hwy_ref_is_set(stored))
			return false;
		struct hwy_text text = parquet_stack_text(p, stored);
		*value = p->x.trace->strings.n + hwy_intern(&p->x.extra, text.at, text.length);
		return true;
	}
	default: break;
	}
	if (stored < 0 || stored >= names_of[holds].n)
		return false;
	return word_cell(p, names_of[holds].names[stored], value);
}

static bool record_cell(struct parquet *p, const void *user, uint32_t row, uint32_t field,
			int64_t *value)
{
	const struct record_table *table = user;
	*value = row;
	if (field == 0)
		return true;
	if (field > table->record) { /* only lanes have a column more than their record */
		char label[512];
		export_lane_label(p->x.trace, row, label, sizeof label);
		return word_cell(p, label, value);
	}
	const int64_t *records = records_of(p->x.trace, table->table);
	int64_t stored = records[(size_t)row * table->record + field - 1];
	for (size_t i = 0; i < sizeof table->specials / sizeof *table->specials; i++)
		if (table->specials[i].field + 1u == field && table->specials[i].holds > TEXT)
			return special_cell(p, table->specials[i].holds, stored, value);
	if (table->fields[field].type == PARQUET_TEXT)
		return text_cell(p, stored, value);
	*value = stored;
	return stored != HWY_NONE;
}

/* ---- messages ---------------------------------------------------------------------------------- */

static bool message_number(int64_t stored, int64_t *value)
{
	*value = stored;
	return stored != HWY_NONE;
}

static bool message_cell(struct parquet *p, const void *user, uint32_t row, uint32_t field,
			 int64_t *value)
{
	(void)user;
	const struct hwy_trace *trace = p->x.trace;
	const struct hwy_message *m = &trace->messages[row];
	const struct hwy_process *process = export_process(trace, m->process);
	const struct hwy_group *group = m->group == HWY_NONE ? NULL : &trace->groups[m->group];
	const int64_t texts[] = {[3] = m->library,
				 [5] = m->name,
				 [6] = group ? group->name : 0,
				 [7] = group ? group->ranks : 0,
				 [13] = m->datatype,
				 [15] = m->algorithm,
				 [16] = m->protocol};
	const int64_t numbers[] = {row,
				   process ? process->pid : HWY_NONE,
				   process ? process->rank : HWY_NONE,
				   0,
				   0,
				   0,
				   0,
				   0,
				   m->peer,
				   m->tag,
				   m->sent,
				   m->received,
				   m->count,
				   0,
				   m->sequence,
				   0,
				   0,
				   m->channels,
				   m->posted,
				   m->start,
				   m->end,
				   m->wait_gpu,
				   m->wait_peer,
				   m->wait_network,
				   m->span,
				   m->asked,
				   m->done};
	if (field == 4)
		return special_cell(p, MESSAGE_KIND, m->kind, value);
	if (message_fields[field].type == PARQUET_TEXT)
		return text_cell(p, texts[field], value);
	if (field >= 18 && field <= 20)
		return special_cell(p, TIME, numbers[field], value);
	return message_number(numbers[field], value);
}

/* A cut export may lack the spans that edges and messages are between. */
bool parquet_records_write(struct parquet *p)
{
	const struct hwy_trace *trace = p->x.trace;
	bool ok = true, is_cut = export_is_cut(&p->x);
	for (uint32_t i = 0; i < TABLES && ok; i++) {
		const struct record_table *table = &record_tables[i];
		if (is_cut && table->table == HWY_TABLE_edges)
			continue;
		ok = parquet_cells_write(
			p, &(struct parquet_cells){table->name, table->fields, table->n_fields,
						   hwy_table_rows(trace, table->table), record_cell,
						   table});
	}
	struct parquet_cells messages = {"messages",
					 message_fields,
					 sizeof message_fields / sizeof *message_fields,
					 is_cut ? 0 : trace->n_messages,
					 message_cell,
					 NULL};
	return ok && parquet_cells_write(p, &messages);
}
