/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_print.h - what the text and the JSON of `headway doctor` share. */
#ifndef HWY_CLI_DOCTOR_PRINT_H
#define HWY_CLI_DOCTOR_PRINT_H

#include <stdio.h>

#include "run/doctor/doctor.h"

void doctor_print_json(const struct doctor *doctor, FILE *out);
const char *doctor_verdict_word(enum doctor_verdict verdict); /* "no", "partly", "yes" */

#endif
