/* SPDX-License-Identifier: Apache-2.0 */
/* ingest_counters.c - what the watcher saw of the GPUs: values become counter lanes, totals
 * become properties.
 *
 * The watcher sees every GPU of the machine. Only those count on which the program did
 * something; they are found by their uuid. (Where CUDA was not recorded: those that the user
 * named.) So all of this happens after the program's own records were read. Every value is a
 * span, also one that is equal to the value before it: where values are missing, a reader must
 * see that nothing is known.
 *
 * Properties, N being the device's number in the trace: gpu.N.lost.REASON_ns, gpu.N.energy_mj,
 * gpu.N.pcie_sent_bytes, gpu.N.pcie_received_bytes: counted while recording;
 * gpu.N.power_limit_mw, gpu.N.most_sm_clock_hz, gpu.N.most_memory_clock_hz: facts.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/ingest_internal.h"
#include "spool/record_counters.h"

enum { MOST_DEVICES = 1024, MOST_LANES = 64 * 1024 };

struct counter_device { /* a device of the watcher */
	const struct rec_counter_device *record;
	uint64_t power_limit_mw, most_sm_mhz, most_memory_mhz;
	bool is_used;
	uint32_t device; /* the trace's device, where is_used */
	struct counter_total {
		bool is_known; /* 'last' was read */
		bool has_sum;  /* there are two readings whose difference is in 'sum' */
		uint64_t last, sum;
	} totals[REC_TOTALS];
};

struct counter_lane { /* a lane of the watcher */
	const struct rec_counter_lane *record;
	uint32_t lane; /* the trace's lane, where is_made */
	bool is_made;
};

struct ingest_counters {
	struct counter_device *devices;
	struct counter_lane *lanes;
	uint32_t n_devices, n_lanes;
	struct ingest_list chunks; /* those with values, in the order of time */
};

static struct ingest_counters *counters_of(struct ingest *in)
{
	if (!in->counters)
		in->counters = hwy_zalloc(sizeof *in->counters);
	return in->counters;
}

/* ---- first pass ------------------------------------------------------------------------------ */

static void note_device(struct ingest_counters *counters, const struct rec_counter_device *record)
{
	uint32_t number = record->head.value;
	if (number >= MOST_DEVICES)
		return;
	if (number >= counters->n_devices) {
		counters->devices =
			hwy_resize(counters->devices, number + 1, sizeof *counters->devices);
		memset(counters->devices + counters->n_devices, 0,
		       (number + 1 - counters->n_devices) * sizeof *counters->devices);
		counters->n_devices = number + 1;
	}
	struct counter_device *device = &counters->devices[number];
	if (!device->record)
		device->record = record;
	if (record->power_limit_mw)
		device->power_limit_mw = record->power_limit_mw;
	if (record->most_sm_mhz)
		device->most_sm_mhz = record->most_sm_mhz;
	if (record->most_memory_mhz)
		device->most_memory_mhz = record->most_memory_mhz;
}

static void note_lane(struct ingest_counters *counters, const struct rec_counter_lane *record)
{
	uint32_t number = record->head.value;
	if (number >= MOST_LANES)
		return;
	if (number >= counters->n_lanes) {
		counters->lanes = hwy_resize(counters->lanes, number + 1, sizeof *counters->lanes);
		memset(counters->lanes + counters->n_lanes, 0,
		       (number + 1 - counters->n_lanes) * sizeof *counters->lanes);
		counters->n_lanes = number + 1;
	}
	counters->lanes[number].record = record;
}

void ingest_counters_note(struct ingest *in, const struct rec_head *record,
			  const struct spool_chunk *chunk)
{
	struct ingest_counters *counters = counters_of(in);
	struct ingest_list *chunks = &counters->chunks;
	if (record->type == REC_COUNTER_DEVICE)
		note_device(counters, (const void *)record);
	else if (record->type == REC_COUNTER_LANE)
		note_lane(counters, (const void *)record);
	else if (!chunks->n || chunks->items[chunks->n - 1] != chunk)
		ingest_list_add(chunks, chunk);
}

