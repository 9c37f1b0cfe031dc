/* span_names.c - copies, fills, waits and allocations have no name of their own in a trace; people want one. Such names have ids
 * behind those of the trace's texts. */
#include "serve/view.h"

enum {
	FILL = HWY_DIRECTIONS,
	EVENT,
	ALLOCATE,
	RELEASE,
	MEMORY,
	SYNC,
	NAMES = SYNC + HWY_SYNC_TYPES,
};
_Static_assert((int)NAMES == (int)NAMES_MADE, "view.h");

static const char *const made[NAMES] = {
	[HWY_DIR_UNKNOWN] = "copy",
	[HWY_H2D] = "copy host to device",
	[HWY_D2H] = "copy device to host",
	[HWY_H2A] = "copy host to array",
	[HWY_A2H] = "copy array to host",
	[HWY_A2A] = "copy array to array",
	[HWY_A2D] = "copy array to device",
	[HWY_D2A] = "copy device to array",
	[HWY_D2D] = "copy device to device",
	[HWY_H2H] = "copy host to host",
	[HWY_P2P] = "copy peer to peer",
	[HWY_UM_H2D] = "migration host to device",
	[HWY_UM_D2H] = "migration device to host",
	[HWY_UM_D2D] = "migration device to device",
	[FILL] = "fill",
	[EVENT] = "event recorded",
	[ALLOCATE] = "allocate",
	[RELEASE] = "release",
	[MEMORY] = "memory",
	[SYNC + HWY_SYNC_UNKNOWN] = "wait",
	[SYNC + HWY_SYNC_EVENT] = "wait for an event",
	[SYNC + HWY_SYNC_STREAM_WAIT] = "stream waits for an event",
	[SYNC + HWY_SYNC_STREAM] = "wait for a stream",
	[SYNC + HWY_SYNC_CONTEXT] = "wait for the device",
};

enum hwy_col name_column(enum hwy_kind kind)
{
	switch (kind) {
	case HWY_COPY: return HWY_DIRECTION;
	case HWY_SYNC: return HWY_SYNC_TYPE;
	case HWY_MEMORY: return HWY_OPERATION;
	default: return HWY_NAME;
	}
}

int64_t name_of(const struct hwy_trace *trace, enum hwy_kind kind, int64_t name, int64_t what)
{
	int64_t first = trace->strings.n;
	if (name != 0)
		return name;
	switch (kind) {
	case HWY_COPY: return first + what;
	case HWY_FILL: return first + FILL;
	case HWY_EVENT: return first + EVENT;
	case HWY_SYNC: return first + SYNC + what;
	case HWY_MEMORY:
		return first + (what == HWY_ALLOCATE  ? ALLOCATE
				: what == HWY_RELEASE ? RELEASE
						      : MEMORY);
	default: return 0;
	}
}

int64_t span_name(const struct hwy_trace *trace, const struct hwy_strip *strip, uint32_t row)
{
	int64_t name = hwy_get(strip, HWY_NAME, row);
	return name != 0 ? name
			 : name_of(trace, strip->kind, 0,
				   hwy_get(strip, name_column(strip->kind), row));
}

struct hwy_text name_text(const struct hwy_trace *trace, int64_t id)
{
	int64_t at = id - (int64_t)trace->strings.n;
	if (at < 0 || at >= NAMES || !made[at])
		return hwy_text(trace, id);
	return (struct hwy_text){made[at], (uint32_t)strlen(made[at])};
}
