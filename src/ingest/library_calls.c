/* SPDX-License-Identifier: Apache-2.0 */
/* library_calls.c - calls of libraries that wrappers recorded (REC_CALL): spans on a lane of the
 * thread that has the library's name.
 */
#include "ingest/ingest_internal.h"

uint32_t library_calls_lane(struct ingest *in, uint32_t process, uint32_t tid, const char *library)
{
	struct hwy_lane lane = hwy_lane_of(HWY_LANE_CALL, in->processes[process].record,
					   target_thread(in, process, tid));
	lane.name = hwy_text_id(in->b, library);
	return hwy_add_lane(in->b, lane);
}

static void library_calls_add_call(struct ingest *in, uint32_t process, uint32_t tid,
				   const struct rec_call *record)
{
	struct ingest_process *image = &in->processes[process];
	struct hwy_row row = {0};
	if (!ingest_times(in, record->start, record->duration, &row))
		return;
	const char *library = hwy_str(in->trace, ingest_text(in, image, record->library));
	row.v[HWY_NAME] = ingest_text(in, image, record->head.value);
	row.v[HWY_ARGS] = record->args ? ingest_text(in, image, record->args) : 0;
	/* A lane without a name would be the program's own functions. */
	hwy_add_span(in->b, library_calls_lane(in, process, tid, *library ? library : "library"),
		     HWY_CALL, &row);
}

void library_calls_add(struct ingest *in, uint32_t process, uint32_t tid,
		       const struct rec_head *record)
{
	if (record->type == REC_CALL && record->flags & REC_CALL_ARGUMENTS)
		ingest_nvtx_expect(in, process, (const void *)record);
	else if (record->type == REC_NVTX_PAYLOAD)
		ingest_nvtx_payload(in, (const void *)record);
	else if (record->type == REC_NVTX_SAMPLE)
		nvtx_values_add(in, process, (const void *)record);
	else
		library_calls_add_call(in, process, tid, (const void *)record);
}
