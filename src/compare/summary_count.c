/* SPDX-License-Identifier: Apache-2.0 */
/* summary_count.c - what the steady steps of a phase are made of: copies, bytes, waits; kernels,
 * calls and ranges by folded name, modules. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/ref.h"
#include "compare/kernel_names.h"
#include "compare/summary.h"

const char *const summary_count_keys[COUNTS] = {
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
	[COUNT_LATE_RANKS] = "late_ranks",
	[COUNT_SLOW_LINKS] = "slow_links",
	[COUNT_RANK_WAITS] = "rank_waits_ns",
};

const char *const summary_table_names[TABLES] = {"kernels", "calls", "ranges", "modules"};

struct tally { /* all kernels, calls or ranges of one folded name */
	const char *name;
	uint64_t count;
	int64_t ns;
	/* Running mean and sum of squares of the lengths, by Welford's method. */
	double mean, squares;
	uint32_t span; /* reference to the longest occurrence, and its ns */
	int64_t longest;
	double places; /* sum over all occurrences of the position in the step, each 0 … 1 */
};

struct tallies {
	struct hwy_map by_text;   /* maps the id of a text to an index in 'rows' */
	struct hwy_index by_name; /* maps a folded name to an index in 'rows' */
	struct tally *rows;
	uint32_t n, cap;
};

struct pass {
	struct compare_summary *summary;
	struct compare_phase *into;
	struct hwy_trace *trace;
	const struct hwy_flow *flow;
	const struct hwy_phase *phase;
	struct tallies tallies[TABLES];
	uint32_t step;                   /* the step of the current op: ops come in order of time */
	const struct hwy_owners *owners; /* NULL where the recording has no operators */
	/* by owner: a reference to its row of TABLE_MODULES, 0 until asked for */
	uint32_t *row_of_owner;
	/* by row of TABLE_MODULES: its time in the last step that it worked in */
	struct module_step {
		uint32_t step;
		int64_t ns;
		double place;
	} * modules;
	uint32_t cap_modules;
};

static bool op_is_ours(const struct pass *pass, const struct flow_op *op)
{
	return op->call == FLOW_NONE ||
	       (pass->flow->calls[op->call].process == pass->phase->process &&
		phase_has_call(pass->phase, op->call));
}

/* Drops the version that nsys adds to a runtime call's name: cudaLaunchKernel_v7000. */
static void drop_version(char *name)
{
	char *version = strrchr(name, '_');
	if (version && version[1] == 'v' && strspn(version + 2, "0123456789") >= 4 &&
	    version[2 + strspn(version + 2, "0123456789")] == '\0')
		*version = '\0';
}

static struct tally *tally_of(struct pass *pass, struct tallies *all, int64_t text)
{
	bool is_new_text, is_new_name;
	uint32_t *by_text = hwy_map_put(&all->by_text, (uint64_t)text, &is_new_text);
	if (is_new_text) {
		char name[KERNEL_NAME_BYTES];
		kernel_name_fold(hwy_str(pass->trace, text), name);
		if (all == &pass->tallies[TABLE_CALLS])
			drop_version(name);
		uint32_t *by_name = hwy_index_put(&all->by_name, name, strlen(name), &is_new_name);
		if (is_new_name) {
			HWY_GROW(all->rows, all->n, all->cap);
			*by_name = all->n;
			all->rows[all->n++] = (struct tally){
				.name = hwy_arena_text(&pass->summary->arena, name, strlen(name))};
		}
		*by_text = *by_name;
	}
	return &all->rows[*by_text];
}

/* Adds one occurrence with its length in ns, and where in its step it began, 0 … 1. */
static void tally_add(struct tally *tally, int64_t length, double place)
{
	if (tally->ns > INT64_MAX / 2) /* only ranges of a damaged recording are so long */
		return;
	double ns = (double)length, change = ns - tally->mean;
	tally->count++;
	tally->ns += length;
	tally->mean += change / (double)tally->count;
	tally->squares += change * (ns - tally->mean);
	tally->places += place;
}

