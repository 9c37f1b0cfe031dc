/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_ranges.c - see nccl_ranges.h. The names of fields are those of NCCL 2.19 to 2.29. */
#include "ingest/nccl_ranges.h"

#include <stdio.h>

static bool is_known(const struct ingest *in, uint32_t process, uint32_t name)
{
	for (uint32_t i = 0; i < in->trace->n_groups; i++)
		if (in->trace->groups[i].process == process && in->trace->groups[i].name == name)
			return true;
	return false;
}

/* The members, as far as they follow from their number: this rank alone, or all ranks of the
 * job. */
static int64_t members(struct ingest *in, const struct hwy_process *process, int64_t size,
		       int64_t rank)
{
	char text[48];
	bool is_whole =
		process->rank == HWY_NONE || (process->world == size && process->rank == rank);
	if (size == 1)
		snprintf(text, sizeof text, "%lld",
			 (long long)(process->rank == HWY_NONE ? 0 : process->rank));
	else if (size > 1 && is_whole)
		snprintf(text, sizeof text, "0-%lld", (long long)size - 1);
	else
		return HWY_NONE;
	return hwy_text_id(in->b, text);
}

void nccl_ranges_add(struct ingest *in, const struct ingest_process *process,
		     const struct nvtx_decoded *payload)
{
	int64_t communicator, size, rank;
	char text[48];
	if (process->has_nccl_comms || process->record == UINT32_MAX ||
	    !nvtx_field(in, payload, "NCCL communicator ID", &communicator) || !communicator ||
	    !nvtx_field(in, payload, "No. of ranks", &size) || size <= 0 ||
	    !nvtx_field(in, payload, "Rank", &rank))
		return;
	snprintf(text, sizeof text, "%llx", (unsigned long long)communicator);
	uint32_t name = hwy_text_id(in->b, text);
	if (is_known(in, process->record, name))
		return;
	snprintf(text, sizeof text, "rank %lld of %lld", (long long)rank, (long long)size);
	uint32_t description = hwy_text_id(in->b, text), backend = hwy_text_id(in->b, "NCCL");
	uint32_t index = hwy_new_groups(in->b);
	int64_t ranks = members(in, &in->trace->processes[process->record], size, rank);
	in->trace->groups[index] = (struct hwy_group){
		.process = process->record,
		.name = name,
		.description = description,
		.backend = backend,
		.size = size,
		.ranks = ranks,
	};
}
