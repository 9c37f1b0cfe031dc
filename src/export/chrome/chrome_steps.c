/* chrome_steps.c - our steps as ProfilerStep#N, by which tools for PyTorch's traces find theirs.
 *
 * Not for Kineto's own traces: those that have no marks stay as they are.
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
	chrome_put_place(out, lane, 0);
	out_literal(out, ", \"ts\": ");
	out_us(out, step->cpu.from + c->shift);
	out_literal(out, ", \"dur\": ");
	out_us(out, step->cpu.to - step->cpu.from);
	out_literal(out, ", \"args\": {}}");
}

/* They have a row of their own: a step may begin and end in the middle of something. */
static void write_phase(struct chrome *c, const struct hwy_phase *phase)
{
	struct chrome_lane lane = chrome_own_row(
		c, phase->process != FLOW_NO_PROCESS ? phase->process : HWY_NONE, "steps");
	for (uint32_t i = 0; i < phase->n_steps; i++)
		if (phase->steps[i].n_calls > 0)
			write_step(c, &lane, &phase->steps[i], i);
}

void chrome_write_steps(struct chrome *c)
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
