/* SPDX-License-Identifier: Apache-2.0 */
/* window.c - see window.h. The steps are those of the main phase (phases.h). */
#include "analyze/window.h"

#include <ctype.h>
#include <inttypes.h>

#include "analyze/phases/phases.h"
#include "base/lang.h"

enum { SHOWN_STEPS = 3, MOST_PERIODS = 12, SHOWN_LAUNCHES = 24 };

struct steps { /* the steps of the main phase; n is 0 where nothing repeats */
	const struct hwy_trace *trace;
	const struct phase_step *list;
	uint32_t n, first_steady, n_steady;
};

static void window_of_steps(const struct steps *steps, uint32_t from, uint32_t to,
			    struct hwy_window *window)
{
	const struct phase_step *first = &steps->list[from], *last = &steps->list[to];
	window->at.from =
		first->cpu.from < first->device.from ? first->cpu.from : first->device.from;
	window->at.to = last->cpu.to > last->device.to ? last->cpu.to : last->device.to;
	window->steps = (struct hwy_interval){first->device.from, last->device.to};
	window->n_steps = steps->n;
	window->first = from;
	window->last = to;
	window->first_name = first->name;
	window->last_name = last->name;
}

/* Three steady steps from the middle. Where the CPU is so far ahead that the window would hold
 * dozens of steps, the window begins later. */
static void typical_of_steps(const struct steps *steps, int64_t period, struct hwy_window *window)
{
	uint32_t begin = steps->n_steady ? steps->first_steady : 0;
	uint32_t n = steps->n_steady ? steps->n_steady : steps->n,
		 shown = n < SHOWN_STEPS ? n : SHOWN_STEPS;
	uint32_t first = begin + (n - shown) / 2;
	window_of_steps(steps, first, first + shown - 1, window);
	if (period > 0 && (window->at.to - window->at.from) / MOST_PERIODS > period)
		window->at.from = window->at.to - MOST_PERIODS * period;
}

static void typical_of_launches(const struct hwy_flow *flow, struct hwy_window *window)
{
	uint32_t n = flow->n_ops, many = n < SHOWN_LAUNCHES ? n : SHOWN_LAUNCHES,
		 first = (n - many) / 2;
	const struct flow_op *op = &flow->ops[first];
	window->at = (struct hwy_interval){op->start, op->end};
	if (op->call != FLOW_NONE && flow->calls[op->call].start < op->start)
		window->at.from = flow->calls[op->call].start;
	for (uint32_t i = first; i < first + many; i++)
		if (flow->ops[i].end > window->at.to)
			window->at.to = flow->ops[i].end;
}

/* Yields the last number in the name of a mark, or -1 where the name has no number. */
static int64_t last_number_in(const struct hwy_trace *trace, int64_t name)
{
	struct hwy_text text = hwy_text(trace, name);
	uint32_t end = text.length;
	while (end && !isdigit((unsigned char)text.at[end - 1]))
		end--;
	uint32_t begin = end;
	while (begin && isdigit((unsigned char)text.at[begin - 1]))
		begin--;
	int64_t number = begin < end ? 0 : -1;
	for (uint32_t i = begin; i < end && number < INT32_MAX; i++)
		number = number * 10 + (text.at[i] - '0');
	return number;
}

/* The step with the number 'wanted' in its name; the last such step, since warm-up may count
 * from 0 too. Where the marks have no numbers, the step at index 'wanted'. Yields steps->n where
 * there is no such step. */
static uint32_t step_with_number(const struct steps *steps, int64_t wanted)
{
	bool has_numbers = false;
	for (uint32_t i = steps->n; i-- > 0;) {
		int64_t number = last_number_in(steps->trace, steps->list[i].name);
		has_numbers = has_numbers || number >= 0;
		if (number == wanted)
			return i;
	}
	return !has_numbers && wanted < steps->n ? (uint32_t)wanted : steps->n;
}

static bool one_step(const struct steps *steps, int64_t step, struct hwy_window *window,
		     struct hwy_err *err)
{
	if (!steps->n)
		return hwy_fail(err,
				"has no steps: nothing repeats; --from and --to choose by time");
	const char *only = steps->list[0].name != HWY_NONE
				   ? hwy_str(steps->trace, steps->list[0].name)
				   : "step 0";
	uint32_t index = steps->n == 1 && step == 0 ? 0 : step_with_number(steps, step);
	if (index == 1 && steps->n == 1)
		return hwy_fail(err,
				"has no step %" PRId64
				", only %s: nothing repeats; --from and --to "
				"choose by time",
				step, *only ? only : "step 0");
	const char *first = hwy_str(steps->trace, steps->list[0].name);
	if (index == steps->n && *first)
		return hwy_fail(err, "has no step %" PRId64 "; its %" PRIu32 " steps are %s to %s",
				step, steps->n, first,
				hwy_str(steps->trace, steps->list[steps->n - 1].name));
	if (index == steps->n)
		return hwy_fail(err, "has no step %" PRId64 "; its steps are 0 to %" PRIu32, step,
				steps->n - 1);
	window_of_steps(steps, index, index, window);
	return true;
}

static bool window_choose(const struct hwy_flow *flow, const struct hwy_phase *phase, int64_t step,
			  struct hwy_window *window, struct hwy_err *err)
{
	struct steps steps = {.trace = flow->trace};
	/* What has no marks and does not repeat is one step of its own, and shown as one only
	 * where it is asked for. */
	if (phase && (phase->source != PHASE_ONE || step != HWY_NONE))
		steps = (struct steps){flow->trace, phase->steps, phase->n_steps,
				       phase->first_steady, phase->n_steady};
	if (!flow->n_ops)
		return hwy_fail(err, "no device work is recorded; --from and --to choose by time");
	if (step != HWY_NONE) {
		if (!one_step(&steps, step, window, err))
			return false;
	} else if (steps.n) {
		typical_of_steps(&steps, phase->mean, window);
	} else {
		typical_of_launches(flow, window);
	}
	if (window->at.to <= window->at.from)
		window->at.to = window->at.from + 1;
	return true;
}

bool window_find(struct hwy_trace *trace, const char *marks, int64_t step,
		 struct hwy_window *window, struct hwy_err *err)
{
	struct hwy_flow flow;
	struct hwy_phases phases;
	struct phases_options options = {.step = marks};
	*window = (struct hwy_window){0};
	if (!flow_open(&flow, trace, err))
		return false;
	bool done = phases_find(&flow, &options, &phases, err);
	if (done) {
		const struct hwy_phase *main =
			phases.main < phases.n ? &phases.phases[phases.main] : NULL;
		done = window_choose(&flow, main, step, window, err);
		phases_free(&phases);
	}
	flow_close(&flow);
	return done;
}
