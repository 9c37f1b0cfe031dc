/* SPDX-License-Identifier: Apache-2.0 */
/* verdict.c - see verdict.h and, for the rules, docs/verdict.md. */
#include "diagnose/verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/say.h"

const char *const verdict_words[VERDICTS] = {
	[VERDICT_GPU] = "gpu",
	[VERDICT_INPUT] = "input",
	[VERDICT_LAUNCH] = "launch",
	[VERDICT_SYNC] = "sync",
	[VERDICT_CPU] = "cpu",
	[VERDICT_COPY] = "copy",
	[VERDICT_COMM] = "comm",
	[VERDICT_ALLOC] = "alloc",
	[VERDICT_FIRST_USE] = "first-use",
	[VERDICT_CANNOT_TELL] = "cannot-tell",
	[VERDICT_NO_DEVICE_WORK] = "no-device-work",
};

const char *verdict_said(enum verdict_word word)
{
	static const char *const keys[VERDICTS] = {
		[VERDICT_GPU] = HWY_KEY("verdict|gpu"),
		[VERDICT_INPUT] = HWY_KEY("verdict|input"),
		[VERDICT_LAUNCH] = HWY_KEY("verdict|launch"),
		[VERDICT_SYNC] = HWY_KEY("verdict|sync"),
		[VERDICT_CPU] = HWY_KEY("verdict|cpu"),
		[VERDICT_COPY] = HWY_KEY("verdict|copy"),
		[VERDICT_COMM] = HWY_KEY("verdict|comm"),
		[VERDICT_ALLOC] = HWY_KEY("verdict|alloc"),
		[VERDICT_FIRST_USE] = HWY_KEY("verdict|first-use"),
		[VERDICT_CANNOT_TELL] = HWY_KEY("verdict|cannot-tell"),
		[VERDICT_NO_DEVICE_WORK] = HWY_KEY("verdict|no-device-work"),
	};
	return hwy_tr_word(keys[word]);
}

/* The verdict is 'gpu' where all other words together have less than SMALL_SHARE of the time; or
 * where no other word has SMALL_SHARE, and all other words together have less than
 * SMALL_SHARES_TOGETHER. */
#define SMALL_SHARE 0.10
#define SMALL_SHARES_TOGETHER 0.25
/* The verdict is 'no-device-work' where the devices are busy for less than this share of the time
 * from the first launch to the last, in fewer ops than this. */
#define HARDLY_ANY_SHARE 0.0001
#define HARDLY_ANY_OPS 100
/* The least that a sentence says nothing is worth more than: "0.0 %" would be no number. */
#define LEAST_SAID_SHARE 0.001
/* From this share of the time on, the verdict 'gpu' tells of the pauses between queued work. */
#define PAUSES_SHARE 0.05

/* For each cause of idle time, the verdict (docs/verdict.md) that this time is evidence for.
 * word_of_dependency may choose another verdict for GAP_DEPENDENCY. */
static const enum verdict_word words_of_causes[GAP_CAUSES] = {
	[GAP_BLOCKED] = VERDICT_SYNC,
	[GAP_LAUNCH] = VERDICT_LAUNCH,
	[GAP_INPUT] = VERDICT_INPUT,
	[GAP_OS] = VERDICT_CPU,
	[GAP_CPU] = VERDICT_CPU,
	[GAP_DEPENDENCY] = VERDICT_GPU,
	[GAP_ALLOC] = VERDICT_ALLOC,
	[GAP_MODULE] = VERDICT_FIRST_USE,
	[GAP_DRAIN] = VERDICT_GPU,
	[GAP_UNKNOWN] = VERDICT_CANNOT_TELL,
	[GAP_FIRST_USE] = VERDICT_FIRST_USE,
	[GAP_MISSING] = VERDICT_CANNOT_TELL,
	[GAP_COMM] = VERDICT_COMM,
	[GAP_GC] = VERDICT_CPU,
	[GAP_GIL] = VERDICT_CPU,
};

