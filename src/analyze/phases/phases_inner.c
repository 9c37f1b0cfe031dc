/* SPDX-License-Identifier: Apache-2.0 */
/* phases_inner.c - tells the loop of a program from the loops inside one of its steps.
 *
 * A model of equal layers repeats itself inside one forward pass, and a server's request repeats
 * the work of a token. Such a period is exact, covers most of the device's work, and is not what
 * the program repeats. A period is a step's
 *
 * - when at least every fifth turn of it talks to the CPU's side of the program: it waits, brings data, reads results, or
 *   launches a whole graph;
 * - when several threads launch in each turn: PyTorch's backward pass has a thread of its own;
 * - when it begins after a pause of the CPU that is far longer than the pauses between other launches;
 * - when it repeats more often than any model has layers, or launches more than any layer does.
 *
 * A model's layer does none of this. But whatever a period does, one that lies inside a single
 * call of a model, or a single unit of a server's work, is an inner loop.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analyze/nest.h"
#include "analyze/phases/phases_internal.h"
#include "base/quantile.h"
#include "base/search.h"

enum {
	MOST_LAYERS = 128,           /* a loop of more iterations is not the layers of one model */
	MOST_LAUNCHES_OF_LAYER = 64, /* an iteration with more launches is not one layer */
	/* A loop whose iterations are steps waits, copies or launches a graph at least once in
	 * so many iterations. */
	TURNS_PER_HOST_ACT = 5,
	/* A pause is long from so many times the median pause on, and never below LONG_PAUSE_NS. */
	LONG_PAUSE_TIMES = 4,
	LONG_PAUSE_NS = 50000,
	/* Between two layers whose code is new the CPU allocates for up to a millisecond; it
	 * does not pause for this long. */
	VERY_LONG_PAUSE_NS = 5000000,
};

/* ---- what encloses the whole loop ------------------------------------------------------------ */

/* Whether a span of this name is one call of a model, or one unit of a server's work. Python's
 * functions are recorded as "path/file.py(12): function". */
static bool names_one_unit(const char *name)
{
	static const char *const beginnings[] = {
		"nn.Module: ", "execute_", "## Call CompiledFxGraph", "Torch-Compiled Region"};
	static const char *const functions[] = {"forward", "_call_impl", "_wrapped_call_impl",
						"generate", "execute_model"};
	for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
		if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	const char *python = strstr(name, ".py(");
	const char *function = python ? strstr(python, "): ") : NULL;
	for (size_t i = 0; function && i < sizeof functions / sizeof *functions; i++)
		if (strcmp(function + 3, functions[i]) == 0)
			return true;
	return false;
}

/* Whether a span of the strip encloses [from, to] and is one call of a model or one unit of a
 * server's work. */
static bool strip_encloses(const struct hwy_trace *trace, const struct hwy_strip *strip,
			   int64_t from, int64_t to)
{
	struct hwy_nest nest = {.strip = strip};
	bool encloses = false;
	for (uint32_t row = nest_around(&nest, from, to); row != NEST_NONE && !encloses;
	     row = nest_parent(&nest, row))
		encloses = names_one_unit(hwy_str(trace, hwy_get(strip, HWY_NAME, row)));
	free(nest.parent);
	return encloses;
}

static bool is_inside_one_unit(const struct phases_track *track, const struct phases_cut *cut)
{
	const struct hwy_trace *trace = track->flow->trace;
	const uint32_t kinds =
		HWY_KIND_BIT(HWY_RANGE) | HWY_KIND_BIT(HWY_OP) | HWY_KIND_BIT(HWY_CALL);
	const struct flow_call *first = track_call(track, cut->steps[0].place);
	/* The end of the last iteration is not compared, because calls that follow the last layer
	 * are counted to the last iteration. */
	const struct flow_call *last = track_call(track, cut->steps[cut->n - 1].place);
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (kinds & HWY_KIND_BIT(strip->kind) && !hwy_lane_is_library(trace, strip->lane) &&
		    trace->lanes[strip->lane].thread == (int64_t)first->thread &&
		    strip_encloses(trace, strip, first->start, last->end))
			return true;
	}
	return false;
}

/* ---- what one turn does ---------------------------------------------------------------------- */

struct loop_counts {             /* what the CPU does in all iterations of a loop but the last */
	uint64_t host_acts;      /* waits, copies to and from the host, launches of graphs */
	uint64_t thread_changes; /* calls whose thread is not the thread of the call before */
};

static bool is_host_copy(const struct phases_track *track, const struct flow_op *op)
{
	if (op->kind != HWY_COPY)
		return false;
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(track->flow->trace, op->span, &row);
	int64_t direction = hwy_get(strip, HWY_DIRECTION, row);
	return direction == HWY_H2D || direction == HWY_D2H || direction == HWY_H2A ||
	       direction == HWY_A2H;
}

static struct loop_counts count_loop(const struct phases_track *track, const struct phases_cut *cut)
{
	struct loop_counts counts = {0};
	uint32_t end = cut->steps[cut->n - 1].place;
	for (uint32_t place = cut->steps[0].place; place < end; place++) {
		const struct flow_call *call = track_call(track, place);
		counts.host_acts += track_is_wait(track, place) ||
				    call->role == HWY_ROLE_GRAPH_LAUNCH ||
				    is_host_copy(track, &track->flow->ops[call->op]);
		counts.thread_changes +=
			place > 0 && call->thread != track_call(track, place - 1)->thread;
	}
	return counts;
}

/* How long the CPU made no call before the call at this place, in ns. */
static int64_t inner_pause_before(const struct phases_track *track, uint32_t place)
{
	int64_t pause =
		place ? track_call(track, place)->start - track_call(track, place - 1)->end : 0;
	return pause > 0 ? pause : 0;
}

/* Whether the CPU usually does something else between two turns of the loop: it pauses about
 * once a turn. */
static bool pauses_between_turns(const struct phases_track *track, const struct phases_cut *cut,
				 int64_t long_ns)
{
	uint32_t first = cut->steps[0].place, end = cut->steps[cut->n - 1].place;
	int64_t *pauses = hwy_array(end - first, sizeof *pauses);
	for (uint32_t place = first; place < end; place++)
		pauses[place - first] = inner_pause_before(track, place);
	hwy_sort(pauses, end - first);
	int64_t least = LONG_PAUSE_TIMES * hwy_median_upper(pauses, end - first);
	least = least > long_ns ? least : long_ns;
	uint32_t n_long = end - first - HWY_FIRST(i, 0, end - first, pauses[i] >= least);
	free(pauses);
	/* A pause may lie anywhere in its turn, and a check-point now and then adds a pause. */
	return n_long >= (cut->n - 1) / 5 * 4 && n_long <= (cut->n - 1) / 2 * 3;
}

bool phases_is_inner_loop(const struct phases_track *track, const struct phases_cut *cut,
			  bool loops_take_most)
{
	if (cut->n < 2)
		return false;
	if (is_inside_one_unit(track, cut))
		return true;
	struct loop_counts counts = count_loop(track, cut);
	uint32_t n = cut->n - 1;
	uint32_t launches = (cut->steps[n].place - cut->steps[0].place) / n;
	return cut->n <= MOST_LAYERS && launches <= MOST_LAUNCHES_OF_LAYER &&
	       counts.host_acts * TURNS_PER_HOST_ACT < n && counts.thread_changes < n &&
	       !pauses_between_turns(track, cut,
				     loops_take_most ? LONG_PAUSE_NS : VERY_LONG_PAUSE_NS);
}
