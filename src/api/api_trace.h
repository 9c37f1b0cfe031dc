/* SPDX-License-Identifier: Apache-2.0 */
/* api_trace.h - what the files of the public C API share: an opened trace, and who still uses
 * it. */
#ifndef HWY_API_TRACE_H
#define HWY_API_TRACE_H

#include "headway.h"

#include <pthread.h>
#include <stdatomic.h>

#include "trace/trace.h"

struct headway_trace {
	struct hwy_trace *inside;
	/* How many use this: the program until headway_trace_close, and every Arrow array until
	 * its release, which may be called by any thread. */
	_Atomic uint32_t users;
	struct api_columns *columns; /* the columns made so far; NULL: none */
	/* Held while 'columns' changes, and while columns of 'inside' are loaded. What was loaded
	 * is only read. */
	pthread_mutex_t lock;
};

void api_trace_use(struct headway_trace *trace);
void api_trace_leave(struct headway_trace *trace);

void api_columns_free(struct api_columns *columns);

/* Writes a reason to the memory that the program gave for it. */
void api_put_reason(char *why, size_t size, const char *text);
/* Yields the kind with this name; HWY_KINDS where no kind has the name. */
unsigned api_kind(const char *name);

#endif
