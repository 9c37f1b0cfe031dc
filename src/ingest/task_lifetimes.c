/* task_lifetimes.c - processes and threads as the kernel told of them: forks, execs, names, ends, mapped code.
 *
 * The collect library registers a process when it is loaded, which is after its exec; and a program that is
 * statically linked never does. So the kernel's word decides when an image began, and those that it alone
 * knows become processes of the trace if there is a sample or a switch of them. All of this is the parent's
 * record (pid 0), written by the thread that reads the kernel's rings; its order is only roughly that of time.
 */
#include <stdlib.h>
#include <string.h>

#include "ingest/ingest_internal.h"
#include "ingest/maps.h"
#include "ingest/unwind.h"

struct image { /* a process from some time on */
	int64_t from;
	uint32_t process, next; /* next: of the same pid, plus one */
};

struct lives {
	struct ingest_list tasks, maps, recordings;
	struct hwy_map active; /* pid -> 1: there is a sample or a switch of it */
	int64_t last;          /* time */
	struct task_lifetimes_window *windows;
	uint32_t n_windows, cap_windows;
	struct image *images;
	uint32_t n_images, cap_images;
	struct hwy_map image_of;     /* pid -> its last image, plus one: later ones first */
	struct hwy_map registered;   /* pid -> index in 'chain' plus one */
	struct image *chain;         /* processes that registered */
	uint32_t n_chain, cap_chain; /* their 'next' as above */
	struct hwy_map lanes[2];     /* samples, states: thread -> lane plus one */
	struct hwy_map named;        /* thread -> 1: by the kernel */
};

static struct lives *task_lifetimes_of(struct ingest *in)
{
	if (!in->lives)
		in->lives = hwy_zalloc(sizeof *in->lives);
	return in->lives;
}

static void see(struct ingest *in, int64_t time)
{
	if (ingest_is_time(in, time) && time > in->lives->last)
		in->lives->last = time;
}

void task_lifetimes_note(struct ingest *in, const struct rec_head *record)
{
	struct lives *lives = task_lifetimes_of(in);
	if (record->type == REC_TASK) {
		const struct rec_task *task = (const void *)record;
		if (ingest_is_time(in, task->time))
			ingest_list_add(&lives->tasks, record);
		see(in, task->time);
	} else if (record->type == REC_MAP) {
		ingest_list_add(&lives->maps, record);
	} else {
		/* rec_sample and rec_switch have time and pid at one place */
		const struct rec_switch *event = (const void *)record;
		*hwy_map_put(&lives->active, event->pid, NULL) = 1;
		see(in, event->time);
	}
}
static_assert(offsetof(struct rec_sample, time) == offsetof(struct rec_switch, time) &&
		      offsetof(struct rec_sample, pid) == offsetof(struct rec_switch, pid),
	      "one place");

void task_lifetimes_recording(struct ingest *in, const struct rec_time *record)
{
	if (ingest_is_time(in, record->time))
		ingest_list_add(&task_lifetimes_of(in)->recordings, record);
}

uint32_t task_lifetimes_tasks(const struct ingest *in, const void *const **tasks)
{
	*tasks = in->lives ? (const void *const *)in->lives->tasks.at : NULL;
	return in->lives ? in->lives->tasks.n : 0;
}

/* ---- when it was recorded ---------------------------------------------------------------------- */

static int task_lifetimes_by_time(const void *left, const void *right)
{
	const struct rec_time *a = *(const struct rec_time *const *)left,
			      *b = *(const struct rec_time *const *)right;
	return a->time < b->time ? -1 : a->time > b->time;
}

static void settle_windows(struct ingest *in)
{
	struct lives *lives = in->lives;
	struct ingest_list *said = &lives->recordings;
	if (said->n)
		qsort(said->at, said->n, sizeof *said->at, task_lifetimes_by_time);
	const struct rec_time *first = said->n ? said->at[0] : NULL;
	/* A run that records from its start on does not say so. */
	bool on = first ? !first->head.value
			: !in->spools.has_control || in->spools.control.recording;
	int64_t from = INT64_MIN;
	for (uint32_t i = 0; i <= said->n; i++) {
		const struct rec_time *now = i < said->n ? said->at[i] : NULL;
		int64_t time = now ? now->time : INT64_MAX;
		if (on && (!now || !now->head.value)) {
			HWY_GROW(lives->windows, lives->n_windows, lives->cap_windows);
			lives->windows[lives->n_windows++] =
				(struct task_lifetimes_window){from, time};
		}
		if (now && (bool)now->head.value != on) {
			on = now->head.value;
			from = time;
		}
	}
}

