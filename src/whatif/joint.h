/* joint.h - several ranks of one run as one graph: collectives join them.
 *
 * Each rank keeps a graph of its own, with its own clock, and is edited by itself. A collective that is one on
 * several ranks is a meeting: it begins on each rank when its own predecessors are there, and ends on all of them
 * once the last has come and the data has travelled. So its length is no longer the recorded one but follows from
 * the others; unedited it is the recorded one, to the nanosecond.
 */
#ifndef HWY_WHATIF_JOINT_H
#define HWY_WHATIF_JOINT_H

#include "analyze/collectives.h"
#include "whatif/whatif.h"

struct joint_rank {
	int64_t rank; /* its number in the run */
	struct hwy_analysis *analysis;
	uint32_t phase;
	uint32_t process; /* whose phase, where a recording has several ranks; or FLOW_NO_PROCESS */
};

/* The ranks inside one recording, to be freed: the longest phase of every process that communicates. NULL where
 * there are no two. */
struct joint_rank *joint_ranks_of(struct hwy_analysis *analysis, uint32_t *n);

struct joint_part {
	uint32_t rank, node, meeting;
	int64_t length;   /* recorded */
	int64_t transfer; /* the rest of it once the last of the meeting has come */
};

struct joint {
	struct whatif *ranks;
	int64_t *numbers; /* parallel */
	uint32_t n;
	struct hwy_collectives collectives; /* of the whole recordings */
	struct joint_part *parts;           /* those of a meeting in a row */
	uint32_t n_parts, n_meetings;
	uint32_t *first;    /* by meeting: its first part; one more ends the last */
	uint32_t **part_of; /* by rank and node: part + 1, or 0 */
};

/* Fails where the ranks have no collective in common. all: see whatif_open. After a failure there is nothing to
 * close. Predictions for ranks[i] of the joint are for the whole run. */
bool joint_open(struct joint *joint, const struct joint_rank *ranks, uint32_t n, bool all,
		struct hwy_err *err);
void joint_close(struct joint *joint);

/* Every rank's ends, each to be freed, and the list. Sets the lengths of the graphs' collectives. */
int64_t **joint_replay(const struct joint *joint, struct hwy_graph *graphs);

#endif
