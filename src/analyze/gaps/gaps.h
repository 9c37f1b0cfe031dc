/* SPDX-License-Identifier: Apache-2.0 */
/* gaps.h - the intervals in which a device has nothing to do inside a phase's window, and why.
 *
 * Every gap has exactly one cause, decided by the op that ends the gap; docs/gaps.md has the
 * rules and their order. The causes add up to the idle time, to the nanosecond. In long
 * recordings, a run of tiny gaps between kernels (dependency, below 2 us, in one step) is listed
 * as one gap that begins with the run and is as long as its gaps together.
 */
#ifndef HWY_ANALYZE_GAPS_GAPS_H
#define HWY_ANALYZE_GAPS_GAPS_H

#include "analyze/phases/phases.h"

enum gap_cause {
	GAP_BLOCKED,
	GAP_LAUNCH,
	GAP_INPUT,
	GAP_OS,
	GAP_CPU,
	GAP_DEPENDENCY,
	GAP_ALLOC,
	GAP_MODULE,
	GAP_DRAIN,
	GAP_UNKNOWN,
	GAP_FIRST_USE, /* code was loaded, compiled, tuned or captured: analyze/first_use.h */
	GAP_MISSING,   /* the device must have worked: records of its work are missing */
	GAP_COMM,      /* the CPU exchanged data with other ranks: gloo, MPI */
	GAP_GC,        /* Python's garbage collector ran */
	GAP_GIL,       /* the thread waited for the lock that Python's threads share */
	GAP_CAUSES
};
/* for JSON and people: "blocked", "launch", … */
extern const char *const gap_cause_names[GAP_CAUSES];

struct hwy_gap {
	struct hwy_interval at; /* from the gap's begin to its end, in ns */
	uint32_t op;            /* the op that ends the gap, or FLOW_NONE where no op follows */
	/* The call to blame, or FLOW_NONE. blocked: the wait; alloc, module: the longest such
	 * call; launch: the launch. */
	uint32_t culprit;
	/* A reference (base/ref.h) to the span that names what the CPU did (input, os, cpu,
	 * first-use, comm, gc, gil; and blocked, where the CPU did other work from the wait's
	 * end to the next launch): an OS call, a state, a range, an operator, a function, a
	 * sample or a call. */
	uint32_t span;
	uint32_t step; /* the step of the phase that the gap lies in */
	uint8_t cause; /* enum gap_cause */
	/* Only with the cause 'os': the device is a CPU and had work; the host did not run it. */
	bool is_preempted;
	uint16_t device; /* index into flow.devices */
};

/* How much of a window one device spent in which state, in ns. */
struct gap_states {
	int64_t window, busy, idle; /* all in ns; window is busy + idle */
	/* Compute, exposed_comm, exposed_copy and fill, all in ns, add up to busy. */
	int64_t compute, exposed_comm, exposed_copy, fill;
	/* The part of exposed_copy in which the device copies inside its own memory, and nothing
	 * else. */
	int64_t device_copy;
	/* The ns of copies, and of communication, that run beside compute. */
	int64_t copy_overlapped, comm_overlapped;
	int64_t causes[GAP_CAUSES]; /* idle ns by enum gap_cause; the values add up to idle */
};

void gap_states_add(struct gap_states *sum, const struct gap_states *one);

struct hwy_gaps {
	struct hwy_gap *gaps; /* all gaps, device by device, each in order of time */
	uint32_t n;
	struct gap_states *devices; /* parallel to flow.devices */
};

bool gaps_find(const struct hwy_flow *flow, const struct hwy_phase *phase, struct hwy_gaps *gaps,
	       struct hwy_err *err);
/* The same for one of many phases. What their gaps ask of the threads' spans is found once, when a
 * gap first needs it: 'cpu' is from gaps_cpu_new. */
struct gaps_cpu;
struct gaps_cpu *gaps_cpu_new(const struct hwy_flow *flow);
void gaps_cpu_free(struct gaps_cpu *cpu);
bool gaps_find_next(struct gaps_cpu *cpu, const struct hwy_phase *phase, struct hwy_gaps *gaps,
		    struct hwy_err *err);
void gaps_free(struct hwy_gaps *gaps);
/* Whether a thread, an index into the trace's threads, exchanges data with other ranks on the
 * CPU: one of gloo's, MPI's or UCX's, by its name. */
bool gaps_thread_is_transport(const struct hwy_trace *trace, uint32_t thread);

#endif
