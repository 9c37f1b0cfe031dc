/* SPDX-License-Identifier: Apache-2.0 */
/* table_gaps.c - the times in which a device of a phase is idle, each with its cause, as
 * `headway analyze` finds them. The rows are the gaps of all phases, phase by phase, on the
 * devices that the phase's process uses; their durations add up to the phase's idle time. */
#include "base/search.h"
#include "sql/sql_tables.h"

enum {
	GAP_PHASE,
	GAP_STEP,
	GAP_DEVICE_ID,
	GAP_DEVICE,
	GAP_START,
	GAP_END,
	GAP_DURATION,
	GAP_CAUSE,
	GAP_OP,
	GAP_CALL,
	GAP_SPAN,
	GAP_NAME,
};
static const struct sql_column gap_columns[] = {
	[GAP_PHASE] = {"phase", SQL_ROW, .description = "phases.id"},
	[GAP_STEP] = {"step", SQL_ROW, .description = "steps.id"},
	[GAP_DEVICE_ID] = {"device_id", SQL_ROW, .description = "devices.id"},
	[GAP_DEVICE] = {"device", SQL_NUMBER, .description = "the number of the device"},
	[GAP_START] = {"start", SQL_TIME, .description = "when the device became idle"},
	[GAP_END] = {"end", SQL_TIME, .description = "when it had work again"},
	[GAP_DURATION] = {"duration", SQL_DURATION, .description = "from start to end"},
	[GAP_CAUSE] =
		{"cause", SQL_TEXT,
		 .description =
			 "blocked, launch, input, os, cpu, dependency, alloc, module, drain, first-use, missing, "
			 "comm, gc, gil or unknown (docs/gaps.md)"},
	[GAP_OP] = {"op", SQL_ROW, .description = "spans.id of the work that ends the gap"},
	[GAP_CALL] = {"call", SQL_ROW, .description = "api.id of the call to blame"},
	[GAP_SPAN] = {"span", SQL_ROW, .description = "spans.id of what the CPU did meanwhile"},
	[GAP_NAME] = {"name", SQL_TEXT,
		      .description = "the name of what the CPU did, else of the call to blame"},
};

/* Adds the gaps of a phase, without those of devices that its process does not use. */
static void add_gaps(struct sql_source *source, uint32_t phase)
{
	const struct hwy_gaps *gaps = &source->analysis->measures[phase].gaps;
	uint32_t device = UINT32_MAX;
	bool is_used = false;
	for (uint32_t i = 0; i < gaps->n; i++) {
		if (gaps->gaps[i].device != device) {
			device = gaps->gaps[i].device;
			is_used = sql_phase_has_device(source, phase, device);
		}
		if (is_used)
			source->gaps[source->n_gaps++] = (struct sql_gap){phase, i};
	}
}

static bool gaps_make(struct sql_source *source, uint32_t *rows, struct hwy_err *err)
{
	/* Names of any kind may be asked for. */
	if (!sql_source_steps(source, err) ||
	    !hwy_need(source->trace, HWY_KIND_BIT(HWY_KINDS) - 1, HWY_COL_BIT(HWY_NAME), err))
		return false;
	const struct hwy_analysis *analysis = source->analysis;
	uint32_t cap = 0;
	for (uint32_t p = 0; p < analysis->phases.n && !source->gaps; p++)
		cap += analysis->measures[p].gaps.n;
	if (!source->gaps)
		source->gaps = hwy_array(cap, sizeof *source->gaps);
	for (uint32_t p = 0; p < analysis->phases.n && cap; p++)
		add_gaps(source, p);
	*rows = source->n_gaps;
	return true;
}

/* The row of the table steps that a step of a phase has. */
static struct hwy_cell gap_step(const struct sql_source *source, uint32_t phase, uint32_t number)
{
	const struct hwy_phase *of = &source->analysis->phases.phases[phase];
	if (number >= of->n_steps)
		return sql_none();
	int64_t start = of->steps[number].device.from;
	uint32_t row = HWY_FIRST(i, 0u, source->n_steps,
				 source->steps[i].process > of->process ||
					 (source->steps[i].process == of->process &&
					  source->steps[i].device.from >= start));
	for (; row < source->n_steps && source->steps[row].process == of->process; row++)
		if (source->steps[row].phase == phase && source->steps[row].number == number)
			return sql_int(row);
	return sql_none();
}

static struct hwy_cell gap_name(const struct sql_source *source, uint32_t span)
{
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(source->trace, span, &row);
	return sql_text(hwy_text(source->trace, hwy_get(strip, HWY_NAME, row)));
}

static struct hwy_cell gap_blamed(const struct sql_source *source, const struct hwy_gap *gap,
				  uint32_t column)
{
	const struct hwy_flow *flow = &source->analysis->flow;
	bool has_call = gap->culprit != FLOW_NONE;
	uint32_t call = has_call ? flow->calls[gap->culprit].span : 0;
	switch (column) {
	case GAP_CALL: return has_call ? sql_int(call) : sql_none();
	case GAP_SPAN: return gap->span ? sql_int(gap->span - 1) : sql_none();
	default:
		return gap->span  ? gap_name(source, gap->span - 1)
		       : has_call ? gap_name(source, call)
				  : sql_none();
	}
}

static struct hwy_cell gap_cell(struct sql_source *source, uint32_t row, uint32_t column)
{
	const struct hwy_analysis *analysis = source->analysis;
	uint32_t phase = source->gaps[row].phase;
	const struct hwy_gap *gap = &analysis->measures[phase].gaps.gaps[source->gaps[row].number];
	int64_t device = analysis->flow.devices[gap->device].device;
	switch (column) {
	case GAP_PHASE: return sql_int(phase);
	case GAP_STEP: return gap_step(source, phase, gap->step);
	case GAP_DEVICE_ID: return sql_known(device);
	case GAP_DEVICE:
		return sql_known(device == HWY_NONE ? HWY_NONE
						    : source->trace->devices[device].ordinal);
	case GAP_START: return sql_int(gap->at.from);
	case GAP_END: return sql_int(gap->at.to);
	case GAP_DURATION: return sql_int(hwy_between(gap->at.from, gap->at.to));
	case GAP_CAUSE: return sql_textz(gap_cause_names[gap->cause]);
	case GAP_OP:
		return gap->op == FLOW_NONE ? sql_none()
					    : sql_int(analysis->flow.ops[gap->op].span);
	default: return gap_blamed(source, gap, column);
	}
}

const struct sql_table table_gaps = {
	.name = "gaps",
	.about = "times in which a device is idle inside the steady steps, and why",
	SQL_COLUMNS(gap_columns),
	.make = gaps_make,
	.cell = gap_cell};
