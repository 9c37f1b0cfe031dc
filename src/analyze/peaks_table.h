/* SPDX-License-Identifier: Apache-2.0 */
/* peaks_table.h - the known devices: what their data sheets say. For peaks.c, and for the test
 * that reads every row. */
#ifndef HWY_ANALYZE_PEAKS_TABLE_H
#define HWY_ANALYZE_PEAKS_TABLE_H

#include <stddef.h>

/* Rates in TFLOP/s (TOP/s for int8), dense; 0: the device has no such unit. */
struct peaks_row {
	/* A device is of this model if its name has all these words (any case), as whole words.
	 * The first row that fits is taken: the more special one stands first. */
	const char *word, *also;
	const char *model;
	double sms; /* multiprocessors (AMD: compute units) of the model; 0: not stated */
	double fp64, fp32, half; /* on the ordinary units; half: fp16, and bf16 where that exists */
	double t_fp64, t_fp32, t_tf32, t_half, t_fp8, t_fp4,
		t_int8; /* on the tensor (matrix) cores */
	double gbytes_per_s;
	const char *document;
};
extern const struct peaks_row peaks_rows[];
extern const size_t peaks_n_rows;

#endif
