/* SPDX-License-Identifier: Apache-2.0 */
/* claim.c - claims time from the purses of a case, and makes findings of claims.
 *
 * The places and the evidence of a finding come from the spans that its claim blames. Where these
 * are very many, an even sample of them is taken, and the costs are scaled so that they still add
 * up to the claim.
 */
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/lang.h"
#include "base/ref.h"
#include "diagnose/case.h"
#include "diagnose/launchers.h"

enum { SAMPLED_SPANS = 1024, MOST_PLACES = 8, MOST_EVIDENCE = 6 };

static int64_t claim_take(struct claim *claim, int64_t *purse, int64_t ns, enum claim_purse which,
			  uint32_t index, uint32_t span)
{
	if (ns > *purse)
		ns = *purse;
	if (ns <= 0)
		return 0;
	*purse -= ns;
	claim->total += ns;
	HWY_GROW(claim->items, claim->n, claim->cap);
	claim->items[claim->n++] = (struct claim_item){
		.ns = ns,
		.index = index,
		.span = span,
		.purse = (uint8_t)which,
	};
	return ns;
}

int64_t claim_gap(struct hwy_case *c, struct claim *claim, uint32_t gap, int64_t ns, uint32_t span)
{
	return claim_take(claim, &c->gap_left[gap], ns, CLAIM_GAP, gap, span);
}

int64_t claim_transfer(struct hwy_case *c, struct claim *claim, uint32_t transfer, int64_t ns,
		       uint32_t span)
{
	return claim_take(claim, &c->transfers[transfer].left, ns, CLAIM_TRANSFER, transfer, span);
}

int64_t claim_kernels(struct hwy_case *c, struct claim *claim, int64_t ns, uint32_t span)
{
	return claim_take(claim, &c->kernel_left, ns, CLAIM_KERNEL, 0, span);
}

void claim_op(struct hwy_case *c, struct claim *claim, uint32_t op, uint32_t span)
{
	const struct flow_op *one = &c->flow->ops[op];
	bool *is_taken = &c->op_is_taken[op - c->first_op];
	if (*is_taken ||
	    !claim_take(claim, &c->kernel_left, one->end - one->start, CLAIM_KERNEL, op, span))
		return;
	*is_taken = true;
	claim->items[claim->n - 1].is_op = true;
}

void claim_note(struct claim *claim, uint32_t span)
{
	HWY_GROW(claim->items, claim->n, claim->cap);
	claim->items[claim->n++] = (struct claim_item){.span = span};
}

void claim_stretches(struct hwy_case *c, struct claim *claim, const struct claim_stretch *stretches,
		     uint32_t n, unsigned causes)
{
	const struct hwy_gaps *gaps = &c->measures->gaps;
	uint32_t next = 0;
	for (uint32_t g = 0; n && g < gaps->n; g++) {
		const struct hwy_gap *gap = &gaps->gaps[g];
		if (g && gaps->gaps[g - 1].device != gap->device)
			next = 0;
		/* Stretches are in order of start, not of end. Where stretches of several threads
		 * overlap, a little time may be missed, but never too much be claimed. */
		while (next < n && stretches[next].at.to <= gap->at.from)
			next++;
		if (!(causes & CLAIM_CAUSE(gap->cause)))
			continue;
		for (uint32_t i = next; i < n && stretches[i].at.from < gap->at.to; i++) {
			const struct claim_stretch *one = &stretches[i];
			int64_t from = one->at.from > gap->at.from ? one->at.from : gap->at.from;
			int64_t to = one->at.to < gap->at.to ? one->at.to : gap->at.to;
			claim_gap(c, claim, g, to - from, one->span);
		}
	}
}

void claim_roles(struct hwy_case *c, struct claim *claim, uint32_t roles, unsigned causes)
{
	struct claim_stretch *stretches = NULL;
	uint32_t n = 0, cap = 0;
	for (uint32_t i = c->first_call; i < c->end_call; i++) {
		const struct flow_call *call = &c->flow->calls[i];
		if (!case_call_is_ours(c, i) || !(roles & (1u << call->role)))
			continue;
		HWY_GROW(stretches, n, cap);
		stretches[n++] = (struct claim_stretch){{call->start, call->end}, call->span};
	}
	claim_stretches(c, claim, stretches, n, causes);
	free(stretches);
}

