/* SPDX-License-Identifier: Apache-2.0 */
/* flame_request.c - see flame_request.h. */
#include "serve/flame_request.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/flame.h"
#include "serve/lane_choice.h"

static bool read_kind(const struct asking *a, unsigned *kind, struct hwy_err *err)
{
	const char *text = a->request->argument(a->request, "kind");
	for (*kind = 0; text && *kind < FLAME_KINDS; (*kind)++)
		if (strcmp(text, flame_kind_names[*kind]) == 0)
			return true;
	return hwy_fail(err, "'kind' must be samples, operators or stacks");
}

/* The window as times of the trace; HWY_NONE where the request has none. */
static bool read_window(const struct asking *a, const struct view_trace *view, int64_t *from,
			int64_t *to, struct hwy_err *err)
{
	bool is_whole = !a->request->argument(a->request, "from") &&
			!a->request->argument(a->request, "to");
	if (!asking_read_window(a, view, from, to, err))
		return false;
	*from = is_whole ? HWY_NONE : *from + view->origin;
	*to = is_whole ? HWY_NONE : *to + view->origin;
	return true;
}

/* Adds the chosen lanes to the question as runs: "4-9,12"; "-" where all are chosen. */
static bool put_lanes(const struct asking *a, struct flame_request *request, size_t n,
		      struct hwy_err *err)
{
	const struct view_trace *view = &a->all->traces[request->trace];
	size_t room = sizeof request->question;
	uint8_t *chosen = NULL;
	if (!lane_choice_read(view, a->request->argument(a->request, "lanes"), &chosen, err))
		return false;
	const char *between = "";
	for (uint32_t first = 0, end; chosen && first < view->trace->n_lanes && n < room;
	     first = end) {
		end = first + 1;
		if (!chosen[first])
			continue;
		while (end < view->trace->n_lanes && chosen[end])
			end++;
		n += (size_t)snprintf(request->question + n, room - n, "%s%" PRIu32 "-%" PRIu32,
				      between, first, end - 1);
		between = ",";
	}
	/* Where the request chose lanes and the trace has none of them, the number of a lane
	 * that cannot exist stands for them. */
	if (n < room)
		snprintf(request->question + n, room - n, "%s\n",
			 !chosen    ? "-"
			 : *between ? ""
				    : "4294967295");
	free(chosen);
	return n + 12 < room || hwy_fail(err, "too many lanes were chosen");
}

bool flame_request_read(const struct asking *a, struct flame_request *request, struct hwy_err *err)
{
	unsigned kind;
	int64_t from, to, steps, python, node, no = 0, none = -1;
	if (!asking_read_trace(a, &request->trace, err) || !read_kind(a, &kind, err) ||
	    !read_window(a, &a->all->traces[request->trace], &from, &to, err) ||
	    !asking_read_number(a, "steps", 0, 1, &no, &steps, err) ||
	    !asking_read_number(a, "python", 0, 1, &no, &python, err) ||
	    !asking_read_number(a, "node", 0, UINT32_MAX, &none, &node, err))
		return false;
	int n = snprintf(request->question, sizeof request->question,
			 WORKER_FLAME_WORD "%u %" PRId64 " %" PRId64 " %d %d %" PRId64 " ", kind,
			 from, to, (int)steps, (int)python, node);
	return put_lanes(a, request, (size_t)n, err);
}
