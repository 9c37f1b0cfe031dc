/* SPDX-License-Identifier: Apache-2.0 */
/* message_index.c - see message_index.h. */
#include "trace/message_index.h"

#include <stdlib.h>

#include "base/search.h"

struct entry {
	int64_t span;
	uint32_t message;
};

static int by_span_then_message(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;
	if (a->span != b->span)
		return a->span < b->span ? -1 : 1;
	return a->message < b->message ? -1 : a->message > b->message;
}

void hwy_message_index_open(struct hwy_message_index *index, const struct hwy_trace *trace,
			    enum hwy_message_end end)
{
	struct entry *entries = hwy_array(trace->n_messages, sizeof *entries);
	uint32_t n = 0;
	for (uint32_t i = 0; i < trace->n_messages; i++) {
		const struct hwy_message *m = &trace->messages[i];
		int64_t span = end == HWY_MESSAGE_SPAN    ? m->span
			       : end == HWY_MESSAGE_ASKED ? m->asked
							  : m->done;
		if (span != HWY_NONE)
			entries[n++] = (struct entry){span, i};
	}
	if (n > 0)
		qsort(entries, n, sizeof *entries, by_span_then_message);
	*index = (struct hwy_message_index){
		.spans = hwy_array(n, sizeof *index->spans),
		.messages = hwy_array(n, sizeof *index->messages),
		.n = n,
	};
	for (uint32_t i = 0; i < n; i++) {
		index->spans[i] = entries[i].span;
		index->messages[i] = entries[i].message;
	}
	free(entries);
}

void hwy_message_index_close(struct hwy_message_index *index)
{
	free(index->spans);
	free(index->messages);
	*index = (struct hwy_message_index){0};
}

uint32_t hwy_messages_of(const struct hwy_message_index *index, int64_t span,
			 const uint32_t **messages)
{
	uint32_t from = HWY_FIRST(i, 0u, index->n, index->spans[i] >= span), to = from;
	while (to < index->n && index->spans[to] == span)
		to++;
	*messages = index->messages + from;
	return to - from;
}
