/* SPDX-License-Identifier: Apache-2.0 */
/* edit_faster.c - something takes less time: a kernel, a range, all kernels or all CPU code.
 *
 * faster:WHAT:PERCENT   all kernels and ranges whose name contains WHAT, 'gpu' or 'cpu', take so much less time
 * faster:KERNEL=FACTOR  one kernel, by its name or a part that no other kernel's name has, becomes so many times faster; with
 *                       'cpu' all CPU code does
 * faster:KERNEL         one kernel, or with 'gpu' every kernel, becomes as fast as its device allows: as its counters tell,
 *                       else as the shapes of its operator do (analyze/kernel_table.h)
 *
 * Names of kernels have colons in them: what stands behind the last colon is a percentage only where it is a number.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/kernel_table.h"
#include "base/lang.h"
#include "base/say.h"
#include "whatif/edits/edits.h"

struct faster {
	const char *what;
	size_t length;  /* of 'what' */
	double left;    /* what is left of the time; not a number: as much as the roof says */
	bool is_unique; /* 'what' must mean one kernel */
};

static const char faster_needs[] = HWY_KEY(
	"faster takes what and by how much: faster:gemm:30 (30 % less time for all kernels and ranges "
	"with 'gemm' in their name), faster:gpu:20 (all kernels and copies), faster:cpu:50 or "
	"faster:cpu=2 (all CPU code), faster:KERNEL=2 (one kernel, twice as fast), faster:KERNEL (to its "
	"roof)");

static bool is_word_of(const struct faster *faster, const char *word)
{
	return faster->length == strlen(word) && memcmp(faster->what, word, faster->length) == 0;
}

/* Reads a number at the end of the arguments, behind 'sign'. */
static bool read_number(const char *arguments, char sign, const char **at, double *number)
{
	*at = strrchr(arguments, sign);
	char *end = NULL;
	if (!*at || *at == arguments)
		return false;
	*number = strtod(*at + 1, &end);
	return end != *at + 1 && (*end == '\0' || (sign == ':' && strcmp(end, "%") == 0)) &&
	       isfinite(*number);
}

static bool read_faster(const char *arguments, struct faster *faster, struct hwy_err *err)
{
	const char *at;
	double number;
	*faster = (struct faster){arguments, strlen(arguments), NAN, true};
	if (read_number(arguments, ':', &at, &number)) {
		if (!(number >= 0 && number <= 100))
			return hwy_fail(err,
					hwy_tr("faster takes a percentage from 0 to 100, not '%s'"),
					at + 1);
		*faster = (struct faster){arguments, (size_t)(at - arguments), 1 - number / 100,
					  false};
	} else if (read_number(arguments, '=', &at, &number)) {
		if (!(number >= 1))
			return hwy_fail(err,
					hwy_tr("faster takes a factor of at least 1, not '%s'"),
					at + 1);
		*faster = (struct faster){arguments, (size_t)(at - arguments), 1 / number, true};
	}
	bool is_cpu = is_word_of(faster, "cpu");
	if (is_cpu)
		faster->is_unique = false;
	return (!strchr(":=", *arguments) && !(is_cpu && isnan(faster->left))) ||
	       hwy_fail(err, "%s", hwy_tr(faster_needs));
}

static bool check_faster(const char *arguments, struct hwy_err *err)
{
	struct faster faster;
	return read_faster(arguments, &faster, err);
}

/* ---- by a given share ------------------------------------------------------------------------------------------ */

static bool is_meant(const struct editing *e, const struct graph_node *node,
		     const struct faster *faster)
{
	if (is_word_of(faster, "cpu"))
		return node->kind == GRAPH_CALL;
	if (node->kind != GRAPH_OP)
		return false;
	if (is_word_of(faster, "gpu"))
		return true;
	uint32_t row;
	uint32_t span = e->flow->ops[node->flow_index].span;
	const struct hwy_strip *strip = hwy_strip_of(e->flow->trace, span, &row);
	struct hwy_text name = hwy_text(e->flow->trace, hwy_get(strip, HWY_NAME, row));
	if (memmem(name.at, name.length, faster->what, faster->length))
		return true;
	struct hwy_place place = place_of(e->places, span);
	return memmem(place.range, strlen(place.range), faster->what, faster->length) != NULL;
}

/* Whether a node is part of a step: only those are edited. */
static bool is_in_step(const struct editing *e, const struct graph_node *node)
{
	uint32_t call =
		node->kind == GRAPH_OP ? e->flow->ops[node->flow_index].call : node->flow_index;
	return call != FLOW_NONE && edit_step_of(e, call);
}

static bool apply_share(struct editing *e, const struct faster *faster, struct hwy_err *err)
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < e->graph->n; i++) {
		struct graph_node *node = &e->graph->nodes[i];
		if (!is_in_step(e, node) || !is_meant(e, node, faster))
			continue;
		found++;
		node->length = (int64_t)((double)node->length * faster->left);
		if (node->kind == GRAPH_CALL)
			edit_shorten_before(
				e, i,
				(int64_t)((double)edit_work_before(e, i) * (1 - faster->left)));
	}
	return found > 0 || hwy_fail(err, hwy_tr("nothing of the phase is called '%.*s'"),
				     (int)faster->length, faster->what);
}

/* ---- by kernel --------------------------------------------------------------------------------------------------- */

/* What is left of the time of a launch: the share of its kernel's entry with its shape, else of its name's first entry; not a
 * number where nothing is known. */
