/* SPDX-License-Identifier: Apache-2.0 */
/* analyze_verdict.c - the verdict, what of the recording it is about, and the loops inside a step:
 * as text and as JSON. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/serving.h"
#include "base/json_fields.h"
#include "base/lang.h"
#include "base/memory_text.h"
#include "base/say.h"
#include "cli/analyze_print.h"
#include "cli/kit/cli.h"

/* Where the judged steps cover less than this share of the recording, the text says so. */
#define COVERS_LITTLE_SHARE 0.5
/* Parts of the account below this share of the recording are left out of the text. */
#define SMALL_PART_SHARE 0.02

void analyze_put_verdict(FILE *out, const struct analyze_run *run)
{
	analyze_put(out, run->diagnosis.verdict.says);
}

/* Says what was compiled before the steady steps, where that took long. */
static void put_compiled(FILE *out, const struct verdict_account *account)
{
	const struct compilations *compiled = &account->compiled;
	if (compiled->total == 0 ||
	    (double)compiled->total < SMALL_PART_SHARE * (double)account->recording)
		return;
	fprintf(out, hwy_tr(" Compiling takes %s of that"), hwy_say_time3(compiled->total).text);
	const char *before = hwy_tr(": ");
	if (compiled->n) {
		fprintf(out, hwy_tr("%sXLA compiles %s, the longest "), before,
			hwy_say_count_of(compiled->n, "function", "functions").text);
		analyze_put(out, compiled->longest);
		fprintf(out, hwy_tr(" with %s"), hwy_say_time3(compiled->longest_ns).text);
		before = hwy_tr("; ");
	}
	if (compiled->n_processes) {
		fprintf(out, hwy_tr("%s%s of compilers ("), before,
			hwy_say_count_of(compiled->n_processes, "process", "processes").text);
		analyze_put(out, compiled->programs);
		fprintf(out, hwy_tr(") for %s"), hwy_say_time3(compiled->in_processes).text);
	}
	fputs(hwy_tr("."), out);
}

static void put_account(FILE *out, const struct analyze_run *run)
{
	const struct verdict *verdict = &run->diagnosis.verdict;
	const struct verdict_account *account = &verdict->account;
	const struct {
		int64_t ns;
		const char *words;
	} parts[] = {{account->before_calls, HWY_KEY("before the first call")},
		     {account->before, HWY_KEY("before the first step")},
		     {account->warm_up, HWY_KEY("first steps")},
		     {account->elsewhere, HWY_KEY("other phases")},
		     {account->after, HWY_KEY("after the last step")}};
	fprintf(out, hwy_tr("The judged steps are %s of the recording; the rest: "),
		hwy_say_share(verdict->coverage).text);
	const char *comma = "";
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if ((double)parts[i].ns >= SMALL_PART_SHARE * (double)account->recording) {
			fputs(comma, out);
			fprintf(out, hwy_tr_word(HWY_KEY("account|%s %s")),
				hwy_say_time3(parts[i].ns).text, hwy_tr(parts[i].words));
			comma = hwy_tr(", ");
		}
	fputs(hwy_tr("."), out);
	put_compiled(out, account);
}

static bool covers_little(const struct analyze_run *run)
{
	const struct verdict *verdict = &run->diagnosis.verdict;
	return analyze_main(run) && verdict->coverage < COVERS_LITTLE_SHARE;
}

/* What there is to say of records that are there: incomplete, where launches have no device work or
 * work no launch, as `headway info` counts them; that work seems missing, where the device idles
 * with work in its queue; else that nothing was lost. */
static const char *completeness(const struct analyze_run *run)
{
	const struct hwy_lack *lacks = run->analysis.trust.lacks;
	uint32_t n_devices;
	for (unsigned lack = HWY_LACK_WORK; lack <= HWY_LACK_LAUNCH; lack++)
		if (lacks[lack].count > 0 &&
		    (double)lacks[lack].count >= HWY_WORTH_SHARE * (double)lacks[lack].total)
			return HWY_KEY("records incomplete");
	if (!analyze_main(run))
		return HWY_KEY("nothing lost");
	struct gap_states states = analyze_states(run, run->analysis.phases.main, &n_devices);
	bool seems =
		(double)states.causes[GAP_MISSING] >= HWY_WORTH_SHARE * (double)states.window &&
		states.causes[GAP_MISSING] > 0;
	return seems ? HWY_KEY("work of the GPU seems missing") : HWY_KEY("nothing lost");
}

