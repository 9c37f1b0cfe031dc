/* SPDX-License-Identifier: Apache-2.0 */
/* record_times.c - when the event of a record ended, whatever its type is. */
#include "ingest/ingest_internal.h"
#include "spool/record_mpi.h"
#include "spool/record_nccl.h"

int64_t ingest_end_of(const struct ingest *in, const struct rec_head *record)
{
	switch (record->type) {
	case REC_API:
	case REC_KERNEL:
	case REC_COPY:
	case REC_FILL:
	case REC_GRAPH:
	case REC_SYNC:
	case REC_EVENT:
	case REC_OVERHEAD:
	case REC_OS:
	case REC_OPERATOR:
	case REC_NCCL_CHANNEL:
	case REC_NCCL_PROXY:
	case REC_MPI:
	case REC_COLLECTION:
	case REC_CALL: {
		const struct rec_api *timed = (const void *)record;
		bool lasts = timed->duration > 0 && timed->duration <= INGEST_YEAR_NS;
		return ingest_is_time(in, timed->start)
			       ? timed->start + (lasts ? timed->duration : 0)
			       : 0;
	}
	case REC_MEMORY:
	case REC_PUSH:
	case REC_POP:
	case REC_RANGE_START:
	case REC_RANGE_END:
	case REC_MARK:
	case REC_NCCL_EVENT:
	case REC_NCCL_END:
	case REC_NVTX_SAMPLE:
	case REC_EXIT:
	case REC_RECORDING: {
		int64_t time = ((const struct rec_time *)record)->time;
		return ingest_is_time(in, time) ? time : 0;
	}
	default: return 0;
	}
}
static_assert(
	offsetof(struct rec_api, start) == offsetof(struct rec_work, start) &&
		offsetof(struct rec_api, duration) == offsetof(struct rec_sync, duration) &&
		offsetof(struct rec_api, start) == offsetof(struct rec_overhead, start) &&
		offsetof(struct rec_api, duration) == offsetof(struct rec_os, duration) &&
		offsetof(struct rec_api, duration) == offsetof(struct rec_operator, duration) &&
		offsetof(struct rec_api, duration) == offsetof(struct rec_collection, duration) &&
		offsetof(struct rec_api, duration) == offsetof(struct rec_mpi, duration) &&
		offsetof(struct rec_api, duration) == offsetof(struct rec_nccl_channel, duration) &&
		offsetof(struct rec_api, duration) == offsetof(struct rec_nccl_proxy, duration) &&
		offsetof(struct rec_time, time) == offsetof(struct rec_nccl_event, start) &&
		offsetof(struct rec_time, time) == offsetof(struct rec_nccl_end, time) &&
		offsetof(struct rec_api, duration) == offsetof(struct rec_call, duration) &&
		offsetof(struct rec_time, time) == offsetof(struct rec_nvtx_sample, time) &&
		offsetof(struct rec_time, time) == offsetof(struct rec_memory, time) &&
		offsetof(struct rec_time, time) == offsetof(struct rec_range, time),
	"ingest_end_of reads the times of several structs through one");
