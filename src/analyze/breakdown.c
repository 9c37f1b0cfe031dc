/* SPDX-License-Identifier: Apache-2.0 */
/* breakdown.c - see breakdown.h. */
#include "analyze/breakdown.h"

#include <stdlib.h>

bool breakdown_measure(struct hwy_trace *trace, const struct hwy_breakdown_options *options,
		       struct hwy_breakdown *breakdown, struct hwy_err *err)
{
	struct hwy_work work;
	*breakdown = (struct hwy_breakdown){0};
	bool done = work_open(&work, trace, options->scope, err);
	if (done) {
		devices_measure(&work, options, breakdown);
		streams_measure(&work, options, breakdown);
		done = tensorboard_steps_measure(&work, breakdown, err);
	}
	work_close(&work);
	if (!done)
		breakdown_free(breakdown);
	return done;
}

void breakdown_free(struct hwy_breakdown *breakdown)
{
	for (uint32_t i = 0; i < breakdown->n_devices; i++)
		free(breakdown->devices[i].cells);
	for (uint32_t i = 0; i < breakdown->n_streams; i++)
		free(breakdown->streams[i].queue.series);
	free(breakdown->devices);
	free(breakdown->streams);
	free(breakdown->steps);
	*breakdown = (struct hwy_breakdown){0};
}
