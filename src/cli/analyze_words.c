/* SPDX-License-Identifier: Apache-2.0 */
/* analyze_words.c - see analyze_print.h. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/fold.h"
#include "base/lang.h"
#include "base/path.h"
#include "base/say.h"
#include "base/shell_word.h"
#include "cli/analyze_print.h"
#include "cli/kernels_measure.h"
#include "cli/kit/cli.h"

const struct hwy_phase *analyze_main(const struct analyze_run *run)
{
	const struct hwy_phases *phases = &run->analysis.phases;
	return phases->main < phases->n ? &phases->phases[phases->main] : NULL;
}

void analyze_put(FILE *out, const char *text)
{
	cli_put(out, text, strlen(text));
}

struct analyze_name analyze_program(const struct analyze_run *run)
{
	enum { MOST_BYTES = 127 };
	struct analyze_name name;
	const struct hwy_phase *phase = analyze_main(run);
	const struct hwy_trace *trace = run->trace;
	const char *command = phase && phase->process < trace->n_processes
				      ? hwy_str(trace, trace->processes[phase->process].command)
				      : "";
	size_t length = sizeof name.text - 1;
	const char *program = hwy_basename(run->path);
	if (*command) {
		program = hwy_program_name(command, &length);
		length = length < MOST_BYTES ? length : MOST_BYTES;
	}
	snprintf(name.text, sizeof name.text, "%.*s", (int)length, program);
	return name;
}

/* Writes a path of ranges with N for numbers that count them: "step_7 > load" is "step_N >
 * load". */
static void analyze_words_put_folded(FILE *out, const char *path)
{
	char *folded = hwy_copy(path, strlen(path) + 1);
	hwy_fold_numbers(folded);
	analyze_put(out, folded);
	free(folded);
}

/* Of a path of ranges only the two innermost are shown: writes "… > " for the others, and yields
 * where the two begin. */
static const char *put_inner(FILE *out, const char *path)
{
	const char *last = path, *before = path;
	for (const char *arrow = path; (arrow = strstr(arrow, " > ")); arrow += 3) {
		before = last;
		last = arrow + 3;
	}
	if (before != path)
		fputs("… > ", out);
	return before;
}

void analyze_put_place(FILE *out, const struct hwy_place *place)
{
	if (*place->file && place->line > 0) {
		analyze_put(out, hwy_basename(place->file));
		fprintf(out, ":%" PRId64, place->line);
		if (*place->function) {
			fputc(' ', out);
			analyze_put(out, place->function);
			fputs(strchr(place->function, '(') ? "" : "()", out);
		}
		return;
	}
	const char *first = *place->function ? place->function : place->range;
	if (!*place->function)
		first = put_inner(out, first);
	if (*place->function)
		analyze_put(out, first);
	else
		analyze_words_put_folded(out, first);
	if (*first && *place->api)
		fputs(" · ", out);
	analyze_put(out, place->api);
}

void analyze_put_finding_place(FILE *out, const struct hwy_finding_place *place)
{
	analyze_put_place(out, &place->at);
	if (*place->layer) {
		fputs(hwy_tr(" in "), out);
		analyze_put(out, place->layer);
	}
}

void analyze_put_steps(FILE *out, const struct analyze_run *run, const struct hwy_phase *phase)
{
	static const char *const how[] = {
		[PHASE_SEQUENCE] = HWY_KEY(", found without marks"),
		[PHASE_WAITS] = HWY_KEY(", told apart by their waits"),
		[PHASE_ONE] = HWY_KEY(": nothing repeats"),
	};
	fprintf(out, hwy_tr("%" PRIu32 " step%s"), phase->n_steps, phase->n_steps == 1 ? "" : "s");
	if (phase->source != PHASE_MARKS) {
		fputs(hwy_tr(how[phase->source]), out);
	} else if (*hwy_str(run->trace, phase->name)) {
		fputs(hwy_tr_word(HWY_KEY("open| (")), out);
		analyze_put(out, hwy_str(run->trace, phase->name));
		/* A name that ends with a parenthesis is a function, and whole: "jit(step)". */
		const char *name = hwy_str(run->trace, phase->name);
		fputs(name[strlen(name) - 1] == ')' ? "" : "…", out);
		fputs(hwy_tr_word(HWY_KEY("close|)")), out);
	}
	if (phase->n_steady < phase->n_steps)
		fprintf(out, hwy_tr(", %" PRIu32 " of them steady"), phase->n_steady);
}

