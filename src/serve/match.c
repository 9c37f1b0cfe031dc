/* SPDX-License-Identifier: Apache-2.0 */
/* match.c - see match.h: what is decided by name, lane and kind, and the walk over chunks. */
#include "serve/match.h"

#include <stdlib.h>

#include "serve/lane_titles.h"
#include "serve/view_ranks.h"

enum { NAMES_BETWEEN_PAUSES = 4096 };

/* ---- names ----------------------------------------------------------------------------------- */

/* A name fits as it is, and as the page shows it. */
static bool term_fits_name(struct matcher *m, const struct query_term *term, struct hwy_text name)
{
	return query_text_fits(term, name, &m->room) ||
	       (term->test != QUERY_HAS &&
		query_text_fits(term, query_shown_name(name, &m->shown), &m->room));
}

static bool name_fits(struct matcher *m, struct hwy_text name)
{
	for (uint32_t i = 0; i < m->query->n; i++) {
		const struct query_term *term = &m->query->terms[i];
		if (term->field == QUERY_NAME && term_fits_name(m, term, name) == term->is_negated)
			return false;
	}
	return true;
}

static bool match_names(struct matcher *m, struct hwy_err *err)
{
	bool is_asked = false;
	for (uint32_t i = 0; i < m->query->n; i++)
		is_asked |= m->query->terms[i].field == QUERY_NAME;
	if (!is_asked)
		return true;
	uint32_t n = m->view->trace->strings.n + SPAN_NAMES_MADE;
	m->names = hwy_zarray(n, 1);
	for (uint32_t id = 0; id < n; id++) {
		if (id % NAMES_BETWEEN_PAUSES == 0 && !view_pause(m->view, err))
			return false;
		m->names[id] = name_fits(m, span_names_text(m->view->trace, id));
		m->n_names += m->names[id];
	}
	return true;
}

/* ---- lanes ----------------------------------------------------------------------------------- */

