/* SPDX-License-Identifier: Apache-2.0 */
/* columns.c - see columns.h.
 *
 * Numbers of columns are written into .hwy files: append, never renumber (docs/report-format.md).
 */
#include "trace/columns.h"

#define NAMES(list) .names = list, .n_names = sizeof list / sizeof *list

static const char *const operations[] = {"", "allocate", "release"};
static const char *const styles[] = {"", "push-pop", "start-end", "mark"};
static const char *const payload_types[] = {
	[HWY_PAYLOAD_NONE] = "",         [HWY_PAYLOAD_U64] = "u64",
	[HWY_PAYLOAD_I64] = "i64",       [HWY_PAYLOAD_DOUBLE] = "double",
	[HWY_PAYLOAD_U32] = "u32",       [HWY_PAYLOAD_I32] = "i32",
	[HWY_PAYLOAD_FLOAT] = "float",   [HWY_PAYLOAD_JSON] = "json",
	[HWY_PAYLOAD_BINARY] = "binary",
};
static const char *const causes[] = {
	[HWY_CAUSE_NONE] = "",
	[HWY_CAUSE_UNKNOWN] = "unknown",
	[HWY_CAUSE_PREFETCH] = "prefetch",
	[HWY_CAUSE_FAULT] = "fault",
	[HWY_CAUSE_SPECULATIVE] = "speculative",
	[HWY_CAUSE_EVICTION] = "eviction",
	[HWY_CAUSE_ACCESS_COUNTERS] = "access counters",
};
static const char *const launch_types[] = {
	[HWY_LAUNCH_NONE] = "",
	[HWY_LAUNCH_REGULAR] = "regular",
	[HWY_LAUNCH_COOPERATIVE] = "cooperative",
	[HWY_LAUNCH_COOPERATIVE_MULTI_DEVICE] = "cooperative multi-device",
};

