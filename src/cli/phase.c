/* SPDX-License-Identifier: Apache-2.0 */
/* phase.c - see phase.h. */
#include "cli/phase.h"

#include "base/lang.h"

void phase_read_number(const struct cli_value *value)
{
	uint64_t number = cli_count(value);
	if (number == 0)
		cli_misuse(value->command, "phases are counted from 1");
	*(uint64_t *)value->field = number;
}

void phase_open(struct chosen_phase *phase, const char *path, const char *step, uint64_t number,
		const char *consequence)
{
	if (!phase_choose(phase, cli_open(path), path, step, number))
		cli_die("%s: no device work: %s", path, hwy_tr(consequence));
}

bool phase_choose(struct chosen_phase *phase, struct hwy_trace *trace, const char *path,
		  const char *step, uint64_t number)
{
	struct analysis_options how = {.step = step};
	struct hwy_err err;
	phase->trace = trace;
	if (!analysis_make(&phase->analysis, phase->trace, &how, &err))
		cli_die("%s: %s", path, err.text);
	const struct hwy_phases *phases = &phase->analysis.phases;
	if (phases->n == 0) {
		phase_close(phase);
		return false;
	}
	if (number > phases->n)
		cli_die("%s: has %u phase%s", path, phases->n, phases->n == 1 ? "" : "s");
	phase->index = number > 0 ? (uint32_t)number - 1 : phases->main;
	return true;
}

void phase_close(struct chosen_phase *phase)
{
	analysis_free(&phase->analysis);
	hwy_trace_free(phase->trace);
}
