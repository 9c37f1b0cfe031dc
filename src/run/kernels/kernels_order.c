/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_order.c - writes the plan of one run: which launches, and what the hardware is told on each chip.
 *
 * The chip is known only inside the program, where the driver is. So the plan has a config image for every chip
 * that a device of the recording may be; that takes milliseconds each and needs no GPU. All targets of the order
 * stand in every plan, so that their numbers are the same; those that a part leaves out have no ordinals.
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

/* False where the chip is known to be of another compute capability than every device of the recording. */
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
		rows[i].n_ordinals = part->takes(part, target) ? target->n_ordinals : 0;
		rows[i].ordinals = put_aligned(plan, target->ordinals,
					       rows[i].n_ordinals * sizeof *target->ordinals);
	}
	head->n_targets = order->n_targets;
	head->targets = put_aligned(plan, rows, order->n_targets * sizeof *rows);
	free(rows);
}

static void put_images(struct hwy_bytes *plan, struct kernels_plan *head,
		       const struct kernels_answers *earlier)
{
	uint32_t n = earlier ? earlier->n_images : 0;
	struct kernels_plan_image *rows = hwy_zarray(n, sizeof *rows);
	for (uint32_t i = 0; i < n; i++) {
		const struct kernels_image *image = &earlier->images[i];
		rows[i] = (struct kernels_plan_image){
			.target = image->target,
			.rank = image->rank,
			.ordinal = image->ordinal,
			.data = put_aligned(plan, image->data, image->bytes),
			.bytes = image->bytes,
		};
	}
	head->n_images = n;
	head->images = put_aligned(plan, rows, n * sizeof *rows);
	free(rows);
}

/* ---- chips ----------------------------------------------------------------------------------- */

/* Chooses the metrics that the chip has, and makes their config image. False: the chip has none of them. */
static bool configure_chip(const struct cupti_library *library, const struct kernels_part *part,
			   const char *name, struct kernels_chip *chip, struct cupti_config *config,
			   struct hwy_err *err)
{
	const struct kernels_order *order = part->order;
	const char *metrics[KERNELS_METRICS];
	snprintf(chip->name, sizeof chip->name, "%s", name);
	size_t n = 0;
	if (cupti_host_choose(library, ABI_CUPTI_RANGE_PROFILER, name, NULL, order->metrics,
			      order->n_metrics, part->most_passes, chip->has) == 0)
		return hwy_fail(err, "%s: CUPTI has none of the counters for this chip", name);
	for (uint32_t i = 0; i < order->n_metrics; i++)
		if (chip->has[i])
			metrics[n++] = order->metrics[i];
	struct cupti_host *host =
		cupti_host_make(library, ABI_CUPTI_RANGE_PROFILER, name, NULL, err);
	bool made = host && cupti_host_add(host, metrics, n, err) &&
		    cupti_host_config(host, config, err);
	cupti_host_free(host);
	chip->passes = made ? (uint32_t)config->passes : 0;
	return made;
}

static void put_chip(struct hwy_bytes *plan, struct kernels_plan_chip *row,
		     const struct kernels_part *part, const struct kernels_chip *chip,
		     const struct cupti_config *config)
{
	uint64_t places[KERNELS_METRICS];
	uint32_t n = 0;
	for (uint32_t i = 0; i < part->order->n_metrics; i++)
		if (chip->has[i])
			places[n++] = put_plan_text(plan, part->order->metrics[i]);
	*row = (struct kernels_plan_chip){
		.name = put_plan_text(plan, chip->name),
		.config = put_aligned(plan, config->image, config->bytes),
		.config_bytes = config->bytes,
		.metrics = put_aligned(plan, places, n * sizeof *places),
		.n_metrics = n,
	};
}

static bool put_chips(struct hwy_bytes *plan, struct kernels_plan *head,
		      const struct kernels_part *part, struct hwy_err *err)
{
	struct kernels_plan_chip rows[KERNELS_CHIPS];
	const char *const *names;
	size_t n_names;
	struct cupti_library *library = cupti_library_open(NULL, err);
	if (!library || !cupti_library_chips(library, &names, &n_names, err))
		return false;
	struct kernels_chips *chips = part->chips;
	chips->n = 0;
	for (size_t i = 0; i < n_names && chips->n < KERNELS_CHIPS; i++) {
		struct kernels_chip *chip = &chips->chips[chips->n];
		struct cupti_config config = {0};
		if (!chip_may_be(names[i], part->order->compute) ||
		    !configure_chip(library, part, names[i], chip, &config, err))
			continue;
		put_chip(plan, &rows[chips->n++], part, chip, &config);
		cupti_config_free(&config);
	}
	head->n_chips = chips->n;
	head->chips = put_aligned(plan, rows, chips->n * sizeof *rows);
	if (chips->n == 0 && n_names == 0)
		return hwy_fail(err, "%s: knows no chip", cupti_library_path(library));
	return chips->n > 0;
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
		hwy_fail(err, "%s: %s", path, strerror(errno));
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
		.pass = part->pass,
	};
	hwy_bytes_put(&plan, &head, sizeof head);
	put_targets(&plan, &head, part);
	put_images(&plan, &head, part->earlier);
	head.chips = put_aligned(&plan, NULL, 0);
	/* Sampling of program counters needs no config image. */
	if (part->mode != KERNELS_MODE_SOURCE && !put_chips(&plan, &head, part, err))
		return false;
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
