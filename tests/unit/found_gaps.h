/* SPDX-License-Identifier: Apache-2.0 */
/* found_gaps.h - the gaps found in a trace, and what must hold of any gaps. */
#ifndef HWY_TESTS_FOUND_GAPS_H
#define HWY_TESTS_FOUND_GAPS_H

#include "make_trace.h"

#include "analyze/gaps/gaps.h"

/* What must hold of the states of any device, and of all gaps. */
static inline void check_states(const struct gap_states *states)
{
	int64_t causes = 0;
	for (int c = 0; c < GAP_CAUSES; c++) {
		assert_true(states->causes[c] >= 0);
		causes += states->causes[c];
	}
	assert_int_equal(causes, states->idle);
	assert_int_equal(states->compute + states->exposed_comm + states->exposed_copy +
				 states->fill + states->idle,
			 states->window);
	assert_int_equal(states->busy + states->idle, states->window);
	assert_true(states->compute >= 0 && states->exposed_comm >= 0 &&
		    states->exposed_copy >= 0 && states->fill >= 0 && states->idle >= 0 &&
		    states->copy_overlapped >= 0 && states->comm_overlapped >= 0);
}

static inline void check(const struct hwy_flow *flow, const struct hwy_phase *phase,
			 const struct hwy_gaps *gaps)
{
	int64_t *sums = hwy_zalloc((flow->n_devices + 1) * sizeof *sums), reach = INT64_MIN;
	for (uint32_t i = 0; i < gaps->n; i++) {
		const struct hwy_gap *gap = &gaps->gaps[i];
		if (i == 0 || gap->device != gaps->gaps[i - 1].device)
			reach = phase->window.from;
		assert_true(gap->at.from >= reach && gap->at.to > gap->at.from);
		reach = gap->at.to;
		assert_true(reach <= phase->window.to);
		assert_true(gap->cause < GAP_CAUSES);
		if (gap->op != FLOW_NONE)
			assert_int_equal(flow->ops[gap->op].device, gap->device);
		if (gap->cause == GAP_BLOCKED || gap->cause == GAP_LAUNCH ||
		    gap->cause == GAP_ALLOC || gap->cause == GAP_MODULE)
			assert_int_not_equal(gap->culprit, FLOW_NONE);
		else if (gap->cause != GAP_MISSING && gap->cause != GAP_INPUT)
			assert_int_equal(gap->culprit, FLOW_NONE);
		sums[gap->device] += gap->at.to - gap->at.from;
	}
	for (uint32_t d = 0; d < flow->n_devices; d++) {
		check_states(&gaps->devices[d]);
		assert_int_equal(sums[d], gaps->devices[d].idle);
		/* None of the gaps has work in it. */
		for (uint32_t i = 0; gaps->n < 2000 && flow->n_ops < 2000 && i < gaps->n; i++)
			for (uint32_t o = 0; o < flow->n_ops; o++)
				assert_false(flow->ops[o].device == gaps->gaps[i].device &&
					     flow->ops[o].start < gaps->gaps[i].at.to &&
					     flow->ops[o].end > gaps->gaps[i].at.from &&
					     flow->ops[o].end > flow->ops[o].start);
	}
	free(sums);
}

struct found {
	struct hwy_trace *trace;
	struct hwy_flow flow;
	struct hwy_gaps gaps;
};

static inline struct found find_in(struct hwy_trace *trace, const struct hwy_phase *phase)
{
	struct found found = {.trace = trace};
	struct hwy_err err;
	assert_true(flow_open(&found.flow, trace, &err));
	assert_true(gaps_find(&found.flow, phase, &found.gaps, &err));
	check(&found.flow, phase, &found.gaps);
	return found;
}

/* In the window [from, to), in us. */
static inline struct found find(struct small *small, double from, double to)
{
	struct hwy_phase phase = {.window = {(int64_t)(from * 1000), (int64_t)(to * 1000)}};
	return find_in(small_finish(small), &phase);
}

static inline void drop(struct found *found)
{
	gaps_free(&found->gaps);
	flow_close(&found->flow);
	hwy_trace_free(found->trace);
}

static const char *name_of(const struct found *found, uint32_t id)
{
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(found->trace, id, &row);
	return hwy_str(found->trace, hwy_get(strip, HWY_NAME, row));
}

static inline void expect(const struct found *found, uint32_t i, enum gap_cause cause,
			  const char *culprit, const char *named)
{
	assert_true(i < found->gaps.n);
	const struct hwy_gap *gap = &found->gaps.gaps[i];
	assert_string_equal(gap_cause_names[gap->cause], gap_cause_names[cause]);
	if (culprit)
		assert_string_equal(name_of(found, found->flow.calls[gap->culprit].span), culprit);
	else
		assert_int_equal(gap->culprit, FLOW_NONE);
	if (named)
		assert_string_equal(name_of(found, gap->span - 1), named);
	else
		assert_int_equal(gap->span, 0);
}

#endif
