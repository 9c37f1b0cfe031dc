/* SPDX-License-Identifier: Apache-2.0 */
/* nsys_sched.c - reads the scheduler's switches and adds the states of threads: a row is a switch,
 * a span is the time between two switches.
 *
 * A thread runs from a switch in to the next switch out, and waits from there to the next switch
 * in. What a thread did before its first switch is not known. The order of rows is not documented,
 * so all rows are kept (24 bytes each) and sorted by thread and time.
 */
#include <stdlib.h>

#include "import/nsys/nsys.h"

/* Numbers of the export's table ENUM_SAMPLING_THREAD_STATE. */
enum { STATE_RUNNING = 1, STATE_TERMINATED = 5 };

struct turn {
	int64_t time;
	uint32_t thread;
	/* Number of the row, which keeps the order of switches that have the same time. */
	uint32_t order;
	uint16_t cpu;
	uint8_t in, state, block;
};

struct labels {
	/* texts: texts of the trace by the export's number; 0: the number has no label. */
	uint32_t texts[256];
};

static int by_thread_and_time(const void *left, const void *right)
{
	const struct turn *a = left, *b = right;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void read_labels(struct nsys *n, const char *table, struct labels *labels)
{
	struct nsys_query q;
	*labels = (struct labels){0};
	if (!nsys_select(n, &q, table, "id label name", NULL))
		return;
	while (nsys_next(&q)) {
		int64_t id = nsys_int(&q, 0);
		if (id > 0 && id < 256)
			labels->texts[id] = nsys_text(&q, nsys_null(&q, 1) ? 2 : 1);
	}
}

/* Yields a column's number where the number fits an index of struct labels; else 0. */
static uint8_t byte_or_zero(struct nsys_query *q, int column)
{
	int64_t value = nsys_int(q, column);
	return value > 0 && value < 256 ? (uint8_t)value : 0;
}

struct turns {
	struct turn *list;
	uint32_t n, cap;
};

static void add_turn(struct nsys_query *q)
{
	struct turns *turns = q->user;
	if (!nsys_moment(q))
		return;
	HWY_GROW(turns->list, turns->n, turns->cap);
	turns->list[turns->n] = (struct turn){
		.time = q->row.v[HWY_START],
		.thread = nsys_thread(q->nsys, nsys_int(q, 2)),
		.order = turns->n,
		.cpu = (uint16_t)nsys_int(q, 3),
		.in = nsys_int(q, 1) != 0,
		.state = byte_or_zero(q, 4),
		.block = byte_or_zero(q, 5),
	};
	turns->n++;
}

struct words {
	uint32_t running, waiting, runnable;
	struct labels states, blocks;
};

/* Sets the columns of the state that begins with a switch. */
static void nsys_sched_describe(const struct turn *turn, const struct words *words,
				struct hwy_row *row)
{
	row->v[HWY_CPU] = hwy_ref(turn->cpu);
	row->v[HWY_REASON] = 0;
	if (turn->in) {
		row->v[HWY_NAME] = words->running;
		return;
	}
	row->v[HWY_REASON] = words->blocks.texts[turn->block];
	row->v[HWY_NAME] = turn->state == STATE_RUNNING       ? words->runnable
			   : words->states.texts[turn->state] ? words->states.texts[turn->state]
							      : words->waiting;
}

static void add_states(struct nsys *n, const struct turns *turns, const struct words *words,
		       int64_t last)
{
	struct hwy_row row = {0};
	for (uint32_t i = 0; i < turns->n; i++) {
		const struct turn *turn = &turns->list[i];
		bool open = i + 1 == turns->n || turn[1].thread != turn->thread;
		if (!turn->in && (open || turn->state == STATE_TERMINATED))
			continue; /* the thread never ran again, or ended */
		row.v[HWY_START] = turn->time;
		row.v[HWY_DUR] = (open ? last : turn[1].time) - turn->time;
		row.v[HWY_FLAGS] = open ? HWY_FLAG_UNFINISHED : 0;
		nsys_sched_describe(turn, words, &row);
		uint32_t lane = hwy_add_thread_lane(n->b, HWY_LANE_STATE, turn->thread);
		hwy_add_span(n->b, lane, HWY_STATE, &row);
	}
}

void nsys_read_sched(struct nsys *n)
{
	struct turns turns = {0};
	nsys_each(n, "SCHED_EVENTS", "~start ~isSchedIn globalTid cpu threadState threadBlock",
		  NULL, add_turn, &turns);
	if (turns.n && !n->failed) {
		struct words words = {
			.running = hwy_text_id(n->b, "running"),
			.waiting = hwy_text_id(n->b, "waiting"),
			.runnable = hwy_text_id(n->b, "runnable"),
		};
		int64_t last = INT64_MIN;
		read_labels(n, "ENUM_SAMPLING_THREAD_STATE", &words.states);
		read_labels(n, "ENUM_SCHEDULING_THREAD_BLOCK", &words.blocks);
		for (uint32_t i = 0; i < turns.n; i++)
			last = turns.list[i].time > last ? turns.list[i].time : last;
		qsort(turns.list, turns.n, sizeof *turns.list, by_thread_and_time);
		add_states(n, &turns, &words, last);
	}
	free(turns.list);
}