const struct hwy_column_info hwy_columns[HWY_COLS] = {
	[HWY_START] = {"start", HWY_MEANS_TIME, HWY_ABSENT_NEVER,
		       .description = "when the span begins"},
	[HWY_DUR] = {"duration", HWY_MEANS_DURATION, HWY_ABSENT_NEVER,
		     .description = "how long the span lasts, never negative"},
	[HWY_NAME] = {"name", HWY_MEANS_TEXT, .description = "kernels: the demangled name"},
	[HWY_LINK] = {"link", HWY_MEANS_SPAN, HWY_ABSENT_REF,
		      .description = "the api span that enqueued this work"},
	[HWY_CORR] = {"correlation",
		      .description =
			      "correlation id; device spans have it only when they have no link"},
	[HWY_SHAPE] = {"shape", HWY_MEANS_RECORD, HWY_ABSENT_REF, HWY_TABLE_shapes,
		       .description = "kernel: the launch shape"},
	[HWY_SYMBOL] = {"symbol", HWY_MEANS_RECORD, HWY_ABSENT_REF, HWY_TABLE_symbols,
			.description = "kernel: its names"},
	[HWY_GRAPH_ID] = {"graph", .description = "the graph's id"},
	[HWY_GRAPH_EXEC] = {"graph-exec", .description = "the instantiated graph's id"},
	[HWY_GRAPH_NODE] = {"graph-node", .description = "the node's id"},
	[HWY_CHANNEL] = {"channel", .absence = HWY_ABSENT_REF, .description = "hardware channel"},
	[HWY_CHANNEL_TYPE] = {"channel-type", .description = "the vendor's number"},
	[HWY_QUEUED] = {"queued", HWY_MEANS_TIME,
			.description = "when the work was put into its queue"},
	[HWY_SUBMITTED] = {"submitted", HWY_MEANS_TIME,
			   .description = "when the work was submitted to the device"},
	[HWY_BYTES] = {"bytes", HWY_MEANS_BYTES, .description = "copy, fill, memory: its size"},
	[HWY_DIRECTION] = {"direction", HWY_MEANS_ENUM, NAMES(hwy_direction_names),
			   .description = "copy: from where to where; Unified: a migration of "
					  "unified memory"},
	[HWY_SRC_MEMORY] = {"source-memory", HWY_MEANS_ENUM, NAMES(hwy_memory_names),
			    .description = "copy: the kind of the memory read"},
	[HWY_DST_MEMORY] = {"target-memory", HWY_MEANS_ENUM, NAMES(hwy_memory_names),
			    .description = "copy, fill, memory: the kind of the memory written or "
					   "allocated"},
	[HWY_SRC_DEVICE] = {"source-device", HWY_MEANS_RECORD, HWY_ABSENT_REF, HWY_TABLE_devices,
			    .description = "copy between devices: the device read from"},
	[HWY_DST_DEVICE] = {"target-device", HWY_MEANS_RECORD, HWY_ABSENT_REF, HWY_TABLE_devices,
			    .description = "copy between devices: the device written to"},
	[HWY_COUNT] = {"count", .description = "copies batched in this one"},
	[HWY_VALUE] = {"value", HWY_MEANS_TYPED, HWY_ABSENT_NEVER,
		       .description = "fill: the byte; counter: the value from this moment on, of "
				      "the lane's `value_type`"},
	[HWY_ADDRESS] =
		{"address", HWY_MEANS_ADDRESS,
		 .description =
			 "of memory; of an os call: the object it waits for or wakes "
			 "through. Its highest four bits say what it is: 0 an address in the "
			 "process, 1 a pipe, 2 a socket, 3 a file, 4 a descriptor, 5 a "
			 "process, 6 a named semaphore"},
	[HWY_POOL] = {"pool", HWY_MEANS_ADDRESS, .description = "memory: its memory pool"},
	[HWY_OPERATION] = {"operation", HWY_MEANS_ENUM, NAMES(operations),
			   .description = "memory: what was done"},
	[HWY_RESULT] = {"result", .absence = HWY_ABSENT_NEVER,
			.description = "what the call returned"},
	[HWY_STACK] = {"stack", HWY_MEANS_RECORD, HWY_ABSENT_REF, HWY_TABLE_stacks,
		       .description = "what the span was called from"},
	[HWY_SYNC_TYPE] = {"sync-type", HWY_MEANS_ENUM, NAMES(hwy_sync_names),
			   .description = "sync: what waits for what"},
	[HWY_WAITED] = {"waited-stream", HWY_MEANS_RECORD, HWY_ABSENT_REF, HWY_TABLE_streams,
			.description = "sync: the stream waited for; of a stream that waits for an "
				       "event, the stream that waits"},
	[HWY_EVENT_ID] = {"event", .absence = HWY_ABSENT_REF, .description = "the event's handle"},
	[HWY_EVENT_SYNC] = {"event-sync", .absence = HWY_ABSENT_REF,
			    .description = "the number that an event's record and its waits share"},
	[HWY_CATEGORY] = {"category", HWY_MEANS_TEXT, .description = "range: the NVTX category"},
	[HWY_COLOR] = {"color", HWY_MEANS_COLOR, .description = "range: the NVTX colour"},
	[HWY_PAYLOAD_TYPE] = {"payload-type", HWY_MEANS_ENUM, NAMES(payload_types),
			      .description = "range: how to read `payload`"},
	[HWY_PAYLOAD] = {"payload", HWY_MEANS_TYPED, HWY_ABSENT_UNTYPED,
			 .description = "range: the value; double and float are the bits of a "
					"double, json and binary are texts"},
	[HWY_STYLE] = {"style", HWY_MEANS_ENUM, NAMES(styles),
		       .description = "range: how the program told it"},
	[HWY_END_THREAD] = {"end-thread", HWY_MEANS_RECORD, HWY_ABSENT_REF, HWY_TABLE_threads,
			    .description = "range: the thread that ended a start-end range"},
	[HWY_ROW] = {"row", .description = "the row id in the source: tools print it"},
	[HWY_ARGS] = {"args", HWY_MEANS_TEXT,
		      .description = "a JSON object with whatever else the source told"},
	[HWY_EXTERNAL] = {"external",
			  .description =
				  "the framework's id that joins ops, calls and device work"},
	[HWY_SEQUENCE] = {"sequence", .absence = HWY_ABSENT_REF,
			  .description = "autograd sequence number"},
	[HWY_CPU] = {"cpu", .absence = HWY_ABSENT_REF,
		     .description = "the number of the CPU that the thread ran on"},
	[HWY_REASON] = {"reason", HWY_MEANS_TEXT,
			.description = "state: why the thread does not run"},
	[HWY_CAUSE] = {"cause", HWY_MEANS_ENUM, NAMES(causes),
		       .description = "copy: why unified memory was migrated"},
	[HWY_NESTING] = {"nesting", .description = "os: how deep in other recorded os calls"},
	[HWY_FLAGS] = {"flags", HWY_MEANS_FLAGS,
		       .description = "1: a mark (a moment); 2: the end was not recorded, the "
				      "duration reaches to the last event of the lane; 4: a range "
				      "whose name is a registered string; 8: an operator that is a "
				      "scope which a user or a library marked"},
	[HWY_SRC_CONTEXT] = {"source-context", .absence = HWY_ABSENT_REF,
			     .description = "copy between devices: the number of the context read "
					    "from"},
	[HWY_DST_CONTEXT] = {"target-context", .absence = HWY_ABSENT_REF,
			     .description = "copy between devices: the number of the context "
					    "written to"},
	[HWY_WEIGHT] = {"weight", .description = "sample: cycles or ns it stands for"},
	[HWY_PARENT] = {"parent", .absence = HWY_ABSENT_REF,
			.description = "call: the source's id of the calling call, which is in "
				       "that call's `row`"},
	[HWY_LAUNCH_TYPE] = {"launch-type", HWY_MEANS_ENUM, NAMES(launch_types), .is_open = true,
			     .description = "kernel: how it was launched"},
};

