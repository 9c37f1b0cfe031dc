/* SPDX-License-Identifier: Apache-2.0 */
/* nccl.h - what a profiler plugin of NCCL meets: layouts and numbers of the interface's versions
 * 1 to 6, under our own names. RCCL has the same interface.
 *
 * NCCL 2.23 speaks version 1, 2.24 and 2.25 version 2, 2.26 version 3, 2.27 version 4, 2.28
 * version 5, 2.29 version 6; every release takes the newest version that both sides know.
 * Version 7 (announced) is asked for before 6, and not needed. Handles of events are opaque to
 * NCCL: it hands them back, and never follows them. tests/collect/nccl_driver.c has declarations
 * of its own, by which it calls the plugin.
 */
#ifndef HWY_COLLECT_ABI_NCCL_H
#define HWY_COLLECT_ABI_NCCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ABI_NCCL_SUCCESS = 0 };

/* What an event is about, and the bits of the mask by which a plugin asks for events. */
enum {
	ABI_NCCL_GROUP = 1 << 0, /* a plan: what one kernel does */
	ABI_NCCL_COLL = 1 << 1,
	ABI_NCCL_P2P = 1 << 2,
	ABI_NCCL_PROXY_OP = 1 << 3,
	ABI_NCCL_PROXY_STEP = 1 << 4,
	ABI_NCCL_PROXY_CTRL = 1 << 5,
	ABI_NCCL_KERNEL_CHANNEL = 1 << 6, /* from version 3 on */
	ABI_NCCL_NET_PLUGIN = 1 << 7,
	ABI_NCCL_GROUP_API = 1 << 8, /* from here on: version 5 */
	ABI_NCCL_COLL_API = 1 << 9,
	ABI_NCCL_P2P_API = 1 << 10,
	ABI_NCCL_CE_COLL = 1 << 12, /* version 6: copy engines */
};

/* What an event comes to. */
enum {
	ABI_NCCL_OP_SEND_REMOTE_WAIT =
		1, /* below version 4: a proxy waits for credits of the peer */
	ABI_NCCL_OP_SEND_TRANSMITTED = 2, /* below version 4 */
	ABI_NCCL_STEP_SEND_GPU_WAIT = 8,
	ABI_NCCL_STEP_SEND_WAIT = 9,
	ABI_NCCL_STEP_RECV_WAIT = 10,
	ABI_NCCL_STEP_RECV_FLUSH_WAIT = 11,
	ABI_NCCL_STEP_RECV_GPU_WAIT = 12,
	ABI_NCCL_STEP_SEND_PEER_WAIT = 20, /* from version 4 on */
	ABI_NCCL_KERNEL_CHANNEL_STOP = 22,
};

struct abi_nccl_proxy_op {
	int pid; /* of the process that the operation belongs to */
	uint8_t channel;
	int peer;
	int steps;
	int chunk_size;
	int is_send;
};

struct abi_nccl_v1 {
	uint8_t type;
	void *parent;
	int rank;
	union {
		struct {
			const char *name;
			uint64_t comm_hash;
			uint64_t sequence;
			uint8_t function;
			const void *send_buffer;
			void *receive_buffer;
			size_t count;
			int root;
			uint8_t datatype;
			uint32_t reduction;
			size_t traffic_bytes;
			uint8_t channels;
			uint8_t warps;
			uint8_t algorithm;
			uint8_t protocol;
			int is_collnet, is_nvls;
		} coll;
		struct {
			const char *name;
			uint64_t comm_hash;
			uint8_t function;
			void *buffer;
			uint8_t datatype;
			size_t count;
			int peer;
		} p2p;
		struct abi_nccl_proxy_op proxy_op;
		int proxy_step;
	};
};

struct abi_nccl_v2 {
	uint8_t type;
	void *parent;
	int rank;
	union {
		struct {
			const char *name;
			uint64_t comm_hash;
			uint64_t sequence;
			const char *function;
			const void *send_buffer;
			void *receive_buffer;
			size_t count;
			int root;
			const char *datatype;
			size_t traffic_bytes;
			uint8_t channels;
			uint8_t warps;
			const char *algorithm, *protocol;
		} coll;
		struct abi_nccl_v2_p2p {
			const char *name;
			uint64_t comm_hash;
			const char *function;
			void *buffer;
			const char *datatype;
			size_t count;
			int peer;
		} p2p;
		struct abi_nccl_proxy_op proxy_op;
		int proxy_step;
	};
};

