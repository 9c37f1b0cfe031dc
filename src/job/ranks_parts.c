/* SPDX-License-Identifier: Apache-2.0 */
/* ranks_parts.c - what a rank's device does in each of the job's steps; see ranks.h.
 *
 * With C the time in which the device computes, M in which it communicates, A in which it does
 * anything, and W in which the rank waits for others in a collective, on the device or on the
 * CPU:
 *
 *   compute = |C|,  transfer = |C∪M| - |C| - |W∩(C∪M)| + |W∩C|,  copies = |A| - |C∪M|,
 *   waiting = |W∩(C∪M)| - |W∩C| + |W| - |W∩A|,  idle = the gaps without W, by their causes.
 *
 * The waits of the first collective of a rank are a part of their own, reckoned as W is. With
 * several devices each part is the mean over the devices that work.
 */
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "job/ranks.h"

struct cover_list { /* a union of intervals: disjoint, in order */
	struct hwy_interval *items;
	uint32_t n, cap;
	struct hwy_cover cover;
};

static void cover_list_add(struct cover_list *list, int64_t from, int64_t to)
{
	struct hwy_interval fresh;
	if (!cover_add(&list->cover, from, to, &fresh))
		return;
	if (list->n > 0 && list->items[list->n - 1].to == fresh.from) {
		list->items[list->n - 1].to = fresh.to;
		return;
	}
	HWY_GROW(list->items, list->n, list->cap);
	list->items[list->n++] = fresh;
}

struct measuring {
	struct job_ranks *ranks;
	const struct ranks_member *member;
	uint32_t index; /* of the member */
	struct hwy_interval *windows;
	struct cover_list waits;  /* W */
	struct cover_list starts; /* as W, in the first collective of a rank */
	int64_t *sums;            /* by step */
	uint32_t n_devices;       /* that work */
};

/* Adds 'sign' times the length of the list in each step to one part of the step. */
static void add_cover(struct measuring *m, const struct cover_list *list, int part, int sign)
{
	uint32_t n = m->ranks->n_steps;
	struct hwy_bins bins = {.windows = m->windows, .sums = m->sums, .n = n};
	memset(m->sums, 0, n * sizeof *m->sums);
	for (uint32_t i = 0; i < list->n; i++)
		bins_add(&bins, list->items[i].from, list->items[i].to);
	for (uint32_t s = 0; s < n; s++)
		m->ranks->parts[((size_t)m->index * n + s) * RANK_PARTS + (size_t)part] +=
			sign * m->sums[s];
}

/* The time that two lists have in common. */
static struct cover_list common(const struct cover_list *a, const struct cover_list *b)
{
	struct cover_list both = {0};
	for (uint32_t i = 0, j = 0; i < a->n && j < b->n;) {
		int64_t from =
			a->items[i].from > b->items[j].from ? a->items[i].from : b->items[j].from;
		int64_t to = a->items[i].to < b->items[j].to ? a->items[i].to : b->items[j].to;
		if (from < to)
			cover_list_add(&both, from, to);
		if (a->items[i].to < b->items[j].to)
			i++;
		else
			j++;
	}
	return both;
}

/* The time of a list that is not in the other one. */
static struct cover_list without(const struct cover_list *a, const struct cover_list *b)
{
	struct cover_list left = {0};
	for (uint32_t i = 0, j = 0; i < a->n; i++) {
		int64_t from = a->items[i].from;
		while (j < b->n && b->items[j].to <= from)
			j++;
		for (uint32_t k = j; k < b->n && b->items[k].from < a->items[i].to; k++) {
			if (b->items[k].from > from)
				cover_list_add(&left, from, b->items[k].from);
			from = b->items[k].to > from ? b->items[k].to : from;
		}
		if (from < a->items[i].to)
			cover_list_add(&left, from, a->items[i].to);
	}
	return left;
}

/* Moves what of the list lies in waits from transfer to waiting; sign: -1 moves it back. */
static void move_waits(struct measuring *m, const struct cover_list *list, int sign)
{
	struct cover_list inside = common(list, &m->waits), start = common(list, &m->starts);
	add_cover(m, &inside, RANK_TRANSFER, -sign);
	add_cover(m, &inside, RANK_WAIT, sign);
	add_cover(m, &start, RANK_TRANSFER, -sign);
	add_cover(m, &start, RANK_START, sign);
	free(inside.items);
	free(start.items);
}

/* Waits in which the device does nothing. */
static void add_idle_waits(struct measuring *m, const struct cover_list *all,
			   const struct cover_list *waits, int part)
{
	struct cover_list inside = common(all, waits);
	add_cover(m, waits, part, 1);
	add_cover(m, &inside, part, -1);
	free(inside.items);
}

