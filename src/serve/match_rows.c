/* SPDX-License-Identifier: Apache-2.0 */
/* match_rows.c - the terms of a query that must be looked at span by span: times, steps, lines,
 * columns. */
#include "serve/match.h"

#include "base/path.h"

/* How long it takes to test a term for one row: never (match.c decides names, lanes and kinds),
 * from columns in memory, with a column to be read, with other spans to be found. Terms are
 * tested in this order, so that slow ones see fewer rows. */
enum { COST_NONE, COST_HELD, COST_READ, COST_FOUND, COSTS };

static unsigned cost_of(enum query_field field)
{
	switch (field) {
	case QUERY_ID:
	case QUERY_START:
	case QUERY_END:
	case QUERY_DUR: return COST_HELD;
	case QUERY_STEP:
	case QUERY_PHASE:
	case QUERY_SHAPE:
	case QUERY_COLUMN:
	case QUERY_RATE: return COST_READ;
	case QUERY_LATENCY:
	case QUERY_LINE:
	case QUERY_MODULE: return COST_FOUND;
	default: return COST_NONE;
	}
}

uint64_t match_columns_of(const struct query_term *term)
{
	switch (term->field) {
	case QUERY_START:
	case QUERY_LATENCY:
	case QUERY_STEP:
	case QUERY_PHASE: return HWY_COL_BIT(HWY_START);
	case QUERY_END: return HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR);
	case QUERY_DUR:
	case QUERY_RATE: return HWY_COL_BIT(HWY_DUR);
	default: return 0;
	}
}

/* ---- one span -------------------------------------------------------------------------------- */

static bool line_fits(struct matcher *m, const struct query_term *term, uint32_t line)
{
	const struct span_facts *facts = m->facts;
	const struct span_line *at = &facts->lines[line];
	if (line == 0)
		return false;
	struct hwy_text file = facts->texts.texts[at->file];
	if (term->test == QUERY_MATCHES) {
		struct hwy_bytes text = {0};
		span_facts_line_text(facts, line, &text);
		bool fits = query_text_fits(
			term, (struct hwy_text){(const char *)text.bytes, (uint32_t)text.n},
			&m->room);
		hwy_bytes_free(&text);
		return fits;
	}
	if (term->line && term->line != at->line)
		return false;
	if (term->length == 0)
		return true;
	if (term->test == QUERY_IS)
		return query_text_fits(term, file, &m->room);
	/* The text must be the end of the path and begin a part of it: "net/train.py" fits
	 * "/home/ann/net/train.py", but "rain.py" does not. */
	if (!query_text_fits(term, file, &m->room))
		return false;
	size_t before = file.length - term->length;
	const char *small = (const char *)m->room.bytes;
	return memcmp(small + before, term->text, term->length) == 0 &&
	       (before == 0 || term->text[0] == '/' || small[before - 1] == '/');
}

static bool module_fits(struct matcher *m, const struct query_term *term,
			const struct hwy_strip *strip, uint32_t row)
{
	char path[512];
	const struct hwy_owners *owners = m->facts->owners;
	owners_module_path(owners, owners_of(owners, strip, row)->module, path, sizeof path);
	return *path &&
	       query_text_fits(term, (struct hwy_text){path, (uint32_t)strlen(path)}, &m->room);
}

static bool cell_fits(struct matcher *m, const struct query_term *term, const struct hwy_cell *cell)
{
	switch (cell->type) {
	case HWY_CELL_INT: return term->test == QUERY_IN && query_number_fits(term, cell->number);
	case HWY_CELL_UINT:
		return term->test == QUERY_IN &&
		       query_real_fits(term, (double)(uint64_t)cell->number);
	case HWY_CELL_REAL: return term->test == QUERY_IN && query_real_fits(term, cell->real);
	case HWY_CELL_TEXT:
		return term->test != QUERY_IN && query_text_fits(term, cell->text, &m->room);
	default: return false;
	}
}

/* The value of a column; times count from the first event, as in the fields start and end. */
static bool column_fits(struct matcher *m, const struct query_term *term,
			const struct hwy_strip *strip, uint32_t row, bool *fits,
			struct hwy_err *err)
{
	enum hwy_col col = (enum hwy_col)term->part;
	const struct view_trace *view = m->view;
	int64_t stored = 0, payload_type = 0, link = 0;
	uint32_t call, call_row;
	*fits = false;
	/* A strip without results may come from a source that does not record them. */
	if (!(hwy_kind_columns[strip->kind] & HWY_COL_BIT(col)) ||
	    (col == HWY_RESULT && !strip->columns[col]))
		return true;
	if (!span_facts_peek(m->facts, strip, col, row, &stored, err) ||
	    (col == HWY_PAYLOAD &&
	     !span_facts_peek(m->facts, strip, HWY_PAYLOAD_TYPE, row, &payload_type, err)) ||
	    (col == HWY_CORR && !span_facts_peek(m->facts, strip, HWY_LINK, row, &link, err)))
		return false;
	/* Linked work has the correlation id of its call (trace/links.c does not keep it twice). */
	if (hwy_ref_to_index(link, &call)) {
		const struct hwy_strip *calls = hwy_strip_of(view->trace, call, &call_row);
		if (!span_facts_peek(m->facts, calls, HWY_CORR, call_row, &stored, err))
			return false;
	}
	struct hwy_cell cell = hwy_column_cell(view->trace, strip, col, stored, payload_type);
	if (cell.type == HWY_CELL_INT && hwy_columns[col].meaning == HWY_MEANS_TIME)
		cell.number = hwy_between(view->from, cell.number);
	*fits = cell_fits(m, term, &cell);
	return true;
}