struct verdict_name verdict_name(const struct verdict *verdict, bool for_people)
{
	struct verdict_name name;
	bool has_second = verdict->word == VERDICT_GPU && verdict->inside.word != INSIDE_UNKNOWN;
	snprintf(name.text, sizeof name.text, "%s%s%s",
		 for_people ? verdict_said(verdict->word) : verdict_words[verdict->word],
		 has_second ? ", " : "", has_second ? inside_words[verdict->inside.word] : "");
	return name;
}

/* ---- where the time went --------------------------------------------------------------------- */

static enum verdict_word word_of_op(const struct flow_op *op)
{
	if (op->class == HWY_COMM)
		return VERDICT_COMM;
	return op->kind == HWY_COPY ? VERDICT_COPY : VERDICT_GPU;
}

/* The word for a gap in which a queued op waited: 'comm' or 'copy' where the op, or the op that
 * started before it, is communication or a copy; else 'gpu'. */
static enum verdict_word word_of_dependency(const struct hwy_flow *flow, const struct hwy_gap *gap)
{
	if (gap->op == FLOW_NONE)
		return VERDICT_GPU;
	enum verdict_word own = word_of_op(&flow->ops[gap->op]);
	return own != VERDICT_GPU || gap->op == 0 ? own : word_of_op(&flow->ops[gap->op - 1]);
}

enum verdict_word verdict_word_of_gap(const struct hwy_flow *flow, const struct hwy_gap *gap)
{
	return gap->cause == GAP_DEPENDENCY ? word_of_dependency(flow, gap)
					    : words_of_causes[gap->cause];
}

/* Sets the share of the time that is evidence for each word of the verdict, over the devices
 * that the phase uses. */
static void share_out(const struct hwy_analysis *analysis, uint32_t phase, struct verdict *verdict)
{
	const struct hwy_gaps *gaps = &analysis->measures[phase].gaps;
	double ns[VERDICTS] = {0}, whole = 0;
	for (uint32_t d = 0; d < analysis->flow.n_devices; d++) {
		const struct gap_states *states = &gaps->devices[d];
		if (states->busy == 0)
			continue;
		whole += (double)states->window;
		/* A device that copies inside its own memory works: no link and no host holds it
		 * back. */
		ns[VERDICT_GPU] += (double)(states->compute + states->fill + states->device_copy);
		ns[VERDICT_COMM] += (double)states->exposed_comm;
		ns[VERDICT_COPY] += (double)(states->exposed_copy - states->device_copy);
	}
	for (uint32_t i = 0; i < gaps->n; i++) {
		const struct hwy_gap *gap = &gaps->gaps[i];
		if (gaps->devices[gap->device].busy == 0)
			continue;
		ns[verdict_word_of_gap(&analysis->flow, gap)] +=
			(double)(gap->at.to - gap->at.from);
	}
	for (unsigned word = 0; word < VERDICTS && whole > 0; word++)
		verdict->shares[word] = ns[word] / whole;
}

enum verdict_word verdict_choose(const double shares[VERDICTS])
{
	enum verdict_word largest = VERDICT_INPUT;
	double losses = 0;
	for (unsigned word = VERDICT_INPUT; word < VERDICTS; word++) {
		losses += shares[word];
		if (shares[word] > shares[largest])
			largest = (enum verdict_word)word;
	}
	bool is_small = losses < SMALL_SHARE ||
			(shares[largest] < SMALL_SHARE && losses < SMALL_SHARES_TOGETHER);
	return is_small ? VERDICT_GPU : largest;
}

enum verdict_word verdict_word_of_cause(enum gap_cause cause)
{
	return words_of_causes[cause];
}

/* ---- what was judged ------------------------------------------------------------------------- */

/* When the program's first call of the vendor's API or its first device work began. A phase whose
 * window begins earlier began with a mark: then that. */
