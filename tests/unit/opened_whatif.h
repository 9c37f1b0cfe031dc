/* SPDX-License-Identifier: Apache-2.0 */
/* opened_whatif.h - a made-up program, ready for edits. */
#ifndef HWY_TESTS_OPENED_WHATIF_H
#define HWY_TESTS_OPENED_WHATIF_H

#include "program.h"

#include "whatif/whatif.h"

struct opened {
	struct hwy_trace *trace;
	struct hwy_analysis analysis;
	struct whatif w;
};

static inline void open_whatif(struct opened *o, struct program *p, bool all)
{
	struct hwy_err err;
	struct analysis_options options = {0};
	program_end_step(p);
	o->trace = hwy_builder_finish(p->builder, false);
	assert_true(analysis_make(&o->analysis, o->trace, &options, &err));
	assert_true(whatif_open(&o->w, &o->analysis, o->analysis.phases.main, all, &err));
}

static inline void close_whatif(struct opened *o)
{
	whatif_close(&o->w);
	analysis_free(&o->analysis);
	hwy_trace_free(o->trace);
}

static inline int64_t predicted(const struct opened *o, const char *text)
{
	struct whatif_edit edit;
	struct whatif_prediction p;
	struct hwy_err err;
	assert_true(edit_read(text, &edit));
	return whatif_predict(&o->w, &edit, 1, &p, &err) ? p.step : -1;
}

static inline int64_t predicted_of(struct program *p, const char *text)
{
	struct opened o;
	open_whatif(&o, p, true);
	int64_t step = predicted(&o, text);
	close_whatif(&o);
	return step;
}

/* As if it had been measured where the program was recorded. */
static inline void calibrate(struct program *p, const char *name, int64_t value)
{
	uint32_t i = hwy_new_calibrations(p->builder);
	program_trace(p)->calibrations[i].name = hwy_text_id(p->builder, name);
	program_trace(p)->calibrations[i].value = value;
}

#endif
