/* breakdown.h - where the time of the devices, their streams and the steps went, in exact ns.
 *
 * Everything is measured between the first and the last device op (of a device; of all devices for
 * the total), cut to a scope. Times over several devices are unions.
 */
#ifndef HWY_ANALYZE_BREAKDOWN_H
#define HWY_ANALYZE_BREAKDOWN_H

#include "analyze/intervals.h"
#include "analyze/queue.h"
#include "analyze/work.h"
#include "trace/trace.h"

struct hwy_breakdown_options {
	struct hwy_scope scope;
	int64_t kernel_wait; /* a stream's gap shorter than this is the device's own pace */
	int64_t late;        /* launch delays above this are outliers */
	int64_t short_call;  /* calls longer than this say nothing about short kernels */
	uint32_t cells;      /* pieces of the window in which busy time is wanted; 0: none */
	uint32_t series;     /* most points of a queue's series; 0: none */
};
/* HTA's numbers: 30 us, 100 us, 50 us. */
#define HWY_BREAKDOWN_DEFAULTS                                                                     \
	((struct hwy_breakdown_options){.scope = HWY_SCOPE_ALL,                                    \
					.kernel_wait = 30000,                                      \
					.late = 100000,                                            \
					.short_call = 50000})

/* Busy time of one device, or of several as a union. Copies and fills are apart from compute and
 * comm; "exposed" is what no class before it (compute, comm, copy, fill) covers, so that compute +
 * exposed comm + exposed copy + exposed fill = busy, and busy + idle = to - from. */
struct hwy_measures {
	int64_t from, to; /* the window; both 0 when there is no work */
	uint64_t n_kernel, n_comm, n_copy, n_fill, n_graph;
	uint64_t n_streams, n_linked;
	uint64_t n_busy; /* intervals of the union */
	int64_t busy, compute, comm, copy, fill;
	int64_t exposed_comm, exposed_copy, exposed_fill;
};

struct hwy_device_part {
	int64_t device; /* index, or HWY_NONE: the source did not say */
	struct hwy_measures measures;
	int64_t *cells; /* busy ns of each piece of the total's window; NULL when not asked for */
};

struct hwy_stream_part {
	uint32_t lane;
	uint64_t n_ops, n_kernel, n_comm;
	int64_t from, to, busy;
	/* idle, as HTA splits it; adds up to (to - from) - busy */
	int64_t host_wait;   /* the next op was launched only after the stream had run dry */
	int64_t kernel_wait; /* it was there in time, and began within the threshold */
	int64_t other; /* it was there in time and waited longer, or its launch is not known */
	struct hwy_queue queue;
	struct hwy_delays delays;
};

/* The TensorBoard plugin's parts of a step, each without what stands before it. */
enum hwy_step_part {
	HWY_STEP_KERNEL,
	HWY_STEP_COPY,
	HWY_STEP_FILL,
	HWY_STEP_COMM,
	HWY_STEP_RUNTIME,
	HWY_STEP_LOADER,
	HWY_STEP_OP,
	HWY_STEP_OTHER,
	HWY_STEP_PARTS
};

struct hwy_step {
	int64_t process;         /* index, or HWY_NONE */
	int64_t name;            /* text */
	struct hwy_interval cpu; /* the annotation itself */
	struct hwy_interval at;  /* the step with the device work it launched */
	int64_t parts[HWY_STEP_PARTS];
	uint64_t n_work;
	bool whole; /* false: the recording ended before its work did; not for averages */
};

struct hwy_breakdown {
	struct hwy_measures total;
	struct hwy_device_part *devices; /* those with work, by index */
	uint32_t n_devices;
	struct hwy_stream_part *streams; /* those with work, by device and stream number */
	uint32_t n_streams;
	struct hwy_step *steps; /* in order of time, process by process */
	uint32_t n_steps;
};

bool breakdown_measure(struct hwy_trace *trace, const struct hwy_breakdown_options *options,
		       struct hwy_breakdown *breakdown, struct hwy_err *err);
void breakdown_free(struct hwy_breakdown *breakdown);

/* The parts, one file each. 'breakdown' is filled in; work is open. */
void devices_measure(const struct hwy_work *work, const struct hwy_breakdown_options *options,
		     struct hwy_breakdown *breakdown);
void streams_measure(struct hwy_work *work, const struct hwy_breakdown_options *options,
		     struct hwy_breakdown *breakdown);
bool steps_tb_measure(struct hwy_work *work, struct hwy_breakdown *breakdown, struct hwy_err *err);

#endif
