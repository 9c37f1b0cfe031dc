/* SPDX-License-Identifier: Apache-2.0 */
/* kineto_hints.c - a pass over the file that finds owners and arrows, before the pass that makes
 * spans.
 *
 * A file needs this pass where several processes call the vendor's library, or where device work
 * has no correlation id but arrows ("ac2g") lead to it. Every process counts its own correlation
 * ids. Where only one process uses an id, work with this id belongs to that process, and such work
 * also tells which process uses a device. Where several processes use an id (ranks that were merged
 * into one file), the work belongs to the process that uses the work's device.
 */
#include <stdlib.h>

#include "import/kineto/kineto.h"

/* Where an arrow begins or ends: at the event with the same pid, tid and time. No padding: its
 * bytes are a key. A pid or tid without a number gets one from kineto_hints.texts: texts of the
 * trace differ from pass to pass. */
struct flow_key {
	int64_t pid, tid, ts;
	uint32_t pid_is_text, tid_is_text;
};

static int64_t flow_id_part(struct kineto *k, const struct scan_value *value, uint32_t *is_text)
{
	int64_t number = kineto_first_number(k, kineto_read_id(k, value)).number;
	*is_text = number == HWY_NONE;
	if (!*is_text)
		return number;
	bool fresh;
	struct hwy_index *texts = &k->hints->texts;
	uint32_t *id = hwy_index_put(texts, value->text, value->length, &fresh);
	if (fresh)
		*id = texts->count;
	return *id;
}

static struct flow_key flow_key(struct kineto *k)
{
	struct flow_key key = {.ts = k->event.ts};
	key.pid = flow_id_part(k, &k->event.pid, &key.pid_is_text);
	key.tid = flow_id_part(k, &k->event.tid, &key.tid_is_text);
	return key;
}

static uint32_t pid_index(struct kineto_hints *hints, int64_t pid)
{
	bool fresh;
	uint32_t *index = hwy_map_put(&hints->pid_of, (uint64_t)pid, &fresh);
	if (fresh) {
		HWY_GROW(hints->pids, hints->n_pids, hints->cap_pids);
		*index = hints->n_pids;
		hints->pids[hints->n_pids++] = pid;
	}
	return *index;
}

static void collect_call(struct kineto *k, int64_t correlation)
{
	struct kineto_hints *hints = k->hints;
	struct kineto_id pid = kineto_read_id(k, &k->event.pid);
	if (pid.number == HWY_NONE || correlation <= 0)
		return;
	bool fresh;
	uint32_t index = pid_index(hints, pid.number);
	uint32_t *owner = hwy_map_put(&hints->owners, (uint64_t)correlation, &fresh);
	if (fresh)
		*owner = index;
	else if (*owner != index)
		*hwy_map_put(&hints->shared, (uint64_t)correlation, NULL) = 1;
}

static void collect_work(struct kineto *k, int64_t correlation)
{
	struct kineto_hints *hints = k->hints;
	struct kineto_id pid = kineto_first_number(k, kineto_read_id(k, &k->event.pid));
	if (correlation <= 0)
		return;
	HWY_GROW(hints->work, hints->n_work, hints->cap_work);
	hints->work[hints->n_work++] =
		(struct kineto_work){.device = pid.number, .correlation = correlation};
}

void kineto_collect_hints(struct kineto *k)
{
	struct kineto_event *event = &k->event;
	struct kineto_hints *hints = k->hints;
	int64_t correlation = kineto_number(k, KEY_CORRELATION), id;
	if (event->phase == 'X' && event->category == CAT_API)
		collect_call(k, correlation);
	else if (event->phase == 'X' && event->category >= CAT_KERNEL &&
		 event->category <= CAT_FILL)
		collect_work(k, correlation);
	else if (event->category == CAT_LAUNCH_FLOW && scan_integer(&event->id, &id) && id > 0 &&
		 id < INT64_MAX) {
		struct flow_key key = flow_key(k);
		*hwy_index_put(&hints->flows, &key, sizeof key, NULL) = hints->n_flow_ids;
		HWY_GROW(hints->flow_ids, hints->n_flow_ids, hints->cap_flow_ids);
		hints->flow_ids[hints->n_flow_ids++] = id;
	}
}

struct vote_key { /* a key of a struct hwy_index, so it must have no padding */
	uint64_t device, owner;
};

/* The process that uses a device is the one with most of the work there, counting only work whose
 * owner is certain. */
void kineto_count_votes(struct kineto_hints *hints)
{
	struct hwy_index votes = {0}; /* maps a struct vote_key to the number of work events */
	struct hwy_map best = {0};    /* maps a device to the largest number of votes so far */
	for (uint32_t i = 0; i < hints->n_work; i++) {
		uint64_t correlation = (uint64_t)hints->work[i].correlation;
		const uint32_t *owner = hwy_map_get(&hints->owners, correlation);
		if (!owner || hwy_map_get(&hints->shared, correlation))
			continue;
		struct vote_key key = {(uint64_t)hints->work[i].device, *owner};
		uint32_t n = ++*hwy_index_put(&votes, &key, sizeof key, NULL);
		uint32_t *most = hwy_map_put(&best, key.device, NULL);
		if (n > *most) {
			*most = n;
			*hwy_map_put(&hints->users, key.device, NULL) = *owner;
		}
	}
	hwy_index_free(&votes);
	hwy_map_free(&best);
	free(hints->work);
	hints->work = NULL;
	hints->n_work = hints->cap_work = 0;
	hints->ready = true;
}

void kineto_hints_free(struct kineto_hints *hints)
{
	hwy_map_free(&hints->owners);
	hwy_map_free(&hints->users);
	hwy_map_free(&hints->shared);
	hwy_index_free(&hints->flows);
	hwy_index_free(&hints->texts);
	hwy_map_free(&hints->pid_of);
	free(hints->work);
	free(hints->pids);
	free(hints->flow_ids);
}

int64_t kineto_owner_process(struct kineto *k, int64_t correlation, struct kineto_id device)
{
	const struct kineto_hints *hints = k->hints;
	uint64_t pid = (uint64_t)kineto_first_number(k, device).number;
	const uint32_t *user = hwy_map_get(&hints->users, pid);
	const uint32_t *owner = hwy_map_get(&hints->owners, (uint64_t)correlation);
	if (user && (!owner || hwy_map_get(&hints->shared, (uint64_t)correlation)))
		owner = user;
	if (!owner)
		return HWY_NONE;
	return kineto_process(k, (struct kineto_id){.number = hints->pids[*owner]});
}

int64_t kineto_flow_correlation(struct kineto *k)
{
	struct flow_key key = flow_key(k);
	const uint32_t *index = hwy_index_get(&k->hints->flows, &key, sizeof key);
	return index ? k->hints->flow_ids[*index] : 0;
}
