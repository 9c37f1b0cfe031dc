/* kineto_hints.c - a pass of its own for files that need one: several processes call the vendor's library,
 * or device work has no correlation id while arrows ("ac2g") lead to it.
 *
 * Correlation ids are counted in each process. An id that one process uses tells the owner of the work that
 * carries it; such work also tells which process uses a device. An id that several processes use (ranks
 * merged into one file) is given to the process that uses the work's device.
 */
#include <stdlib.h>

#include "import/kineto/kineto.h"

/* Ids of texts differ from pass to pass: a pid or tid that holds no number is known by its bytes. */
static uint64_t part_of(struct kineto *k, const struct scan_value *value)
{
	int64_t number = kineto_number_in(k, kineto_read_id(k, value)).number;
	return number != HWY_NONE ? (uint64_t)number : hwy_hash(value->at, value->length);
}

static uint64_t place_key(struct kineto *k)
{
	uint64_t parts[] = {
		part_of(k, &k->event.pid),
		part_of(k, &k->event.tid),
		(uint64_t)k->event.ts,
	};
	return hwy_hash(parts, sizeof parts);
}

static uint32_t pid_index(struct kineto_hints *hints, int64_t pid)
{
	bool fresh;
	uint32_t *place = hwy_map_put(&hints->pid_places, (uint64_t)pid, &fresh);
	if (fresh) {
		HWY_GROW(hints->pids, hints->n_pids, hints->cap_pids);
		*place = hints->n_pids;
		hints->pids[hints->n_pids++] = pid;
	}
	return *place;
}

static void collect_call(struct kineto *k, int64_t correlation)
{
	struct kineto_hints *hints = k->hints;
	struct kineto_id pid = kineto_read_id(k, &k->event.pid);
	if (pid.number == HWY_NONE || correlation <= 0)
		return;
	uint32_t index = pid_index(hints, pid.number) + 1;
	uint32_t *owner = hwy_map_put(&hints->owners, (uint64_t)correlation, NULL);
	if (*owner == 0)
		*owner = index;
	else if (*owner != index)
		*hwy_map_put(&hints->shared, (uint64_t)correlation, NULL) = 1;
}

static void collect_work(struct kineto *k, int64_t correlation)
{
	struct kineto_hints *hints = k->hints;
	struct kineto_id pid = kineto_number_in(k, kineto_read_id(k, &k->event.pid));
	if (correlation <= 0)
		return;
	HWY_GROW(hints->work, hints->n_work, hints->cap_work);
	hints->work[hints->n_work++] =
		(struct kineto_work){.device = pid.number, .correlation = correlation};
}

void kineto_collect(struct kineto *k)
{
	struct kineto_event *event = &k->event;
	struct kineto_hints *hints = k->hints;
	int64_t correlation = kineto_number(k, KEY_CORRELATION), id;
	if (event->phase == 'X' && event->category == CAT_API)
		collect_call(k, correlation);
	else if (event->phase == 'X' && event->category >= CAT_KERNEL &&
		 event->category <= CAT_FILL)
		collect_work(k, correlation);
	else if (event->category == CAT_LAUNCH_FLOW && scan_integer(&event->id, &id) && id > 0) {
		HWY_GROW(hints->flow_ids, hints->n_flow_ids, hints->cap_flow_ids);
		hints->flow_ids[hints->n_flow_ids++] = id;
		*hwy_map_put(&hints->flows, place_key(k), NULL) = hints->n_flow_ids;
	}
}

/* Which process uses a device: the one with most of the work there whose owner is certain. */
void kineto_hints_done(struct kineto_hints *hints)
{
	struct hwy_map votes = {0}, best = {0};
	for (uint32_t i = 0; i < hints->n_work; i++) {
		uint64_t correlation = (uint64_t)hints->work[i].correlation;
		const uint32_t *owner = hwy_map_get(&hints->owners, correlation);
		if (!owner || hwy_map_get(&hints->shared, correlation))
			continue;
		uint64_t device = (uint64_t)hints->work[i].device;
		/* A clash of two devices' keys costs a vote, no more. */
		uint32_t n = ++*hwy_map_put(&votes, hwy_mix(device) ^ *owner, NULL);
		uint32_t *most = hwy_map_put(&best, device, NULL);
		if (n > *most) {
			*most = n;
			*hwy_map_put(&hints->devices, device, NULL) = *owner;
		}
	}
	hwy_map_free(&votes);
	hwy_map_free(&best);
	free(hints->work);
	hints->work = NULL;
	hints->n_work = hints->cap_work = 0;
	hints->ready = true;
}

void kineto_hints_free(struct kineto_hints *hints)
{
	hwy_map_free(&hints->owners);
	hwy_map_free(&hints->devices);
	hwy_map_free(&hints->shared);
	hwy_map_free(&hints->flows);
	hwy_map_free(&hints->pid_places);
	free(hints->work);
	free(hints->pids);
	free(hints->flow_ids);
}

int64_t kineto_owner(struct kineto *k, int64_t correlation, struct kineto_id device)
{
	const struct kineto_hints *hints = k->hints;
	uint64_t pid = (uint64_t)kineto_number_in(k, device).number;
	const uint32_t *user = hwy_map_get(&hints->devices, pid);
	const uint32_t *owner = hwy_map_get(&hints->owners, (uint64_t)correlation);
	if (user && (!owner || hwy_map_get(&hints->shared, (uint64_t)correlation)))
		owner = user;
	if (!owner || *owner == 0)
		return HWY_NONE;
	return kineto_process(k, (struct kineto_id){.number = hints->pids[*owner - 1]});
}

int64_t kineto_flow_correlation(struct kineto *k)
{
	const uint32_t *place = hwy_map_get(&k->hints->flows, place_key(k));
	return place ? k->hints->flow_ids[*place - 1] : 0;
}
