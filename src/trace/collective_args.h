/* SPDX-License-Identifier: Apache-2.0 */
/* collective_args.h - what the arguments of a span tell about the exchange that it is, or that
 * it asks for.
 *
 * Three writers are known. PyTorch's profiler gives "record_param_comms" and, in newer releases,
 * the kernel itself "Collective name", "In msg nelems", "Process Group Ranks" …; any operator
 * "Input Dims" and "Input type"; NCCL's ranges have the fields of their NVTX payload ("Message
 * size [bytes]", "Peer rank", "NCCL communicator ID").
 */
#ifndef HWY_TRACE_COLLECTIVE_ARGS_H
#define HWY_TRACE_COLLECTIVE_ARGS_H

#include "base/mem.h"
#include "trace/collective_names.h"
#include "trace/trace.h"

enum { COLLECTIVE_TENSORS = 2 };

/* Numbers that are not told are HWY_NONE, texts NULL. Texts live in the arena. */
struct collective_args {
	const struct hwy_exchange *operation; /* NULL: not told */
	const struct hwy_datatype *datatype;  /* NULL: not told */
	int64_t in, out;                      /* elements that the rank gives and gets */
	int64_t bytes;      /* of NCCL's ranges: elements that the call names, in bytes */
	int64_t rank;       /* the root, or the other rank of a message, as a rank of the group */
	int64_t world_peer; /* the other rank of a message, as a rank of the job */
	int64_t sequence;
	int64_t group_size;
	const char *group, *description; /* name and description of the process group */
	const char *ranks;               /* of the group, as struct hwy_group has them */
	/* The sizes of the first inputs of an operator, in elements; HWY_NONE: not told. */
	int64_t tensors[COLLECTIVE_TENSORS];
	const struct hwy_datatype *tensor_type; /* of the first input whose type is told */
};

/* Reads the text of the column ARGS; false where it is no JSON object. All fields are set in any
 * case. */
bool collective_args_read(struct collective_args *args, struct hwy_arena *arena,
			  struct hwy_text text);

/* The ranks of a group as struct hwy_group has them, "0,1,2,3" or "0-63:8", from PyTorch's "[0,
 * 1, 2, 3]" or from such a text; NULL where the text is no list of ranks, or was cut off ("[0,
 * 1, ...]"). Lives in the arena. */
const char *collective_ranks(struct hwy_arena *arena, const char *list);
/* The n-th rank of such a text, a rank of the job; HWY_NONE: the list has none. */
int64_t collective_rank_at(const char *ranks, int64_t n);

#endif