static int64_t first_call_of(const struct hwy_analysis *analysis)
{
	const struct hwy_trace *trace = analysis->trace;
	int64_t first = analysis->recording.to;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (strip->kind != HWY_API || strip->rows == 0)
			continue;
		int64_t start = hwy_get(strip, HWY_START, 0);
		first = start < first ? start : first;
	}
	for (uint32_t i = 0; i < analysis->phases.n; i++) {
		int64_t start = analysis->phases.phases[i].steps[0].device.from;
		first = start < first ? start : first;
	}
	if (analysis->flow.n_ops && analysis->flow.ops[0].start < first)
		first = analysis->flow.ops[0].start;
	return first;
}

/* The recording; longer only where a window reaches beyond it. */
static struct hwy_interval recording_extent(const struct hwy_analysis *analysis)
{
	struct hwy_interval extent = analysis->recording;
	for (uint32_t i = 0; i < analysis->phases.n; i++) {
		const struct hwy_phase *phase = &analysis->phases.phases[i];
		int64_t from = phase->steps[0].device.from, to = phase->window.to;
		extent.from = from < extent.from ? from : extent.from;
		extent.to = to > extent.to ? to : extent.to;
	}
	return extent;
}

/* How many ns of [from, to) the steps of the phases other than the judged one take. */
static int64_t taken_by_others(const struct hwy_phases *phases, uint32_t judged, int64_t from,
			       int64_t to)
{
	int64_t taken = 0;
	for (uint32_t i = 0; i < phases->n; i++) {
		const struct hwy_phase *phase = &phases->phases[i];
		if (i == judged || phase->n_steps == 0)
			continue;
		int64_t begin = phase->steps[0].device.from;
		int64_t end = phase->steps[phase->n_steps - 1].device.to;
		begin = begin > from ? begin : from;
		end = end < to ? end : to;
		taken += end > begin ? end - begin : 0;
	}
	return taken < to - from ? taken : to - from;
}

static struct verdict_account account_of(const struct hwy_analysis *analysis, uint32_t judged)
{
	struct hwy_interval extent = recording_extent(analysis);
	const struct hwy_phase *phase = &analysis->phases.phases[judged];
	int64_t begin = phase->steps[0].device.from, first_call = first_call_of(analysis);
	int64_t others_before = taken_by_others(&analysis->phases, judged, first_call, begin);
	int64_t others_after =
		taken_by_others(&analysis->phases, judged, phase->window.to, extent.to);
	return (struct verdict_account){
		.recording = extent.to - extent.from,
		.judged = phase->window.to - phase->window.from,
		.before_calls = first_call - extent.from,
		.before = begin - first_call - others_before,
		.warm_up = phase->window.from - begin,
		.after = extent.to - phase->window.to - others_after,
		.elsewhere = others_before + others_after,
		.compiled = compilations_in(&analysis->flow, phase->process,
					    (struct hwy_interval){extent.from, phase->window.from}),
	};
}

/* ---- the sentence ---------------------------------------------------------------------------- */

/* What the shares are shares of, in words: "a step", "the step" or the time of the whole
 * program. */
static const char *whole_of(const struct hwy_phase *phase)
{
	if (phase->source == PHASE_ONE)
		return hwy_tr(phase->has_start_up
				      ? "the time from its first call to its last work"
				      : "the time from its first launch to its last work");
	return phase->n_steady == 1 ? hwy_tr("the step") : hwy_tr("a step");
}

/* Each sentence takes the word's share, and what it is a share of. */
static const char *const sentences[VERDICTS] = {
	[VERDICT_INPUT] = "The GPU waits for its input %s of %s.",
	[VERDICT_LAUNCH] = "The GPU waits %s of %s for the CPU to launch work.",
	[VERDICT_SYNC] =
		"The GPU idles %s of %s because the CPU stops to wait for it and then launches late.",
	[VERDICT_CPU] = "The GPU idles %s of %s while the CPU does other work.",
	[VERDICT_COPY] = "Copies beside which nothing is computed take %s of %s.",
	[VERDICT_COMM] = "Communication beside which nothing is computed takes %s of %s.",
	[VERDICT_ALLOC] = "The GPU idles %s of %s while memory is allocated and released.",
	[VERDICT_FIRST_USE] =
		"The GPU idles %s of %s while code is used for the first time: loaded, compiled, tuned or captured.",
	[VERDICT_CANNOT_TELL] =
		"Why the GPU idles %s of %s cannot be told: the device's records, or the calls that belong to them, are missing.",
};

