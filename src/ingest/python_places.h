/* SPDX-License-Identifier: Apache-2.0 */
/* python_places.h - the Python stacks at which operators and graph nodes were made. */
#ifndef HWY_INGEST_PYTHON_PLACES_H
#define HWY_INGEST_PYTHON_PLACES_H

#include "ingest/ingest_internal.h"

/* First pass: keeps a REC_PLACE or REC_LAYER, of which stacks are made later. */
void python_places_note(struct ingest_process *process, const struct rec_head *record);

/* Second pass: yields the ref of the trace's stack of a place; 0: the place is not known. */
uint32_t python_places_stack(struct ingest *in, struct ingest_process *process, uint32_t place);

#endif
