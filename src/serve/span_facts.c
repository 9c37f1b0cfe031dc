/* SPDX-License-Identifier: Apache-2.0 */
/* span_facts.c - see span_facts.h. */
#include "serve/span_facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyze/graph_nodes.h"
#include "analyze/place.h"
#include "base/path.h"

struct span_facts *span_facts_of(struct view_trace *view)
{
	if (!view->facts) {
		view->facts = hwy_zalloc(sizeof *view->facts);
		view->facts->view = view;
		hwy_strings_init(&view->facts->texts);
		HWY_GROW(view->facts->lines, view->facts->n_lines, view->facts->cap_lines);
		view->facts->lines[view->facts->n_lines++] = (struct span_line){0};
	}
	return view->facts;
}

void span_facts_free(struct span_facts *facts)
{
	if (!facts)
		return;
	if (facts->owners)
		owners_close(facts->owners);
	free(facts->owners);
	hwy_peeks_free(&facts->peeks);
	hwy_index_free(&facts->by_line);
	hwy_strings_free(&facts->texts);
	free(facts->line_of_stack);
	free(facts->line_of_owner);
	free(facts->lines);
	free(facts);
}

bool span_facts_peek(struct span_facts *facts, const struct hwy_strip *strip, enum hwy_col col,
		     uint32_t row, int64_t *value, struct hwy_err *err)
{
	*value = 0;
	return !strip->columns[col] ||
	       hwy_peek_near(facts->view->trace, &facts->peeks,
			     (uint32_t)(strip - facts->view->trace->strips), col, row, value, err);
}

uint32_t span_facts_step(const struct span_facts *facts, const struct step_times *steps,
			 const struct hwy_strip *strip, int64_t start)
{
	bool on_device = (HWY_KIND_BIT(strip->kind) & HWY_DEVICE_KINDS) != 0;
	return step_times_find(steps, facts->view->trace->lanes[strip->lane].process, on_device,
			       start);
}

/* Yields the strip and row of the call that enqueued work; NULL where none is known. */
static bool call_of_work(struct span_facts *facts, const struct hwy_strip *strip, uint32_t row,
			 const struct hwy_strip **call, uint32_t *call_row, struct hwy_err *err)
{
	int64_t link = 0;
	uint32_t id;
	*call = NULL;
	if (!(HWY_KIND_BIT(strip->kind) & HWY_DEVICE_KINDS))
		return true;
	if (!span_facts_peek(facts, strip, HWY_LINK, row, &link, err))
		return false;
	if (hwy_ref_to_index(link, &id))
		*call = hwy_strip_of(facts->view->trace, id, call_row);
	return true;
}