static double share_left(const struct kernel_table *table, const struct hwy_strip *strip,
			 uint32_t row, const struct faster *faster)
{
	const char *name = hwy_str(table->trace, hwy_get(strip, HWY_NAME, row));
	const struct hwy_shape *shape = hwy_get_shape(table->trace, strip, row);
	for (uint32_t i = 0; i < table->n; i++) {
		const struct known_kernel *kernel = &table->kernels[i];
		if (strcmp(kernel->point.name, name) != 0)
			continue;
		if (!isnan(faster->left))
			return faster->left;
		bool fits = !kernel->is_measured || !shape || kernel->shape == HWY_NONE ||
			    memcmp(&table->trace->shapes[kernel->shape].grid_x, &shape->grid_x,
				   6 * sizeof(int64_t)) == 0;
		if (fits && kernel->has_gain)
			return fmin(kernel->point.of_peak, 1);
	}
	return NAN;
}

struct faster_sum {
	uint32_t launches, known; /* launches that are meant, and those with a share */
	double before, after;     /* ns of those with a share */
};

static void apply_kernel(struct editing *e, const struct kernel_table *table, const char *name,
			 const struct faster *faster, struct faster_sum *sum)
{
	for (uint32_t i = 0; i < e->graph->n; i++) {
		struct graph_node *node = &e->graph->nodes[i];
		if (node->kind != GRAPH_OP || !is_in_step(e, node) ||
		    e->flow->ops[node->flow_index].kind != HWY_KERNEL)
			continue;
		uint32_t row;
		const struct hwy_strip *strip =
			hwy_strip_of(e->flow->trace, e->flow->ops[node->flow_index].span, &row);
		if (name &&
		    strcmp(hwy_str(e->flow->trace, hwy_get(strip, HWY_NAME, row)), name) != 0)
			continue;
		double left = share_left(table, strip, row, faster);
		sum->launches++;
		if (isnan(left))
			continue;
		sum->known++;
		sum->before += (double)node->length;
		node->length = (int64_t)((double)node->length * left);
		sum->after += (double)node->length;
	}
}

static bool fail_without_roof(const char *what, bool is_endless, struct hwy_err *err)
{
	if (is_endless)
		return hwy_fail(
			err,
			hwy_tr("'%s' runs all of the time and waits for the host or for work: a roof says nothing about it; "
			       "say by how much it would be faster: faster:%s=2"),
			what, what);
	return hwy_fail(
		err,
		hwy_tr("nothing tells how fast '%s' could be: measure its counters (headway kernels FILE "
		       "--run), or say by how much: faster:%s=2"),
		what, what);
}

/* 'err' says that no kernel, or more than one, has the name. */
static bool fail_without_kernel(const struct faster *faster, const char *what, struct hwy_err *err)
{
	const struct hwy_err why = *err;
	double percent = isnan(faster->left) ? 50 : 100 * (1 - faster->left);
	return hwy_fail(
		err,
		"%s; all kernels and ranges with this in their name take a percentage: faster:%s:%.3g",
		why.text, what, percent);
}

static bool apply_to_kernel(struct editing *e, const struct faster *faster, struct hwy_err *err)
{
	struct kernel_table table;
	struct faster_sum sum = {0};
	char *what = hwy_zalloc(faster->length + 1);
	memcpy(what, faster->what, faster->length);
	const char *name = NULL;
	bool is_endless = false;
	bool ok = kernel_table_make(&table, e->flow->trace, err);
	if (ok && !is_word_of(faster, "gpu")) {
		const struct known_kernel *kernel = kernel_table_find(&table, what, err);
		name = kernel ? kernel->point.name : NULL;
		is_endless = kernel && kernel->is_endless;
		if (!kernel) {
			kernel_table_free(&table);
			ok = fail_without_kernel(faster, what, err);
		}
	}
	if (ok) {
		apply_kernel(e, &table, name, faster, &sum);
		kernel_table_free(&table);
		if (sum.launches == 0)
			ok = hwy_fail(err, hwy_tr("the phase launches no kernel '%s'"), what);
		else if (sum.known == 0)
			ok = fail_without_roof(what, is_endless, err);
	}
	if (ok && isnan(faster->left)) {
		const char *rest = sum.known < sum.launches
					   ? hwy_tr("; of other launches nothing is known")
					   : "";
		double left = sum.before > 0 ? sum.after / sum.before : 1;
		snprintf(e->note, sizeof e->note,
			 hwy_tr("at the roof %s%.80s%s takes %s of its time%s"), name ? "'" : "",
			 name ? what : hwy_tr("all that is known of the kernels"), name ? "'" : "",
			 hwy_say_share(left).text, rest);
	}
	free(what);
	return ok;
}

static bool apply_faster(struct editing *e, const char *arguments, struct hwy_err *err)
{
	struct faster faster;
	if (!read_faster(arguments, &faster, err))
		return false;
	return faster.is_unique ? apply_to_kernel(e, &faster, err) : apply_share(e, &faster, err);
}

const struct edit_kind edit_faster = {
	.id = "faster",
	.arguments = ":WHAT[:PERCENT|=FACTOR]",
	.about = HWY_KEY(
		"a kernel (alone: to its roof), a range, 'gpu' or 'cpu' takes so much less time"),
	.only_removes = true,
	.check = check_faster,
	.apply = apply_faster,
};
