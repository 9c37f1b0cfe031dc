/* SPDX-License-Identifier: Apache-2.0 */
/* perf_tasks.c - processes as the kernel reports them, and where each has code mapped.
 *
 * Rings of different CPUs are read one after the other, so that what is reported here may be out of
 * order by a few ms: a fork or a map older than the last exec changes nothing. The maps of a
 * process are recorded when the process is first sampled: most processes never are.
 */
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/search.h"
#include "run/perf/perf_internal.h"
#include "run/run.h"

enum { MOST_MAPS = 16384, GRANULE_BITS = 21, GRANULES = 1 << 16 };

static void forget_maps(struct perf_process *process)
{
	for (uint32_t i = 0; i < process->n_maps; i++)
		free(process->maps[i].path);
	process->n_maps = process->recorded_maps = process->searched_maps = 0;
	process->sorted = false;
}

static void free_process(struct perf *perf, struct perf_process *process)
{
	perf_python_free(perf, process);
	forget_maps(process);
	free(process->maps);
	free(process->ranges);
	free(process);
}

static void add_map(struct perf_process *process, const struct perf_map *map)
{
	if (process->n_maps == MOST_MAPS)
		return;
	HWY_GROW(process->maps, process->n_maps, process->cap_maps);
	struct perf_map *into = &process->maps[process->n_maps++];
	*into = *map;
	if (map->path)
		into->path = hwy_copy(map->path, strlen(map->path) + 1);
	process->sorted = false;
}

/* Reads lines "START-END r-xp OFFSET DEV INODE PATH" of /proc/PID/maps. */
static void read_maps(struct perf_process *process)
{
	char path[64], line[4400];
	snprintf(path, sizeof path, "/proc/%u/maps", process->pid);
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file)) {
		struct perf_map map = {0};
		char rights[8];
		int name = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &map.start,
			   &map.end, rights, &map.offset, &name) < 4 ||
		    rights[2] != 'x')
			continue;
		line[strcspn(line, "\n")] = '\0';
		map.path = name && line[name] == '/' ? line + name : NULL;
		add_map(process, &map);
	}
	if (file)
		fclose(file);
}

static struct perf_process *find_process(struct perf *perf, uint32_t pid, bool *fresh)
{
	uint32_t *ref = hwy_map_put(&perf->process_of, pid, NULL);
	if (!hwy_ref32_is_set(*ref)) {
		HWY_GROW(perf->processes, perf->n_processes, perf->cap_processes);
		*ref = hwy_ref32(perf->n_processes);
		perf->processes[perf->n_processes++] = NULL;
	}
	struct perf_process **process = &perf->processes[hwy_ref32_index(*ref)];
	*fresh = !*process;
	if (*fresh) {
		*process = hwy_zalloc(sizeof **process);
		(*process)->pid = pid;
	}
	return *process;
}

struct perf_process *perf_tasks_process(struct perf *perf, uint32_t pid)
{
	bool fresh;
	struct perf_process *process = find_process(perf, pid, &fresh);
	if (fresh) /* a process that is met for the first time is older than the recording */
		read_maps(process);
	return process;
}

void perf_tasks_fork(struct perf *perf, uint32_t pid, uint32_t parent, int64_t time)
{
	bool fresh;
	struct perf_process *process = find_process(perf, pid, &fresh);
	if (!fresh && process->since > time)
		return;
	forget_maps(process);
	perf_python_free(perf, process);
	process->since = time;
	const uint32_t *ref = hwy_map_get(&perf->process_of, parent);
	const struct perf_process *from = ref ? perf->processes[hwy_ref32_index(*ref)] : NULL;
	for (uint32_t i = 0; from && from != process && i < from->n_maps; i++)
		add_map(process, &from->maps[i]);
}

void perf_tasks_exec(struct perf *perf, uint32_t pid, int64_t time)
{
	bool fresh;
	struct perf_process *process = find_process(perf, pid, &fresh);
	uint32_t n = 0;
	if (process->since > time)
		return;
	process->since = time;
	perf_python_free(perf, process);
	for (uint32_t i = 0; i < process->n_maps; i++) {
		if (process->maps[i].time >= time)
			process->maps[n++] = process->maps[i];
		else
			free(process->maps[i].path);
	}
	process->n_maps = n;
	process->recorded_maps = process->searched_maps = 0;
	process->sorted = false;
}

void perf_tasks_exit(struct perf *perf, uint32_t pid)
{
	const uint32_t *ref = hwy_map_get(&perf->process_of, pid);
	struct perf_process **process = ref ? &perf->processes[hwy_ref32_index(*ref)] : NULL;
	if (!process || !*process)
		return;
	free_process(perf, *process);
	*process = NULL;
}

