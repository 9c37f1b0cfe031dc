/* SPDX-License-Identifier: Apache-2.0 */
/* digest_json.c - `headway analyze --format json` of a job from its digests;
 * docs/analyze-json.md says what each key means. What the reports of a job would say too has the
 * keys of job_json.c. */
#include "base/json_fields.h"
#include "cli/digest_print.h"

static void put_rank_numbers(struct hwy_json *json, const char *key,
			     const struct digest_answer *answer, const uint32_t *ranks, uint32_t n)
{
	json_key(json, key);
	json_begin_array(json);
	for (uint32_t i = 0; i < n; i++)
		json_int(json, answer->ranks[ranks[i]].digest->rank);
	json_end_array(json);
}

static void put_texts(struct hwy_json *json, const char *key, char *const *texts, uint32_t n)
{
	json_key(json, key);
	json_begin_array(json);
	for (uint32_t i = 0; i < n; i++)
		json_textz(json, texts[i]);
	json_end_array(json);
}

static void put_rank(struct hwy_json *json, const struct digest_answer *answer, uint32_t r)
{
	const struct digest_judged *rank = &answer->ranks[r];
	const struct rank_digest *digest = rank->digest;
	const struct rank_row *row = &answer->job.ranks.rows[r];
	int64_t idle = 0;
	for (unsigned c = 0; c < GAP_CAUSES; c++)
		idle += row->parts[RANK_IDLE + c];
	json_begin_object(json);
	json_put_int(json, "rank", digest->rank);
	json_put_text(json, "file", digest->report);
	json_put_text(json, "host", digest->host);
	json_put_text(json, "topology", digest->topology);
	json_put_text(json, "gpu_uuid", digest->uuid);
	json_put_text(json, "verdict", verdict_words[digest->word]);
	json_put_bool(json, "judged", row->is_judged);
	json_put_text(json, "state", digest_state_names[rank->state]);
	json_put_int(json, "role", rank->role);
	json_put_int(json, "step_ns", row->step);
	json_put_int(json, "own_ns", rank->own);
	json_put_int(json, "compute_ns", row->parts[RANK_COMPUTE]);
	json_put_int(json, "transfer_ns", row->parts[RANK_TRANSFER]);
	json_put_int(json, "wait_ns", row->parts[RANK_WAIT]);
	json_put_int(json, "copy_ns", row->parts[RANK_COPY]);
	json_put_int(json, "idle_ns", idle);
	json_put_int(json, "hidden_comm_ns", row->hidden);
	json_put_int(json, "late_ns", rank->late);
	json_put_int(json, "costs_others_ns", row->blamed);
	json_put_int(json, "late_steps", row->n_late);
	json_put_int(json, "slowing_ns", rank->slowing);
	json_end_object(json);
}

static void put_lateness(struct hwy_json *json, const struct digest_answer *answer)
{
	const struct job_ranks *ranks = &answer->job.ranks;
	const struct ranks_cause *cause = &ranks->cause;
	json_key(json, "lateness");
	json_begin_object(json);
	json_put_text(json, "kind", ranks_lateness_names[ranks->lateness]);
	json_put_text(json, "says", answer->job.late_says);
	put_rank_numbers(json, "ranks", answer, ranks->late_ranks, ranks->n_late_ranks);
	json_put_bool(json, "guessed", true);
	json_put_int(json, "late_steps", ranks->n_late_steps);
	json_put_int(json, "waiting_ns", answer->wait);
	json_put_int(json, "gain_ns", answer->gain);
	json_key(json, "cause");
	if (!cause->is_known) {
		json_null(json);
	} else {
		json_begin_object(json);
		json_put_text(json, "part", ranks_part_name(cause->part));
		json_put_int(json, "more_ns", cause->more);
		json_put_real(json, "share", cause->share, 6);
		json_put_int(json, "rank", answer->ranks[cause->member].digest->rank);
		json_put_text(json, "says", answer->job.why);
		json_put_text(json, "kernel", cause->kernel);
		json_put_real(json, "kernel_time_ratio", cause->kernel_time, 4);
		json_put_real(json, "kernel_count_ratio", cause->kernel_count, 4);
		json_put_real(json, "threads_ratio", cause->threads, 4);
		json_put_text(json, "clock", answer->clock_says);
		json_end_object(json);
	}
	json_key(json, "in_common");
	json_begin_array(json);
	for (uint32_t i = 0; i < answer->n_common; i++) {
		const struct digest_common *one = &answer->common[i];
		json_begin_object(json);
		json_put_text(json, "what", digest_shared_names[one->what]);
		json_put_text(json, "value", one->value);
		put_rank_numbers(json, "ranks", answer, one->ranks, one->n);
		json_put_int(json, "all", one->all);
		json_end_object(json);
	}
	json_end_array(json);
	json_end_object(json);
}

