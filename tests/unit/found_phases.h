/* SPDX-License-Identifier: Apache-2.0 */
/* found_phases.h - programs of training steps, the phases found in them, and what must hold of any phases. */
#ifndef HWY_TESTS_FOUND_PHASES_H
#define HWY_TESTS_FOUND_PHASES_H

#include "program.h"

#include "analyze/phases/phases.h"

/* A machine on which work follows work without a pause, so that a step's length is the sum of its parts. */
static inline struct program steps_program(void)
{
	struct program p = program_new();
	p.latency = US(2);
	p.between = 0;
	return p;
}

/* Forward and backward of four layers, and an update: 13 launches, 410 us of work. */
static inline void train_step(struct program *p)
{
	for (int layer = 0; layer < 4; layer++) {
		program_launch(p, 0, "gemm", 20);
		program_launch(p, 0, "relu", 10);
	}
	program_launch(p, 0, "loss", 10);
	for (int layer = 0; layer < 3; layer++)
		program_launch(p, 0, "gemm_backward", 50);
	program_launch(p, 0, "update", 10);
	program_compute(p, 400);
}

static inline void validate_step(struct program *p)
{
	for (int layer = 0; layer < 5; layer++)
		program_launch(p, 0, layer % 2 ? "gemm_large" : "relu_large", 100);
	program_launch(p, 0, "metric", 30);
	program_compute(p, 200);
}

struct found {
	struct hwy_flow flow;
	struct hwy_phases phases;
};

/* What must hold of any phases: windows tile, and the mean is the window by the steps. */
static inline void check(const struct hwy_flow *flow, const struct hwy_phases *phases)
{
	assert_true(phases->n == 0 ? phases->main == 0 : phases->main < phases->n);
	for (uint32_t p = 0; p < phases->n; p++) {
		const struct hwy_phase *phase = &phases->phases[p];
		uint32_t first = phase->first_steady, n = phase->n_steady;
		int64_t sum = 0;
		assert_true(n >= 1 && first + n <= phase->n_steps &&
			    phase->n_steps <= first + n + 1);
		for (uint32_t i = 0; i < phase->n_steps; i++) {
			const struct phase_step *step = &phase->steps[i];
			int64_t length = step->device.to - step->device.from;
			assert_true(length >= 0 && step->busy >= 0 && step->busy <= length);
			assert_true(step->first_call + step->n_calls <= flow->n_calls);
			assert_int_equal(step->is_warm_up, i < first);
			assert_int_equal(step->is_cut, i == first + n);
			if (i + 1 < phase->n_steps) {
				assert_int_equal(step->device.to, step[1].device.from);
				assert_int_equal(step->first_call + step->n_calls,
						 step[1].first_call);
			}
			if (i >= first && i < first + n)
				sum += length;
		}
		assert_int_equal(sum, phase->window.to - phase->window.from);
		assert_int_equal(sum / n, phase->mean);
		assert_true(phase->p10 <= phase->median && phase->median <= phase->p90);
	}
}

static inline struct found find_in(struct hwy_trace *trace, const char *step)
{
	struct found found;
	struct hwy_err err;
	struct phases_options options = {step};
	assert_true(flow_open(&found.flow, trace, &err));
	assert_true(phases_find(&found.flow, &options, &found.phases, &err));
	check(&found.flow, &found.phases);
	return found;
}

static inline struct found find(struct program *p, const char *step)
{
	return find_in(hwy_builder_finish(p->builder, false), step);
}

static inline void done(struct found *found)
{
	phases_free(&found->phases);
	hwy_trace_free(found->flow.trace);
	flow_close(&found->flow);
}

static inline void assert_text(const struct found *found, int64_t text, const char *expected)
{
	assert_string_equal(hwy_str(found->flow.trace, text), expected);
}

#endif
