/* SPDX-License-Identifier: Apache-2.0 */
/* chain.c - see chain.h. Pieces of one class, name and place become one link. Names and places are
 * compared by their texts, so that the same line of two modules counts once. */
#include "whatif/chain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/gaps/gaps_cause.h"
#include "base/fold.h"
#include "base/index.h"
#include "base/path.h"
#include "base/ref.h"

/* The CPU's own time on the path is named by what fills it from this length on, in ns; shorter
 * time lies between two calls. */
#define CPU_WORK_NS 250000

struct link_key {
	uint32_t name, place; /* ids of texts in finding.texts */
	uint32_t class;
	uint32_t is_before; /* 0 or 1 */
};

struct finding {
	struct hwy_chain *chain;
	const struct hwy_analysis *analysis;
	struct gaps_cpu cpu;      /* tells what a thread did */
	struct hwy_strings texts; /* names and places, which are compared by their text */
	struct hwy_index by_key;  /* maps a struct link_key to the index of its link */
};

void chain_put_place(const struct hwy_analysis *analysis, uint32_t span, char text[CHAIN_PLACE])
{
	struct hwy_place place = place_of(analysis->places, span);
	if (*place.file) {
		snprintf(text, CHAIN_PLACE, "%s:%lld %s", hwy_basename(place.file),
			 (long long)place.line, place.function);
	} else {
		snprintf(text, CHAIN_PLACE, "%s", place.range);
		hwy_fold_numbers(text);
	}
}

struct hwy_text chain_name_of(const struct hwy_trace *trace, uint32_t span)
{
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(trace, span, &row);
	struct hwy_text name = hwy_text(trace, hwy_get(strip, HWY_NAME, row));
	int64_t direction =
		strip->kind == HWY_COPY ? hwy_get(strip, HWY_DIRECTION, row) : HWY_DIR_UNKNOWN;
	if (name.length > 0)
		return name;
	const char *what = direction > HWY_DIR_UNKNOWN && direction < HWY_DIRECTIONS
				   ? hwy_direction_names[direction]
				   : hwy_kind_names[strip->kind];
	return (struct hwy_text){what, (uint32_t)strlen(what)};
}

/* Sets *span to what fills the CPU's own time before the call *span; false where the time is
 * short or nothing fills it. */
static bool find_cpu_work(struct finding *f, const struct cached_piece *piece, uint32_t *span)
{
	const struct hwy_trace *trace = f->analysis->trace;
	int64_t length = piece->at.to - piece->at.from;
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(trace, *span, &row);
	int64_t thread = trace->lanes[strip->lane].thread;
	if (piece->class != PATH_CPU || length < CPU_WORK_NS || thread < 0)
		return false;
	/* The path has replayed times: the recorded time is the one before the call. */
	int64_t end = hwy_get(strip, HWY_START, row);
	uint32_t work =
		gaps_cpu_work(&f->cpu, (uint32_t)thread, (struct hwy_interval){end - length, end});
	if (!hwy_ref32_is_set(work))
		return false;
	*span = hwy_ref32_index(work);
	return true;
}

static uint32_t link_of(struct finding *f, const struct cached_piece *piece)
{
	uint32_t span = piece->span;
	bool is_work = find_cpu_work(f, piece, &span);
	struct hwy_text text = chain_name_of(f->analysis->trace, span);
	char place[CHAIN_PLACE], name[CHAIN_PLACE];
	chain_put_place(f->analysis, span, place);
	if (is_work) {
		snprintf(name, sizeof name, "%.*s", (int)text.length, text.at);
		hwy_fold_numbers(name);
		text = (struct hwy_text){name, (uint32_t)strlen(name)};
	}
	struct link_key key = {hwy_intern(&f->texts, text.at, text.length),
			       hwy_intern_z(&f->texts, place), piece->class,
			       !is_work && piece->class == PATH_CPU};
	bool fresh;
	uint32_t *index = hwy_index_put(&f->by_key, &key, sizeof key, &fresh);
	if (fresh) {
		struct hwy_chain *chain = f->chain;
		HWY_GROW(chain->links, chain->n, chain->cap);
		chain->links[chain->n++] = (struct chain_link){
			.name = hwy_arena_text(&chain->texts, text.at, text.length),
			.place = hwy_arena_text(&chain->texts, place, strlen(place)),
			.class = piece->class,
			.is_before = key.is_before,
		};
		*index = chain->n - 1;
	}
	return *index;
}

static int chain_by_time(const void *a, const void *b)
{
	const struct chain_link *x = a, *y = b;
	return (x->time < y->time) - (x->time > y->time);
}

static void sum_up(struct finding *f, const struct cached_path *path)
{
	int64_t on_path = 0;
	for (uint32_t i = 0; i < path->n; i++) {
		/* Call link_of first, because it may move chain->links. */
		uint32_t index = link_of(f, &path->pieces[i]);
		struct chain_link *link = &f->chain->links[index];
		int64_t time = path->pieces[i].at.to - path->pieces[i].at.from;
		link->time += time;
		link->count++;
		f->chain->classes[link->class] += time;
		bool is_work = link->class == PATH_COMPUTE || link->class == PATH_COMM ||
			       link->class == PATH_COPY;
		on_path += is_work ? time : 0;
	}
	f->chain->n_steps = path->n_steps;
	f->chain->length = path->window.to - path->window.from;
	f->chain->slack = path->slack;
	f->chain->work_on_path = path->work > 0 ? (double)on_path / (double)path->work : 0;
	if (f->chain->n > 0)
		qsort(f->chain->links, f->chain->n, sizeof *f->chain->links, chain_by_time);
}

bool chain_find(struct hwy_chain *chain, const struct hwy_analysis *analysis, uint32_t phase,
		int64_t step, struct hwy_err *err)
{
	*chain = (struct hwy_chain){0};
	if (!hwy_need(analysis->trace, HWY_KIND_BIT(HWY_COPY), HWY_COL_BIT(HWY_DIRECTION), err))
		return false;
	struct finding f = {
		.chain = chain, .analysis = analysis, .cpu = {.flow = &analysis->flow, .err = err}};
	hwy_strings_init(&f.texts);
	struct cached_paths kept = {0};
	struct cached_path one = {0};
	bool done = step >= 0
			    ? path_cache_step(&one, &analysis->flow,
					      &analysis->phases.phases[phase], (uint32_t)step, err)
			    : path_cache_open(&kept, &analysis->flow, &analysis->phases, err);
	const struct cached_path *path = !done ? NULL : step >= 0 ? &one : &kept.by_phase[phase];
	if (path && path->n == 0)
		done = hwy_fail(err, "no device work of the step has a recorded launch");
	if (done && path) {
		sum_up(&f, path);
		chain->step = step >= 0 ? chain->length : analysis->phases.phases[phase].mean;
	}
	done = done && !f.cpu.is_bad;
	gaps_cpu_close(&f.cpu);
	hwy_index_free(&f.by_key);
	hwy_strings_free(&f.texts);
	free(one.pieces);
	path_cache_close(&kept);
	return done;
}

void chain_free(struct hwy_chain *chain)
{
	free(chain->links);
	hwy_arena_free(&chain->texts);
	*chain = (struct hwy_chain){0};
}
