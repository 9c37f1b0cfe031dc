/* SPDX-License-Identifier: Apache-2.0 */
/* job_json.c - the member "job" of `headway analyze --format json`; docs/analyze-json.md says
 * what each key means. Keys are added, never renamed. */
#include "base/json_fields.h"
#include "base/lang.h"
#include "cli/job_print.h"
#include "cli/kit/cli.h"

static void put_parts(struct hwy_json *json, const struct rank_row *row)
{
	json_put_int(json, "compute_ns", row->parts[RANK_COMPUTE]);
	json_put_int(json, "transfer_ns", row->parts[RANK_TRANSFER]);
	json_put_int(json, "wait_ns", row->parts[RANK_WAIT]);
	json_put_int(json, "start_ns", row->parts[RANK_START]);
	json_put_int(json, "copy_ns", row->parts[RANK_COPY]);
	int64_t idle = 0;
	for (unsigned c = 0; c < GAP_CAUSES; c++)
		idle += row->parts[RANK_IDLE + c];
	json_put_int(json, "idle_ns", idle);
	json_key(json, "idle_causes");
	json_begin_object(json);
	for (unsigned c = 0; c < GAP_CAUSES; c++)
		json_put_int(json, gap_cause_names[c], row->parts[RANK_IDLE + c]);
	json_end_object(json);
}

static void put_clock(struct hwy_json *json, const struct job_clock *clock)
{
	json_key(json, "clock");
	json_begin_object(json);
	json_put_text(json, "source", job_clock_source_names[clock->source]);
	json_put_int(json, "shift_ns", clock->shift);
	json_put_int(json, "drift_1e12", clock->drift);
	cli_put_optional(json, "error_ns", clock->source == JOB_CLOCK_SAME ? 0 : clock->error);
	json_end_object(json);
}

static void put_ranks(struct hwy_json *json, const struct job_view *job)
{
	const struct job_ranks *ranks = &job->answer.ranks;
	json_key(json, "ranks");
	json_begin_array(json);
	for (uint32_t r = 0; r < ranks->n; r++) {
		const struct rank_row *row = &ranks->rows[r];
		json_begin_object(json);
		json_put_int(json, "rank", row->rank);
		json_put_text(json, "file", job->runs[r]->path);
		json_put_text(json, "host", row->host);
		json_put_text(json, "verdict",
			      verdict_words[job->members[r].diagnosis->verdict.word]);
		json_put_bool(json, "judged", row->is_judged);
		json_put_int(json, "step_ns", row->step);
		put_parts(json, row);
		json_put_int(json, "hidden_comm_ns", row->hidden);
		json_put_int(json, "waited_ns", row->waited);
		json_put_int(json, "costs_others_ns", row->blamed);
		json_put_int(json, "collectives", row->n_meetings);
		json_put_int(json, "came_last", row->n_last);
		json_put_int(json, "late_steps", row->n_late);
		put_clock(json, &job->job.ranks[r].clock);
		json_end_object(json);
	}
	json_end_array(json);
}

static void put_numbers(struct hwy_json *json, const int64_t *values, uint32_t n)
{
	json_begin_array(json);
	for (uint32_t i = 0; i < n; i++)
		json_int(json, values[i]);
	json_end_array(json);
}