/* Notes the longest span that a row has. */
static void tally_note_span(struct tally *tally, uint32_t span, int64_t length)
{
	if (hwy_ref32_is_set(tally->span) && length <= tally->longest)
		return;
	tally->span = hwy_ref32(span);
	tally->longest = length;
}

/* Where in a step a moment lies: 0 is the step's begin, 1 its end. */
static double place_in_step(int64_t moment, struct hwy_interval step)
{
	double length = (double)(step.to - step.from);
	return length > 0 ? (double)(moment - step.from) / length : 0;
}

/* Counts one kernel, call or range, a span, with its time, and where in its step it began. */
static void count_row(struct pass *pass, enum compare_table_kind table, int64_t text, uint32_t span,
		      struct hwy_interval time, struct hwy_interval step)
{
	struct tally *tally = tally_of(pass, &pass->tallies[table], text);
	tally_add(tally, time.to - time.from, place_in_step(time.from, step));
	tally_note_span(tally, span, time.to - time.from);
}

/* ---- modules --------------------------------------------------------------------------------- */

/* Writes what device work of an owner is counted for: its module, else the innermost scope
 * around its operators; "" where it has neither. */
static void module_name(const struct hwy_owners *owners, const struct hwy_owner *owner, char *name,
			size_t size)
{
	uint32_t scope = 0;
	*name = '\0';
	if (owner->module) {
		owners_module_label(owners, owner->module, name, size);
		return;
	}
	for (uint32_t link = owner->chain; link; link = owners->chain[link].outer)
		if (owners->chain[link].is_operator)
			scope = 0;
		else if (!scope)
			scope = link;
	if (scope)
		snprintf(name, size, "%s", owners_text(owners, owners->chain[scope].name));
}

/* Yields the row for device work of an owner; UINT32_MAX where it belongs to no module and no
 * scope. */
static uint32_t module_row(struct pass *pass, uint32_t owner)
{
	struct tallies *all = &pass->tallies[TABLE_MODULES];
	if (pass->row_of_owner[owner])
		return pass->row_of_owner[owner] == UINT32_MAX ? UINT32_MAX
							       : pass->row_of_owner[owner] - 1;
	char name[KERNEL_NAME_BYTES];
	bool is_new;
	module_name(pass->owners, &pass->owners->owners[owner], name, sizeof name);
	pass->row_of_owner[owner] = UINT32_MAX;
	if (!*name)
		return UINT32_MAX;
	uint32_t *row = hwy_index_put(&all->by_name, name, strlen(name), &is_new);
	if (is_new) {
		HWY_GROW(all->rows, all->n, all->cap);
		HWY_GROW(pass->modules, all->n, pass->cap_modules);
		*row = all->n;
		pass->modules[all->n] = (struct module_step){.step = UINT32_MAX};
		all->rows[all->n++] = (struct tally){
			.name = hwy_arena_text(&pass->summary->arena, name, strlen(name))};
	}
	pass->row_of_owner[owner] = *row + 1;
	return *row;
}

/* Counts the step that a module has worked in so far. */
static void end_module_step(struct pass *pass, uint32_t row)
{
	const struct module_step *module = &pass->modules[row];
	if (module->step != UINT32_MAX)
		tally_add(&pass->tallies[TABLE_MODULES].rows[row], module->ns, module->place);
}

static void count_module(struct pass *pass, const struct flow_op *op, const struct hwy_strip *strip,
			 uint32_t span_row)
{
	const uint32_t *owner_of =
		pass->owners ? pass->owners->owner_of[strip - pass->trace->strips] : NULL;
	uint32_t row = owner_of ? module_row(pass, owner_of[span_row]) : UINT32_MAX;
	if (row == UINT32_MAX)
		return;
	struct module_step *module = &pass->modules[row];
	/* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): module_row made the row */
	if (module->step != pass->step) {
		end_module_step(pass, row);
		*module = (struct module_step){
			.step = pass->step,
			.place = place_in_step(op->start, pass->phase->steps[pass->step].device)};
	}
	module->ns += op->end - op->start;
	tally_note_span(&pass->tallies[TABLE_MODULES].rows[row], op->span, op->end - op->start);
}

/* ---- device work and calls ------------------------------------------------------------------- */

