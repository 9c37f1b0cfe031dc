/* SPDX-License-Identifier: Apache-2.0 */
/* task_lifetimes.c - processes and threads as the kernel reported them: forks, execs, names, ends,
 * mapped code.
 *
 * The collect library registers a process when it is loaded, which is after its exec, and it never
 * is loaded into a statically linked program. So the kernel's reports (perf events) decide when an
 * image began, and an image that only the kernel reported becomes a process of the trace if a
 * sample or a switch belongs to it. All these records stand in the parent's spool (pid 0), written
 * by the thread that reads the kernel's rings: they are only roughly in the order of their times.
 */
#include <stdlib.h>
#include <string.h>

#include "ingest/ingest_internal.h"
#include "ingest/unwind.h"

struct image { /* says to which process a pid belonged from the time 'from' on */
	int64_t from;
	uint32_t process;
	uint32_t next_ref; /* ref into the same array: an image with the same pid */
};

struct task_lifetimes {
	struct ingest_list tasks, maps, recordings;
	struct hwy_map active; /* a set: the pids that have a sample or a switch */
	int64_t last;          /* the last time in any record of the kernel's reports */
	struct task_lifetimes_window *windows;
	uint32_t n_windows, cap_windows;
	struct image *images;
	uint32_t n_images, cap_images;
	/* 'image_of' maps a pid to the ref in 'images' of its last image; next_ref leads to
	 * earlier images. */
	struct hwy_map image_of;
	struct image *registered; /* processes that registered, in any order */
	uint32_t n_registered, cap_registered;
	struct hwy_map registered_of; /* maps a pid to a ref of 'registered' */
	struct hwy_map named; /* a set: the threads of the trace that got the kernel's name */
};

static struct task_lifetimes *task_lifetimes_state(struct ingest *in)
{
	if (!in->lifetimes)
		in->lifetimes = hwy_zalloc(sizeof *in->lifetimes);
	return in->lifetimes;
}

static void note_time(struct ingest *in, int64_t time)
{
	if (ingest_is_time(in, time) && time > in->lifetimes->last)
		in->lifetimes->last = time;
}

void task_lifetimes_note_record(struct ingest *in, const struct rec_head *record)
{
	struct task_lifetimes *lifetimes = task_lifetimes_state(in);
	if (record->type == REC_TASK) {
		const struct rec_task *task = (const void *)record;
		if (ingest_is_time(in, task->time))
			ingest_list_add(&lifetimes->tasks, record);
		note_time(in, task->time);
	} else if (record->type == REC_MAP) {
		ingest_list_add(&lifetimes->maps, record);
	} else {
		/* rec_sample and rec_switch have time and pid at the same offsets, which an
		 * assert checks. */
		const struct rec_switch *event = (const void *)record;
		*hwy_map_put(&lifetimes->active, event->pid, NULL) = 1;
		note_time(in, event->time);
	}
}
static_assert(offsetof(struct rec_sample, time) == offsetof(struct rec_switch, time) &&
		      offsetof(struct rec_sample, pid) == offsetof(struct rec_switch, pid),
	      "task_lifetimes_note_record reads a rec_sample as a rec_switch");

void task_lifetimes_note_recording(struct ingest *in, const struct rec_time *record)
{
	if (ingest_is_time(in, record->time))
		ingest_list_add(&task_lifetimes_state(in)->recordings, record);
}

uint32_t task_lifetimes_tasks(const struct ingest *in, const void *const **tasks)
{
	*tasks = in->lifetimes ? (const void *const *)in->lifetimes->tasks.items : NULL;
	return in->lifetimes ? in->lifetimes->tasks.n : 0;
}

/* ---- when the run was recording
 * ------------------------------------------------------------------ */

static int task_lifetimes_by_time(const void *left, const void *right)
{
	const struct rec_time *a = *(const struct rec_time *const *)left,
			      *b = *(const struct rec_time *const *)right;
	return a->time < b->time ? -1 : a->time > b->time;
}

