/* SPDX-License-Identifier: Apache-2.0 */
/* whatif_print.c - prints predictions, as text for people and as JSON for programs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_fields.h"
#include "base/lang.h"
#include "base/say.h"
#include "cli/kit/cli.h"
#include "cli/kit/table.h"
#include "cli/whatif_print.h"

static void name_edit(char *text, size_t size, const char *prefix, const struct whatif_edit *edit)
{
	snprintf(text, size, "%s%s%s%s", prefix, edit->kind->id, *edit->arguments ? ":" : "",
		 edit->arguments);
}

/* Adds a note: "workers:8 does not apply: the phase never waits for input". */
static void add_note(struct whatif_view *view, const struct whatif_edit *edit, const char *text)
{
	char name[600] = "";
	if (edit)
		name_edit(name, sizeof name, "", edit);
	if (view->n_notes < WHATIF_NOTES &&
	    asprintf(&view->notes[view->n_notes], edit ? hwy_tr("%s does not apply: %s") : "%s%s",
		     name, text) >= 0)
		view->n_notes++;
}

void whatif_view_doubt(struct whatif_view *view, const struct hwy_analysis *analysis)
{
	const struct hwy_lack *clocks = &analysis->trust.lacks[HWY_LACK_CLOCKS];
	if (clocks->count)
		add_note(
			view, NULL,
			hwy_tr("do not trust these times: sampling its counters changed the GPU's clocks; "
			       "record again without --gpu-metrics-devices"));
}

bool whatif_view_apply(struct whatif_view *view, const struct whatif_edit *edits, uint32_t n,
		       struct hwy_err *err)
{
	char note[WHATIF_NOTE] = "";
	view->edits = hwy_array(n, sizeof *view->edits);
	for (uint32_t i = 0; i < n; i++) {
		struct hwy_graph edited;
		view->edits[view->n_edits] = edits[i];
		if (whatif_apply(view->w, view->edits, view->n_edits + 1, &edited, note, err)) {
			graph_free(&edited);
			view->n_edits++;
			continue;
		}
		add_note(view, &edits[i], err->text);
	}
	if (*note)
		add_note(view, NULL, note);
	if (view->n_edits == 0)
		return n == 1 ? false
			      : hwy_fail(err, hwy_tr("none of the edits applies; %s"),
					 view->notes[0]);
	return whatif_predict(view->w, view->edits, view->n_edits, &view->prediction, err);
}

static bool whatif_print_is_same(const struct whatif_edit *a, const struct whatif_edit *b)
{
	return a->kind == b->kind && strcmp(a->arguments, b->arguments) == 0;
}

static bool applies(const struct whatif *w, const struct whatif_edit *edit)
{
	struct hwy_graph edited;
	struct hwy_err ignored;
	if (!whatif_apply(w, edit, 1, &edited, NULL, &ignored))
		return false;
	graph_free(&edited);
	return true;
}

/* Adds the edits of the phase's findings to a list of 'n' edits, each edit once: as it was
 * replayed, or for all places where nothing was predicted. Yields how many edits the list has
 * then. */
static uint32_t add_edits(struct whatif_edit *list, uint32_t n, const struct hwy_finding *findings,
			  uint32_t n_findings, const struct whatif *w)
{
	for (uint32_t i = 0; i < n_findings; i++) {
		const struct hwy_finding *finding = &findings[i];
		const char *edit =
			finding->predicted.is_known ? finding->predicted.edits : finding->edit;
		if (finding->phase != w->phase_index || !edit || !edit_read(edit, &list[n]) ||
		    !applies(w, &list[n]))
			continue;
		uint32_t same = 0;
		while (same < n && !whatif_print_is_same(&list[same], &list[n]))
			same++;
		n += same == n;
	}
	return n;
}

static bool has_kind(const struct whatif_edit *list, uint32_t n, const struct edit_kind *kind)
{
	uint32_t i = 0;
	while (i < n && list[i].kind != kind)
		i++;
	return i < n;
}

