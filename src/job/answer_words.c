/* SPDX-License-Identifier: Apache-2.0 */
/* answer_words.c - the sentences about a job: who is late, why, and the verdict; see answer.h. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/lang.h"
#include "base/path.h"
#include "base/say.h"
#include "job/answer.h"

/* Ratios nearer to 1 than this are no difference. */
#define SAME_RATIO 0.05

/* ---- ranks ----------------------------------------------------------------------------------- */

const char *answer_say_ranks(struct hwy_arena *arena, const struct job_ranks *ranks,
			     const uint32_t *members, uint32_t n)
{
	enum { MOST_RUNS = 8 };
	char text[512] = "";
	uint32_t runs = 0;
	if (n == ranks->n && n > 2)
		return hwy_tr("all ranks");
	for (uint32_t i = 0; i < n && runs < MOST_RUNS; runs++) {
		uint32_t last = i;
		while (last + 1 < n &&
		       ranks->rows[members[last + 1]].rank == ranks->rows[members[last]].rank + 1)
			last++;
		size_t length = strlen(text);
		bool ends = last + 1 == n;
		const char *between = i == 0 ? "" : ends ? hwy_tr(" and ") : hwy_tr(", ");
		if (last > i + 1)
			snprintf(text + length, sizeof text - length, "%s%" PRId64 " – %" PRId64,
				 between, ranks->rows[members[i]].rank,
				 ranks->rows[members[last]].rank);
		else
			snprintf(text + length, sizeof text - length, "%s%" PRId64, between,
				 ranks->rows[members[last = i]].rank);
		i = last + 1;
		if (runs + 1 == MOST_RUNS && i < n)
			snprintf(text + strlen(text), sizeof text - strlen(text), " …");
	}
	return hwy_arena_format(arena, "%s %s", hwy_tr(n == 1 ? "rank" : "ranks"), text);
}

/* ---- why ------------------------------------------------------------------------------------- */

static bool is_more(double ratio)
{
	return ratio > 1 + SAME_RATIO;
}

static bool is_alike(double ratio)
{
	return ratio > 1 - SAME_RATIO && ratio < 1 + SAME_RATIO;
}

enum work_sort { WORK_MORE_KERNELS, WORK_LARGER, WORK_SLOWER, WORK_UNKNOWN };

static enum work_sort sort_of_work(const struct ranks_cause *cause)
{
	if (is_more(cause->kernel_count))
		return WORK_MORE_KERNELS;
	if (is_more(cause->threads))
		return WORK_LARGER;
	return is_alike(cause->kernel_count) && is_alike(cause->threads) ? WORK_SLOWER
									 : WORK_UNKNOWN;
}

/* Words about one late rank, or about several. */
struct subject {
	const char *it, *s; /* "it computes", "they compute" */
	const char *gpu_idles, *gpu_waits, *cpu, *is, *its;
};
static const struct subject one_rank = {HWY_KEY("it"),
					"s",
					HWY_KEY("its GPU idles"),
					HWY_KEY("its GPU waits"),
					HWY_KEY("its CPU"),
					"is",
					HWY_KEY("its")};
static const struct subject some_ranks = {HWY_KEY("they"),
					  "",
					  HWY_KEY("their GPUs idle"),
					  HWY_KEY("their GPUs wait"),
					  HWY_KEY("their CPUs"),
					  "are",
					  HWY_KEY("their")};

static const struct subject *subject_of(const struct job_answer *answer)
{
	return answer->ranks.lateness == RANKS_REPEAT && answer->ranks.n_late_ranks > 1
		       ? &some_ranks
		       : &one_rank;
}

/* The kernel that grew most, short enough for a sentence: ", most of it in gemm"; "" where none
 * is known. */
static const char *most_in(struct job_answer *answer)
{
	enum { LONGEST = 48 };
	const char *kernel = answer->ranks.cause.kernel;
	size_t length = strcspn(kernel, "<(");
	if (!*kernel)
		return "";
	bool is_long = length > LONGEST;
	return hwy_arena_say(&answer->arena, ", most of it in %.*s%s",
			     (int)(is_long ? LONGEST : length), kernel, is_long ? "…" : "");
}