uint32_t task_lifetimes_windows(const struct ingest *in,
				const struct task_lifetimes_window **windows)
{
	*windows = in->lives->windows;
	return in->lives->n_windows;
}

bool task_lifetimes_is_recorded(const struct ingest *in, int64_t time)
{
	for (uint32_t i = 0; i < in->lives->n_windows; i++)
		if (time >= in->lives->windows[i].from && time < in->lives->windows[i].to)
			return true;
	return false;
}

/* ---- who did not register ---------------------------------------------------------------------- */

enum { BEGINS = REC_TASK_PROCESS | REC_TASK_EXEC };

static uint32_t pid_of(const struct rec_task *task)
{
	return task->head.value;
}

static int by_pid_and_time(const void *left, const void *right)
{
	const struct rec_task *a = *(const struct rec_task *const *)left,
			      *b = *(const struct rec_task *const *)right;
	if (pid_of(a) != pid_of(b))
		return pid_of(a) < pid_of(b) ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a < b ? -1 : a > b; /* as they were written */
}

static int64_t registered_at(const struct ingest *in, const struct ingest_process *process)
{
	int64_t said = process->said ? process->said->start : 0;
	return ingest_is_time(in, said) ? said : process->opened;
}

static void list_registered(struct ingest *in)
{
	struct lives *lives = in->lives;
	for (uint32_t p = 0; p < in->n_processes; p++) {
		uint32_t *head = hwy_map_put(&lives->registered, in->processes[p].pid, NULL);
		HWY_GROW(lives->chain, lives->n_chain, lives->cap_chain);
		lives->chain[lives->n_chain++] = (struct image){
			.from = registered_at(in, &in->processes[p]),
			.process = p,
			.next = *head,
		};
		*head = lives->n_chain;
	}
}

/* The first that registered under a pid in [from, to); NULL: none. */
static struct ingest_process *registered_in(struct ingest *in, uint32_t pid, int64_t from,
					    int64_t to)
{
	struct lives *lives = in->lives;
	const struct image *best = NULL;
	const uint32_t *head =
		lives->registered.count ? hwy_map_get(&lives->registered, pid) : NULL;
	for (uint32_t at = head ? *head : 0; at; at = lives->chain[at - 1].next) {
		const struct image *one = &lives->chain[at - 1];
		if (one->from >= from && one->from < to && (!best || one->from < best->from))
			best = one;
	}
	return best ? &in->processes[best->process] : NULL;
}

static struct ingest_process *add_process(struct ingest *in, uint32_t pid, int64_t from)
{
	HWY_GROW(in->processes, in->n_processes, in->cap_processes);
	struct ingest_process *process = &in->processes[in->n_processes++];
	*process = (struct ingest_process){
		.pid = pid,
		.record = UINT32_MAX,
		.opened = from,
		.began = from,
		.start = HWY_NONE,
		.end = HWY_NONE,
		.exited = true, /* it had no exit handlers of ours to tell of */
		.in_order = true,
	};
	return process;
}

