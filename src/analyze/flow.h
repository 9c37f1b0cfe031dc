/* SPDX-License-Identifier: Apache-2.0 */
/* flow.h - the program as the analyses see it: calls in the order they were made, device work in
 * the order it began, and which call enqueued which work.
 *
 * Calls are the API spans that have a role or enqueued work. A call made inside another call is
 * left out, since a driver call inside a runtime call says nothing new, with two exceptions:
 * allocation and module loading inside a call that enqueues work, and everything inside a
 * communication library's call. Ops are all device work that counts (work.h); the nodes of a
 * graph all have the call that launched the graph. Both lists run over all processes, threads
 * and devices of the trace; an index into them is a "call" or an "op" below and in every header
 * that includes this one. Times are in ns. A launch and its op take at most 64 bytes together.
 */
#ifndef HWY_ANALYZE_FLOW_H
#define HWY_ANALYZE_FLOW_H

#include "analyze/first_use.h"
#include "analyze/intervals.h"
#include "trace/trace.h"

#define FLOW_NONE UINT32_MAX
#define FLOW_NO_PROCESS UINT16_MAX
enum { FLOW_BLOCK_BITS = 10 }; /* flow.reach has one value for each block of 2^10 ops */

struct flow_op {
	int64_t start, end;
	uint32_t span;   /* id of the op's span */
	uint32_t call;   /* the call that enqueued the op, or FLOW_NONE */
	uint32_t lane;   /* index of the stream's lane in the trace */
	uint16_t device; /* index into flow.devices */
	uint8_t kind;    /* enum hwy_kind */
	uint8_t class;   /* enum hwy_class */
};

struct flow_call {
	/* The end is that of the span; for an asynchronous copy that a program of XLA waits for,
	 * the end of the copy. */
	int64_t start, end;
	uint32_t span;   /* id of the call's span */
	uint32_t thread; /* index into the trace's threads, or FLOW_NONE */
	/* Of the ops that the call enqueued, the one that starts first; or FLOW_NONE. */
	uint32_t op;
	uint16_t process; /* index into the trace's processes, or FLOW_NO_PROCESS */
	uint8_t role;     /* enum hwy_role */
	/* The call returns only after the work that it enqueued or waits for: its name promises
	 * that, or the trace shows it. */
	bool blocks;
};

struct flow_device {       /* a physical device with work */
	int64_t device;    /* index into the trace's devices, or HWY_NONE */
	uint32_t first, n; /* the device's ops, by start: flow.by_device[first … first + n - 1] */
};

struct flow_lane {         /* a stream with work */
	uint32_t lane;     /* index of the stream's lane in the trace */
	uint32_t device;   /* index into flow.devices */
	uint32_t first, n; /* the stream's ops, by start: flow.by_lane[first … first + n - 1] */
};

struct hwy_flow {
	struct hwy_trace *trace;
	struct flow_call *calls;
	uint32_t n_calls;
	bool is_mixed;           /* the flow has calls of several processes */
	bool has_host_callbacks; /* device work may wait for a function of the CPU */
	struct flow_op *ops;
	uint32_t n_ops;
	struct flow_device *devices;
	uint32_t n_devices;
	/* Indexes of the ops sorted by device; NULL with one device, where the indexes are 0, 1,
	 * 2 … */
	uint32_t *by_device;
	struct flow_lane *lanes; /* in the order of the trace's lanes */
	uint32_t n_lanes;
	uint32_t *by_lane; /* indexes of all ops, sorted by lane, then by start */
	/* For each block of ops, the latest end of an op in the block or before the block. */
	int64_t *reach;
	uint64_t length; /* ns of all calls and ops together; UINT64_MAX where the sum is larger */
	struct first_uses first_uses; /* when code was loaded, compiled or captured */
	/* Launch latency: ns from a launch's return to the start of its work on an idle device.
	 * The recording's calibration, else the lower quartile of what the trace shows, else 3
	 * us. */
	int64_t latency;
};

bool flow_open(struct hwy_flow *flow, struct hwy_trace *trace, struct hwy_err *err);
void flow_close(struct hwy_flow *flow);

/* The first call, or op, that starts at or after a time; n_calls, or n_ops, where there is none. */
uint32_t flow_call_at(const struct hwy_flow *flow, int64_t time);
uint32_t flow_op_at(const struct hwy_flow *flow, int64_t time);
/* Yields the first op that ends after a time: all ops before that op have ended by then. n_ops
 * where there is none. */
uint32_t flow_op_unfinished(const struct hwy_flow *flow, int64_t time);
/* Whether the lengths of these ops and calls together stay below FLOW_MOST_SUM_NS, so that sums
 * of them cannot overflow: broken recordings have times of any length. */
bool flow_adds_up(const struct hwy_flow *flow, uint32_t first_op, uint32_t end_op,
		  uint32_t first_call, uint32_t end_call);
#define FLOW_MOST_SUM_NS (UINT64_C(1) << 60)

#endif
