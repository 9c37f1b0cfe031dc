/* SPDX-License-Identifier: Apache-2.0 */
/* digest_words.c - the sentences about a job whose digests were read; see digest_answer.h. Who
 * is late and why is said in the words of job/answer.h. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/lang.h"
#include "base/say.h"
#include "digest/digest_answer.h"

/* Ranks of one role that need this share of a step longer than those of another are worth a
 * word. */
#define UNEVEN_SHARE 0.05
enum { MOST_NAMED = 3 };

const char *digest_say_ranks(struct digest_answer *answer, const uint32_t *ranks, uint32_t n)
{
	return answer_say_ranks(&answer->arena, &answer->job.ranks, ranks, n);
}

/* ---- what late ranks have in common ---------------------------------------------------------- */

/* " Both are on host n76.", " 12 of the 14 are behind switch s0.s9." in the arena. */
static const char *say_common(struct digest_answer *answer)
{
	const char *text = "";
	uint32_t late = answer->job.ranks.n_late_ranks;
	uint32_t accused = late > 0 ? late : answer->n_slowing;
	for (uint32_t i = 0; i < answer->n_common && i < MOST_NAMED; i++) {
		const struct digest_common *one = &answer->common[i];
		static const char *const where[DIGEST_SHARED] = {
			[DIGEST_HOST] = HWY_KEY("on host "),
			[DIGEST_SWITCH] = HWY_KEY("behind switch "),
			[DIGEST_GPU] = HWY_KEY("on a "),
			[DIGEST_LOCAL_RANK] = HWY_KEY("local rank "),
		};
		const char *who =
			one->n == 2 && accused == 2 ? hwy_tr("Both are")
			: one->n == accused
				? hwy_arena_say(&answer->arena, "All %" PRIu32 " are", one->n)
				: hwy_arena_say(&answer->arena, "%s are",
						digest_say_ranks(answer, one->ranks, one->n));
		char *words = hwy_arena_format(&answer->arena, "%s", who);
		if (*words >= 'a' && *words <= 'z')
			*words = (char)(*words - 'a' + 'A');
		text = hwy_arena_say(
			&answer->arena, "%s%s%s %s%s%s.", text, *text ? " " : "", words,
			hwy_tr(where[one->what]), one->value,
			hwy_tr(one->n == one->all && one->n > 2 ? ", and so are no others" : ""));
	}
	return text;
}

/* What the job would gain, a sentence, or "". */
static const char *say_gain(struct digest_answer *answer)
{
	int64_t now = answer->job.step, then = now - answer->gain;
	if (answer->job.ranks.n_late_ranks == 0 || answer->gain < digest_worth(answer) || then <= 0)
		return "";
	return hwy_arena_say(
		&answer->arena, "With %s in time, a step would take %s instead of %s (%.2f×).",
		answer->job.ranks.n_late_ranks == 1 ? hwy_tr("it") : hwy_tr("them"),
		hwy_say_time3(then).text, hwy_say_time3(now).text, (double)now / (double)then);
}

/* ---- the verdict ----------------------------------------------------------------------------- */

static const char *say_verdict(struct digest_answer *answer)
{
	struct job_answer *job = &answer->job;
	struct hwy_arena *arena = &answer->arena;
	const struct compare_phase *typical =
		job->typical < answer->n ? digest_phase(answer->ranks[job->typical].digest) : NULL;
	struct hwy_phase phase = {.source = typical && !typical->repeats ? PHASE_ONE : PHASE_MARKS,
				  .n_steady = typical ? typical->n_steady : 0};
	double step = (double)(job->step > 0 ? job->step : 1);
	bool late = job->ranks.lateness == RANKS_REPEAT || job->ranks.lateness == RANKS_TAKE_TURNS;
	if (!answer->has_devices && answer->matrix.n_buckets == 0)
		return hwy_tr(
			"No rank has device work, and no collectives of all ranks tell one step from the next: only the reports "
			"themselves can be compared (--whole).");
	if (!answer->has_devices)
		return late && job->word == VERDICT_COMM ? job->late_says
		       : job->word == VERDICT_COMM
			       ? hwy_arena_say(
					 arena,
					 "The ranks communicate and wait for each other %s of their time.",
					 hwy_say_share(job->shares[VERDICT_COMM]).text)
			       : hwy_tr("No rank has device work in its recording (no kernel, copy, fill or graph).");
	const char *plain = verdict_sentence(job->word, job->shares[job->word], &phase, arena);
	if (job->word != VERDICT_COMM)
		return plain;
	if (late && 2 * answer->wait >= answer->transfer)
		return job->late_says;
	return hwy_arena_say(arena, "%.*s: %s is waiting for other ranks, %s transfer.",
			     (int)(strlen(plain) - strlen(hwy_tr_word(HWY_KEY("stop|.")))), plain,
			     hwy_say_share((double)answer->wait / step).text,
			     hwy_say_share((double)answer->transfer / step).text);
}

/* ---- roles ----------------------------------------------------------------------------------- */