/* The op before an op on the same device; FLOW_NONE where there is none. */
static uint32_t op_before(const struct hwy_flow *flow, uint32_t op)
{
	uint32_t i = op;
	while (i > 0 && flow->ops[i - 1].device != flow->ops[op].device)
		i--;
	return i > 0 ? i - 1 : FLOW_NONE;
}

void claim_between(struct hwy_case *c, struct claim *claim, unsigned causes, int64_t pause,
		   int64_t longest, bool (*is_it)(const struct hwy_case *c, uint32_t op))
{
	for (uint32_t g = 0; g < c->measures->gaps.n; g++) {
		const struct hwy_gap *gap = &c->measures->gaps.gaps[g];
		bool is_pause = gap->cause == GAP_DEPENDENCY && gap->at.to - gap->at.from <= pause;
		if (gap->op == FLOW_NONE || gap->at.to - gap->at.from > longest ||
		    !(is_pause || causes & CLAIM_CAUSE(gap->cause)) || !is_it(c, gap->op))
			continue;
		uint32_t before = op_before(c->flow, gap->op);
		if (before != FLOW_NONE && is_it(c, before))
			claim_gap(c, claim, g, CLAIM_ALL, c->flow->ops[gap->op].span);
	}
}

/* Makes room for 'more' items at once: growing step by step would copy millions of items again and
 * again. */
static void reserve(struct claim *claim, uint32_t more)
{
	if (more <= claim->cap - claim->n || claim->n > UINT32_MAX - more)
		return;
	claim->cap = claim->n + more;
	claim->items = hwy_resize(claim->items, claim->cap, sizeof *claim->items);
}

void claim_cause(struct hwy_case *c, struct claim *claim, enum gap_cause cause)
{
	uint32_t n = 0;
	if (case_states(c).causes[cause] == 0)
		return;
	for (uint32_t g = 0; g < c->measures->gaps.n; g++)
		n += c->measures->gaps.gaps[g].cause == cause;
	reserve(claim, n);
	for (uint32_t g = 0; g < c->measures->gaps.n; g++) {
		const struct hwy_gap *gap = &c->measures->gaps.gaps[g];
		if (gap->cause != cause)
			continue;
		uint32_t span = CLAIM_NOBODY;
		if (hwy_ref32_is_set(gap->span))
			span = hwy_ref32_index(gap->span);
		else if (gap->culprit != FLOW_NONE)
			span = c->flow->calls[gap->culprit].span;
		else if (gap->op != FLOW_NONE)
			span = c->flow->ops[gap->op].span;
		claim_gap(c, claim, g, CLAIM_ALL, span);
	}
}

static bool gap_follows_results(const struct hwy_case *c, const struct hwy_gap *gap)
{
	uint32_t before = gap->op == FLOW_NONE ? FLOW_NONE : op_before(c->flow, gap->op);
	if (before == FLOW_NONE)
		return false;
	const struct flow_op *last = &c->flow->ops[before];
	return last->kind == HWY_COPY && case_get(c, last->span, HWY_DIRECTION) == HWY_D2H &&
	       case_get(c, last->span, HWY_BYTES) >= CLAIM_RESULT_BYTES;
}

bool claim_follows_results(const struct hwy_case *c, const struct claim *claim)
{
	int64_t after_results = 0;
	for (uint32_t i = 0; i < claim->n; i++)
		if (claim->items[i].purse == CLAIM_GAP &&
		    gap_follows_results(c, &c->measures->gaps.gaps[claim->items[i].index]))
			after_results += claim->items[i].ns;
	return after_results > claim->total / 2;
}

double claim_share(const struct hwy_case *c, const struct claim *claim)
{
	return case_share(c, claim->total);
}

