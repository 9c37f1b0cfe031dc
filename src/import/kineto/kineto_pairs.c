/* SPDX-License-Identifier: Apache-2.0 */
/* kineto_pairs.c - joins events that come in two: a begin (ph B) and an end (ph E) on the same
 * thread.
 *
 * An end belongs to the last begin of its thread that has not ended. PyTorch writes one event with
 * a duration, but the Chrome format allows both, and tools that filter or merge traces write pairs.
 * A begin is kept as its text; at its end the text is read again and becomes an event with a
 * duration. Members of the end other than its time are ignored.
 */
#include <stdlib.h>
#include <string.h>

#include "import/kineto/kineto.h"

struct kineto_begin {
	/* outer: the begin event around this begin event, on the same thread. */
	struct kineto_begin *outer;
	uint32_t length;
	char text[]; /* the event's JSON text of 'length' bytes, then SOURCE_PAD bytes */
};

/* The innermost begin of the event's thread. Threads are told apart by the text of their pid and
 * tid: all events of a file come from one program, which writes a number in one way. */
static struct kineto_begin **innermost(struct kineto *k)
{
	const struct scan_value *pid = &k->event.pid, *tid = &k->event.tid;
	size_t length = sizeof pid->length + pid->length + tid->length;
	kineto_need_scratch(k, length);
	memcpy(k->scratch, &pid->length, sizeof pid->length);
	memcpy(k->scratch + sizeof pid->length, pid->text, pid->length);
	memcpy(k->scratch + sizeof pid->length + pid->length, tid->text, tid->length);
	bool fresh;
	uint32_t *index = hwy_index_put(&k->begin_of, k->scratch, length, &fresh);
	if (fresh) {
		HWY_GROW(k->begins, k->n_begins, k->cap_begins);
		*index = k->n_begins;
		k->begins[k->n_begins++] = NULL;
	}
	return &k->begins[*index];
}

void kineto_keep_begin(struct kineto *k)
{
	struct hwy_text text = k->event.text;
	struct kineto_begin **top = innermost(k);
	struct kineto_begin *begin = hwy_zalloc(sizeof *begin + text.length + SOURCE_PAD);
	memcpy(begin->text, text.at, text.length);
	begin->text[text.length] = '"'; /* a scan stops at a quote (json_scan.h) */
	begin->length = text.length;
	begin->outer = *top;
	*top = begin;
}

struct kineto_begin *kineto_end_pair(struct kineto *k)
{
	int64_t end = k->event.ts;
	struct kineto_begin **top = innermost(k), *begin = *top;
	if (!begin)
		return NULL;
	*top = begin->outer;
	struct scan scan = scan_over(begin->text, begin->text + begin->length);
	if (!kineto_read_event(k, &scan)) {
		free(begin);
		return NULL;
	}
	k->event.phase = 'X';
	k->event.dur = end > k->event.ts ? end - k->event.ts : 0;
	return begin;
}

uint64_t kineto_free_begins(struct kineto *k)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < k->n_begins; i++) {
		for (struct kineto_begin *begin = k->begins[i], *outer; begin; begin = outer, n++) {
			outer = begin->outer;
			free(begin);
		}
	}
	free(k->begins);
	hwy_index_free(&k->begin_of);
	k->begins = NULL;
	k->n_begins = k->cap_begins = 0;
	return n;
}
