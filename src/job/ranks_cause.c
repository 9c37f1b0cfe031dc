/* SPDX-License-Identifier: Apache-2.0 */
/* ranks_cause.c - what late ranks do longer than ranks that are in time, and where in the
 * program; see ranks.h.
 *
 * A late rank's step is as long as anybody's; where the others wait, it does something else. So
 * each part of its step is compared with the mean of the ranks that are in time in the same
 * step; the part that grows most is the cause. Ranks that wait get ahead with launching
 * meanwhile, so idle time for lack of launches, or behind other work, may only be a consequence:
 * it counts for CONSEQUENCE_SHARE of its length.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/place_between.h"
#include "base/index.h"
#include "job/ranks.h"

#define CONSEQUENCE_SHARE 0.5
/* The cause is named where it makes up this share of what the late ranks do longer. */
#define NAMED_SHARE 0.3
enum { MOST_STEPS = 64, MOST_PLACES = 64 };

struct compared { /* late ranks against those in time, in some steps */
	struct job_ranks *ranks;
	const struct ranks_member *members;
	double more[RANK_PARTS]; /* ns, sums */
	uint32_t n;              /* pairs of a late rank and a step */
	uint32_t *times;         /* for each member, how often it is late in the steps compared */
	/* 1: of the step before the one that is late. What the CPU does before a step's first
	 * work lies in the window of the step before. */
	uint32_t before;
};

/* Whether the rank is one of those that are compared as late: one that repeats, where such are
 * known. */
static bool is_suspect(const struct job_ranks *ranks, uint32_t member, uint32_t step)
{
	if (!ranks_is_late(ranks, member, step))
		return false;
	if (ranks->lateness != RANKS_REPEAT)
		return true;
	for (uint32_t i = 0; i < ranks->n_late_ranks; i++)
		if (ranks->late_ranks[i] == member)
			return true;
	return false;
}

static bool is_in_time(const struct job_ranks *ranks, uint32_t member, uint32_t step)
{
	return ranks->rows[member].is_judged && ranks_meets(&ranks->rows[member]) &&
	       !ranks_is_late(ranks, member, step);
}

static const int64_t *step_parts(const struct job_ranks *ranks, uint32_t member, uint32_t step)
{
	return &ranks->parts[((size_t)member * ranks->n_steps + step) * RANK_PARTS];
}

static void compare_step(struct compared *c, uint32_t step)
{
	struct job_ranks *ranks = c->ranks;
	double others[RANK_PARTS] = {0};
	uint32_t n = 0;
	for (uint32_t r = 0; r < ranks->n; r++) {
		if (!is_in_time(ranks, r, step))
			continue;
		for (unsigned p = 0; p < RANK_PARTS; p++)
			others[p] += (double)step_parts(ranks, r, step - c->before)[p];
		n++;
	}
	for (uint32_t r = 0; r < ranks->n && n > 0; r++) {
		if (!ranks->rows[r].is_judged || !is_suspect(ranks, r, step))
			continue;
		for (unsigned p = 0; p < RANK_PARTS; p++)
			c->more[p] +=
				(double)step_parts(ranks, r, step - c->before)[p] - others[p] / n;
		c->times[r]++;
		c->n++;
	}
}

static bool is_consequence(unsigned part)
{
	switch (part) {
	case RANK_IDLE + GAP_BLOCKED:
	case RANK_IDLE + GAP_LAUNCH:
	case RANK_IDLE + GAP_DEPENDENCY:
	case RANK_IDLE + GAP_DRAIN:
	case RANK_IDLE + GAP_UNKNOWN:
	case RANK_IDLE + GAP_MISSING:
	case RANK_TRANSFER: return true;
	default: return false;
	}
}

static void choose_part(struct compared *c, struct ranks_cause *cause)
{
	double best = 0, all = 0;
	for (unsigned p = 0; p < RANK_PARTS; p++) {
		double more = p == RANK_WAIT || p == RANK_START ? 0 : c->more[p];
		all += more > 0 ? more : 0;
		double weight = is_consequence(p) ? CONSEQUENCE_SHARE * more : more;
		if (weight > best) {
			best = weight;
			cause->part = (enum rank_part)p;
			cause->more = (int64_t)(more / c->n);
		}
	}
	cause->share = all > 0 ? (double)cause->more * c->n / all : 0;
	cause->is_known = best > 0 && cause->share >= NAMED_SHARE &&
			  (double)cause->more >= HWY_WORTH_SHARE / 2 * (double)c->ranks->step;
	cause->is_before = c->before > 0;
	for (uint32_t r = 0; r < c->ranks->n; r++)
		if (c->times[r] > c->times[cause->member])
			cause->member = r;
}

