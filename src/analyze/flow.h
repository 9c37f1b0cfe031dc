/* flow.h - the program as the analyses see it: calls in the order they were made, device work in the order
 * it began, and who enqueued what.
 *
 * Calls are the api spans that have a role, or enqueued work, and are not made inside another one (a driver
 * call inside a runtime call says nothing new). Two kinds of inner calls do say something and are kept:
 * allocation and module loading inside a call that enqueues work, and everything inside a communication
 * library's call. Ops are all device work that counts (work.h); a graph's nodes all have the one call. Both
 * lists run over all processes, threads and devices of the trace; an index into them is a "call" or an "op"
 * below and in every header that includes this one. At most 64 bytes for a launch and its work together.
 */
#ifndef HWY_ANALYZE_FLOW_H
#define HWY_ANALYZE_FLOW_H

#include "analyze/intervals.h"
#include "trace/trace.h"

#define FLOW_NONE UINT32_MAX
#define FLOW_NO_PROCESS UINT16_MAX
enum { FLOW_BLOCK = 10 };

struct flow_op {
	int64_t start, end;
	uint32_t span;   /* id */
	uint32_t call;   /* that enqueued it, or FLOW_NONE */
	uint32_t lane;   /* its stream's */
	uint16_t device; /* index into flow.devices */
	uint8_t kind;    /* enum hwy_kind */
	uint8_t class;   /* enum hwy_class */
};

struct flow_call {
	int64_t start, end;
	uint32_t span;    /* id */
	uint32_t thread;  /* index into the trace's threads, or FLOW_NONE */
	uint32_t op;      /* the first op it enqueued, by start, or FLOW_NONE */
	uint16_t process; /* index, or FLOW_NO_PROCESS */
	uint8_t role;     /* enum hwy_role */
	bool blocks; /* by contract, or seen to: it returned with or after the work it enqueued or waited for */
};

struct flow_device {       /* a physical device with work */
	int64_t device;    /* index into the trace's devices, or HWY_NONE */
	uint32_t first, n; /* its ops: flow.by_device[first … first + n - 1], in order of start */
};

struct hwy_flow {
	struct hwy_trace *trace;
	struct flow_call *calls;
	uint32_t n_calls;
	struct flow_op *ops;
	uint32_t n_ops;
	struct flow_device *devices;
	uint32_t n_devices;
	uint32_t *by_device; /* NULL when there is one device: then it is 0, 1, 2 … */
	int64_t *reach;      /* by 2^FLOW_BLOCK ops: the latest end among them */
	int64_t latency; /* from a launch's return to the start of its work on an idle device: the report's
			      * calibration, else what the trace shows (the lower quartile), else 3 us */
};

bool flow_open(struct hwy_flow *flow, struct hwy_trace *trace, struct hwy_err *err);
void flow_close(struct hwy_flow *flow);

/* The first call at or after a time; n_calls when there is none. The same for ops. */
uint32_t flow_call_at(const struct hwy_flow *flow, int64_t time);
uint32_t flow_op_at(const struct hwy_flow *flow, int64_t time);
/* The first op that ends after a time: all before it have ended by then. n_ops when there is none. */
uint32_t flow_op_unfinished(const struct hwy_flow *flow, int64_t time);
/* Broken recordings have times of any length; whether sums over these ops and calls stay far from the ends
 * of 64 bits. */
bool flow_adds_up(const struct hwy_flow *flow, uint32_t first_op, uint32_t end_op,
		  uint32_t first_call, uint32_t end_call);
#define FLOW_SUM_MOST (UINT64_C(1) << 60)

#endif
