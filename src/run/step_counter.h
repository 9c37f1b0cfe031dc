/* SPDX-License-Identifier: Apache-2.0 */
/* step_counter.h - counts the program's steps while it runs, from the NVTX ranges in its spools. */
#ifndef HWY_RUN_STEP_COUNTER_H
#define HWY_RUN_STEP_COUNTER_H

#include <stdint.h>

struct step_counter;

struct step_counter *step_counter_open(const char *directory);
void step_counter_close(struct step_counter *counter); /* 'counter' may be NULL */
/* Reads what was recorded since the last call; yields how many steady steps have ended so far. */
uint32_t step_counter_steady(struct step_counter *counter);

#endif
