/* SPDX-License-Identifier: Apache-2.0 */
/* read_ahead.h - the thread that reads lanes and makes the unions of devices before a page asks for
 * them.
 *
 * The thread begins once a page has its first picture, which it must not delay, or once a request
 * waits for a union.
 */
#ifndef HWY_SERVE_READ_AHEAD_H
#define HWY_SERVE_READ_AHEAD_H

#include "serve/turns.h"
#include "serve/view.h"

struct read_ahead_options {
	struct view_trace *traces; /* an array of n */
	char *const *reports;      /* by trace: the path of the trace's file */
	uint32_t n;
	struct turns *turns; /* the lock of 'traces' */
	/* Whether the thread must end; asked often, also while the thread holds the lock. */
	bool (*is_over)(const void *from);
	/* Whether a page has asked for its first picture. */
	bool (*has_first_picture)(void *from);
	void *from; /* belongs to the caller: the argument of both */
};

/* Yields NULL where no thread could be started: requests then read for themselves. */
struct read_ahead *read_ahead_start(const struct read_ahead_options *options);
/* Waits for the thread, which ends soon after is_over yields true. */
void read_ahead_end(struct read_ahead *reader);

#endif