static const char *why_compute(struct job_answer *answer, const char *more)
{
	const struct ranks_cause *cause = &answer->ranks.cause;
	const struct subject *who = subject_of(answer);
	const char *head = hwy_arena_say(&answer->arena, "%s compute%s %s longer%s",
					 hwy_tr(who->it), who->s, more, most_in(answer));
	switch (sort_of_work(cause)) {
	case WORK_MORE_KERNELS:
		return hwy_arena_say(&answer->arena, "%s, with %.2f× as many kernels", head,
				     cause->kernel_count);
	case WORK_LARGER:
		return hwy_arena_say(&answer->arena, "%s, on %.2f× as much (threads launched)",
				     head, cause->threads);
	case WORK_SLOWER:
		return hwy_arena_say(
			&answer->arena,
			"%s, although %s launch%s the same: kernels take %.2f× as long", head,
			hwy_tr(who->it), *who->s ? "es" : "", cause->kernel_time);
	default: return head;
	}
}

/* " at train.py:12 step", " before train.py:12 step", " between train.py:53 and :55, in main";
 * "" where the place is not known. */
static const char *place_text(struct job_answer *answer)
{
	const struct hwy_place *place = &answer->ranks.cause.place;
	if (!answer->ranks.cause.has_place)
		return "";
	if (answer->ranks.cause.after_line > 0)
		return hwy_arena_say(&answer->arena,
				     " between %s:%" PRId64 " and :%" PRId64 ", in %s",
				     hwy_basename(place->file), answer->ranks.cause.after_line,
				     place->line, place->function);
	if (*place->file && place->line > 0)
		return hwy_arena_say(&answer->arena,
				     answer->ranks.cause.is_before_place ? " before %s:%" PRId64
									   "%s%s"
									 : " at %s:%" PRId64 "%s%s",
				     hwy_basename(place->file), place->line,
				     *place->function ? " " : "", place->function);
	return *place->function ? hwy_arena_say(&answer->arena, " at %s", place->function) : "";
}

static const char *why_idle(struct job_answer *answer, enum gap_cause which, const char *more)
{
	const struct ranks_cause *cause = &answer->ranks.cause;
	const struct subject *who = subject_of(answer);
	struct hwy_arena *arena = &answer->arena;
	const char *place = place_text(answer);
	if (which == GAP_INPUT)
		return hwy_arena_say(arena, "%s %s longer for input%s%s%s", hwy_tr(who->gpu_waits),
				     more, hwy_tr(*cause->doing ? ", in " : ""), cause->doing,
				     place);
	if (*cause->doing)
		return hwy_arena_say(arena, "%s %s longer while %s %s in %s%s",
				     hwy_tr(who->gpu_idles), more, hwy_tr(who->cpu), who->is,
				     cause->doing, place);
	static const char *const why[GAP_CAUSES] = {
		[GAP_BLOCKED] = HWY_KEY(" after a wait has emptied the queue"),
		[GAP_LAUNCH] = HWY_KEY(" because work is launched too slowly"),
		[GAP_OS] = HWY_KEY(" while the CPU is in the operating system"),
		[GAP_CPU] = HWY_KEY(" while the CPU does other work"),
		[GAP_ALLOC] = HWY_KEY(" while memory is allocated and released"),
		[GAP_FIRST_USE] = HWY_KEY(" while code is used for the first time"),
		[GAP_MODULE] = HWY_KEY(" while code is loaded"),
		[GAP_COMM] = HWY_KEY(" while the CPU exchanges data"),
		[GAP_GC] = HWY_KEY(" while Python collects garbage"),
		[GAP_GIL] = HWY_KEY(" while a thread waits for Python's lock"),
	};
	return hwy_arena_say(arena, "%s %s longer%s%s", hwy_tr(who->gpu_idles), more,
			     hwy_tr(why[which] ? why[which] : ""), place);
}

const char *answer_say_why(struct job_answer *answer)
{
	const struct ranks_cause *cause = &answer->ranks.cause;
	struct hwy_words more = hwy_say_time3(cause->more);
	if (!cause->is_known)
		return "";
	if (cause->part == RANK_COMPUTE)
		return why_compute(answer, more.text);
	if (cause->part == RANK_COPY)
		return hwy_arena_say(&answer->arena, "%s copies take %s longer",
				     hwy_tr(subject_of(answer)->its), more.text);
	if (cause->part == RANK_TRANSFER)
		return hwy_arena_say(&answer->arena, "%s own exchanges take %s longer",
				     hwy_tr(subject_of(answer)->its), more.text);
	return why_idle(answer, (enum gap_cause)(cause->part - RANK_IDLE), more.text);
}