static void put_late(struct hwy_json *json, const struct job_view *job)
{
	const struct job_ranks *ranks = &job->answer.ranks;
	const struct ranks_cause *cause = &ranks->cause;
	json_key(json, "lateness");
	json_begin_object(json);
	json_put_text(json, "kind", ranks_lateness_names[ranks->lateness]);
	json_put_text(json, "says", job->answer.late_says);
	json_key(json, "ranks");
	json_begin_array(json);
	for (uint32_t i = 0; i < ranks->n_late_ranks; i++)
		json_int(json, ranks->rows[ranks->late_ranks[i]].rank);
	json_end_array(json);
	json_put_bool(json, "guessed", ranks->is_guessed);
	json_put_int(json, "late_steps", ranks->n_late_steps);
	json_put_int(json, "waiting_ns", ranks->waiting);
	json_key(json, "cause");
	if (!cause->is_known) {
		json_null(json);
	} else {
		json_begin_object(json);
		json_put_text(json, "part", ranks_part_name(cause->part));
		json_put_int(json, "more_ns", cause->more);
		json_put_real(json, "share", cause->share, 6);
		json_put_int(json, "rank", ranks->rows[cause->member].rank);
		json_put_text(json, "says", job->answer.why);
		json_put_text(json, "doing", cause->doing);
		json_put_text(json, "kernel", cause->kernel);
		json_put_text(json, "file", cause->has_place ? cause->place.file : "");
		cli_put_optional(json, "line",
				 cause->has_place && cause->place.line > 0 ? cause->place.line
									   : HWY_NONE);
		cli_put_optional(json, "after_line",
				 cause->after_line > 0 ? cause->after_line : HWY_NONE);
		json_put_text(json, "function", cause->has_place ? cause->place.function : "");
		json_put_text(json, "range", cause->has_place ? cause->place.range : "");
		json_put_real(json, "kernel_time_ratio", cause->kernel_time, 4);
		json_put_real(json, "kernel_count_ratio", cause->kernel_count, 4);
		json_put_real(json, "threads_ratio", cause->threads, 4);
		json_end_object(json);
	}
	json_end_object(json);
}

static void put_matrices(struct hwy_json *json, const struct job_ranks *ranks)
{
	json_key(json, "waits_ns");
	json_begin_array(json);
	for (uint32_t r = 0; r < ranks->n; r++)
		put_numbers(json, &ranks->waits[(size_t)r * ranks->n], ranks->n);
	json_end_array(json);
	json_key(json, "late_ns");
	json_begin_array(json);
	for (uint32_t r = 0; r < ranks->n; r++)
		put_numbers(json, &ranks->late[(size_t)r * ranks->n_steps], ranks->n_steps);
	json_end_array(json);
}

static void put_links(struct hwy_json *json, const struct job_view *job)
{
	json_key(json, "links");
	json_begin_array(json);
	for (uint32_t i = 0; i < job->answer.routes.n; i++) {
		const struct job_route *route = &job->answer.routes.routes[i];
		json_begin_object(json);
		json_put_text(json, "operation", route->operation);
		json_key(json, "ranks");
		json_begin_array(json);
		for (uint32_t k = 0; k < route->n_members; k++)
			json_int(json, job->members[route->members[k]].rank);
		json_end_array(json);
		json_put_bool(json, "across_hosts", route->is_across);
		json_put_int(json, "exchanges", route->n);
		json_put_int(json, "bytes", (int64_t)route->bytes);
		json_put_int(json, "ns", route->ns);
		json_put_real(json, "bytes_per_s", route->rate, 0);
		json_put_real(json, "usual_bytes_per_s", route->usual, 0);
		json_put_bool(json, "slow", route->is_slow);
		json_end_object(json);
	}
	json_end_array(json);
}

static void put_job_path(struct hwy_json *json, const struct job_view *job)
{
	const struct hwy_run_path *path = &job->answer.path;
	json_key(json, "path");
	if (path->n == 0) {
		json_null(json);
		return;
	}
	json_begin_object(json);
	json_put_int(json, "start_ns", path->window.from);
	json_put_int(json, "end_ns", path->window.to);
	json_put_int(json, "crossings", path->n_crossings);
	json_key(json, "ranks");
	json_begin_array(json);
	for (uint32_t r = 0; r < path->n_ranks; r++) {
		json_begin_object(json);
		json_put_int(json, "rank", job->members[r].rank);
		json_put_int(json, "ns", path->by_rank[r]);
		json_end_object(json);
	}
	json_end_array(json);
	json_key(json, "classes");
	json_begin_object(json);
	for (unsigned c = 0; c < PATH_CLASSES; c++)
		json_put_int(json, path_class_names[c], path->classes[c]);
	json_end_object(json);
	json_end_object(json);
}

/* Where the finding costs most. */
static void put_place(struct hwy_json *json, const struct hwy_finding *finding)
{
	const struct hwy_place *at = finding->n_places > 0 ? &finding->places[0].at : NULL;
	json_put_text(json, "file", at ? at->file : "");
	cli_put_optional(json, "line", at && at->line > 0 ? at->line : HWY_NONE);
	json_put_text(json, "function", at ? at->function : "");
}

