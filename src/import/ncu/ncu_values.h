/* SPDX-License-Identifier: Apache-2.0 */
/* ncu_values.h - ncu's numbers and units: "10.24" "Mbyte" is 10240000 bytes, exactly. */
#ifndef HWY_IMPORT_NCU_NCU_VALUES_H
#define HWY_IMPORT_NCU_NCU_VALUES_H

#include <stdbool.h>

enum ncu_unit_class {
	NCU_COUNT, /* instructions, sectors, cycles, a ratio, nothing: the number itself */
	NCU_PERCENT,
	NCU_TIME,  /* ns */
	NCU_BYTES, /* bytes */
	NCU_RATE,  /* bytes a second */
	NCU_CLOCK, /* Hz */
};

struct ncu_unit {
	enum ncu_unit_class class;
	int exponent; /* the number times 10^exponent is in the unit of its class */
};

/* False: the unit has a prefix such as G before a word that is not known, so its numbers cannot
 * be trusted. */
bool ncu_unit_read(const char *text, struct ncu_unit *unit);

enum ncu_number {
	NCU_NUMBER,
	NCU_NO_NUMBER, /* "n/a", "nan", a text such as "PolicySpread", nothing */
	/* digits, points and commas that are no number as ncu writes it in English */
	NCU_BAD_NUMBER,
};
/* Reads "1,205.00", "4.0e-05"; of "5 (2; 3)", a number with those of its instances, the first. */
enum ncu_number ncu_number_read(const char *text, int exponent, double *number);

/* Yields ncu's name of the counter that a label of its pages stands for ("Duration":
 * "gpu__time_duration.sum"), or NULL. The class of the unit is needed because two labels are
 * used twice. */
const char *ncu_label_metric(const char *label, enum ncu_unit_class class);

#endif