/* Compares all late steps, or the steps before them; what was found is in the cause. */
static void compare_steps(struct compared *c, uint32_t before, struct ranks_cause *cause)
{
	c->before = before;
	c->n = 0;
	memset(c->more, 0, sizeof c->more);
	memset(c->times, 0, c->ranks->n * sizeof *c->times);
	for (uint32_t s = before; s < c->ranks->n_steps; s++)
		compare_step(c, s);
	*cause = (struct ranks_cause){.kernel = "", .doing = ""};
	if (c->n > 0)
		choose_part(c, cause);
}

/* ---- kernels --------------------------------------------------------------------------------- */

struct kernel_sums {
	double ns, n, threads;
	bool has_shapes;
};

struct kernel_name {
	const char *name;
	double ns[2];     /* in time, late */
	uint32_t span[2]; /* the longest */
	int64_t longest[2];
};

struct kernels {
	struct kernel_sums sums[2]; /* of ranks in time, of late ranks */
	uint32_t pairs[2];
	struct hwy_index names;
	struct kernel_name *items;
	uint32_t n, cap;
};

static void compare_kernel(struct kernels *k, const struct hwy_trace *trace,
			   const struct flow_op *op, bool late, bool is_example)
{
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(trace, op->span, &row);
	const struct hwy_shape *shape = hwy_get_shape(trace, strip, row);
	const char *name = hwy_str(trace, hwy_get(strip, HWY_NAME, row));
	bool fresh;
	uint32_t *at = hwy_index_put(&k->names, name, strlen(name), &fresh);
	if (fresh) {
		HWY_GROW(k->items, k->n, k->cap);
		*at = k->n;
		k->items[k->n++] = (struct kernel_name){.name = name};
	}
	struct kernel_name *item = &k->items[*at];
	int64_t ns = op->end - op->start;
	item->ns[late] += (double)ns;
	if (is_example && ns > item->longest[late]) {
		item->longest[late] = ns;
		item->span[late] = op->span;
	}
	k->sums[late].ns += (double)ns;
	k->sums[late].n++;
	if (shape && shape->grid_x > 0 && shape->block_x > 0) {
		k->sums[late].has_shapes = true;
		k->sums[late].threads += (double)shape->grid_x * (double)shape->grid_y *
					 (double)shape->grid_z * (double)shape->block_x *
					 (double)shape->block_y * (double)shape->block_z;
	}
}

static void add_kernels(struct compared *c, struct kernels *k, uint32_t member, uint32_t step,
			bool late)
{
	const struct ranks_member *one = &c->members[member];
	const struct hwy_flow *flow = &one->analysis->flow;
	struct hwy_interval at =
		ranks_phase(one)->steps[c->ranks->first_step[member] + step].device;
	for (uint32_t i = flow_op_at(flow, at.from); i < flow->n_ops && flow->ops[i].start < at.to;
	     i++)
		if (flow->ops[i].kind == HWY_KERNEL && flow->ops[i].class == HWY_COMPUTE)
			compare_kernel(k, flow->trace, &flow->ops[i], late,
				       member == c->ranks->cause.member);
	k->pairs[late]++;
}

static double ratio_of(double late, uint32_t n_late, double others, uint32_t n_others)
{
	return n_late && n_others && others > 0 ? late / n_late / (others / n_others) : 0;
}

/* The kernel that takes longer by most, with the place that launches it. */
static void name_kernel(struct compared *c, const struct kernels *k)
{
	struct ranks_cause *cause = &c->ranks->cause;
	double most = 0;
	for (uint32_t i = 0; i < k->n; i++) {
		const struct kernel_name *one = &k->items[i];
		double more = one->ns[1] / k->pairs[1] - one->ns[0] / k->pairs[0];
		if (more <= most || one->longest[1] == 0)
			continue;
		most = more;
		cause->kernel = hwy_arena_format(&c->ranks->arena, "%s", one->name);
		cause->place = place_of(c->members[cause->member].analysis->places, one->span[1]);
		cause->has_place = true;
	}
}

