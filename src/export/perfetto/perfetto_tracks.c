/* SPDX-License-Identifier: Apache-2.0 */
/* perfetto_tracks.c - the tree of tracks: processes, their threads and lanes; devices and their
 * streams. */
#include <stdlib.h>

#include "export/perfetto/perfetto.h"

/* Yields the pid or tid to write. Number 0 is the idle task, and some recordings have numbers that
 * do not fit: such processes and threads are numbered from 'own' on. */
static uint64_t fit(int64_t number, uint64_t index, uint64_t own)
{
	return number > 0 && number <= INT32_MAX ? (uint64_t)number : own + index;
}
enum { OWN_PIDS = 0x70000000, OWN_TIDS = 0x78000000 };

static void send(struct perfetto *p, struct hwy_bytes *track)
{
	perfetto_send_untimed(p, 60, track);
	track->n = 0;
}

/* Fields of TrackDescriptor: process 3 {pid 1, process_name 6}, thread 4 {pid 1, tid 2, thread_name
 * 5}. */
static void perfetto_tracks_write_processes(struct perfetto *p)
{
	const struct hwy_trace *trace = p->x.trace;
	struct hwy_bytes track = {0}, about = {0};
	for (uint32_t i = 0; i < trace->n_processes; i++) {
		const struct hwy_process *process = &trace->processes[i];
		about.n = 0;
		pb_int(&about, 1, fit(process->pid, i, OWN_PIDS));
		if (process->name > 0)
			pb_text(&about, 6, hwy_str(trace, process->name));
		pb_int(&track, 1, PERFETTO_PROCESS(i));
		pb_bytes(&track, 3, about.bytes, about.n);
		send(p, &track);
	}
	for (uint32_t i = 0; i < trace->n_threads; i++) {
		const struct hwy_thread *thread = &trace->threads[i];
		const struct hwy_process *process = export_process(trace, thread->process);
		about.n = 0;
		pb_int(&about, 1,
		       fit(process ? process->pid : 0, (uint64_t)thread->process & 0xffff,
			   OWN_PIDS));
		pb_int(&about, 2, fit(thread->tid, i, OWN_TIDS));
		if (thread->name > 0)
			pb_text(&about, 5, hwy_str(trace, thread->name));
		pb_int(&track, 1, PERFETTO_THREAD(i));
		if (process)
			pb_int(&track, 5, PERFETTO_PROCESS((uint64_t)thread->process));
		pb_bytes(&track, 4, about.bytes, about.n);
		send(p, &track);
	}
	free(track.bytes);
	free(about.bytes);
}

static void write_devices(struct perfetto *p)
{
	const struct hwy_trace *trace = p->x.trace;
	struct hwy_bytes track = {0};
	char name[160];
	for (uint32_t i = 0; i < trace->n_devices; i++) {
		const struct hwy_device *device = &trace->devices[i];
		snprintf(name, sizeof name, "GPU %lld %.120s",
			 (long long)(device->ordinal != HWY_NONE ? device->ordinal : i),
			 hwy_str(trace, device->name));
		pb_int(&track, 1, PERFETTO_DEVICE(i));
		pb_text(&track, 2, name);
		pb_int(&track, 11, 3); /* child_ordering is explicit */
		pb_int(&track, 15, 2);
		send(p, &track);
	}
	free(track.bytes);
}

void perfetto_tracks_write(struct perfetto *p)
{
	perfetto_tracks_write_processes(p);
	write_devices(p);
}

static uint64_t parent_of(const struct hwy_trace *trace, const struct hwy_lane *lane)
{
	if (export_device(trace, lane->device))
		return PERFETTO_DEVICE((uint64_t)lane->device);
	if (export_thread(trace, lane->thread))
		return PERFETTO_THREAD((uint64_t)lane->thread);
	if (export_process(trace, lane->process))
		return PERFETTO_PROCESS((uint64_t)lane->process);
	return 0;
}

static void label(const struct hwy_trace *trace, const struct hwy_lane *lane, char *text,
		  size_t size)
{
	const struct hwy_stream *stream = export_stream(trace, lane->stream);
	const struct hwy_process *process = export_process(trace, lane->process);
	const char *name = hwy_str(trace, lane->name);
	int n = 0;
	switch (lane->type) {
	case HWY_LANE_STREAM:
	case HWY_LANE_SYNC:
	case HWY_LANE_DEVICE_RANGE:
		if (stream && stream->number != HWY_NONE)
			n = snprintf(text, size, "stream %lld %.60s", (long long)stream->number,
				     hwy_str(trace, stream->name));
		else
			n = snprintf(text, size, "device ");
		if (trace->n_processes > 1 && process && process->pid != HWY_NONE)
			n += snprintf(text + n, size - (size_t)n, " of process %lld ",
				      (long long)process->pid);
		if (lane->type != HWY_LANE_STREAM)
			snprintf(text + n, size - (size_t)n, "%s",
				 lane->type == HWY_LANE_SYNC ? " waits" : " ranges");
		break;
	default:
		snprintf(text, size, "%s%s%.100s", hwy_lane_type_names[lane->type],
			 *name ? " " : "", name);
	}
}

uint64_t perfetto_tracks_add_row(struct perfetto *p, uint32_t lane, uint32_t row)
{
	const struct hwy_trace *trace = p->x.trace;
	const struct hwy_lane *at = &trace->lanes[lane];
	char text[256];
	label(trace, at, text, sizeof text - 16);
	if (row)
		snprintf(text + strlen(text), 16, " (%u)", (row + 1) % 100000);
	return perfetto_track(p, parent_of(trace, at), text, (int)(at->type * 1000 + row));
}

uint64_t perfetto_tracks_add_counter(struct perfetto *p, uint32_t lane)
{
	const struct hwy_trace *trace = p->x.trace;
	const struct hwy_lane *at = &trace->lanes[lane];
	const char *name = hwy_str(trace, at->name);
	return perfetto_counter(p, parent_of(trace, at),
				at->type == HWY_LANE_MEMORY ? "memory allocated" : name,
				at->type == HWY_LANE_MEMORY ? "bytes" : hwy_str(trace, at->unit));
}
