/* SPDX-License-Identifier: Apache-2.0 */
/* table_steps.c - phases and steps, as `headway analyze` finds them (analyze/phases/phases.h). */
#include "sql/sql_tables.h"

static const char *const phase_sources[] = {
	[PHASE_MARKS] = "marks",
	[PHASE_SEQUENCE] = "sequence",
	[PHASE_WAITS] = "waits",
	[PHASE_ONE] = "one",
};
enum {
	PHASE_COLUMN_NAME,
	PHASE_COLUMN_SOURCE,
	PHASE_COLUMN_PROCESS,
	PHASE_COLUMN_MAIN,
	PHASE_COLUMN_STEPS,
	PHASE_COLUMN_STEADY,
	PHASE_COLUMN_START,
	PHASE_COLUMN_END,
	PHASE_COLUMN_MEAN,
	PHASE_COLUMN_MEDIAN,
	PHASE_COLUMN_P10,
	PHASE_COLUMN_P90,
	PHASE_COLUMN_BUSY,
	PHASE_COLUMN_IDLE,
};
static const struct sql_column phase_columns[] = {
	[PHASE_COLUMN_NAME] = {"name", SQL_TEXT,
			       .description = "what the names of its steps have in common"},
	[PHASE_COLUMN_SOURCE] =
		{"source", SQL_TEXT,
		 .description =
			 "what its steps are known from: marks, sequence, waits, or one step"},
	[PHASE_COLUMN_PROCESS] = {"process_id", SQL_ROW, .description = "processes.id"},
	[PHASE_COLUMN_MAIN] = {"main", SQL_FLAG, .description = "the phase that took longest"},
	[PHASE_COLUMN_STEPS] = {"steps", SQL_NUMBER, .description = "how many steps it has"},
	[PHASE_COLUMN_STEADY] =
		{"steady_steps", SQL_NUMBER,
		 .description = "how many of them are judged: without warm-up and cut steps"},
	[PHASE_COLUMN_START] = {"start", SQL_TIME,
				.description = "when the first steady step begins on the device"},
	[PHASE_COLUMN_END] = {"end", SQL_TIME,
			      .description = "when the last steady step ends on the device"},
	[PHASE_COLUMN_MEAN] = {"mean", SQL_DURATION, .description = "a steady step"},
	[PHASE_COLUMN_MEDIAN] = {"median", SQL_DURATION, .description = "a steady step"},
	[PHASE_COLUMN_P10] = {"p10", SQL_DURATION,
			      .description = "a tenth of the steady steps are shorter"},
	[PHASE_COLUMN_P90] = {"p90", SQL_DURATION,
			      .description = "a tenth of the steady steps are longer"},
	[PHASE_COLUMN_BUSY] = {"busy", SQL_DURATION,
			       .description = "its devices work in the steady steps, added up"},
	[PHASE_COLUMN_IDLE] =
		{"idle", SQL_DURATION,
		 .description =
			 "its devices are idle in the steady steps, added up; the sum of its gaps"},
};

static bool phases_make(struct sql_source *source, uint32_t *rows, struct hwy_err *err)
{
	if (!sql_source_analysis(source, err))
		return false;
	*rows = source->analysis->phases.n;
	return true;
}

static int64_t phase_process(const struct hwy_phase *phase)
{
	return phase->process == FLOW_NO_PROCESS ? HWY_NONE : phase->process;
}

/* The time in a phase of the devices that its process uses, added up over devices. */
static struct gap_states states_of(const struct sql_source *source, uint32_t phase)
{
	const struct hwy_analysis *analysis = source->analysis;
	struct gap_states sum = {0};
	for (uint32_t d = 0; d < analysis->flow.n_devices; d++)
		if (sql_phase_has_device(source, phase, d))
			gap_states_add(&sum, &analysis->measures[phase].gaps.devices[d]);
	return sum;
}

static struct hwy_cell phase_cell(struct sql_source *source, uint32_t row, uint32_t column)
{
	const struct hwy_phases *phases = &source->analysis->phases;
	const struct hwy_phase *phase = &phases->phases[row];
	switch (column) {
	case PHASE_COLUMN_NAME: return sql_text(hwy_text(source->trace, phase->name));
	case PHASE_COLUMN_SOURCE: return sql_textz(phase_sources[phase->source]);
	case PHASE_COLUMN_PROCESS: return sql_known(phase_process(phase));
	case PHASE_COLUMN_MAIN: return sql_int(row == phases->main);
	case PHASE_COLUMN_STEPS: return sql_int(phase->n_steps);
	case PHASE_COLUMN_STEADY: return sql_int(phase->n_steady);
	case PHASE_COLUMN_START: return sql_int(phase->window.from);
	case PHASE_COLUMN_END: return sql_int(phase->window.to);
	case PHASE_COLUMN_MEAN: return sql_int(phase->mean);
	case PHASE_COLUMN_MEDIAN: return sql_int(phase->median);
	case PHASE_COLUMN_P10: return sql_int(phase->p10);
	case PHASE_COLUMN_P90: return sql_int(phase->p90);
	case PHASE_COLUMN_BUSY: return sql_int(states_of(source, row).busy);
	case PHASE_COLUMN_IDLE: return sql_int(states_of(source, row).idle);
	default: return sql_none();
	}
}