/* ---- which devices --------------------------------------------------------------------------- */

static bool is_used(const struct hwy_trace *trace, uint32_t device)
{
	for (uint32_t i = 0; i < trace->n_lanes; i++)
		if (trace->lanes[i].type == HWY_LANE_STREAM &&
		    trace->lanes[i].device == (int64_t)device)
			return true;
	return false;
}

static void find_device(struct ingest *in, struct counter_device *device)
{
	if (!device->record)
		return;
	const struct hwy_trace *trace = in->trace;
	uint32_t uuid = target_uuid_text(in, device->record->uuid);
	for (uint32_t d = 0; d < trace->n_devices; d++)
		if (trace->devices[d].uuid == (int64_t)uuid && is_used(trace, d)) {
			device->device = d;
			device->is_used = true;
		}
}

static bool any_is_used(const struct hwy_trace *trace)
{
	for (uint32_t i = 0; i < trace->n_lanes; i++)
		if (trace->lanes[i].type == HWY_LANE_STREAM)
			return true;
	return false;
}

/* Without device work nobody can tell which devices the program used: those count that the user
 * named. */
static void keep_asked(struct ingest *in)
{
	struct ingest_counters *counters = in->counters;
	if (any_is_used(in->trace))
		return;
	for (uint32_t i = 0; i < counters->n_lanes; i++) {
		const struct rec_counter_lane *lane = counters->lanes[i].record;
		struct counter_device *device = lane && lane->device < counters->n_devices
							? &counters->devices[lane->device]
							: NULL;
		if (!device || !device->record || device->is_used ||
		    !(lane->head.flags & REC_COUNTER_ASKED))
			continue;
		uint32_t uuid = target_uuid_text(in, device->record->uuid);
		uint32_t name = ingest_text(in, &in->run, device->record->name);
		device->device = hwy_new_devices(in->b);
		device->is_used = true;
		struct hwy_device *made = &in->trace->devices[device->device];
		made->host = in->host;
		made->ordinal = lane->device;
		made->uuid = uuid;
		made->name = name ? (int64_t)name : HWY_NONE;
	}
}

/* ---- values ---------------------------------------------------------------------------------- */