static void measure_work(struct measuring *m, uint32_t device)
{
	const struct hwy_flow *flow = &m->member->analysis->flow;
	const struct flow_device *one = &flow->devices[device];
	struct cover_list compute = {0}, comm = {0}, both = {0}, all = {0};
	for (uint32_t i = 0; i < one->n; i++) {
		const struct flow_op *op =
			&flow->ops[flow->by_device ? flow->by_device[one->first + i]
						   : one->first + i];
		bool is_compute = op->class == HWY_COMPUTE, is_comm = op->class == HWY_COMM;
		if (is_compute)
			cover_list_add(&compute, op->start, op->end);
		if (is_comm)
			cover_list_add(&comm, op->start, op->end);
		if (is_compute || is_comm)
			cover_list_add(&both, op->start, op->end);
		cover_list_add(&all, op->start, op->end);
	}
	struct cover_list hidden = common(&compute, &comm);
	add_cover(m, &compute, RANK_COMPUTE, 1);
	add_cover(m, &both, RANK_TRANSFER, 1);
	add_cover(m, &compute, RANK_TRANSFER, -1);
	move_waits(m, &both, 1);
	move_waits(m, &compute, -1);
	add_cover(m, &all, RANK_COPY, 1);
	add_cover(m, &both, RANK_COPY, -1);
	add_idle_waits(m, &all, &m->waits, RANK_WAIT);
	add_idle_waits(m, &all, &m->starts, RANK_START);
	struct hwy_bins bins = {.windows = m->windows, .sums = m->sums, .n = m->ranks->n_steps};
	memset(m->sums, 0, m->ranks->n_steps * sizeof *m->sums);
	for (uint32_t i = 0; i < hidden.n; i++)
		bins_add(&bins, hidden.items[i].from, hidden.items[i].to);
	for (uint32_t s = 0; s < m->ranks->n_steps; s++)
		m->ranks->rows[m->index].hidden += m->sums[s];
	free(compute.items);
	free(comm.items);
	free(both.items);
	free(all.items);
	free(hidden.items);
}

/* The gaps of a device without what the rank waits for others in them. */
static void measure_idle(struct measuring *m, uint32_t device)
{
	const struct hwy_gaps *gaps = &m->member->analysis->measures[m->member->phase].gaps;
	struct cover_list of[GAP_CAUSES] = {{0}};
	for (uint32_t i = 0; i < gaps->n; i++)
		if (gaps->gaps[i].device == device)
			cover_list_add(&of[gaps->gaps[i].cause], gaps->gaps[i].at.from,
				       gaps->gaps[i].at.to);
	for (int cause = 0; cause < GAP_CAUSES; cause++) {
		struct cover_list inside = common(&of[cause], &m->waits);
		struct cover_list start = common(&of[cause], &m->starts);
		add_cover(m, &of[cause], RANK_IDLE + cause, 1);
		add_cover(m, &inside, RANK_IDLE + cause, -1);
		add_cover(m, &start, RANK_IDLE + cause, -1);
		free(inside.items);
		free(start.items);
		free(of[cause].items);
	}
}

/* Makes the parts of each step the mean over the devices, and lets them add up to the step: what
 * is left over by rounding, and by runs of tiny gaps that are listed as one, is idle time
 * between pieces of work. */
static void settle_steps(struct measuring *m)
{
	uint32_t n = m->ranks->n_steps, devices = m->n_devices ? m->n_devices : 1;
	for (uint32_t s = 0; s < n; s++) {
		size_t at = (size_t)m->index * n + s;
		int64_t *parts = &m->ranks->parts[at * RANK_PARTS];
		int64_t left = m->ranks->length[at] = m->windows[s].to - m->windows[s].from;
		for (unsigned p = 0; p < RANK_PARTS; p++) {
			parts[p] /= devices;
			left -= parts[p];
		}
		parts[RANK_IDLE + GAP_DEPENDENCY] += left;
	}
	m->ranks->rows[m->index].hidden /= devices;
}

static int by_from(const void *a, const void *b)
{
	const struct hwy_interval *x = a, *y = b;
	return (x->from > y->from) - (x->from < y->from);
}

static void add_sorted(struct cover_list *list, struct hwy_interval *waits, uint32_t n)
{
	if (n > 0)
		qsort(waits, n, sizeof *waits, by_from);
	for (uint32_t i = 0; i < n; i++)
		cover_list_add(list, waits[i].from, waits[i].to);
}

/* Where the rank waits for others: in collectives from its arrival to the last one, and for
 * messages. */
