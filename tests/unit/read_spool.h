/* SPDX-License-Identifier: Apache-2.0 */
/* read_spool.h - the traces of runs made by hand. Include it behind cmocka.h. */
#ifndef HWY_TESTS_READ_SPOOL_H
#define HWY_TESTS_READ_SPOOL_H

#include "make_spool.h"

/* The trace of a run, which is removed. */
static inline struct hwy_trace *ingest(const struct made_run *run)
{
	struct hwy_err err = {""};
	write_control(run);
	struct hwy_trace *trace = ingest_run(run->path, NULL, &err);
	if (!trace)
		fail_msg("%s", err.text);
	remove_run(run);
	return trace;
}

/* The only strip of a kind. */
static inline const struct hwy_strip *only(const struct hwy_trace *trace, enum hwy_kind kind)
{
	const struct hwy_strip *found = NULL;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (trace->strips[s].kind == (uint32_t)kind) {
			assert_null(found);
			found = &trace->strips[s];
		}
	assert_non_null(found);
	return found;
}

#endif
