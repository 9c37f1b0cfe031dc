/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_order.c - writes the plan of one run: which launches, and what the hardware is told on
 * each chip.
 *
 * The chip is known only inside the program, where the driver is. So the plan has a config image
 * for every chip that a device of the recording may be; that takes milliseconds each and needs
 * no GPU. All targets of the order stand in every plan, so that their numbers are the same;
 * those that a part leaves out have no ordinals.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "run/counters/cupti_host.h"
#include "run/kernels/kernels_internal.h"

/* Which chips a compute capability can be; the longest prefix decides. */
static const struct {
	const char *prefix;
	uint32_t compute;
} chip_names[] = {
	{"GV100", 70},  {"GV11B", 72},  {"TU1", 75},    {"GA100", 80},  {"GA10B", 87},
	{"GA10", 86},   {"AD10", 89},   {"GH100", 90},  {"GB100", 100}, {"GB102", 100},
	{"GB110", 103}, {"GB10B", 110}, {"GB20B", 121}, {"GB20", 120},
};

/* False where the chip is known to be of another compute capability than every device of the
 * recording. */
static bool chip_may_be(const char *chip, const uint32_t *compute)
{
	if (!compute || !*compute)
		return true;
	for (size_t i = 0; i < sizeof chip_names / sizeof *chip_names; i++) {
		if (strncmp(chip, chip_names[i].prefix, strlen(chip_names[i].prefix)) != 0)
			continue;
		for (const uint32_t *one = compute; *one; one++)
			if (*one == chip_names[i].compute)
				return true;
		return false;
	}
	return true; /* a chip of the future */
}

/* ---- bytes of the plan ----------------------------------------------------------------------- */

static uint64_t put_aligned(struct hwy_bytes *plan, const void *from, size_t bytes)
{
	while (plan->n % 8)
		hwy_bytes_put_byte(plan, 0);
	uint64_t place = plan->n;
	hwy_bytes_put(plan, from, bytes);
	return place;
}

static uint64_t put_plan_text(struct hwy_bytes *plan, const char *text)
{
	return put_aligned(plan, text, strlen(text) + 1);
}

bool kernels_target_is_apart(const struct kernels_order *order, const struct kernels_target *target)
{
	return order->replay == KERNELS_REPLAY_APPLICATION ||
	       (order->replay == KERNELS_REPLAY_AUTO && target->talks);
}

/* The first set of a target in this run; the run before went on from the first set, one for each
 * launch. */
static void choose_sets(const struct kernels_part *part, uint32_t index,
			struct kernels_plan_target *row)
{
	const struct kernels_target *target = &part->order->targets[index];
	uint32_t n = part->rows->n_sets;
	bool apart = kernels_target_is_apart(part->order, target);
	bool is_done = apart ? (uint64_t)part->number * target->n_ordinals >= n
			     : part->leaves_out && part->leaves_out[index];
	if (part->mode != KERNELS_MODE_SOURCE && is_done)
		row->n_ordinals = 0;
	if (!apart && target->plain)
		row->first_set = KERNELS_SET_PLAIN;
	if (!apart || n == 0)
		return;
	row->n_sets = n;
	row->first_set = 1 + part->number * target->n_ordinals % n;
}

static void put_targets(struct hwy_bytes *plan, struct kernels_plan *head,
			const struct kernels_part *part)
{
	const struct kernels_order *order = part->order;
	struct kernels_plan_target *rows = hwy_zarray(order->n_targets, sizeof *rows);
	for (uint32_t i = 0; i < order->n_targets; i++) {
		const struct kernels_target *target = &order->targets[i];
		rows[i].symbol = put_plan_text(plan, target->symbol);
		memcpy(rows[i].grid, target->grid, sizeof rows[i].grid);
		memcpy(rows[i].block, target->block, sizeof rows[i].block);
		rows[i].shared = target->shared;
		rows[i].n_ordinals = target->n_ordinals;
		choose_sets(part, i, &rows[i]);
		rows[i].ordinals = put_aligned(plan, target->ordinals,
					       rows[i].n_ordinals * sizeof *target->ordinals);
	}
	head->n_targets = order->n_targets;
	head->targets = put_aligned(plan, rows, order->n_targets * sizeof *rows);
	free(rows);
}

