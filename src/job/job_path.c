/* SPDX-License-Identifier: Apache-2.0 */
/* job_path.c - see job_path.h. Names and places are compared by their texts, so that ranks of
 * different programs and lines of several modules count once. */
#include "job/job_path.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/ref.h"
#include "base/strings.h"
#include "whatif/chain.h"
#include "whatif/run_path.h"

struct job_link_key {
	uint32_t rank, class, name, place; /* the last two are ids of texts */
};

struct summing {
	struct hwy_job_path *path;
	const struct joint_rank *ranks;
	struct hwy_strings texts;
	struct hwy_index by_key;
};

static struct job_path_link *link_of_piece(struct summing *s, const struct run_piece *piece)
{
	const struct hwy_analysis *analysis = s->ranks[piece->rank].analysis;
	struct hwy_text name = chain_name_of(analysis->trace, piece->span);
	char place[CHAIN_PLACE];
	chain_put_place(analysis, piece->span, place);
	struct job_link_key key = {piece->rank, piece->class,
				   hwy_intern(&s->texts, name.at, name.length),
				   hwy_intern_z(&s->texts, place)};
	bool fresh;
	uint32_t *index = hwy_index_put(&s->by_key, &key, sizeof key, &fresh);
	if (fresh) {
		struct hwy_job_path *path = s->path;
		HWY_GROW(path->links, path->n, path->cap);
		path->links[path->n] = (struct job_path_link){
			.rank = s->ranks[piece->rank].rank,
			.class = piece->class,
			.name = hwy_arena_text(&path->texts, name.at, name.length),
			.place = hwy_arena_text(&path->texts, place, strlen(place)),
		};
		*index = path->n++;
	}
	return &s->path->links[*index];
}

static int by_time_on_path(const void *a, const void *b)
{
	const struct job_path_link *x = a, *y = b;
	return (x->time < y->time) - (x->time > y->time);
}

static void sum_pieces(struct hwy_job_path *path, const struct joint_rank *ranks,
		       const struct hwy_run_path *run)
{
	struct summing s = {.path = path, .ranks = ranks};
	hwy_strings_init(&s.texts);
	for (uint32_t i = 0; i < run->n; i++) {
		const struct run_piece *piece = &run->pieces[i];
		struct job_path_link *link = link_of_piece(&s, piece);
		link->time += piece->at.to - piece->at.from;
		link->count++;
	}
	hwy_index_free(&s.by_key);
	hwy_strings_free(&s.texts);
	if (path->n > 0)
		qsort(path->links, path->n, sizeof *path->links, by_time_on_path);
	path->length = run->window.to - run->window.from;
	path->n_crossings = run->n_crossings;
	memcpy(path->classes, run->classes, sizeof path->classes);
	for (uint32_t r = 0; r < path->n_ranks; r++)
		path->ranks[r] = (struct job_path_rank){ranks[r].rank, run->by_rank[r]};
}

/* The steady steps of the first rank that has some, on the first rank's clock. */
static bool find_steps(const struct joint_rank *ranks, uint32_t n, const struct run_graphs *run,
		       struct hwy_interval *window, uint32_t *n_steps)
{
	for (uint32_t r = 0; r < n; r++) {
		const struct hwy_phases *phases = &ranks[r].analysis->phases;
		if (ranks[r].phase >= phases->n || phases->phases[ranks[r].phase].n_steady == 0)
			continue;
		const struct hwy_phase *phase = &phases->phases[ranks[r].phase];
		const struct exchange_clock *clock = ranks[r].clock;
		int64_t shift = run->collectives.shift[r];
		*n_steps = phase->n_steady;
		*window = (struct hwy_interval){
			clock ? clock->map(clock->user, phase->window.from)
			      : phase->window.from + shift,
			clock ? clock->map(clock->user, phase->window.to)
			      : phase->window.to + shift,
		};
		return true;
	}
	return false;
}

static bool load_names(const struct joint_rank *ranks, uint32_t n, struct hwy_err *err)
{
	for (uint32_t r = 0; r < n; r++)
		if (!hwy_need(ranks[r].analysis->trace,
			      HWY_KIND_BIT(HWY_CALL) | HWY_KIND_BIT(HWY_RANGE) |
				      HWY_KIND_BIT(HWY_OP),
			      HWY_COL_BIT(HWY_NAME), err) ||
		    !hwy_need(ranks[r].analysis->trace, HWY_KIND_BIT(HWY_COPY),
			      HWY_COL_BIT(HWY_DIRECTION), err))
			return false;
	return true;
}

static bool find_and_sum(struct hwy_job_path *path, const struct joint_rank *ranks, uint32_t n,
			 const struct run_graphs *run, struct hwy_err *err)
{
	struct hwy_interval window;
	struct hwy_run_path found;
	bool has_steps = find_steps(ranks, n, run, &window, &path->n_steps);
	if (run->links.n_meetings + run->links.n_messages == 0)
		return hwy_fail(
			err, "no collective and no message joins the ranks: record with -t mpi or "
			     "nccl, or look at each rank alone");
	if (!run_path_find(&found, run, has_steps ? &window : NULL))
		return hwy_fail(err, "nothing is recorded in the steps");
	path->n_meetings = run->links.n_meetings;
	path->n_messages = run->links.n_messages;
	sum_pieces(path, ranks, &found);
	run_path_free(&found);
	return true;
}

bool job_path(struct hwy_job_path *path, const struct joint_rank *ranks, uint32_t n,
	      struct hwy_err *err)
{
	*path = (struct hwy_job_path){.n_ranks = n, .ranks = hwy_zarray(n, sizeof *path->ranks)};
	struct collectives_rank *members = hwy_array(n, sizeof *members);
	struct run_graphs run;
	for (uint32_t r = 0; r < n; r++)
		members[r] = (struct collectives_rank){
			.flow = &ranks[r].analysis->flow,
			.process = ranks[r].process,
			.clock = ranks[r].clock,
			.number = ranks[r].rank >= 0 ? hwy_ref(ranks[r].rank) : HWY_REF_NONE};
	bool done = load_names(ranks, n, err) && run_graphs_open(&run, members, n, err);
	if (done) {
		done = find_and_sum(path, ranks, n, &run, err);
		run_graphs_close(&run);
	}
	free(members);
	if (!done)
		job_path_free(path);
	return done;
}

void job_path_free(struct hwy_job_path *path)
{
	free(path->ranks);
	free(path->links);
	hwy_arena_free(&path->texts);
	*path = (struct hwy_job_path){0};
}