static void put_evidence(struct hwy_json *json, const struct job_view *job,
			 const struct job_finding *one)
{
	json_key(json, "evidence");
	json_begin_array(json);
	for (uint32_t i = 0; i < one->finding->n_evidence; i++) {
		uint32_t own = one->finding->evidence[i];
		int64_t span = job->span_of ? job->span_of(job->self, one->member, own) : own;
		if (span != HWY_NONE)
			json_int(json, span);
	}
	json_end_array(json);
}

static void put_job_findings(struct hwy_json *json, const struct job_view *job)
{
	json_key(json, "findings");
	json_begin_array(json);
	for (uint32_t i = 0; i < job->answer.n_findings; i++) {
		const struct job_finding *one = &job->answer.findings[i];
		json_begin_object(json);
		json_put_text(json, "id", one->finding->kind->id);
		json_put_text(json, "title", hwy_tr(one->finding->kind->title));
		json_key(json, "ranks");
		json_begin_array(json);
		for (uint32_t k = 0; k < one->n_members; k++)
			json_int(json, job->members[one->members[k]].rank);
		json_end_array(json);
		json_put_bool(json, "joint", one->is_joint);
		json_put_int(json, "cost_ns_per_step", one->cost);
		json_put_int(json, "least_ns", one->least);
		json_put_int(json, "most_ns", one->most);
		json_put_int(json, "worst_rank", job->members[one->member].rank);
		json_put_text(json, "says", one->finding->says);
		put_place(json, one->finding);
		/* What a rank gains alone says nothing about a job that waits for others. */
		cli_put_optional(json, "predicted_step_ns",
				 one->is_joint && one->finding->predicted.is_known
					 ? one->finding->predicted.step
					 : HWY_NONE);
		if (one->is_joint && one->finding->predicted.is_known) {
			json_key(json, "predicted");
			analyze_json_put_predicted(json, &one->finding->predicted);
		}
		put_evidence(json, job, one);
		json_put_text(json, "advice", one->finding->advice);
		json_end_object(json);
	}
	json_end_array(json);
}

static void put_cpu(struct hwy_json *json, const struct job_view *job)
{
	json_key(json, "exchanges");
	json_begin_array(json);
	for (uint32_t r = 0; r < job->answer.n && job->answer.cpu; r++) {
		json_begin_object(json);
		json_put_int(json, "rank", job->members[r].rank);
		json_put_int(json, "window_ns", job->answer.cpu[r].window);
		json_put_int(json, "comm_ns", job->answer.cpu[r].comm);
		json_put_int(json, "waits_ns", job->answer.cpu[r].waits);
		json_put_int(json, "costs_others_ns", job->answer.cpu[r].costs);
		json_put_int(json, "threads", job->answer.cpu[r].threads);
		json_end_object(json);
	}
	json_end_array(json);
}

void job_json_put(struct hwy_json *json, const struct job_view *job)
{
	const struct job_answer *answer = &job->answer;
	json_key(json, "job");
	json_begin_object(json);
	json_put_text(json, "verdict", verdict_words[answer->word]);
	json_put_text(json, "says", answer->says);
	json_key(json, "shares");
	json_begin_object(json);
	for (unsigned w = 0; w < VERDICTS; w++)
		json_put_real(json, verdict_words[w], answer->shares[w], 6);
	json_end_object(json);
	json_put_int(json, "step_ns", answer->step);
	json_put_int(json, "steps", answer->ranks.n_steps);
	json_put_int(json, "collectives", answer->ranks.n_meetings);
	json_put_int(json, "collective_ends_within_ns", answer->meetings.uncertain);
	json_put_real(json, "compute_imbalance", answer->ranks.imbalance, 6);
	put_ranks(json, job);
	put_late(json, job);
	put_matrices(json, &answer->ranks);
	put_links(json, job);
	put_job_path(json, job);
	put_cpu(json, job);
	put_job_findings(json, job);
	json_key(json, "problems");
	json_begin_array(json);
	for (uint32_t i = 0; i < job->job.n_problems; i++)
		json_textz(json, job->job.problems[i]);
	json_end_array(json);
	json_end_object(json);
}
