/* toy.h - programs played on a toy machine, and the phases found in them: a launch takes 5 us, work begins 2 us later
 * or when the stream is free.
 */
#ifndef HWY_TESTS_TOY_H
#define HWY_TESTS_TOY_H

#include "make_trace.h"

#include "analyze/phases/phases.h"
#include "small_trace.h"

#define US 1000
#define MS 1000000

struct toy {
	struct small small;
	uint32_t streams[2], range;
	int64_t now, free_at[2], corr;
};

static inline struct toy toy_new(void)
{
	struct toy toy = {.small = small_new()};
	uint32_t device = small_device(&toy.small, 0);
	for (int i = 0; i < 2; i++)
		toy.streams[i] = small_stream(&toy.small, device, 7 + i);
	toy.range = small_lane(&toy.small, HWY_LANE_RANGE);
	return toy;
}

static inline void launch_on(struct toy *toy, int s, const char *kernel, int64_t length)
{
	int64_t start = toy->now + 7 * US;
	start = start > toy->free_at[s] ? start : toy->free_at[s];
	small_call(&toy->small, toy->now, toy->now + 5 * US, ++toy->corr, "cudaLaunchKernel");
	small_span(&toy->small, toy->streams[s], HWY_KERNEL, start, start + length, toy->corr,
		   kernel);
	toy->free_at[s] = start + length;
	toy->now += 5 * US;
}

static inline void launch(struct toy *toy, const char *kernel, int64_t length)
{
	launch_on(toy, 0, kernel, length);
}

static inline void wait(struct toy *toy, const char *name)
{
	int64_t end = toy->now + 2 * US;
	for (int i = 0; i < 2; i++)
		end = toy->free_at[i] + 2 * US > end ? toy->free_at[i] + 2 * US : end;
	small_call(&toy->small, toy->now, end, 0, name);
	toy->now = end;
}

static inline void mark(struct toy *toy, int64_t from, const char *format, int number)
{
	char name[64];
	snprintf(name, sizeof name, format, number); /* NOLINT: formats of this file */
	small_span(&toy->small, toy->range, HWY_RANGE, from, toy->now, 0, name);
}

/* Forward and backward of four layers, and an update: 13 launches, 410 us of work. */
static inline void train_step(struct toy *toy)
{
	for (int layer = 0; layer < 4; layer++) {
		launch(toy, "gemm", 20 * US);
		launch(toy, "relu", 10 * US);
	}
	launch(toy, "loss", 10 * US);
	for (int layer = 0; layer < 3; layer++)
		launch(toy, "gemm_backward", 50 * US);
	launch(toy, "update", 10 * US);
	toy->now += 400 * US;
}

static inline void validate_step(struct toy *toy)
{
	for (int layer = 0; layer < 5; layer++)
		launch(toy, layer % 2 ? "gemm_large" : "relu_large", 100 * US);
	launch(toy, "metric", 30 * US);
	toy->now += 200 * US;
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

static inline struct found find(struct toy *toy, const char *step)
{
	return find_in(small_finish(&toy->small), step);
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
