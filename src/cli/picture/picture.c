/* SPDX-License-Identifier: Apache-2.0 */
/* picture.c - see picture.h. Chooses the rows of a picture and fills them.
 *
 * Threads are ranked by how much they launched: work that runs in the window, whenever it was
 * launched, and work that was launched in the window. So a thread that is a second ahead of the
 * device has a row, although it only waits during the window.
 */
#include "cli/picture/picture.h"

#include <stdlib.h>

#include "analyze/sweep.h"
#include "analyze/work.h"
#include "base/mem.h"

#define TIMES (HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR))

struct maker {
	struct hwy_trace *trace;
	struct hwy_picture *picture;
	struct picture_options options;
	struct hwy_work work;
	struct hwy_map waits; /* ids of calls that waited for the copy they enqueued */
	uint64_t *scores;     /* by thread: how much work the thread launched */
	struct picture_names *names;
	bool is_host; /* there is neither device work nor a call: rows tell when threads ran */
};

struct picture_row *picture_add(struct hwy_picture *picture, enum picture_row_type type,
				int64_t index)
{
	HWY_GROW(picture->rows, picture->n, picture->cap);
	picture->rows[picture->n] = (struct picture_row){.type = type, .index = index};
	return &picture->rows[picture->n++];
}

void picture_add_label(struct picture_row *row, struct hwy_interval at, int64_t name)
{
	HWY_GROW(row->labels, row->n_labels, row->cap_labels);
	row->labels[row->n_labels++] = (struct picture_label){at, name};
}

/* ---- threads --------------------------------------------------------------------------------- */

static bool picture_thread_of(const struct hwy_trace *trace, const struct hwy_strip *strip,
			      uint32_t *thread)
{
	int64_t index = trace->lanes[strip->lane].thread;
	*thread = (uint32_t)index;
	return index >= 0 && index < trace->n_threads;
}

/* Scores the threads by the work of a strip, and notes the calls that waited for their copy: the
 * copy had ended when the call returned. */
static void picture_look_at_work(struct maker *m, const struct hwy_strip *strip)
{
	for (uint32_t row = 0; row < strip->rows; row++) {
		struct hwy_interval in;
		struct hwy_call call;
		int64_t start = hwy_get(strip, HWY_START, row), end = hwy_end(strip, row);
		if (!work_call(&m->work, strip, row, &call))
			continue;
		bool now = work_counts(&m->work, strip, row, start, end, &in);
		bool launched = call.at.from < m->options.to && call.at.to > m->options.from;
		uint32_t thread;
		if ((now || launched) && picture_thread_of(m->trace, call.strip, &thread))
			m->scores[thread] += (uint64_t)now + launched;
		if (launched && call.role == HWY_ROLE_COPY && end <= call.at.to)
			hwy_map_put(&m->waits, call.id, NULL);
	}
}

/* Scores the threads by their calls of the vendor's library: for recordings that link no work with
 * its call. */
static void picture_look_at_calls(struct maker *m)
{
	for (uint32_t s = 0; s < m->trace->n_strips; s++) {
		const struct hwy_strip *strip = &m->trace->strips[s];
		uint32_t thread;
		if (strip->kind != HWY_API || !picture_thread_of(m->trace, strip, &thread))
			continue;
		for (uint32_t row = 0; row < strip->rows; row++)
			m->scores[thread] += hwy_get(strip, HWY_START, row) < m->options.to &&
					     hwy_end(strip, row) > m->options.from;
	}
}

static bool picture_has_work(const struct hwy_trace *trace)
{
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (HWY_DEVICE_KINDS & HWY_KIND_BIT(trace->strips[s].kind) && trace->strips[s].rows)
			return true;
	return false;
}

static uint64_t most_score(const struct maker *m)
{
	uint64_t most = 0;
	for (uint32_t t = 0; t < m->trace->n_threads; t++)
		most = m->scores[t] > most ? m->scores[t] : most;
	return most;
}

static bool score_threads(struct maker *m, struct hwy_err *err)
{
	struct hwy_trace *trace = m->trace;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (work_is_on(&m->work, &trace->strips[s]))
			picture_look_at_work(m, &trace->strips[s]);
	m->picture->launches = most_score(m) > 0;
	if (!m->picture->launches)
		picture_look_at_calls(m);
	/* A device may work without a thread that is known to have launched. */
	m->is_host = !most_score(m) && !picture_has_work(trace);
	return !m->is_host || picture_host_score(trace, &m->options, m->scores, err);
}

