/* SPDX-License-Identifier: Apache-2.0 */
/* diff_notes.c - facts that make two recordings hard to compare where they differ: machine, driver,
 * clock, program, sizes, way of recording. Facts that one side does not have are not compared. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/lang.h"
#include "base/say.h"
#include "compare/diff.h"

enum { MOST_NOTES = 16 };
/* Clocks that differ by less than this share are alike: they move as much from run to run. */
#define OTHER_CLOCK 0.03

static void add_note(struct compare_diff *diff, const char *what, const char *before,
		     const char *after)
{
	if (diff->n_notes >= MOST_NOTES)
		return;
	diff->notes[diff->n_notes++] =
		(struct diff_note){what, hwy_arena_text(&diff->arena, before, strlen(before)),
				   hwy_arena_text(&diff->arena, after, strlen(after)), ""};
}

static void note_text(struct compare_diff *diff, const char *what, const char *before,
		      const char *after)
{
	if (*before && *after && strcmp(before, after) != 0)
		add_note(diff, what, before, after);
}

static void note_count(struct compare_diff *diff, const char *what, uint64_t before, uint64_t after)
{
	char a[32], b[32];
	snprintf(a, sizeof a, "%" PRIu64, before);
	snprintf(b, sizeof b, "%" PRIu64, after);
	if (before != after)
		add_note(diff, what, a, b);
}

/* The mean clock while busy over the runs of a side; 0 where a run does not know it. */
static double side_clock(const struct compare_side *side)
{
	double sum = 0;
	for (uint32_t i = 0; i < side->n; i++) {
		if (side->phases[i]->busy_clock_hz <= 0)
			return 0;
		sum += (double)side->phases[i]->busy_clock_hz;
	}
	return side->n ? sum / side->n : 0;
}

/* Notes that one side ran at another clock than the other. */
static void note_clocks(struct compare_diff *diff)
{
	double before = side_clock(diff->before), after = side_clock(diff->after);
	char a[80], b[80];
	if (before <= 0 || after <= 0 || fabs(before - after) < OTHER_CLOCK * fmax(before, after))
		return;
	snprintf(a, sizeof a, "%s MHz", hwy_say_count_grouped((uint64_t)(before / 1e6 + 0.5)).text);
	snprintf(b, sizeof b, "%s MHz", hwy_say_count_grouped((uint64_t)(after / 1e6 + 0.5)).text);
	add_note(diff, HWY_KEY("GPU clock while busy"), a, b);
	if (diff->n_notes)
		diff->notes[diff->n_notes - 1].so = HWY_KEY("the comparison says little");
}

/* Adds a note where the runs of one side differ in GPU or command. */
static void note_mixture(struct compare_diff *diff, const struct compare_side *side,
			 const char *what)
{
	for (uint32_t i = 1; i < side->n; i++)
		if (strcmp(side->runs[i]->gpu, side->runs[0]->gpu) != 0 ||
		    strcmp(side->runs[i]->command, side->runs[0]->command) != 0) {
			add_note(diff, what, side->runs[0]->file, side->runs[i]->file);
			return;
		}
}

void diff_notes(struct compare_diff *diff)
{
	const struct compare_summary *a = side_run(diff->before), *b = side_run(diff->after);
	const struct compare_phase *x = side_phase(diff->before), *y = side_phase(diff->after);
	diff->notes = hwy_arena_array(&diff->arena, MOST_NOTES, sizeof *diff->notes);
	note_clocks(diff);
	note_text(diff, "GPU", a->gpu, b->gpu);
	note_count(diff, HWY_KEY("GPUs used"), x->n_devices, y->n_devices);
	if (a->clock_hz > 0 && b->clock_hz > 0)
		note_count(diff, HWY_KEY("GPU clock (MHz)"), (uint64_t)a->clock_hz / 1000000,
			   (uint64_t)b->clock_hz / 1000000);
	note_text(diff, HWY_KEY("driver"), a->driver, b->driver);
	note_text(diff, "CUDA", a->cuda, b->cuda);
	note_text(diff, HWY_KEY("program"), a->program, b->program);
	note_text(diff, HWY_KEY("command"), a->command, b->command);
	note_text(diff, HWY_KEY("recorded by"), a->format, b->format);
	note_text(diff, HWY_KEY("recorded"), a->traces, b->traces);
	note_text(diff, HWY_KEY("graphs recorded by"), a->graph_mode, b->graph_mode);
	bool hidden_a = x->counts[COUNT_HIDDEN] > 0;
	bool hidden_b = y->counts[COUNT_HIDDEN] > 0;
	if (hidden_a != hidden_b)
		add_note(diff, HWY_KEY("kernels of graphs"),
			 hwy_tr(hidden_a ? "not recorded" : "recorded"),
			 hwy_tr(hidden_b ? "not recorded" : "recorded"));
	note_text(diff, HWY_KEY("marks of steps"), x->name, y->name);
	if (a->lost || b->lost)
		note_count(diff, HWY_KEY("records lost"), a->lost, b->lost);
	if (strcmp(diff->step.method, "identical") == 0)
		add_note(diff, HWY_KEY("both sides are one recording"), a->file, b->file);
	note_mixture(diff, diff->before, HWY_KEY("runs before are not alike"));
	note_mixture(diff, diff->after, HWY_KEY("runs after are not alike"));
}
