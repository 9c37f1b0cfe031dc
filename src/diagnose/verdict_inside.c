/* SPDX-License-Identifier: Apache-2.0 */
/* verdict_inside.c - the second word of the verdict 'gpu': what holds the device's own work
 * back.
 *
 * Samples of the device decide where there are enough. Else the counters of measured kernels,
 * each weighed by the time that kernels of its name take in the judged steps; else the work that
 * the shapes of operators tell. Where none of these covers enough, there is no second word, and
 * what is missing is listed among the questions without an answer.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/kernel_table.h"
#include "base/index.h"
#include "base/lang.h"
#include "base/say.h"
#include "diagnose/case.h"

static const enum inside_word words_of_bounds[ROOFLINE_BOUNDS] = {
	[ROOFLINE_UNKNOWN] = INSIDE_UNKNOWN,     [ROOFLINE_COMPUTE] = INSIDE_COMPUTE,
	[ROOFLINE_MEMORY] = INSIDE_MEMORY,       [ROOFLINE_LATENCY] = INSIDE_LATENCY,
	[ROOFLINE_OCCUPANCY] = INSIDE_OCCUPANCY,
};

/* ---- kernels that were measured -------------------------------------------------------------- */

/* How long kernels of each name run, in the judged steps and in all of the table of kernels. */
struct names_time {
	struct hwy_index slots; /* maps a name to an index in 'list' */
	struct {
		double judged,
			all; /* ns; a sum of times that a damaged recording has may be more than fits an int64_t */
	} * list;
	uint32_t n, cap;
};

static uint32_t slot_of_name(struct names_time *names, const char *name)
{
	bool fresh;
	uint32_t *slot = hwy_index_put(&names->slots, name, strlen(name), &fresh);
	if (fresh) {
		HWY_GROW(names->list, names->n, names->cap);
		names->list[names->n].judged = names->list[names->n].all = 0;
		*slot = names->n++;
	}
	return *slot;
}

/* Sums the time of the phase's kernels by name, and yields the sum over all names. */
static double judged_time(const struct hwy_analysis *analysis, const struct hwy_phase *phase,
			  struct names_time *names)
{
	const struct hwy_flow *flow = &analysis->flow;
	double whole = 0;
	for (uint32_t i = flow_op_at(flow, phase->window.from);
	     i < flow->n_ops && flow->ops[i].start < phase->window.to; i++) {
		const struct flow_op *op = &flow->ops[i];
		uint32_t row;
		if (op->kind != HWY_KERNEL || op->class != HWY_COMPUTE ||
		    !phase_has_call(phase, op->call))
			continue;
		const struct hwy_strip *strip = hwy_strip_of(analysis->trace, op->span, &row);
		const char *name = hwy_str(analysis->trace, hwy_get(strip, HWY_NAME, row));
		uint32_t slot = slot_of_name(names, name); /* may move the list */
		names->list[slot].judged += (double)(op->end - op->start);
		whole += (double)(op->end - op->start);
	}
	return whole;
}

/* By the counters of measured kernels and, for those that were not, the shapes of their
 * operators. */
