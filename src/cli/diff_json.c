/* SPDX-License-Identifier: Apache-2.0 */
/* diff_json.c - a comparison as one JSON object; docs/ci.md says what each key means. Keys are
 * added, never renamed. */

#include "base/json_fields.h"
#include "base/lang.h"
#include "cli/compare_print.h"

static void put_side(struct hwy_json *json, const char *key, const struct compare_side *side)
{
	const struct compare_summary *run = side_run(side);
	const struct compare_phase *phase = side_phase(side);
	json_key(json, key);
	json_begin_object(json);
	json_put_text(json, "program", run->program);
	json_put_text(json, "gpu", run->gpu);
	json_put_int(json, "step_ns", side->step);
	json_put_int(json, "step_without_recorder_ns", phase->plain);
	json_put_int(json, "steady_steps", phase->n_steady);
	json_put_text(json, "marks", phase->name);
	json_put_text(json, "verdict", verdict_words[summary_verdict(phase)]);
	json_key(json, "runs");
	json_begin_array(json);
	for (uint32_t i = 0; i < side->n; i++) {
		json_begin_object(json);
		json_put_text(json, "file", side->runs[i]->file);
		json_put_int(json, "step_ns", side->phases[i]->step);
		json_put_bool(json, "middle", i == side->middle);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}

static const struct json_field middle_fields[] = {
	{JSON_FIELD_REAL(struct difference, middle.change, "share", 6)},
	{JSON_FIELD_REAL(struct difference, middle.low, "low", 6)},
	{JSON_FIELD_REAL(struct difference, middle.high, "high", 6)},
	{JSON_FIELD_BOOL(struct difference, by_middle, "decides")},
	{JSON_FIELD_BOOL(struct difference, is_torn, "contradicts")},
};

static void put_change(struct hwy_json *json, const struct compare_diff *diff)
{
	const struct difference *step = &diff->step;
	json_key(json, "change");
	json_begin_object(json);
	json_put_int(json, "ns", diff->change);
	json_put_real(json, "share", step->change / step->before, 6);
	json_put_real(json, "low", step->low / step->before, 6);
	json_put_real(json, "high", step->high / step->before, 6);
	json_put_real(json, "speedup", step->before / step->after, 6);
	json_put_text(json, "method", step->method);
	json_key(json, "middle_half");
	json_put_object(json, JSON_FIELDS(middle_fields), step);
	json_put_text(json, "why", compare_why(diff).text);
	json_end_object(json);
}

static void put_split(struct hwy_json *json, const struct compare_diff *diff)
{
	json_key(json, "split");
	json_begin_array(json);
	for (unsigned i = 0; i < PARTS; i++) {
		unsigned part = diff->order[i];
		json_begin_object(json);
		json_put_text(json, "part", summary_part_keys[part]);
		json_put_int(json, "before_ns", diff->before->parts[part]);
		json_put_int(json, "after_ns", diff->after->parts[part]);
		json_put_int(json, "change_ns", diff->parts[part]);
		json_end_object(json);
	}
	json_end_array(json);
}

static const struct json_field count_fields[] = {
	{JSON_FIELD_REAL(struct diff_count, before, "before", 3)},
	{JSON_FIELD_REAL(struct diff_count, after, "after", 3)},
};

static void put_counts(struct hwy_json *json, const struct compare_diff *diff)
{
	json_key(json, "per_step");
	json_begin_object(json);
	for (unsigned i = 0; i < COUNTS; i++) {
		json_key(json, summary_count_keys[i]);
		json_put_object(json, JSON_FIELDS(count_fields), &diff->counts[i]);
	}
	json_end_object(json);
	json_put_text(json, "new_wait", diff->new_wait);
}

/* ---- findings -------------------------------------------------------------------------------- */

static const struct json_field prediction_fields[] = {
	{JSON_FIELD_REAL(struct diff_finding, predicted, "speedup", 4)},
	{JSON_FIELD_REAL(struct diff_finding, low, "low", 4)},
	{JSON_FIELD_REAL(struct diff_finding, high, "high", 4)},
	{JSON_FIELD_REAL(struct diff_finding, measured, "measured", 4)},
	{JSON_FIELD_ENUM(struct diff_finding, grade, "grade", diff_grade_names, GRADES)},
};

static void put_prediction(struct hwy_json *json, const struct diff_finding *finding)
{
	if (!finding->before || !(finding->predicted > 0)) {
		json_null(json);
		return;
	}
	json_begin_object(json);
	json_put_text(json, "edits", finding->before->predicted.edits);
	json_put_int(json, "step_ns", finding->before->predicted.step);
	json_put_fields(json, JSON_FIELDS(prediction_fields), finding);
	json_end_object(json);
}

static void put_finding(struct hwy_json *json, const struct diff_finding *finding)
{
	const struct compare_finding *either = diff_finding_either(finding);
	json_begin_object(json);
	json_put_text(json, "id", either->id);
	json_put_text(json, "title", hwy_tr(either->title));
	json_put_text(json, "change", diff_finding_change_names[finding->change]);
	json_put_text(json, "place", either->place);
	json_key(json, "before_ns");
	finding->before ? json_int(json, finding->before->cost) : json_null(json);
	json_key(json, "after_ns");
	finding->after ? json_int(json, finding->after->cost) : json_null(json);
	json_key(json, "predicted");
	put_prediction(json, finding);
	json_end_object(json);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const struct json_field row_fields[] = {
	{JSON_FIELD_ENUM(struct diff_row, change, "change", diff_row_change_names, ROW_FEWER + 1)},
	{JSON_FIELD_TEXT(struct diff_row, before, "before")},
	{JSON_FIELD_TEXT(struct diff_row, after, "after")},
	{JSON_FIELD_BOOL(struct diff_row, is_renamed, "renamed")},
	{JSON_FIELD_INT(struct diff_row, ns_before, "before_ns_per_step")},
	{JSON_FIELD_INT(struct diff_row, ns_after, "after_ns_per_step")},
	{JSON_FIELD_REAL(struct diff_row, count_before, "before_count_per_step", 3)},
	{JSON_FIELD_REAL(struct diff_row, count_after, "after_count_per_step", 3)},
	{JSON_FIELD_REAL(struct diff_row, mean_before, "before_mean_ns", 1)},
	{JSON_FIELD_REAL(struct diff_row, mean_after, "after_mean_ns", 1)},
	{JSON_FIELD_OPTIONAL_INT(struct diff_row, span_before, "before_span")},
	{JSON_FIELD_OPTIONAL_INT(struct diff_row, span_after, "after_span")},
};

static void put_critical_path(struct hwy_json *json, const struct compare_diff *diff)
{
	const struct compare_phase *a = side_phase(diff->before), *b = side_phase(diff->after);
	json_key(json, "critical_path");
	json_begin_array(json);
	for (uint32_t i = 0; i < a->n_path && i < b->n_path; i++) {
		json_begin_object(json);
		json_put_text(json, "class", a->path[i].name);
		json_put_int(json, "before_ns", a->path[i].ns);
		json_put_int(json, "after_ns", b->path[i].ns);
		json_end_object(json);
	}
	json_end_array(json);
}

static const struct json_field note_fields[] = {
	{JSON_FIELD_TEXT(struct diff_note, what, "what")},
	{JSON_FIELD_TEXT(struct diff_note, before, "before")},
	{JSON_FIELD_TEXT(struct diff_note, after, "after")},
	{JSON_FIELD_TEXT(struct diff_note, so, "so")},
};

void compare_json_notes(struct hwy_json *json, const struct compare_diff *diff)
{
	json_key(json, "not_alike");
	json_put_array(json, JSON_FIELDS(note_fields), diff->notes, diff->n_notes,
		       sizeof *diff->notes);
}

void diff_print_json(FILE *out, const struct compare_diff *diff)
{
	struct hwy_json json = {.out = out, .pretty = true};
	json_begin_object(&json);
	json_put_text(&json, "verdict", statistics_verdict_names[diff->step.verdict]);
	compare_json_notes(&json, diff);
	json_put_bool(&json, "other_program", diff_is_other_program(diff));
	json_put_real(&json, "kernels_alike", diff->similarity, 4);
	put_side(&json, "before", diff->before);
	put_side(&json, "after", diff->after);
	put_change(&json, diff);
	put_split(&json, diff);
	put_counts(&json, diff);
	json_key(&json, "findings");
	json_begin_array(&json);
	for (uint32_t i = 0; i < diff->n_findings; i++)
		put_finding(&json, &diff->findings[i]);
	json_end_array(&json);
	for (unsigned kind = 0; kind < TABLES; kind++) {
		const struct diff_table *table = &diff->tables[kind];
		json_key(&json, summary_table_names[kind]);
		json_put_array(&json, JSON_FIELDS(row_fields), table->rows, table->n,
			       sizeof *table->rows);
	}
	put_critical_path(&json, diff);
	if (diff->jobs)
		diff_jobs_put_json(&json, diff->jobs);
	json_end_object(&json);
	fputc('\n', out);
}
