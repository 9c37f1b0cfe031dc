/* SPDX-License-Identifier: Apache-2.0 */
/* chrome_steps.c - writes the steps that Headway found as ProfilerStep#N, the name that tools for
 * PyTorch look for.
 *
 * A trace of Kineto gets no such steps: where the user marked none, its file stays as it was.
 */
#include "analyze/phases/phases.h"
#include "export/chrome/chrome.h"

static void write_step(struct chrome *c, const struct chrome_lane *lane,
		       const struct phase_step *step, uint32_t number)
{
	struct out *out = &c->out;
	chrome_next(c);
	out_literal(out, "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#");
	out_int(out, number);
	out_char(out, '"');
	chrome_spans_put_place(out, lane, 0);
	out_literal(out, ", \"ts\": ");
	out_us(out, step->cpu.from + c->shift);
	out_literal(out, ", \"dur\": ");
	out_us(out, step->cpu.to - step->cpu.from);
	out_literal(out, ", \"args\": {}}");
}

/* Steps get a row of their own, because a step may begin and end in the middle of a call. */
static void write_phase(struct chrome *c, const struct hwy_phase *phase)
{
	struct chrome_lane lane = chrome_ids_own_row(
		c, phase->process != FLOW_NO_PROCESS ? phase->process : HWY_NONE, "steps");
	for (uint32_t i = 0; i < phase->n_steps; i++)
		if (phase->steps[i].n_calls > 0)
			write_step(c, &lane, &phase->steps[i], i);
}

void chrome_steps_write(struct chrome *c)
{
	struct hwy_flow flow;
	struct hwy_phases phases;
	struct phases_options how = {0};
	struct hwy_err ignored;
	if (c->x.is_kineto || c->x.options->plain || export_is_cut(&c->x) ||
	    !flow_open(&flow, c->x.trace, &ignored))
		return;
	if (phases_find(&flow, &how, &phases, &ignored)) {
		if (phases.main < phases.n && phases.phases[phases.main].source != PHASE_ONE)
			write_phase(c, &phases.phases[phases.main]);
		phases_free(&phases);
	}
	flow_close(&flow);
}