/* What all of the CPU's side is worth at most where the device has work for this share. */
static struct hwy_words say_rest(double share)
{
	return hwy_say_share(1 - share > LEAST_SAID_SHARE ? 1 - share : LEAST_SAID_SHARE);
}

const char *verdict_sentence(enum verdict_word word, double share, const struct hwy_phase *phase,
			     struct hwy_arena *arena)
{
	if (word == VERDICT_NO_DEVICE_WORK)
		return hwy_tr("There is hardly any device work in this recording.");
	if (word == VERDICT_GPU)
		return hwy_arena_say(
			arena,
			"The GPU has work %s of %s: nothing on the CPU's side is worth more than %s.",
			hwy_say_share(share).text, whole_of(phase), say_rest(share).text);
	/* The sentences above are the formats: each takes these two texts. */
	return hwy_arena_say(arena, sentences[word], hwy_say_share(share).text, whole_of(phase));
}

/* ---- recordings without work ----------------------------------------------------------------- */

/* From the first launch, wait or work to the last: what stands before and behind says nothing of
 * how much the devices are used. */
static int64_t time_of_flow(const struct hwy_flow *flow)
{
	struct hwy_interval extent = {INT64_MAX, INT64_MIN};
	for (uint32_t i = 0; i < flow->n_ops; i++) {
		extent.from = flow->ops[i].start < extent.from ? flow->ops[i].start : extent.from;
		extent.to = flow->ops[i].end > extent.to ? flow->ops[i].end : extent.to;
	}
	for (uint32_t i = 0; i < flow->n_calls; i++) {
		extent.from =
			flow->calls[i].start < extent.from ? flow->calls[i].start : extent.from;
		extent.to = flow->calls[i].end > extent.to ? flow->calls[i].end : extent.to;
	}
	return extent.to - extent.from;
}

static bool has_hardly_any_work(const struct hwy_analysis *analysis)
{
	const struct hwy_flow *flow = &analysis->flow;
	struct hwy_cover cover = {0};
	if (flow->n_ops >= HARDLY_ANY_OPS)
		return false;
	for (uint32_t i = 0; i < flow->n_ops; i++) {
		struct hwy_interval fresh;
		cover_add(&cover, flow->ops[i].start, flow->ops[i].end, &fresh);
	}
	return (double)cover.total < HARDLY_ANY_SHARE * (double)time_of_flow(flow);
}

/* The property in which the importer names device events that it has no rule for, or NULL. */
static const char *foreign_device_events(const struct hwy_trace *trace)
{
	for (uint32_t i = 0; i < trace->n_properties; i++)
		if (strcmp(hwy_str(trace, trace->properties[i].name),
			   "device.events_not_understood") == 0)
			return hwy_str(trace, trace->properties[i].value);
	return NULL;
}

static struct verdict without_work(const struct hwy_analysis *analysis, struct hwy_arena *arena)
{
	const char *events = foreign_device_events(analysis->trace);
	if (events)
		return (struct verdict){
			.word = VERDICT_CANNOT_TELL,
			.says = hwy_arena_say(
				arena,
				"Cannot tell: the recording holds events of a device that Headway does not know (%s).",
				events),
		};
	return (struct verdict){
		.word = VERDICT_NO_DEVICE_WORK,
		.says = hwy_tr(
			"No device work in this recording (no kernel, copy, fill or graph)."),
	};
}

/* The share of the phase's time in which its devices idle although work is queued, and which
 * therefore counts for 'gpu'. */
