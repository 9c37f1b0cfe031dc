/* SPDX-License-Identifier: Apache-2.0 */
/* chrome_messages.c - what a span exchanges, as its arguments.
 *
 * Kernels get the arguments that PyTorch's profiler gives them ("Collective name", "In msg
 * nelems", "dtype" …), so that tools for its traces understand recordings of other sources; a
 * trace of PyTorch has them already. Calls of libraries get plain ones.
 */
#include "export/chrome/chrome.h"
#include "export/message_args.h"
#include "trace/collective_names.h"

static struct hwy_text text_z(const char *text)
{
	return (struct hwy_text){text, (uint32_t)strlen(text)};
}

/* The names that PyTorch has for operations and types of elements. */
static const char *torch_name(const char *const (*names)[2], size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(names[i][0], name) == 0)
			return names[i][1];
	return NULL;
}

static const char *const torch_operations[][2] = {
	{"AllReduce", "allreduce"},
	{"AllGather", "_allgather_base"},
	{"ReduceScatter", "_reduce_scatter_base"},
	{"Broadcast", "broadcast"},
	{"Reduce", "reduce"},
	{"AllToAll", "all_to_all"},
	{"Gather", "gather"},
	{"Scatter", "scatter"},
	{"Barrier", "barrier"},
	{"Send", "send"},
	{"Receive", "recv"},
};
static const char *const torch_types[][2] = {
	{"float32", "Float"},
	{"float64", "Double"},
	{"float16", "Half"},
	{"bfloat16", "BFloat16"},
	{"int8", "Char"},
	{"uint8", "Byte"},
	{"int16", "Short"},
	{"int32", "Int"},
	{"int64", "Long"},
	{"bool", "Bool"},
	{"float8_e4m3", "Float8_e4m3fn"},
	{"float8_e5m2", "Float8_e5m2"},
	{"complex64", "ComplexFloat"},
	{"complex128", "ComplexDouble"},
};
#define TORCH_NAME(table, name) torch_name(table, sizeof(table) / sizeof *(table), name)

static void put_torch_sizes(struct chrome_event *e, const struct hwy_trace *trace,
			    const struct export_exchange *exchange)
{
	const char *datatype = hwy_str(trace, exchange->datatype);
	const char *dtype = TORCH_NAME(torch_types, datatype);
	const struct hwy_datatype *known = hwy_datatype_of(datatype);
	/* Bytes, where the type of elements is not known. */
	int64_t size = dtype && known ? known->size : 1;
	if (exchange->sent == HWY_NONE && exchange->received == HWY_NONE)
		return;
	int64_t in = exchange->sent == HWY_NONE ? 0 : exchange->sent / size;
	int64_t out = exchange->received == HWY_NONE ? 0 : exchange->received / size;
	CHROME_ARG_INT(e, "In msg nelems", in);
	CHROME_ARG_INT(e, "Out msg nelems", out);
	CHROME_ARG_TEXT(e, "dtype", text_z(dtype ? dtype : "Byte"));
}

static void put_torch_args(struct chrome_event *e, const struct hwy_trace *trace,
			   const struct export_exchange *exchange)
{
	const char *operation = TORCH_NAME(torch_operations, hwy_str(trace, exchange->operation));
	const struct hwy_group *group = exchange->group;
	if (!operation)
		return;
	CHROME_ARG_TEXT(e, "Collective name", text_z(operation));
	put_torch_sizes(e, trace, exchange);
	if (exchange->kind == HWY_MESSAGE_SEND && exchange->peer != HWY_NONE)
		CHROME_ARG_INT(e, "Dst Rank", exchange->peer);
	if (exchange->kind == HWY_MESSAGE_RECEIVE && exchange->peer != HWY_NONE)
		CHROME_ARG_INT(e, "Src Rank", exchange->peer);
	if (exchange->sequence != HWY_NONE)
		CHROME_ARG_INT(e, "Seq", exchange->sequence);
	if (group && group->size != HWY_NONE)
		CHROME_ARG_INT(e, "Group size", group->size);
	if (group && *hwy_str(trace, group->name))
		CHROME_ARG_TEXT(e, "Process Group Name", hwy_text(trace, group->name));
	if (group && *hwy_str(trace, group->ranks)) {
		chrome_spans_key(e, "Process Group Ranks", strlen("Process Group Ranks"));
		out_literal(e->out, "\"[");
		out_z(e->out, hwy_str(trace, group->ranks));
		out_literal(e->out, "]\"");
	}
}

static void put_plain_args(struct chrome_event *e, const struct hwy_trace *trace,
			   const struct export_exchange *exchange)
{
	if (exchange->n > 1)
		CHROME_ARG_INT(e, "messages", exchange->n);
	if (exchange->peer != HWY_NONE && exchange->kind == HWY_MESSAGE_COLLECTIVE)
		CHROME_ARG_INT(e, "root", exchange->peer);
	else if (exchange->peer != HWY_NONE)
		CHROME_ARG_INT(e, "peer", exchange->peer);
	if (exchange->tag != HWY_NONE)
		CHROME_ARG_INT(e, "tag", exchange->tag);
	if (exchange->sent != HWY_NONE)
		CHROME_ARG_INT(e, "bytes sent", exchange->sent);
	if (exchange->received != HWY_NONE)
		CHROME_ARG_INT(e, "bytes received", exchange->received);
	if (exchange->sequence != HWY_NONE)
		CHROME_ARG_INT(e, "number", exchange->sequence);
	struct hwy_text communicator = hwy_text(trace, export_communicator(trace, exchange->group));
	if (communicator.length > 0)
		CHROME_ARG_TEXT(e, "communicator", communicator);
}

void chrome_messages_put(struct chrome *c, struct chrome_event *e, const struct hwy_strip *strip,
			 uint32_t row)
{
	struct export_exchange exchange;
	if (c->x.messages.n == 0 || c->x.is_kineto ||
	    !export_exchange_of(&c->x, (int64_t)strip->first + row, &exchange))
		return;
	/* In a job of PyTorch's traces the kernels have them too. */
	struct hwy_text args = hwy_text(c->x.trace, hwy_get(strip, HWY_ARGS, row));
	if (strip->kind == HWY_KERNEL && memmem(args.at, args.length, "\"Collective name\"", 17))
		return;
	if (strip->kind == HWY_KERNEL)
		put_torch_args(e, c->x.trace, &exchange);
	else
		put_plain_args(e, c->x.trace, &exchange);
}
