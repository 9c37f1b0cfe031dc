/* SPDX-License-Identifier: Apache-2.0 */
/* gaps_cause.h - the cause of one gap. gaps.c asks for one gap after the other, in order of
 * time. */
#ifndef HWY_ANALYZE_GAPS_GAPS_CAUSE_H
#define HWY_ANALYZE_GAPS_GAPS_CAUSE_H

#include "analyze/exchange_calls.h"
#include "analyze/gaps/gaps.h"
#include "analyze/nest.h"
#include "base/hash.h"
#include "base/heap.h"

/* ---- what the CPU did instead (gaps_cpu.c) --------------------------------------------------- */

/* The state, kept from gap to gap, that tells what the CPU did instead of launching. */
struct gaps_cpu {
	const struct hwy_flow *flow;
	struct hwy_nests nests; /* opened when a gap first needs the threads' spans */
	/* is_open: the nests are loaded. is_bad: the nests could not be read, and err says why. */
	bool is_open, is_bad;
	/* From the id of a span that was woken to a reference (base/ref.h) to the span that woke
	 * it. */
	struct hwy_map wakers;
	/* For each text id whether the text names a loader of input: 1 yes, 0 no, 0xff not yet
	 * examined. */
	uint8_t *loads;
	struct exchange_calls exchanges; /* the threads' calls that have messages */
	/* The keys are the sizes in bytes of copies to the device that were made inside a
	 * loader. */
	struct hwy_map loaded;
	struct hwy_err *err;
};

/* A stretch of time in which a thread should have launched, and did not. */
struct gaps_absence {
	uint32_t thread;
	/* The other thread of the process that made the last call before the stretch's end, or
	 * FLOW_NONE. */
	uint32_t other;
	struct hwy_interval at;
	bool copy_follows; /* one of the next ops copies data to the device */
	/* The very next op copies data to the device, and the data is new: it was not copied
	 * from the device just before. */
	bool brings_data;
};
/* The cause of a gap in which a thread did not launch: gc, gil, comm, input, os or cpu. *span
 * becomes a reference (base/ref.h) to the span that names what the thread did. */
enum gap_cause gaps_cpu_cause(struct gaps_cpu *cpu, const struct gaps_absence *absence,
			      uint32_t *span);
/* A reference to the span that names a thread's work from a wait's end to its next launch, or
 * HWY_REF_NONE: the shortest operator, function or range that fills half of that time and is
 * over before the launch, the OS call or state that does, or a CPU sample. */
uint32_t gaps_cpu_work(struct gaps_cpu *cpu, uint32_t thread, struct hwy_interval at);
/* Whether a range, an operator or a function of this name loads input data: "DataLoader",
 * "load_batch", "get_next". */
bool gaps_cpu_is_loader(const char *name);
/* Whether an OS call of this name may be a wait for another thread: a lock, a semaphore, a
 * condition or the end of the thread. */
bool gaps_cpu_waits_for_thread(const char *name);
/* Whether the call was made inside a loader: its recorded stack says so; or, since stacks are
 * recorded of some calls only, the call copies to the device, and the stack of another such copy
 * of as many bytes says so. */
bool gaps_cpu_calls_from_loader(struct gaps_cpu *cpu, const struct flow_call *call);
void gaps_cpu_close(struct gaps_cpu *cpu);

/* ---- the rules (gaps_cause.c) ---------------------------------------------------------------- */

/* at most this many waits are remembered; older waits are forgotten */
enum { GAPS_MOST_WAITS = 8 };

/* The state, kept from gap to gap of one device, that tells the cause of each gap. */
struct gaps_judge {
	const struct hwy_flow *flow;
	struct gaps_cpu *cpu;
	/* A process whose launches are at most this many ns apart counts as launching all the
	 * time. */
	int64_t launching_ns;
	/* Indexes of the device's ops in flow.ops, in order of start; NULL where the indexes are
	 * 0, 1, 2 … */
	const uint32_t *order;
	uint32_t n;
	bool is_cpu;   /* the device is a CPU (hwy_device_is_cpu) */
	int64_t idle;  /* ns that the device has idled before the current gap */
	uint32_t next; /* index of the first call of the flow that has not been noted yet */
	/* The blocking calls that started before the end of the current gap. */
	struct gaps_blocking {
		uint32_t call;
		int64_t idle; /* ns that the device had idled when the call started */
	} * noted;
	uint32_t n_noted, cap_noted;
	/* The noted calls that may still run when the device runs out of work, ordered by their
	 * end. */
	struct hwy_heap running;
	uint32_t *found, n_found, cap_found; /* scratch memory of find_waits */
	/* Waits that emptied the queue and whose lead the CPU has not yet won back, the oldest
	 * first. */
	struct gaps_wait {
		uint32_t call;
		/* The ns that the device worked during the wait: the lead that the CPU lost. */
		int64_t worked;
		/* The ns that the device had idled in all when this wait emptied its queue. */
		int64_t idle;
	} waits[GAPS_MOST_WAITS];
	uint32_t n_waits;
};

/* Yields the longest distance of two launches, in ns, at which the phase's process counts as
 * launching all the time. */
int64_t gaps_launching_ns(const struct hwy_flow *flow, const struct hwy_phase *phase);
/* Prepares the judge for gaps from the moment 'from' on. */
void gaps_judge_open(struct gaps_judge *judge, int64_t from);
void gaps_judge_close(struct gaps_judge *judge);

/* Yields the op at index i of the judge's order. */
static inline const struct flow_op *gaps_op(const struct gaps_judge *judge, uint32_t i)
{
	return &judge->flow->ops[judge->order ? judge->order[i] : i];
}

/* Sets cause, culprit and span of the gap before op i of the judge's order. 'from' is the moment
 * at which the device really ran dry, also where that lies before the phase's window. */
void gaps_judge_gap(struct gaps_judge *judge, uint32_t i, int64_t from, struct hwy_gap *gap);
/* To be called with every op, after the gap before it: an op that stood in the queue long enough
 * shows that the CPU has won back its lead after a wait. */
void gaps_judge_regain(struct gaps_judge *judge, const struct flow_op *op);

#endif
