/* SPDX-License-Identifier: Apache-2.0 */
/* find_messages.h - what ranks exchange, as far as the spans of a trace tell it. */
#ifndef HWY_TRACE_FIND_MESSAGES_H
#define HWY_TRACE_FIND_MESSAGES_H

#include "trace/trace.h"

/* Adds messages to a trace that has just been made (everything is in memory), and the groups
 * that they need:
 *
 * - a message for each kernel that communicates: by what its own arguments tell, else by the range or operator in which
 * it was launched (PyTorch's record_param_comms, nccl:… and c10d::… scopes, NCCL's own ranges,
 * XLA's thunks), else by its name;
 * - a message for each scope of a library that communicates on the CPU ("gloo:all_reduce", "mpi:broadcast").
 *
 * Several kernels of one scope are one message. An exchange that was asked for and of which no
 * kernel was recorded has no message: nobody tells whether it took place (a CUDA graph may have
 * been captured). Processes that have messages of a library already, from a source that knows
 * more, get none of that library, but for kernels of graphs without one. */
void hwy_find_messages(struct hwy_trace *trace);

#endif
