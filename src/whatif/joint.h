/* SPDX-License-Identifier: Apache-2.0 */
/* joint.h - several ranks of one run, replayed together: collectives and messages join their
 * graphs (rank_links.h).
 *
 * Each rank keeps a graph of its own, with its own clock, and is edited by itself. What a rank
 * waits for in communication follows from the other ranks; without edits it is what was
 * recorded, to the nanosecond.
 */
#ifndef HWY_WHATIF_JOINT_H
#define HWY_WHATIF_JOINT_H

#include "analyze/collectives.h"
#include "whatif/rank_links.h"
#include "whatif/whatif.h"

struct joint_rank {
	int64_t rank; /* the rank's number in the run */
	struct hwy_analysis *analysis;
	uint32_t phase;
	/* The rank's process where a recording has several ranks, else FLOW_NO_PROCESS. */
	uint32_t process;
	/* The rank's clock, where it is known (collectives.h); of all ranks or of none. */
	const struct exchange_clock *clock;
};

/* The ranks inside one recording: for every process that communicates, its longest phase. To be
 * freed; NULL where there are fewer than two. */
struct joint_rank *joint_ranks_of(struct hwy_analysis *analysis, uint32_t *n);

struct joint {
	struct whatif *ranks;
	int64_t *numbers;                     /* the number of each rank in the run */
	const struct exchange_clock **clocks; /* of each rank; NULL: see collectives.shift */
	uint32_t n;
	/* The collectives are matched over the whole recordings, not only over excerpts. */
	struct hwy_collectives collectives;
	struct links links;
	uint32_t differ; /* nodes that do not come out as recorded: 0, or a bug */
	bool has_pace;   /* every rank has steps enough to tell the pace of the run */
};

/* Fails where the ranks have no collective in common. all: the graphs hold the whole recordings,
 * however long they are. After a failure there is nothing to close. whatif_predict with any of
 * joint->ranks predicts the whole run. */
bool joint_open(struct joint *joint, const struct joint_rank *ranks, uint32_t n, bool all,
		struct hwy_err *err);
/* The same for ranks that may have no steps and no device work: only whatif_run_length predicts. */
bool joint_open_run(struct joint *joint, const struct joint_rank *ranks, uint32_t n,
		    struct hwy_err *err);
void joint_close(struct joint *joint);

/* The index of the rank that the others wait for most (rank_links.h); joint->n where no rank is
 * clearly the one. */
uint32_t joint_straggler(const struct joint *joint);

#endif
