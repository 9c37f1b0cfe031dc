/* SPDX-License-Identifier: Apache-2.0 */
/* evidence.c - see evidence.h. */
#include "diagnose/evidence.h"

#include <stdlib.h>
#include <string.h>

#include "base/cpp_names.h"

bool evidence_is_there(struct hwy_case *c)
{
	struct hwy_metrics *metrics = analysis_metrics(c->analysis);
	for (uint32_t d = 0; metrics->n && d < c->flow->n_devices; d++)
		if (c->uses[d] &&
		    metrics_get(metrics, c->flow->devices[d].device, METRIC_SMS_ACTIVE))
			return true;
	return false;
}

bool evidence_of_ops(struct hwy_case *c,
		     bool (*is_it)(const struct hwy_case *c, uint32_t op, const void *what),
		     const void *what, struct evidence *evidence)
{
	struct hwy_metrics *metrics = analysis_metrics(c->analysis);
	struct inside_sums sums = {0};
	*evidence = (struct evidence){0};
	if (!evidence_is_there(c))
		return false;
	uint32_t first = flow_op_unfinished(c->flow, c->phase->window.from);
	struct hwy_interval *time = hwy_array(c->end_op - first, sizeof *time);
	for (uint32_t d = 0; d < c->flow->n_devices; d++) {
		int64_t device = c->flow->devices[d].device;
		struct hwy_cover cover = {0};
		uint32_t n = 0;
		if (!c->uses[d] || device < 0 || device >= c->trace->n_devices ||
		    inside_is_shared(metrics, c->flow, d, c->phase->window))
			continue;
		for (uint32_t i = first; i < c->end_op; i++) {
			const struct flow_op *op = &c->flow->ops[i];
			if (op->device != d || !case_op_is_ours(c, i) || !is_it(c, i, what))
				continue;
			const struct hwy_interval *window = &c->phase->window;
			int64_t from = op->start > window->from ? op->start : window->from;
			int64_t to = op->end < window->to ? op->end : window->to;
			if (to > from)
				n += cover_add(&cover, from, to, &time[n]);
		}
		inside_add(&sums, metrics, device, time, n, METRIC_PURE_SHARE);
	}
	free(time);
	evidence->samples = sums.samples;
	evidence->levels = inside_levels_of(&sums);
	return sums.samples >= METRICS_FEWEST_SAMPLES;
}

static bool op_has_name(const struct hwy_case *c, uint32_t op, const void *name)
{
	const struct flow_op *one = &c->flow->ops[op];
	return one->kind == HWY_KERNEL &&
	       case_get(c, one->span, HWY_NAME) == *(const int64_t *)name;
}

bool evidence_of_kernel(struct hwy_case *c, int64_t name, struct evidence *evidence)
{
	return evidence_of_ops(c, op_has_name, &name, evidence);
}

const char *evidence_name(struct hwy_case *c, int64_t name)
{
	enum { LONGEST = 60 };
	const char *text = hwy_skip_return_type(hwy_str(c->trace, name));
	bool is_long = strlen(text) > LONGEST;
	return hwy_arena_format(&c->diagnosis->arena, "%.*s%s", LONGEST, text, is_long ? "…" : "");
}