static void put_drift(struct hwy_json *json, const struct digest_answer *answer)
{
	json_key(json, "trend");
	if (!answer->trend.is_sure) {
		json_null(json);
	} else {
		json_begin_object(json);
		json_put_int(json, "from_ns", answer->trend.from);
		json_put_int(json, "to_ns", answer->trend.to);
		json_put_real(json, "share_per_hour", answer->trend.per_hour, 6);
		json_put_real(json, "chance", answer->trend.chance, 9);
		json_put_text(json, "part", answer->trend.is_own ? "own" : "communication");
		json_put_text(json, "says", answer->trend_says);
		json_end_object(json);
	}
	put_rank_numbers(json, "slowing", answer, answer->slowing, answer->n_slowing);
}

static void put_slow_links(struct hwy_json *json, const struct digest_answer *answer)
{
	json_put_int(json, "links_compared", answer->n_links);
	json_key(json, "links");
	json_begin_array(json);
	for (uint32_t i = 0; i < answer->n_slow; i++) {
		const struct digest_link *link = &answer->links[i];
		uint32_t ends[2] = {link->from, link->to};
		json_begin_object(json);
		json_put_text(json, "operation", link->operation);
		json_put_bool(json, "pair", link->is_pair);
		put_rank_numbers(json, "ranks", answer, ends, 2);
		json_put_text(json, "group", link->group);
		json_put_bool(json, "across_hosts", link->is_across);
		json_put_int(json, "exchanges", (int64_t)link->n);
		json_put_int(json, "mean_bytes", (int64_t)link->bytes);
		json_put_real(json, "bytes_per_s", link->rate, 0);
		json_put_real(json, "usual_bytes_per_s", link->usual, 0);
		json_put_bool(json, "slow", link->is_slow);
		json_put_int(json, "cost_ns_per_step", link->cost);
		json_end_object(json);
	}
	json_end_array(json);
}

static void put_roles(struct hwy_json *json, const struct digest_answer *answer)
{
	json_key(json, "roles");
	json_begin_array(json);
	for (uint32_t i = 0; i < answer->n_roles; i++) {
		const struct digest_role *role = &answer->roles[i];
		json_begin_object(json);
		json_put_int(json, "ranks", role->all);
		json_put_int(json, "in_time", role->n);
		json_put_bool(json, "alike", !role->is_rest);
		json_put_int(json, "typical_rank",
			     role->typical < answer->n ? answer->ranks[role->typical].digest->rank
						       : -1);
		json_put_int(json, "own_ns", role->own);
		json_end_object(json);
	}
	json_end_array(json);
}

static void put_digest_findings(struct hwy_json *json, const struct digest_answer *answer)
{
	json_key(json, "findings");
	json_begin_array(json);
	for (uint32_t i = 0; i < answer->n_findings; i++) {
		const struct digest_finding *one = &answer->findings[i];
		json_begin_object(json);
		json_put_text(json, "id", one->id);
		put_rank_numbers(json, "ranks", answer, one->ranks, one->n);
		json_put_int(json, "cost_ns_per_step", one->cost);
		json_put_int(json, "least_ns", one->least);
		json_put_int(json, "most_ns", one->most);
		json_put_int(json, "worst_rank",
			     one->worst < answer->n ? answer->ranks[one->worst].digest->rank : -1);
		json_put_text(json, "place", one->place);
		json_put_text(json, "says", one->says);
		json_end_object(json);
	}
	json_end_array(json);
}

void digest_print_json(FILE *out, const struct analyze_view *how, const struct digest_view *view)
{
	const struct digest_answer *answer = &view->answer;
	struct hwy_json json = {.out = out, .pretty = true};
	(void)how;
	json_begin_object(&json);
	json_key(&json, "job");
	json_begin_object(&json);
	json_put_text(&json, "from", "digests");
	json_put_text(&json, "id", answer->id);
	json_put_text(&json, "verdict", verdict_words[answer->job.word]);
	json_put_text(&json, "says", answer->job.says);
	json_key(&json, "shares");
	json_begin_object(&json);
	for (unsigned w = 0; w < VERDICTS; w++)
		json_put_real(&json, verdict_words[w], answer->job.shares[w], 6);
	json_end_object(&json);
	cli_put_optional(&json, "world", answer->world);
	json_put_int(&json, "step_ns", answer->job.step);
	json_put_int(&json, "steps", answer->job.ranks.n_steps);
	json_put_real(&json, "compute_imbalance", answer->job.ranks.imbalance, 6);
	put_lateness(&json, answer);
	put_drift(&json, answer);
	put_slow_links(&json, answer);
	put_roles(&json, answer);
	put_digest_findings(&json, answer);
	put_rank_numbers(&json, "reports_opened", answer, view->opened, view->n_opened);
	if (view->reports.job)
		json_put_text(&json, "reports_say", view->reports.job->answer.late_says);
	json_key(&json, "ranks");
	json_begin_array(&json);
	for (uint32_t r = 0; r < answer->n; r++)
		put_rank(&json, answer, r);
	json_end_array(&json);
	put_texts(&json, "problems", answer->problems, answer->n_problems);
	json_end_object(&json);
	json_end_object(&json);
}