bool claim_is_worth(const struct hwy_case *c, const struct claim *claim)
{
	return claim->total > 0 && claim_share(c, claim) >= HWY_WORTH_SHARE;
}

static void claim_free(struct claim *claim)
{
	free(claim->items);
	*claim = (struct claim){0};
}

void claim_drop(struct hwy_case *c, struct claim *claim)
{
	for (uint32_t i = 0; i < claim->n; i++) {
		const struct claim_item *item = &claim->items[i];
		int64_t *purse = item->purse == CLAIM_GAP        ? &c->gap_left[item->index]
				 : item->purse == CLAIM_TRANSFER ? &c->transfers[item->index].left
								 : &c->kernel_left;
		if (item->ns)
			*purse += item->ns;
		if (item->is_op)
			c->op_is_taken[item->index - c->first_op] = false;
	}
	claim_free(claim);
}

/* ---- places ---------------------------------------------------------------------------------- */

static int compare_places(const void *a, const void *b)
{
	const struct hwy_finding_place *x = a, *y = b;
	if (x->cost != y->cost)
		return x->cost < y->cost ? 1 : -1;
	return (x->count < y->count) - (x->count > y->count);
}

/* Sets the line of a place that has none, where the operator that launches there knows it. */
static void take_line_of_owner(const struct hwy_case *c, const struct hwy_owner *owner,
			       struct hwy_place *place)
{
	/* Traced functions are looked at by place_of, which knows more about them. */
	if (!owner || !owner->line || (*place->file && place->line > 0) ||
	    c->diagnosis->habits.has_functions)
		return;
	const struct owner_line *line = &c->owners->lines[owner->line];
	struct hwy_arena *arena = &c->diagnosis->arena;
	place->file = hwy_arena_format(arena, "%s", owners_text(c->owners, line->file));
	place->line = line->line;
	place->function = hwy_arena_format(arena, "%s", owners_text(c->owners, line->function));
}

/* The length of the path that two paths of modules begin with: "Net.layers.*" of
 * "Net.layers.*.up" and "Net.layers.*.down". */
static size_t length_of_common_path(const char *a, const char *b)
{
	size_t n = 0, whole = 0;
	for (; a[n] && a[n] == b[n]; n++)
		whole = a[n] == '.' ? n : whole;
	bool ends = (!a[n] || a[n] == '.') && (!b[n] || b[n] == '.');
	return ends ? n : whole;
}

/* What is known of a place's modules once one more is added. A span that stands for many kernels
 * (is_example) does not tell the numbers of their modules. */
static const char *merge_layers(struct hwy_case *c, const struct hwy_finding_place *place,
				const struct hwy_owner *owner, bool is_example)
{
	char path[256] = "", folded[256], before[256];
	if (owner)
		owners_module_path(c->owners, owner->module, path, sizeof path);
	launchers_fold_path(path, folded, sizeof folded);
	if (place->count == 0)
		return hwy_arena_format(&c->diagnosis->arena, "%s", is_example ? folded : path);
	if (strcmp(place->layer, path) == 0 || strcmp(place->layer, folded) == 0)
		return place->layer;
	launchers_fold_path(place->layer, before, sizeof before);
	size_t length = length_of_common_path(before, folded);
	return hwy_arena_format(&c->diagnosis->arena, "%.*s", (int)length, folded);
}

struct hwy_place claim_place(struct hwy_case *c, uint32_t span)
{
	struct hwy_place place = place_of(c->analysis->places, span);
	take_line_of_owner(c, case_owner(c, span), &place);
	if (!*place.file && !*place.function && !*place.range && !*place.api)
		place.range = case_name_said(c, span);
	return place;
}

/* Adds an item to its place of the finding. Costs are ns in all until find_places divides them by
 * the steps, so that rounding loses nothing. */