struct gap_states analyze_states(const struct analyze_run *run, uint32_t phase, uint32_t *n)
{
	struct gap_states sum = {0};
	const struct hwy_gaps *gaps = &run->analysis.measures[phase].gaps;
	*n = 0;
	for (uint32_t d = 0; d < run->analysis.flow.n_devices; d++) {
		if (gaps->devices[d].busy == 0)
			continue;
		++*n;
		gap_states_add(&sum, &gaps->devices[d]);
	}
	return sum;
}

void analyze_put_causes(FILE *out, const struct gap_states *states)
{
	const char *open = hwy_tr_word(HWY_KEY("open| (")), *before = open;
	bool done[GAP_CAUSES] = {false};
	for (int k = 0; k < 3 && states->idle > 0; k++) {
		unsigned top = GAP_CAUSES;
		for (unsigned cause = 0; cause < GAP_CAUSES; cause++)
			if (!done[cause] &&
			    (top == GAP_CAUSES || states->causes[cause] > states->causes[top]))
				top = cause;
		done[top] = true;
		double share = (double)states->causes[top] / (double)states->idle;
		if (share < 0.05)
			break;
		fprintf(out, "%s%s %s", before, hwy_tr(gap_cause_names[top]),
			hwy_say_share(share).text);
		before = hwy_tr(", ");
	}
	if (before != open)
		fputs(hwy_tr_word(HWY_KEY("close|)")), out);
}

/* Parts of the time below this share are left out. */
#define LEAST_PART 0.001
/* Parts as they are said add up to 100 % but for so much. */
#define MOST_OFF_PERCENT 0.5

void analyze_put_states(FILE *out, const struct gap_states *states)
{
	const struct {
		const char *name;
		int64_t ns;
	} parts[] = {
		{HWY_KEY("compute"), states->compute},
		{HWY_KEY("comm"), states->exposed_comm},
		{HWY_KEY("copy"), states->exposed_copy},
		{HWY_KEY("fill"), states->fill},
	};
	enum { PARTS = sizeof parts / sizeof *parts };
	double window = states->window > 0 ? (double)states->window : 1, sum = 0;
	double shares[PARTS + 1] = {[PARTS] = (double)states->idle / window};
	for (size_t i = 0; i < PARTS; i++)
		shares[i] = (double)parts[i].ns / window;
	for (size_t i = 0; i <= PARTS; i++)
		sum += i == 0 || shares[i] >= LEAST_PART
			       ? strtod(hwy_say_share(shares[i]).text, NULL)
			       : 0;
	/* Whole percents that seem to be too much, or too little, get one more digit. */
	struct hwy_words (*say)(double share) =
		fabs(sum - 100) > MOST_OFF_PERCENT ? hwy_say_share_1decimal : hwy_say_share;
	for (size_t i = 0; i < PARTS; i++)
		if (i == 0 || shares[i] >= LEAST_PART)
			fprintf(out, "%s %s · ", hwy_tr(parts[i].name), say(shares[i]).text);
	fprintf(out, hwy_tr("idle %s"), say(shares[PARTS]).text);
}

const char *analyze_of_step(const struct hwy_phase *phase)
{
	return hwy_tr(phase->source == PHASE_ONE ? "in all" : "a step");
}

void analyze_put_headway(FILE *out, const struct analyze_run *run, uint32_t phase)
{
	const struct hwy_phase *one = &run->analysis.phases.phases[phase];
	const struct hwy_lead *best = NULL;
	for (uint32_t d = 0;
	     run->analysis.measures[phase].leads && d < run->analysis.flow.n_devices; d++)
		if (!best || run->analysis.measures[phase].leads[d].max_work > best->max_work)
			best = &run->analysis.measures[phase].leads[d];
	if (!best)
		return;
	int64_t window = one->window.to - one->window.from;
	bool is_mostly_empty = window > 0 && best->empty > window / 2;
	if (is_mostly_empty)
		fprintf(out, hwy_tr("headway 0 for %s of the time, at most %s"),
			hwy_say_share((double)best->empty / (double)window).text,
			hwy_say_time3(best->max_work).text);
	else if (best->steps >= 2)
		fprintf(out, hwy_tr("headway %s: the CPU is %.0f steps ahead"),
			hwy_say_time3(best->mean_work).text, best->steps);
	else
		fprintf(out, hwy_tr("headway up to %s of queued work"),
			hwy_say_time3(best->max_work).text);
}

struct hwy_interval analyze_typical(const struct hwy_phase *phase)
{
	uint32_t best = phase->first_steady;
	uint32_t end = phase->first_steady + phase->n_steady;
	int64_t nearest = INT64_MAX, launching = phase->steps[phase->n_steps - 1].cpu.from;
	for (uint32_t i = phase->first_steady; i < end; i++) {
		if (nearest != INT64_MAX && phase->steps[i].device.from > launching)
			break;
		const struct hwy_interval *step = &phase->steps[i].device;
		int64_t off = llabs(step->to - step->from - phase->median);
		if (off < nearest && (i + 1 < end || nearest == INT64_MAX)) {
			nearest = off;
			best = i;
		}
	}
	uint32_t last = best + 1 < end ? best + 1 : best;
	return (struct hwy_interval){phase->steps[best].device.from, phase->steps[last].device.to};
}