void perf_tasks_map(struct perf *perf, uint32_t pid, struct perf_map map)
{
	bool fresh;
	struct perf_process *process = find_process(perf, pid, &fresh);
	if (map.time >= process->since)
		add_map(process, &map);
}

void perf_tasks_record_maps(struct perf *perf, struct perf_process *process)
{
	for (; process->recorded_maps < process->n_maps; process->recorded_maps++) {
		const struct perf_map *map = &process->maps[process->recorded_maps];
		if (!map->path)
			continue;
		uint32_t path = perf_spool_text(perf, map->path, strlen(map->path));
		struct rec_map *record =
			perf_spool_reserve(perf->definitions, REC_MAP, sizeof(struct rec_map));
		if (!record)
			return;
		record->head.value = process->pid;
		/* A map that a child has inherited counts as the child's own from the fork on. */
		record->time = map->time > process->since ? map->time : process->since;
		record->start = map->start;
		record->size = map->end - map->start;
		record->offset = map->offset;
		record->path = path;
		perf_spool_publish(perf->definitions);
	}
}

/* ---- where code is --------------------------------------------------------------------------- */

static int range_by_address(const void *left, const void *right)
{
	const struct perf_range *a = left, *b = right;
	return a->from < b->from ? -1 : a->from > b->from;
}

static void sort_ranges(struct perf_process *process)
{
	process->n_ranges = 0;
	memset(process->granules, 0, sizeof process->granules);
	for (uint32_t i = 0; i < process->n_maps; i++) {
		HWY_GROW(process->ranges, process->n_ranges, process->cap_ranges);
		process->ranges[process->n_ranges++] =
			(struct perf_range){process->maps[i].start, process->maps[i].end};
	}
	if (process->n_ranges)
		qsort(process->ranges, process->n_ranges, sizeof *process->ranges,
		      range_by_address);
	uint32_t n = 0;
	for (uint32_t i = 0; i < process->n_ranges; i++) {
		const struct perf_range *range = &process->ranges[i];
		if (n && range->from <= process->ranges[n - 1].to) {
			if (range->to > process->ranges[n - 1].to)
				process->ranges[n - 1].to = range->to;
		} else {
			process->ranges[n++] = *range;
		}
		uint64_t last = (range->to - 1) >> GRANULE_BITS;
		for (uint64_t g = range->from >> GRANULE_BITS; g <= last; g++) {
			process->granules[g % GRANULES / 8] |= (uint8_t)(1 << (g % 8));
			if (g - (range->from >> GRANULE_BITS) >= GRANULES)
				break;
		}
	}
	process->n_ranges = n;
	process->sorted = true;
}

bool perf_tasks_holds_code(struct perf_process *process, uint64_t address)
{
	if (!process->sorted)
		sort_ranges(process);
	uint64_t granule = address >> GRANULE_BITS;
	if (!(process->granules[granule % GRANULES / 8] >> (granule % 8) & 1))
		return false;
	const struct perf_range *ranges = process->ranges;
	uint32_t behind = HWY_FIRST(i, 0u, process->n_ranges, ranges[i].from > address);
	return behind && address < ranges[behind - 1].to;
}

/* ---- all processes --------------------------------------------------------------------------- */

static void record_name(struct perf *perf, uint32_t pid)
{
	char path[64], name[64] = "";
	snprintf(path, sizeof path, "/proc/%u/comm", pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return;
	size_t n = fread(name, 1, sizeof name, file);
	fclose(file);
	n -= n && name[n - 1] == '\n';
	uint32_t text = perf_spool_text(perf, name, n);
	struct rec_task *record =
		perf_spool_reserve(perf->definitions, REC_TASK, sizeof(struct rec_task));
	if (!record)
		return;
	record->head.value = pid;
	record->head.flags = REC_TASK_NAME;
	record->time = perf->run->control->started;
	record->tid = pid;
	record->name = text;
	perf_spool_publish(perf->definitions);
}

void perf_tasks_record_all(struct perf *perf)
{
	DIR *proc = opendir("/proc");
	for (const struct dirent *entry; proc && (entry = readdir(proc));)
		if (isdigit((unsigned char)entry->d_name[0]))
			record_name(perf, (uint32_t)strtoul(entry->d_name, NULL, 10));
	if (proc)
		closedir(proc);
}

void perf_tasks_free(struct perf *perf)
{
	for (uint32_t i = 0; i < perf->n_processes; i++)
		if (perf->processes[i])
			free_process(perf, perf->processes[i]);
	free(perf->processes);
	hwy_map_free(&perf->process_of);
}