static void add_place(struct hwy_case *c, struct hwy_finding *finding, uint32_t cap,
		      const struct claim_item *item)
{
	struct hwy_place place = claim_place(c, item->span);
	const struct hwy_owner *owner = case_owner(c, item->span);
	uint32_t i = 0;
	while (i < finding->n_places && !place_equal(&finding->places[i].at, &place))
		i++;
	/* There are too many places: the last place stands for all further ones. */
	if (i == finding->n_places && i == cap)
		i--;
	else if (i == finding->n_places)
		finding->places[finding->n_places++] =
			(struct hwy_finding_place){.at = place, .layer = ""};
	finding->places[i].layer =
		merge_layers(c, &finding->places[i], owner,
			     item->purse == CLAIM_KERNEL && item->ns > 0 && !item->is_op);
	finding->places[i].count++;
	finding->places[i].cost += item->ns;
}

static bool is_located(const struct hwy_finding_place *place)
{
	return *place->at.file && place->at.line > 0;
}

/* Only one launch in N has a recorded stack. Where most of the cost has no source line, the places
 * with a line stand for all places, in proportion to their number of spans (not to their cost:
 * which launches have a stack is chance). */
static void trust_samples(struct hwy_finding *finding, int64_t total)
{
	enum { FEWEST_LOCATED = 3 };
	uint64_t located = 0, all = 0;
	int64_t unlocated = 0;
	for (uint32_t i = 0; i < finding->n_places; i++) {
		const struct hwy_finding_place *place = &finding->places[i];
		all += place->count;
		located += is_located(place) ? place->count : 0;
		unlocated += is_located(place) ? 0 : place->cost;
	}
	if (located < FEWEST_LOCATED || unlocated < total / 2)
		return;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < finding->n_places; i++) {
		struct hwy_finding_place place = finding->places[i];
		if (!is_located(&place))
			continue;
		double part = (double)place.count / (double)located;
		place.cost = (int64_t)((double)total * part);
		place.count = (uint64_t)((double)all * part);
		finding->places[kept++] = place;
	}
	finding->n_places = kept;
}

/* Adds the places of spans that have stacks: in a sample of very many spans there would be hardly
 * any. */
static void add_stacks(struct hwy_case *c, struct hwy_finding *finding, uint32_t cap,
		       const struct claim *claim)
{
	enum { MOST_LOOKS = 1 << 17 };
	uint32_t every = 1 + claim->n / MOST_LOOKS, found = 0;
	for (uint32_t i = 1; i < claim->n && found < SAMPLED_SPANS; i += every) {
		struct claim_item item = claim->items[i];
		uint32_t row;
		if (item.span == CLAIM_NOBODY)
			continue;
		const struct hwy_strip *strip = hwy_strip_of(c->trace, item.span, &row);
		if (strip->kind != HWY_API || !hwy_get(strip, HWY_STACK, row))
			continue;
		item.ns = 0;
		found++;
		add_place(c, finding, cap, &item);
	}
}

static void find_places(struct hwy_case *c, struct hwy_finding *finding, const struct claim *claim)
{
	enum { MOST_DISTINCT_PLACES = 64 };
	uint32_t every = 1 + (claim->n - 1) / SAMPLED_SPANS;
	int64_t sum = 0;
	finding->places = hwy_arena_array(&c->diagnosis->arena, MOST_DISTINCT_PLACES,
					  sizeof *finding->places);
	for (uint32_t i = 0; i < claim->n; i += every) {
		if (claim->items[i].span == CLAIM_NOBODY)
			continue;
		add_place(c, finding, MOST_DISTINCT_PLACES, &claim->items[i]);
		sum += claim->items[i].ns;
	}
	if (every > 1)
		add_stacks(c, finding, MOST_DISTINCT_PLACES, claim);
	trust_samples(finding, sum);
	double scale = sum && every > 1 ? (double)claim->total / (double)sum : 1;
	for (uint32_t i = 0; i < finding->n_places; i++) {
		struct hwy_finding_place *place = &finding->places[i];
		place->cost = case_per_step(c, every > 1 ? (int64_t)((double)place->cost * scale)
							 : place->cost);
	}
	qsort(finding->places, finding->n_places, sizeof *finding->places, compare_places);
	if (finding->n_places > MOST_PLACES)
		finding->n_places = MOST_PLACES;
	claim_count_calls(c, finding, claim, every);
}

