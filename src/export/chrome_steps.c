/* chrome_steps.c - our steps as ProfilerStep#N, by which tools for PyTorch's traces find theirs.
 *
 * Not for Kineto's own traces: those that have no marks stay as they are.
 */
#include "analyze/phases.h"
#include "export/chrome.h"

static void write_step(struct chrome *c, const struct hwy_flow *flow, const struct phase_step *step,
		       uint32_t number)
{
	struct out *out = &c->out;
	const struct hwy_trace *trace = c->x.trace;
	if (step->n_calls == 0)
		return;
	uint32_t row;
	const struct hwy_strip *strip =
		hwy_strip_of(trace, flow->calls[step->first_call].span, &row);
	const struct chrome_lane *lane = &c->lanes[strip->lane];
	chrome_next(c);
	out_literal(out, "{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#");
	out_int(out, number);
	out_literal(out, "\", \"pid\": ");
	out_z(out, lane->pid);
	out_literal(out, ", \"tid\": ");
	out_z(out, lane->tid);
	out_literal(out, ", \"ts\": ");
	out_us(out, step->cpu.from + c->shift);
	out_literal(out, ", \"dur\": ");
	out_us(out, step->cpu.to - step->cpu.from);
	out_literal(out, ", \"args\": {}}");
}

bool chrome_write_steps(struct chrome *c)
{
	const struct export_options *options = c->x.options;
	struct hwy_flow flow;
	struct hwy_phases phases;
	struct phases_options how = {0};
	struct hwy_err ignored;
	if (c->x.is_kineto || c->x.filtered || c->x.lanes || options->kinds != UINT32_MAX)
		return true;
	if (!flow_open(&flow, c->x.trace, &ignored))
		return true;
	if (phases_find(&flow, &how, &phases, &ignored)) {
		const struct hwy_phase *phase =
			phases.main < phases.n ? &phases.phases[phases.main] : NULL;
		for (uint32_t i = 0; phase && phase->source != PHASE_ONE && i < phase->n_steps; i++)
			write_step(c, &flow, &phase->steps[i], i);
		phases_free(&phases);
	}
	flow_close(&flow);
	return true;
}