bool whatif_view_try(struct whatif_view *view, struct hwy_analysis *analysis, struct hwy_err *err)
{
	static const char *const usual[] = {"remove-wait",  "read-late",    "pin",
					    "copy-stream",  "graph",        "no-alloc",
					    "overlap-comm", "perfect-input"};
	enum { USUAL = sizeof usual / sizeof *usual };
	struct hwy_diagnosis *d = &view->diagnosis;
	if (!diagnose(analysis, d, err))
		return false;
	uint32_t n = 0;
	/* The + 1 is room for the edit "straggler". */
	view->tried = hwy_array((size_t)d->n + d->n_acquitted + USUAL + 1, sizeof *view->tried);
	n = add_edits(view->tried, n, d->findings, d->n, view->w);
	n = add_edits(view->tried, n, d->acquitted, d->n_acquitted, view->w);
	if (n == 0)
		for (; n < USUAL; n++)
			edit_read(usual[n], &view->tried[n]);
	if (view->w->joint && !has_kind(view->tried, n, edit_find("straggler")))
		edit_read("straggler", &view->tried[n++]);
	rank_edits(&view->rank, view->w, view->tried, n);
	return true;
}

void whatif_view_free(struct whatif_view *view)
{
	for (uint32_t i = 0; i < view->n_notes; i++)
		free(view->notes[i]);
	free(view->edits);
	rank_free(&view->rank);
	free(view->tried);
	diagnosis_free(&view->diagnosis);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_edit(struct hwy_json *json, const struct whatif_edit *edit)
{
	char text[600];
	name_edit(text, sizeof text, "", edit);
	json_textz(json, text);
}

static const struct json_field prediction_fields[] = {
	{JSON_FIELD_INT(struct whatif_prediction, step, "step_ns")},
	{JSON_FIELD_INT(struct whatif_prediction, p10, "p10_ns")},
	{JSON_FIELD_INT(struct whatif_prediction, p90, "p90_ns")},
	{JSON_FIELD_REAL(struct whatif_prediction, speedup, "speedup", 4)},
	{JSON_FIELD_TEXT(struct whatif_prediction, bound, "bound")},
};

static void put_prediction(struct hwy_json *json, const struct whatif_edit *const *edits,
			   uint32_t n, const struct whatif_prediction *prediction)
{
	json_begin_object(json);
	json_key(json, "edits");
	json_begin_array(json);
	for (uint32_t i = 0; i < n; i++)
		put_edit(json, edits[i]);
	json_end_array(json);
	json_put_fields(json, JSON_FIELDS(prediction_fields), prediction);
	json_end_object(json);
}

static void put_predictions(struct hwy_json *json, const struct whatif_view *view)
{
	const struct rank *rank = &view->rank;
	const struct whatif_edit *edits[64];
	uint32_t n = 0;
	json_key(json, "predictions");
	json_begin_array(json);
	for (uint32_t i = 0; i < view->n_edits && n < 64; i++)
		edits[n++] = &view->edits[i];
	if (n > 0)
		put_prediction(json, edits, n, &view->prediction);
	for (uint32_t i = 0; i < rank->n; i++) {
		const struct whatif_edit *one = &rank->entries[i].edit;
		put_prediction(json, &one, 1, &rank->entries[i].alone);
	}
	for (uint32_t i = 1; i < rank->n_stack && i < 64; i++) {
		for (uint32_t j = 0; j <= i; j++)
			edits[j] = &rank->entries[rank->stack[j]].edit;
		put_prediction(json, edits, i + 1, &rank->entries[rank->stack[i]].stacked);
	}
	json_end_array(json);
}

static uint32_t count_nodes(const struct whatif *w)
{
	uint32_t n = w->joint ? 0 : w->graph.n;
	for (uint32_t r = 0; w->joint && r < w->joint->n; r++)
		n += w->joint->ranks[r].graph.n;
	return n;
}

static const struct json_field ranks_fields[] = {
	{JSON_FIELD_INT_ARRAY(struct joint, numbers, n, "numbers")},
	{JSON_FIELD_INT_ARRAY(struct joint, collectives.shift, n, "clock_shift_ns")},
	{JSON_FIELD_INT(struct joint, links.n_meetings, "collectives")},
	{JSON_FIELD_INT(struct joint, collectives.n_contradicted, "contradicted")},
};

static void put_steps_error(struct hwy_json *json, const void *steps_predict)
{
	double error = *(const double *)steps_predict;
	if (error >= 0)
		json_real(json, error, 6);
	else
		json_null(json);
}

static void put_is_exact(struct hwy_json *json, const void *differ)
{
	json_bool(json, *(const uint32_t *)differ == 0);
}

static void put_node_count(struct hwy_json *json, const void *whatif)
{
	json_int(json, count_nodes(whatif));
}

static const struct json_field quality_fields[] = {
	{JSON_FIELD_CALL(struct whatif, quality.differ, "exact", put_is_exact)},
	{JSON_FIELD_REAL(struct whatif, quality.residual, "residual_share", 6)},
	{JSON_FIELD_REAL(struct whatif, quality.contradicted, "contradicted_share", 6)},
	{JSON_FIELD_CALL(struct whatif, quality.steps_predict, "steps_predict_error",
			 put_steps_error)},
	{JSON_FIELD_CALL_OBJECT("nodes", put_node_count)},
};

void whatif_print_json(FILE *out, const struct whatif_view *view)
{
	const struct whatif *w = view->w;
	struct hwy_json json = {.out = out, .pretty = true};
	json_begin_object(&json);
	json_put_int(&json, "step_ns", w->base.step);
	json_put_int(&json, "recorded_step_ns", w->recorded);
	json_put_int(&json, "steps", w->phase->n_steady);
	json_put_text(&json, "costs", w->machine.source);
	json_key(&json, "quality");
	json_put_object(&json, JSON_FIELDS(quality_fields), w);
	if (w->joint) {
		json_key(&json, "ranks");
		json_put_object(&json, JSON_FIELDS(ranks_fields), w->joint);
	}
	put_predictions(&json, view);
	json_key(&json, "notes");
	json_begin_array(&json);
	for (uint32_t i = 0; i < view->n_notes; i++)
		json_textz(&json, view->notes[i]);
	json_end_array(&json);
	json_end_object(&json);
	fputc('\n', out);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void whatif_print_add_row(struct table *table, const char *what,
				 const struct whatif_prediction *p)
{
	table_cell(table, "%s", what);
	table_time(table, p->step);
	table_cell(table, "%.2f×", p->speedup);
	table_cell(table, "%s – %s", hwy_say_time4(p->p10).text, hwy_say_time4(p->p90).text);
}

static void whatif_print_print_head(FILE *out, const struct whatif_view *view)
{
	const struct whatif *w = view->w;
	fprintf(out, hwy_tr("%s a step as recorded, %s without the recorder (%s)\n"),
		hwy_say_time4(w->recorded).text, hwy_say_time4(w->base.step).text,
		hwy_tr(w->machine.source));
	if (w->machine.has_samples)
		fputs(hwy_tr("The cost of the samples is not known and still in these times: record without -s to be sure\n"),
		      out);
	if (w->joint && w->joint->has_pace)
		fprintf(out,
			hwy_tr("%u ranks that meet in %u collectives; the step is the slowest one's\n"),
			w->joint->n, w->joint->links.n_meetings);
	else if (w->joint)
		fprintf(out,
			hwy_tr("%u ranks that meet in %u collectives; too few steps for one pace, so the step is "
			       "that of rank %" PRId64 "\n"),
			w->joint->n, w->joint->links.n_meetings, w->joint->numbers[w->rank]);
	if (!view->check && w->quality.residual > WHATIF_UNEXPLAINED_SHARE)
		fprintf(out,
			hwy_tr("The graph does not explain what holds the program up in %.0f %% of the time: take "
			       "predictions for guesses\n"),
			100 * w->quality.residual);
}

static void print_check(FILE *out, const struct whatif *w)
{
	uint64_t edges = w->joint ? 0 : w->graph.n_edges;
	for (uint32_t r = 0; w->joint && r < w->joint->n; r++)
		edges += w->joint->ranks[r].graph.n_edges;
	fprintf(out, hwy_tr("\nThe graph has %u nodes and %llu edges; "), count_nodes(w),
		(unsigned long long)edges);
	if (w->quality.differ == 0)
		fputs(hwy_tr("replaying it gives back every start and end.\n"), out);
	else
		fprintf(out,
			hwy_tr("replaying it gives %u of them other times: please report this.\n"),
			w->quality.differ);
	fprintf(out,
		hwy_tr("  in %.2f %% of the time something is held up by what no edge explains\n"
		       "  %.2f %% of the edges were contradicted by the recording and left out\n"),
		100 * w->quality.residual, 100 * w->quality.contradicted);
	if (w->quality.steps_predict >= 0)
		fprintf(out, hwy_tr("  steps predict each other within %.1f %% (median)\n"),
			100 * w->quality.steps_predict);
	else
		fputs(hwy_tr("  steps differ in what they call, so they cannot predict each other\n"),
		      out);
}

static void print_tried(FILE *out, const struct rank *rank)
{
	char text[600];
	struct table table = {.columns = 4, .heads = 1, .colour = cli_colour(out), .indent = "  "};
	table_row(&table,
		  (const char *[]){hwy_tr("alone"), hwy_tr("step"), hwy_tr("gain"), hwy_tr("bar")});
	for (uint32_t i = 0; i < rank->n; i++) {
		name_edit(text, sizeof text, "", &rank->entries[i].edit);
		whatif_print_add_row(&table, text, &rank->entries[i].alone);
	}
	fputc('\n', out);
	table_print(&table, out);
	if (rank->n_stack < 2)
		return;
	struct table stack = {.columns = 4, .heads = 1, .colour = cli_colour(out), .indent = "  "};
	table_row(&stack, (const char *[]){hwy_tr("one after the other"), hwy_tr("step"),
					   hwy_tr("gain"), hwy_tr("bar")});
	for (uint32_t i = 0; i < rank->n_stack; i++) {
		const struct rank_entry *entry = &rank->entries[rank->stack[i]];
		name_edit(text, sizeof text, i ? "+ " : "", &entry->edit);
		whatif_print_add_row(&stack, text, &entry->stacked);
	}
	fputc('\n', out);
	table_print(&stack, out);
}

void whatif_print_text(FILE *out, const struct whatif_view *view)
{
	whatif_print_print_head(out, view);
	if (view->check)
		print_check(out, view->w);
	if (view->n_edits > 0) {
		char text[600];
		struct table table = {.columns = 4, .colour = cli_colour(out), .indent = "  "};
		for (uint32_t i = 0; i < view->n_edits; i++)
			name_edit(text, sizeof text, i ? "+ " : "", &view->edits[i]);
		whatif_print_add_row(&table, view->n_edits > 1 ? hwy_tr("all of them") : text,
				     &view->prediction);
		fputc('\n', out);
		table_print(&table, out);
		for (uint32_t i = 0; i < view->n_notes; i++)
			fprintf(out, "%s  %s\n", i ? "" : "\n", view->notes[i]);
	} else if (!view->check && view->rank.n == 0) {
		fputs(hwy_tr("\nNone of the edits applies.\n"), out);
	} else if (!view->check) {
		print_tried(out, &view->rank);
	}
}
