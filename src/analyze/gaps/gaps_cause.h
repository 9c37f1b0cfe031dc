/* gaps_cause.h - why one gap is there; used by gaps.c, which asks gap by gap in order of time. */
#ifndef HWY_ANALYZE_GAPS_GAPS_CAUSE_H
#define HWY_ANALYZE_GAPS_GAPS_CAUSE_H

#include "analyze/gaps/gaps.h"
#include "analyze/nest.h"
#include "base/hash.h"
#include "base/heap.h"

/* ---- what the CPU did instead (gaps_cpu.c) ------------------------------------------------------- */

struct gaps_cpu {
	const struct hwy_flow *flow;
	struct hwy_nests nests; /* opened when first needed */
	bool is_open, is_bad;
	struct hwy_map wakers; /* id of a span that was woken -> of the waker's, plus one */
	uint8_t *loads; /* by text id: 1 the name of a loader's range, 0 not, 0xff: not asked yet */
	struct hwy_err *err;
};

struct gaps_absence { /* T did not launch in this interval */
	uint32_t thread;
	uint32_t other; /* the thread of the process that called last before T, or FLOW_NONE */
	struct hwy_interval at;
	bool copy_follows; /* soon afterwards something is copied to the device */
	bool brings_data;  /* that is the first it does, and not what was copied back just before */
};
/* The cause is input, os or cpu; *span names it (plus one; 0: nothing does). */
enum gap_cause gaps_cpu_cause(struct gaps_cpu *cpu, const struct gaps_absence *absence,
			      uint32_t *span);
bool gaps_cpu_is_loader(const char *name);
void gaps_cpu_close(struct gaps_cpu *cpu);

/* ---- the rules (gaps_cause.c) -------------------------------------------------------------------- */

enum { GAPS_OPEN = 8 };

/* The sweep over one device, or over all of them as one. */
struct gaps_judge {
	const struct hwy_flow *flow;
	struct gaps_cpu *cpu;
	const uint32_t *order; /* of ops; NULL: 0, 1, 2 … */
	uint32_t n;
	int64_t idle;  /* up to the current gap */
	uint32_t next; /* call: those before have been looked at */
	/* Blocking calls that may still be running when the device runs dry, as they were noted; and those of them
	 * that may, by their ends. */
	struct gaps_blocking {
		uint32_t call;
		int64_t idle; /* the device's, up to the call's start */
	} * noted;
	uint32_t n_noted, cap_noted;
	struct hwy_heap running;
	uint32_t *found, n_found, cap_found; /* find_waits's */
	/* Waits that emptied the queue and are not yet made up for, oldest first. */
	struct gaps_wait {
		uint32_t call;
		int64_t worked; /* what the device did meanwhile: the headway there was */
		int64_t idle;   /* the device's, when it ran dry */
	} waits[GAPS_OPEN];
	uint32_t n_waits;
};

/* 'from': where in time the sweep begins. */
void gaps_judge_open(struct gaps_judge *judge, int64_t from);
void gaps_judge_close(struct gaps_judge *judge);

static inline const struct flow_op *gaps_op(const struct gaps_judge *judge, uint32_t i)
{
	return &judge->flow->ops[judge->order ? judge->order[i] : i];
}

/* The gap before op i of the order; 'from' is where it really begins, whatever the window. Sets cause,
 * culprit and span. */
void gaps_judge_gap(struct gaps_judge *judge, uint32_t i, int64_t from, struct hwy_gap *gap);
/* Every op, after the gap before it: headway that is back at its level makes up for a wait. */
void gaps_judge_regain(struct gaps_judge *judge, const struct flow_op *op);

#endif
