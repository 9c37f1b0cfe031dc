/* SPDX-License-Identifier: Apache-2.0 */
/* breakdown.h - where the time of the devices, their streams and the steps went, in exact ns.
 *
 * A device is measured between its first and its last op, the total between the first and the
 * last op of all devices, both cut to a scope. Times over several devices are unions.
 *
 * The numbers are those of two other tools, which users know and compare with: idle time of
 * streams, queues and launch delays as HTA has them, parts of steps as the TensorBoard plugin
 * has them. The steps here are therefore not those of phases.h.
 */
#ifndef HWY_ANALYZE_BREAKDOWN_H
#define HWY_ANALYZE_BREAKDOWN_H

#include "analyze/intervals.h"
#include "analyze/queue.h"
#include "analyze/work.h"
#include "trace/trace.h"

struct hwy_breakdown_options {
	struct hwy_scope scope;
	/* A gap below this many ns, on a stream whose next op was launched in time, counts as
	 * kernel wait. */
	int64_t kernel_wait;
	int64_t late; /* launch delays above this many ns count as late */
	/* Work is compared with the call that launched it only where that call took at most this
	 * many ns. */
	int64_t short_call;
	/* The window is cut into this many cells for busy times; 0 means no cells. */
	uint32_t cells;
	uint32_t series; /* the largest number of points in a queue's series; 0 means no series */
};
/* The default thresholds are those of HTA (Meta's Holistic Trace Analysis): 30 us, 100 us and 50
 * us. */
#define HWY_BREAKDOWN_DEFAULTS                                                                     \
	((struct hwy_breakdown_options){.scope = HWY_SCOPE_ALL,                                    \
					.kernel_wait = 30000,                                      \
					.late = 100000,                                            \
					.short_call = 50000})

/* Busy time of one device, or of several as a union, in ns. The exposed time of a class is the
 * part that no class before it covers, in the order compute, comm, copy, fill; so compute +
 * exposed comm + exposed copy + exposed fill = busy, and busy + idle = to - from. */
struct hwy_measures {
	/* The measured window in ns; from and to are 0 where there is no device work. */
	int64_t from, to;
	uint64_t n_kernel, n_comm, n_copy, n_fill, n_graph;
	uint64_t n_streams, n_linked;
	/* Kernels that communicate, by hwy_class, and are among the compute here, because HTA
	 * counts only those of libraries; and the ns of their lengths. */
	uint64_t n_comm_in_compute;
	int64_t comm_in_compute;
	uint64_t n_busy; /* how many intervals the busy time is made of */
	int64_t busy, compute, comm, copy, fill;
	int64_t exposed_comm, exposed_copy, exposed_fill;
};

struct hwy_device_part {
	/* index into trace.devices, or HWY_NONE where the recording does not tell */
	int64_t device;
	struct hwy_measures measures;
	/* The busy ns in each cell of the total's window; NULL where options.cells is 0. */
	int64_t *cells;
};

struct hwy_stream_part {
	uint32_t lane;
	uint64_t n_ops, n_kernel, n_comm;
	int64_t from, to, busy;
	/* The stream's idle ns, split as HTA does; host_wait, kernel_wait and other add up to
	 * (to - from) - busy. */
	/* Idle ns before ops that were launched after the stream had run out of work. */
	int64_t host_wait;
	/* Idle ns before ops that were launched in time and began within options.kernel_wait. */
	int64_t kernel_wait;
	/* Idle ns before all other ops: long waits, or launches that were not recorded. */
	int64_t other;
	struct hwy_queue queue;
	struct queue_delays delays;
};

/* The parts of a step as the TensorBoard plugin shows them. Time that several parts cover counts
 * for the first of these parts. */
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
	int64_t process;         /* index into the trace's processes, or HWY_NONE */
	int64_t name;            /* id of the text that names the annotation */
	struct hwy_interval cpu; /* when the annotation began and ended, on the CPU */
	/* From the annotation's begin to the end of the device work that was launched inside it. */
	struct hwy_interval at;
	/* The ns of the step that each part takes, by enum hwy_step_part. */
	int64_t parts[HWY_STEP_PARTS];
	uint64_t n_work; /* device ops launched inside the annotation */
	/* False where the recording ended before the step's device work did: averages leave out
	 * such a step. */
	bool whole;
};

struct hwy_breakdown {
	struct hwy_measures total;
	struct hwy_device_part *devices; /* the devices with work, in the order of trace.devices */
	uint32_t n_devices;
	struct hwy_stream_part *streams; /* the streams with work, by device and stream number */
	uint32_t n_streams;
	struct hwy_step *steps; /* in order of time, process by process */
	uint32_t n_steps;
};

bool breakdown_measure(struct hwy_trace *trace, const struct hwy_breakdown_options *options,
		       struct hwy_breakdown *breakdown, struct hwy_err *err);
void breakdown_free(struct hwy_breakdown *breakdown);

/* The three parts of breakdown_measure: devices.c, streams.c, tensorboard_steps.c. 'work' is
 * open; each fills its fields of 'breakdown'. */
void devices_measure(const struct hwy_work *work, const struct hwy_breakdown_options *options,
		     struct hwy_breakdown *breakdown);
void streams_measure(struct hwy_work *work, const struct hwy_breakdown_options *options,
		     struct hwy_breakdown *breakdown);
bool tensorboard_steps_measure(struct hwy_work *work, struct hwy_breakdown *breakdown,
			       struct hwy_err *err);

#endif
