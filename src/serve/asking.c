/* SPDX-License-Identifier: Apache-2.0 */
/* asking.c - see asking.h. */
#include "serve/asking.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

bool asking_read_number(const struct asking *a, const char *key, int64_t least, int64_t most,
			const int64_t *otherwise, int64_t *value, struct hwy_err *err)
{
	const char *text = a->request->argument(a->request, key);
	if ((!text || !*text) && otherwise) {
		*value = *otherwise;
		return true;
	}
	char *end = NULL;
	errno = 0;
	*value = text ? strtoll(text, &end, 10) : 0;
	if (!text || !*text || *end || errno || *value < least || *value > most)
		return hwy_fail(err, "'%s' must be a whole number from %" PRId64 " to %" PRId64,
				key, least, most);
	return true;
}

bool asking_read_trace(const struct asking *a, uint32_t *trace, struct hwy_err *err)
{
	int64_t zero = 0, value;
	if (!asking_read_number(a, "t", 0, (int64_t)a->all->n - 1, &zero, &value, err))
		return false;
	*trace = (uint32_t)value;
	return true;
}

bool asking_read_window(const struct asking *a, const struct view_trace *view, int64_t *from,
			int64_t *to, struct hwy_err *err)
{
	int64_t limit = INT64_C(1) << 53, begin = view->from - view->origin,
		end = view->to - view->origin;
	/* A recording without spans has a window, too. */
	end = end > begin ? end : begin + 1;
	if (!asking_read_number(a, "from", 0, limit, &begin, from, err) ||
	    !asking_read_number(a, "to", 0, limit, &end, to, err))
		return false;
	return *from < *to || hwy_fail(err, "'from' must be before 'to'");
}

bool asking_read_parts(const struct asking *a, int64_t most, struct asked_parts *parts,
		       struct hwy_err *err)
{
	int64_t n, usual = 1024;
	if (!asking_read_trace(a, &parts->trace, err) ||
	    !asking_read_window(a, &a->all->traces[parts->trace], &parts->from, &parts->to, err) ||
	    !asking_read_number(a, "n", 1, most, &usual, &n, err))
		return false;
	parts->n = (uint32_t)n;
	return true;
}

bool asking_read_direction(const struct asking *a, int64_t *direction, struct hwy_err *err)
{
	int64_t one = 1;
	return asking_read_number(a, "dir", -1, 1, &one, direction, err) &&
	       (*direction != 0 || hwy_fail(err, "'dir' must be 1 or -1"));
}

struct step_times asking_step_times(const struct asking *a, uint32_t trace)
{
	struct worker *worker = &a->all->workers[trace];
	pthread_mutex_lock(&worker->lock);
	/* The frame comes once and stays until the server ends, so it can be read without the
	 * lock. */
	const struct hwy_bytes *frame = &worker->frames[WORKER_STEP_TIMES];
	struct step_times steps = {.v = (const struct timed_step *)(const void *)frame->bytes,
				   .n = (uint32_t)(frame->n / sizeof(struct timed_step)),
				   .is_known = frame->bytes != NULL};
	pthread_mutex_unlock(&worker->lock);
	return steps;
}