/* One image: from the task at 'first' on to the next that begins another ('end'). */
static void settle_image(struct ingest *in, uint32_t first, uint32_t end)
{
	const struct lives *lives = in->lives;
	const struct rec_task *begin = lives->tasks.at[first];
	const struct rec_task *next = end < lives->tasks.n ? lives->tasks.at[end] : NULL;
	bool goes_on = next && pid_of(next) == pid_of(begin);
	uint32_t pid = pid_of(begin);
	struct ingest_process *known =
		registered_in(in, pid, begin->time, goes_on ? next->time : INT64_MAX);
	if (known) {
		known->began = begin->time;
		return;
	}
	if (!hwy_map_get(&in->lives->active, pid))
		return;
	int64_t over = goes_on ? next->time : HWY_NONE;
	struct ingest_process *process = add_process(in, pid, begin->time);
	process->execed = goes_on && (next->head.flags & REC_TASK_EXEC);
	for (uint32_t i = first; i < end; i++) {
		const struct rec_task *task = lives->tasks.at[i];
		if ((task->head.flags & REC_TASK_NAME) && task->tid == pid)
			process->named = task;
		if ((task->head.flags & REC_TASK_END) && task->tid == pid && over == HWY_NONE)
			over = task->time;
		if (task->head.flags & REC_TASK_PROCESS)
			process->parent = task->parent;
	}
	process->end = over;
}

/* Those who were there before: their names, if that. */
static void add_strangers(struct ingest *in)
{
	struct lives *lives = in->lives;
	struct hwy_map seen = {0};
	for (uint32_t p = 0; p < in->n_processes; p++)
		*hwy_map_put(&seen, in->processes[p].pid, NULL) = p + 1;
	for (uint32_t i = 0; lives->active.slots && i <= lives->active.mask; i++) {
		const struct hwy_map_slot *slot = &lives->active.slots[i];
		if (slot->used && !hwy_map_get(&seen, slot->key)) {
			add_process(in, (uint32_t)slot->key, in->epoch);
			*hwy_map_put(&seen, slot->key, NULL) = in->n_processes;
		}
	}
	for (uint32_t i = 0; i < lives->tasks.n; i++) {
		const struct rec_task *task = lives->tasks.at[i];
		const uint32_t *at = hwy_map_get(&seen, pid_of(task));
		if (!at || !(task->head.flags & REC_TASK_NAME) || task->tid != pid_of(task))
			continue;
		struct ingest_process *process = &in->processes[*at - 1];
		if (!process->said && !process->named)
			process->named = task;
	}
	/* A child has its parent's name until it takes another. */
	for (uint32_t p = 0; p < in->n_processes; p++) {
		struct ingest_process *process = &in->processes[p];
		const uint32_t *at = process->parent ? hwy_map_get(&seen, process->parent) : NULL;
		if (at && !process->said && !process->named)
			process->named = in->processes[*at - 1].named;
	}
	hwy_map_free(&seen);
}

void task_lifetimes_resolve(struct ingest *in)
{
	struct lives *lives = in->lives;
	if (!lives)
		return;
	if (lives->last > in->run_end)
		in->run_end = lives->last;
	settle_windows(in);
	if (lives->active.count == 0 && lives->tasks.n == 0)
		return;
	list_registered(in);
	struct ingest_list *tasks = &lives->tasks;
	if (tasks->n)
		qsort(tasks->at, tasks->n, sizeof *tasks->at, by_pid_and_time);
	for (uint32_t i = 0; i < tasks->n;) {
		const struct rec_task *task = tasks->at[i];
		uint32_t end = i + 1;
		while (end < tasks->n && pid_of(tasks->at[end]) == pid_of(task) &&
		       !(((const struct rec_task *)tasks->at[end])->head.flags & BEGINS))
			end++;
		if (task->head.flags & BEGINS)
			settle_image(in, i, end);
		i = end;
	}
	add_strangers(in);
}

/* ---- who was it -------------------------------------------------------------------------------- */

static int by_from(const void *left, const void *right)
{
	const struct image *a = left, *b = right;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->process < b->process ? -1 : a->process > b->process;
}

void task_lifetimes_attach_modules(struct ingest *in)
{
	struct lives *lives = in->lives;
	if (!lives)
		return;
	for (uint32_t p = 0; p < in->n_processes; p++) {
		const struct ingest_process *process = &in->processes[p];
		HWY_GROW(lives->images, lives->n_images, lives->cap_images);
		lives->images[lives->n_images++] = (struct image){
			.from = process->began ? process->began : process->start, .process = p};
	}
	if (lives->n_images)
		qsort(lives->images, lives->n_images, sizeof *lives->images, by_from);
	for (uint32_t i = 0; i < lives->n_images; i++) {
		struct image *image = &lives->images[i];
		uint32_t *head =
			hwy_map_put(&lives->image_of, in->processes[image->process].pid, NULL);
		image->next = *head;
		*head = i + 1;
	}
	for (uint32_t i = 0; i < lives->maps.n; i++) {
		const struct rec_map *map = lives->maps.at[i];
		uint32_t process = task_lifetimes_image(in, map->head.value, map->time);
		if (process != UINT32_MAX)
			ingest_list_add(&in->processes[process].maps, map);
	}
}

