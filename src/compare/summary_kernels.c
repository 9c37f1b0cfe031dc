/* summary_kernels.c - what the steady steps of a phase are made of: calls, copies and kernels by folded name. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compare/names.h"
#include "compare/summary.h"

const char *const count_keys[COUNTS] = {
	[COUNT_WAITS] = "waits",
	[COUNT_SYNCS] = "syncs",
	[COUNT_WAITED] = "waited_ns",
	[COUNT_LAUNCHES] = "launches",
	[COUNT_GRAPH_LAUNCHES] = "graph_launches",
	[COUNT_KERNELS] = "kernels",
	[COUNT_COPIES] = "copies",
	[COUNT_FILLS] = "fills",
	[COUNT_ALLOCS] = "allocs",
	[COUNT_COPY_BYTES] = "copy_bytes",
	[COUNT_H2D_BYTES] = "h2d_bytes",
	[COUNT_D2H_BYTES] = "d2h_bytes",
	[COUNT_PAGEABLE_COPIES] = "pageable_copies",
	[COUNT_PAGEABLE_BYTES] = "pageable_bytes",
	[COUNT_HIDDEN] = "graphs_in_one_piece",
};

struct tally { /* a kernel by folded name */
	const char *name;
	uint64_t count;
	int64_t ns;
	double mean, squares; /* Welford's */
	double places;
};

struct pass {
	struct compare_summary *summary;
	struct compare_phase *into;
	struct hwy_trace *trace;
	const struct hwy_flow *flow;
	const struct hwy_phase *phase;
	struct hwy_map by_text; /* text id -> tally + 1 */
	struct hwy_map by_name; /* hash of the folded name -> tally + 1 */
	struct tally *tallies;
	uint32_t n, cap;
	uint32_t step; /* the one an op lies in: ops come in order */
};

static bool op_is_ours(const struct pass *pass, const struct flow_op *op)
{
	return op->call == FLOW_NONE || pass->flow->calls[op->call].process == pass->phase->process;
}

static struct tally *tally_of(struct pass *pass, int64_t text)
{
	uint32_t *known = hwy_map_put(&pass->by_text, (uint64_t)text, NULL);
	if (*known == 0) {
		char name[NAME_BYTES];
		name_fold(hwy_str(pass->trace, text), name);
		uint32_t *same = hwy_map_put(&pass->by_name, hwy_hash(name, strlen(name)), NULL);
		if (*same == 0) {
			HWY_GROW(pass->tallies, pass->n, pass->cap);
			pass->tallies[pass->n++] = (struct tally){
				.name = hwy_arena_text(&pass->summary->arena, name, strlen(name))};
			*same = pass->n;
		}
		*known = *same;
	}
	return &pass->tallies[*known - 1];
}

static void count_kernel(struct pass *pass, const struct flow_op *op, int64_t text)
{
	const struct hwy_phase *phase = pass->phase;
	while (pass->step + 1 < phase->first_steady + phase->n_steady &&
	       op->start >= phase->steps[pass->step].device.to)
		pass->step++;
	struct hwy_interval at = phase->steps[pass->step].device;
	struct tally *tally = tally_of(pass, text);
	double ns = (double)(op->end - op->start), change = ns - tally->mean;
	tally->count++;
	tally->ns += op->end - op->start;
	tally->mean += change / (double)tally->count;
	tally->squares += change * (ns - tally->mean);
	tally->places +=
		at.to > at.from ? (double)(op->start - at.from) / (double)(at.to - at.from) : 0;
	pass->into->kernel_ns += op->end - op->start;
	pass->into->counts[COUNT_KERNELS]++;
}

static void count_copy(struct pass *pass, const struct hwy_strip *strip, uint32_t row)
{
	int64_t *counts = pass->into->counts;
	int64_t bytes = hwy_get(strip, HWY_BYTES, row);
	int64_t direction = hwy_get(strip, HWY_DIRECTION, row);
	bool pageable = hwy_get(strip, HWY_SRC_MEMORY, row) == HWY_MEM_PAGEABLE ||
			hwy_get(strip, HWY_DST_MEMORY, row) == HWY_MEM_PAGEABLE;
	bytes = bytes > 0 && bytes < INT64_C(1) << 50 ? bytes : 0;
	counts[COUNT_COPIES]++;
	counts[COUNT_COPY_BYTES] += bytes;
	counts[COUNT_H2D_BYTES] += direction == HWY_H2D || direction == HWY_UM_H2D ? bytes : 0;
	counts[COUNT_D2H_BYTES] += direction == HWY_D2H || direction == HWY_UM_D2H ? bytes : 0;
	counts[COUNT_PAGEABLE_COPIES] += pageable;
	counts[COUNT_PAGEABLE_BYTES] += pageable ? bytes : 0;
}

