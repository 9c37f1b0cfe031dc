/* SPDX-License-Identifier: Apache-2.0 */
/* analyze_brief.c - the diagnosis in under 2 kB of plain lines, for scripts and language models:
 * what, why, findings with place, cost and the first line of advice, what is innocent. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/memory_text.h"
#include "base/say.h"
#include "cli/analyze_print.h"
#include "cli/kit/cli.h"

enum { LIMIT_BYTES = 2000, FINDINGS = 3, ACQUITTALS = 4 };

static void analyze_brief_put_finding(FILE *out, const struct hwy_finding *finding,
				      const struct hwy_phase *phase, uint32_t number)
{
	fprintf(out, hwy_tr("%" PRIu32 ". %s: "), number, finding->kind->id);
	/* A language that says "a step" before the time does so here, and not behind it. */
	bool repeats = phase->source != PHASE_ONE;
	fputs(repeats ? hwy_tr_word(HWY_KEY("a step before a cost|")) : "", out);
	analyze_put_worth(out, finding, phase);
	int advice_length = (int)strcspn(finding->advice, "\n");
	if (finding->n_places) {
		fputs(hwy_tr(repeats ? " a step at " : " at "), out);
		analyze_put_finding_place(out, &finding->places[0]);
		fprintf(out, hwy_tr(". %s Fix: %.*s\n"), finding->says, advice_length,
			finding->advice);
	} else {
		fprintf(out, hwy_tr(repeats ? " a step. %s Fix: %.*s\n" : ". %s Fix: %.*s\n"),
			finding->says, advice_length, finding->advice);
	}
}

static void analyze_brief_put_all(FILE *out, const struct analyze_view *view)
{
	const struct analyze_run *run = &view->runs[view->shown];
	const struct hwy_phase *phase = analyze_main(run);
	const struct hwy_diagnosis *diagnosis = &run->diagnosis;
	analyze_put_runs(out, view, 0, 0);
	analyze_put(out, analyze_program(run).text);
	if (!phase) {
		fputs(hwy_tr(": no device work in this recording.\n"), out);
		analyze_put_contents(out, run, 0);
		return;
	}
	uint32_t main = run->analysis.phases.main, n;
	const struct hwy_outlook *verdict = &diagnosis->outlooks[main];
	struct gap_states states = analyze_states(run, main, &n);
	fputs(hwy_tr(": "), out);
	analyze_put_steps(out, run, phase);
	if (phase->n_steady > 1)
		fprintf(out, hwy_tr("; step %s (median %s, p10 %s, p90 %s)\n"),
			hwy_say_time3(phase->mean).text, hwy_say_time3(phase->median).text,
			hwy_say_time3(phase->p10).text, hwy_say_time3(phase->p90).text);
	else
		fprintf(out, hwy_tr("; %s %s\n"), hwy_say_time3(phase->mean).text,
			analyze_of_step(phase));
	fputs(hwy_tr("GPU: "), out);
	analyze_put_states(out, &states);
	analyze_put_causes(out, &states);
	fputc('\n', out);
	fprintf(out, hwy_tr("Verdict: %s. "), verdict_name(&diagnosis->verdict, true).text);
	analyze_put_verdict(out, run);
	fputc('\n', out);
	for (uint32_t i = 0; i < diagnosis->n && i < FINDINGS; i++)
		analyze_brief_put_finding(
			out, &diagnosis->findings[i],
			&run->analysis.phases.phases[diagnosis->findings[i].phase], i + 1);
	for (uint32_t i = 0; i < diagnosis->n_acquitted && i < ACQUITTALS; i++)
		fprintf(out, hwy_tr("Not guilty: %s (%s)\n"), diagnosis->acquitted[i].kind->id,
			hwy_say_share(diagnosis->acquitted[i].share).text);
	for (uint32_t i = 0; i < diagnosis->n_cannot && i < 2; i++)
		fprintf(out, hwy_tr("Cannot tell: %s, because %s.\n"), diagnosis->cannot[i].what,
			diagnosis->cannot[i].because);
	if (verdict->is_healthy && verdict->n_kernels) {
		fputs(hwy_tr("Next: "), out);
		char *command = analyze_say_kernels(run, verdict);
		analyze_put(out, *command ? command : verdict->inside);
		free(command);
		fputc('\n', out);
	}
}

void analyze_write_brief(FILE *out, struct memory_text *memory)
{
	char *text = memory_text_end(memory);
	size_t size = memory->length;
	if (size >= LIMIT_BYTES) {
		/* The brief ends with the last whole line that fits the limit. */
		size = LIMIT_BYTES - 1;
		while (size && text[size - 1] != '\n')
			size--;
	}
	fwrite(text, 1, size, out);
	free(text);
}

void analyze_print_brief(FILE *out, const struct analyze_view *view)
{
	struct memory_text memory;
	analyze_brief_put_all(memory_text_begin(&memory), view);
	analyze_write_brief(out, &memory);
}