static void summary_count_kernel(struct pass *pass, const struct flow_op *op, int64_t text)
{
	count_row(pass, TABLE_KERNELS, text, op->span, (struct hwy_interval){op->start, op->end},
		  pass->phase->steps[pass->step].device);
	pass->into->kernel_ns += op->end - op->start;
	pass->into->counts[COUNT_KERNELS]++;
}

static void count_copy(struct pass *pass, const struct hwy_strip *strip, uint32_t row)
{
	int64_t *counts = pass->into->counts;
	int64_t bytes = hwy_get(strip, HWY_BYTES, row);
	int64_t direction = hwy_get(strip, HWY_DIRECTION, row);
	bool pageable = hwy_copies_pageable(strip, row);
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
	const struct hwy_phase *phase = pass->phase;
	for (uint32_t i = flow_op_at(flow, phase->window.from);
	     i < flow->n_ops && flow->ops[i].start < phase->window.to; i++) {
		const struct flow_op *op = &flow->ops[i];
		uint32_t row;
		if (!op_is_ours(pass, op))
			continue;
		const struct hwy_strip *strip = hwy_strip_of(pass->trace, op->span, &row);
		while (pass->step + 1 < phase->first_steady + phase->n_steady &&
		       op->start >= phase->steps[pass->step].device.to)
			pass->step++;
		count_module(pass, op, strip, row);
		if (op->kind == HWY_KERNEL)
			summary_count_kernel(pass, op, hwy_get(strip, HWY_NAME, row));
		else if (op->kind == HWY_COPY)
			count_copy(pass, strip, row);
		else if (op->kind == HWY_FILL)
			pass->into->counts[COUNT_FILLS]++;
		else if (op->kind == HWY_GRAPH)
			pass->into->counts[COUNT_HIDDEN]++;
	}
	for (uint32_t row = 0; row < pass->tallies[TABLE_MODULES].n; row++)
		end_module_step(pass, row);
}

static void count_call(struct pass *pass, const struct flow_call *call, struct hwy_interval step)
{
	int64_t *counts = pass->into->counts;
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(pass->trace, call->span, &row);
	counts[COUNT_LAUNCHES] +=
		call->role == HWY_ROLE_LAUNCH || call->role == HWY_ROLE_GRAPH_LAUNCH;
	counts[COUNT_GRAPH_LAUNCHES] += call->role == HWY_ROLE_GRAPH_LAUNCH;
	counts[COUNT_ALLOCS] += call->role == HWY_ROLE_ALLOC || call->role == HWY_ROLE_FREE;
	count_row(pass, TABLE_CALLS, hwy_get(strip, HWY_NAME, row), call->span,
		  (struct hwy_interval){call->start, call->end}, step);
}

static void summary_count_calls(struct pass *pass, const struct hwy_waits *waits)
{
	const struct hwy_phase *phase = pass->phase;
	const struct hwy_flow *flow = pass->flow;
	int64_t *counts = pass->into->counts;
	const struct phase_step *first = &phase->steps[phase->first_steady],
				*last = first + phase->n_steady - 1;
	for (const struct phase_step *step = first; step <= last; step++)
		for (uint32_t i = 0; i < step->n_calls; i++)
			if (flow->calls[step->first_call + i].process == phase->process)
				count_call(pass, &flow->calls[step->first_call + i], step->cpu);
	for (uint32_t i = 0; i < waits->n; i++) {
		const struct hwy_wait *wait = &waits->waits[i];
		if (wait->call < first->first_call ||
		    wait->call >= last->first_call + last->n_calls)
			continue;
		counts[COUNT_WAITS]++;
		counts[COUNT_SYNCS] += wait->op != FLOW_NONE && wait->waited > 0;
		counts[COUNT_WAITED] += wait->waited > 0 ? wait->waited : 0;
	}
}

