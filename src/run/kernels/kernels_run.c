/* SPDX-License-Identifier: Apache-2.0 */
/* kernels_run.c - runs the program as often as the counters need.
 *
 * In place: one run, in which each chosen launch is repeated until its counters are read; CUPTI saves and restores
 * the memory that the kernel writes. Kernels that wait for other kernels (collectives) would never end that way:
 * the program runs once for each pass, and the counter data of a launch goes from run to run. With sources there
 * is one more run. Every run is the program's own: its output, descriptors and signals are not touched.
 */
#include <errno.h>
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
	struct kernels_chips *chips; /* shared memory */
};

static bool takes_all(const struct kernels_part *part, const struct kernels_target *target)
{
	(void)part;
	(void)target;
	return true;
}

static bool takes_quiet(const struct kernels_part *part, const struct kernels_target *target)
{
	(void)part;
	return !target->talks;
}

static bool takes_talking(const struct kernels_part *part, const struct kernels_target *target)
{
	(void)part;
	return target->talks;
}

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
		return hwy_fail(err, "%s: %s", settings->program[0], strerror(reason));
	}
	struct kernels_hang *hang = kernels_hang_begin(run);
	while (run_wait(run, settings) == RUN_RECORDED)
		;
	uint32_t target = UINT32_MAX;
	s->found->ran = true;
	s->found->runs++;
	s->found->status = run->status;
	if (kernels_hang_end(hang, &target))
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
	part->chips = s->chips;
	bool done = kernels_order_write(part, err) && kernels_hang_prepare(&run, err) &&
		    run_to_end(s, &run, &settings, err);
	if (done)
		kernels_answers_read(run.directory, answers, s->found);
	discard(&run);
	return done;
}

static uint32_t count_targets(const struct kernels_order *order,
			      bool (*takes)(const struct kernels_part *,
					    const struct kernels_target *))
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < order->n_targets; i++)
		n += takes(NULL, &order->targets[i]);
	return n;
}

static bool measure_in_place(struct session *s, bool all, struct hwy_err *err)
{
	struct kernels_part part = {
		.mode = KERNELS_MODE_IN_PLACE,
		.takes = all ? takes_all : takes_quiet,
		.most_passes = SIZE_MAX,
	};
	struct kernels_answers answers = {0};
	bool done = count_targets(s->order, part.takes) == 0 ||
		    (run_part(s, &part, &answers, err) &&
		     kernels_evaluate(s->order, s->chips, &answers, s->found, err));
	kernels_answers_free(&answers);
	return done;
}

/* How many passes the devices that answered need. */
static uint32_t passes_of_answers(const struct session *s, const struct kernels_answers *answers)
{
	uint32_t passes = 1;
	for (uint32_t i = 0; i < answers->n_images; i++) {
		uint32_t chip = answers->images[i].chip;
		if (chip < s->chips->n && s->chips->chips[chip].passes > passes)
			passes = s->chips->chips[chip].passes;
	}
	return passes;
}

static bool measure_by_passes(struct session *s, bool all, struct hwy_err *err)
{
	struct kernels_part part = {
		.mode = KERNELS_MODE_ONE_PASS,
		.takes = all ? takes_all : takes_talking,
		.most_passes = KERNELS_MOST_RUNS,
	};
	if (count_targets(s->order, part.takes) == 0)
		return true;
	struct kernels_answers earlier = {0};
	bool done = true;
	uint32_t passes = 1;
	for (part.pass = 0; done && part.pass < passes; part.pass++) {
		struct kernels_answers answers = {0};
		part.earlier = part.pass ? &earlier : NULL;
		done = run_part(s, &part, &answers, err);
		kernels_answers_free(&earlier);
		earlier = answers;
		if (part.pass == 0)
			passes = passes_of_answers(s, &answers);
	}
	done = done && kernels_evaluate(s->order, s->chips, &earlier, s->found, err);
	kernels_answers_free(&earlier);
	return done;
}

static bool measure_source(struct session *s, struct hwy_err *err)
{
	struct kernels_part part = {.mode = KERNELS_MODE_SOURCE, .takes = takes_quiet};
	struct kernels_answers answers = {0};
	bool done =
		run_part(s, &part, &answers, err) && kernels_lines_find(&answers, s->found, err);
	kernels_answers_free(&answers);
	return done;
}

/* The libcupti of the recording fits the program; the collector and the evaluation both look at this variable. */
static void prefer_library(const struct kernels_order *order)
{
	const char *wish = getenv("HEADWAY_CUPTI");
	if ((!wish || !*wish) && order->cupti && access(order->cupti, R_OK) == 0)
		setenv("HEADWAY_CUPTI", order->cupti, 1);
}

bool kernels_run(const struct kernels_order *order, struct kernels_found *found,
		 struct hwy_err *err)
{
	struct session s = {order, found, kernels_shared(sizeof *s.chips)};
	if (!s.chips)
		return hwy_fail(err, "no memory for the counters: %s", strerror(errno));
	prefer_library(order);
	bool application = order->replay == KERNELS_REPLAY_APPLICATION;
	bool done =
		application || measure_in_place(&s, order->replay == KERNELS_REPLAY_KERNEL, err);
	if (done && order->replay != KERNELS_REPLAY_KERNEL)
		done = measure_by_passes(&s, application, err);
	if (done && order->source)
		done = measure_source(&s, err);
	kernels_unshare(s.chips, sizeof *s.chips);
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
