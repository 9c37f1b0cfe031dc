/* SPDX-License-Identifier: Apache-2.0 */
/* fix_worth.c - what each finding's fix is worth, and which suspects are innocent.
 *
 * A finding names the edit that stands for its fix; the phase's graph is replayed with that edit.
 * The gain of the replay, at most the time that the finding had claimed, becomes the finding's
 * cost. A finding whose fix gains nothing moves to the acquitted suspects, however much idle time
 * stood beside it. An acquitted suspect whose fix surely gains moves to the findings, unless it is
 * known that the gain is not what it was suspected of. Where the replay explains too little of the
 * recording, or contradicts an acquittal without being sure, no prediction is shown. A long
 * recording in which nothing repeats is not replayed at all, nor one of a start-up: their findings
 * keep the time that they had claimed.
 */
#include "diagnose/fix_worth.h"

#include <string.h>

#include "base/lang.h"
#include "base/path.h"
#include "base/say.h"
#include "whatif/excerpt.h"

/* From this share of the step on, an acquittal tells of a gain that the replay is not sure of. */
#define WORD_SHARE 0.05

struct predicting {
	struct whatif w;
	struct hwy_diagnosis *diagnosis;
};

/* The place of a finding with a single place, as an edit's argument: "train.py:23"; "" fits all
 * places. */
static const char *place_of_finding(struct predicting *p, const struct hwy_finding *finding)
{
	if (finding->n_places != 1 || !*finding->places[0].at.file ||
	    finding->places[0].at.line <= 0)
		return "";
	return hwy_arena_format(&p->diagnosis->arena, "%s:%lld",
				hwy_basename(finding->places[0].at.file),
				(long long)finding->places[0].at.line);
}

/* Reads the finding's edit, "streams:4" or "remove-wait", and adds the finding's place where the
 * edit takes one. */
static bool read_edit(struct predicting *p, const struct hwy_finding *finding,
		      struct whatif_edit *edit)
{
	if (!finding->edit || !edit_read(finding->edit, edit))
		return false;
	if (!*edit->arguments && strncmp(edit->kind->arguments, "[:PLACE]", 8) == 0)
		edit->arguments = place_of_finding(p, finding);
	return true;
}

bool fix_worth_of_edit(const struct whatif *w, const struct whatif_edit *edit,
		       struct hwy_arena *arena, struct hwy_predicted *predicted)
{
	struct whatif_prediction found;
	struct hwy_err err;
	if (w->base.step <= 0 || !whatif_predict(w, edit, 1, &found, &err))
		return false;
	*predicted = (struct hwy_predicted){
		.is_known = true,
		.edits = hwy_arena_format(arena, "%s%s%s", edit->kind->id,
					  *edit->arguments ? ":" : "", edit->arguments),
		.before = w->base.step,
		.step = found.step,
		.p10 = found.p10,
		.p90 = found.p90,
		.speedup = found.speedup,
		.bound = found.bound,
	};
	return true;
}

static bool fix_worth_predict(struct predicting *p, struct hwy_finding *finding,
			      struct whatif_edit *edit)
{
	if (!read_edit(p, finding, edit))
		return false;
	if (fix_worth_of_edit(&p->w, edit, &p->diagnosis->arena, &finding->predicted))
		return true;
	if (!*edit->arguments || edit->kind->arguments[0] != '[')
		return false;
	edit->arguments = ""; /* no call lies at the finding's place: try all places */
	return fix_worth_of_edit(&p->w, edit, &p->diagnosis->arena, &finding->predicted);
}

static double gain_of(const struct hwy_finding *finding)
{
	return 1 - (double)finding->predicted.step / (double)finding->predicted.before;
}

/* Whether the fix surely gains: even the upper end of the prediction's bar is below the step
 * without the fix. */
static bool gains_surely(const struct hwy_finding *finding)
{
	return finding->predicted.p90 < finding->predicted.before;
}

static void scale_places(struct hwy_finding *finding, int64_t was, int64_t is)
{
	for (uint32_t i = 0; was > 0 && i < finding->n_places; i++)
		finding->places[i].cost =
			(int64_t)((double)finding->places[i].cost * ((double)is / (double)was));
}

/* Sets a finding's cost to its predicted gain, at most 'most' ns: a fix may also hide time that
 * other findings have claimed. */
static void set_cost(struct hwy_finding *finding, int64_t most)
{
	int64_t gain = finding->predicted.before - finding->predicted.step;
	gain = gain < 0 ? 0 : gain > most ? most : gain;
	scale_places(finding, finding->cost, gain);
	finding->cost = gain;
	finding->share = (double)gain / (double)finding->predicted.before;
}