static const char *say_roles(struct digest_answer *answer)
{
	const struct digest_role *slowest = NULL, *next = NULL;
	for (uint32_t k = 0; k < answer->n_roles; k++) {
		const struct digest_role *role = &answer->roles[k];
		if (role->n == 0 || role->is_rest)
			continue;
		if (!slowest || role->own > slowest->own) {
			next = slowest;
			slowest = role;
		} else if (!next || role->own > next->own) {
			next = role;
		}
	}
	if (!next || (double)(slowest->own - next->own) < UNEVEN_SHARE * (double)answer->job.step)
		return "";
	return hwy_arena_say(
		&answer->arena,
		"The %s ranks that work like rank %" PRId64
		" need %s longer than the next slowest kind: the work is shared out unevenly.",
		hwy_say_count_grouped(slowest->n).text,
		answer->ranks[slowest->typical].digest->rank,
		hwy_say_time3(slowest->own - next->own).text);
}

/* ---- time ------------------------------------------------------------------------------------ */

static const char *say_trend(struct digest_answer *answer)
{
	const struct digest_trend *trend = &answer->trend;
	if (!trend->is_sure)
		return "";
	double share =
		trend->from > 0 ? (double)(trend->to - trend->from) / (double)trend->from : 0;
	/* A rate that says more than the whole rise is worth nothing: the recording is shorter
	 * than an hour. */
	const char *rate = isfinite(trend->per_hour) && trend->per_hour < share
				   ? hwy_arena_say(&answer->arena, ", %s an hour",
						   hwy_say_share_change(trend->per_hour).text)
				   : "";
	return hwy_arena_say(
		&answer->arena,
		"The steps of all ranks get slower with time: from %s to %s (%s%s), %s.",
		hwy_say_time3(trend->from).text, hwy_say_time3(trend->to).text,
		hwy_say_share_change(share).text, rate,
		hwy_tr(trend->is_own ? "in the ranks' own time" : "in communication"));
}

static const char *say_slowing(struct digest_answer *answer)
{
	struct hwy_arena *arena = &answer->arena;
	const char *text = "";
	for (uint32_t i = 0; i < answer->n_slowing && i < MOST_NAMED; i++) {
		const struct digest_judged *rank = &answer->ranks[answer->slowing[i]];
		text = hwy_arena_say(arena, "%s%srank %" PRId64 "%s%s by %s", text,
				     i == 0 ? "" : hwy_tr(", "), rank->digest->rank,
				     hwy_tr(*rank->digest->host ? " on " : ""), rank->digest->host,
				     hwy_say_time3(rank->slowing).text);
	}
	if (answer->n_slowing == 0)
		return "";
	bool is_one = answer->n_slowing == 1;
	return hwy_arena_say(
		arena, "%s slower with time, compared with the others, over the recording: %s%s.",
		is_one ? hwy_tr("One rank gets")
		       : hwy_arena_say(arena, "%" PRIu32 " ranks get", answer->n_slowing),
		text, answer->n_slowing > MOST_NAMED ? " …" : "");
}

/* ---- links ----------------------------------------------------------------------------------- */

static const char *say_link(struct digest_answer *answer)
{
	const struct digest_link *link = answer->links;
	if (answer->n_slow == 0)
		return "";
	struct hwy_words rate = hwy_say_rate3(link->rate), usual = hwy_say_rate3(link->usual);
	const struct rank_digest *from = answer->ranks[link->from].digest,
				 *to = answer->ranks[link->to].digest;
	const char *more = answer->n_slow > 1
				   ? hwy_arena_say(&answer->arena, " %" PRIu32 " links are slow.",
						   answer->n_slow)
				   : "";
	if (link->is_pair)
		return hwy_arena_say(&answer->arena,
				     "Messages from rank %" PRId64 "%s%s%s to rank %" PRId64
				     "%s%s%s travel at %s, those between other ranks %s at %s.%s",
				     from->rank, *from->host ? " (" : "", from->host,
				     *from->host ? ")" : "", to->rank, *to->host ? " (" : "",
				     to->host, *to->host ? ")" : "", rate.text,
				     hwy_tr(link->is_across ? "of different hosts" : "of one host"),
				     usual.text, more);
	return hwy_arena_say(&answer->arena,
			     "%s in the communicator%s%s of %" PRId64 " ranks, rank %" PRId64
			     " among them, moves %s, in others like it %s.%s",
			     link->operation, *link->group ? " " : "", link->group, link->size,
			     from->rank, rate.text, usual.text, more);
}

void digest_words_say(struct digest_answer *answer)
{
	struct job_answer *job = &answer->job;
	job->why = answer_say_why(job);
	job->late_says = answer_say_late(job);
	const char *common = say_common(answer);
	if (job->ranks.lateness == RANKS_REPEAT && *common)
		job->late_says = hwy_arena_say(&answer->arena, "%s %s", job->late_says, common);
	answer->gain_says = say_gain(answer);
	answer->role_says = say_roles(answer);
	answer->trend_says = say_trend(answer);
	answer->slowing_says = say_slowing(answer);
	answer->link_says = say_link(answer);
	job->says = say_verdict(answer);
}
