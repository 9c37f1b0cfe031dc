/* SPDX-License-Identifier: Apache-2.0 */
/* record_counters.h - the records of a spool about devices as seen from outside the program:
 * clocks, power and metrics over time. record.h lists their types and says how spools are laid
 * out.
 *
 * Only the watcher (run/counters/) writes them, into `counters.spool` (definitions) and
 * `counters.0.spool` (values), whose chunks have pid 0 like the parent's. Texts are REC_STRING
 * records of the same spools with ids from REC_COUNTER_FIRST_TEXT on; notes, properties and
 * drops are REC_NOTE, REC_PROPERTY and REC_DROP as everywhere.
 *
 * A value is an IEEE double, and holds from its time on until the next value of its lane. Not a
 * number: there was no value to be had at that time. The watcher sees all devices of the
 * machine: ingest keeps those that the program used, which it finds by their uuid.
 */
#ifndef HWY_SPOOL_RECORD_COUNTERS_H
#define HWY_SPOOL_RECORD_COUNTERS_H

#include "spool/record.h"

/* The first text id of the watcher; the ids of the journal and of perf events are below it. */
enum { REC_COUNTER_FIRST_TEXT = 1 << 20 };

/* Written again when more is known: a fact that is not 0 counts. */
struct rec_counter_device {
	struct rec_head head; /* head.value: the watcher's number of the device */
	uint8_t uuid[16];     /* as in struct rec_device */
	uint32_t name;        /* string id of the device's name */
	uint32_t power_limit_mw;
	uint32_t most_sm_mhz, most_memory_mhz; /* the highest clocks of the device */
	uint32_t spare[6];
};
static_assert(sizeof(struct rec_counter_device) == 2 * REC_SLOT, "two slots");

enum {
	REC_COUNTER_WHOLE = 1, /* head.flags: values are whole numbers, such as a mask of bits */
	/* head.flags: the user named the device. Where the recording has no device work at all
	 * (CUDA was not recorded), the lane is kept. */
	REC_COUNTER_ASKED = 2,
};
struct rec_counter_lane {
	struct rec_head head; /* head.value: the watcher's number of the lane */
	uint32_t device;      /* the watcher's number of the device */
	uint32_t name, unit;  /* string ids: "SM Clock", and the unit of values as recorded, "Hz" */
	uint32_t spare[3];
};
static_assert(sizeof(struct rec_counter_lane) == REC_SLOT, "one slot");

struct rec_counter_value {
	struct rec_head head; /* head.value: the number of the lane */
	int64_t time;
	double value;
	uint64_t spare;
};
static_assert(sizeof(struct rec_counter_value) == REC_SLOT, "one slot");

/* Values of several lanes at one time, for sources that have many. */
struct rec_counter_row {
	/* head.value: the lane of the first value; the next lane has the next number */
	struct rec_head head;
	int64_t time;
	uint32_t count; /* how many values follow, from byte 24 on */
	uint32_t spare;
	double values[];
};
static_assert(offsetof(struct rec_counter_row, values) == 24, "values follow the fixed part");

/* What a device counts since some time in the past; only differences mean something. Never
 * renumber. */
enum rec_counter_total_kind {
	REC_TOTAL_POWER_CAP,   /* ns in which the power limit held the clocks down */
	REC_TOTAL_SYNC_BOOST,  /* ns in which another GPU of the group held the clocks down */
	REC_TOTAL_SW_THERMAL,  /* ns in which the driver held the clocks down because of heat */
	REC_TOTAL_HW_THERMAL,  /* ns in which the hardware did so */
	REC_TOTAL_POWER_BRAKE, /* ns in which a signal of the power supply held the clocks down */
	REC_TOTAL_ENERGY,      /* mJ */
	REC_TOTAL_PCIE_SENT,   /* bytes */
	REC_TOTAL_PCIE_RECEIVED,
	REC_TOTALS
};
enum {
	/* head.flags: recording begins; what was counted since the reading before this one does
	 * not belong to it. */
	REC_TOTAL_FIRST = 1,
};
struct rec_counter_total {
	struct rec_head head; /* head.value: the watcher's number of the device */
	int64_t time;
	uint32_t kind; /* enum rec_counter_total_kind */
	uint32_t spare;
	uint64_t value;
};
static_assert(sizeof(struct rec_counter_total) == REC_SLOT, "one slot");

#endif