static struct inside inside_from_measured(const struct hwy_analysis *analysis,
					  const struct hwy_phase *phase)
{
	struct inside inside = {0};
	struct names_time names = {0};
	struct kernel_table table;
	struct hwy_err err;
	double measured = 0;
	if (analysis->trace->n_measured == 0 || !kernel_table_make(&table, analysis->trace, &err))
		return inside;
	double whole = judged_time(analysis, phase, &names);
	for (uint32_t i = 0; i < table.n; i++) {
		uint32_t slot = slot_of_name(&names, table.kernels[i].point.name);
		names.list[slot].all += (double)table.kernels[i].point.ns;
	}
	for (uint32_t i = 0; whole > 0 && i < table.n; i++) {
		const struct roofline_point *point = &table.kernels[i].point;
		uint32_t slot = slot_of_name(&names, point->name);
		if (names.list[slot].all <= 0)
			continue;
		/* Of the name's time in the judged steps, this launch shape's part. */
		double part =
			names.list[slot].judged * (double)point->ns / names.list[slot].all / whole;
		inside.shares[words_of_bounds[point->bound]] += part;
		inside.known += point->bound == ROOFLINE_UNKNOWN ? 0 : part;
		measured += table.kernels[i].is_measured ? part : 0;
	}
	kernel_table_free(&table);
	hwy_index_free(&names.slots);
	free(names.list);
	inside.source = inside.known < INSIDE_KNOWN_SHARE ? INSIDE_NOTHING
			: measured >= inside.known / 2    ? INSIDE_MEASURED
							  : INSIDE_SHAPES;
	return inside;
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* Only operators have shapes: without 'owners' there is nothing to look for. */
static struct inside inside_from_shapes(const struct hwy_analysis *analysis,
					const struct hwy_phase *phase,
					const struct hwy_owners *owners)
{
	struct inside inside = {0};
	struct hwy_roofline roofline;
	struct roofline_options options = {
		.from = phase->window.from, .to = phase->window.to, .owners = analysis->owners};
	struct hwy_err err;
	if (!owners || !roofline_from_shapes(&roofline, analysis->trace, &options, &err))
		return inside;
	struct roofline_shares sums = roofline_sum_bounds(&roofline, HWY_NONE);
	for (unsigned bound = 0; bound < ROOFLINE_BOUNDS && sums.kernel_ns > 0; bound++)
		inside.shares[words_of_bounds[bound]] +=
			(double)sums.bound_ns[bound] / (double)sums.kernel_ns;
	inside.known = sums.kernel_ns > 0 ? 1 - inside.shares[INSIDE_UNKNOWN] : 0;
	inside.source = inside.known >= INSIDE_KNOWN_SHARE ? INSIDE_SHAPES : INSIDE_NOTHING;
	roofline_free(&roofline);
	return inside;
}

/* ---- words ----------------------------------------------------------------------------------- */

static const char *const bounds[INSIDE_WORDS] = {
	[INSIDE_COMPUTE] = "computing",
	[INSIDE_MEMORY] = "memory",
	[INSIDE_LATENCY] = "latency: enough warps are there, and they wait",
	[INSIDE_OCCUPANCY] = "occupancy: too few multiprocessors or warps have work",
	[INSIDE_COMMUNICATION] = "a full link to the host or to other GPUs",
};

/* Adds ", NAME 12 %" to the sentence where the level is known. */
static const char *with_level(struct hwy_arena *arena, const char *text, const char *name,
			      double level)
{
	if (isnan(level))
		return text;
	return hwy_arena_format(arena, "%s%s%s %.0f %%", text, *text ? ", " : "", name, level);
}

#define SMALL_LINK_PERCENT 20

static const char *levels_in_words(struct hwy_arena *arena, const struct inside_levels *levels)
{
	const char *text = with_level(arena, "", hwy_tr("SMs active"), levels->sms);
	text = with_level(arena, text, hwy_tr("instructions issued"), levels->issue);
	text = with_level(arena, text, hwy_tr("tensor cores"), levels->tensor);
	text = with_level(arena, text, "warps", levels->warps);
	text = with_level(arena, text, "DRAM", levels->dram);
	/* A link that is nearly idle is not worth a word. */
	return levels->link < SMALL_LINK_PERCENT
		       ? text
		       : with_level(arena, text, hwy_tr("links"), levels->link);
}

/* Samples that cover less of the computing are said to be of a part. */
#define MOST_SHARE 0.8

static const char *inside_in_words(struct hwy_arena *arena, const struct inside *inside)
{
	const char *share =
		hwy_arena_format(arena, "%s", hwy_say_share(inside->shares[inside->word]).text);
	if (inside->source == INSIDE_METRICS)
		return hwy_arena_say(
			arena, "For %s of the compute time%s the limit is %s (%s; %s).", share,
			hwy_tr(inside->sampled < MOST_SHARE ? " that was sampled" : ""),
			hwy_tr(bounds[inside->word]), levels_in_words(arena, &inside->levels),
			hwy_say_count_of(inside->samples, "sample", "samples").text);
	return hwy_arena_say(arena, "By %s, for %s of the kernels' time the limit is %s.",
			     hwy_tr(inside->source == INSIDE_MEASURED
					    ? "the counters of its kernels"
					    : "the shapes of its operators"),
			     share, hwy_tr(bounds[inside->word]));
}

/* Parts below this share are left out of the list. */
#define SMALL_PART_SHARE 0.05

static const char *shares_in_words(struct hwy_arena *arena, const struct inside *inside)
{
	const char *text = "";
	for (unsigned i = 0; i < INSIDE_WORDS; i++) {
		unsigned word = (i + 1) % INSIDE_WORDS; /* what is not known comes last */
		if (inside->shares[word] >= SMALL_PART_SHARE)
			text = hwy_arena_format(
				arena, "%s%s%s %s", text, hwy_tr(*text ? ", " : ""),
				hwy_tr(word == INSIDE_UNKNOWN ? "not known" : inside_words[word]),
				hwy_say_share(inside->shares[word]).text);
	}
	return text;
}

/* Whether the kernels are CUDA's: the way to counters is known for these only. */
static bool is_cuda(const struct hwy_diagnosis *diagnosis)
{
	return diagnosis->framework != HWY_OPENCL_C && !diagnosis->habits.is_rocm;
}

static void say_why_not(struct hwy_diagnosis *diagnosis, const struct inside *inside)
{
	static const char what[] = "what holds the kernels back: compute, memory or latency";
	struct hwy_arena *arena = &diagnosis->arena;
	if (inside->source != INSIDE_NOTHING)
		diagnose_cannot_tell(diagnosis, what,
				     hwy_arena_say(arena,
						   "no one thing does: %s of the kernels' time",
						   shares_in_words(arena, inside)));
	else if (inside->why_not)
		diagnose_cannot_tell(diagnosis, what, inside->why_not);
	else if (is_cuda(diagnosis))
		diagnose_cannot_tell(
			diagnosis, what,
			"there are no counters: record with --gpu-metrics-devices=all, or run headway kernels");
}

void verdict_look_inside(struct hwy_analysis *analysis, struct hwy_diagnosis *diagnosis)
{
	struct verdict *verdict = &diagnosis->verdict;
	uint32_t main = analysis->phases.main;
	struct hwy_arena *arena = &diagnosis->arena;
	if (verdict->word != VERDICT_GPU || main >= analysis->phases.n)
		return;
	const struct hwy_phase *phase = &analysis->phases.phases[main];
	int64_t opaque = diagnosis->outlooks[main].opaque;
	struct inside inside = inside_from_metrics(analysis_metrics(analysis), &analysis->flow,
						   phase->window, NULL);
	if (opaque != HWY_NONE) {
		uint32_t row;
		const struct hwy_strip *strip =
			hwy_strip_of(analysis->trace, (uint32_t)opaque, &row);
		verdict->is_opaque = true;
		verdict->says = hwy_arena_say(
			arena,
			"The GPU is busy, but with one %s that runs all of the time, %.60s: that says nothing about what "
			"it does inside.",
			hwy_tr(strip->kind == HWY_GRAPH ? "graph" : "kernel"),
			hwy_str(analysis->trace, hwy_get(strip, HWY_NAME, row)));
		return;
	}
	const char *why_not = inside.why_not;
	if (inside.source == INSIDE_NOTHING)
		inside = inside_from_measured(analysis, phase);
	if (inside.source == INSIDE_NOTHING)
		inside = inside_from_shapes(analysis, phase, diagnosis->owners);
	if (inside.source == INSIDE_NOTHING)
		inside = (struct inside){.why_not = why_not}; /* shares of too little say nothing */
	else
		inside_choose(&inside);
	verdict->inside = inside;
	if (inside.word == INSIDE_UNKNOWN)
		say_why_not(diagnosis, &inside);
	else
		verdict->says = hwy_arena_say(arena, "%s %s", verdict->says,
					      inside_in_words(arena, &inside));
}
