/* whatif_print.c - predictions for people and for programs. */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/cli.h"
#include "cli/grid.h"
#include "cli/whatif.h"

bool whatif_view_apply(struct whatif_view *view, const struct whatif_edit *edits, uint32_t n,
		       struct hwy_err *err)
{
	view->edits = edits;
	view->n_edits = n;
	struct hwy_graph edited;
	if (!whatif_apply(view->w, edits, n, &edited, view->note, err))
		return false;
	graph_free(&edited);
	return whatif_predict(view->w, edits, n, &view->prediction, err);
}

static bool is_same(const struct whatif_edit *a, const struct whatif_edit *b)
{
	return a->kind == b->kind && strcmp(a->arguments, b->arguments) == 0;
}

/* Adds the edits of a phase's findings that were replayed, each once. Yields how many there are then. */
static uint32_t add_edits(struct whatif_edit *list, uint32_t n, const struct hwy_finding *findings,
			  uint32_t n_findings, uint32_t phase)
{
	for (uint32_t i = 0; i < n_findings; i++) {
		const struct hwy_finding *finding = &findings[i];
		if (finding->phase != phase || !finding->predicted.is_known ||
		    !edit_read(finding->predicted.edits, &list[n]))
			continue;
		uint32_t same = 0;
		while (same < n && !is_same(&list[same], &list[n]))
			same++;
		n += same == n;
	}
	return n;
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
	uint32_t phase = view->w->phase_index, n = 0;
	view->tried = hwy_alloc((d->n + d->n_acquitted + USUAL) * sizeof *view->tried);
	n = add_edits(view->tried, n, d->findings, d->n, phase);
	n = add_edits(view->tried, n, d->acquitted, d->n_acquitted, phase);
	if (n == 0)
		for (; n < USUAL; n++)
			edit_read(usual[n], &view->tried[n]);
	rank_edits(&view->rank, view->w, view->tried, n);
	return true;
}

void whatif_view_free(struct whatif_view *view)
{
	rank_free(&view->rank);
	free(view->tried);
	diagnosis_free(&view->diagnosis);
}

/* ---- JSON --------------------------------------------------------------------------------------- */

static void put_edit(struct hwy_json *json, const struct whatif_edit *edit)
{
	char text[512];
	snprintf(text, sizeof text, "%s%s%s", edit->kind->id, *edit->arguments ? ":" : "",
		 edit->arguments);
	json_textz(json, text);
}

static void put_prediction(struct hwy_json *json, const struct whatif_edit *const *edits,
			   uint32_t n, const struct whatif_prediction *p)
{
	json_begin_object(json);
	json_key(json, "edits");
	json_begin_array(json);
	for (uint32_t i = 0; i < n; i++)
		put_edit(json, edits[i]);
	json_end_array(json);
	json_put_int(json, "step_ns", p->step);
	json_put_int(json, "p10_ns", p->p10);
	json_put_int(json, "p90_ns", p->p90);
	json_key(json, "speedup");
	json_real(json, p->speedup, 4);
	json_put_text(json, "bound", p->bound);
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
	json_begin_object(&json);
	json_key(&json, "exact");
	json_bool(&json, w->quality.differ == 0);
	json_key(&json, "residual_share");
	json_real(&json, w->quality.residual, 6);
	json_key(&json, "contradicted_share");
	json_real(&json, w->quality.contradicted, 6);
	json_key(&json, "steps_predict_error");
	if (w->quality.steps_predict >= 0)
		json_real(&json, w->quality.steps_predict, 6);
	else
		json_null(&json);
	json_put_int(&json, "nodes", w->graph.n);
	json_end_object(&json);
	put_predictions(&json, view);
	json_end_object(&json);
	fputc('\n', out);
}

/* ---- text --------------------------------------------------------------------------------------- */

