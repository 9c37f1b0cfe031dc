/* step_counter.h - counts the program's steps while it runs, from the NVTX ranges in its spools. */
#ifndef HWY_RUN_STEP_COUNTER_H
#define HWY_RUN_STEP_COUNTER_H

#include <stdint.h>

struct steps;

struct steps *steps_open(const char *directory);
void steps_close(struct steps *steps); /* NULL is fine */
/* Looks at what was recorded since the last call; yields how many steady steps have ended so far. */
uint32_t steps_steady(struct steps *steps);

#endif
