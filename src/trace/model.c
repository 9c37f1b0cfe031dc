/* SPDX-License-Identifier: Apache-2.0 */
/* model.c - the names and column sets of model.h. */
#include "trace/model.h"

const char *const hwy_kind_names[HWY_KINDS] = {
	"api", "kernel", "copy", "fill",  "graph",  "sync",   "event",   "range",
	"op",  "call",   "os",   "state", "memory", "sample", "counter", "overhead",
};

#define B(col) HWY_COL_BIT(HWY_##col)
#define TIMED (B(START) | B(DUR) | B(NAME) | B(FLAGS) | B(ARGS))
#define LINKED (B(LINK) | B(CORR) | B(EXTERNAL))
#define WORK                                                                                       \
	(TIMED | LINKED | B(GRAPH_ID) | B(GRAPH_EXEC) | B(GRAPH_NODE) | B(CHANNEL) |               \
	 B(CHANNEL_TYPE) | B(QUEUED) | B(SUBMITTED))

const uint64_t hwy_kind_columns[HWY_KINDS] = {
	[HWY_API] = TIMED | B(CORR) | B(EXTERNAL) | B(RESULT) | B(STACK),
	[HWY_KERNEL] = WORK | B(SHAPE) | B(SYMBOL) | B(LAUNCH_TYPE),
	[HWY_COPY] = WORK | B(BYTES) | B(DIRECTION) | B(SRC_MEMORY) | B(DST_MEMORY) |
		     B(SRC_DEVICE) | B(DST_DEVICE) | B(SRC_CONTEXT) | B(DST_CONTEXT) | B(COUNT) |
		     B(CAUSE) | B(ADDRESS),
	[HWY_FILL] = WORK | B(BYTES) | B(VALUE) | B(DST_MEMORY),
	[HWY_GRAPH] = WORK,
	[HWY_SYNC] = TIMED | LINKED | B(SYNC_TYPE) | B(WAITED) | B(EVENT_ID) | B(EVENT_SYNC),
	[HWY_EVENT] = TIMED | LINKED | B(EVENT_ID) | B(EVENT_SYNC),
	[HWY_RANGE] = TIMED | B(CATEGORY) | B(COLOR) | B(PAYLOAD_TYPE) | B(PAYLOAD) | B(STYLE) |
		      B(END_THREAD) | B(ROW) | B(EXTERNAL) | B(SEQUENCE) | B(STACK),
	[HWY_OP] = TIMED | B(EXTERNAL) | B(SEQUENCE) | B(STACK),
	[HWY_CALL] = TIMED | B(ROW) | B(PARENT) | B(BYTES) | B(RESULT) | B(STACK),
	[HWY_OS] = TIMED | B(RESULT) | B(STACK) | B(NESTING) | B(ADDRESS) | B(BYTES),
	[HWY_STATE] = TIMED | B(CPU) | B(REASON),
	[HWY_MEMORY] = TIMED | LINKED | B(ADDRESS) | B(BYTES) | B(DST_MEMORY) | B(OPERATION) |
		       B(POOL) | B(STACK),
	[HWY_SAMPLE] = TIMED | B(STACK) | B(CPU) | B(WEIGHT) | B(REASON),
	[HWY_COUNTER] = B(START) | B(VALUE),
	[HWY_OVERHEAD] = TIMED | LINKED,
};

const char *const hwy_direction_names[HWY_DIRECTIONS] = {
	"Unknown",
	"Host-to-Device",
	"Device-to-Host",
	"Host-to-Array",
	"Array-to-Host",
	"Array-to-Array",
	"Array-to-Device",
	"Device-to-Array",
	"Device-to-Device",
	"Host-to-Host",
	"Peer-to-Peer",
	"Unified Host-to-Device",
	"Unified Device-to-Host",
	"Unified Device-to-Device",
};

const char *const hwy_memory_names[HWY_MEMORY_KINDS] = {
	"",        "Pageable",      "Pinned",         "Device",  "Array",
	"Managed", "Device Static", "Managed Static", "Unknown",
};

const char *const hwy_sync_names[HWY_SYNC_TYPES] = {
	"unknown", "event sync", "stream wait event", "stream sync", "context sync",
};

const char *const hwy_role_names[HWY_ROLES] = {
	"other", "launch",       "copy",        "fill",  "graph-launch",  "graph-build",
	"sync",  "event-record", "stream-wait", "query", "host-callback", "alloc",
	"free",  "pin",          "module",      "comm",
};

const char *const hwy_lane_type_names[HWY_LANE_TYPES] = {
	"stream", "sync",  "api",     "op",     "range",   "start-end range", "call",
	"os",     "state", "samples", "memory", "counter", "overhead",        "device range",
};

const char *const hwy_edge_kind_names[HWY_EDGE_KINDS] = {
	[HWY_EDGE_EVENT] = "event",
	[HWY_EDGE_FORWARD] = "forward",
	[HWY_EDGE_WAKE] = "wake",
	[HWY_EDGE_SPAWN] = "spawn",
	[HWY_EDGE_COLLECTIVE] = "collective",
	[HWY_EDGE_LAUNCH] = "launch",
	[HWY_EDGE_MESSAGE] = "message",
};