bool span_facts_latency(struct span_facts *facts, const struct hwy_strip *strip, uint32_t row,
			int64_t start, int64_t *latency, struct hwy_err *err)
{
	const struct hwy_strip *call;
	uint32_t call_row;
	int64_t begin;
	*latency = -1;
	if (!call_of_work(facts, strip, row, &call, &call_row, err))
		return false;
	if (!call)
		return true;
	if (!span_facts_peek(facts, call, HWY_START, call_row, &begin, err))
		return false;
	int64_t ns = start - begin;
	*latency = ns >= 0 ? ns : -1;
	return true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static uint32_t line_index(struct span_facts *facts, const char *file, int64_t number,
			   const char *function)
{
	char key[1100];
	bool fresh;
	if (!*file || number <= 0 || number > INT32_MAX)
		return 0;
	int n = snprintf(key, sizeof key, "%.1024s:%" PRId64, file, number);
	uint32_t *index = hwy_index_put(&facts->by_line, key, (size_t)n, &fresh);
	if (!fresh)
		return *index;
	HWY_GROW(facts->lines, facts->n_lines, facts->cap_lines);
	*index = facts->n_lines++;
	facts->lines[*index] = (struct span_line){
		hwy_intern(&facts->texts, file, strlen(file)),
		hwy_intern(&facts->texts, function, strlen(function)), (uint32_t)number};
	return *index;
}

static uint32_t line_of_stack(struct span_facts *facts, int64_t stack)
{
	const struct hwy_trace *trace = facts->view->trace;
	if (!facts->line_of_stack)
		facts->line_of_stack = hwy_zarray(trace->n_stacks, sizeof *facts->line_of_stack);
	uint32_t *known = &facts->line_of_stack[hwy_ref_index(stack)];
	if (!hwy_ref32_is_set(*known)) {
		const struct hwy_frame *frame = place_frame(trace, stack);
		*known = hwy_ref32(frame ? line_index(facts, hwy_str(trace, frame->file),
						      frame->line, hwy_str(trace, frame->function))
					 : 0);
	}
	return hwy_ref32_index(*known);
}

bool span_facts_need_owners(struct span_facts *facts, struct hwy_err *err)
{
	if (facts->owners)
		return true;
	if (facts->view->trace->n_spans > SPAN_FACTS_OWNED)
		return hwy_fail(err,
				"modules cannot be asked for in a recording of more than %d spans",
				SPAN_FACTS_OWNED);
	struct hwy_owners *owners = hwy_zalloc(sizeof *owners);
	if (!owners_open(owners, facts->view->trace, NULL, 0, err)) {
		free(owners);
		return false;
	}
	facts->owners = owners;
	facts->line_of_owner = hwy_zarray(owners->n_lines, sizeof *facts->line_of_owner);
	return true;
}

static uint32_t line_of_owner(struct span_facts *facts, const struct hwy_strip *strip, uint32_t row)
{
	const struct hwy_owners *owners = facts->owners;
	uint32_t line = owners_of(owners, strip, row)->line;
	if (line == 0)
		return 0;
	if (!hwy_ref32_is_set(facts->line_of_owner[line]))
		facts->line_of_owner[line] =
			hwy_ref32(line_index(facts, owners_text(owners, owners->lines[line].file),
					     owners->lines[line].line,
					     owners_text(owners, owners->lines[line].function)));
	return hwy_ref32_index(facts->line_of_owner[line]);
}

/* The stack from which a span was called, or its work launched or captured. */
static bool find_stack(struct span_facts *facts, const struct hwy_strip *strip, uint32_t row,
		       int64_t *stack, struct hwy_err *err)
{
	const struct hwy_trace *trace = facts->view->trace;
	const struct hwy_strip *call;
	uint32_t call_row;
	int64_t number;
	if (!call_of_work(facts, strip, row, &call, &call_row, err) ||
	    !span_facts_peek(facts, call ? call : strip, HWY_STACK, call ? call_row : row, stack,
			     err) ||
	    !span_facts_peek(facts, strip, HWY_GRAPH_NODE, row, &number, err))
		return false;
	const struct hwy_node *node =
		number ? graph_nodes_find(trace, trace->lanes[strip->lane].process, number) : NULL;
	if (node && hwy_ref_is_set(node->stack))
		*stack = node->stack;
	return true;
}

bool span_facts_line(struct span_facts *facts, const struct hwy_strip *strip, uint32_t row,
		     uint32_t *line, struct hwy_err *err)
{
	int64_t stack;
	*line = 0;
	if (facts->view->trace->n_stacks && !find_stack(facts, strip, row, &stack, err))
		return false;
	if (facts->view->trace->n_stacks && hwy_ref_is_set(stack))
		*line = line_of_stack(facts, stack);
	if (*line == 0 && facts->view->trace->n_spans <= SPAN_FACTS_OWNED) {
		if (!span_facts_need_owners(facts, err))
			return false;
		*line = line_of_owner(facts, strip, row);
	}
	return true;
}

void span_facts_line_text(const struct span_facts *facts, uint32_t line, struct hwy_bytes *out)
{
	char number[16];
	if (line == 0)
		return;
	const char *file = hwy_basename(facts->texts.texts[facts->lines[line].file].at);
	hwy_bytes_put(out, file, strlen(file));
	int n = snprintf(number, sizeof number, ":%" PRIu32, facts->lines[line].line);
	hwy_bytes_put(out, number, (size_t)n);
}