static const char *sentence(struct predicting *p, const struct hwy_finding *finding)
{
	return hwy_arena_say(&p->diagnosis->arena,
			     "Replayed without %s, the step takes %s instead of %s.",
			     hwy_tr(finding->kind->suspect ? finding->kind->suspect : "it"),
			     hwy_say_time3(finding->predicted.step).text,
			     hwy_say_time3(finding->predicted.before).text);
}

/* Removes a finding from a list of *n findings, and yields it. */
static struct hwy_finding take_out(struct hwy_finding *list, uint32_t *n, uint32_t index)
{
	struct hwy_finding finding = list[index];
	memmove(&list[index], &list[index + 1], (--*n - index) * sizeof *list);
	return finding;
}

/* Sets 'tipping': the device work of a step from which on an acquitted suspect would cost time. */
static void find_tipping(struct predicting *p, struct hwy_finding *finding,
			 const struct whatif_edit *edit)
{
	/* More device work before a wait makes the wait longer; of other suspects it says
	 * nothing. */
	if (strncmp(finding->kind->id, "sync", 4) != 0)
		return;
	int64_t tipping = whatif_tipping(&p->w, edit, 1, HWY_WORTH_SHARE);
	finding->predicted.tipping = tipping == INT64_MAX ? 0 : tipping;
}

/* Moves findings[index], whose fix gains nothing, to the end of the acquitted suspects. */
static void move_to_acquitted(struct predicting *p, uint32_t index, const struct whatif_edit *edit)
{
	struct hwy_diagnosis *d = p->diagnosis;
	struct hwy_finding finding = take_out(d->findings, &d->n, index);
	finding.is_acquitted = true;
	finding.says = sentence(p, &finding);
	find_tipping(p, &finding, edit);
	HWY_GROW(d->acquitted, d->n_acquitted, d->cap_acquitted);
	d->acquitted[d->n_acquitted++] = finding;
}

/* Moves acquitted[index], whose fix surely gains, to the end of the findings. */
static void move_to_findings(struct predicting *p, uint32_t index)
{
	struct hwy_diagnosis *d = p->diagnosis;
	struct hwy_finding finding = take_out(d->acquitted, &d->n_acquitted, index);
	finding.is_acquitted = false;
	finding.confidence = HWY_MEDIUM;
	finding.says = sentence(p, &finding);
	HWY_GROW(d->findings, d->n, d->cap);
	d->findings[d->n++] = finding;
}

/* Acquits a finding whose fix gains too little, or drops the finding where its kind has no
 * 'suspect' text. */
static void judge_findings(struct predicting *p, uint32_t first)
{
	struct hwy_diagnosis *d = p->diagnosis;
	for (uint32_t i = first; i < d->n;) {
		struct hwy_finding *finding = &d->findings[i];
		struct whatif_edit edit;
		if (!fix_worth_predict(p, finding, &edit)) {
			i++;
			continue;
		}
		bool is_worth = gain_of(finding) >= HWY_WORTH_SHARE;
		set_cost(finding, finding->cost);
		if (is_worth)
			i++;
		else if (finding->kind->suspect)
			move_to_acquitted(p, i, &edit);
		else
			take_out(d->findings, &d->n, i);
	}
}

static void append_predicted_gain(struct predicting *p, struct hwy_finding *finding)
{
	finding->says =
		hwy_arena_say(&p->diagnosis->arena,
			      "%s %s: without them the step takes %s instead of %s.", finding->says,
			      hwy_tr(finding->even_so), hwy_say_time3(finding->predicted.step).text,
			      hwy_say_time3(finding->predicted.before).text);
}

/* Says that the replay differs from the acquittal, though it is not sure: `headway whatif` says the
 * same of the edit. */
static void append_unsure_gain(struct predicting *p, struct hwy_finding *finding)
{
	const struct hwy_predicted *predicted = &finding->predicted;
	const char *replayed = hwy_arena_say(
		&p->diagnosis->arena,
		"Replayed without %s, the step takes %s instead of %s, but that is not sure: %s to %s.",
		hwy_tr(finding->kind->suspect ? finding->kind->suspect : "it"),
		hwy_say_time3(predicted->step).text, hwy_say_time3(predicted->before).text,
		hwy_say_time3(predicted->p10).text, hwy_say_time3(predicted->p90).text);
	finding->says =
		finding->even_so
			? hwy_arena_say(&p->diagnosis->arena, "%s %s. %s", finding->says,
					hwy_tr(finding->even_so), replayed)
			: hwy_arena_say(&p->diagnosis->arena, "%s %s", finding->says, replayed);
}

