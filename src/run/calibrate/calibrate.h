/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate.h - what recording costs on a GPU, and what the machine does without it.
 *
 * A helper, this program itself in a process of its own, measures some operations
 * (calibrate_helper.c). The helper is run several times, plain and recorded by turns: the plain
 * numbers are called machine.NAME, the difference of the recorded ones cost.NAME. They are kept in
 * a cache, since they change only with the GPU, the driver, CUPTI and Headway.
 */
#ifndef HWY_RUN_CALIBRATE_CALIBRATE_H
#define HWY_RUN_CALIBRATE_CALIBRATE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "spool/control.h"
#include "spool/record.h"

enum {
	CALIBRATION_VALUES = 64,
	CALIBRATION_NAME = 64,
	CALIBRATION_UNIT = 16,
	CALIBRATION_RUNS = 3
};

struct calibration_value {
	char name[CALIBRATION_NAME];
	double value;
	/* How far the value may be off: half the distance of the quartiles; of CPU time, half
	 * the distance of the quickest and the lower quartile; of several runs, half the
	 * distance of the extremes; of a difference, the sum of both spreads. */
	double spread;
	char unit[CALIBRATION_UNIT];
};
struct calibration {
	struct calibration_value values[CALIBRATION_VALUES];
	uint32_t n;
};

/* The machine and the options for which a calibration is valid. A text of NULL means unknown. */
struct calibration_key {
	const char *gpu;        /* the GPU's uuid: "GPU-..." */
	const char *driver;     /* the driver's version */
	const char *cupti;      /* CUPTI's version */
	const char *cupti_path; /* which libcupti to use; not part of the key */
	/* control: the options that change what is recorded of a call. */
	const struct rec_control *control;
};

struct calibration_listener {
	/* waits: another process measures the same, and is waited for. begins: the helper has found
	 * its GPU and measures. */
	void (*waits)(void *listener);
	void (*begins)(void *listener);
	/* Whether the run in this directory has the records that a recorded helper leaves. */
	bool (*is_recorded)(void *listener, const char *directory);
	void *listener;
};

/* Reads a calibration from the cache; false when the cache does not have it. */
bool calibration_cached(const struct calibration_key *key, struct calibration *into);
/* Measures, and writes the cache; while another process does so for the same key, waits for its
 * result instead. Takes some seconds, at most 15 to wait and 15 to measure. A signal that would end
 * headway ends the measurement instead. */
bool calibration_measure(const struct calibration_key *key,
			 const struct calibration_listener *listener, struct calibration *into,
			 struct hwy_err *err);
const struct calibration_value *calibration_find(const struct calibration *calibration,
						 const char *name);

/* The helper: measures on this GPU and prints a line "name value spread unit" for each number.
 * 'quick': only what recording makes longer. */
bool calibration_helper(const char *gpu, bool quick, FILE *out, struct hwy_err *err);

/* ---- inside this room ---- */

/* calibrate_lines.c: reads one line of the helper or of the cache; false when the line is no
 * measurement. */
bool calibration_read_line(struct calibration *into, const char *line);
void calibration_write_lines(const struct calibration *calibration, FILE *out);
/* For each number of the first run: the value of the least disturbed of several runs of the
 * helper. */
void calibration_combine(const struct calibration *runs, uint32_t n, struct calibration *into);
/* Yields the plain numbers as machine.NAME, and what recording adds as cost.NAME, never less than
 * 0. */
void calibration_compare(const struct calibration *plain, const struct calibration *recorded,
			 struct calibration *into);

/* calibrate_cache.c: several programs may end at once, and measuring at once they would disturb
 * each other. True while another process measures for this key; else it is this process's turn,
 * until *turn is closed. *turn is -1 at first, and stays so where there is no cache: nobody waits
 * then. */
bool calibration_is_others(const struct calibration_key *key, int *turn);
void calibration_store(const struct calibration_key *key, const struct calibration *calibration);

#endif
