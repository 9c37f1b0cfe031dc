/* diff_json.c - a comparison as one JSON object; docs/ci.md says what each key means. Keys are added, never
 * renamed. */

#include "base/json.h"
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
	json_begin_object(json);
	json_put_real(json, "share", step->middle.change, 6);
	json_put_real(json, "low", step->middle.low, 6);
	json_put_real(json, "high", step->middle.high, 6);
	json_put_bool(json, "decides", step->by_middle);
	json_end_object(json);
	json_put_text(json, "why", compare_why(diff).at);
	json_end_object(json);
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

static void put_counts(struct hwy_json *json, const struct compare_diff *diff)
{
	json_key(json, "per_step");
	json_begin_object(json);
	for (unsigned i = 0; i < COUNTS; i++) {
		json_key(json, summary_count_keys[i]);
		json_begin_object(json);
		json_put_real(json, "before", diff->counts[i].before, 3);
		json_put_real(json, "after", diff->counts[i].after, 3);
		json_end_object(json);
	}
	json_end_object(json);
}

static void diff_json_put_finding(struct hwy_json *json, const struct diff_finding *finding)
{
	const struct compare_finding *one = finding->before ? finding->before : finding->after;
	json_begin_object(json);
	json_put_text(json, "id", one->id);
	json_put_text(json, "title", one->title);
	json_put_text(json, "change", diff_finding_change_names[finding->change]);
	json_put_text(json, "place", one->place);
	json_key(json, "before_ns");
	finding->before ? json_int(json, finding->before->cost) : json_null(json);
	json_key(json, "after_ns");
	finding->after ? json_int(json, finding->after->cost) : json_null(json);
	json_key(json, "predicted");
	if (finding->predicted > 0) {
		json_begin_object(json);
		json_put_text(json, "edits", finding->before->predicted.edits);
		json_put_int(json, "step_ns", finding->before->predicted.step);
		json_put_real(json, "speedup", finding->predicted, 4);
		json_put_real(json, "low", finding->low, 4);
		json_put_real(json, "high", finding->high, 4);
		json_put_real(json, "measured", finding->measured, 4);
		json_put_text(json, "grade", diff_grade_names[finding->grade]);
		json_end_object(json);
	} else {
		json_null(json);
	}
	json_end_object(json);
}

static void diff_json_put_row(struct hwy_json *json, const struct diff_row *row)
{
	json_begin_object(json);
	json_put_text(json, "change", diff_row_change_names[row->change]);
	json_put_text(json, "before", row->before);
	json_put_text(json, "after", row->after);
	json_put_bool(json, "renamed", row->is_renamed);
	json_put_int(json, "before_ns_per_step", row->ns_before);
	json_put_int(json, "after_ns_per_step", row->ns_after);
	json_put_real(json, "before_count_per_step", row->count_before, 3);
	json_put_real(json, "after_count_per_step", row->count_after, 3);
	json_put_real(json, "before_mean_ns", row->mean_before, 1);
	json_put_real(json, "after_mean_ns", row->mean_after, 1);
	json_end_object(json);
}

static void put_path(struct hwy_json *json, const struct compare_diff *diff)
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

void compare_json_notes(struct hwy_json *json, const struct compare_diff *diff)
{
	json_key(json, "not_alike");
	json_begin_array(json);
	for (uint32_t i = 0; i < diff->n_notes; i++) {
		json_begin_object(json);
		json_put_text(json, "what", diff->notes[i].what);
		json_put_text(json, "before", diff->notes[i].before);
		json_put_text(json, "after", diff->notes[i].after);
		json_end_object(json);
	}
	json_end_array(json);
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
	put_counts(&json, diff);
	json_key(&json, "findings");
	json_begin_array(&json);
	for (uint32_t i = 0; i < diff->n_findings; i++)
		diff_json_put_finding(&json, &diff->findings[i]);
	json_end_array(&json);
	for (unsigned kind = 0; kind < TABLES; kind++) {
		json_key(&json, summary_table_names[kind]);
		json_begin_array(&json);
		for (uint32_t i = 0; i < diff->tables[kind].n; i++)
			diff_json_put_row(&json, &diff->tables[kind].rows[i]);
		json_end_array(&json);
	}
	put_path(&json, diff);
	json_end_object(&json);
	fputc('\n', out);
}
