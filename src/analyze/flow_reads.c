/* SPDX-License-Identifier: Apache-2.0 */
/* flow_reads.c - see flow_reads.h.
 *
 * float(loss) in JAX makes a thread of XLA enqueue an asynchronous copy, and the thread that
 * runs Python sleeps until the copy is done: no call of the vendor's library lasts that long.
 * That the program waited is seen by what it did not do: no kernel was launched before the copy
 * had ended. Since this may happen by chance, the copies of a process count only where nearly
 * all of them were followed so, and most of them soon. Copies that XLA makes while it compiles
 * do not count.
 */
#include "analyze/flow_reads.h"

#include <stdlib.h>

#include "analyze/xla.h"

/* So many percent of a process's copies to the host must have been followed by no launch until
 * they had ended. */
#define AWAITED_PERCENT 90
/* At least half of these copies must have been followed by a launch this soon after their end,
 * in ns. */
#define SOON_NS 1000000
/* Fewer copies prove nothing. */
#define FEWEST_READS 4

/* the copies to the host of one process, while its calls are looked at in order of time */
struct reads {
	uint32_t n, awaited, soon;
	/* The first uses of the process that have not begun yet are uses[next … end - 1]; the
	 * others have ended by 'reach'. */
	uint32_t next, end;
	int64_t reach;
};

struct read { /* an asynchronous copy to the host */
	uint32_t call;
	int64_t launch; /* when its process launches a kernel or a graph next; INT64_MAX: never */
};

/* Whether the call enqueued an asynchronous copy from the device to the host. */
static bool is_read(const struct hwy_flow *flow, const struct flow_call *call)
{
	uint32_t row;
	if (call->op == FLOW_NONE || call->blocks || call->role != HWY_ROLE_COPY ||
	    call->process == FLOW_NO_PROCESS || flow->ops[call->op].kind != HWY_COPY)
		return false;
	const struct hwy_strip *strip = hwy_strip_of(flow->trace, flow->ops[call->op].span, &row);
	return hwy_get(strip, HWY_DIRECTION, row) == HWY_D2H;
}

/* The copies of all processes, the last one first, in memory that the caller frees. */
static struct read *find_reads(const struct hwy_flow *flow, uint32_t *n)
{
	struct read *found = hwy_array(flow->n_calls, sizeof *found);
	int64_t *launches = hwy_array(FLOW_NO_PROCESS + 1u, sizeof *launches);
	for (uint32_t p = 0; p <= FLOW_NO_PROCESS; p++)
		launches[p] = INT64_MAX;
	*n = 0;
	for (uint32_t i = flow->n_calls; i-- > 0;) {
		const struct flow_call *call = &flow->calls[i];
		if (is_read(flow, call))
			found[(*n)++] = (struct read){i, launches[call->process]};
		if (call->role == HWY_ROLE_LAUNCH || call->role == HWY_ROLE_GRAPH_LAUNCH)
			launches[call->process] = call->start;
	}
	free(launches);
	return found;
}

/* Tells each process which first uses are its own. */
static void share_first_uses(const struct first_uses *uses, struct reads *reads)
{
	for (uint32_t i = 0; i < uses->n; i++) {
		uint32_t process = uses->uses[i].process;
		if (process >= FLOW_NO_PROCESS)
			continue;
		struct reads *own = &reads[process];
		own->next = own->end ? own->next : i;
		own->end = i + 1;
	}
	for (uint32_t p = 0; p <= FLOW_NO_PROCESS; p++)
		reads[p].reach = INT64_MIN;
}

/* Whether a process loads or compiles code at a moment. Moments come in order of time. */
static bool is_preparing_at(const struct first_uses *uses, struct reads *own, int64_t moment)
{
	for (; own->next < own->end && uses->uses[own->next].time.from <= moment; own->next++) {
		int64_t end = uses->uses[own->next].time.to;
		own->reach = end > own->reach ? end : own->reach;
	}
	return own->reach > moment;
}

/* Whether no kernel was launched from the call to the end of its copy; *is_soon: one was
 * launched soon afterwards. */
static bool is_awaited(const struct hwy_flow *flow, const struct read *read, bool *is_soon)
{
	int64_t end = flow->ops[flow->calls[read->call].op].end, after;
	*is_soon = !__builtin_sub_overflow(read->launch, end, &after) && after <= SOON_NS;
	return read->launch >= end;
}

static bool are_awaited(const struct reads *reads)
{
	return reads->awaited >= FEWEST_READS &&
	       (uint64_t)reads->awaited * 100 >= (uint64_t)reads->n * AWAITED_PERCENT &&
	       (uint64_t)reads->soon * 2 >= reads->awaited;
}

/* Makes a call block until its copy has ended. */
static void let_block(struct hwy_flow *flow, struct flow_call *call)
{
	int64_t end = flow->ops[call->op].end;
	call->blocks = true;
	if (end <= call->end)
		return;
	uint64_t more = (uint64_t)end - (uint64_t)call->end;
	flow->length = flow->length + more < more ? UINT64_MAX : flow->length + more;
	call->end = end;
}

void flow_learn_reads(struct hwy_flow *flow)
{
	uint32_t n, kept = 0;
	if (!xla_any_execution(&flow->trace->strings))
		return;
	struct reads *reads = hwy_zarray(FLOW_NO_PROCESS + 1u, sizeof *reads);
	struct read *found = find_reads(flow, &n);
	share_first_uses(&flow->first_uses, reads);
	for (uint32_t i = n; i-- > 0;) {
		const struct flow_call *call = &flow->calls[found[i].call];
		struct reads *own = &reads[call->process];
		bool is_soon;
		if (is_preparing_at(&flow->first_uses, own, call->start))
			continue;
		own->n++;
		if (!is_awaited(flow, &found[i], &is_soon))
			continue;
		own->awaited++;
		own->soon += is_soon;
		/* The places behind i have been looked at: the copies that count are gathered at
		 * the array's end. */
		found[n - ++kept] = found[i];
	}
	for (uint32_t i = n - kept; i < n; i++)
		if (are_awaited(&reads[flow->calls[found[i].call].process]))
			let_block(flow, &flow->calls[found[i].call]);
	free(reads);
	free(found);
}