uint32_t task_lifetimes_image(const struct ingest *in, uint32_t pid, int64_t time)
{
	const struct lives *lives = in->lives;
	const uint32_t *head = lives->image_of.count ? hwy_map_get(&lives->image_of, pid) : NULL;
	if (!head)
		return UINT32_MAX;
	const struct image *image = &lives->images[*head - 1];
	while (image->from > time && image->next)
		image = &lives->images[image->next - 1];
	const struct ingest_process *process = &in->processes[image->process];
	while (process->becomes)
		process = process->becomes;
	return process->record == UINT32_MAX ? UINT32_MAX : (uint32_t)(process - in->processes);
}

/* What it registered itself is better known: by its true extent. */
void task_lifetimes_add_modules(struct ingest *in, struct ingest_process *process)
{
	for (uint32_t i = 0; i < process->maps.n; i++) {
		const struct rec_map *map = process->maps.at[i];
		const char *path = hwy_str(in->trace, ingest_text(in, &in->run, map->path));
		struct rec_module module;
		if (!unwind_has_module(process->unwinder, path) && maps_module(map, path, &module))
			unwind_add_module(process->unwinder, &module, path);
	}
}

/* ---- threads ----------------------------------------------------------------------------------- */

uint32_t task_lifetimes_lane(struct ingest *in, enum hwy_lane_type type, uint32_t thread)
{
	uint32_t *at = hwy_map_put(&in->lives->lanes[type == HWY_LANE_STATE], thread, NULL);
	if (!*at)
		*at = 1 + hwy_add_lane(in->b, hwy_lane_of(type, in->trace->threads[thread].process,
							  thread));
	return *at - 1;
}

/* A thread that takes no name has that of its process. */
static void name_the_rest(struct ingest *in)
{
	for (uint32_t t = 0; t < in->trace->n_threads; t++) {
		const struct rec_task *named = in->processes[in->threads[t].process].named;
		if (in->trace->threads[t].name == HWY_NONE && named)
			in->trace->threads[t].name = ingest_text(in, &in->run, named->name);
	}
}

/* Only threads that the trace has for another reason; what the collect library told stands. */
void task_lifetimes_name_threads(struct ingest *in)
{
	struct lives *lives = in->lives;
	for (uint32_t i = 0; lives && i < lives->tasks.n; i++) {
		const struct rec_task *task = lives->tasks.at[i];
		if (!(task->head.flags & REC_TASK_NAME))
			continue;
		uint32_t process = task_lifetimes_image(in, pid_of(task), task->time);
		const uint32_t *thread =
			process == UINT32_MAX || !in->processes[process].thread_of.count
				? NULL
				: hwy_map_get(&in->processes[process].thread_of, task->tid);
		uint32_t name = thread ? ingest_text(in, &in->run, task->name) : 0;
		if (!name)
			continue;
		int64_t *field = &in->trace->threads[*thread].name;
		uint32_t *ours = hwy_map_put(&lives->named, *thread, NULL);
		if (*field == HWY_NONE || *ours) {
			*field = name;
			*ours = 1;
		}
	}
	if (lives)
		name_the_rest(in);
}

void task_lifetimes_free(struct ingest *in)
{
	struct lives *lives = in->lives;
	if (!lives)
		return;
	struct hwy_map *maps[] = {&lives->active,   &lives->image_of, &lives->registered,
				  &lives->lanes[0], &lives->lanes[1], &lives->named};
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
		hwy_map_free(maps[i]);
	free(lives->tasks.at);
	free(lives->maps.at);
	free(lives->recordings.at);
	free(lives->windows);
	free(lives->images);
	free(lives->chain);
	free(lives);
}
