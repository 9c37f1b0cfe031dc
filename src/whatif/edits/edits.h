/* edits.h - the edits, and what they share. */
#ifndef HWY_WHATIF_EDITS_EDITS_H
#define HWY_WHATIF_EDITS_EDITS_H

#include "whatif/whatif.h"

extern const struct edit_kind edit_remove_wait, edit_wait_every, edit_read_late, edit_pin,
	edit_copy_stream, edit_streams, edit_graph, edit_input, edit_workers, edit_no_alloc,
	edit_overlap_comm, edit_faster, edit_no_roundtrip, edit_background, edit_no_module,
	edit_no_graph_build, edit_no_barrier, edit_straggler, edit_decide;

enum { EDIT_LOOK_AHEAD_NODES = 64 }; /* nodes: how far from a wait what it held up is looked for */

/* The phase's step of a call, plus one; 0 when it is outside the phase. */
uint32_t edit_step_of(const struct editing *e, uint32_t call);
/* Whether a call is at the place: "file:line", a function, a part of its range, or its name; "" is everywhere. */
bool edit_is_at(const struct editing *e, uint32_t call, const char *place);
/* The bytes of a copy, its direction, whether host memory that is not pinned takes part. */
struct edit_copy {
	int64_t bytes, direction;
	bool is_pageable;
};
struct edit_copy edit_copy_of(const struct editing *e, uint32_t op);
/* ns that bytes take at a rate of bytes a second. */
int64_t edit_time_of(double bytes, double rate);
/* A whole number after the colon; false when there is none that is at least 1. What follows it: *rest. */
bool edit_number(const char *arguments, uint32_t *number, const char **rest);
/* What the CPU does between two calls of the phase: the median. */
int64_t edit_usual_delay(const struct editing *e);
/* What it does before a launch of the phase: the first or the second quartile. */
int64_t edit_usual_dispatch(const struct editing *e, unsigned quartile);
/* Takes a node's wait for the device away: what is left is a call that returns at once. */
void edit_no_wait(struct editing *e, uint32_t back);
/* A call that finds the CPU's caches warm: a launch takes no longer than launches do on this machine. Yields by how much
 * it is shorter. */
int64_t edit_warm(const struct editing *e, struct graph_node *call);
/* The call that the CPU makes next after a node; NULL: none soon. */
struct graph_node *edit_next_call(const struct editing *e, uint32_t before);
/* A call no longer blocks: the one right after it finds the caches warm. */
void edit_warm_next(const struct editing *e, uint32_t before);

#endif
