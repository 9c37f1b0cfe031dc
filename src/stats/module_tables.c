/* SPDX-License-Identifier: Apache-2.0 */
/* module_tables.c - the modules of a model: the device work that their operators launched, and
 * the operators' CPU time.
 *
 * Self is what operators launched or took that were called by the module itself, total includes
 * the modules inside of it. Backward operators count for the module of their forward operator
 * (analyze/owners.h). What belongs to no module is one row "(no module)", so that the self times
 * add up to all device work and to all operators.
 */
#include <stdio.h>
#include <stdlib.h>

#include "analyze/owners.h"
#include "analyze/work.h"
#include "base/ref.h"
#include "stats/families.h"

struct module_line { /* times in ns */
	int64_t self_gpu, total_gpu, self_cpu, total_cpu;
	int64_t launches, operators;
	uint32_t module; /* index into the owners' modules; 0: what belongs to no module */
};

struct module_sums {
	struct report_run *run;
	struct hwy_owners owners;
	struct hwy_work work;
	struct module_line *lines; /* parallel to the owners' modules */
};

static void modules_add_work(struct module_sums *sums, const struct hwy_strip *strip)
{
	for (uint32_t row = 0; row < strip->rows; row++) {
		if (!work_is_own(&sums->work, strip, row) || !report_keeps(sums->run, strip, row))
			continue;
		uint32_t module = owners_of(&sums->owners, strip, row)->module;
		hwy_add_saturating(&sums->lines[module].self_gpu, hwy_get(strip, HWY_DUR, row));
		sums->lines[module].launches++;
	}
}

/* Adds each operator's time to its own module, and takes it from that of the operator around it. */
static void modules_add_cpu(struct module_sums *sums, const struct hwy_strip *strip)
{
	const struct hwy_owners *o = &sums->owners;
	const uint32_t *op_of = o->op_of[strip - sums->run->trace->strips];
	for (uint32_t row = 0; row < strip->rows; row++) {
		const struct hwy_owner *owner = owners_of(o, strip, row);
		/* Scopes are no operators, whatever recorded them. */
		if (!owner->chain || owner->chain != owner->op)
			continue;
		int64_t end = hwy_end(strip, row), length = hwy_get(strip, HWY_DUR, row);
		if (report_keeps(sums->run, strip, row)) {
			hwy_add_saturating(&sums->lines[owner->module].self_cpu, length);
			sums->lines[owner->module].operators++;
		}
		uint32_t outer = op_of[row];
		if (!hwy_ref32_is_set(outer) || hwy_ref32_index(outer) < strip->first ||
		    hwy_ref32_index(outer) - strip->first >= strip->rows)
			continue;
		uint32_t outer_row = hwy_ref32_index(outer) - strip->first;
		int64_t outer_end = hwy_end(strip, outer_row);
		/* An operator that outlasts the one around it is cut at that one's end. */
		length -= end > outer_end ? end - outer_end : 0;
		if (report_keeps(sums->run, strip, outer_row))
			hwy_add_saturating(
				&sums->lines[owners_of(o, strip, outer_row)->module].self_cpu,
				-length);
	}
}

static int modules_by_time(const void *left, const void *right)
{
	const struct module_line *a = left, *b = right;
	if (a->total_gpu != b->total_gpu)
		return a->total_gpu < b->total_gpu ? 1 : -1;
	if (a->total_cpu != b->total_cpu)
		return a->total_cpu < b->total_cpu ? 1 : -1;
	return (a->module > b->module) - (a->module < b->module);
}

static void modules_yield(struct module_sums *sums)
{
	const struct hwy_owners *o = &sums->owners;
	uint32_t n = o->n_modules;
	int64_t gpu = 0, cpu = 0;
	for (uint32_t m = 0; m < n; m++) {
		struct module_line *line = &sums->lines[m];
		line->module = m;
		hwy_add_saturating(&line->total_gpu, line->self_gpu);
		hwy_add_saturating(&line->total_cpu, line->self_cpu);
		hwy_add_saturating(&gpu, line->self_gpu);
		hwy_add_saturating(&cpu, line->self_cpu);
	}
	/* The module that holds another one has the smaller index. */
	for (uint32_t m = n; m-- > 1;) {
		struct module_line *outer = &sums->lines[o->modules[m].outer];
		if (o->modules[m].outer == 0)
			continue;
		hwy_add_saturating(&outer->total_gpu, sums->lines[m].total_gpu);
		hwy_add_saturating(&outer->total_cpu, sums->lines[m].total_cpu);
	}
	qsort(sums->lines, n, sizeof *sums->lines, modules_by_time);
	for (uint32_t i = 0; i < n; i++) {
		const struct module_line *line = &sums->lines[i];
		char path[1024];
		if (line->total_gpu == 0 && line->total_cpu == 0 && line->launches == 0)
			continue;
		owners_module_path(o, line->module, path, sizeof path);
		if (!line->module)
			snprintf(path, sizeof path, "(no module)");
		struct hwy_text type = o->texts.texts[o->modules[line->module].type];
		struct stats_cell cells[] = {
			cell_share(line->total_gpu, gpu),
			cell_number(line->total_gpu),
			cell_number(line->self_gpu),
			cell_share(line->total_cpu, cpu),
			cell_number(line->total_cpu),
			cell_number(line->self_cpu),
			cell_number(line->launches),
			cell_number(line->operators),
			cell_from_text((struct hwy_text){path, (uint32_t)strlen(path)}),
			cell_from_text(type),
		};
		report_row(sums->run, cells);
	}
}

bool make_module_sum(struct report_run *run, struct hwy_err *err)
{
	static const struct stats_column columns[] = {
		{"Total GPU Time", STATS_PERCENT},
		{"Total GPU", STATS_TIME},
		{"Self GPU", STATS_TIME},
		{"Total CPU Time", STATS_PERCENT},
		{"Total CPU", STATS_TIME},
		{"Self CPU", STATS_TIME},
		{"Self Launches", STATS_COUNT},
		{"Self Operators", STATS_COUNT},
		{"Module", STATS_TEXT},
		{"Class", STATS_TEXT},
	};
	struct hwy_trace *trace = run->trace;
	struct module_sums sums = {.run = run};
	uint32_t kinds = HWY_DEVICE_KINDS | HWY_KIND_BIT(HWY_OP);
	if (!hwy_need(trace, kinds, filter_columns(&run->filter), err) ||
	    !owners_open(&sums.owners, trace, NULL, 0, err))
		return false;
	bool done = work_open(&sums.work, trace, HWY_SCOPE_ALL, err);
	report_columns(run, columns, STATS_LENGTH(columns));
	sums.lines = hwy_zarray(sums.owners.n_modules, sizeof *sums.lines);
	for (uint32_t s = 0; done && s < trace->n_strips; s++) {
		if (work_is_on(&sums.work, &trace->strips[s]))
			modules_add_work(&sums, &trace->strips[s]);
		else if (trace->strips[s].kind == HWY_OP)
			modules_add_cpu(&sums, &trace->strips[s]);
	}
	if (done && sums.owners.n_modules > 1)
		modules_yield(&sums);
	free(sums.lines);
	work_close(&sums.work);
	owners_close(&sums.owners);
	return done;
}