static uint32_t choose_threads(struct maker *m, int64_t *chosen)
{
	struct hwy_trace *trace = m->trace;
	uint32_t n = 0;
	for (; n < m->options.threads; n++) {
		uint32_t best = trace->n_threads;
		for (uint32_t t = 0; t < trace->n_threads; t++)
			if (m->scores[t] &&
			    (best == trace->n_threads || m->scores[t] > m->scores[best]))
				best = t;
		if (best == trace->n_threads)
			break;
		chosen[n] = best;
		m->scores[best] = 0;
	}
	for (uint32_t t = 0; t < trace->n_threads; t++)
		m->picture->more_threads += m->scores[t] != 0;
	/* Older threads stand above younger ones: a reader looks for the program's first thread
	 * first. */
	for (uint32_t i = 1; i < n; i++)
		for (uint32_t j = i;
		     j && trace->threads[chosen[j]].tid < trace->threads[chosen[j - 1]].tid; j--) {
			int64_t other = chosen[j];
			chosen[j] = chosen[j - 1];
			chosen[j - 1] = other;
		}
	return n;
}

static bool is_wait(struct maker *m, const struct hwy_strip *strip, uint32_t row)
{
	unsigned role = hwy_role(m->trace, hwy_get(strip, HWY_NAME, row));
	switch (HWY_ROLE_OF(role)) {
	case HWY_ROLE_SYNC:
	case HWY_ROLE_FILL: return role & HWY_ROLE_BLOCKS;
	case HWY_ROLE_COPY:
		return (role & HWY_ROLE_BLOCKS) || hwy_map_get(&m->waits, strip->first + row);
	default: return false;
	}
}

static void add_thread(struct maker *m, int64_t thread)
{
	struct picture_layer layers[] = {{.state = PICTURE_WAIT},
					 {.state = PICTURE_CALL},
					 {.state = PICTURE_OS},
					 {.state = PICTURE_RUN}};
	for (uint32_t s = 0; s < m->trace->n_strips; s++) {
		const struct hwy_strip *strip = &m->trace->strips[s];
		if ((strip->kind != HWY_API && strip->kind != HWY_OS) ||
		    m->trace->lanes[strip->lane].thread != thread)
			continue;
		for (uint32_t row = 0; row < strip->rows; row++) {
			int64_t from = hwy_get(strip, HWY_START, row), to = hwy_end(strip, row);
			if (from >= m->options.to)
				break;
			if (to > m->options.from)
				picture_layer_add(&layers[strip->kind == HWY_OS    ? 2
							  : is_wait(m, strip, row) ? 0
										   : 1],
						  from, to);
		}
	}
	if (m->is_host)
		picture_host_runs(m->trace, thread, &m->options, &layers[3]);
	picture_fill(m->picture, picture_add(m->picture, PICTURE_THREAD, thread), layers, 4);
}

/* ---- devices --------------------------------------------------------------------------------- */

static enum picture_state picture_state_of(struct maker *m, const struct hwy_strip *strip,
					   uint32_t row)
{
	if (strip->kind == HWY_COPY)
		return PICTURE_COPY;
	if (strip->kind == HWY_FILL)
		return PICTURE_FILL;
	int64_t name = hwy_get(strip, HWY_NAME, row);
	return hwy_class(m->trace, (enum hwy_kind)strip->kind, name) == HWY_COMM ? PICTURE_COMM
										 : PICTURE_COMPUTE;
}

static void sweep_lanes(struct maker *m, struct hwy_sweep *sweep, int64_t device, int64_t lane)
{
	for (uint32_t s = 0; s < m->trace->n_strips; s++) {
		const struct hwy_strip *strip = &m->trace->strips[s];
		if (work_is_on(&m->work, strip) && m->trace->lanes[strip->lane].device == device &&
		    (lane == HWY_NONE || strip->lane == lane))
			sweep_add(sweep, strip, 0);
	}
}

/* Adds a row with the work of one lane. With lane HWY_NONE the row has the work of all lanes of
 * the device and the CPU's lead, and a second row has the names of the ranges that launched the
 * work. */
static void picture_add_work(struct maker *m, enum picture_row_type type, int64_t device,
			     int64_t lane)
{
	struct picture_layer layers[] = {{.state = PICTURE_COMPUTE},
					 {.state = PICTURE_COMM},
					 {.state = PICTURE_COPY},
					 {.state = PICTURE_FILL}};
	struct picture_row names = {.type = PICTURE_DEVICE_RANGES, .index = device};
	struct picture_queue queue = {0};
	struct hwy_sweep sweep = {0};
	uint32_t range = 0;
	bool whole = lane == HWY_NONE;
	sweep_lanes(m, &sweep, device, lane);
	while (sweep_next(&sweep)) {
		struct hwy_interval at;
		struct hwy_call call;
		if (!whole && sweep.start >= m->options.to)
			break;
		bool known = whole && work_call(&m->work, sweep.strip, sweep.row, &call);
		if (known && call.at.from < m->options.to && sweep.end > m->options.from &&
		    work_is_own(&m->work, sweep.strip, sweep.row))
			picture_queue_add(&queue, call.at.from, sweep.end);
		if (!work_counts(&m->work, sweep.strip, sweep.row, sweep.start, sweep.end, &at))
			continue;
		picture_layer_add(
			&layers[picture_state_of(m, sweep.strip, sweep.row) - PICTURE_COMPUTE],
			at.from, at.to);
		if (known && m->names)
			picture_add_launched(m->names, &names, &range, at,
					     m->trace->lanes[call.strip->lane].process,
					     call.at.from);
	}
	sweep_free(&sweep);
	struct picture_row *row = picture_add(m->picture, type, whole ? device : lane);
	picture_fill(m->picture, row, layers, 4);
	picture_ahead(m->picture, &queue, row);
	if (names.n_labels)
		*picture_add(m->picture, PICTURE_DEVICE_RANGES, device) = names;
}

