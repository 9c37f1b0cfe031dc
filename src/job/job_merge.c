/* SPDX-License-Identifier: Apache-2.0 */
/* job_merge.c - see job_merge.h. */
#include "job/job_merge.h"

#include <stdlib.h>

#include "base/mem.h"
#include "job/job_facts.h"
#include "job/job_meetings.h"
#include "trace/append.h"

static int64_t map_time(const void *clock, int64_t time)
{
	return job_clock_map(clock, time);
}

/* Every host counts its devices from 0. People tell devices by their numbers, so those of a job
 * get one number each; the number that a process knows its device by is in its streams. */
static void number_devices(struct hwy_trace *trace)
{
	bool are_different = true;
	for (uint32_t i = 0; i < trace->n_devices; i++)
		for (uint32_t k = 0; k < i; k++)
			are_different &= trace->devices[i].ordinal != trace->devices[k].ordinal;
	for (uint32_t i = 0; i < trace->n_devices && !are_different; i++)
		trace->devices[i].ordinal = i;
}

/* Hosts, and containers of one host, give the same pid to different processes; files for other
 * tools tell processes by their pids. */
static void separate_pids(struct hwy_trace *trace)
{
	enum { MORE_THAN_PIDS = 10000000 }; /* Linux has at most 2^22 */
	struct hwy_map seen = {0};
	for (uint32_t p = 0; p < trace->n_processes; p++) {
		struct hwy_process *process = &trace->processes[p];
		bool fresh;
		if (process->pid < 0 || process->pid >= MORE_THAN_PIDS)
			continue;
		hwy_map_put(&seen, (uint64_t)process->pid, &fresh);
		if (!fresh && process->rank >= 0 && process->rank < INT32_MAX)
			process->pid += MORE_THAN_PIDS * (process->rank + 1);
	}
	hwy_map_free(&seen);
}

/* All processes are kept, but with a list of them only the devices that they use are: every rank
 * lists all devices of its host. */
static bool append_rank(struct hwy_builder *b, struct job_recording *rank, struct hwy_ref **places,
			struct hwy_err *err)
{
	bool *all = hwy_array(rank->trace->n_processes, sizeof *all);
	for (uint32_t p = 0; p < rank->trace->n_processes; p++)
		all[p] = true;
	struct hwy_append how = {.keep = all,
				 .map = map_time,
				 .clock = &rank->clock,
				 .rank = rank->rank,
				 .places = places};
	bool done = hwy_append(b, rank->trace, &how, err);
	free(all);
	return done;
}

/* ---- what ties ranks to each other ----------------------------------------------------------- */

struct merging {
	struct hwy_builder *b;
	struct hwy_job *job;
	struct hwy_ref **places; /* by rank: what hwy_append left */
	int64_t next_id;
};

static void add_rank_edge(struct merging *m, enum hwy_edge_kind kind, uint32_t from,
			  int64_t from_span, uint32_t to, int64_t to_span)
{
	struct hwy_ref a, b;
	if (hwy_appended(m->job->ranks[from].trace, m->places[from], from_span, &a) &&
	    hwy_appended(m->job->ranks[to].trace, m->places[to], to_span, &b))
		hwy_add_edge(m->b, kind, a, b, m->next_id++);
}

static void add_collective_edges(struct merging *m, const struct job_meetings *meetings)
{
	const struct hwy_collectives *c = &meetings->collectives;
	for (uint32_t i = 0; i < c->n; i++) {
		const struct hwy_meeting *meeting = &c->meetings[i];
		for (uint32_t p = meeting->first; p < meeting->first + meeting->n; p++) {
			uint32_t culprit = p;
			if (collectives_awaited(c, meeting, p, &culprit) == INT64_MIN ||
			    culprit == p)
				continue;
			add_rank_edge(m, HWY_EDGE_COLLECTIVE, c->parts[culprit].rank,
				      job_meetings_span(meetings, &c->parts[culprit]),
				      c->parts[p].rank, job_meetings_span(meetings, &c->parts[p]));
		}
	}
}

static void add_message_edges(struct merging *m, const struct hwy_p2p *p2p)
{
	for (uint32_t i = 0; i < p2p->n; i++) {
		const struct p2p_pair *pair = &p2p->pairs[i];
		const struct hwy_message *sent =
			&m->job->ranks[pair->sender].trace->messages[pair->send];
		const struct hwy_message *received =
			&m->job->ranks[pair->receiver].trace->messages[pair->receive];
		add_rank_edge(m, HWY_EDGE_MESSAGE, pair->sender, sent->span, pair->receiver,
			      received->done != HWY_NONE ? received->done : received->span);
	}
}

/* ---- the trace ------------------------------------------------------------------------------- */

static void add_problems(struct hwy_builder *b, const struct hwy_job *job)
{
	for (uint32_t i = 0; i < job->n_problems; i++) {
		uint32_t index = hwy_new_diagnostics(b);
		struct hwy_diagnostic *diagnostic = &hwy_builder_trace(b)->diagnostics[index];
		diagnostic->severity = 2;
		diagnostic->text = hwy_text_id(b, job->problems[i]);
	}
}

static bool merge_ranks(struct merging *m, const struct hwy_progress *progress, struct hwy_err *err)
{
	struct job_meetings meetings;
	if (!job_meetings_find(&meetings, m->job, true, err))
		return false;
	bool done = true;
	for (uint32_t r = 0; r < m->job->n && done; r++) {
		done = append_rank(m->b, &m->job->ranks[r], &m->places[r], err);
		hwy_tell(progress, "joining ranks", r + 1, m->job->n);
	}
	if (done) {
		add_collective_edges(m, &meetings);
		add_message_edges(m, &meetings.p2p);
		number_devices(hwy_builder_trace(m->b));
		separate_pids(hwy_builder_trace(m->b));
		job_facts_put(m->b, m->job);
		add_problems(m->b, m->job);
	}
	job_meetings_free(&meetings);
	return done;
}

struct hwy_trace *job_merge(struct hwy_job *job, const struct hwy_progress *progress,
			    struct hwy_err *err)
{
	struct merging m = {
		.b = hwy_builder_new(), .job = job, .places = hwy_zarray(job->n, sizeof *m.places)};
	bool done = merge_ranks(&m, progress, err);
	for (uint32_t r = 0; r < job->n; r++)
		free(m.places[r]);
	free(m.places);
	if (!done) {
		hwy_builder_free(m.b);
		return NULL;
	}
	struct hwy_trace *trace = hwy_builder_finish(m.b, false);
	if (!trace)
		hwy_fail(err, "%s and the other ranks have more than %u spans together",
			 job->ranks[0].path, HWY_MOST_SPANS);
	return trace;
}