/* ---- chips ----------------------------------------------------------------------------------- */

struct chip_plan { /* what is being written for one chip */
	const struct cupti_library *library;
	const struct kernels_part *part;
	struct hwy_bytes *plan;
	struct kernels_plan_chip *rows; /* parallel to part->rows->rows */
	const char *name;
	bool is_known[KERNELS_METRICS]; /* metrics that the chip has */
	bool is_taken[KERNELS_METRICS]; /* metrics that a set of one pass has */
};

/* Makes the config image of the row's metrics and adds the row. */
static bool put_row(struct chip_plan *c, struct kernels_row *row, struct hwy_err *err)
{
	const struct kernels_order *order = c->part->order;
	const char *metrics[KERNELS_METRICS] = {NULL};
	uint64_t places[KERNELS_METRICS];
	uint32_t n = 0;
	for (uint32_t i = 0; i < order->n_metrics; i++)
		if (row->has[i]) {
			places[n] = put_plan_text(c->plan, order->metrics[i]);
			metrics[n++] = order->metrics[i];
		}
	struct cupti_config config = {0};
	struct cupti_host *host =
		cupti_host_make(c->library, ABI_CUPTI_RANGE_PROFILER, c->name, NULL, err);
	bool made = host && cupti_host_add(host, metrics, n, err) &&
		    cupti_host_config(host, &config, err);
	cupti_host_free(host);
	if (!made)
		return false;
	row->passes = (uint32_t)config.passes;
	c->rows[c->part->rows->n++] = (struct kernels_plan_chip){
		.name = put_plan_text(c->plan, c->name),
		.config = put_aligned(c->plan, config.image, config.bytes),
		.config_bytes = config.bytes,
		.metrics = put_aligned(c->plan, places, n * sizeof *places),
		.n_metrics = n,
		.set = row->set,
	};
	cupti_config_free(&config);
	return true;
}

static bool is_candidate(const struct chip_plan *c, uint32_t set, uint32_t metric)
{
	const char *name = c->part->order->metrics[metric];
	if (!c->is_known[metric])
		return false;
	if (set == KERNELS_SET_PLAIN)
		return !kernels_metric_is_of_tensors(name);
	return set == 0 || !c->is_taken[metric];
}

static bool set_is_repeated(uint32_t set)
{
	return set == 0 || set == KERNELS_SET_PLAIN;
}

/* Finds out which metrics the chip has: one by one, because a trial of many costs far more than
 * many trials of one. */
static void find_known(struct chip_plan *c)
{
	const struct kernels_order *order = c->part->order;
	for (uint32_t i = 0; i < order->n_metrics; i++) {
		c->is_taken[i] = c->is_known[i] = false;
		if (!kernels_metric_follows(order->metrics[i]))
			cupti_host_choose(c->library, ABI_CUPTI_RANGE_PROFILER, c->name, NULL,
					  &order->metrics[i], 1, SIZE_MAX, &c->is_known[i]);
	}
}

/* Chooses the metrics of a set: for sets that are repeated all that the chip has, for the others
 * what fits one pass of those that no set has yet. False: there is nothing more to choose. */
static bool choose_row(struct chip_plan *c, struct kernels_row *row)
{
	const struct kernels_order *order = c->part->order;
	const char *left[KERNELS_METRICS];
	bool chosen[KERNELS_METRICS];
	uint32_t which[KERNELS_METRICS], n = 0;
	for (uint32_t i = 0; i < order->n_metrics; i++)
		if (is_candidate(c, row->set, i)) {
			chosen[n] = true;
			which[n] = i;
			left[n++] = order->metrics[i];
		}
	snprintf(row->name, sizeof row->name, "%s", c->name);
	memset(row->has, 0, sizeof row->has);
	if (n == 0 || (!set_is_repeated(row->set) &&
		       cupti_host_choose(c->library, ABI_CUPTI_RANGE_PROFILER, c->name, NULL, left,
					 n, 1, chosen) == 0))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		row->has[which[i]] = chosen[i];
		c->is_taken[which[i]] |= chosen[i] && !set_is_repeated(row->set);
	}
	return true;
}