struct hwy_words analyze_say_records(const struct analyze_run *run)
{
	struct hwy_words says;
	uint64_t lost = analyze_lost(run->trace);
	if (lost)
		snprintf(says.text, sizeof says.text, hwy_tr("%s records lost"),
			 hwy_say_count_grouped(lost).text);
	else
		snprintf(says.text, sizeof says.text, "%s", hwy_tr(completeness(run)));
	return says;
}

static int64_t turn_of(const struct phase_inner_loop *loop)
{
	return loop->n > 1 ? (loop->time.to - loop->time.from) / (loop->n - 1) : 0;
}

static void put_inner_loop(FILE *out, const struct phase_inner_loop *loop)
{
	fprintf(out, hwy_tr("a loop inside a step: %" PRIu32 " turns of %s (layers, tokens)"),
		loop->n, hwy_say_time3(turn_of(loop)).text);
}

void analyze_put_scope(FILE *out, const struct analyze_run *run, int width)
{
	enum { MOST_LOOPS = 2 };
	const struct hwy_phases *phases = &run->analysis.phases;
	for (uint32_t i = 0; i < phases->n_inner && i < MOST_LOOPS; i++) {
		fputs("    ", out);
		put_inner_loop(out, &phases->inner[i]);
		fputc('\n', out);
	}
	if (!covers_little(run))
		return;
	struct memory_text memory;
	put_account(memory_text_begin(&memory), run);
	char *account = memory_text_end(&memory);
	fputs("    ", out);
	cli_wrap(out, account, 4, width);
	free(account);
}