static double pauses_of(const struct hwy_analysis *analysis, uint32_t phase)
{
	const struct hwy_gaps *gaps = &analysis->measures[phase].gaps;
	double pauses = 0, whole = 0;
	for (uint32_t d = 0; d < analysis->flow.n_devices; d++)
		if (gaps->devices[d].busy)
			whole += (double)gaps->devices[d].window;
	for (uint32_t i = 0; i < gaps->n; i++) {
		const struct hwy_gap *gap = &gaps->gaps[i];
		if (gaps->devices[gap->device].busy && gap->cause == GAP_DEPENDENCY &&
		    verdict_word_of_gap(&analysis->flow, gap) == VERDICT_GPU)
			pauses += (double)(gap->at.to - gap->at.from);
	}
	return whole > 0 ? pauses / whole : 0;
}

/* The sentence of the verdict 'gpu' where the device pauses a good part of the time between work
 * that is queued: "has work" must not seem to say "busy". */
static const char *say_with_pauses(const struct verdict *verdict, double pauses,
				   const struct hwy_phase *phase, struct hwy_arena *arena)
{
	double share = verdict->shares[VERDICT_GPU];
	return hwy_arena_say(
		arena,
		"The GPU has work %s of %s, %s of it pauses between queued work: nothing on the CPU's "
		"side is worth more than %s.",
		hwy_say_share(share).text, whole_of(phase), hwy_say_share(pauses).text,
		say_rest(share).text);
}

/* Whether most of the time that counts for 'cpu' is time in which a device that is a CPU had work
 * and was not run. */
static bool is_preempted(const struct hwy_analysis *analysis, uint32_t phase)
{
	const struct hwy_gaps *gaps = &analysis->measures[phase].gaps;
	int64_t preempted = 0, others = 0;
	for (uint32_t i = 0; i < gaps->n; i++) {
		const struct hwy_gap *gap = &gaps->gaps[i];
		if (gaps->devices[gap->device].busy == 0 ||
		    verdict_word_of_gap(&analysis->flow, gap) != VERDICT_CPU)
			continue;
		*(gap->is_preempted ? &preempted : &others) += gap->at.to - gap->at.from;
	}
	return preempted > others;
}

/* The verdict's sentence. */
static const char *say_verdict(const struct hwy_analysis *analysis, uint32_t phase,
			       const struct verdict *verdict, struct hwy_arena *arena)
{
	const struct hwy_phase *judged = &analysis->phases.phases[phase];
	double pauses = pauses_of(analysis, phase), share = verdict->shares[verdict->word];
	if (verdict->word == VERDICT_GPU && pauses >= PAUSES_SHARE)
		return say_with_pauses(verdict, pauses, judged, arena);
	if (verdict->word == VERDICT_CPU && is_preempted(analysis, phase))
		return hwy_arena_say(
			arena,
			"The GPU idles %s of %s, most of it with work in its queue: it is the CPU of this "
			"machine, and other threads had it.",
			hwy_say_share(share).text, whole_of(judged));
	return verdict_sentence(verdict->word, share, judged, arena);
}

struct verdict verdict_find(const struct hwy_analysis *analysis, uint32_t phase,
			    struct hwy_arena *arena)
{
	if (phase >= analysis->phases.n || analysis->phases.phases[phase].n_steps == 0)
		return without_work(analysis, arena);
	const struct hwy_phase *judged = &analysis->phases.phases[phase];
	struct verdict verdict = {
		.account = account_of(analysis, phase),
		.is_whole = judged->source == PHASE_ONE,
	};
	if (verdict.account.recording > 0)
		verdict.coverage =
			(double)verdict.account.judged / (double)verdict.account.recording;
	share_out(analysis, phase, &verdict);
	verdict.word = has_hardly_any_work(analysis) ? VERDICT_NO_DEVICE_WORK
						     : verdict_choose(verdict.shares);
	verdict.says = say_verdict(analysis, phase, &verdict, arena);
	return verdict;
}