static bool put_set(struct chip_plan *c, uint32_t set, struct hwy_err *err)
{
	struct kernels_rows *rows = c->part->rows;
	if (rows->n == KERNELS_ROWS)
		return false;
	struct kernels_row *row = &rows->rows[rows->n];
	row->set = set;
	return choose_row(c, row) && put_row(c, row, err);
}

static void put_chip(struct chip_plan *c, struct hwy_err *err)
{
	struct kernels_rows *rows = c->part->rows;
	uint32_t last = c->part->needs_sets ? KERNELS_SETS : 0;
	find_known(c);
	if (!put_set(c, 0, err) || !put_set(c, KERNELS_SET_PLAIN, err))
		return;
	for (uint32_t set = 1; set <= last && put_set(c, set, err); set++)
		rows->n_sets = set > rows->n_sets ? set : rows->n_sets;
}

static bool put_chips(struct hwy_bytes *plan, struct kernels_plan *head,
		      const struct kernels_part *part, struct hwy_err *err)
{
	const char *const *names;
	size_t n_names;
	struct cupti_library *library = cupti_library_open(NULL, err);
	if (!library || !cupti_library_chips(library, &names, &n_names, err))
		return false;
	struct kernels_rows *rows = part->rows;
	struct kernels_plan_chip *put = hwy_zarray(KERNELS_ROWS, sizeof *put);
	struct chip_plan chip = {.library = library, .part = part, .plan = plan, .rows = put};
	rows->n = rows->n_sets = 0;
	hwy_fail(err, "%s: has none of the counters for the devices of the report",
		 cupti_library_path(library));
	for (size_t i = 0; i < n_names && rows->n < KERNELS_ROWS; i++) {
		chip.name = names[i];
		if (chip_may_be(names[i], part->order->compute))
			put_chip(&chip, err);
	}
	head->n_chips = rows->n;
	head->chips = put_aligned(plan, put, rows->n * sizeof *put);
	free(put);
	return rows->n > 0;
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool write_plan(const struct hwy_bytes *plan, const char *directory, struct hwy_err *err)
{
	char path[PATH_MAX];
	if (snprintf(path, sizeof path, "%s/" KERNELS_PLAN_FILE, directory) >= (int)sizeof path)
		return hwy_fail(err, "%s: the path is too long", directory);
	unlink(path);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	size_t done = 0;
	for (ssize_t n = 1; fd >= 0 && done < plan->n && n > 0; done += n > 0 ? (size_t)n : 0)
		n = write(fd, plan->bytes + done, plan->n - done);
	bool written = fd >= 0 && done == plan->n;
	if (!written)
		hwy_fail(err, "%s: %s", path, hwy_strerror(errno));
	if (fd >= 0)
		close(fd);
	return written;
}

/* Runs in a child process. */
static bool make_plan(void *argument, struct hwy_err *err)
{
	const struct kernels_part *part = argument;
	struct hwy_bytes plan = {0};
	struct kernels_plan head = {
		.magic = KERNELS_PLAN_MAGIC,
		.mode = part->mode,
	};
	hwy_bytes_put(&plan, &head, sizeof head);
	head.chips = put_aligned(&plan, NULL, 0);
	/* Sampling of program counters needs no config image. */
	if (part->mode != KERNELS_MODE_SOURCE && !put_chips(&plan, &head, part, err))
		return false;
	put_targets(&plan, &head, part);
	hwy_bytes_put_byte(&plan, 0); /* every text has an end */
	head.bytes = plan.n;
	memcpy(plan.bytes, &head, sizeof head);
	bool written = write_plan(&plan, part->directory, err);
	hwy_bytes_free(&plan);
	return written;
}

bool kernels_order_write(struct kernels_part *part, struct hwy_err *err)
{
	if (part->order->n_metrics > KERNELS_METRICS)
		return hwy_fail(err, "%u counters are more than can be measured at once (%d)",
				part->order->n_metrics, KERNELS_METRICS);
	return kernels_apart(make_plan, part, err);
}
