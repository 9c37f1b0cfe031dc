/* SPDX-License-Identifier: Apache-2.0 */
/* flow_first.c - see flow_first.h. Only launches whose kernel is known are looked at, and kernels
 * are told apart by their names. */
#include "analyze/flow_first.h"

#include <stdlib.h>

#include "base/index.h"
#include "base/mem.h"

/* The call that the first use is, where it launched a kernel; FLOW_NONE where it is none. */
static uint32_t launch_of(const struct hwy_flow *flow, const struct first_use *use)
{
	for (uint32_t i = flow_call_at(flow, use->time.from);
	     i < flow->n_calls && flow->calls[i].start == use->time.from; i++) {
		const struct flow_call *call = &flow->calls[i];
		if (call->span == use->span && call->role == HWY_ROLE_LAUNCH &&
		    call->op != FLOW_NONE && flow->ops[call->op].kind == HWY_KERNEL)
			return i;
	}
	return FLOW_NONE;
}

static int64_t name_of_op(const struct hwy_flow *flow, const struct flow_op *op)
{
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(flow->trace, op->span, &row);
	return hwy_get(strip, HWY_NAME, row);
}

/* A kernel of a process, and the first call that launched it. */
struct launched {
	struct launched_key {
		int64_t name;
		uint64_t process;
	} key;
	uint32_t call;
};

struct launched_kernels {
	struct hwy_index by_key;
	struct launched *list;
	uint32_t n, cap;
};

/* The first call that launched the kernel of a call: this call where no earlier one is there. */
static uint32_t first_launch(const struct hwy_flow *flow, struct launched_kernels *kernels,
			     uint32_t call)
{
	struct launched_key key = {name_of_op(flow, &flow->ops[flow->calls[call].op]),
				   flow->calls[call].process};
	bool fresh;
	uint32_t *number = hwy_index_put_element(&kernels->by_key, kernels->list,
						 sizeof *kernels->list, &key, sizeof key, &fresh);
	if (fresh) {
		HWY_GROW(kernels->list, kernels->n, kernels->cap);
		*number = kernels->n;
		kernels->list[kernels->n++] = (struct launched){key, call};
	}
	return kernels->list[*number].call;
}

void flow_forget_launched(struct hwy_flow *flow)
{
	struct first_uses *uses = &flow->first_uses;
	uint32_t kept = 0, last = 0;
	uint32_t *calls = hwy_array(uses->n, sizeof *calls);
	for (uint32_t i = 0; i < uses->n; i++) {
		calls[i] = launch_of(flow, &uses->uses[i]);
		last = calls[i] != FLOW_NONE && calls[i] >= last ? calls[i] + 1 : last;
	}
	struct launched_kernels kernels = {0};
	for (uint32_t i = 0; i < last; i++)
		if (flow->calls[i].op != FLOW_NONE &&
		    flow->ops[flow->calls[i].op].kind == HWY_KERNEL)
			first_launch(flow, &kernels, i);
	for (uint32_t i = 0; i < uses->n; i++)
		if (calls[i] == FLOW_NONE || first_launch(flow, &kernels, calls[i]) == calls[i])
			uses->uses[kept++] = uses->uses[i];
	uses->n = kept;
	hwy_index_free(&kernels.by_key);
	free(kernels.list);
	free(calls);
}
