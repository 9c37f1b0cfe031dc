/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_run.c - runs the program as often as the counters need.
 *
 * A chosen launch is repeated in place until its counters are read; CUPTI saves and restores the
 * memory that the kernel writes. A kernel that waits for other kernels (a collective) would
 * never end that way: each of its launches reads the counters of one pass, and runs once. Where
 * it has fewer launches than there are passes, the program runs again for the rest. With sources
 * there is one more run. Every run is the program's own: its output, descriptors and signals are
 * not touched.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "run/kernels/kernels_internal.h"

struct session {
	const struct kernels_order *order;
	struct kernels_found *found;
	struct kernels_rows *rows; /* shared memory */
};

static void discard(struct run *run)
{
	char *directory = run->directory;
	run->directory = NULL;
	run_free(run);
	if (directory)
		run_remove(directory);
	free(directory);
}

/* Runs the program to its end. */
static bool run_to_end(struct session *s, struct run *run, const struct run_settings *settings,
		       struct hwy_err *err)
{
	if (!run_fork(run, settings, err))
		return false;
	if (!run_go(run, settings, err)) {
		int reason = run->exec_error;
		return hwy_fail(err, "%s: %s", settings->program[0], hwy_strerror(reason));
	}
	struct kernels_hang *hang = kernels_hang_begin(run);
	while (run_wait(run, settings) == RUN_RECORDED)
		;
	uint32_t target = UINT32_MAX;
	s->found->ran = true;
	s->found->runs++;
	bool was_ended = kernels_hang_end(hang, &target);
	s->found->was_ended |= was_ended;
	if (run->status != 0)
		s->found->status = run->status;
	if (was_ended)
		kernels_note(
			s->found,
			"the program was ended: %s did not end while it was measured, so that "
			"it probably waits for another kernel or for the CPU; leave it out, or "
			"use application replay",
			target < s->order->n_targets ? s->order->targets[target].symbol
						     : "a kernel");
	return true;
}

/* One run of the program with one plan; 'answers' gets what was measured. */
static bool run_part(struct session *s, struct kernels_part *part, struct kernels_answers *answers,
		     struct hwy_err *err)
{
	struct run run = {.lock = -1};
	struct run_settings settings = {
		.control = {.traces = REC_TRACE_CUDA, .measures = 1, .stack_threshold = -1},
		.program = s->order->program,
	};
	if (s->order->inherited)
		settings.inherited = *s->order->inherited;
	if (!run_prepare(&run, &settings, err))
		return false;
	part->order = s->order;
	part->directory = run.directory;
	part->rows = s->rows;
	bool done = kernels_order_write(part, err) && kernels_hang_prepare(&run, err) &&
		    run_to_end(s, &run, &settings, err);
	if (done)
		kernels_answers_read(run.directory, answers, s->found);
	discard(&run);
	return done;
}

static bool has_apart(const struct kernels_order *order)
{
	for (uint32_t i = 0; i < order->n_targets; i++)
		if (kernels_target_is_apart(order, &order->targets[i]))
			return true;
	return false;
}

/* Whether a target that is not repeated needs yet another run after 'n' runs. */
static bool needs_more(const struct session *s, uint32_t n)
{
	for (uint32_t i = 0; i < s->order->n_targets; i++) {
		const struct kernels_target *target = &s->order->targets[i];
		if (kernels_target_is_apart(s->order, target) &&
		    (uint64_t)n * target->n_ordinals < s->rows->n_sets)
			return true;
	}
	return false;
}

static bool has_value(const struct session *s, const struct kernels_launch *launch)
{
	for (uint32_t i = 0; i < s->order->n_metrics; i++)
		if (!isnan(launch->values[i]))
			return true;
	return false;
}

static bool is_measured(const struct session *s, uint32_t target)
{
	for (uint32_t i = 0; i < s->found->n_launches; i++)
		if (s->found->launches[i].target == target && has_value(s, &s->found->launches[i]))
			return true;
	return false;
}

/* Where CUPTI does not take other counters in a process than the first ones, the launches of the
 * other set have no value, or CUPTI refuses them. They are measured in a run of their own. True
 * where there are such; leaves_out gets the rest. */