static void find_evidence(struct hwy_case *c, struct hwy_finding *finding,
			  const struct claim *claim)
{
	uint32_t top[MOST_EVIDENCE], n = 0;
	for (uint32_t i = 0; i < claim->n; i++) {
		if (claim->items[i].span == CLAIM_NOBODY)
			continue;
		uint32_t place = n;
		while (place > 0 && claim->items[top[place - 1]].ns < claim->items[i].ns)
			place--;
		if (place == MOST_EVIDENCE)
			continue;
		uint32_t moved = (n < MOST_EVIDENCE ? n : MOST_EVIDENCE - 1) - place;
		memmove(&top[place + 1], &top[place], moved * sizeof *top);
		top[place] = i;
		n += n < MOST_EVIDENCE;
	}
	finding->evidence = hwy_arena_array(&c->diagnosis->arena, n, sizeof *finding->evidence);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t span = claim->items[top[i]].span, j = 0;
		while (j < finding->n_evidence && finding->evidence[j] != span)
			j++;
		if (j == finding->n_evidence)
			finding->evidence[finding->n_evidence++] = span;
	}
}

/* Yields the verdict's word that most of the claimed time is evidence for. */
static enum verdict_word word_of_claim(const struct hwy_case *c, const struct claim *claim)
{
	int64_t ns[VERDICTS] = {0};
	enum verdict_word most = VERDICTS;
	for (uint32_t i = 0; i < claim->n; i++) {
		const struct claim_item *item = &claim->items[i];
		enum verdict_word word = VERDICT_GPU;
		if (item->ns == 0)
			continue;
		if (item->purse == CLAIM_GAP)
			word = verdict_word_of_gap(c->flow, &c->measures->gaps.gaps[item->index]);
		else if (item->purse == CLAIM_TRANSFER)
			word = c->transfers[item->index].is_comm ? VERDICT_COMM : VERDICT_COPY;
		ns[word] += item->ns;
		if (most == VERDICTS || ns[word] > ns[most])
			most = word;
	}
	return most;
}

static struct hwy_finding claim_make(struct hwy_case *c, struct claim *claim)
{
	struct hwy_finding finding = {
		.kind = c->kind,
		.phase = c->index,
		.rank = HWY_NONE,
		.cost = case_per_step(c, claim->total),
		.share = claim_share(c, claim),
		.word = word_of_claim(c, claim),
		.edit = c->kind->edit,
		.advice = "",
	};
	if (claim->n) {
		find_places(c, &finding, claim);
		find_evidence(c, &finding, claim);
	}
	return finding;
}

struct hwy_finding *claim_accuse(struct hwy_case *c, struct claim *claim,
				 enum hwy_confidence confidence, const char *says,
				 const char *advice)
{
	struct hwy_diagnosis *diagnosis = c->diagnosis;
	HWY_GROW(diagnosis->findings, diagnosis->n, diagnosis->cap);
	struct hwy_finding *finding = &diagnosis->findings[diagnosis->n++];
	*finding = claim_make(c, claim);
	bool gaps = false;
	for (uint32_t i = 0; i < claim->n && !gaps; i++)
		gaps = claim->items[i].purse == CLAIM_GAP && claim->items[i].ns;
	bool doubtful = gaps || c->is_missing;
	finding->confidence = doubtful && confidence > c->most ? c->most : confidence;
	finding->says = says;
	finding->advice = hwy_tr(advice);
	claim_free(claim);
	return finding;
}

struct hwy_finding *claim_acquit(struct hwy_case *c, struct claim *claim, const char *says)
{
	struct hwy_diagnosis *diagnosis = c->diagnosis;
	HWY_GROW(diagnosis->acquitted, diagnosis->n_acquitted, diagnosis->cap_acquitted);
	struct hwy_finding *finding = &diagnosis->acquitted[diagnosis->n_acquitted++];
	*finding = claim_make(c, claim);
	finding->is_acquitted = true;
	finding->confidence = HWY_HIGH;
	finding->says = says;
	claim_drop(c, claim);
	return finding;
}
