/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_values.c - counters of NVTX: every number of a counter, or of a group of counters, is a
 * counter lane of the process.
 *
 * A lane is named after the counter, and in a group also after its entry; counters of a domain
 * have the domain's name before them, "MyLib:queue length". Values are whole numbers or reals,
 * as their type is; a counter that gets both has reals. Values that are not there (NVTX's
 * "unavailable") leave the lane as it was.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ingest/nvtx_schemas.h"

struct nvtx_counter_lane {
	/* The key of an index, without padding. */
	uint64_t counter;
	uint32_t process, domain;
	uint32_t entry; /* index in the group's schema; 0 of a counter without a group */
	uint32_t is_real;
	uint32_t lane;
	int64_t last; /* the last value */
};
enum { KEY_BYTES = offsetof(struct nvtx_counter_lane, lane) };
struct nvtx_values {
	struct hwy_index lane_of;
	struct nvtx_counter_lane *lanes;
	uint32_t n, cap;
	uint64_t unknown; /* samples of counters that nobody registered */
};

/* One number of a sample. */
struct value {
	struct nvtx_scalar scalar;
	uint32_t entry, name, unit; /* the group's entry: its name and unit as texts of the trace */
};

static uint32_t lane_name(struct ingest *in, uint32_t process, uint32_t domain, const char *counter,
			  const char *entry)
{
	struct ingest_process *image = &in->processes[process];
	const uint32_t *ref = domain ? hwy_map_get(&image->domains, domain) : NULL;
	char *text = NULL;
	if (asprintf(&text, "%s%s%s%s%s", ref ? hwy_str(in->trace, hwy_ref32_index(*ref)) : "",
		     ref ? ":" : "", counter, *entry && *counter ? " " : "", entry) < 0)
		return 0;
	uint32_t name = hwy_text_id(in->b, text);
	free(text);
	return name;
}

static struct nvtx_counter_lane *lane_of(struct ingest *in, uint32_t process,
					 const struct rec_nvtx_definition *counter,
					 struct ingest_process *owner, const struct value *value,
					 bool is_real)
{
	struct nvtx_values *values = in->nvtx_values;
	struct nvtx_counter_lane key = {.counter = counter->id,
					.process = process,
					.domain = counter->domain,
					.entry = value->entry,
					.is_real = is_real};
	bool fresh;
	uint32_t *index = hwy_index_put(&values->lane_of, &key, KEY_BYTES, &fresh);
	if (!fresh)
		return &values->lanes[*index];
	*index = values->n;
	struct hwy_lane lane =
		hwy_lane_of(HWY_LANE_COUNTER, in->processes[process].record, HWY_NONE);
	const char *name = hwy_str(in->trace, ingest_text(in, owner, counter->head.value));
	lane.name = lane_name(in, process, counter->domain, name, hwy_str(in->trace, value->name));
	uint32_t unit = counter->unit ? ingest_text(in, owner, counter->unit) : 0;
	lane.unit = value->unit ? value->unit : unit;
	lane.value_type = is_real ? HWY_PAYLOAD_DOUBLE : HWY_PAYLOAD_I64;
	key.lane = hwy_add_lane(in->b, lane);
	HWY_GROW(values->lanes, values->n, values->cap);
	values->lanes[values->n] = key;
	return &values->lanes[values->n++];
}

static void nvtx_values_add_one(struct ingest *in, uint32_t process,
				const struct rec_nvtx_sample *record,
				const struct rec_nvtx_definition *counter,
				struct ingest_process *owner, const struct value *value)
{
	struct hwy_row *row = &in->rows[HWY_COUNTER];
	struct nvtx_scalar scalar = value->scalar;
	double scale = counter->scale ? (double)(counter->scale & UINT32_MAX) /
						(double)(counter->scale >> 32)
				      : 1;
	bool is_real = scalar.is == NVTX_REAL || counter->scale;
	if (is_real) {
		double real = scalar.is == NVTX_REAL     ? scalar.real
			      : scalar.is == NVTX_SIGNED ? (double)scalar.whole
							 : (double)(uint64_t)scalar.whole;
		real *= scale;
		memcpy(&scalar.whole, &real, sizeof scalar.whole);
	}
	struct nvtx_counter_lane *lane = lane_of(in, process, counter, owner, value, is_real);
	if (!ingest_times(in, record->time, 0, row))
		return;
	row->v[HWY_VALUE] = lane->last = scalar.whole;
	hwy_add_span(in->b, lane->lane, HWY_COUNTER, row);
}

