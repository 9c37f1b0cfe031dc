/* span_color.c - how a span is drawn: by its kind, and calls by their role. */
#include <strings.h>

#include "serve/view.h"
#include "trace/pyramid.h"

static uint8_t look_of_call(struct hwy_trace *trace, int64_t name)
{
	unsigned role = hwy_role(trace, name);
	switch (HWY_ROLE_OF(role)) {
	case HWY_ROLE_SYNC: return LOOK_WAIT;
	case HWY_ROLE_LAUNCH:
	case HWY_ROLE_GRAPH_LAUNCH: return LOOK_LAUNCH;
	case HWY_ROLE_COPY:
	case HWY_ROLE_FILL: return LOOK_API_COPY;
	case HWY_ROLE_ALLOC:
	case HWY_ROLE_FREE:
	case HWY_ROLE_PIN:
	case HWY_ROLE_MODULE: return LOOK_ALLOC;
	default: return LOOK_API;
	}
}

/* Sources name the state of a thread that has a CPU in few ways. */
static uint8_t look_of_state(const struct hwy_trace *trace, int64_t name)
{
	const char *text = hwy_str(trace, name);
	return strcasecmp(text, "running") == 0 || strcasecmp(text, "on-cpu") == 0 ? LOOK_RUNNING
										   : LOOK_STOPPED;
}

uint8_t look_of(struct hwy_trace *trace, enum hwy_kind kind, int64_t name)
{
	switch (kind) {
	case HWY_API: return look_of_call(trace, name);
	case HWY_KERNEL: return hwy_class(trace, kind, name) == HWY_COMM ? LOOK_COMM : LOOK_KERNEL;
	case HWY_COPY: return LOOK_COPY;
	case HWY_FILL: return LOOK_FILL;
	case HWY_GRAPH: return LOOK_GRAPH;
	case HWY_SYNC: return LOOK_SYNC;
	case HWY_EVENT: return LOOK_EVENT;
	case HWY_RANGE: return LOOK_RANGE;
	case HWY_OP: return LOOK_OP;
	case HWY_CALL: return LOOK_CALL;
	case HWY_OS: return LOOK_OS;
	case HWY_STATE: return look_of_state(trace, name);
	case HWY_MEMORY: return LOOK_MEMORY;
	case HWY_SAMPLE: return LOOK_SAMPLE;
	case HWY_COUNTER: return LOOK_COUNTER;
	default: return LOOK_OVERHEAD;
	}
}

unsigned busy_class(struct hwy_trace *trace, enum hwy_kind kind, int64_t name)
{
	return HWY_KIND_BIT(kind) & HWY_DEVICE_KINDS ? hwy_class(trace, kind, name)
						     : (unsigned)HWY_BUSY_OTHER;
}
