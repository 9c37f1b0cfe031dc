/* SPDX-License-Identifier: Apache-2.0 */
/* pm_set.h - which metrics are sampled, by which of NVIDIA's names, and which lanes they become.
 *
 * A set is built for the chip at hand: the metrics of one table, in the order of their use, as
 * many as one pass of the hardware can collect. Lanes have nsys's names where nsys has the same
 * metric.
 */
#ifndef HWY_RUN_COUNTERS_PM_SET_H
#define HWY_RUN_COUNTERS_PM_SET_H

#include "run/counters/cupti_host.h"

enum pm_scale {
	PM_AS_IS,      /* the value is what the lane shows */
	PM_PER_SECOND, /* a sum over the sample: divided by the sample's length */
};
struct pm_metric {
	const char *metric; /* NVIDIA's name */
	/* the lane's name; several rows may have the same: the first that fits is taken */
	const char *lane;
	const char *unit;
	enum pm_scale scale;
	uint32_t sets; /* bits: in which of pm_sets it is */
};

struct pm_set_name {
	const char *name, *what;
};
extern const struct pm_set_name pm_sets[]; /* what --gpu-metrics-set takes; ends with a NULL name */
/* The number of a set by name; -1: there is none. */
int pm_set_find(const char *name);

/* The table's entries, in order; NULL behind the last. */
const struct pm_metric *pm_set_entry(size_t index);

enum { PM_MOST_METRICS = 48 };
struct pm_set { /* a set for a chip */
	struct pm_metric metrics[PM_MOST_METRICS];
	const char *names[PM_MOST_METRICS]; /* metrics[i].metric */
	size_t n;
};
/* Builds the set greedily; 'set' is its number. False: nothing fits. */
bool pm_set_build(const struct cupti_library *library, const char *chip,
		  const uint8_t *availability, int set, struct pm_set *built, struct hwy_err *err);
/* What a lane shows for an evaluated value of a sample that lasted 'ns'. */
double pm_set_scaled(const struct pm_metric *metric, double value, uint64_t ns);

#endif