static int64_t counter_bits(const struct counter_lane *lane, double value)
{
	int64_t bits;
	if (lane->record->head.flags & REC_COUNTER_WHOLE)
		return value >= 0 && value < 0x1p63 ? (int64_t)value : 0;
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static bool make_lane(struct ingest *in, struct counter_lane *lane)
{
	const struct ingest_counters *counters = in->counters;
	const struct rec_counter_lane *record = lane->record;
	if (!record || record->device >= counters->n_devices ||
	    !counters->devices[record->device].is_used)
		return false;
	if (lane->is_made)
		return true;
	bool is_whole = record->head.flags & REC_COUNTER_WHOLE;
	struct hwy_lane made = hwy_lane_of(HWY_LANE_COUNTER, HWY_NONE, HWY_NONE);
	made.device = counters->devices[record->device].device;
	made.name = ingest_text(in, &in->run, record->name);
	made.unit = ingest_text(in, &in->run, record->unit);
	made.value_type = is_whole ? HWY_PAYLOAD_I64 : HWY_PAYLOAD_DOUBLE;
	lane->lane = hwy_add_lane(in->b, made);
	lane->is_made = true;
	return true;
}

static void add_value(struct ingest *in, uint32_t number, int64_t time, double value)
{
	struct ingest_counters *counters = in->counters;
	struct counter_lane *lane = number < counters->n_lanes ? &counters->lanes[number] : NULL;
	/* What the GPU did after the program's last record does not belong to the run. */
	if (!lane || !isfinite(value) || (in->run_end && time > in->run_end) ||
	    !make_lane(in, lane))
		return;
	struct hwy_row row = {0};
	if (!ingest_times(in, time, 0, &row))
		return;
	row.v[HWY_VALUE] = counter_bits(lane, value);
	hwy_add_span(in->b, lane->lane, HWY_COUNTER, &row);
}

static void add_total(struct ingest *in, const struct rec_counter_total *record)
{
	struct ingest_counters *counters = in->counters;
	if (record->head.value >= counters->n_devices || record->kind >= REC_TOTALS ||
	    !ingest_is_time(in, record->time) || record->time < in->cut)
		return;
	struct counter_total *total = &counters->devices[record->head.value].totals[record->kind];
	bool goes_on = total->is_known && !(record->head.flags & REC_TOTAL_FIRST);
	/* A count that went back was reset, or has run over: what lies between is not known. */
	if (goes_on && record->value >= total->last) {
		total->sum += record->value - total->last;
		total->has_sum = true;
	}
	total->last = record->value;
	total->is_known = true;
}

static void counters_read_chunk(struct ingest *in, const struct spool_chunk *chunk)
{
	struct spool_cursor cursor = spools_walk(chunk);
	while (spools_next(&cursor)) {
		const struct rec_counter_value *value = (const void *)cursor.record;
		const struct rec_counter_row *row = (const void *)cursor.record;
		if (cursor.record->type == REC_COUNTER_VALUE)
			add_value(in, value->head.value, value->time, value->value);
		else if (cursor.record->type == REC_COUNTER_TOTAL)
			add_total(in, (const void *)cursor.record);
		else if (cursor.record->type == REC_COUNTER_ROW)
			for (uint32_t i = 0; i < row->count && i <= UINT32_MAX - row->head.value;
			     i++)
				add_value(in, row->head.value + i, row->time, row->values[i]);
	}
}

/* ---- properties ------------------------------------------------------------------------------ */

static void put_property(struct ingest *in, uint32_t device, const char *name, uint64_t value)
{
	char key[64], text[32];
	snprintf(key, sizeof key, "gpu.%u.%s", device, name);
	snprintf(text, sizeof text, "%" PRIu64, value);
	hwy_add_property(in->b, key, text);
}

static void report_device(struct ingest *in, const struct counter_device *device)
{
	static const char *const names[REC_TOTALS] = {
		[REC_TOTAL_POWER_CAP] = "lost.power_cap_ns",
		[REC_TOTAL_SYNC_BOOST] = "lost.sync_boost_ns",
		[REC_TOTAL_SW_THERMAL] = "lost.sw_thermal_ns",
		[REC_TOTAL_HW_THERMAL] = "lost.hw_thermal_ns",
		[REC_TOTAL_POWER_BRAKE] = "lost.power_brake_ns",
		[REC_TOTAL_ENERGY] = "energy_mj",
		[REC_TOTAL_PCIE_SENT] = "pcie_sent_bytes",
		[REC_TOTAL_PCIE_RECEIVED] = "pcie_received_bytes",
	};
	for (uint32_t kind = 0; kind < REC_TOTALS; kind++)
		if (device->totals[kind].has_sum)
			put_property(in, device->device, names[kind], device->totals[kind].sum);
	if (device->power_limit_mw)
		put_property(in, device->device, "power_limit_mw", device->power_limit_mw);
	if (device->most_sm_mhz)
		put_property(in, device->device, "most_sm_clock_hz", device->most_sm_mhz * 1000000);
	if (device->most_memory_mhz)
		put_property(in, device->device, "most_memory_clock_hz",
			     device->most_memory_mhz * 1000000);
}

void ingest_counters_finish(struct ingest *in)
{
	struct ingest_counters *counters = in->counters;
	if (!counters)
		return;
	for (uint32_t i = 0; i < counters->n_devices; i++)
		find_device(in, &counters->devices[i]);
	keep_asked(in);
	for (uint32_t i = 0; i < counters->chunks.n; i++)
		counters_read_chunk(in, counters->chunks.items[i]);
}

void ingest_counters_report(struct ingest *in)
{
	struct ingest_counters *counters = in->counters;
	if (!counters)
		return;
	for (uint32_t i = 0; i < counters->n_devices; i++)
		if (counters->devices[i].is_used)
			report_device(in, &counters->devices[i]);
	free(counters->devices);
	free(counters->lanes);
	free(counters->chunks.items);
	free(counters);
	in->counters = NULL;
}