struct abi_nccl_v3 {
	uint8_t type;
	void *parent;
	int rank;
	union {
		struct {
			const char *name;
			uint64_t comm_hash;
			uint64_t sequence;
			const char *function;
			const void *send_buffer;
			void *receive_buffer;
			size_t count;
			int root;
			const char *datatype;
			uint8_t channels;
			uint8_t warps;
			const char *algorithm, *protocol;
		} coll;
		struct abi_nccl_v2_p2p p2p;
		struct abi_nccl_proxy_op proxy_op;
		int proxy_step;
		uint8_t kernel_channel;
	};
};

/* Of versions 4 to 6. */
struct abi_nccl_kernel_channel {
	uint8_t channel;
	uint64_t timer; /* the GPU's globaltimer at the start */
};
/* Version 4 has neither plan: the parent is the plan. */
struct abi_nccl_coll {
	uint64_t sequence;
	const char *function;
	const void *send_buffer;
	void *receive_buffer;
	size_t count;
	int root;
	const char *datatype;
	uint8_t channels;
	uint8_t warps;
	const char *algorithm, *protocol;
	void *plan;
};
struct abi_nccl_p2p {
	const char *function;
	void *buffer;
	const char *datatype;
	size_t count;
	int peer;
	uint8_t channels;
	void *plan;
};

struct abi_nccl_v4 {
	uint8_t type;
	void *parent;
	int rank;
	union {
		struct abi_nccl_coll coll; /* without 'plan' */
		struct abi_nccl_p2p p2p;   /* without 'plan' */
		struct abi_nccl_proxy_op proxy_op;
		int proxy_step;
		struct abi_nccl_kernel_channel kernel_channel;
	};
};

struct abi_nccl_v6 { /* of version 5 too, which lacks ce_coll */
	uint64_t type;
	void *parent;
	int rank;
	union {
		struct {
			bool is_captured;
			int depth;
		} group_api;
		struct {
			const char *function;
			size_t count;
			const char *datatype;
			int root;
			void *stream;
			bool is_captured;
		} coll_api;
		struct {
			const char *function;
			size_t count;
			const char *datatype;
			void *stream;
			bool is_captured;
		} p2p_api;
		struct abi_nccl_coll coll;
		struct abi_nccl_p2p p2p;
		struct abi_nccl_proxy_op proxy_op;
		int proxy_step;
		struct abi_nccl_kernel_channel kernel_channel;
		struct {
			uint64_t sequence;
			const char *function;
			const void *send_buffer;
			void *receive_buffer;
			size_t count;
			int root;
			const char *datatype;
			const char *sync_strategy;
			bool is_intra_batch;
			uint32_t batch_size, batches, ce_sequence;
			void *stream;
		} ce_coll;
	};
};

/* The argument of a change of state. */
union abi_nccl_state { /* versions 4 to 6: */
	size_t step_bytes;
	uint64_t kernel_channel_timer;
};

typedef int abi_nccl_start(void *context, void **handle, void *descriptor);
typedef int abi_nccl_stop(void *handle);
typedef int abi_nccl_record(void *handle, int state, void *argument);
typedef int abi_nccl_finalize(void *context);
typedef void abi_nccl_log(int level, unsigned long flags, const char *file, int line,
			  const char *format, ...);

/* The tables that NCCL looks for by the names ncclProfiler_v1 to ncclProfiler_v6; only 'init'
 * differs. */
struct abi_nccl_table {
	const char *name;
	union {
		int (*init_v1)(void **context, int *mask);
		int (*init_v4)(void **context, int *mask, const char *name, uint64_t comm,
			       int nodes, int ranks, int rank, abi_nccl_log *log);
		int (*init_v5)(void **context, uint64_t comm, int *mask, const char *name,
			       int nodes, int ranks, int rank, abi_nccl_log *log);
	};
	abi_nccl_start *start;
	abi_nccl_stop *stop;
	abi_nccl_record *record;
	abi_nccl_finalize *finalize;
};

#endif