static bool compare_kernels(struct compared *c, struct hwy_err *err)
{
	struct ranks_cause *cause = &c->ranks->cause;
	struct kernels k = {0};
	for (uint32_t r = 0; r < c->ranks->n; r++)
		if (c->ranks->rows[r].is_judged &&
		    !hwy_need(c->members[r].analysis->trace, HWY_KIND_BIT(HWY_KERNEL),
			      HWY_COL_BIT(HWY_NAME) | HWY_COL_BIT(HWY_SHAPE), err))
			return false;
	uint32_t every = 1 + c->ranks->n_steps / MOST_STEPS;
	for (uint32_t s = 0; s < c->ranks->n_steps; s += every)
		for (uint32_t r = 0; r < c->ranks->n; r++) {
			bool late = c->ranks->rows[r].is_judged && is_suspect(c->ranks, r, s);
			if (late || is_in_time(c->ranks, r, s))
				add_kernels(c, &k, r, s, late);
		}
	if (k.pairs[0] && k.pairs[1]) {
		const struct kernel_sums *late = &k.sums[1], *others = &k.sums[0];
		cause->kernel_time = ratio_of(late->ns, k.pairs[1], others->ns, k.pairs[0]);
		cause->kernel_count = ratio_of(late->n, k.pairs[1], others->n, k.pairs[0]);
		if (late->has_shapes && others->has_shapes)
			cause->threads =
				ratio_of(late->threads, k.pairs[1], others->threads, k.pairs[0]);
		if (cause->part == RANK_COMPUTE)
			name_kernel(c, &k);
	}
	hwy_index_free(&k.names);
	free(k.items);
	return true;
}

/* ---- places of idle time --------------------------------------------------------------------- */

static bool is_line(const struct hwy_place *place)
{
	return *place->file && place->line > 0;
}

/* The span that says what the CPU did in a gap; false where none does. */
static bool span_of_gap(const struct hwy_flow *flow, const struct hwy_gap *gap, uint32_t *span)
{
	if (hwy_ref32_is_set(gap->span))
		*span = hwy_ref32_index(gap->span);
	else if (gap->culprit != FLOW_NONE)
		*span = flow->calls[gap->culprit].span;
	else if (gap->op != FLOW_NONE && flow->ops[gap->op].call != FLOW_NONE)
		*span = flow->calls[flow->ops[gap->op].call].span;
	else
		return false;
	return true;
}

/* The two calls of the thread that ends the gap between which most of the gap lies; false where
 * the gap begins after the last call before its end. */
static bool calls_around(const struct hwy_flow *flow, const struct hwy_gap *gap, uint32_t *before,
			 uint32_t *after)
{
	enum { MOST_CALLS = 256 };
	uint32_t next = gap->op != FLOW_NONE ? flow->ops[gap->op].call : FLOW_NONE, looked = 0;
	int64_t longest = 0;
	for (uint32_t i = next; next != FLOW_NONE && i-- > 0 && looked++ < MOST_CALLS;) {
		const struct flow_call *call = &flow->calls[i], *later = &flow->calls[next];
		if (call->thread != later->thread)
			continue;
		int64_t pause = later->start - call->end;
		if (pause > longest) {
			longest = pause;
			*before = call->span;
			*after = later->span;
		}
		if (call->start <= gap->at.from)
			break;
		next = i;
	}
	return longest * 2 > gap->at.to - gap->at.from;
}

/* The CPU's own work has no call whose line would tell: the calls before and after it do. */
static void place_pause(struct ranks_cause *cause, const struct ranks_member *member,
			const struct hwy_gap *gap)
{
	uint32_t before = 0, after = 0;
	struct place_between between;
	if (!calls_around(&member->analysis->flow, gap, &before, &after))
		return;
	if (!place_between(member->analysis->trace, before, after, &between)) {
		cause->is_before_place = gap->cause == GAP_CPU;
		return;
	}
	cause->place.file = between.file;
	cause->place.line = between.to;
	cause->place.function = between.function;
	cause->after_line = between.from;
}

