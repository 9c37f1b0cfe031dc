/* SPDX-License-Identifier: Apache-2.0 */
/* table_relations.c - how spans hang together and where they come from: edges, stacks, frames,
 * counters of measured kernels, and what ranks exchange. */
#include "sql/sql_tables.h"

static const struct sql_column edge_columns[] = {
	{"kind", SQL_WORD,
	 .description = "event, forward, wake, spawn, collective, launch or message",
	 SQL_FIELD(hwy_edge, kind), SQL_WORDS(hwy_edge_kind_names)},
	{"source", SQL_ROW, .description = "spans.id of the span that comes first",
	 SQL_FIELD(hwy_edge, from)},
	{"target", SQL_ROW, .description = "spans.id of the span that follows from it",
	 SQL_FIELD(hwy_edge, to)},
	{"arrow", SQL_NUMBER, .description = "the recording's id of the relation",
	 SQL_FIELD(hwy_edge, id)},
};
const struct sql_table table_edges = {
	.name = "edges",
	.about = "recorded relations of spans, but for launches: those are the column call",
	SQL_COLUMNS(edge_columns),
	.records = HWY_TABLE_edges};

static const struct sql_column frame_columns[] = {
	{"function", SQL_TEXT, .description = "the function; NULL where only the address is known",
	 SQL_FIELD(hwy_frame, function)},
	{"module", SQL_TEXT, .description = "the shared object, or Python's source file",
	 SQL_FIELD(hwy_frame, module)},
	{"file", SQL_TEXT, .description = "the source file", SQL_FIELD(hwy_frame, file)},
	{"line", SQL_NATURAL, .description = "the line in it", SQL_FIELD(hwy_frame, line)},
	{"address", SQL_NATURAL, .description = "the address of the code",
	 SQL_FIELD(hwy_frame, address)},
	{"flags", SQL_NUMBER,
	 .description = "1: Python, 2: the kernel, 4: not resolved, 8: a module of a model",
	 SQL_FIELD(hwy_frame, flags)},
};
const struct sql_table table_frames = {.name = "frames",
				       .about = "functions in stacks",
				       SQL_COLUMNS(frame_columns),
				       .records = HWY_TABLE_frames};

enum { STACK_FUNCTION = 2, STACK_MODULE, STACK_FILE, STACK_LINE, STACK_DEPTH };
static const struct sql_column stack_columns[] = {
	{"parent", SQL_REF, .description = "stacks.id of the caller; NULL at the root",
	 SQL_FIELD(hwy_stack, parent)},
	{"frame_id", SQL_ROW, .description = "frames.id of the innermost function",
	 SQL_FIELD(hwy_stack, frame)},
	[STACK_FUNCTION] = {"function", SQL_TEXT, .description = "the innermost function"},
	[STACK_MODULE] = {"module", SQL_TEXT,
			  .description = "its shared object, or Python\'s source file"},
	[STACK_FILE] = {"file", SQL_TEXT, .description = "its source file"},
	[STACK_LINE] = {"line", SQL_NUMBER, .description = "the line in it"},
	[STACK_DEPTH] = {"depth", SQL_NUMBER, .description = "how many functions the stack has"},
};

static struct hwy_cell stack_cell(struct sql_source *source, uint32_t row, uint32_t column)
{
	const struct hwy_trace *trace = source->trace;
	const struct hwy_frame *frame = &trace->frames[trace->stacks[row].frame];
	int64_t depth = 0;
	switch (column) {
	case STACK_FUNCTION: return sql_text(hwy_text(trace, frame->function));
	case STACK_FILE: return sql_text(hwy_text(trace, frame->file));
	case STACK_MODULE: return sql_text(hwy_text(trace, frame->module));
	case STACK_LINE: return frame->line > 0 ? sql_int(frame->line) : sql_none();
	default: break;
	}
	for (int64_t stack = (int64_t)row + 1; hwy_ref_is_set(stack);
	     stack = hwy_stack_caller(trace, stack))
		depth++;
	return sql_int(depth);
}

const struct sql_table table_stacks = {
	.name = "stacks",
	.about = "stacks: each is its innermost function and the stack of the caller",
	SQL_COLUMNS(stack_columns),
	.records = HWY_TABLE_stacks,
	.cell = stack_cell};

