/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_ranges.h - NCCL's communicators as its ranges of NVTX tell them, where NCCL's plugin does
 * not. */
#ifndef HWY_INGEST_NCCL_RANGES_H
#define HWY_INGEST_NCCL_RANGES_H

#include "ingest/nvtx_schemas.h"

/* Adds the communicator that a range's payload tells of, with its size, if it is a new one and
 * no plugin tells of communicators. Calls of operations become messages later
 * (trace/find_messages.h). */
void nccl_ranges_add(struct ingest *in, const struct ingest_process *process,
		     const struct nvtx_decoded *payload);

#endif
