/* SPDX-License-Identifier: Apache-2.0 */
/* flow_reads.c - see flow_reads.h.
 *
 * float(loss) in JAX makes a thread of XLA enqueue an asynchronous copy, and the thread that runs Python sleeps until the
 * copy is done: no call of the vendor's library lasts that long. That the program waited is seen by what it did not do: no
 * kernel was launched before the copy had ended. Since this may happen by chance, the copies of a process count only
 * where nearly all of them were followed so, and most of them soon. Copies that XLA makes while it compiles do not count.
 */
#include "analyze/flow_reads.h"

#include <stdlib.h>

#include "analyze/xla.h"

/* So many percent of a process's copies to the host must have been followed by no launch until they had ended. */
#define AWAITED_PERCENT 90
/* At least half of these copies must have been followed by a launch this soon after their end, in ns. */
#define SOON_NS 1000000
/* Fewer copies prove nothing. */
#define FEWEST_READS 4

struct reads { /* the copies to the host of one process */
	uint32_t n, awaited, soon;
};

static bool runs_xla(const struct hwy_trace *trace)
{
	for (uint32_t i = 0; i < trace->strings.n; i++)
		if (xla_parse(trace->strings.texts[i]).kind == XLA_EXECUTION)
			return true;
	return false;
}

/* Whether the call enqueued an asynchronous copy from the device to the host, and nothing else that counts. */
static bool is_read(const struct hwy_flow *flow, const struct flow_call *call)
{
	uint32_t row;
	if (call->op == FLOW_NONE || call->blocks || call->role != HWY_ROLE_COPY ||
	    call->process == FLOW_NO_PROCESS || flow->ops[call->op].kind != HWY_COPY)
		return false;
	const struct hwy_strip *strip = hwy_strip_of(flow->trace, flow->ops[call->op].span, &row);
	return hwy_get(strip, HWY_DIRECTION, row) == HWY_D2H;
}

/* When the process of a call launches a kernel or a graph next, in ns; INT64_MAX where it never does. */
static int64_t next_launch(const struct hwy_flow *flow, uint32_t index)
{
	const struct flow_call *call = &flow->calls[index];
	for (uint32_t i = index + 1; i < flow->n_calls; i++) {
		const struct flow_call *next = &flow->calls[i];
		if (next->process == call->process &&
		    (next->role == HWY_ROLE_LAUNCH || next->role == HWY_ROLE_GRAPH_LAUNCH))
			return next->start;
	}
	return INT64_MAX;
}

static bool is_compiling_at(const struct hwy_flow *flow, const struct flow_call *call)
{
	const struct first_use *longest;
	struct hwy_interval moment = {call->start, call->start + 1};
	return first_uses_in(&flow->first_uses, call->process, moment, &longest) > 0;
}

/* Whether no kernel was launched from the call to the end of its copy; sets *after to the time from there to the next
 * launch. */
static bool is_awaited(const struct hwy_flow *flow, uint32_t index, int64_t *after)
{
	int64_t launch = next_launch(flow, index), end = flow->ops[flow->calls[index].op].end;
	*after = launch - end;
	return launch >= end;
}

static bool are_awaited(const struct reads *reads)
{
	return reads->awaited >= FEWEST_READS &&
	       (uint64_t)reads->awaited * 100 >= (uint64_t)reads->n * AWAITED_PERCENT &&
	       reads->soon * 2 >= reads->awaited;
}

void flow_learn_reads(struct hwy_flow *flow)
{
	if (!runs_xla(flow->trace))
		return;
	struct reads *reads = hwy_zarray(FLOW_NO_PROCESS + 1u, sizeof *reads);
	uint32_t *found = hwy_array(flow->n_calls, sizeof *found), n = 0;
	int64_t after;
	for (uint32_t i = 0; i < flow->n_calls; i++) {
		struct reads *own = &reads[flow->calls[i].process];
		if (!is_read(flow, &flow->calls[i]) || is_compiling_at(flow, &flow->calls[i]))
			continue;
		own->n++;
		if (!is_awaited(flow, i, &after))
			continue;
		found[n++] = i;
		own->awaited++;
		own->soon += after <= SOON_NS;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct flow_call *call = &flow->calls[found[i]];
		int64_t end = flow->ops[call->op].end;
		if (!are_awaited(&reads[call->process]))
			continue;
		call->blocks = true;
		if (end > call->end) {
			uint64_t more = (uint64_t)(end - call->end);
			flow->length =
				flow->length + more < more ? UINT64_MAX : flow->length + more;
			call->end = end;
		}
	}
	free(reads);
	free(found);
}