/* ---- what to do ------------------------------------------------------------------------------ */

const char *answer_advice(const struct job_answer *answer)
{
	const struct ranks_cause *cause = &answer->ranks.cause;
	bool repeats = answer->ranks.lateness == RANKS_REPEAT;
	bool computes = cause->is_known && cause->part == RANK_COMPUTE;
	if (computes && sort_of_work(cause) == WORK_SLOWER && repeats)
		return "The same kernels run slower there: look at that GPU's clock, power and temperature, and for another program "
		       "on it (nvidia-smi -q -d PERFORMANCE,CLOCK; headway analyze of that rank alone).";
	if (computes && repeats && sort_of_work(cause) != WORK_UNKNOWN)
		return "That rank has more to do: share the work out evenly (batches, sequence lengths, parts of the model or of the "
		       "grid), or give it to more ranks.";
	if (computes && !repeats && sort_of_work(cause) == WORK_SLOWER)
		return "The same kernels take longer on another rank each time: their data decides how long they run, or the GPUs' clocks "
		       "change, or others use them (headway info shows clocks and power; the finding throttled what they cost).";
	if (computes && !repeats)
		return "The ranks' shares differ from step to step: let every rank get as much in each step, by sorting samples by "
		       "length, packing them, or limiting a batch by tokens instead of samples.";
	if (repeats && cause->is_known && !computes)
		return "Look at that rank alone, at the place named above: what it does there before its collectives takes longer "
		       "than on the others. Work that only one rank does (logging, check-points) belongs in a thread of its own.";
	if (repeats)
		return NULL; /* what rank-straggler says without a cause */
	return "No rank is to blame: each loses time now and then, and all pay for it. Load batches further ahead, pin processes "
	       "to cores and GPUs, keep other programs off the nodes, and collect Python's garbage on all ranks at the same step.";
}

/* ---- the sentences --------------------------------------------------------------------------- */

static const char *capital(struct hwy_arena *arena, const char *text)
{
	char *copy = hwy_arena_format(arena, "%s", text);
	if (*copy >= 'a' && *copy <= 'z')
		*copy = (char)(*copy - 'a' + 'A');
	return copy;
}

/* The cost to one rank that waits, with its share: "5.20 ms of a step (26 %)". */
static const char *say_cost(struct job_answer *answer, int64_t ns)
{
	double share = answer->step > 0 ? (double)ns / (double)answer->step : 0;
	return hwy_arena_say(&answer->arena, "%s of %s a step (%s)", hwy_say_time3(ns).text,
			     hwy_say_time3(answer->step).text, hwy_say_share(share).text);
}

static int64_t mean_wait(const struct job_answer *answer)
{
	const struct job_ranks *ranks = &answer->ranks;
	int64_t sum = 0;
	uint32_t n = 0;
	for (uint32_t r = 0; r < ranks->n; r++) {
		bool is_late = false;
		for (uint32_t i = 0; i < ranks->n_late_ranks && ranks->lateness == RANKS_REPEAT;
		     i++)
			is_late |= ranks->late_ranks[i] == r;
		if (is_late || !ranks->rows[r].is_judged || !ranks_meets(&ranks->rows[r]))
			continue;
		sum += ranks->rows[r].parts[RANK_WAIT];
		n++;
	}
	return n ? sum / n : 0;
}

