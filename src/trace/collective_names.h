/* SPDX-License-Identifier: Apache-2.0 */
/* collective_names.h - what ranks exchange, by the names that libraries, frameworks and kernels
 * have for it. */
#ifndef HWY_TRACE_COLLECTIVE_NAMES_H
#define HWY_TRACE_COLLECTIVE_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "trace/model.h"

struct hwy_exchange {
	const char *name; /* as struct hwy_message has it: "AllReduce" */
	enum hwy_message_kind kind;
	bool has_root; /* one rank gives to all, or gets from all */
};

/* Yields the operation of a name: "all_reduce", "_allgather_base", "MPI_Iallgatherv",
 * "ncclAllReduce", "all-reduce-start.3"; NULL: the name is that of no operation. */
const struct hwy_exchange *hwy_exchange_of(const char *name, size_t length);
/* Yields the operation that a kernel's name has in it:
 * "ncclDevKernel_AllReduce_Sum_f32_RING_LL(…)", "vllm::cross_device_reduce_1stage<…>"; NULL: the
 * name tells none. The rest of a name of NCCL's tells nothing: a kernel runs whatever algorithm,
 * protocol and type it is told, and is named after one of them. */
const struct hwy_exchange *hwy_exchange_of_kernel(const char *name);
/* The operation of a kernel that sends and receives, for what is not known; and one that is not
 * known at all. */
extern const struct hwy_exchange hwy_exchange_both, hwy_exchange_unknown;

struct hwy_datatype {
	const char *name; /* "float32" */
	uint32_t size;    /* bytes of an element */
};
/* Yields the type of elements by the name that PyTorch ("BFloat16", "c10::BFloat16", "long
 * int"), NCCL ("ncclFloat32") or MPI ("MPI_DOUBLE") has for it; NULL: not known. */
const struct hwy_datatype *hwy_datatype_of(const char *name);

#endif
