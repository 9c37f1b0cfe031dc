/* SPDX-License-Identifier: Apache-2.0 */
/* edits.h - every edit by its name, and the questions that several edits ask. */
#ifndef HWY_WHATIF_EDITS_EDITS_H
#define HWY_WHATIF_EDITS_EDITS_H

#include "whatif/whatif.h"

extern const struct edit_kind edit_remove_wait, edit_wait_every, edit_read_late, edit_pin,
	edit_copy_stream, edit_streams, edit_graph, edit_input, edit_workers, edit_no_alloc,
	edit_overlap_comm, edit_faster, edit_no_roundtrip, edit_background, edit_no_module,
	edit_no_graph_build, edit_no_barrier, edit_straggler, edit_decide, edit_tensor, edit_fuse,
	edit_fill, edit_faster_link, edit_bucket;

/* How many nodes after a wait an edit looks at to find the work that the wait had held up. */
enum { EDIT_LOOK_AHEAD_NODES = 64 };

/* A reference (base/ref.h) to the phase's step that a call belongs to. */
uint32_t edit_step_of(const struct editing *e, uint32_t call);
/* Whether a call was made at a place: "file:line", a function, a part of its range, or its own
 * name; "" fits any. */
bool edit_is_at(const struct editing *e, uint32_t call, const char *place);
struct edit_copy {
	int64_t bytes;
	int64_t direction; /* enum hwy_direction */
	bool is_pageable;  /* host memory that is not pinned takes part */
};
struct edit_copy edit_copy_of(const struct editing *e, uint32_t op);
/* ns that 'bytes' take at 'rate' bytes a second. */
int64_t edit_time_of(double bytes, double rate);
/* Reads a whole number of at least 1 at the begin of the arguments; *rest is the text after its
 * colon. False where there is no such number. */
bool edit_number(const char *arguments, uint32_t *number, const char **rest);
/* How long the CPU usually works between two calls of the phase: the median delay of its calls, in
 * ns. */
int64_t edit_usual_delay(const struct editing *e);
/* How long the CPU usually works before it launches a kernel: of the delays of the phase's launches
 * the lower quartile (quartile 1) or the median (quartile 2), in ns. */
int64_t edit_usual_dispatch(const struct editing *e, unsigned quartile);
/* Like whatif_work_before in the edited graph; edit_shorten_before removes 'ns' of the CPU's
 * work before the node. */
int64_t edit_work_before(const struct editing *e, uint32_t node);
void edit_shorten_before(struct editing *e, uint32_t node, int64_t ns);
/* Removes the wait of a GRAPH_RETURN node: its call then returns as soon as its own work is
 * done. */
void edit_no_wait(struct editing *e, uint32_t back);
/* Shortens a call that now finds the CPU's caches warm: a launch takes no longer than launches do
 * on this machine. Yields the ns saved. */
int64_t edit_warm(const struct editing *e, struct graph_node *call);
/* The call that the CPU makes right after a node; NULL where none of the next EDIT_LOOK_AHEAD_NODES
 * nodes is it. */
struct graph_node *edit_next_call(const struct editing *e, uint32_t before);
/* Shortens the call right after a node that no longer blocks: the call finds the CPU's caches
 * warm. */
void edit_warm_next(const struct editing *e, uint32_t before);

#endif