static bool shape_fits(struct matcher *m, const struct query_term *term,
		       const struct hwy_strip *strip, uint32_t row, bool *fits, struct hwy_err *err)
{
	int64_t stored;
	uint32_t index;
	*fits = false;
	if (strip->kind != HWY_KERNEL)
		return true;
	if (!span_facts_peek(m->facts, strip, HWY_SHAPE, row, &stored, err))
		return false;
	if (hwy_ref_to_index(stored, &index)) {
		const int64_t *members =
			(const int64_t *)(const void *)&m->view->trace->shapes[index];
		*fits = query_number_fits(term, members[term->part]);
	}
	return true;
}

static bool rate_fits(struct matcher *m, const struct query_term *term,
		      const struct hwy_strip *strip, uint32_t row, bool *fits, struct hwy_err *err)
{
	int64_t bytes = 0, dur = hwy_get(strip, HWY_DUR, row);
	*fits = false;
	if (!(hwy_kind_columns[strip->kind] & HWY_COL_BIT(HWY_BYTES)))
		return true;
	if (!span_facts_peek(m->facts, strip, HWY_BYTES, row, &bytes, err))
		return false;
	*fits = bytes > 0 && dur > 0 && query_real_fits(term, (double)bytes * 1e9 / (double)dur);
	return true;
}

static bool step_fits(const struct matcher *m, const struct query_term *term,
		      const struct hwy_strip *strip, uint32_t row)
{
	uint32_t step = span_facts_step(m->facts, &m->steps, strip, hwy_get(strip, HWY_START, row));
	if (step == STEP_TIMES_NONE)
		return false;
	const struct timed_step *at = &m->steps.v[step];
	return query_number_fits(term, term->field == QUERY_STEP ? at->number : at->phase);
}

static bool row_fits(struct matcher *m, const struct query_term *term,
		     const struct hwy_strip *strip, uint32_t row, bool *fits, struct hwy_err *err)
{
	int64_t value;
	uint32_t line;
	switch (term->field) {
	case QUERY_ID: *fits = query_number_fits(term, (int64_t)strip->first + row); return true;
	case QUERY_START:
		*fits = query_number_fits(term, hwy_get(strip, HWY_START, row) - m->view->from);
		return true;
	case QUERY_END:
		*fits = query_number_fits(term, hwy_end(strip, row) - m->view->from);
		return true;
	case QUERY_DUR: *fits = query_number_fits(term, hwy_get(strip, HWY_DUR, row)); return true;
	case QUERY_STEP:
	case QUERY_PHASE: *fits = step_fits(m, term, strip, row); return true;
	case QUERY_SHAPE: return shape_fits(m, term, strip, row, fits, err);
	case QUERY_COLUMN: return column_fits(m, term, strip, row, fits, err);
	case QUERY_RATE: return rate_fits(m, term, strip, row, fits, err);
	case QUERY_MODULE: *fits = module_fits(m, term, strip, row); return true;
	case QUERY_LATENCY:
		if (!span_facts_latency(m->facts, strip, row, hwy_get(strip, HWY_START, row),
					&value, err))
			return false;
		*fits = value >= 0 && query_number_fits(term, value);
		return true;
	default:
		if (!span_facts_line(m->facts, strip, row, &line, err))
			return false;
		*fits = line_fits(m, term, line);
		return true;
	}
}

/* ---- all rows of a chunk --------------------------------------------------------------------- */

bool match_thin_out(struct matcher *m, const struct hwy_strip *strip, uint32_t *rows, uint32_t *n,
		    struct hwy_err *err)
{
	for (unsigned cost = COST_HELD; cost < COSTS; cost++)
		for (uint32_t t = 0; t < m->query->n; t++) {
			const struct query_term *term = &m->query->terms[t];
			uint32_t kept = 0;
			if (cost_of(term->field) != cost)
				continue;
			for (uint32_t i = 0; i < *n; i++) {
				bool fits;
				if (!row_fits(m, term, strip, rows[i], &fits, err))
					return false;
				if (fits != term->is_negated)
					rows[kept++] = rows[i];
			}
			*n = kept;
		}
	return true;
}