/* Adds the numbers of a group's sample, entry by entry. */
static void nvtx_values_add_group(struct ingest *in, uint32_t process,
				  const struct rec_nvtx_sample *record,
				  const struct rec_nvtx_definition *counter,
				  struct ingest_process *owner)
{
	struct ingest_process *schema_owner;
	const struct rec_nvtx_definition *schema = nvtx_definition(
		in, process, REC_NVTX_SCHEMA, counter->domain, counter->of, &schema_owner);
	const struct rec_nvtx_entry *entries = NULL;
	const uint8_t *bytes = (const uint8_t *)(record + 1);
	uint32_t n = schema ? nvtx_entries(schema, &entries) : 0;
	uint64_t at = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t size = rec_nvtx_type_size(entries[i].type);
		bool is_array = entries[i].flags & REC_NVTX_FLAG_ARRAY;
		at = entries[i].offset || i == 0 ? entries[i].offset
		     : size                      ? (at + size - 1) / size * size
						 : at;
		if (!size || is_array || at > record->value || size > record->value - at)
			return;
		struct value value = {
			.scalar = nvtx_scalar(entries[i].type, bytes + at),
			.entry = i,
			.name = ingest_text(in, schema_owner, entries[i].name),
			.unit = entries[i].unit ? ingest_text(in, schema_owner, entries[i].unit)
						: 0,
		};
		if (value.scalar.is != NVTX_NOT_SCALAR)
			nvtx_values_add_one(in, process, record, counter, owner, &value);
		at += size;
	}
}

/* The last value of a counter once more, in every lane that it has. */
static void repeat_value(struct ingest *in, uint32_t process, const struct rec_nvtx_sample *record,
			 uint32_t domain, bool is_zero)
{
	struct nvtx_values *values = in->nvtx_values;
	struct hwy_row *row = &in->rows[HWY_COUNTER];
	for (uint32_t i = 0; i < values->n; i++) {
		struct nvtx_counter_lane *lane = &values->lanes[i];
		if (lane->counter != record->counter || lane->process != process ||
		    lane->domain != domain || !ingest_times(in, record->time, 0, row))
			continue;
		row->v[HWY_VALUE] = is_zero ? 0 : lane->last;
		hwy_add_span(in->b, lane->lane, HWY_COUNTER, row);
	}
}

static void nvtx_values_add_bytes(struct ingest *in, uint32_t process,
				  const struct rec_nvtx_sample *record,
				  const struct rec_nvtx_definition *counter,
				  struct ingest_process *owner)
{
	uint32_t size = rec_nvtx_type_size(counter->of);
	if (size && record->value >= size) {
		struct value value = {
			.scalar = nvtx_scalar(counter->of, (const uint8_t *)(record + 1))};
		if (value.scalar.is != NVTX_NOT_SCALAR)
			nvtx_values_add_one(in, process, record, counter, owner, &value);
	} else if (!size) {
		nvtx_values_add_group(in, process, record, counter, owner);
	}
}

void nvtx_values_add(struct ingest *in, uint32_t process, const struct rec_nvtx_sample *record)
{
	enum { IS_ZERO = 0, IS_UNCHANGED = 1 };
	struct ingest_process *owner;
	if (!in->nvtx_values)
		in->nvtx_values = hwy_zalloc(sizeof *in->nvtx_values);
	const struct rec_nvtx_definition *counter = nvtx_definition(
		in, process, REC_NVTX_COUNTER, record->head.value, record->counter, &owner);
	if (!counter) {
		in->nvtx_values->unknown++;
		return;
	}
	struct value value = {.scalar = {.is = NVTX_SIGNED, .whole = (int64_t)record->value}};
	switch (record->head.flags) {
	case REC_NVTX_FLOAT64:
		value.scalar.is = NVTX_REAL;
		memcpy(&value.scalar.real, &record->value, sizeof value.scalar.real);
		nvtx_values_add_one(in, process, record, counter, owner, &value);
		break;
	case REC_NVTX_INT64:
		nvtx_values_add_one(in, process, record, counter, owner, &value);
		break;
	case REC_NVTX_BYTES: nvtx_values_add_bytes(in, process, record, counter, owner); break;
	default:
		if (record->value <= IS_UNCHANGED)
			repeat_value(in, process, record, counter->domain,
				     record->value == IS_ZERO);
	}
}

void nvtx_values_finish(struct ingest *in)
{
	struct nvtx_values *values = in->nvtx_values;
	nvtx_schemas_free(in);
	if (!values)
		return;
	if (values->unknown)
		ingest_note_diagnostic(in, 1, HWY_NONE,
				       "%llu samples of NVTX counters that were registered before "
				       "the recording are left out",
				       (unsigned long long)values->unknown);
	hwy_index_free(&values->lane_of);
	free(values->lanes);
	free(values);
	in->nvtx_values = NULL;
}