static void find_windows(struct ingest *in)
{
	struct task_lifetimes *lifetimes = in->lifetimes;
	struct ingest_list *changes = &lifetimes->recordings;
	if (changes->n)
		qsort(changes->items, changes->n, sizeof *changes->items, task_lifetimes_by_time);
	const struct rec_time *first = changes->n ? changes->items[0] : NULL;
	/* A run that records from its start on has no record that says that recording began. */
	bool on = first ? !first->head.value
			: !in->spools.has_control || in->spools.control.recording;
	int64_t from = INT64_MIN;
	for (uint32_t i = 0; i <= changes->n; i++) {
		const struct rec_time *now = i < changes->n ? changes->items[i] : NULL;
		int64_t time = now ? now->time : INT64_MAX;
		if (on && (!now || !now->head.value)) {
			HWY_GROW(lifetimes->windows, lifetimes->n_windows, lifetimes->cap_windows);
			lifetimes->windows[lifetimes->n_windows++] =
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
	*windows = in->lifetimes->windows;
	return in->lifetimes->n_windows;
}

bool task_lifetimes_is_recorded(const struct ingest *in, int64_t time)
{
	for (uint32_t i = 0; i < in->lifetimes->n_windows; i++)
		if (time >= in->lifetimes->windows[i].from && time < in->lifetimes->windows[i].to)
			return true;
	return false;
}

/* ---- images that did not register
 * ---------------------------------------------------------------- */

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
	/* Reports of one time keep the order in which they were written. */
	return a < b ? -1 : a > b;
}

static int64_t registration_time(const struct ingest *in, const struct ingest_process *process)
{
	int64_t start = process->registration ? process->registration->start : 0;
	return ingest_is_time(in, start) ? start : process->opened;
}

static void list_registered(struct ingest *in)
{
	struct task_lifetimes *lifetimes = in->lifetimes;
	for (uint32_t p = 0; p < in->n_processes; p++) {
		uint32_t *head = hwy_map_put(&lifetimes->registered_of, in->processes[p].pid, NULL);
		HWY_GROW(lifetimes->registered, lifetimes->n_registered, lifetimes->cap_registered);
		lifetimes->registered[lifetimes->n_registered++] = (struct image){
			.from = registration_time(in, &in->processes[p]),
			.process = p,
			.next_ref = *head,
		};
		*head = hwy_ref32(lifetimes->n_registered - 1);
	}
}

/* Yields the first process that registered with this pid in [from, to); NULL: no process did. */
static struct ingest_process *registered_in(struct ingest *in, uint32_t pid, int64_t from,
					    int64_t to)
{
	struct task_lifetimes *lifetimes = in->lifetimes;
	const struct image *best = NULL;
	const uint32_t *head =
		lifetimes->registered_of.count ? hwy_map_get(&lifetimes->registered_of, pid) : NULL;
	uint32_t ref = head ? *head : HWY_REF_NONE;
	while (hwy_ref32_is_set(ref)) {
		const struct image *one = &lifetimes->registered[hwy_ref32_index(ref)];
		ref = one->next_ref;
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
		/* A process without the collect library writes no REC_EXIT, so that none is
		 * missing. */
		.exited = true,
		.in_order = true,
	};
	return process;
}

/* Looks at one image: the tasks [first, end), of which the first begins the image and 'end' is the
 * next begin. */
static void add_image(struct ingest *in, uint32_t first, uint32_t end)
{
	const struct task_lifetimes *lifetimes = in->lifetimes;
	const struct rec_task *begin = lifetimes->tasks.items[first];
	const struct rec_task *next = end < lifetimes->tasks.n ? lifetimes->tasks.items[end] : NULL;
	bool goes_on = next && pid_of(next) == pid_of(begin);
	uint32_t pid = pid_of(begin);
	struct ingest_process *registered =
		registered_in(in, pid, begin->time, goes_on ? next->time : INT64_MAX);
	if (registered) {
		registered->began = begin->time;
		return;
	}
	if (!hwy_map_get(&in->lifetimes->active, pid))
		return;
	int64_t over = goes_on ? next->time : HWY_NONE;
	struct ingest_process *process = add_process(in, pid, begin->time);
	process->execed = goes_on && (next->head.flags & REC_TASK_EXEC);
	for (uint32_t i = first; i < end; i++) {
		const struct rec_task *task = lifetimes->tasks.items[i];
		if ((task->head.flags & REC_TASK_NAME) && task->tid == pid)
			process->named = task;
		if ((task->head.flags & REC_TASK_END) && task->tid == pid && over == HWY_NONE)
			over = task->time;
		if (task->head.flags & REC_TASK_PROCESS)
			process->parent = task->parent;
	}
	process->end = over;
}

/* Adds the processes that ran before the run began: the kernel reports no begin for them, at most a
 * name. */
static void add_older_processes(struct ingest *in)
{
	struct task_lifetimes *lifetimes = in->lifetimes;
	struct hwy_map seen = {0};
	for (uint32_t p = 0; p < in->n_processes; p++)
		*hwy_map_put(&seen, in->processes[p].pid, NULL) = p;
	for (uint32_t i = 0; lifetimes->active.slots && i <= lifetimes->active.mask; i++) {
		const struct hwy_map_slot *slot = &lifetimes->active.slots[i];
		if (slot->used && !hwy_map_get(&seen, slot->key)) {
			*hwy_map_put(&seen, slot->key, NULL) = in->n_processes;
			add_process(in, (uint32_t)slot->key, in->epoch);
		}
	}
	for (uint32_t i = 0; i < lifetimes->tasks.n; i++) {
		const struct rec_task *task = lifetimes->tasks.items[i];
		const uint32_t *index = hwy_map_get(&seen, pid_of(task));
		if (!index || !(task->head.flags & REC_TASK_NAME) || task->tid != pid_of(task))
			continue;
		struct ingest_process *process = &in->processes[*index];
		if (!process->registration && !process->named)
			process->named = task;
	}
	/* A child process has its parent's name until the child gets another name. */
	for (uint32_t p = 0; p < in->n_processes; p++) {
		struct ingest_process *process = &in->processes[p];
		const uint32_t *parent =
			process->parent ? hwy_map_get(&seen, process->parent) : NULL;
		if (parent && !process->registration && !process->named)
			process->named = in->processes[*parent].named;
	}
	hwy_map_free(&seen);
}

void task_lifetimes_add_images(struct ingest *in)
{
	struct task_lifetimes *lifetimes = in->lifetimes;
	if (!lifetimes)
		return;
	if (lifetimes->last > in->run_end)
		in->run_end = lifetimes->last;
	find_windows(in);
	if (lifetimes->active.count == 0 && lifetimes->tasks.n == 0)
		return;
	list_registered(in);
	struct ingest_list *tasks = &lifetimes->tasks;
	if (tasks->n)
		qsort(tasks->items, tasks->n, sizeof *tasks->items, by_pid_and_time);
	for (uint32_t i = 0; i < tasks->n;) {
		const struct rec_task *task = tasks->items[i];
		uint32_t end = i + 1;
		while (end < tasks->n && pid_of(tasks->items[end]) == pid_of(task) &&
		       !(((const struct rec_task *)tasks->items[end])->head.flags & BEGINS))
			end++;
		if (task->head.flags & BEGINS)
			add_image(in, i, end);
		i = end;
	}
	add_older_processes(in);
}

/* ---- which process had a pid at some time
 * -------------------------------------------------------- */

static int by_start_of_image(const void *left, const void *right)
{
	const struct image *a = left, *b = right;
	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->process < b->process ? -1 : a->process > b->process;
}

void task_lifetimes_index_images(struct ingest *in)
{
	struct task_lifetimes *lifetimes = in->lifetimes;
	if (!lifetimes)
		return;
	for (uint32_t p = 0; p < in->n_processes; p++) {
		const struct ingest_process *process = &in->processes[p];
		HWY_GROW(lifetimes->images, lifetimes->n_images, lifetimes->cap_images);
		lifetimes->images[lifetimes->n_images++] = (struct image){
			.from = process->began ? process->began : process->start, .process = p};
	}
	if (lifetimes->n_images)
		qsort(lifetimes->images, lifetimes->n_images, sizeof *lifetimes->images,
		      by_start_of_image);
	for (uint32_t i = 0; i < lifetimes->n_images; i++) {
		struct image *image = &lifetimes->images[i];
		uint32_t *head =
			hwy_map_put(&lifetimes->image_of, in->processes[image->process].pid, NULL);
		image->next_ref = *head;
		*head = hwy_ref32(i);
	}
	for (uint32_t i = 0; i < lifetimes->maps.n; i++) {
		const struct rec_map *map = lifetimes->maps.items[i];
		uint32_t process = task_lifetimes_find(in, map->head.value, map->time);
		if (process != UINT32_MAX)
			ingest_list_add(&in->processes[process].maps, map);
	}
}

uint32_t task_lifetimes_find(const struct ingest *in, uint32_t pid, int64_t time)
{
	const struct task_lifetimes *lifetimes = in->lifetimes;
	const uint32_t *head =
		lifetimes->image_of.count ? hwy_map_get(&lifetimes->image_of, pid) : NULL;
	if (!head)
		return UINT32_MAX;
	const struct image *image = &lifetimes->images[hwy_ref32_index(*head)];
	while (image->from > time && hwy_ref32_is_set(image->next_ref))
		image = &lifetimes->images[hwy_ref32_index(image->next_ref)];
	const struct ingest_process *process = &in->processes[image->process];
	while (process->becomes)
		process = process->becomes;
	return process->record == UINT32_MAX ? UINT32_MAX : (uint32_t)(process - in->processes);
}

/* Modules that the process registered itself are not replaced: for them the whole extent is
 * known. */
void task_lifetimes_add_modules(struct ingest *in, struct ingest_process *process)
{
	for (uint32_t i = 0; i < process->maps.n; i++) {
		const struct rec_map *map = process->maps.items[i];
		const char *path = hwy_str(in->trace, ingest_text(in, &in->run, map->path));
		unwind_add_map(process->unwinder, map, path);
	}
}

/* ---- threads
 * ----------------------------------------------------------------------------------- */

/* Gives a thread without a name the name of its process. */
static void name_unnamed_threads(struct ingest *in)
{
	for (uint32_t t = 0; t < in->trace->n_threads; t++) {
		const struct rec_task *named = in->processes[in->threads[t].process].named;
		if (in->trace->threads[t].name == HWY_NONE && named)
			in->trace->threads[t].name = ingest_text(in, &in->run, named->name);
	}
}

/* Names threads that the trace has already: a name alone makes no thread. A name that the collect
 * library reported is not replaced; of the kernel's names the last one counts. */
void task_lifetimes_name_threads(struct ingest *in)
{
	struct task_lifetimes *lifetimes = in->lifetimes;
	for (uint32_t i = 0; lifetimes && i < lifetimes->tasks.n; i++) {
		const struct rec_task *task = lifetimes->tasks.items[i];
		if (!(task->head.flags & REC_TASK_NAME))
			continue;
		uint32_t process = task_lifetimes_find(in, pid_of(task), task->time);
		const uint32_t *thread =
			process == UINT32_MAX || !in->processes[process].thread_of.count
				? NULL
				: hwy_map_get(&in->processes[process].thread_of, task->tid);
		uint32_t name = thread ? ingest_text(in, &in->run, task->name) : 0;
		if (!name)
			continue;
		int64_t *field = &in->trace->threads[*thread].name;
		uint32_t *is_from_kernel = hwy_map_put(&lifetimes->named, *thread, NULL);
		if (*field == HWY_NONE || *is_from_kernel) {
			*field = name;
			*is_from_kernel = 1;
		}
	}
	if (lifetimes)
		name_unnamed_threads(in);
}

void task_lifetimes_free(struct ingest *in)
{
	struct task_lifetimes *lifetimes = in->lifetimes;
	if (!lifetimes)
		return;
	struct hwy_map *maps[] = {&lifetimes->active, &lifetimes->image_of,
				  &lifetimes->registered_of, &lifetimes->named};
	for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
		hwy_map_free(maps[i]);
	free(lifetimes->tasks.items);
	free(lifetimes->maps.items);
	free(lifetimes->recordings.items);
	free(lifetimes->windows);
	free(lifetimes->images);
	free(lifetimes->registered);
	free(lifetimes);
}
