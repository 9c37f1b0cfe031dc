/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_versions.c - the six tables that NCCL looks for, and what each version of an event means.
 *
 * Version 1 tells functions, types, algorithms and protocols as numbers, the others as texts.
 * Versions 1 to 3 name the communicator in every operation, the others when it is made. The
 * parent of an operation is its plan up to version 4, and its call from version 5 on.
 */
#include <errno.h>

#include "collect/nccl/nccl.h"

#define EXPORT __attribute__((visibility("default")))
#define COUNT(list) (sizeof(list) / sizeof *(list))

static __attribute__((constructor)) void nccl_init(void)
{
	int saved = errno;
	sibling_connect();
	errno = saved;
}

/* ---- what all versions share ----------------------------------------------------------------- */

static int init_v4(void **context, int *mask, const char *name, uint64_t comm, int nodes, int ranks,
		   int rank, abi_nccl_log *log)
{
	(void)log;
	*context = nccl_begin_comm(4, comm, name, nodes, ranks, rank, mask,
				   __builtin_return_address(0));
	return ABI_NCCL_SUCCESS;
}

static int finalize(void *context)
{
	(void)context;
	return ABI_NCCL_SUCCESS;
}

static int record_untimed(void *handle, int state, void *argument)
{
	(void)argument;
	nccl_proxy_state(handle, state, 0);
	return ABI_NCCL_SUCCESS;
}

static int record_timed(void *handle, int state, void *argument)
{
	const union abi_nccl_state *told = argument;
	bool has_timer = state == ABI_NCCL_KERNEL_CHANNEL_STOP && told;
	nccl_proxy_state(handle, state, has_timer ? told->kernel_channel_timer : 0);
	return ABI_NCCL_SUCCESS;
}

/* ---- version 1 ------------------------------------------------------------------------------- */

static const char *name_of(const char *const *names, size_t n, unsigned number)
{
	return number < n ? names[number] : NULL;
}

static const char *function_name(unsigned function)
{
	static const char *const names[] = {"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
					    "AllReduce", "SendRecv", "Send",      "Recv"};
	return name_of(names, COUNT(names), function);
}

static const char *datatype_name(unsigned datatype)
{
	static const char *const names[] = {"ncclInt8",     "ncclUint8",      "ncclInt32",
					    "ncclUint32",   "ncclInt64",      "ncclUint64",
					    "ncclFloat16",  "ncclFloat32",    "ncclFloat64",
					    "ncclBfloat16", "ncclFloat8e4m3", "ncclFloat8e5m2"};
	return name_of(names, COUNT(names), datatype);
}

