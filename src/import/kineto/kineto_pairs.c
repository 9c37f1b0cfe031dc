/* kineto_pairs.c - events that come in two: a begin (ph B) and an end (ph E) on the same thread.
 *
 * What began last on a thread ends first. PyTorch writes one event with a duration, but the Chrome format
 * allows both, and tools that filter or merge traces write pairs. A begin waits as its text; when its end
 * is there it is read again, and is then an event like those with a duration. What the end says beyond its
 * time is ignored.
 */
#include <stdlib.h>
#include <string.h>

#include "import/kineto/kineto.h"

struct kineto_begin {
	struct kineto_begin *outer; /* began before it on the same thread */
	uint32_t length;
	char text[]; /* and SOURCE_PAD bytes */
};

/* The innermost begin of the event's thread. One writer writes a pid and a tid in one way. */
static struct kineto_begin **innermost(struct kineto *k)
{
	const struct scan_value *pid = &k->event.pid, *tid = &k->event.tid;
	uint64_t key = hwy_mix(hwy_hash(pid->at, pid->length)) ^ hwy_hash(tid->at, tid->length);
	bool fresh;
	uint32_t *at = hwy_map_put(&k->begin_of, key, &fresh);
	if (fresh) {
		HWY_GROW(k->begins, k->n_begins, k->cap_begins);
		*at = k->n_begins;
		k->begins[k->n_begins++] = NULL;
	}
	return &k->begins[*at];
}

void kineto_keep_begin(struct kineto *k)
{
	struct hwy_text text = k->event.text;
	struct kineto_begin **at = innermost(k);
	struct kineto_begin *begin = hwy_zalloc(sizeof *begin + text.length + SOURCE_PAD);
	memcpy(begin->text, text.at, text.length);
	begin->text[text.length] = '"'; /* where a scan stops */
	begin->length = text.length;
	begin->outer = *at;
	*at = begin;
}

struct kineto_begin *kineto_end_pair(struct kineto *k)
{
	int64_t end = k->event.ts;
	struct kineto_begin **at = innermost(k), *begin = *at;
	if (!begin)
		return NULL;
	*at = begin->outer;
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
	hwy_map_free(&k->begin_of);
	k->begins = NULL;
	k->n_begins = k->cap_begins = 0;
	return n;
}