uint64_t analyze_lost(const struct hwy_trace *trace)
{
	uint64_t lost = 0;
	for (uint32_t i = 0; i < trace->n_drops; i++)
		lost += trace->drops[i].count > 0 ? (uint64_t)trace->drops[i].count : 0;
	return lost;
}

bool analyze_next_line(const char **advice, struct analyze_line *line)
{
	const char *text = *advice;
	if (!*text)
		return false;
	size_t n = strcspn(text, "\n");
	bool is_code = n > 2 && strncmp(text, "  ", 2) == 0;
	size_t skipped = is_code ? 2 : 0;
	*line = (struct analyze_line){text + skipped, (int)(n - skipped), is_code};
	*advice = text + n + (text[n] == '\n');
	return true;
}

/* ---- what a finding is worth ----------------------------------------------------------------- */

/* Writes a time without its unit where the next time has the same unit: "10.9 → 10.4 ms". */
static void analyze_words_put_number(FILE *out, int64_t ns, int64_t next)
{
	struct hwy_words text = hwy_say_time3(ns), other = hwy_say_time3(next);
	const char *unit = strrchr(text.text, ' '), *its = strrchr(other.text, ' ');
	bool same = unit && its && strcmp(unit, its) == 0;
	fprintf(out, "%.*s", same ? (int)(unit - text.text) : (int)strlen(text.text), text.text);
}

void analyze_put_top_kernel(FILE *out, const struct hwy_top_kernel *kernel)
{
	enum { NAME_BYTES = 72, MEASURED_NAME_BYTES = 46 }; /* a line has 100 columns */
	char name[NAME_BYTES];
	size_t most = *kernel->bound ? MEASURED_NAME_BYTES : NAME_BYTES;
	snprintf(name, most, "%s", kernel->name);
	fprintf(out, "    %6s  ", hwy_say_share(kernel->share).text);
	analyze_put(out, name);
	if (strlen(kernel->name) >= most)
		fputs("…", out);
	if (*kernel->bound)
		fprintf(out, "   %s", hwy_tr(kernel->bound));
	if (!isnan(kernel->of_roof))
		fprintf(out, hwy_tr(", %s of the roof"), hwy_say_share(kernel->of_roof).text);
	fputc('\n', out);
}

char *analyze_say_kernels(const struct analyze_run *run, const struct hwy_outlook *verdict)
{
	char *text = NULL;
	bool is_measured = true;
	for (uint32_t i = 0; i < verdict->n_kernels; i++)
		is_measured &= *verdict->kernels[i].bound != '\0';
	if (!*verdict->ncu)
		return hwy_copy("", 1);
	if (!is_measured)
		return kernels_say_measure(run->trace, run->path);
	if (asprintf(&text, "headway kernels %s", hwy_shell_word(run->path).text) < 0)
		cli_die("out of memory");
	return text;
}

void analyze_put_health(FILE *out, const struct hwy_outlook *verdict)
{
	/* A healthy phase whose devices idle more than this share: between work that was queued
	 * in time. */
	const double pauses_share = 0.05;
	if (verdict->reachable >= pauses_share)
		fprintf(out,
			hwy_tr("Nothing on the CPU side starves the GPU; the %s it idles lie between work queued in time."),
			hwy_say_share(verdict->reachable).text);
	else
		fprintf(out,
			hwy_tr("Nothing starves the GPU. No fix on the CPU side is worth more than %s."),
			hwy_say_share(verdict->reachable > 0.001 ? verdict->reachable : 0.001)
				.text);
}

void analyze_put_worth(FILE *out, const struct hwy_finding *finding, const struct hwy_phase *phase)
{
	const struct hwy_predicted *p = &finding->predicted;
	if (!p->is_known) {
		fprintf(out, hwy_tr("%s of %s (%s)"), hwy_say_time3(finding->cost).text,
			hwy_say_time3(phase->mean).text, hwy_say_share(finding->share).text);
		return;
	}
	analyze_words_put_number(out, p->before, p->step);
	fprintf(out, " → %s (", hwy_say_time3(p->step).text);
	if (p->speedup >= 1.02)
		fprintf(out, "%.*f×, ", p->speedup < 10 ? 2 : 0, p->speedup);
	analyze_words_put_number(out, p->p10, p->p90);
	fprintf(out, " – %s)", hwy_say_time3(p->p90).text);
}
