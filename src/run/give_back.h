/* SPDX-License-Identifier: Apache-2.0 */
/* give_back.h - gives the room of old events in a run's spools back to the disk.
 *
 * Used where the program fills the disk that its recording is on: the program would find the disk
 * full, and alone it would not. The oldest events go first; definitions (texts, processes, modules,
 * names) stay, so that what is left can still be read.
 */
#ifndef HWY_RUN_GIVE_BACK_H
#define HWY_RUN_GIVE_BACK_H

#include <stdint.h>

/* 'folder' is a descriptor of the run directory, which must stay open. */
struct give_back *give_back_open(int folder);
/* Gives back so many bytes, or all that can be; yields how many. 'give_back' may be NULL. */
uint64_t give_back_events(struct give_back *give_back, uint64_t bytes);
void give_back_close(struct give_back *give_back);

#endif
