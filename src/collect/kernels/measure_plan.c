/* SPDX-License-Identifier: Apache-2.0 */
/* measure_plan.c - the plan in memory: which launch is measured.
 *
 * The plan is read once and checked whole, so that nothing else has to check places. Targets are
 * found by a hash of their symbol; the program's threads look up at the same time, and change
 * nothing but the counts.
 */
#include <string.h>

#include "collect/kernels/measure.h"
#include "collect/process.h"
#include "collect/sys.h"
#include "spool/control.h"

enum { SLOTS = 1024, MOST_TARGETS = SLOTS / 2, MOST_BYTES = 1 << 30 };

static struct {
	uint32_t slots[SLOTS]; /* by hash of the symbol: index + 1 of a target; 0: free */
	_Atomic uint64_t seen[MOST_TARGETS]; /* how many launches of each target came so far */
	_Atomic uint32_t done[MOST_TARGETS]; /* how many of them were measured */
	_Atomic uint64_t left;               /* how many are still to be measured, in all */
} plan;

const struct kernels_plan_target *measure_plan_target(uint32_t index)
{
	return (const struct kernels_plan_target *)((const char *)measure.plan +
						    measure.plan->targets) +
	       index;
}

const struct kernels_plan_chip *measure_plan_chip(uint32_t index)
{
	return (const struct kernels_plan_chip *)((const char *)measure.plan +
						  measure.plan->chips) +
	       index;
}

const char *measure_plan_text(uint64_t place)
{
	return (const char *)measure.plan + place;
}

static bool plan_has_text(const struct kernels_plan *p, uint64_t place)
{
	return place < p->bytes;
}

static bool chips_are_whole(const struct kernels_plan *p)
{
	for (uint32_t i = 0; i < p->n_chips; i++) {
		const struct kernels_plan_chip *chip = measure_plan_chip(i);
		if (!plan_has_text(p, chip->name) ||
		    !kernels_plan_has(p, chip->config, chip->config_bytes, 1) ||
		    !kernels_plan_has(p, chip->metrics, chip->n_metrics, sizeof(uint64_t)))
			return false;
		const uint64_t *metrics = (const uint64_t *)((const char *)p + chip->metrics);
		for (uint32_t m = 0; m < chip->n_metrics; m++)
			if (!plan_has_text(p, metrics[m]))
				return false;
	}
	return true;
}

static bool plan_is_whole(const struct kernels_plan *p)
{
	if (p->magic != KERNELS_PLAN_MAGIC || p->n_targets > MOST_TARGETS ||
	    ((const char *)p)[p->bytes - 1] != 0 ||
	    !kernels_plan_has(p, p->targets, p->n_targets, sizeof(struct kernels_plan_target)) ||
	    !kernels_plan_has(p, p->chips, p->n_chips, sizeof(struct kernels_plan_chip)))
		return false;
	for (uint32_t i = 0; i < p->n_targets; i++)
		if (!plan_has_text(p, measure_plan_target(i)->symbol) ||
		    !kernels_plan_has(p, measure_plan_target(i)->ordinals,
				      measure_plan_target(i)->n_ordinals, sizeof(uint64_t)))
			return false;
	return chips_are_whole(p);
}

/* Reads a file of the run into memory of our own; NULL: it cannot be read. */
static struct kernels_plan *plan_load(void)
{
	int folder = sys_open(process.run, O_RDONLY | O_DIRECTORY);
	int fd = folder >= 0 ? control_open(folder, KERNELS_PLAN_FILE, O_RDONLY) : -1;
	if (folder >= 0)
		sys_close(folder);
	if (fd < 0)
		return NULL;
	struct kernels_plan head, *whole = NULL;
	if (sys_read(fd, &head, sizeof head) == (long)sizeof head && head.bytes >= sizeof head &&
	    head.bytes <= MOST_BYTES)
		whole = sys_memory(head.bytes);
	uint64_t have = whole ? sizeof head : 0;
	if (whole)
		memcpy(whole, &head, sizeof head);
	for (long n = 1; whole && have < head.bytes && n > 0; have += n > 0 ? (uint64_t)n : 0)
		n = sys_read(fd, (char *)whole + have, head.bytes - have);
	sys_close(fd);
	return whole && have == head.bytes ? whole : NULL;
}

bool measure_plan_read(void)
{
	struct kernels_plan *p = plan_load();
	if (!p)
		return false;
	measure.plan = p;
	if (!plan_is_whole(p))
		return false;
	for (uint32_t i = 0; i < p->n_targets; i++) {
		uint64_t slot =
			kernels_plan_hash(measure_plan_text(measure_plan_target(i)->symbol)) %
			SLOTS;
		while (plan.slots[slot])
			slot = (slot + 1) % SLOTS;
		plan.slots[slot] = i + 1;
		plan.left += measure_plan_target(i)->n_ordinals;
	}
	return true;
}

uint32_t measure_plan_find(const struct measure_launch *launch)
{
	if (!launch->symbol)
		return UINT32_MAX;
	for (uint64_t slot = kernels_plan_hash(launch->symbol) % SLOTS; plan.slots[slot];
	     slot = (slot + 1) % SLOTS) {
		const struct kernels_plan_target *target =
			measure_plan_target(plan.slots[slot] - 1);
		if (memcmp(target->grid, launch->grid, sizeof target->grid) == 0 &&
		    memcmp(target->block, launch->block, sizeof target->block) == 0 &&
		    target->shared == launch->shared &&
		    strcmp(measure_plan_text(target->symbol), launch->symbol) == 0)
			return plan.slots[slot] - 1;
	}
	return UINT32_MAX;
}

/* A launch that could not be measured is made up for by the next one of its target. */
bool measure_plan_count(uint32_t index, uint64_t *ordinal, uint32_t *set)
{
	const struct kernels_plan_target *target = measure_plan_target(index);
	const uint64_t *ordinals =
		(const uint64_t *)((const char *)measure.plan + target->ordinals);
	*ordinal = atomic_fetch_add_explicit(&plan.seen[index], 1, memory_order_relaxed);
	uint32_t due = 0, done = atomic_load_explicit(&plan.done[index], memory_order_relaxed);
	while (due < target->n_ordinals && ordinals[due] <= *ordinal)
		due++;
	*set = target->n_sets ? 1 + (target->first_set - 1 + done) % target->n_sets
			      : target->first_set;
	return done < due;
}

bool measure_plan_done(uint32_t index)
{
	atomic_fetch_add(&plan.done[index], 1);
	return atomic_fetch_sub(&plan.left, 1) == 1;
}

bool measure_plan_has_symbol(const char *symbol)
{
	for (uint32_t i = 0; symbol && i < measure.plan->n_targets; i++)
		if (strcmp(measure_plan_text(measure_plan_target(i)->symbol), symbol) == 0)
			return true;
	return false;
}

uint32_t measure_plan_row(const char *chip, uint32_t set)
{
	for (uint32_t i = 0; i < measure.plan->n_chips; i++)
		if (measure_plan_chip(i)->set == set &&
		    strcmp(measure_plan_text(measure_plan_chip(i)->name), chip) == 0)
			return i;
	return UINT32_MAX;
}