static void count_ops(struct pass *pass)
{
	const struct hwy_flow *flow = pass->flow;
	for (uint32_t i = flow_op_at(flow, pass->phase->window.from);
	     i < flow->n_ops && flow->ops[i].start < pass->phase->window.to; i++) {
		const struct flow_op *op = &flow->ops[i];
		uint32_t row;
		if (!op_is_ours(pass, op))
			continue;
		const struct hwy_strip *strip = hwy_strip_of(pass->trace, op->span, &row);
		if (op->kind == HWY_KERNEL)
			count_kernel(pass, op, hwy_get(strip, HWY_NAME, row));
		else if (op->kind == HWY_COPY)
			count_copy(pass, strip, row);
		else if (op->kind == HWY_FILL)
			pass->into->counts[COUNT_FILLS]++;
		else if (op->kind == HWY_GRAPH)
			pass->into->counts[COUNT_HIDDEN]++;
	}
}

static void count_calls(struct pass *pass, const struct hwy_waits *waits)
{
	const struct hwy_phase *phase = pass->phase;
	const struct hwy_flow *flow = pass->flow;
	int64_t *counts = pass->into->counts;
	const struct phase_step *first = &phase->steps[phase->first_steady],
				*last = first + phase->n_steady - 1;
	uint32_t end = last->first_call + last->n_calls;
	for (uint32_t i = first->first_call; i < end && i < flow->n_calls; i++) {
		const struct flow_call *call = &flow->calls[i];
		if (call->process != phase->process)
			continue;
		counts[COUNT_LAUNCHES] +=
			call->role == HWY_ROLE_LAUNCH || call->role == HWY_ROLE_GRAPH_LAUNCH;
		counts[COUNT_GRAPH_LAUNCHES] += call->role == HWY_ROLE_GRAPH_LAUNCH;
		counts[COUNT_ALLOCS] += call->role == HWY_ROLE_ALLOC || call->role == HWY_ROLE_FREE;
	}
	for (uint32_t i = 0; i < waits->n; i++) {
		const struct hwy_wait *wait = &waits->waits[i];
		if (wait->call < first->first_call || wait->call >= end)
			continue;
		counts[COUNT_WAITS]++;
		counts[COUNT_SYNCS] += wait->op != FLOW_NONE && wait->waited > 0;
		counts[COUNT_WAITED] += wait->waited > 0 ? wait->waited : 0;
	}
}

static int compare_tallies(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void keep_kernels(struct pass *pass)
{
	struct compare_phase *into = pass->into;
	if (pass->n)
		qsort(pass->tallies, pass->n, sizeof *pass->tallies, compare_tallies);
	into->n_kernels = pass->n < COMPARE_KERNELS ? pass->n : COMPARE_KERNELS;
	into->kernels_left_out = pass->n - into->n_kernels;
	into->kernels = hwy_arena_alloc(&pass->summary->arena,
					(into->n_kernels + 1u) * sizeof *into->kernels);
	for (uint32_t i = 0; i < into->n_kernels; i++) {
		const struct tally *tally = &pass->tallies[i];
		into->kernels[i] = (struct compare_kernel){
			.name = tally->name,
			.count = tally->count,
			.ns = tally->ns,
			.deviation = tally->count > 1
					     ? sqrt(tally->squares / (double)(tally->count - 1))
					     : 0,
			.place = tally->places / (double)tally->count,
		};
	}
}

bool summary_count(struct compare_summary *summary, struct compare_phase *into,
		   struct hwy_analysis *analysis, const struct hwy_phase *phase,
		   const struct hwy_waits *waits, struct hwy_err *err)
{
	const uint64_t wanted = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) |
				HWY_COL_BIT(HWY_NAME) | HWY_COL_BIT(HWY_BYTES) |
				HWY_COL_BIT(HWY_DIRECTION) | HWY_COL_BIT(HWY_SRC_MEMORY) |
				HWY_COL_BIT(HWY_DST_MEMORY);
	if (!hwy_need(analysis->trace, HWY_KIND_BIT(HWY_KERNEL) | HWY_KIND_BIT(HWY_COPY), wanted,
		      err))
		return false;
	struct pass pass = {
		.summary = summary,
		.into = into,
		.trace = analysis->trace,
		.flow = &analysis->flow,
		.phase = phase,
		.step = phase->first_steady,
	};
	count_ops(&pass);
	count_calls(&pass, waits);
	keep_kernels(&pass);
	hwy_map_free(&pass.by_text);
	hwy_map_free(&pass.by_name);
	free(pass.tallies);
	return true;
}
