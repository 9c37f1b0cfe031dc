/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate_lines.c - calibrations as lines of text, and the difference of two. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantile.h"
#include "run/calibrate/calibrate.h"

static const char name_characters[] = "abcdefghijklmnopqrstuvwxyz0123456789_.";

/* Reads a number that is not negative; *end is behind it. Independent of the locale, since headway
 * never sets one. */
static bool calibrate_lines_read_number(const char *from, const char **end, double *value)
{
	char *stop;
	*value = strtod(from, &stop);
	*end = stop;
	return stop != from && isfinite(*value) && *value >= 0 && *value < 1e18;
}

bool calibration_read_line(struct calibration *into, const char *line)
{
	struct calibration_value value = {0};
	size_t name = strspn(line, name_characters);
	if (!name || name >= sizeof value.name || line[name] != ' ' ||
	    into->n == CALIBRATION_VALUES)
		return false;
	memcpy(value.name, line, name);
	const char *rest = line + name;
	if (!calibrate_lines_read_number(rest, &rest, &value.value) || *rest != ' ' ||
	    !calibrate_lines_read_number(rest, &rest, &value.spread) || *rest != ' ')
		return false;
	size_t unit = strcspn(++rest, " \n");
	if (!unit || unit >= sizeof value.unit || (rest[unit] && strcmp(rest + unit, "\n") != 0) ||
	    calibration_find(into, value.name))
		return false;
	memcpy(value.unit, rest, unit);
	into->values[into->n++] = value;
	return true;
}

/* Writes all digits: the report of the run that measured has the same values as the reports of
 * later runs. */
void calibration_write_lines(const struct calibration *calibration, FILE *out)
{
	for (uint32_t i = 0; i < calibration->n; i++) {
		const struct calibration_value *value = &calibration->values[i];
		fprintf(out, "%s %.17g %.17g %s\n", value->name, value->value, value->spread,
			value->unit);
	}
}

const struct calibration_value *calibration_find(const struct calibration *calibration,
						 const char *name)
{
	for (uint32_t i = 0; i < calibration->n; i++)
		if (strcmp(calibration->values[i].name, name) == 0)
			return &calibration->values[i];
	return NULL;
}

/* True for a difference of two times. Other work on the machine makes times longer and rates lower,
 * but a difference may change either way. */
static bool is_difference(const char *name)
{
	return strcmp(name, "graph_node") == 0 || strcmp(name, "launch_latency_after_return") == 0;
}

/* The value of the run that was disturbed least: the shortest time, the highest rate, else the
 * median. */
static double best_of(const double *ascending, uint32_t n, const struct calibration_value *value)
{
	if (strcmp(value->unit, "ns") == 0 && !is_difference(value->name))
		return ascending[0];
	if (strcmp(value->unit, "B/s") == 0)
		return ascending[n - 1];
	return hwy_median_between_real(ascending, n);
}

/* Several runs, since a process keeps the luck that it begins with, such as where its memory lies:
 * launches of one process take 3.0 µs, of the next 3.8 (H200, virtual machine). The batches of one
 * run do not show that. */
void calibration_combine(const struct calibration *runs, uint32_t n, struct calibration *into)
{
	double sorted[CALIBRATION_RUNS];
	into->n = 0;
	for (uint32_t i = 0; n && i < runs[0].n; i++) {
		struct calibration_value value = runs[0].values[i];
		uint32_t found = 0;
		for (uint32_t r = 0; r < n && found < CALIBRATION_RUNS; r++) {
			const struct calibration_value *one =
				calibration_find(&runs[r], value.name);
			if (one && strcmp(one->unit, value.unit) == 0)
				sorted[found++] = one->value;
		}
		hwy_sort_real(sorted, found);
		double range = (sorted[found - 1] - sorted[0]) / 2;
		value.value = best_of(sorted, found, &value);
		value.spread = range > value.spread ? range : value.spread;
		into->values[into->n++] = value;
	}
}

/* True for the numbers that recording makes longer, as opposed to those that describe the
 * machine. */
static bool has_cost(const char *name)
{
	static const char *const names[] = {"launch",        "launch_latency",   "sync",
					    "range",         "graph_launch",     "graph_node",
					    "kernel_period", "graph_node_period"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

static void calibrate_lines_add(struct calibration *into, const char *prefix,
				struct calibration_value value)
{
	char name[CALIBRATION_NAME];
	if (into->n == CALIBRATION_VALUES ||
	    snprintf(name, sizeof name, "%s.%s", prefix, value.name) >= (int)sizeof name)
		return;
	memcpy(value.name, name, sizeof name);
	into->values[into->n++] = value;
}

void calibration_compare(const struct calibration *plain, const struct calibration *recorded,
			 struct calibration *into)
{
	into->n = 0;
	for (uint32_t i = 0; i < plain->n; i++) {
		struct calibration_value cost = plain->values[i];
		const struct calibration_value *more = calibration_find(recorded, cost.name);
		if (!more || !has_cost(cost.name) || strcmp(more->unit, cost.unit) != 0)
			continue;
		cost.value = more->value > cost.value ? more->value - cost.value : 0;
		cost.spread += more->spread;
		calibrate_lines_add(into, "cost", cost);
	}
	for (uint32_t i = 0; i < plain->n; i++)
		calibrate_lines_add(into, "machine", plain->values[i]);
}