static void add_row(struct grid *grid, const char *what, const struct whatif_prediction *p)
{
	char low[GRID_TEXT], high[GRID_TEXT];
	grid_cell(grid, "%s", what);
	grid_time(grid, p->step);
	grid_cell(grid, "%.2f×", p->speedup);
	grid_cell(grid, "%s – %s", grid_time_text(low, p->p10), grid_time_text(high, p->p90));
}

static void name_edit(char *text, size_t size, const char *prefix, const struct whatif_edit *edit)
{
	snprintf(text, size, "%s%s%s%s", prefix, edit->kind->id, *edit->arguments ? ":" : "",
		 edit->arguments);
}

static void print_head(FILE *out, const struct whatif *w)
{
	char recorded[GRID_TEXT], step[GRID_TEXT];
	fprintf(out, "%s a step as recorded, %s without the recorder (%s)\n",
		grid_time_text(recorded, w->recorded), grid_time_text(step, w->base.step),
		w->machine.source);
}

static void print_check(FILE *out, const struct whatif *w)
{
	fprintf(out, "\nThe graph has %u nodes and %llu edges; ", w->graph.n,
		(unsigned long long)w->graph.n_edges);
	if (w->quality.differ == 0)
		fputs("replaying it gives back every start and end.\n", out);
	else
		fprintf(out, "replaying it gives %u of them other times: please report this.\n",
			w->quality.differ);
	fprintf(out,
		"  %.2f %% of the recording's length is delay that no edge explains\n"
		"  %.2f %% of the edges were contradicted by the recording and left out\n",
		100 * w->quality.residual, 100 * w->quality.contradicted);
	if (w->quality.steps_predict >= 0)
		fprintf(out, "  steps predict each other within %.1f %% (median)\n",
			100 * w->quality.steps_predict);
	else
		fputs("  steps differ in what they call, so they cannot predict each other\n", out);
}

static void print_tried(FILE *out, const struct rank *rank)
{
	char text[600];
	struct grid grid = {.columns = 4, .head = 1, .colour = cli_colour(out)};
	grid_cell(&grid, "alone");
	grid_cell(&grid, "step");
	grid_cell(&grid, "gain");
	grid_cell(&grid, "bar");
	for (uint32_t i = 0; i < rank->n; i++) {
		name_edit(text, sizeof text, "", &rank->entries[i].edit);
		add_row(&grid, text, &rank->entries[i].alone);
	}
	fputc('\n', out);
	grid_print(&grid, out, "  ");
	if (rank->n_stack < 2)
		return;
	struct grid stack = {.columns = 4, .head = 1, .colour = cli_colour(out)};
	grid_cell(&stack, "one after the other");
	grid_cell(&stack, "step");
	grid_cell(&stack, "gain");
	grid_cell(&stack, "bar");
	for (uint32_t i = 0; i < rank->n_stack; i++) {
		const struct rank_entry *entry = &rank->entries[rank->stack[i]];
		name_edit(text, sizeof text, i ? "+ " : "", &entry->edit);
		add_row(&stack, text, &entry->stacked);
	}
	fputc('\n', out);
	grid_print(&stack, out, "  ");
}

void whatif_print_text(FILE *out, const struct whatif_view *view)
{
	print_head(out, view->w);
	if (view->check)
		print_check(out, view->w);
	if (view->n_edits > 0) {
		char text[600];
		struct grid grid = {.columns = 4, .colour = cli_colour(out)};
		for (uint32_t i = 0; i < view->n_edits; i++)
			name_edit(text, sizeof text, i ? "+ " : "", &view->edits[i]);
		add_row(&grid, view->n_edits > 1 ? "all of them" : text, &view->prediction);
		fputc('\n', out);
		grid_print(&grid, out, "  ");
		if (*view->note)
			fprintf(out, "\n  %s\n", view->note);
	} else if (!view->check && view->rank.n == 0) {
		fputs("\nNone of the edits applies.\n", out);
	} else if (!view->check) {
		print_tried(out, &view->rank);
	}
}