uint32_t hwy_table_rows(const struct hwy_trace *trace, enum hwy_table table)
{
	switch (table) {
#define X(type, field, section)                                                                    \
	case HWY_TABLE_##field: return trace->n_##field;
		HWY_RECORDS(X)
#undef X
	case HWY_TABLE_NONE: break;
	}
	return 0;
}

int64_t hwy_column_limit(const struct hwy_trace *trace, enum hwy_col col)
{
	const struct hwy_column_info *info = &hwy_columns[col];
	switch (info->meaning) {
	case HWY_MEANS_TIME: return col == HWY_START ? HWY_TIME_LIMIT : -1;
	case HWY_MEANS_DURATION: return 2 * HWY_TIME_LIMIT - 1;
	case HWY_MEANS_TEXT: return trace->strings.n - 1;
	case HWY_MEANS_RECORD: return hwy_table_rows(trace, info->table);
	case HWY_MEANS_SPAN: return trace->n_spans;
	case HWY_MEANS_ENUM: return info->is_open ? -1 : (int64_t)info->n_names - 1;
	default: return -1;
	}
}

/* ---- cells ----------------------------------------------------------------------------------- */

static struct hwy_cell cell_int(int64_t number)
{
	return (struct hwy_cell){.type = HWY_CELL_INT, .number = number};
}

static struct hwy_cell cell_text(struct hwy_text text)
{
	return (struct hwy_cell){.type = HWY_CELL_TEXT, .text = text};
}

static struct hwy_cell cell_typed(const struct hwy_trace *trace, int64_t type, int64_t stored)
{
	double real;
	memcpy(&real, &stored, sizeof real);
	switch (type) {
	case HWY_PAYLOAD_DOUBLE:
	case HWY_PAYLOAD_FLOAT: return (struct hwy_cell){.type = HWY_CELL_REAL, .real = real};
	case HWY_PAYLOAD_JSON:
	case HWY_PAYLOAD_BINARY: return cell_text(hwy_text(trace, stored));
	case HWY_PAYLOAD_U64: return (struct hwy_cell){.type = HWY_CELL_UINT, .number = stored};
	default: return cell_int(stored);
	}
}

/* Yields the number by which people call a record: the vendor's or the system's number where it has
 * one. */
static struct hwy_cell cell_record(const struct hwy_trace *trace, enum hwy_table table,
				   int64_t index)
{
	int64_t number = index;
	if (index < 0 || index >= hwy_table_rows(trace, table))
		return (struct hwy_cell){0};
	switch (table) {
	case HWY_TABLE_devices: number = trace->devices[index].ordinal; break;
	case HWY_TABLE_streams: number = trace->streams[index].number; break;
	case HWY_TABLE_threads: number = trace->threads[index].tid; break;
	default: break;
	}
	return number == HWY_NONE ? (struct hwy_cell){0} : cell_int(number);
}

static struct hwy_cell cell_name(const struct hwy_column_info *info, int64_t value)
{
	if (value < 0 || value >= info->n_names)
		return cell_int(value);
	const char *name = info->names[value];
	return cell_text((struct hwy_text){name, (uint32_t)strlen(name)});
}

struct hwy_cell hwy_column_cell(const struct hwy_trace *trace, const struct hwy_strip *strip,
				enum hwy_col col, int64_t stored, int64_t payload_type)
{
	const struct hwy_column_info *info = &hwy_columns[col];
	int64_t value = stored;
	bool is_absent = false;
	switch (info->absence) {
	case HWY_ABSENT_ZERO: is_absent = stored == 0; break;
	case HWY_ABSENT_REF: is_absent = !hwy_ref_to_number(stored, &value); break;
	case HWY_ABSENT_UNTYPED: is_absent = payload_type == HWY_PAYLOAD_NONE; break;
	case HWY_ABSENT_NEVER: break;
	}
	if (is_absent)
		return (struct hwy_cell){0};
	switch (info->meaning) {
	case HWY_MEANS_TEXT: return cell_text(hwy_text(trace, value));
	case HWY_MEANS_ENUM: return cell_name(info, value);
	case HWY_MEANS_RECORD: return cell_record(trace, info->table, value);
	case HWY_MEANS_COLOR: return cell_int((uint32_t)value);
	case HWY_MEANS_TYPED:
		if (strip->kind == HWY_COUNTER)
			payload_type = trace->lanes[strip->lane].value_type;
		return cell_typed(trace, payload_type, value);
	default: return cell_int(value);
	}
}