/* Looks at acquitted[first … end): a suspect whose fix surely gains becomes a finding, unless it is
 * known that the gain is not what it was suspected of. */
static void judge_acquitted(struct predicting *p, uint32_t first, uint32_t end)
{
	struct hwy_diagnosis *d = p->diagnosis;
	for (uint32_t i = first; i < end;) {
		struct hwy_finding *finding = &d->acquitted[i];
		struct whatif_edit edit;
		if (!fix_worth_predict(p, finding, &edit)) {
			i++;
			continue;
		}
		if (gains_surely(finding) && *finding->advice && !finding->even_so) {
			set_cost(finding, INT64_MAX);
			move_to_findings(p, i);
			end--;
			continue;
		}
		if (gains_surely(finding) && finding->even_so)
			append_predicted_gain(p, finding);
		bool is_worth = gain_of(finding) >= HWY_WORTH_SHARE;
		if (gain_of(finding) >= WORD_SHARE && !gains_surely(finding))
			append_unsure_gain(p, finding);
		/* The fix may gain, but not surely: show no prediction. */
		if (is_worth)
			finding->predicted = (struct hwy_predicted){0};
		else
			find_tipping(p, finding, &edit);
		i++;
	}
}

static bool wants_any(const struct hwy_diagnosis *d, uint32_t first, uint32_t first_acquitted)
{
	for (uint32_t i = first; i < d->n; i++)
		if (d->findings[i].edit)
			return true;
	for (uint32_t i = first_acquitted; i < d->n_acquitted; i++)
		if (d->acquitted[i].edit)
			return true;
	return false;
}

/* Whether nothing repeats and most idle time is first use: how fast the program will be is not seen
 * there. */
static bool is_start_up(const struct hwy_analysis *analysis, uint32_t phase)
{
	struct gap_states sum = {0};
	for (uint32_t d = 0; d < analysis->flow.n_devices; d++)
		gap_states_add(&sum, &analysis->measures[phase].gaps.devices[d]);
	int64_t first_use = sum.causes[GAP_FIRST_USE] + sum.causes[GAP_MODULE];
	return analysis->phases.phases[phase].source == PHASE_ONE && first_use > sum.idle / 2;
}

void fix_worth_judge_phase(struct hwy_analysis *analysis, uint32_t phase,
			   struct hwy_diagnosis *diagnosis, uint32_t first,
			   uint32_t first_acquitted)
{
	struct predicting p = {.diagnosis = diagnosis};
	struct hwy_err err;
	bool repeats = analysis->phases.phases[phase].n_steady >= 3;
	if (!wants_any(diagnosis, first, first_acquitted) ||
	    (!repeats && excerpt_is_large(&analysis->flow)) || is_start_up(analysis, phase))
		return;
	if (whatif_open(&p.w, analysis, phase, false, &err)) {
		uint32_t acquitted = diagnosis->n_acquitted;
		if (p.w.quality.residual <= WHATIF_UNEXPLAINED_SHARE) {
			judge_findings(&p, first);
			judge_acquitted(&p, first_acquitted, acquitted);
		}
		whatif_close(&p.w);
	}
}

/* Cuts a finding's cost to what is left of the step, in ns; false where too little is left for a
 * finding. */
static bool cut(struct hwy_finding *finding, int64_t whole, int64_t *left)
{
	if (finding->cost > *left) {
		scale_places(finding, finding->cost, *left);
		finding->cost = *left;
		finding->share = (double)*left / (double)whole;
		if (!finding->kind->is_inside && finding->share < HWY_WORTH_SHARE)
			return false;
	}
	*left -= finding->cost;
	return true;
}

void fix_worth_cut_costs(const struct hwy_analysis *analysis, struct hwy_diagnosis *diagnosis)
{
	for (uint32_t phase = 0; phase < analysis->phases.n; phase++) {
		int64_t whole = analysis->phases.phases[phase].mean, left = whole;
		for (uint32_t i = 0; i < diagnosis->n && whole > 0;) {
			struct hwy_finding *finding = &diagnosis->findings[i];
			if (finding->phase != phase || cut(finding, whole, &left))
				i++;
			else
				take_out(diagnosis->findings, &diagnosis->n, i);
		}
	}
}
