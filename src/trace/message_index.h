/* SPDX-License-Identifier: Apache-2.0 */
/* message_index.h - finds the messages of a span.
 *
 *   struct hwy_message_index index;
 *   hwy_message_index_open(&index, trace, HWY_MESSAGE_SPAN);
 *   const uint32_t *messages;
 *   uint32_t n = hwy_messages_of(&index, span, &messages);
 *   for (uint32_t i = 0; i < n; i++)
 *           bytes += trace->messages[messages[i]].sent;
 *   hwy_message_index_close(&index);
 */
#ifndef HWY_TRACE_MESSAGE_INDEX_H
#define HWY_TRACE_MESSAGE_INDEX_H

#include "trace/trace.h"

enum hwy_message_end { /* which field of a message names the span */
		       HWY_MESSAGE_SPAN,
		       HWY_MESSAGE_ASKED,
		       HWY_MESSAGE_DONE,
};

struct hwy_message_index { /* sorted by span, then by message */
	int64_t *spans;
	uint32_t *messages; /* indexes into the trace's messages */
	uint32_t n;
};

void hwy_message_index_open(struct hwy_message_index *index, const struct hwy_trace *trace,
			    enum hwy_message_end end);
void hwy_message_index_close(struct hwy_message_index *index);
/* How many messages a span has, and in *messages their indexes, in order. */
uint32_t hwy_messages_of(const struct hwy_message_index *index, int64_t span,
			 const uint32_t **messages);

#endif
