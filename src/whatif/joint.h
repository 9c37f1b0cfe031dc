/* SPDX-License-Identifier: Apache-2.0 */
/* joint.h - several ranks of one run, replayed together: collectives join their graphs.
 *
 * Each rank keeps a graph of its own, with its own clock, and is edited by itself. A collective
 * that several ranks take part in is a meeting; each rank's kernel is a part of it. A part begins
 * when its predecessors on its own rank are there; all parts end once the last rank has come and
 * the data has travelled. So the length of a part follows from the other ranks; without edits it is
 * the recorded length, to the nanosecond.
 */
#ifndef HWY_WHATIF_JOINT_H
#define HWY_WHATIF_JOINT_H

#include "analyze/collectives.h"
#include "whatif/whatif.h"

struct joint_rank {
	int64_t rank; /* the rank's number in the run */
	struct hwy_analysis *analysis;
	uint32_t phase;
	/* The rank's process where a recording has several ranks, else FLOW_NO_PROCESS. */
	uint32_t process;
};

/* The ranks inside one recording: for every process that communicates, its longest phase. To be
 * freed; NULL where there are fewer than two. */
struct joint_rank *joint_ranks_of(struct hwy_analysis *analysis, uint32_t *n);

struct joint_part { /* one rank's kernel of a collective that several ranks take part in */
	uint32_t rank, node, meeting;
	int64_t length; /* ns that the kernel took in the recording */
	/* The ns from the moment at which the last rank began the collective to the end of this part. */
	int64_t transfer;
};

struct joint {
	struct whatif *ranks;
	int64_t *numbers; /* the number of each rank in the run */
	uint32_t n;
	/* The collectives are matched over the whole recordings, not only over excerpts. */
	struct hwy_collectives collectives;
	struct joint_part *parts; /* all parts; the parts of one collective are neighbours */
	uint32_t n_parts, n_meetings;
	bool has_pace; /* every rank has steps enough to tell the pace of the run */
	/* For each collective the index of its first part; first[n_meetings] is n_parts. */
	uint32_t *first;
	/* part_of[rank][node] is a reference (base/ref.h) to the collective's part that the node is. */
	uint32_t **part_of;
};

/* Fails where the ranks have no collective in common. all: the graphs hold the whole recordings,
 * however long they are. After a failure there is nothing to close. whatif_predict with any of
 * joint->ranks predicts the whole run. */
bool joint_open(struct joint *joint, const struct joint_rank *ranks, uint32_t n, bool all,
		struct hwy_err *err);
void joint_close(struct joint *joint);

/* Replays one graph for each rank and yields each rank's ends of nodes; these arrays and the list
 * are to be freed. Sets the lengths of the collectives' nodes in the graphs. */
int64_t **joint_replay(const struct joint *joint, struct hwy_graph *graphs);

#endif
