/* SPDX-License-Identifier: Apache-2.0 */
/* fallback_names.c - what spans and lanes are called where the source gave them no name.
 *
 * Copies and fills are named as PyTorch's profiler does, because tools recognise them by these
 * names.
 */
#include <stdio.h>
#include <string.h>

#include "export/export_internal.h"

const struct hwy_process *export_process(const struct hwy_trace *trace, int64_t process)
{
	return process >= 0 && process < trace->n_processes ? &trace->processes[process] : NULL;
}

const struct hwy_thread *export_thread(const struct hwy_trace *trace, int64_t thread)
{
	return thread >= 0 && thread < trace->n_threads ? &trace->threads[thread] : NULL;
}

const struct hwy_device *export_device(const struct hwy_trace *trace, int64_t device)
{
	return device >= 0 && device < trace->n_devices ? &trace->devices[device] : NULL;
}

const struct hwy_stream *export_stream(const struct hwy_trace *trace, int64_t stream)
{
	return stream >= 0 && stream < trace->n_streams ? &trace->streams[stream] : NULL;
}

uint32_t export_text_id(struct export *x, const char *text)
{
	return x->trace->strings.n + hwy_intern_z(&x->extra, text);
}

struct hwy_text export_text(const struct export *x, int64_t id)
{
	int64_t own = id < 0 ? -1 : id - x->trace->strings.n;
	return own >= 0 && own < x->extra.n ? x->extra.texts[own] : hwy_text(x->trace, id);
}

int64_t export_frame_name(struct export *x, int64_t stack)
{
	char text[32];
	if (!hwy_ref_is_set(stack) || stack > x->trace->n_stacks)
		return 0;
	const struct hwy_frame *frame = hwy_stack_frame(x->trace, stack);
	if (frame->function > 0)
		return frame->function;
	snprintf(text, sizeof text, "0x%llx", (unsigned long long)frame->address);
	return export_text_id(x, text);
}

static const char *const directions[HWY_DIRECTIONS] = {
	"",      "HtoD ", "DtoH ", "HtoA ", "AtoH ", "AtoA ", "AtoD ",
	"DtoA ", "DtoD ", "HtoH ", "PtoP ", "HtoD ", "DtoH ", "DtoD ",
};

static const char *memory_name(int64_t kind)
{
	return kind > 0 && kind < HWY_MEMORY_KINDS ? hwy_memory_names[kind] : "Unknown";
}

static void make_name(const struct hwy_strip *strip, uint32_t row, char *text, size_t size)
{
	int64_t direction = hwy_get(strip, HWY_DIRECTION, row);
	int64_t type = hwy_get(strip, HWY_SYNC_TYPE, row);
	switch (strip->kind) {
	case HWY_COPY:
		snprintf(text, size, "Memcpy %s(%s -> %s)",
			 directions[direction >= 0 && direction < HWY_DIRECTIONS ? direction : 0],
			 memory_name(hwy_get(strip, HWY_SRC_MEMORY, row)),
			 memory_name(hwy_get(strip, HWY_DST_MEMORY, row)));
		break;
	case HWY_FILL:
		snprintf(text, size, "Memset (%s)",
			 memory_name(hwy_get(strip, HWY_DST_MEMORY, row)));
		break;
	case HWY_GRAPH:
		snprintf(text, size, "CUDA graph %lld",
			 (long long)hwy_get(strip, HWY_GRAPH_ID, row));
		break;
	case HWY_SYNC:
		snprintf(text, size, "%s",
			 hwy_sync_names[type >= 0 && type < HWY_SYNC_TYPES ? type : 0]);
		break;
	case HWY_EVENT: snprintf(text, size, "event record"); break;
	case HWY_MEMORY:
		snprintf(text, size, "%s",
			 hwy_get(strip, HWY_OPERATION, row) == HWY_RELEASE ? "release"
									   : "allocate");
		break;
	default: snprintf(text, size, "[%s]", hwy_kind_names[strip->kind]);
	}
}

/* There are few different made-up names: each is made once, and found by the values that it is
 * made of. */
int64_t export_name(struct export *x, const struct hwy_strip *strip, uint32_t row)
{
	char text[128];
	int64_t name = hwy_get(strip, HWY_NAME, row);
	if (name > 0)
		return name;
	if (strip->kind == HWY_SAMPLE &&
	    (name = export_frame_name(x, hwy_get(strip, HWY_STACK, row))))
		return name;
	uint64_t parts[] = {
		strip->kind,
		(uint64_t)hwy_get(strip, HWY_DIRECTION, row),
		(uint64_t)hwy_get(strip, HWY_SRC_MEMORY, row),
		(uint64_t)hwy_get(strip, HWY_DST_MEMORY, row),
		strip->kind == HWY_GRAPH ? (uint64_t)hwy_get(strip, HWY_GRAPH_ID, row) : 0,
		(uint64_t)hwy_get(strip, HWY_SYNC_TYPE, row),
		(uint64_t)hwy_get(strip, HWY_OPERATION, row),
	};
	bool fresh;
	uint32_t *id = hwy_index_put(&x->made, parts, sizeof parts, &fresh);
	if (fresh) {
		make_name(strip, row, text, sizeof text);
		*id = export_text_id(x, text);
	}
	return *id;
}

/* ---- lanes ----------------------------------------------------------------------------------- */

static void append(char *text, size_t size, const char *format, long long number, const char *name)
{
	size_t n = strlen(text);
	snprintf(text + n, size - n, format, number, name);
}

void export_lane_label(const struct hwy_trace *trace, uint32_t lane, char *text, size_t size)
{
	const struct hwy_lane *recorded = &trace->lanes[lane];
	const struct hwy_process *process = export_process(trace, recorded->process);
	const struct hwy_thread *thread = export_thread(trace, recorded->thread);
	const struct hwy_device *device = export_device(trace, recorded->device);
	const struct hwy_stream *stream = export_stream(trace, recorded->stream);
	*text = 0;
	if (device)
		append(text, size, "GPU %lld%s ",
		       device->ordinal == HWY_NONE ? recorded->device : device->ordinal, "");
	if (stream && stream->number != HWY_NONE)
		append(text, size, "stream %lld %s", stream->number, hwy_str(trace, stream->name));
	if (process && process->pid != HWY_NONE)
		append(text, size, " process %lld %s", process->pid, hwy_str(trace, process->name));
	if (thread && thread->tid != HWY_NONE)
		append(text, size, " thread %lld %s", thread->tid, hwy_str(trace, thread->name));
	size_t n = strlen(text);
	snprintf(text + n, size - n, " %s %s", hwy_lane_type_names[recorded->type],
		 hwy_str(trace, recorded->name));
}