static const struct sql_column measured_columns[] = {
	{"kernel", SQL_TEXT, .description = "the kernel's name", SQL_FIELD(hwy_measured, kernel)},
	{"device_id", SQL_ROW, .description = "devices.id", SQL_FIELD(hwy_measured, device)},
	{"ordinal", SQL_NUMBER,
	 .description = "how many launches of this name and shape came before it",
	 SQL_FIELD(hwy_measured, ordinal)},
	{"launches", SQL_NUMBER, .description = "how many launches the counters are the mean of",
	 SQL_FIELD(hwy_measured, launches)},
	{"source", SQL_TEXT, .description = "headway or ncu", SQL_FIELD(hwy_measured, source)},
};
const struct sql_table table_measured = {.name = "measured",
					 .about = "kernels whose counters were measured",
					 SQL_COLUMNS(measured_columns),
					 .records = HWY_TABLE_measured};

static const struct sql_column measure_columns[] = {
	{"measured_id", SQL_ROW, .description = "measured.id", SQL_FIELD(hwy_measure, measured)},
	{"metric", SQL_TEXT, .description = "the vendor's name of the counter",
	 SQL_FIELD(hwy_measure, metric)},
	{"value", SQL_REAL, .description = "its value", SQL_FIELD(hwy_measure, value)},
};
const struct sql_table table_measures = {.name = "measures",
					 .about = "counters of measured kernels",
					 SQL_COLUMNS(measure_columns),
					 .records = HWY_TABLE_measures};

static const struct sql_column stalled_columns[] = {
	{"kernel", SQL_TEXT, .description = "the kernel's name",
	 SQL_FIELD(hwy_stalled_line, kernel)},
	{"file", SQL_TEXT, .description = "the source file", SQL_FIELD(hwy_stalled_line, file)},
	{"line", SQL_NATURAL, .description = "the line in it", SQL_FIELD(hwy_stalled_line, line)},
	{"reason", SQL_TEXT, .description = "why the warps did not issue; selected: they did",
	 SQL_FIELD(hwy_stalled_line, reason)},
	{"samples", SQL_NUMBER, .description = "how often", SQL_FIELD(hwy_stalled_line, samples)},
};
const struct sql_table table_stalled_lines = {
	.name = "stalled_lines",
	.about = "lines of kernels on which warps were sampled",
	SQL_COLUMNS(stalled_columns),
	.records = HWY_TABLE_stalled_lines};

static const struct sql_column node_columns[] = {
	{"process_id", SQL_ROW, .description = "processes.id", SQL_FIELD(hwy_node, process)},
	{"thread_id", SQL_ROW, .description = "threads.id of who made it",
	 SQL_FIELD(hwy_node, thread)},
	{"graph", SQL_NUMBER, .description = "the graph's id, as kernel.graph",
	 SQL_FIELD(hwy_node, graph)},
	{"node", SQL_NUMBER, .description = "the node's id, as kernel.graph_node",
	 SQL_FIELD(hwy_node, node)},
	{"time", SQL_TIME, .description = "when it was made", SQL_FIELD(hwy_node, time)},
	{"stack_id", SQL_REF, .description = "stacks.id of where it was made",
	 SQL_FIELD(hwy_node, stack)},
};
const struct sql_table table_nodes = {.name = "nodes",
				      .about = "nodes of CUDA graphs, as they were made",
				      SQL_COLUMNS(node_columns),
				      .records = HWY_TABLE_nodes};

static const struct sql_column node_edge_columns[] = {
	{"process_id", SQL_ROW, .description = "processes.id", SQL_FIELD(hwy_node_edge, process)},
	{"graph", SQL_NUMBER, .description = "the graph's id", SQL_FIELD(hwy_node_edge, graph)},
	{"node", SQL_NUMBER, .description = "the node that runs later",
	 SQL_FIELD(hwy_node_edge, node)},
	{"after", SQL_NUMBER, .description = "the node that runs before it",
	 SQL_FIELD(hwy_node_edge, after)},
};
const struct sql_table table_node_edges = {.name = "node_edges",
					   .about = "which node of a CUDA graph runs after which",
					   SQL_COLUMNS(node_edge_columns),
					   .records = HWY_TABLE_node_edges};

/* ---- messages: the columns of messages.csv --------------------------------------------------- */

