/* SPDX-License-Identifier: Apache-2.0 */
/* losses.c - what found no room in the spools, or was given back to the disk: how much, when, why.
 *
 * Each thread's losses are drops of the trace with the time from the first record that was not kept
 * to the moment when there was room again. A diagnostic says in one line, for each reason, of which
 * times records are missing in the whole run.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/say.h"
#include "ingest/ingest_internal.h"

/* The reason why the parent gave events back; it stands behind enum rec_full. */
enum { GIVEN_BACK = REC_FULL_REASONS, REASONS };

static const struct {
	const char *drop;
	const char *line; /* NULL: not a matter of room, so that no line is said */
} reasons[REASONS] = {
	[REC_FULL_NO] = {"written while another record was being written, or in a sandbox", NULL},
	[REC_FULL_DISK] = {"no room: a reserve of the disk is left free",
			   "no more than its reserve was free on the disk that holds the "
			   "recording (TMPDIR)"},
	[REC_FULL_BOUND] = {"no room: the recording is as large as it may be",
			    "the recording was as large as it may be (--max-size)"},
	[REC_FULL_FILE_SIZE] = {"no room: the program limits the size of files",
				"the program limits the size of files (ulimit -f)"},
	[REC_FULL_DESCRIPTORS] = {"no room: no file descriptor was free",
				  "the program had no free file descriptor (ulimit -n)"},
	[REC_FULL_REACH] = {"no room: the run directory is out of reach",
			    "the program could not reach the run directory"},
	[REC_FULL_MEMORY] = {"no room: no memory for the spool",
			     "the program could get no memory for them"},
	[GIVEN_BACK] = {"given back to the disk, which the program filled",
			"the program needed their room on the disk"},
};

struct span { /* times of CLOCK_MONOTONIC, in ns */
	int64_t from, to;
};

struct losses {
	uint64_t count[REASONS];
	bool is_ring_short[REASONS]; /* a ring could not grow to what it was to keep */
	struct spans {
		struct span *list;
		uint32_t n, cap;
	} spans[REASONS];
	struct loss { /* the last thread's loss, which its next chunk may add to */
		int64_t process, thread;
		unsigned reason;
		uint64_t count;
		struct span span;
	} last;
};

/* ---- one loss -------------------------------------------------------------------------------- */

static void put_drop(struct ingest *in, const struct loss *loss)
{
	if (!loss->count)
		return;
	ingest_drop(in, loss->process, loss->thread, "spool",
		    hwy_text_id(in->b, reasons[loss->reason].drop), loss->count,
		    ingest_moment(in, loss->span.to));
	in->trace->drops[in->trace->n_drops - 1].from = ingest_moment(in, loss->span.from);
}

static void note_loss(struct ingest *in, struct losses *losses, const struct loss *loss)
{
	if (!loss->count)
		return;
	losses->count[loss->reason] += loss->count;
	struct spans *spans = &losses->spans[loss->reason];
	if (ingest_is_time(in, loss->span.from) && ingest_is_time(in, loss->span.to) &&
	    loss->span.to >= loss->span.from) {
		HWY_GROW(spans->list, spans->n, spans->cap);
		spans->list[spans->n++] = loss->span;
	}
	struct loss *last = &losses->last;
	if (last->count && last->process == loss->process && last->thread == loss->thread &&
	    last->reason == loss->reason) {
		last->count += loss->count;
		last->span.to = loss->span.to;
	} else {
		put_drop(in, last);
		*last = *loss;
	}
}

/* Yields the last moment that anything is known of, on CLOCK_MONOTONIC. */
static int64_t end_of_run(const struct ingest *in)
{
	int64_t end = in->run_end;
	for (uint32_t i = 0; i < in->statuses.n; i++) {
		const struct rec_status *status = in->statuses.items[i];
		if (ingest_is_time(in, status->time) && status->time > end)
			end = status->time;
	}
	for (uint32_t i = 0; i < in->rooms.n; i++) {
		const struct rec_time *room = in->rooms.items[i];
		if (ingest_is_time(in, room->time) && room->time > end)
			end = room->time;
	}
	return end;
}

/* Yields when there was room behind a chunk: at the begin of the file's next chunk, or never until
 * the end of the process. */
static int64_t end_of_chunk(struct ingest *in, const struct spool_chunk *chunk, int64_t run_end)
{
	const struct spool_chunk *end = in->spools.chunks + in->spools.n_chunks;
	if (chunk + 1 < end && chunk[1].file == chunk->file)
		return chunk[1].header->opened;
	const struct ingest_process *process = ingest_owner(in, chunk);
	bool is_known = process->end != HWY_NONE && process->end > chunk->header->opened;
	return is_known ? process->end : run_end;
}

