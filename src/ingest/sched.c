/* SPDX-License-Identifier: Apache-2.0 */
/* sched.c - adds the scheduling states of each thread from its begin to its end, without gaps and
 * overlaps.
 *
 * A thread runs from a switch in to the next switch out; then it is runnable (if it was preempted)
 * or waits, until the next switch in. The switches come from the rings of several CPUs in no common
 * order and are sorted here. Names of states, and the flag of a state whose end was not recorded,
 * are those of the nsys reader (nsys_sched.c).
 */
#include <stdlib.h>

#include "base/search.h"
#include "ingest/ingest_internal.h"

enum turn_kind { /* the kinds of events that change the state of a thread */
		 TURN_BEGIN,
		 TURN_OUT,
		 TURN_IN,
		 TURN_EXEC,
		 TURN_END,
};

struct turn {
	int64_t time;
	uint32_t pid, tid;
	/* Number of the record, which keeps the order of turns that have the same time. */
	uint32_t order;
	uint16_t cpu;
	uint8_t kind, preempted;
};

struct stretch { /* a thread was in one state from 'from' to 'to'; kept where there are wake-ups */
	int64_t from, to;
	uint32_t tid;
	bool runs;
	struct hwy_ref span;
};

struct sched {
	struct turn *turns;
	uint32_t n, cap;
	struct ingest_list wakeups;
	struct stretch *stretches; /* sorted by tid and time */
	uint32_t n_stretches, cap_stretches;
	/* The names of the states, as texts of the trace. */
	uint32_t running, runnable, waiting, preempted, starting;
};

enum state { STATE_NONE, STATE_RUNNING, STATE_PREEMPTED, STATE_WAITING, STATE_STARTING };

struct now { /* the current state of the thread whose turns are being read */
	enum state state;
	int64_t since;
	uint32_t pid, tid;
	int64_t cpu_ref; /* ref of the CPU's number; 0: not known */
	bool ended;
};

static void add_turn(struct sched *sched, struct turn turn)
{
	HWY_GROW(sched->turns, sched->n, sched->cap);
	turn.order = sched->n;
	sched->turns[sched->n++] = turn;
}

void sched_add(struct ingest *in, const struct rec_head *record)
{
	if (!in->sched)
		in->sched = hwy_zalloc(sizeof *in->sched);
	const struct rec_switch *event = (const void *)record;
	if (!ingest_is_time(in, event->time)) {
		in->no_time++;
		return;
	}
	if (record->type == REC_WAKEUP) {
		ingest_list_add(&in->sched->wakeups, record);
		return;
	}
	add_turn(in->sched, (struct turn){
				    .time = event->time,
				    .pid = event->pid,
				    .tid = event->tid,
				    .cpu = (uint16_t)record->value,
				    .kind = record->flags & REC_SWITCH_IN ? TURN_IN : TURN_OUT,
				    .preempted = (record->flags & REC_SWITCH_PREEMPT) != 0,
			    });
}
static_assert(offsetof(struct rec_switch, time) == offsetof(struct rec_wakeup, time),
	      "sched_add reads the time of a rec_wakeup through rec_switch");

static void add_tasks(struct ingest *in)
{
	const void *const *tasks;
	uint32_t n = task_lifetimes_tasks(in, &tasks);
	for (uint32_t i = 0; i < n; i++) {
		const struct rec_task *task = tasks[i];
		struct turn turn = {.time = task->time, .pid = task->head.value, .tid = task->tid};
		if (task->head.flags & (REC_TASK_PROCESS | REC_TASK_THREAD))
			turn.kind = TURN_BEGIN;
		else if (task->head.flags & REC_TASK_EXEC)
			turn.kind = TURN_EXEC;
		else if (task->head.flags & REC_TASK_END)
			turn.kind = TURN_END;
		else
			continue;
		add_turn(in->sched, turn);
	}
}

static int by_thread_and_time(const void *left, const void *right)
{
	const struct turn *a = left, *b = right;
	if (a->tid != b->tid)
		return a->tid < b->tid ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->kind != b->kind && (a->kind == TURN_BEGIN || b->kind == TURN_BEGIN))
		return a->kind == TURN_BEGIN ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

/* ---- spans
 * ------------------------------------------------------------------------------------- */

static void sched_describe(const struct sched *sched, const struct now *now, struct hwy_row *row)
{
	row->v[HWY_CPU] = now->cpu_ref;
	row->v[HWY_REASON] = now->state == STATE_PREEMPTED  ? sched->preempted
			     : now->state == STATE_STARTING ? sched->starting
							    : 0;
	row->v[HWY_NAME] = now->state == STATE_RUNNING   ? sched->running
			   : now->state == STATE_WAITING ? sched->waiting
							 : sched->runnable;
}

static void add_stretch(struct ingest *in, const struct now *now, int64_t from, int64_t to,
			bool unfinished)
{
	struct sched *sched = in->sched;
	struct hwy_row row = {0};
	uint32_t process = task_lifetimes_find(in, now->pid, now->since);
	if (process == UINT32_MAX || to <= from)
		return;
	/* --keep-last keeps only the part of the span after the cut. */
	from = from < in->cut ? in->cut : from;
	if (to <= from || !ingest_times(in, from, to - from, &row))
		return;
	sched_describe(sched, now, &row);
	row.v[HWY_FLAGS] = unfinished ? HWY_FLAG_UNFINISHED : 0;
	uint32_t thread = target_thread(in, process, now->tid);
	uint32_t lane = hwy_add_thread_lane(in->b, HWY_LANE_STATE, thread);
	struct hwy_ref span = hwy_add_span(in->b, lane, HWY_STATE, &row);
	if (sched->wakeups.n == 0)
		return;
	HWY_GROW(sched->stretches, sched->n_stretches, sched->cap_stretches);
	sched->stretches[sched->n_stretches++] =
		(struct stretch){from, to, now->tid, now->state == STATE_RUNNING, span};
}