void analyze_put_units(FILE *out, const struct analyze_run *run, uint32_t phase)
{
	struct serving_times times =
		serving_times_of(run->trace, &run->analysis.phases.phases[phase]);
	const char *before = "   ";
	for (enum serving_unit unit = SERVING_PREFILL; unit < SERVING_UNITS; unit++) {
		if (times.n[unit] == 0)
			continue;
		fprintf(out, hwy_tr("%s%s: %s of %s"), before, serving_units[unit],
			hwy_say_count_of(times.n[unit], "step", "steps").text,
			hwy_say_time3(times.total[unit] / times.n[unit]).text);
		before = " · ";
	}
	if (strcmp(before, "   ") != 0)
		fputc('\n', out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static const struct json_field compiled_fields[] = {
	{JSON_FIELD_INT(struct compilations, total, "total_ns")},
	{JSON_FIELD_INT(struct compilations, n, "functions")},
	{JSON_FIELD_TEXT_OR_NULL(struct compilations, longest, "longest")},
	{JSON_FIELD_INT(struct compilations, longest_ns, "longest_ns")},
	{JSON_FIELD_INT(struct compilations, n_processes, "processes")},
	{JSON_FIELD_INT(struct compilations, in_processes, "processes_ns")},
	{JSON_FIELD_TEXT_OR_NULL(struct compilations, programs, "programs")},
};

static const struct json_field account_fields[] = {
	{JSON_FIELD_INT(struct verdict_account, recording, "recording_ns")},
	{JSON_FIELD_INT(struct verdict_account, judged, "judged_ns")},
	{JSON_FIELD_INT(struct verdict_account, before_calls, "before_calls_ns")},
	{JSON_FIELD_INT(struct verdict_account, before, "before_ns")},
	{JSON_FIELD_INT(struct verdict_account, warm_up, "warm_up_ns")},
	{JSON_FIELD_INT(struct verdict_account, elsewhere, "other_phases_ns")},
	{JSON_FIELD_INT(struct verdict_account, after, "after_ns")},
	{JSON_FIELD_OBJECT(struct verdict_account, compiled, "compiled", compiled_fields)},
};

static void put_shares(struct hwy_json *json, const void *shares)
{
	json_begin_object(json);
	for (unsigned word = 0; word < VERDICTS; word++)
		json_put_real(json, verdict_words[word], ((const double *)shares)[word], 6);
	json_end_object(json);
}

static void put_inside_word(struct hwy_json *json, const void *word)
{
	enum inside_word second = *(const enum inside_word *)word;
	if (second == INSIDE_UNKNOWN)
		json_null(json);
	else
		json_textz(json, inside_words[second]);
}

static void put_inside_shares(struct hwy_json *json, const void *shares)
{
	json_begin_object(json);
	for (unsigned word = 0; word < INSIDE_WORDS; word++)
		json_put_real(json, inside_words[word], ((const double *)shares)[word], 6);
	json_end_object(json);
}

static void put_said(struct hwy_json *json, const void *word)
{
	json_textz(json, verdict_said(*(const enum verdict_word *)word));
}

static const struct json_field verdict_fields[] = {
	{JSON_FIELD_ENUM(struct verdict, word, "verdict", verdict_words, VERDICTS)},
	{JSON_FIELD_CALL(struct verdict, word, "verdict_said", put_said)},
	{JSON_FIELD_TEXT(struct verdict, says, "verdict_says")},
	{JSON_FIELD_CALL(struct verdict, shares, "verdict_shares", put_shares)},
	{JSON_FIELD_CALL(struct verdict, inside.word, "verdict_second", put_inside_word)},
	{JSON_FIELD_ENUM(struct verdict, inside.source, "verdict_second_by", inside_sources,
			 INSIDE_SOURCES)},
	{JSON_FIELD_CALL(struct verdict, inside.shares, "verdict_second_shares",
			 put_inside_shares)},
	{JSON_FIELD_BOOL(struct verdict, is_opaque, "verdict_opaque")},
	{JSON_FIELD_REAL(struct verdict, coverage, "coverage", 6)},
	{JSON_FIELD_OBJECT(struct verdict, account, "account", account_fields)},
};

static void put_units(struct hwy_json *json, const struct analyze_run *run)
{
	const struct hwy_phase *phase = analyze_main(run);
	struct serving_times times = {0};
	if (phase)
		times = serving_times_of(run->trace, phase);
	json_key(json, "units");
	json_begin_array(json);
	for (enum serving_unit unit = SERVING_PREFILL; unit < SERVING_UNITS; unit++) {
		if (times.n[unit] == 0)
			continue;
		json_begin_object(json);
		json_put_text(json, "name", serving_units[unit]);
		json_put_int(json, "steps", times.n[unit]);
		json_put_int(json, "mean_ns", times.total[unit] / times.n[unit]);
		json_put_int(json, "median_ns", times.median[unit]);
		json_end_object(json);
	}
	json_end_array(json);
}

void analyze_json_put_verdict(struct hwy_json *json, const struct analyze_run *run)
{
	const struct hwy_phases *phases = &run->analysis.phases;
	json_put_fields(json, JSON_FIELDS(verdict_fields), &run->diagnosis.verdict);
	json_key(json, "inner_loops");
	json_begin_array(json);
	for (uint32_t i = 0; i < phases->n_inner; i++) {
		json_begin_object(json);
		json_put_int(json, "turns", phases->inner[i].n);
		json_put_int(json, "turn_ns", turn_of(&phases->inner[i]));
		json_put_int(json, "start_ns", phases->inner[i].time.from);
		json_end_object(json);
	}
	json_end_array(json);
	put_units(json, run);
}

/* The step in ns, without the cost of recording, that the phase's predictions compare with; 0 where
 * nothing was predicted. */
static int64_t without_recorder(const struct hwy_diagnosis *diagnosis, uint32_t phase)
{
	for (uint32_t i = 0; i < diagnosis->n + diagnosis->n_acquitted; i++) {
		const struct hwy_finding *one = i < diagnosis->n
							? &diagnosis->findings[i]
							: &diagnosis->acquitted[i - diagnosis->n];
		if (one->phase == phase && one->predicted.is_known)
			return one->predicted.before;
	}
	return 0;
}

/* Whether a reader sees two different times: they are more than 1 % apart. */
static bool is_far_from(int64_t time, int64_t other)
{
	return llabs(time - other) > other / 100;
}

void analyze_put_base(FILE *out, const struct analyze_run *run, uint32_t phase)
{
	const struct hwy_outlook *outlook = &run->diagnosis.outlooks[phase];
	int64_t before = without_recorder(&run->diagnosis, phase);
	int64_t mean = run->analysis.phases.phases[phase].mean;
	if (before > 0 && is_far_from(before, mean))
		fprintf(out, hwy_tr("   %s a step without %s: predictions begin there%s\n"),
			hwy_say_time3(before).text,
			hwy_tr(outlook->own_cost != HWY_NONE ? "Headway's own cost"
							     : "the recorder's cost"),
			hwy_tr(machine_model_has_samples(run->trace)
				       ? "; unsure, since the cost of samples is not known"
				       : ""));
	else if (before == 0 && outlook->own_cost != HWY_NONE &&
		 is_far_from(mean - outlook->own_cost, mean))
		fprintf(out, hwy_tr("   Headway's own cost, %s of CPU time, is part of that\n"),
			hwy_say_time3(outlook->own_cost).text);
}