/* Counts the ranges that begin in a steady step, the steps' own marks among them. */
static void count_ranges(struct pass *pass)
{
	const struct hwy_phase *phase = pass->phase;
	const struct phase_step *first = &phase->steps[phase->first_steady],
				*last = first + phase->n_steady - 1;
	for (uint32_t s = 0; s < pass->trace->n_strips; s++) {
		const struct hwy_strip *strip = &pass->trace->strips[s];
		const struct phase_step *step = first;
		const struct hwy_lane *lane = &pass->trace->lanes[strip->lane];
		if (strip->kind != HWY_RANGE || lane->process != phase->process ||
		    lane->type == HWY_LANE_DEVICE_RANGE)
			continue;
		for (uint32_t row = 0; row < strip->rows; row++) {
			struct hwy_interval time = {hwy_get(strip, HWY_START, row),
						    hwy_end(strip, row)};
			while (step < last && time.from >= step[1].cpu.from)
				step++;
			if (time.from >= step->cpu.from && time.from < step->cpu.to &&
			    time.to - time.from < INT64_C(1) << 40 &&
			    !(hwy_get(strip, HWY_FLAGS, row) & HWY_FLAG_MARK))
				count_row(pass, TABLE_RANGES, hwy_get(strip, HWY_NAME, row),
					  strip->first + row, time, step->cpu);
		}
	}
}

static int compare_tallies(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void keep_table(struct pass *pass, enum compare_table_kind kind)
{
	struct tallies *all = &pass->tallies[kind];
	struct compare_table *table = &pass->into->tables[kind];
	uint32_t most = kind == TABLE_KERNELS ? COMPARE_KERNELS : COMPARE_ROWS;
	if (all->n)
		qsort(all->rows, all->n, sizeof *all->rows, compare_tallies);
	table->n = all->n < most ? all->n : most;
	table->left_out = all->n - table->n;
	table->rows = hwy_arena_array(&pass->summary->arena, table->n, sizeof *table->rows);
	for (uint32_t i = 0; i < table->n; i++) {
		const struct tally *tally = &all->rows[i];
		double spread = tally->count > 1 ? tally->squares / (double)(tally->count - 1) : 0;
		table->rows[i] = (struct compare_row){
			.name = tally->name,
			.count = tally->count,
			.ns = tally->ns,
			.deviation = sqrt(spread),
			.place = tally->places / (double)tally->count,
			.span = tally->span,
		};
	}
	hwy_map_free(&all->by_text);
	hwy_index_free(&all->by_name);
	free(all->rows);
}

static bool has_operators(const struct hwy_trace *trace)
{
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (trace->strips[s].kind == HWY_OP && trace->strips[s].rows)
			return true;
	return false;
}

bool summary_count(struct compare_summary *summary, struct compare_phase *into,
		   struct hwy_analysis *analysis, const struct hwy_phase *phase,
		   const struct hwy_waits *waits, struct hwy_err *err)
{
	const uint64_t wanted = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) |
				HWY_COL_BIT(HWY_NAME) | HWY_COL_BIT(HWY_BYTES) |
				HWY_COL_BIT(HWY_DIRECTION) | HWY_COL_BIT(HWY_SRC_MEMORY) |
				HWY_COL_BIT(HWY_DST_MEMORY);
	const uint64_t names = HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) |
			       HWY_COL_BIT(HWY_NAME) | HWY_COL_BIT(HWY_FLAGS);
	if (!hwy_need(analysis->trace, HWY_KIND_BIT(HWY_KERNEL) | HWY_KIND_BIT(HWY_COPY), wanted,
		      err) ||
	    !hwy_need(analysis->trace, HWY_KIND_BIT(HWY_API) | HWY_KIND_BIT(HWY_RANGE), names, err))
		return false;
	struct pass pass = {
		.summary = summary,
		.into = into,
		.trace = analysis->trace,
		.flow = &analysis->flow,
		.phase = phase,
		.step = phase->first_steady,
	};
	if (has_operators(analysis->trace)) {
		pass.owners = analysis_owners(analysis, err);
		if (!pass.owners)
			return false;
		pass.row_of_owner = hwy_zarray(pass.owners->n_owners, sizeof *pass.row_of_owner);
	}
	count_ops(&pass);
	summary_count_calls(&pass, waits);
	count_ranges(&pass);
	for (unsigned kind = 0; kind < TABLES; kind++)
		keep_table(&pass, kind);
	free(pass.row_of_owner);
	free(pass.modules);
	return true;
}