const char *answer_say_late(struct job_answer *answer)
{
	const struct job_ranks *ranks = &answer->ranks;
	struct hwy_arena *arena = &answer->arena;
	const char *who = answer_say_ranks(arena, ranks, ranks->late_ranks, ranks->n_late_ranks);
	const char *cost = say_cost(answer, mean_wait(answer));
	const char *colon = *answer->why ? hwy_tr(": ") : "";
	uint32_t worst = 0;
	switch (ranks->lateness) {
	case RANKS_REPEAT:
		return hwy_arena_say(arena,
				     "%s make%s the others wait %s, in %" PRIu32 " of %" PRIu32
				     " steps%s%s.",
				     capital(arena, who), ranks->n_late_ranks == 1 ? "s" : "", cost,
				     ranks->n_late_steps, ranks->n_steps, colon, answer->why);
	case RANKS_TAKE_TURNS:
		return hwy_arena_say(
			arena,
			"Ranks wait for each other %s, and another one is late each time%s%s%s.",
			cost, colon, hwy_tr(*answer->why ? "when a rank is late, " : ""),
			answer->why);
	case RANKS_EARLY:
		return hwy_arena_say(arena, "%s %s less to do than the others and wait%s for them.",
				     capital(arena, who), ranks->n_late_ranks == 1 ? "has" : "have",
				     ranks->n_late_ranks == 1 ? "s" : "");
	case RANKS_FEW_STEPS:
		for (uint32_t r = 1; r < ranks->n; r++)
			worst = ranks->rows[r].blamed > ranks->rows[worst].blamed ? r : worst;
		return hwy_arena_say(arena,
				     "Ranks wait for each other %s, longest for rank %" PRId64
				     " (%s); %" PRIu32
				     " step%s cannot tell whether the same rank is late again.",
				     cost, ranks->rows[worst].rank,
				     hwy_say_time3(ranks->rows[worst].blamed).text, ranks->n_steps,
				     ranks->n_steps == 1 ? "" : "s");
	default: return "";
	}
}

static const char *say_comm(struct job_answer *answer, const struct hwy_phase *phase)
{
	const struct job_ranks *ranks = &answer->ranks;
	int64_t wait = 0, transfer = 0, start = 0, n = 0;
	for (uint32_t r = 0; r < ranks->n; r++) {
		wait += ranks->rows[r].parts[RANK_WAIT];
		start += ranks->rows[r].parts[RANK_START];
		transfer += ranks->rows[r].parts[RANK_TRANSFER] +
			    ranks->rows[r].parts[RANK_IDLE + GAP_COMM];
		n += ranks->rows[r].is_judged;
	}
	const char *plain =
		verdict_sentence(VERDICT_COMM, answer->shares[VERDICT_COMM], phase, &answer->arena);
	if ((ranks->lateness == RANKS_REPEAT || ranks->lateness == RANKS_TAKE_TURNS) &&
	    2 * wait >= transfer)
		return answer->late_says;
	if (!ranks->has_waited || n == 0 || answer->step <= 0)
		return plain;
	double all = (double)(n * answer->step), began = (double)start / all;
	return hwy_arena_say(
		&answer->arena, "%.*s: %s is waiting for other ranks, %s transfer%s%s%s.",
		(int)(strlen(plain) - strlen(hwy_tr_word(HWY_KEY("stop|.")))), plain,
		hwy_say_share((double)wait / all).text, hwy_say_share((double)transfer / all).text,
		hwy_tr(began >= HWY_WORTH_SHARE ? ", and " : ""),
		began >= HWY_WORTH_SHARE ? hwy_say_share(began).text : "",
		hwy_tr(began >= HWY_WORTH_SHARE
			       ? " waiting in the first collective, which shows when each recording began"
			       : ""));
}

const char *answer_say_route(struct job_answer *answer, const struct job_route *route)
{
	struct hwy_arena *arena = &answer->arena;
	struct hwy_words rate = hwy_say_rate3(route->rate), usual = hwy_say_rate3(route->usual);
	if (route->is_pair)
		return hwy_arena_say(
			arena,
			"Messages from rank %" PRId64 " to rank %" PRId64
			" travel at %s, those between other ranks %s at %s.",
			answer->ranks.rows[route->from].rank, answer->ranks.rows[route->to].rank,
			rate.text, hwy_tr(route->is_across ? "of different hosts" : "of one host"),
			usual.text);
	return hwy_arena_say(
		arena, "%s among %s moves %s, among other groups of %" PRIu32 " ranks %s.",
		route->operation,
		answer_say_ranks(arena, &answer->ranks, route->members, route->n_members),
		rate.text, route->n_members, usual.text);
}

void answer_say(struct job_answer *answer, const struct ranks_member *members)
{
	const struct hwy_phase *phase =
		answer->typical < answer->n ? ranks_phase(&members[answer->typical]) : NULL;
	answer->why = answer_say_why(answer);
	answer->late_says = answer_say_late(answer);
	if (!phase)
		answer->says = hwy_tr(
			"No rank has device work in its recording (no kernel, copy, fill or graph), and no exchange between ranks is recorded.");
	else if (answer->word == VERDICT_COMM)
		answer->says = say_comm(answer, phase);
	else
		answer->says = verdict_sentence(answer->word, answer->shares[answer->word], phase,
						&answer->arena);
}
