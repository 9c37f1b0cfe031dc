/* small_trace.h - traces of a few spans, written down as a table in a test. One process, one thread. */
#ifndef HWY_TESTS_SMALL_TRACE_H
#define HWY_TESTS_SMALL_TRACE_H

#include "trace/builder.h"

struct small {
	struct hwy_builder *builder;
	uint32_t process, thread;
};

static inline struct small small_new(void)
{
	struct small small = {.builder = hwy_builder_new()};
	small.process = hwy_new_processes(small.builder);
	hwy_builder_trace(small.builder)->processes[small.process].pid = 100;
	small.thread = hwy_new_threads(small.builder);
	hwy_builder_trace(small.builder)->threads[small.thread].process = small.process;
	return small;
}

static inline uint32_t small_device(struct small *small, int64_t ordinal)
{
	uint32_t device = hwy_new_devices(small->builder);
	hwy_builder_trace(small->builder)->devices[device].ordinal = ordinal;
	hwy_builder_trace(small->builder)->devices[device].name =
		hwy_text_id(small->builder, "Toy");
	return device;
}

/* The lane of a stream. */
static inline uint32_t small_stream(struct small *small, uint32_t device, int64_t number)
{
	uint32_t stream = hwy_new_streams(small->builder);
	struct hwy_stream *record = &hwy_builder_trace(small->builder)->streams[stream];
	record->device = device;
	record->process = small->process;
	record->number = number;
	struct hwy_lane lane = hwy_lane_of(HWY_LANE_STREAM, small->process, HWY_NONE);
	lane.device = device;
	lane.stream = stream;
	return hwy_add_lane(small->builder, lane);
}

static inline uint32_t small_lane(struct small *small, enum hwy_lane_type type)
{
	return hwy_add_lane(small->builder, hwy_lane_of(type, small->process, small->thread));
}

static inline void small_span(struct small *small, uint32_t lane, enum hwy_kind kind, int64_t start,
			      int64_t end, int64_t corr, const char *name)
{
	struct hwy_row row = {0};
	row.v[HWY_START] = start;
	row.v[HWY_DUR] = end - start;
	row.v[HWY_CORR] = corr;
	row.v[HWY_NAME] = hwy_text_id(small->builder, name);
	hwy_add_span(small->builder, lane, kind, &row);
}

static inline void small_call(struct small *small, int64_t start, int64_t end, int64_t corr,
			      const char *name)
{
	small_span(small, small_lane(small, HWY_LANE_API), HWY_API, start, end, corr, name);
}

static inline struct hwy_trace *small_finish(struct small *small)
{
	return hwy_builder_finish(small->builder, false);
}

#endif