static void read_chunk_losses(struct ingest *in, struct losses *losses,
			      const struct spool_chunk *chunk, int64_t run_end)
{
	const struct rec_chunk *header = chunk->header;
	const struct ingest_process *process = ingest_owner(in, chunk);
	bool is_known = process->record != UINT32_MAX;
	struct loss loss = {
		.process = is_known ? (int64_t)process->record : HWY_NONE,
		.thread = HWY_NONE,
		.reason = header->full && header->why < REC_FULL_REASONS ? header->why : 0,
		.count = header->dropped,
		.span = {header->full, end_of_chunk(in, chunk, run_end)},
	};
	losses->is_ring_short[loss.reason] |= header->full && in->spools.control.keep_s;
	if (is_known && !chunk->is_shared && (header->dropped || header->given_back))
		loss.thread = (int64_t)target_thread(in, chunk->process, header->tid);
	/* Version 1 had no reason: in it, records were lost only where the disk was full. */
	if (header->version < REC_VERSION)
		loss.reason = REC_FULL_DISK;
	if (!header->full)
		loss.span.from = loss.span.to = HWY_NONE;
	note_loss(in, losses, &loss);
	loss.reason = GIVEN_BACK;
	loss.count = header->given_back;
	loss.span = (struct span){header->opened, end_of_chunk(in, chunk, run_end)};
	note_loss(in, losses, &loss);
}

/* Threads that found no room for their first record counted their records in the control page; the
 * parent saw when there was no room. */
static void read_control_losses(struct ingest *in, struct losses *losses, int64_t run_end)
{
	if (!in->spools.has_control || !in->spools.control.dropped)
		return;
	struct span span = {HWY_NONE, HWY_NONE};
	unsigned reason = REC_FULL_NO;
	for (uint32_t i = 0; i < in->rooms.n; i++) {
		const struct rec_time *room = in->rooms.items[i];
		bool is_full = room->head.value && room->head.value < REC_FULL_REASONS;
		if (is_full && !reason) {
			reason = room->head.value;
			span.from = room->time;
		}
		span.to = is_full ? run_end : room->time;
	}
	uint64_t count = in->spools.control.dropped;
	if (reason) {
		note_loss(in, losses, &(struct loss){HWY_NONE, HWY_NONE, reason, count, span});
		return;
	}
	ingest_drop(in, HWY_NONE, HWY_NONE, "spool",
		    hwy_text_id(in->b, "no file for the thread's records: disk full, out of reach, "
				       "or too many threads"),
		    count, HWY_NONE);
}

/* ---- what is said ---------------------------------------------------------------------------- */

static int by_from(const void *left, const void *right)
{
	const struct span *a = left, *b = right;
	return a->from < b->from ? -1 : a->from > b->from;
}

/* Joins spans that touch; the list is sorted afterwards. */
static void join_spans(struct spans *spans)
{
	uint32_t kept = 0;
	if (spans->n)
		qsort(spans->list, spans->n, sizeof *spans->list, by_from);
	for (uint32_t i = 0; i < spans->n; i++) {
		struct span *last = kept ? &spans->list[kept - 1] : NULL;
		if (!last || spans->list[i].from > last->to)
			spans->list[kept++] = spans->list[i];
		else if (spans->list[i].to > last->to)
			last->to = spans->list[i].to;
	}
	spans->n = kept;
}

static void say_losses(struct ingest *in, struct losses *losses)
{
	enum { MOST_SPANS = 3 };
	for (unsigned r = 0; r < REASONS; r++) {
		struct spans *spans = &losses->spans[r];
		char times[256] = "";
		size_t n = 0;
		join_spans(spans);
		for (uint32_t i = 0; i < spans->n && i < MOST_SPANS && n < sizeof times; i++)
			n += (size_t)snprintf(times + n, sizeof times - n, "%s%.3f s to %.3f s",
					      i ? ", " : " of ",
					      (double)(spans->list[i].from - in->epoch) / 1e9,
					      (double)(spans->list[i].to - in->epoch) / 1e9);
		if (spans->n > MOST_SPANS && n < sizeof times)
			snprintf(times + n, sizeof times - n, " and %u more times",
				 spans->n - MOST_SPANS);
		if (losses->count[r] && reasons[r].line)
			ingest_note_diagnostic(in, 2, HWY_NONE, "%s records%s were not kept: %s",
					       hwy_say_count_grouped(losses->count[r]).text, times,
					       reasons[r].line);
		if (losses->is_ring_short[r] && reasons[r].line)
			ingest_note_diagnostic(in, 2, HWY_NONE,
					       "less than the last %u s were kept: %s",
					       in->spools.control.keep_s, reasons[r].line);
		free(spans->list);
	}
}

void losses_report(struct ingest *in)
{
	struct losses losses = {0};
	int64_t run_end = end_of_run(in);
	for (uint32_t c = 0; c < in->spools.n_chunks; c++)
		read_chunk_losses(in, &losses, &in->spools.chunks[c], run_end);
	read_control_losses(in, &losses, run_end);
	put_drop(in, &losses.last);
	say_losses(in, &losses);
}