static const char *algorithm_name(unsigned algorithm)
{
	static const char *const names[] = {
		"TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
	return name_of(names, COUNT(names), algorithm);
}

static const char *protocol_name(unsigned protocol)
{
	static const char *const names[] = {"LL", "LL128", "SIMPLE"};
	return name_of(names, COUNT(names), protocol);
}

static void *start_coll_v1(void *context, const struct abi_nccl_v1 *told)
{
	return nccl_start_event(
		context, &(struct nccl_event){.kind = REC_NCCL_COLLECTIVE,
					      .ends = true,
					      .plan = told->parent,
					      .hash = told->coll.comm_hash,
					      .sequence = told->coll.sequence,
					      .count = told->coll.count,
					      .traffic = told->coll.traffic_bytes,
					      .function = function_name(told->coll.function),
					      .datatype = datatype_name(told->coll.datatype),
					      .algorithm = algorithm_name(told->coll.algorithm),
					      .protocol = protocol_name(told->coll.protocol),
					      .peer = told->coll.root,
					      .rank = told->rank,
					      .channels = told->coll.channels});
}

static void *start_p2p_v1(void *context, const struct abi_nccl_v1 *told)
{
	return nccl_start_event(context,
				&(struct nccl_event){.kind = REC_NCCL_MESSAGE,
						     .ends = true,
						     .plan = told->parent,
						     .hash = told->p2p.comm_hash,
						     .count = told->p2p.count,
						     .function = function_name(told->p2p.function),
						     .datatype = datatype_name(told->p2p.datatype),
						     .peer = told->p2p.peer,
						     .rank = told->rank});
}

static int start_v1(void *context, void **handle, void *descriptor)
{
	const struct abi_nccl_v1 *told = descriptor;
	*handle = NULL;
	switch (told->type) {
	case ABI_NCCL_GROUP: *handle = nccl_start_plan(); break;
	case ABI_NCCL_COLL: *handle = start_coll_v1(context, told); break;
	case ABI_NCCL_P2P: *handle = start_p2p_v1(context, told); break;
	case ABI_NCCL_PROXY_OP: *handle = nccl_start_proxy(told->parent, &told->proxy_op); break;
	case ABI_NCCL_PROXY_STEP: *handle = nccl_start_step(told->parent); break;
	default: break;
	}
	return ABI_NCCL_SUCCESS;
}

/* ---- versions 2 and 3 ------------------------------------------------------------------------ */

static void *start_p2p_v2(void *context, const struct abi_nccl_v2_p2p *told, void *plan, int rank)
{
	return nccl_start_event(context, &(struct nccl_event){.kind = REC_NCCL_MESSAGE,
							      .ends = true,
							      .plan = plan,
							      .hash = told->comm_hash,
							      .count = told->count,
							      .function = told->function,
							      .datatype = told->datatype,
							      .peer = told->peer,
							      .rank = rank});
}

/* The fields that collectives of versions 2 and 3 have under the same names, at different
 * offsets. */
#define COLLECTIVE_OF(told)                                                                        \
	.kind = REC_NCCL_COLLECTIVE, .ends = true, .plan = (told)->parent,                         \
	.hash = (told)->coll.comm_hash, .sequence = (told)->coll.sequence,                         \
	.count = (told)->coll.count, .function = (told)->coll.function,                            \
	.datatype = (told)->coll.datatype, .algorithm = (told)->coll.algorithm,                    \
	.protocol = (told)->coll.protocol, .peer = (told)->coll.root, .rank = (told)->rank,        \
	.channels = (told)->coll.channels

static int start_v2(void *context, void **handle, void *descriptor)
{
	const struct abi_nccl_v2 *told = descriptor;
	*handle = NULL;
	switch (told->type) {
	case ABI_NCCL_GROUP: *handle = nccl_start_plan(); break;
	case ABI_NCCL_COLL:
		*handle = nccl_start_event(
			context, &(struct nccl_event){COLLECTIVE_OF(told),
						      .traffic = told->coll.traffic_bytes});
		break;
	case ABI_NCCL_P2P:
		*handle = start_p2p_v2(context, &told->p2p, told->parent, told->rank);
		break;
	case ABI_NCCL_PROXY_OP: *handle = nccl_start_proxy(told->parent, &told->proxy_op); break;
	case ABI_NCCL_PROXY_STEP: *handle = nccl_start_step(told->parent); break;
	default: break;
	}
	return ABI_NCCL_SUCCESS;
}

static int start_v3(void *context, void **handle, void *descriptor)
{
	const struct abi_nccl_v3 *told = descriptor;
	*handle = NULL;
	switch (told->type) {
	case ABI_NCCL_GROUP: *handle = nccl_start_plan(); break;
	case ABI_NCCL_COLL:
		*handle = nccl_start_event(context, &(struct nccl_event){COLLECTIVE_OF(told)});
		break;
	case ABI_NCCL_P2P:
		*handle = start_p2p_v2(context, &told->p2p, told->parent, told->rank);
		break;
	case ABI_NCCL_PROXY_OP: *handle = nccl_start_proxy(told->parent, &told->proxy_op); break;
	case ABI_NCCL_PROXY_STEP: *handle = nccl_start_step(told->parent); break;
	case ABI_NCCL_KERNEL_CHANNEL:
		*handle = nccl_start_channel(told->parent, told->kernel_channel, 0);
		break;
	default: break;
	}
	return ABI_NCCL_SUCCESS;
}

/* ---- versions 4 to 6 ------------------------------------------------------------------------- */

static void *start_coll(void *context, const struct abi_nccl_coll *told, void *call, void *plan,
			int rank)
{
	return nccl_start_event(context, &(struct nccl_event){.kind = REC_NCCL_COLLECTIVE,
							      .ends = !call,
							      .parent = call,
							      .plan = plan,
							      .sequence = told->sequence,
							      .count = told->count,
							      .function = told->function,
							      .datatype = told->datatype,
							      .algorithm = told->algorithm,
							      .protocol = told->protocol,
							      .peer = told->root,
							      .rank = rank,
							      .channels = told->channels});
}

static void *start_p2p(void *context, const struct abi_nccl_p2p *told, void *call, void *plan,
		       int rank)
{
	return nccl_start_event(context, &(struct nccl_event){.kind = REC_NCCL_MESSAGE,
							      .ends = !call,
							      .parent = call,
							      .plan = plan,
							      .count = told->count,
							      .function = told->function,
							      .datatype = told->datatype,
							      .peer = told->peer,
							      .rank = rank,
							      .channels = told->channels});
}

static int start_v4(void *context, void **handle, void *descriptor)
{
	const struct abi_nccl_v4 *told = descriptor;
	*handle = NULL;
	switch (told->type) {
	case ABI_NCCL_GROUP: *handle = nccl_start_plan(); break;
	case ABI_NCCL_COLL:
		*handle = start_coll(context, &told->coll, NULL, told->parent, told->rank);
		break;
	case ABI_NCCL_P2P:
		*handle = start_p2p(context, &told->p2p, NULL, told->parent, told->rank);
		break;
	case ABI_NCCL_PROXY_OP: *handle = nccl_start_proxy(told->parent, &told->proxy_op); break;
	case ABI_NCCL_PROXY_STEP: *handle = nccl_start_step(told->parent); break;
	case ABI_NCCL_KERNEL_CHANNEL:
		*handle = nccl_start_channel(told->parent, told->kernel_channel.channel,
					     told->kernel_channel.timer);
		break;
	default: break;
	}
	return ABI_NCCL_SUCCESS;
}

/* The events that versions 5 and 6 have beside those of version 4. */
static void *start_call(void *context, const struct abi_nccl_v6 *told)
{
	struct nccl_event event = {
		.ends = true, .parent = told->parent, .peer = NCCL_NO_RANK, .rank = told->rank};
	switch (told->type) {
	case ABI_NCCL_GROUP_API:
		event.kind = REC_NCCL_GROUP_CALL;
		event.is_captured = told->group_api.is_captured;
		event.depth = (unsigned)told->group_api.depth;
		break;
	case ABI_NCCL_COLL_API:
		event.kind = REC_NCCL_COLLECTIVE_CALL;
		event.function = told->coll_api.function;
		event.count = told->coll_api.count;
		event.datatype = told->coll_api.datatype;
		event.peer = told->coll_api.root;
		event.stream = told->coll_api.stream;
		event.is_captured = told->coll_api.is_captured;
		break;
	case ABI_NCCL_P2P_API:
		event.kind = REC_NCCL_MESSAGE_CALL;
		event.function = told->p2p_api.function;
		event.count = told->p2p_api.count;
		event.datatype = told->p2p_api.datatype;
		event.stream = told->p2p_api.stream;
		event.is_captured = told->p2p_api.is_captured;
		break;
	default: return NULL;
	}
	return nccl_start_event(context, &event);
}

static void *start_copies(void *context, const struct abi_nccl_v6 *told)
{
	return nccl_start_event(context, &(struct nccl_event){.kind = REC_NCCL_COPIES,
							      .ends = true,
							      .parent = told->parent,
							      .sequence = told->ce_coll.sequence,
							      .count = told->ce_coll.count,
							      .function = told->ce_coll.function,
							      .datatype = told->ce_coll.datatype,
							      .peer = told->ce_coll.root,
							      .rank = told->rank,
							      .stream = told->ce_coll.stream});
}

static int start_v5(void *context, void **handle, void *descriptor)
{
	const struct abi_nccl_v6 *told = descriptor;
	*handle = NULL;
	switch (told->type) {
	case ABI_NCCL_GROUP: *handle = nccl_start_plan(); break;
	case ABI_NCCL_COLL:
		*handle =
			start_coll(context, &told->coll, told->parent, told->coll.plan, told->rank);
		break;
	case ABI_NCCL_P2P:
		*handle = start_p2p(context, &told->p2p, told->parent, told->p2p.plan, told->rank);
		break;
	case ABI_NCCL_PROXY_OP: *handle = nccl_start_proxy(told->parent, &told->proxy_op); break;
	case ABI_NCCL_PROXY_STEP: *handle = nccl_start_step(told->parent); break;
	case ABI_NCCL_KERNEL_CHANNEL:
		*handle = nccl_start_channel(told->parent, told->kernel_channel.channel,
					     told->kernel_channel.timer);
		break;
	default: *handle = start_call(context, told); break;
	}
	return ABI_NCCL_SUCCESS;
}

static int start_v6(void *context, void **handle, void *descriptor)
{
	const struct abi_nccl_v6 *told = descriptor;
	if (told->type != ABI_NCCL_CE_COLL)
		return start_v5(context, handle, descriptor);
	*handle = start_copies(context, told);
	return ABI_NCCL_SUCCESS;
}

/* ---- the tables ------------------------------------------------------------------------------ */

#define INIT_BEFORE_4(version)                                                                     \
	static int init_v##version(void **context, int *mask)                                      \
	{                                                                                          \
		*context = nccl_begin_comm(version, 0, NULL, NCCL_NO_RANK, NCCL_NO_RANK,           \
					   NCCL_NO_RANK, mask, __builtin_return_address(0));       \
		return ABI_NCCL_SUCCESS;                                                           \
	}
INIT_BEFORE_4(1)
INIT_BEFORE_4(2)
INIT_BEFORE_4(3)

#define INIT_SINCE_5(version)                                                                      \
	static int init_v##version(void **context, uint64_t comm, int *mask, const char *name,     \
				   int nodes, int ranks, int rank, abi_nccl_log *log)              \
	{                                                                                          \
		(void)log;                                                                         \
		*context = nccl_begin_comm(version, comm, name, nodes, ranks, rank, mask,          \
					   __builtin_return_address(0));                           \
		return ABI_NCCL_SUCCESS;                                                           \
	}
INIT_SINCE_5(5)
INIT_SINCE_5(6)

#define TABLE(version, init, timed)                                                                \
	extern EXPORT const struct abi_nccl_table ncclProfiler_v##version;                         \
	const struct abi_nccl_table ncclProfiler_v##version = {.name = "Headway",                  \
							       .init = init_v##version,            \
							       .start = start_v##version,          \
							       .stop = nccl_stop,                  \
							       .record = record_##timed,           \
							       .finalize = finalize}
TABLE(1, init_v1, untimed);
TABLE(2, init_v1, untimed);
TABLE(3, init_v1, untimed);
TABLE(4, init_v4, timed);
TABLE(5, init_v5, timed);
TABLE(6, init_v5, timed);