static const char *const message_kinds[HWY_MESSAGE_KINDS] = {"send", "receive", "collective"};
enum { MESSAGE_PID, MESSAGE_RANK, MESSAGE_COMMUNICATOR = 5, MESSAGE_RANKS };
static const struct sql_column message_columns[] = {
	[MESSAGE_PID] = {"pid", SQL_NUMBER, .description = "the id of the process"},
	[MESSAGE_RANK] = {"rank", SQL_NUMBER, .description = "the rank of the process"},
	{"library", SQL_TEXT, .description = "MPI, NCCL, RCCL or gloo",
	 SQL_FIELD(hwy_message, library)},
	{"kind", SQL_WORD, .description = "send, receive or collective",
	 SQL_FIELD(hwy_message, kind), SQL_WORDS(message_kinds)},
	{"name", SQL_TEXT, .description = "the operation: AllReduce, Send …",
	 SQL_FIELD(hwy_message, name)},
	[MESSAGE_COMMUNICATOR] = {"communicator", SQL_TEXT,
				  .description = "the name of the group of ranks"},
	[MESSAGE_RANKS] = {"ranks", SQL_TEXT, .description = "the ranks of the group"},
	{"peer", SQL_NUMBER, .description = "the other rank of a message, the root of a collective",
	 SQL_FIELD(hwy_message, peer)},
	{"tag", SQL_NUMBER, .description = "the tag", SQL_FIELD(hwy_message, tag)},
	{"sent", SQL_BYTES, .description = "what this rank gives", SQL_FIELD(hwy_message, sent)},
	{"received", SQL_BYTES, .description = "what this rank gets",
	 SQL_FIELD(hwy_message, received)},
	{"count", SQL_NUMBER, .description = "how many elements", SQL_FIELD(hwy_message, count)},
	{"datatype", SQL_TEXT, .description = "of the elements", SQL_FIELD(hwy_message, datatype)},
	{"sequence", SQL_NUMBER,
	 .description = "the number of a collective among those of its group on this rank",
	 SQL_FIELD(hwy_message, sequence)},
	{"algorithm", SQL_TEXT, .description = "Ring, Tree …", SQL_FIELD(hwy_message, algorithm)},
	{"protocol", SQL_TEXT, .description = "Simple, LL, LL128",
	 SQL_FIELD(hwy_message, protocol)},
	{"channels", SQL_NUMBER, .description = "how many channels",
	 SQL_FIELD(hwy_message, channels)},
	{"posted", SQL_TIME, .description = "when the rank asked for it",
	 SQL_FIELD(hwy_message, posted)},
	{"start", SQL_TIME, .description = "when the rank took part",
	 SQL_FIELD(hwy_message, start)},
	{"end", SQL_TIME, .description = "when the rank was done with it",
	 SQL_FIELD(hwy_message, end)},
	{"wait_gpu", SQL_DURATION, .description = "of it, waiting for the rank's own GPU",
	 SQL_FIELD(hwy_message, wait_gpu)},
	{"wait_peer", SQL_DURATION, .description = "of it, waiting for the other rank",
	 SQL_FIELD(hwy_message, wait_peer)},
	{"wait_network", SQL_DURATION, .description = "of it, waiting for the network",
	 SQL_FIELD(hwy_message, wait_network)},
	{"span", SQL_ROW, .description = "spans.id of the call or kernel that shows the exchange",
	 SQL_FIELD(hwy_message, span)},
	{"asked", SQL_ROW, .description = "spans.id of the call that enqueued it",
	 SQL_FIELD(hwy_message, asked)},
	{"done", SQL_ROW, .description = "spans.id of the call that waited for its end",
	 SQL_FIELD(hwy_message, done)},
};

static struct hwy_cell message_cell(struct sql_source *source, uint32_t row, uint32_t column)
{
	const struct hwy_trace *trace = source->trace;
	const struct hwy_message *message = &trace->messages[row];
	const struct hwy_process *process = sql_process(trace, message->process);
	const struct hwy_group *group =
		message->group == HWY_NONE ? NULL : &trace->groups[message->group];
	switch (column) {
	case MESSAGE_PID: return sql_known(process ? process->pid : HWY_NONE);
	case MESSAGE_RANK: return sql_known(process ? process->rank : HWY_NONE);
	case MESSAGE_COMMUNICATOR: return sql_text(hwy_text(trace, group ? group->name : 0));
	default: return sql_text(hwy_text(trace, group ? group->ranks : 0));
	}
}

const struct sql_table table_messages = {
	.name = "messages",
	.about = "what ranks exchange: a message, or a rank's part in a collective",
	SQL_COLUMNS(message_columns),
	.records = HWY_TABLE_messages,
	.cell = message_cell};