/* Whether a strip has device work in the window. */
static bool strip_works(struct maker *m, const struct hwy_strip *strip)
{
	struct hwy_interval at;
	if (!work_is_on(&m->work, strip))
		return false;
	for (uint32_t row = 0; row < strip->rows; row++) {
		int64_t start = hwy_get(strip, HWY_START, row);
		if (start >= m->options.to)
			break;
		if (work_counts(&m->work, strip, row, start, hwy_end(strip, row), &at))
			return true;
	}
	return false;
}

static void add_device(struct maker *m, int64_t device, const bool *works)
{
	struct hwy_trace *trace = m->trace;
	uint32_t n = 0, shown = 0;
	for (uint32_t lane = 0; lane < trace->n_lanes; lane++)
		n += works[lane] && trace->lanes[lane].device == device;
	picture_add_work(m, PICTURE_DEVICE, device, HWY_NONE);
	for (uint32_t lane = 0; n > 1 && lane < trace->n_lanes; lane++) {
		if (!works[lane] || trace->lanes[lane].device != device)
			continue;
		if (shown++ < m->options.streams)
			picture_add_work(m, PICTURE_STREAM, device, lane);
		else
			m->picture->more_streams++;
	}
}

static void add_devices(struct maker *m)
{
	struct hwy_trace *trace = m->trace;
	bool *works = hwy_zarray(trace->n_lanes, sizeof *works);
	/* The last element stands for lanes whose device is not known. */
	bool *done = hwy_zarray((size_t)trace->n_devices + 1, sizeof *done);
	uint32_t shown = 0;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		works[trace->strips[s].lane] |= strip_works(m, &trace->strips[s]);
	for (uint32_t lane = 0; lane < trace->n_lanes; lane++) {
		int64_t device = trace->lanes[lane].device;
		bool known = device >= 0 && device < trace->n_devices;
		bool *seen = &done[known ? device : trace->n_devices];
		if (!works[lane] || *seen)
			continue;
		*seen = true;
		if (shown++ < m->options.devices)
			add_device(m, device, works);
		else
			m->picture->more_devices++;
	}
	free(works);
	free(done);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool add_rows(struct maker *m, struct hwy_err *err)
{
	int64_t *threads = hwy_array(m->options.threads, sizeof *threads);
	m->scores = hwy_zarray(m->trace->n_threads, sizeof *m->scores);
	bool done = score_threads(m, err);
	uint32_t n = done ? choose_threads(m, threads) : 0;
	done = done && (m->options.no_ranges ||
			picture_names_find(m->trace, m->picture, threads, n, &m->names, err));
	if (done) {
		/* The thread whose ranges are shown comes first, even where another launches
		 * more. */
		int64_t named = m->names ? picture_names_thread(m->names) : HWY_NONE;
		if (m->names)
			picture_add_ranges(m->picture, m->names);
		for (uint32_t i = 0; i < n; i++)
			if (threads[i] == named)
				add_thread(m, named);
		for (uint32_t i = 0; i < n; i++)
			if (threads[i] != named)
				add_thread(m, threads[i]);
		add_devices(m);
	}
	picture_names_free(m->names);
	free(threads);
	free(m->scores);
	return done;
}

bool picture_make(struct hwy_trace *trace, const struct picture_options *options,
		  struct hwy_picture *picture, struct hwy_err *err)
{
	*picture = (struct hwy_picture){
		.from = options->from, .to = options->to, .cells = options->cells};
	struct maker m = {.trace = trace, .picture = picture, .options = *options};
	m.options.threads = options->threads ? options->threads : 3;
	m.options.streams = options->streams ? options->streams : 6;
	m.options.devices = options->devices ? options->devices : 8;
	struct hwy_scope scope = {options->from, options->to, HWY_NONE};
	bool done = hwy_need(trace, HWY_KIND_BIT(HWY_OS), TIMES, err) &&
		    work_open(&m.work, trace, scope, err) && add_rows(&m, err);
	work_close(&m.work);
	hwy_map_free(&m.waits);
	if (!done)
		picture_free(picture);
	return done;
}

void picture_free(struct hwy_picture *picture)
{
	for (uint32_t i = 0; i < picture->n; i++) {
		free(picture->rows[i].cells);
		free(picture->rows[i].labels);
	}
	free(picture->rows);
	*picture = (struct hwy_picture){0};
}