/* Adds the spans of the state that ends at 'time': one for each window in which the run was
 * recording. */
static void finish_state(struct ingest *in, struct now *now, int64_t time, bool unfinished)
{
	const struct task_lifetimes_window *windows;
	uint32_t n = task_lifetimes_windows(in, &windows);
	for (uint32_t i = 0; now->state != STATE_NONE && i < n; i++) {
		int64_t from = now->since > windows[i].from ? now->since : windows[i].from;
		int64_t to = time < windows[i].to ? time : windows[i].to;
		add_stretch(in, now, from, to, unfinished && to == time);
	}
	now->state = STATE_NONE;
}

static void begin_state(struct now *now, enum state state, const struct turn *turn, int64_t cpu_ref)
{
	now->state = state;
	now->since = turn->time;
	now->pid = turn->pid;
	now->cpu_ref = cpu_ref;
}

static void take_turn(struct ingest *in, struct now *now, const struct turn *turn)
{
	int64_t cpu_ref = hwy_ref(turn->cpu);
	enum state state = now->state;
	if (now->ended && turn->kind != TURN_BEGIN)
		return; /* the kernel reports a thread's last switch out after its end */
	switch ((enum turn_kind)turn->kind) {
	case TURN_BEGIN:
		finish_state(in, now, turn->time, true);
		now->ended = false;
		begin_state(now, STATE_STARTING, turn, HWY_REF_NONE);
		break;
	case TURN_IN:
		finish_state(in, now, turn->time, false);
		begin_state(now, STATE_RUNNING, turn, cpu_ref);
		break;
	case TURN_OUT:
		finish_state(in, now, turn->time, false);
		begin_state(now, turn->preempted ? STATE_PREEMPTED : STATE_WAITING, turn, cpu_ref);
		break;
	case TURN_EXEC: /* a thread calls exec itself, so it is running */
		cpu_ref = state == STATE_RUNNING ? now->cpu_ref : HWY_REF_NONE;
		finish_state(in, now, turn->time, false);
		begin_state(now, STATE_RUNNING, turn, cpu_ref);
		break;
	case TURN_END:
		finish_state(in, now, turn->time, false);
		now->ended = true;
		break;
	}
}

/* ---- wake-ups
 * ---------------------------------------------------------------------------------- */

/* The first stretch that is of this thread and ends after the time, or of a thread with a larger
 * tid; n_stretches where there is none. */
static uint32_t stretch_after(const struct sched *sched, uint32_t tid, int64_t time)
{
	const struct stretch *stretches = sched->stretches;
	return HWY_FIRST(i, 0u, sched->n_stretches,
			 stretches[i].tid > tid ||
				 (stretches[i].tid == tid && stretches[i].to > time));
}

static void add_wakeups(struct ingest *in)
{
	const struct sched *sched = in->sched;
	for (uint32_t i = 0; i < sched->wakeups.n; i++) {
		const struct rec_wakeup *wakeup = sched->wakeups.items[i];
		uint32_t by = stretch_after(sched, wakeup->by_tid, wakeup->time);
		uint32_t woken = stretch_after(sched, wakeup->tid, wakeup->time);
		while (woken < sched->n_stretches && sched->stretches[woken].tid == wakeup->tid &&
		       (!sched->stretches[woken].runs ||
			sched->stretches[woken].from < wakeup->time))
			woken++;
		if (by < sched->n_stretches && sched->stretches[by].tid == wakeup->by_tid &&
		    sched->stretches[by].runs && sched->stretches[by].from <= wakeup->time &&
		    woken < sched->n_stretches && sched->stretches[woken].tid == wakeup->tid)
			hwy_add_edge(in->b, HWY_EDGE_WAKE, sched->stretches[by].span,
				     sched->stretches[woken].span, 0);
	}
}

static void add_all_spans(struct ingest *in)
{
	struct sched *sched = in->sched;
	sched->running = hwy_text_id(in->b, "running");
	sched->runnable = hwy_text_id(in->b, "runnable");
	sched->waiting = hwy_text_id(in->b, "waiting");
	sched->preempted = hwy_text_id(in->b, "preempted");
	sched->starting = hwy_text_id(in->b, "starting");
	add_tasks(in);
	qsort(sched->turns, sched->n, sizeof *sched->turns, by_thread_and_time);
	struct now now = {.state = STATE_NONE};
	for (uint32_t i = 0; i < sched->n; i++) {
		if (now.tid != sched->turns[i].tid) {
			finish_state(in, &now, in->run_end, true);
			now = (struct now){.tid = sched->turns[i].tid};
		}
		take_turn(in, &now, &sched->turns[i]);
	}
	finish_state(in, &now, in->run_end, true);
	add_wakeups(in);
}

void sched_finish(struct ingest *in)
{
	if (!in->sched)
		return;
	if (in->sched->n)
		add_all_spans(in);
	free(in->sched->turns);
	free(in->sched->wakeups.items);
	free(in->sched->stretches);
	free(in->sched);
	in->sched = NULL;
}
