/* SPDX-License-Identifier: Apache-2.0 */
/* ingest_python.c - adds the spans of Python's garbage collections.
 *
 * A collection is a range "gc generation N" of the domain "Python" on its thread, its payload is
 * the number of objects that it freed. The domain is the interpreter's: no analysis takes its
 * ranges for marks of the program.
 */
#include <stdio.h>

#include "ingest/ingest_internal.h"
#include "spool/record_frameworks.h"

/* The lane of a thread's collections. */
static uint32_t python_lane(struct ingest *in, uint32_t thread)
{
	bool fresh;
	uint32_t *index = hwy_map_put(&in->python_lanes, thread, &fresh);
	if (fresh) {
		const struct ingest_process *process = &in->processes[in->threads[thread].process];
		struct hwy_lane lane = hwy_lane_of(HWY_LANE_RANGE, process->record, thread);
		lane.name = hwy_text_id(in->b, HWY_DOMAIN_PYTHON);
		*index = hwy_add_lane(in->b, lane);
	}
	return *index;
}

void ingest_python_add(struct ingest *in, uint32_t process, uint32_t tid,
		       const struct rec_collection *record)
{
	char name[32];
	/* A row of its own: ranges of NVTX share theirs, and have no stack (ingest.rows). */
	struct hwy_row row = {0};
	if (!ingest_times(in, record->start, ingest_duration(record->duration), &row))
		return;
	snprintf(name, sizeof name, HWY_COLLECTION_NAME "%u", record->head.value);
	row.v[HWY_NAME] = hwy_text_id(in->b, name);
	row.v[HWY_STYLE] = HWY_PUSHPOP;
	row.v[HWY_PAYLOAD_TYPE] = HWY_PAYLOAD_U64;
	row.v[HWY_PAYLOAD] = record->collected;
	row.v[HWY_STACK] = stacks_find_at(in, &in->processes[process], tid, record->start);
	hwy_add_span(in->b, python_lane(in, target_thread(in, process, tid)), HWY_RANGE, &row);
}
