/* SPDX-License-Identifier: Apache-2.0 */
/* message_fill.h - the fields of a message, from what was told about the exchange: group, other
 * rank, bytes, number. */
#ifndef HWY_TRACE_MESSAGE_FILL_H
#define HWY_TRACE_MESSAGE_FILL_H

#include "trace/collective_args.h"

/* Sets what the arguments tell; m->process must be set. Finds the group in the process by its
 * name, or adds it; a group that is there already keeps what it has. 'library' may be NULL. */
void message_fill(struct hwy_trace *trace, struct hwy_message *m,
		  const struct collective_args *args, const struct hwy_exchange *operation,
		  const char *library);

/* Numbers the collectives among the messages from 'first' on, group by group, in the order in
 * which the rank asked for them. Where the source has numbered all of a group, and no two alike,
 * its numbers stay. */
void message_number_collectives(struct hwy_trace *trace, uint32_t first);

#endif