/* The place with most of the rank's gaps of this cause in steps in which the rank is late. */
static void place_gaps(struct compared *c, enum gap_cause which)
{
	struct ranks_cause *cause = &c->ranks->cause;
	const struct ranks_member *member = &c->members[cause->member];
	const struct hwy_gaps *gaps = &member->analysis->measures[member->phase].gaps;
	struct {
		struct hwy_place at;
		int64_t ns;
		const struct hwy_gap *longest;
	} places[MOST_PLACES];
	uint32_t n = 0, best = 0;
	for (uint32_t i = 0; i < gaps->n; i++) {
		const struct hwy_gap *gap = &gaps->gaps[i];
		uint32_t step = gap->step - c->ranks->first_step[cause->member] + c->before, span,
			 k = 0;
		if (gap->cause != which || step >= c->ranks->n_steps ||
		    !ranks_is_late(c->ranks, cause->member, step) ||
		    !span_of_gap(&member->analysis->flow, gap, &span))
			continue;
		struct hwy_place place = place_of(member->analysis->places, span);
		while (k < n && !place_equal(&places[k].at, &place))
			k++;
		if (k == MOST_PLACES)
			continue;
		if (k == n) {
			places[n].at = place;
			places[n].longest = gap;
			places[n++].ns = 0;
		}
		places[k].ns += gap->at.to - gap->at.from;
		if (gap->at.to - gap->at.from >
		    places[k].longest->at.to - places[k].longest->at.from)
			places[k].longest = gap;
		best = places[k].ns > places[best].ns ? k : best;
	}
	cause->has_place = n > 0;
	if (n == 0)
		return;
	cause->place = places[best].at;
	if (!hwy_ref32_is_set(places[best].longest->span) &&
	    (which == GAP_CPU || which == GAP_INPUT))
		place_pause(cause, member, places[best].longest);
}

/* Findings know lines where only some of the calls have a stack: their first line is taken where
 * the gaps have none. */
static void take_finding(struct compared *c, enum gap_cause which)
{
	struct ranks_cause *cause = &c->ranks->cause;
	const struct hwy_diagnosis *diagnosis = c->members[cause->member].diagnosis;
	for (uint32_t i = 0; diagnosis && i < diagnosis->n; i++) {
		const struct hwy_finding *finding = &diagnosis->findings[i];
		if (finding->word != verdict_word_of_cause(which) || finding->n_places == 0 ||
		    finding->phase != c->members[cause->member].phase || finding->kind->is_inside)
			continue;
		if (!cause->has_place ||
		    (!is_line(&cause->place) && is_line(&finding->places[0].at)))
			cause->place = finding->places[0].at;
		cause->has_place = true;
		return;
	}
}

bool ranks_find_cause(struct job_ranks *ranks, const struct ranks_member *members,
		      struct hwy_err *err)
{
	struct compared c = {.ranks = ranks, .members = members};
	ranks->cause = (struct ranks_cause){.kernel = "", .doing = ""};
	if (ranks->lateness == RANKS_IN_TIME || ranks->lateness == RANKS_EARLY)
		return true;
	c.times = hwy_zarray(ranks->n, sizeof *c.times);
	struct ranks_cause before;
	compare_steps(&c, 1, &before);
	compare_steps(&c, 0, &ranks->cause);
	/* Of ranks that repeat, both tell the same; of others, the step that shows more is the
	 * one that made the rank late. */
	bool is_before = before.is_known &&
			 (!ranks->cause.is_known || before.more > ranks->cause.more * 3 / 2) &&
			 before.part >= RANK_IDLE;
	if (is_before)
		compare_steps(&c, 1, &ranks->cause);
	bool done = c.n == 0 || compare_kernels(&c, err);
	if (done && ranks->cause.is_known && ranks->cause.part >= RANK_IDLE) {
		enum gap_cause which = (enum gap_cause)(ranks->cause.part - RANK_IDLE);
		place_gaps(&c, which);
		take_finding(&c, which);
		done = ranks_find_doing(ranks, members, err);
	}
	free(c.times);
	return done;
}
