/* SPDX-License-Identifier: Apache-2.0 */
/* claim_names.c - what names the idle time of a claim: the spans that the gaps were charged to,
 * or the work of the thread that should have launched. Names that differ in their last number
 * alone count as one. */
#include <stdlib.h>
#include <string.h>

#include "analyze/gaps/gaps_cause.h"
#include "base/index.h"
#include "base/ref.h"
#include "diagnose/case.h"

struct names {
	struct hwy_index by_name; /* maps a name without its last number to an index in 'list' */
	struct {
		int64_t name, ns;
		bool is_numbered; /* several names that differ in their last number */
	} * list;
	uint32_t n, cap;
};

/* The length of a name without the number at its end: train_12 and train_13 count as one name. */
static size_t length_without_number(const char *name)
{
	size_t n = strlen(name);
	while (n && name[n - 1] >= '0' && name[n - 1] <= '9')
		n--;
	return n;
}

static void add_name(struct names *names, const struct hwy_trace *trace, int64_t name, int64_t ns)
{
	bool fresh;
	const char *text = hwy_str(trace, name);
	uint32_t *index = hwy_index_put(&names->by_name, text, length_without_number(text), &fresh);
	if (fresh) {
		HWY_GROW(names->list, names->n, names->cap);
		names->list[names->n].name = name;
		names->list[names->n].ns = 0;
		names->list[names->n].is_numbered = false;
		*index = names->n++;
	}
	names->list[*index].is_numbered |= names->list[*index].name != name;
	names->list[*index].ns += ns;
}

/* Yields the name with most time, and that *ns; "" where there is none. */
static const char *take_top(struct hwy_case *c, struct names *names, int64_t *ns)
{
	const char *top = "";
	bool is_numbered = false;
	*ns = 0;
	for (uint32_t i = 0; i < names->n; i++)
		if (names->list[i].ns > *ns) {
			*ns = names->list[i].ns;
			top = hwy_str(c->trace, names->list[i].name);
			is_numbered = names->list[i].is_numbered;
		}
	if (is_numbered)
		top = hwy_arena_format(&c->diagnosis->arena, "%.*sN",
				       (int)length_without_number(top), top);
	hwy_index_free(&names->by_name);
	free(names->list);
	return top;
}

const char *claim_top_name(struct hwy_case *c, const struct claim *claim, int64_t *ns)
{
	struct names names = {0};
	for (uint32_t i = 0; i < claim->n; i++) {
		if (claim->items[i].purse != CLAIM_GAP || !claim->items[i].ns)
			continue;
		const struct hwy_gap *gap = &c->measures->gaps.gaps[claim->items[i].index];
		if (hwy_ref32_is_set(gap->span))
			add_name(&names, c->trace, case_text(c, hwy_ref32_index(gap->span)),
				 claim->items[i].ns);
	}
	return take_top(c, &names, ns);
}

/* What the thread that launches the op behind a gap does before that launch, as a reference
 * (base/ref.h) to an operator, a function, a range or a sample; HWY_REF_NONE for waits in the
 * OS. */
static uint32_t work_in_gap(const struct hwy_case *c, struct gaps_cpu *cpu,
			    const struct hwy_gap *gap)
{
	uint32_t row, call = gap->op == FLOW_NONE ? FLOW_NONE : c->flow->ops[gap->op].call;
	if (call == FLOW_NONE)
		return HWY_REF_NONE;
	const struct flow_call *launch = &c->flow->calls[call];
	uint32_t work = gaps_cpu_work(cpu, launch->thread,
				      (struct hwy_interval){gap->at.from, launch->start});
	if (!hwy_ref32_is_set(work))
		return HWY_REF_NONE;
	enum hwy_kind kind = hwy_strip_of(c->trace, hwy_ref32_index(work), &row)->kind;
	return kind == HWY_OS || kind == HWY_STATE ? HWY_REF_NONE : work;
}

/* How many ns of a gap a span covers; of a sample, which has no length, the whole gap. */
static int64_t time_in_gap(const struct hwy_case *c, uint32_t span, const struct hwy_gap *gap)
{
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(c->trace, span, &row);
	int64_t start = hwy_get(strip, HWY_START, row), end = hwy_end(strip, row);
	int64_t from = start > gap->at.from ? start : gap->at.from;
	int64_t to = end < gap->at.to ? end : gap->at.to;
	return strip->kind == HWY_SAMPLE ? gap->at.to - gap->at.from : to > from ? to - from : 0;
}

const char *claim_top_work(struct hwy_case *c, const struct claim *claim, int64_t *total,
			   uint32_t *span)
{
	struct hwy_err err;
	struct names names = {0};
	struct gaps_cpu *cpu = analysis_cpu(c->analysis);
	int64_t longest = 0;
	cpu->err = &err;
	*span = CLAIM_NOBODY;
	for (uint32_t i = 0; i < claim->n; i++) {
		const struct claim_item *item = &claim->items[i];
		if (item->purse != CLAIM_GAP || !item->ns)
			continue;
		uint32_t work = work_in_gap(c, cpu, &c->measures->gaps.gaps[item->index]);
		if (!hwy_ref32_is_set(work))
			continue;
		const struct hwy_gap *gap = &c->measures->gaps.gaps[item->index];
		int64_t ns = time_in_gap(c, hwy_ref32_index(work), gap);
		ns = ns < item->ns ? ns : item->ns;
		add_name(&names, c->trace, case_text(c, hwy_ref32_index(work)), ns);
		if (ns > longest) {
			longest = ns;
			*span = hwy_ref32_index(work);
		}
	}
	return take_top(c, &names, total);
}
