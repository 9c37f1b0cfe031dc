/* SPDX-License-Identifier: Apache-2.0 */
/* job_meetings.c - see job_meetings.h. */
#include "job/job_meetings.h"

#include <stdlib.h>

#include "base/mem.h"

static int64_t map_to_first(const void *clock, int64_t time)
{
	return job_clock_map(clock, time);
}

/* Whether kernels of the trace communicate and no message says what they do. Then only the flow,
 * which takes long to open, knows them. */
static bool needs_flow(const struct hwy_trace *trace)
{
	uint32_t row;
	for (uint32_t i = 0; i < trace->n_messages; i++) {
		int64_t span = trace->messages[i].span;
		if (span >= 0 && span < trace->n_spans &&
		    hwy_strip_of(trace, (uint32_t)span, &row)->kind == HWY_KERNEL)
			return false;
	}
	bool has_kernels = false, has_comm = false;
	for (uint32_t s = 0; s < trace->n_strips && !has_kernels; s++)
		has_kernels = trace->strips[s].kind == HWY_KERNEL && trace->strips[s].rows > 0;
	for (uint32_t i = 0; i < trace->strings.n && has_kernels && !has_comm; i++)
		has_comm = hwy_name_is_comm(trace->strings.texts[i].at);
	return has_comm;
}

static bool meetings_open_ranks(struct job_meetings *m, struct hwy_job *job, struct hwy_err *err)
{
	for (uint32_t r = 0; r < m->n; r++) {
		struct job_recording *rank = &job->ranks[r];
		if (needs_flow(rank->trace)) {
			if (!flow_open(&m->flows[r], rank->trace, err))
				return false;
			m->has_flow[r] = true;
		}
		m->clocks[r] = (struct exchange_clock){map_to_first, &rank->clock};
		m->ranks[r] = (struct collectives_rank){
			.flow = m->has_flow[r] ? &m->flows[r] : NULL,
			.process = FLOW_NO_PROCESS,
			.trace = rank->trace,
			.number = hwy_ref(rank->rank),
		};
	}
	return true;
}

bool job_meetings_find(struct job_meetings *m, struct hwy_job *job, bool has_clocks,
		       struct hwy_err *err)
{
	*m = (struct job_meetings){
		.n = job->n,
		.ranks = hwy_zarray(job->n, sizeof *m->ranks),
		.clocks = hwy_zarray(job->n, sizeof *m->clocks),
		.flows = hwy_zarray(job->n, sizeof *m->flows),
		.has_flow = hwy_zarray(job->n, sizeof *m->has_flow),
	};
	bool done = meetings_open_ranks(m, job, err) && job_meetings_match(m, has_clocks, err);
	if (!done)
		job_meetings_free(m);
	return done;
}

bool job_meetings_match(struct job_meetings *m, bool has_clocks, struct hwy_err *err)
{
	collectives_free(&m->collectives);
	p2p_free(&m->p2p);
	for (uint32_t r = 0; r < m->n; r++)
		m->ranks[r].clock = has_clocks ? &m->clocks[r] : NULL;
	return collectives_match(&m->collectives, m->ranks, m->n, err) &&
	       p2p_match(&m->p2p, m->ranks, m->n, err);
}

void job_meetings_free(struct job_meetings *m)
{
	collectives_free(&m->collectives);
	p2p_free(&m->p2p);
	for (uint32_t r = 0; r < m->n; r++)
		if (m->has_flow[r])
			flow_close(&m->flows[r]);
	free(m->ranks);
	free(m->clocks);
	free(m->flows);
	free(m->has_flow);
	*m = (struct job_meetings){0};
}

int64_t job_meetings_span(const struct job_meetings *m, const struct meeting_part *part)
{
	if (part->op != FLOW_NONE && m->has_flow[part->rank])
		return m->flows[part->rank].ops[part->op].span;
	return part->message == FLOW_NONE
		       ? HWY_NONE
		       : m->ranks[part->rank].trace->messages[part->message].span;
}
