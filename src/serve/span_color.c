/* SPDX-License-Identifier: Apache-2.0 */
/* span_color.c - how a span is drawn: API calls by their role, other spans by their kind. */
#include <strings.h>

#include "serve/view.h"
#include "trace/pyramid.h"

static uint8_t color_of_call(struct hwy_trace *trace, int64_t name)
{
	unsigned role = hwy_role(trace, name);
	switch (HWY_ROLE_OF(role)) {
	case HWY_ROLE_SYNC: return COLOR_WAIT;
	case HWY_ROLE_LAUNCH:
	case HWY_ROLE_GRAPH_LAUNCH: return COLOR_LAUNCH;
	case HWY_ROLE_COPY:
	case HWY_ROLE_FILL: return COLOR_API_COPY;
	case HWY_ROLE_ALLOC:
	case HWY_ROLE_FREE:
	case HWY_ROLE_PIN:
	case HWY_ROLE_MODULE: return COLOR_ALLOC;
	default: return COLOR_API;
	}
}

/* Importers name the state of a thread that has a CPU "running" or "on-cpu". */
static uint8_t color_of_state(const struct hwy_trace *trace, int64_t name)
{
	const char *text = hwy_str(trace, name);
	return strcasecmp(text, "running") == 0 || strcasecmp(text, "on-cpu") == 0 ? COLOR_RUNNING
										   : COLOR_STOPPED;
}

uint8_t span_color(struct hwy_trace *trace, enum hwy_kind kind, int64_t name)
{
	switch (kind) {
	case HWY_API: return color_of_call(trace, name);
	case HWY_KERNEL:
		return hwy_class(trace, kind, name) == HWY_COMM ? COLOR_COMM : COLOR_KERNEL;
	case HWY_COPY: return COLOR_COPY;
	case HWY_FILL: return COLOR_FILL;
	case HWY_GRAPH: return COLOR_GRAPH;
	case HWY_SYNC: return COLOR_SYNC;
	case HWY_EVENT: return COLOR_EVENT;
	case HWY_RANGE: return COLOR_RANGE;
	case HWY_OP: return COLOR_OP;
	case HWY_CALL: return COLOR_CALL;
	case HWY_OS: return COLOR_OS;
	case HWY_STATE: return color_of_state(trace, name);
	case HWY_MEMORY: return COLOR_MEMORY;
	case HWY_SAMPLE: return COLOR_SAMPLE;
	case HWY_COUNTER: return COLOR_COUNTER;
	default: return COLOR_OVERHEAD;
	}
}

unsigned span_color_busy_class(struct hwy_trace *trace, enum hwy_kind kind, int64_t name)
{
	return HWY_KIND_BIT(kind) & HWY_DEVICE_KINDS ? hwy_class(trace, kind, name)
						     : (unsigned)HWY_BUSY_OTHER;
}
