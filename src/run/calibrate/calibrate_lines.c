/* calibrate_lines.c - calibrations as lines of text, and the difference of two. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "run/calibrate/calibrate.h"

static const char name_characters[] = "abcdefghijklmnopqrstuvwxyz0123456789_.";

/* A number from 0 on; *end is behind it. Digits are read as they are written here, whatever the locale: we
 * never set one. */
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
	const char *at = line + name;
	if (!calibrate_lines_read_number(at, &at, &value.value) || *at != ' ' ||
	    !calibrate_lines_read_number(at, &at, &value.spread) || *at != ' ')
		return false;
	size_t unit = strcspn(++at, " \n");
	if (!unit || unit >= sizeof value.unit || (at[unit] && strcmp(at + unit, "\n") != 0) ||
	    calibration_find(into, value.name))
		return false;
	memcpy(value.unit, at, unit);
	into->values[into->n++] = value;
	return true;
}

/* Exactly: the report of the run that measured has the same values as those of the runs after it. */
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

static int calibrate_lines_by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* What others do on the machine makes times longer and rates lower, but a difference of two times either. */
static bool is_difference(const char *name)
{
	return strcmp(name, "graph_node") == 0 || strcmp(name, "launch_latency_after_return") == 0;
}

/* Of the run that was disturbed least. */
static double best_of(const double *ascending, uint32_t n, const struct calibration_value *value)
{
	if (strcmp(value->unit, "ns") == 0 && !is_difference(value->name))
		return ascending[0];
	if (strcmp(value->unit, "B/s") == 0)
		return ascending[n - 1];
	return (ascending[(n - 1) / 2] + ascending[n / 2]) / 2;
}

/* A process keeps the luck it begins with, of where its memory lies for one: launches of one take 3.0 µs, of the next
 * 3.8 (H200, virtual machine). The batches of one run do not show that. */
void calibration_combine(const struct calibration *runs, uint32_t n, struct calibration *into)
{
	double at[CALIBRATION_RUNS];
	into->n = 0;
	for (uint32_t i = 0; n && i < runs[0].n; i++) {
		struct calibration_value value = runs[0].values[i];
		uint32_t found = 0;
		for (uint32_t r = 0; r < n && found < CALIBRATION_RUNS; r++) {
			const struct calibration_value *one =
				calibration_find(&runs[r], value.name);
			if (one && strcmp(one->unit, value.unit) == 0)
				at[found++] = one->value;
		}
		qsort(at, found, sizeof *at, calibrate_lines_by_value);
		double range = (at[found - 1] - at[0]) / 2;
		value.value = best_of(at, found, &value);
		value.spread = range > value.spread ? range : value.spread;
		into->values[into->n++] = value;
	}
}

/* What profiling makes longer, as opposed to what the machine is like. */
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
