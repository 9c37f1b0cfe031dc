/* SPDX-License-Identifier: Apache-2.0 */
/* job_facts.c - see job_facts.h. */
#include "job/job_facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_fields.h"
#include "base/memory_text.h"
#include "base/path.h"

#define PREFIX "job.rank."

static const struct json_field fact_fields[] = {
	{JSON_FIELD_INT(struct job_fact, rank, "rank")},
	{JSON_FIELD_TEXT(struct job_fact, file, "file")},
	{JSON_FIELD_TEXT(struct job_fact, host, "host")},
	{JSON_FIELD_ENUM(struct job_fact, source, "clock", job_clock_source_names,
			 JOB_CLOCK_SOURCES)},
	{JSON_FIELD_INT(struct job_fact, shift, "shift_ns")},
	{JSON_FIELD_INT(struct job_fact, drift, "drift_e12")},
	{JSON_FIELD_OPTIONAL_INT(struct job_fact, error, "error_ns")},
	{JSON_FIELD_INT(struct job_fact, compared, "compared")},
	{JSON_FIELD_INT(struct job_fact, repairs, "repairs")},
};

static void put_number(struct hwy_builder *b, const char *name, int64_t number)
{
	char text[32];
	snprintf(text, sizeof text, "%" PRId64, number);
	hwy_add_property(b, name, text);
}

void job_facts_put(struct hwy_builder *b, const struct hwy_job *job)
{
	put_number(b, "job.ranks", job->n);
	if (job->world != HWY_NONE)
		put_number(b, "job.world", job->world);
	for (uint32_t r = 0; r < job->n; r++) {
		const struct job_recording *rank = &job->ranks[r];
		struct job_fact fact = {
			.rank = rank->rank,
			.file = hwy_basename(rank->path),
			.host = job_host(rank),
			.source = rank->clock.source,
			.shift = rank->clock.shift,
			.drift = rank->clock.drift,
			.error = rank->clock.error,
			.compared = rank->clock.n,
			.repairs = rank->clock.n_repairs,
		};
		char name[48];
		snprintf(name, sizeof name, PREFIX "%" PRId64, rank->rank);
		struct memory_text memory;
		struct hwy_json json = {.out = memory_text_begin(&memory)};
		json_put_object(&json, JSON_FIELDS(fact_fields), &fact);
		char *text = memory_text_end(&memory);
		hwy_add_property(b, name, text);
		free(text);
	}
}

struct job_fact *job_facts_get(const struct hwy_trace *trace, uint32_t *n, struct hwy_arena *arena)
{
	struct job_fact *facts = hwy_arena_array(arena, trace->n_properties, sizeof *facts);
	*n = 0;
	for (uint32_t i = 0; i < trace->n_properties; i++) {
		struct hwy_err err;
		const char *name = hwy_str(trace, trace->properties[i].name);
		struct hwy_text value = hwy_text(trace, trace->properties[i].value);
		if (strncmp(name, PREFIX, strlen(PREFIX)) != 0)
			continue;
		const struct json_value *read = json_read(arena, value.at, value.length, &err);
		if (read && json_get_fields(read, JSON_FIELDS(fact_fields), &facts[*n], arena))
			++*n;
	}
	return facts;
}