static void list_waits(struct measuring *m, const struct ranks_meetings *meetings)
{
	struct hwy_interval *waits[2] = {
		NULL, NULL}; /* in the first collective of a rank, and in others */
	uint32_t n[2] = {0, 0}, cap[2] = {0, 0};
	for (uint32_t i = meetings->first_of[m->index]; i < meetings->first_of[m->index + 1]; i++) {
		const struct ranks_arrival *one = &meetings->arrivals[meetings->by_member[i]];
		bool counts = meetings->meetings[one->meeting].counts;
		if (one->wait <= 0)
			continue;
		HWY_GROW(waits[counts], n[counts], cap[counts]);
		waits[counts][n[counts]++] =
			(struct hwy_interval){one->from, one->from + one->wait};
	}
	for (uint32_t i =
		     HWY_FIRST(k, 0u, meetings->n_waits, meetings->waits[k].member >= m->index);
	     i < meetings->n_waits && meetings->waits[i].member == m->index; i++) {
		HWY_GROW(waits[1], n[1], cap[1]);
		waits[1][n[1]++] = meetings->waits[i].at;
	}
	struct cover_list starts = {0};
	add_sorted(&starts, waits[0], n[0]);
	add_sorted(&m->waits, waits[1], n[1]);
	m->starts = without(&starts, &m->waits);
	free(starts.items);
	free(waits[0]);
	free(waits[1]);
}

static void measure_member(struct job_ranks *ranks, const struct ranks_member *member,
			   uint32_t index, const struct ranks_meetings *meetings)
{
	const struct hwy_phase *phase = ranks_phase(member);
	struct measuring m = {.ranks = ranks, .member = member, .index = index};
	m.windows = hwy_array(ranks->n_steps, sizeof *m.windows);
	m.sums = hwy_array(ranks->n_steps, sizeof *m.sums);
	for (uint32_t s = 0; s < ranks->n_steps; s++)
		m.windows[s] = phase->steps[ranks->first_step[index] + s].device;
	list_waits(&m, meetings);
	const struct hwy_gaps *gaps = &member->analysis->measures[member->phase].gaps;
	for (uint32_t d = 0; d < member->analysis->flow.n_devices; d++) {
		if (gaps->devices[d].busy == 0)
			continue;
		m.n_devices++;
		measure_work(&m, d);
		measure_idle(&m, d);
	}
	settle_steps(&m);
	free(m.windows);
	free(m.sums);
	free(m.waits.items);
	free(m.starts.items);
}

/* Means over the job's steps; the parts are rounded so that they still add up. */
static void take_means(struct job_ranks *ranks, uint32_t member)
{
	struct rank_row *row = &ranks->rows[member];
	int64_t sum = 0, before = 0, totals[RANK_PARTS] = {0};
	row->step = 0;
	if (ranks->n_steps == 0)
		return;
	for (uint32_t s = 0; s < ranks->n_steps; s++) {
		row->step += ranks->length[(size_t)member * ranks->n_steps + s];
		for (unsigned p = 0; p < RANK_PARTS; p++)
			totals[p] +=
				ranks->parts[((size_t)member * ranks->n_steps + s) * RANK_PARTS +
					     p];
	}
	row->step /= ranks->n_steps;
	row->hidden /= ranks->n_steps;
	for (unsigned p = 0; p < RANK_PARTS; p++) {
		sum += totals[p];
		row->parts[p] = sum / ranks->n_steps - before;
		before = sum / ranks->n_steps;
	}
	row->busy = row->step > 0 ? (double)row->parts[RANK_COMPUTE] / (double)row->step : 0;
}

void ranks_measure(struct job_ranks *ranks, const struct ranks_member *members,
		   const struct ranks_meetings *meetings)
{
	int64_t steps = 0, waiting = 0;
	uint32_t judged = 0;
	for (uint32_t r = 0; r < ranks->n && ranks->n_steps > 0; r++) {
		if (!ranks_phase(&members[r]))
			continue;
		measure_member(ranks, &members[r], r, meetings);
		for (uint32_t s = 0; s < ranks->n_steps; s++)
			ranks->rows[r].step +=
				ranks->length[(size_t)r * ranks->n_steps + s] / ranks->n_steps;
		ranks->rows[r].is_judged = true;
	}
	ranks_guess_waits(ranks);
	for (uint32_t r = 0; r < ranks->n; r++) {
		if (!ranks->rows[r].is_judged)
			continue;
		take_means(ranks, r);
		steps += ranks->rows[r].step;
		waiting += ranks->rows[r].parts[RANK_WAIT];
		judged++;
	}
	ranks->step = judged ? steps / judged : 0;
	ranks->waiting = judged ? waiting / judged : 0;
}