const struct sql_table table_phases = {.name = "phases",
				       .about = "stretches of the run with one kind of step",
				       SQL_COLUMNS(phase_columns),
				       .make = phases_make,
				       .cell = phase_cell};

enum {
	STEP_PHASE,
	STEP_NUMBER,
	STEP_NAME,
	STEP_PROCESS,
	STEP_RANK,
	STEP_START,
	STEP_END,
	STEP_DURATION,
	STEP_CPU_START,
	STEP_CPU_END,
	STEP_BUSY,
	STEP_CALLS,
	STEP_STEADY,
	STEP_WARM_UP,
	STEP_CUT,
	STEP_OUTLIER,
};
static const struct sql_column step_columns[] = {
	[STEP_PHASE] = {"phase", SQL_ROW, .description = "phases.id"},
	[STEP_NUMBER] = {"number", SQL_NUMBER,
			 .description = "the step's place in its phase, from 0"},
	[STEP_NAME] = {"name", SQL_TEXT, .description = "the step's mark, where it has one"},
	[STEP_PROCESS] = {"process_id", SQL_ROW, .description = "processes.id"},
	[STEP_RANK] = {"rank", SQL_NUMBER, .description = "the rank of the process in its job"},
	[STEP_START] = {"start", SQL_TIME,
			.description = "the first start of the step's work on the device"},
	[STEP_END] =
		{"end", SQL_TIME,
		 .description =
			 "the first start of the next step's work; of the last, the end of its own"},
	[STEP_DURATION] = {"duration", SQL_DURATION,
			   .description = "from start to end: the time of one turn of the loop"},
	[STEP_CPU_START] = {"cpu_start", SQL_TIME,
			    .description = "when the step begins on the CPU"},
	[STEP_CPU_END] = {"cpu_end", SQL_TIME, .description = "when the step ends on the CPU"},
	[STEP_BUSY] = {"busy", SQL_DURATION, .description = "the device works inside the step"},
	[STEP_CALLS] = {"calls", SQL_NUMBER,
			.description = "launches, waits and other calls of the step"},
	[STEP_STEADY] = {"steady", SQL_FLAG,
			 .description = "judged by analyze: neither warm-up nor cut"},
	[STEP_WARM_UP] = {"warm_up", SQL_FLAG, .description = "stands before the steady steps"},
	[STEP_CUT] = {"cut", SQL_FLAG,
		      .description = "the last step, whose time is not a whole turn"},
	[STEP_OUTLIER] = {"outlier", SQL_FLAG,
			  .description = "a steady step whose length is far from the median"},
};

static bool steps_make(struct sql_source *source, uint32_t *rows, struct hwy_err *err)
{
	if (!sql_source_steps(source, err))
		return false;
	*rows = source->n_steps;
	return true;
}

static struct hwy_cell step_cell_of(struct sql_source *source, uint32_t row, uint32_t column)
{
	const struct sql_step *at = &source->steps[row];
	const struct hwy_phase *phase = &source->analysis->phases.phases[at->phase];
	const struct phase_step *step = &phase->steps[at->number];
	const struct hwy_process *process = sql_process(source->trace, phase_process(phase));
	switch (column) {
	case STEP_PHASE: return sql_int(at->phase);
	case STEP_NUMBER: return sql_int(at->number);
	case STEP_NAME: return sql_text(hwy_text(source->trace, step->name));
	case STEP_PROCESS: return sql_known(phase_process(phase));
	case STEP_RANK: return sql_known(process ? process->rank : HWY_NONE);
	case STEP_START: return sql_int(step->device.from);
	case STEP_END: return sql_int(step->device.to);
	case STEP_DURATION: return sql_int(hwy_between(step->device.from, step->device.to));
	case STEP_CPU_START: return sql_int(step->cpu.from);
	case STEP_CPU_END: return sql_int(step->cpu.to);
	case STEP_BUSY: return sql_int(step->busy);
	case STEP_CALLS: return sql_int(step->n_calls);
	case STEP_STEADY:
		return sql_int(at->number >= phase->first_steady &&
			       at->number < phase->first_steady + phase->n_steady);
	case STEP_WARM_UP: return sql_int(step->is_warm_up);
	case STEP_CUT: return sql_int(step->is_cut);
	case STEP_OUTLIER: return sql_int(step->is_outlier);
	default: return sql_none();
	}
}

const struct sql_table table_steps = {.name = "steps",
				      .about = "turns of the program's loop",
				      SQL_COLUMNS(step_columns),
				      .make = steps_make,
				      .cell = step_cell_of};