static bool were_in_vain(const struct session *s, bool was_refused, bool *leaves_out)
{
	bool any = false, plain = false;
	for (uint32_t i = 0; i < s->order->n_targets; i++) {
		const struct kernels_target *target = &s->order->targets[i];
		bool was_launched = was_refused;
		for (uint32_t l = 0; l < s->found->n_launches; l++)
			was_launched |= s->found->launches[l].target == i;
		leaves_out[i] = !was_launched || is_measured(s, i) ||
				kernels_target_is_apart(s->order, target) ||
				(any && target->plain != plain);
		if (leaves_out[i])
			continue;
		plain = target->plain;
		any = true;
	}
	return any;
}

/* Removes the launches for which CUPTI gave no value; a kernel that has no others is noted. */
static void drop_empty_launches(struct session *s)
{
	struct kernels_found *found = s->found;
	for (uint32_t i = 0; i < found->n_launches; i++)
		if (!is_measured(s, found->launches[i].target))
			kernels_note(found, "%s was measured, but CUPTI gave no value",
				     s->order->targets[found->launches[i].target].symbol);
	uint32_t n = 0;
	for (uint32_t i = 0; i < found->n_launches; i++) {
		if (has_value(s, &found->launches[i]))
			found->launches[n++] = found->launches[i];
		else
			free(found->launches[i].values);
	}
	found->n_launches = n;
}

static bool measure_counters(struct session *s, struct hwy_err *err)
{
	bool *leaves_out = hwy_zarray(s->order->n_targets, sizeof *leaves_out);
	struct kernels_part part = {.mode = KERNELS_MODE_COUNTERS,
				    .needs_sets = has_apart(s->order),
				    .leaves_out = leaves_out};
	bool done = true, more = true, was_refused = false;
	for (; done && more && part.number < KERNELS_RUNS; part.number++) {
		struct kernels_answers answers = {0};
		uint32_t notes = s->found->n_notes;
		done = run_part(s, &part, &answers, err) &&
		       kernels_evaluate(s->order, s->rows, &answers, s->found, err);
		/* A run that measured nothing would not measure anything the next time either. */
		more = answers.n_images > 0 && needs_more(s, part.number + 1);
		was_refused |= s->found->n_notes > notes;
		bool vain = done && were_in_vain(s, was_refused, leaves_out);
		more |= vain && answers.n_images > 0 && part.number < 2;
		kernels_answers_free(&answers);
	}
	free(leaves_out);
	drop_empty_launches(s);
	return done;
}

static bool measure_source(struct session *s, struct hwy_err *err)
{
	struct kernels_part part = {.mode = KERNELS_MODE_SOURCE};
	struct kernels_answers answers = {0};
	bool done =
		run_part(s, &part, &answers, err) && kernels_lines_find(&answers, s->found, err);
	kernels_answers_free(&answers);
	return done;
}

/* The libcupti of the recording fits the program; the collector and the evaluation both look at
 * this variable. */
static void prefer_library(const struct kernels_order *order)
{
	const char *wish = getenv("HEADWAY_CUPTI");
	if ((!wish || !*wish) && order->cupti && access(order->cupti, R_OK) == 0)
		setenv("HEADWAY_CUPTI", order->cupti, 1);
}

bool kernels_run(const struct kernels_order *order, struct kernels_found *found,
		 struct hwy_err *err)
{
	struct session s = {order, found, kernels_shared(sizeof *s.rows)};
	if (!s.rows)
		return hwy_fail(err, "no memory for the counters: %s", hwy_strerror(errno));
	prefer_library(order);
	bool done = measure_counters(&s, err);
	if (done && order->source)
		done = measure_source(&s, err);
	kernels_unshare(s.rows, sizeof *s.rows);
	return done;
}

void kernels_found_free(struct kernels_found *found)
{
	for (uint32_t i = 0; i < found->n_launches; i++)
		free(found->launches[i].values);
	for (uint32_t i = 0; i < found->n_lines; i++) {
		free(found->lines[i].symbol);
		free(found->lines[i].file);
		free(found->lines[i].reason);
	}
	for (uint32_t i = 0; i < found->n_notes; i++)
		free(found->notes[i]);
	free(found->launches);
	free(found->lines);
	free(found->notes);
	*found = (struct kernels_found){0};
}