static bool is_word_character(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Whether a title has the text as whole words: "stream 7" is not in "stream 71". */
static bool has_words(const struct query_term *term, struct hwy_text title, struct hwy_bytes *room)
{
	if (!query_text_fits(term, title, room))
		return false;
	const char *small = (const char *)room->bytes, *end = small + title.length, *at = small;
	while ((at = memmem(at, (size_t)(end - at), term->text, term->length))) {
		const char *behind = at + term->length;
		bool begins = at == small || !is_word_character(at[-1]) || !is_word_character(*at);
		bool ends = behind == end || !is_word_character(*behind) ||
			    !is_word_character(behind[-1]);
		if (begins && ends)
			return true;
		at++;
	}
	return false;
}

static bool title_fits(struct matcher *m, const struct query_term *term, uint32_t lane)
{
	const struct hwy_lane *at = &m->view->trace->lanes[lane];
	struct hwy_bytes title = {0};
	if (term->text[0] == '#') {
		int64_t number = (int64_t)strtoul(term->text + 1, NULL, 10);
		return number == (term->field == QUERY_LANE ? (int64_t)lane : at->thread);
	}
	if (term->field == QUERY_LANE)
		lane_titles_write_lane(m->view, lane, &title);
	else if (at->thread != HWY_NONE)
		lane_titles_write_thread(m->view, (uint32_t)at->thread, &title);
	struct hwy_text text = {(const char *)title.bytes, (uint32_t)title.n};
	bool fits =
		title.n > 0 && (term->test == QUERY_HAS ? has_words(term, text, &m->room)
							: query_text_fits(term, text, &m->room));
	hwy_bytes_free(&title);
	return fits;
}

/* Yields the number by which people call a lane's device, stream, rank or process; HWY_NONE
 * where the lane has none. */
static int64_t lane_number(const struct view_trace *view, enum query_field field, uint32_t lane)
{
	const struct hwy_trace *trace = view->trace;
	const struct hwy_lane *at = &trace->lanes[lane];
	uint32_t rank = ranks_of_lane(view, at);
	switch (field) {
	case QUERY_GPU:
		return at->device == HWY_NONE ? HWY_NONE : trace->devices[at->device].ordinal;
	case QUERY_STREAM:
		return at->stream == HWY_NONE ? HWY_NONE : trace->streams[at->stream].number;
	case QUERY_PID:
		return at->process == HWY_NONE ? HWY_NONE : trace->processes[at->process].pid;
	default: return rank == RANKS_NOBODY ? HWY_NONE : view->ranks[rank];
	}
}

static bool lane_fits(struct matcher *m, uint32_t lane)
{
	for (uint32_t i = 0; i < m->query->n; i++) {
		const struct query_term *term = &m->query->terms[i];
		bool fits;
		switch (term->field) {
		case QUERY_LANE:
		case QUERY_THREAD: fits = title_fits(m, term, lane); break;
		case QUERY_GPU:
		case QUERY_STREAM:
		case QUERY_RANK:
		case QUERY_PID: {
			int64_t number = lane_number(m->view, term->field, lane);
			fits = number != HWY_NONE && query_number_fits(term, number);
			break;
		}
		default: continue;
		}
		if (fits == term->is_negated)
			return false;
	}
	return true;
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool is_answerable(struct matcher *m, const struct query_term *term, struct hwy_err *err)
{
	if ((term->field == QUERY_STEP || term->field == QUERY_PHASE) && !m->steps.is_known)
		return hwy_fail(err, "steps are not known yet: the diagnosis is not ready");
	return term->field != QUERY_MODULE || span_facts_need_owners(m->facts, err);
}

bool match_open(struct matcher *m, struct view_trace *view, const struct query *query,
		struct step_times steps, struct hwy_err *err)
{
	*m = (struct matcher){
		.view = view,
		.query = query,
		.facts = span_facts_of(view),
		.steps = steps,
		.lanes = hwy_zarray(view->trace->n_lanes, 1),
		.looks = UINT32_MAX,
		.rows = hwy_array(HWY_CHUNK_ROWS, sizeof *m->rows),
	};
	for (uint32_t i = 0; i < query->n; i++) {
		const struct query_term *term = &query->terms[i];
		if (!is_answerable(m, term, err))
			return false;
		if (term->field == QUERY_KIND)
			m->looks &= term->is_negated ? ~term->looks : term->looks;
		m->columns |= match_columns_of(term);
	}
	for (uint32_t lane = 0; lane < view->trace->n_lanes; lane++)
		m->lanes[lane] = view->lanes[lane].n > 0 && lane_fits(m, lane);
	return match_names(m, err);
}

void match_close(struct matcher *m)
{
	free(m->lanes);
	free(m->names);
	free(m->rows);
	hwy_bytes_free(&m->room);
	hwy_bytes_free(&m->shown);
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* The looks that spans of a kind may have. */
static uint32_t looks_of_kind(enum hwy_kind kind)
{
	return query_looks(hwy_kind_names[kind], strlen(hwy_kind_names[kind]));
}

/* Keeps the rows whose name fits, and whose look where only some looks of the kind do. */
static void thin_out_names(const struct matcher *m, const struct hwy_strip *strip, uint32_t *rows,
			   uint32_t *n)
{
	struct hwy_trace *trace = m->view->trace;
	uint32_t kept = 0;
	bool is_mixed = (looks_of_kind(strip->kind) & ~m->looks) != 0;
	if (!m->names && !is_mixed)
		return;
	for (uint32_t i = 0; i < *n; i++) {
		if (m->names && !m->names[span_names_id(trace, strip, rows[i])])
			continue;
		if (is_mixed && !(m->looks >> span_color(trace, strip->kind,
							 hwy_get(strip, HWY_NAME, rows[i])) &
				  1))
			continue;
		rows[kept++] = rows[i];
	}
	*n = kept;
}

/* Tests m->rows, n rows of one chunk that are in memory, and hands on those that fit. */
static bool match_batch(struct matcher *m, const struct match_scope *scope, uint32_t number,
			uint32_t n, struct hwy_err *err)
{
	const struct hwy_strip *strip = &m->view->trace->strips[number];
	struct match_rows batch = {strip, number, m->rows, 0};
	thin_out_names(m, strip, m->rows, &n);
	if (n > 0 && !match_thin_out(m, strip, m->rows, &n, err))
		return false;
	batch.n = n;
	return n == 0 || scope->on_rows(scope->context, &batch, err);
}

static uint64_t columns_for(const struct matcher *m, const struct match_scope *scope,
			    const struct hwy_strip *strip)
{
	bool needs_names = m->names || (looks_of_kind(strip->kind) & ~m->looks);
	return m->columns | scope->columns |
	       (needs_names ? HWY_COL_BIT(HWY_NAME) | HWY_COL_BIT(span_names_column(strip->kind))
			    : 0);
}

static bool match_part(struct matcher *m, const struct match_scope *scope, uint32_t number,
		       uint32_t row, uint32_t end, struct hwy_err *err)
{
	const struct hwy_strip *strip = &m->view->trace->strips[number];
	uint64_t columns = columns_for(m, scope, strip);
	while (row < end) {
		uint32_t stop = (row / HWY_CHUNK_ROWS + 1) * HWY_CHUNK_ROWS, n = 0;
		stop = stop < end ? stop : end;
		if (!view_pause(m->view, err))
			return false;
		view_trim(m->view);
		if (columns && !view_need_rows(m->view, number, columns, row, stop - row, err))
			return false;
		while (row < stop)
			m->rows[n++] = row++;
		if (!match_batch(m, scope, number, n, err))
			return false;
	}
	return true;
}

/* Tests the spans of a strip that started before the window and reach into it. */
static bool match_earlier(struct matcher *m, const struct match_scope *scope, uint32_t number,
			  const struct view_spans *earlier, struct hwy_err *err)
{
	uint64_t columns = columns_for(m, scope, &m->view->trace->strips[number]);
	for (uint32_t i = 0; i < earlier->n; i++) {
		if (earlier->v[i].strip != number)
			continue;
		if (columns && !view_need_rows(m->view, number, columns, earlier->v[i].row, 1, err))
			return false;
		m->rows[0] = earlier->v[i].row;
		if (!match_batch(m, scope, number, 1, err))
			return false;
	}
	return true;
}

static bool match_window(struct matcher *m, const struct match_scope *scope, uint32_t lane,
			 struct hwy_err *err)
{
	struct view_trace *view = m->view;
	const struct view_lane *at = &view->lanes[lane];
	struct view_spans earlier = {0};
	bool ok = true;
	if (!view_need(view, lane, scope->from, scope->from, 0, err))
		return false;
	if (!scope->starts_inside)
		view_spans_touching(view, lane, scope->from, scope->from, 0, UINT32_MAX, &earlier);
	for (uint32_t s = at->first; ok && s < at->first + at->n; s++) {
		const struct hwy_strip *strip = &view->trace->strips[s];
		if (strip->rows == 0 || !(looks_of_kind(strip->kind) & m->looks))
			continue;
		ok = match_earlier(m, scope, s, &earlier, err) &&
		     view_need(view, lane, scope->from, scope->from, 0, err) &&
		     view_need(view, lane, scope->to, scope->to, 0, err) &&
		     match_part(m, scope, s, view_row_at(strip, scope->from),
				view_row_at(strip, scope->to), err);
	}
	free(earlier.v);
	return ok;
}

bool match_scan_lane(struct matcher *m, const struct match_scope *scope, uint32_t lane,
		     struct hwy_err *err)
{
	const struct view_lane *at = &m->view->lanes[lane];
	if (!m->lanes[lane] || (m->names && m->n_names == 0))
		return true;
	bool is_inside = scope->is_whole || (scope->from <= at->from && scope->to > at->to);
	if (!is_inside && (at->from >= scope->to || at->to < scope->from))
		return true;
	if (!is_inside)
		return match_window(m, scope, lane, err);
	for (uint32_t s = at->first; s < at->first + at->n; s++) {
		const struct hwy_strip *strip = &m->view->trace->strips[s];
		if (looks_of_kind(strip->kind) & m->looks &&
		    !match_part(m, scope, s, 0, strip->rows, err))
			return false;
	}
	return true;
}

bool match_scan(struct matcher *m, const struct match_scope *scope, struct hwy_err *err)
{
	for (uint32_t lane = 0; lane < m->view->trace->n_lanes; lane++)
		if ((!scope->lanes || scope->lanes[lane]) && !match_scan_lane(m, scope, lane, err))
			return false;
	return true;
}
