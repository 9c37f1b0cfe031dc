/* SPDX-License-Identifier: Apache-2.0 */
/* message_args.h - what the messages of a span come to, for formats that show them as arguments
 * of the span. */
#ifndef HWY_EXPORT_MESSAGE_ARGS_H
#define HWY_EXPORT_MESSAGE_ARGS_H

#include "export/export_internal.h"

/* Numbers that are not known, or not the same for all messages of the span, are HWY_NONE. */
struct export_exchange {
	uint32_t n; /* how many messages the span has */
	/* The first message: its operation and library, texts, and its kind. */
	int64_t operation, library, kind;
	int64_t sent, received; /* bytes of all messages */
	int64_t peer, tag, sequence, count, datatype;
	const struct hwy_group *group; /* NULL: not known */
};

/* False: the span has no message. */
bool export_exchange_of(const struct export *x, int64_t span, struct export_exchange *exchange);

/* The name of a communicator for people: its description where it has one ("MPI_COMM_WORLD"),
 * else its name; a text of the trace. */
int64_t export_communicator(const struct hwy_trace *trace, const struct hwy_group *group);

/* Where an arrow that begins at 'from' ends inside of the span [start, end): not before it
 * begins, where that can be. */
int64_t export_arrow_end(int64_t from, int64_t start, int64_t end);

#endif
