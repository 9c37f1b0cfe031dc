/* SPDX-License-Identifier: Apache-2.0 */
/* message_args.c - see message_args.h. */
#include "export/message_args.h"

static int64_t same_or_none(int64_t a, int64_t b)
{
	return a == b ? a : HWY_NONE;
}

static int64_t sum_or_none(int64_t a, int64_t b)
{
	int64_t sum;
	return a == HWY_NONE || b == HWY_NONE || __builtin_add_overflow(a, b, &sum) ? HWY_NONE
										    : sum;
}

bool export_exchange_of(const struct export *x, int64_t span, struct export_exchange *exchange)
{
	const struct hwy_trace *trace = x->trace;
	const uint32_t *messages;
	uint32_t n = hwy_messages_of(&x->messages, span, &messages);
	if (n == 0)
		return false;
	const struct hwy_message *m = &trace->messages[messages[0]];
	*exchange = (struct export_exchange){
		.n = n,
		.operation = m->name,
		.library = m->library,
		.kind = m->kind,
		.sent = m->sent,
		.received = m->received,
		.peer = m->peer,
		.tag = m->tag,
		.sequence = m->sequence,
		.count = m->count,
		.datatype = m->datatype,
		.group = m->group >= 0 && m->group < trace->n_groups ? &trace->groups[m->group]
								     : NULL,
	};
	for (uint32_t i = 1; i < n; i++) {
		m = &trace->messages[messages[i]];
		exchange->sent = sum_or_none(exchange->sent, m->sent);
		exchange->received = sum_or_none(exchange->received, m->received);
		exchange->peer = same_or_none(exchange->peer, m->peer);
		exchange->tag = same_or_none(exchange->tag, m->tag);
		exchange->sequence = same_or_none(exchange->sequence, m->sequence);
		exchange->count = same_or_none(exchange->count, m->count);
		exchange->datatype = same_or_none(exchange->datatype, m->datatype);
	}
	return true;
}

int64_t export_communicator(const struct hwy_trace *trace, const struct hwy_group *group)
{
	if (!group)
		return 0;
	return *hwy_str(trace, group->description) ? group->description : group->name;
}

int64_t export_arrow_end(int64_t from, int64_t start, int64_t end)
{
	int64_t last = end > start ? end - 1 : start;
	return from < start ? start : from > last ? last : from;
}
