/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c - functions that read a finished trace; see trace.h. */
#include "trace/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/search.h"
#include "trace/file.h"

void hwy_trace_free(struct hwy_trace *trace)
{
	if (!trace)
		return;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		for (unsigned c = 0; c < HWY_COLS; c++)
			column_free(trace->strips[s].columns[c]);
	free(trace->strips);
	for (uint32_t r = 0; trace->result_bytes && r < trace->n_results; r++)
		free(trace->result_bytes[r]);
	free(trace->result_bytes);
#define X(type, field, section) free(trace->field);
	HWY_RECORDS(X)
#undef X
	hwy_strings_free(&trace->strings);
	free(trace->roles);
	free(trace->comm);
	if (trace->file)
		file_close(trace->file);
	free(trace);
}

bool hwy_need_chunk(struct hwy_trace *trace, uint32_t strip, uint32_t chunk, uint64_t columns,
		    struct hwy_err *err)
{
	if (!trace->file)
		return true;
	for (unsigned c = 0; c < HWY_COLS; c++) {
		struct hwy_column *column = trace->strips[strip].columns[c];
		if (column && (columns & HWY_COL_BIT(c)) &&
		    !file_load_chunk(trace->file, column, chunk, err))
			return false;
	}
	return true;
}

bool hwy_need_rows(struct hwy_trace *trace, uint32_t strip, uint64_t columns, uint32_t first,
		   uint32_t n, struct hwy_err *err)
{
	for (uint32_t i = first >> HWY_CHUNK_BITS; n > 0 && i <= (first + n - 1) >> HWY_CHUNK_BITS;
	     i++)
		if (!hwy_need_chunk(trace, strip, i, columns, err))
			return false;
	return true;
}

bool hwy_need_strip(struct hwy_trace *trace, uint32_t strip, uint64_t columns, struct hwy_err *err)
{
	return hwy_need_rows(trace, strip, columns, 0, trace->strips[strip].rows, err);
}

void hwy_forget_chunk(struct hwy_trace *trace, uint32_t strip, uint32_t chunk, uint64_t columns)
{
	if (!trace->file)
		return;
	for (unsigned c = 0; c < HWY_COLS; c++) {
		struct hwy_column *column = trace->strips[strip].columns[c];
		struct hwy_chunk *at = column ? &column->chunks[chunk] : NULL;
		/* Small columns are stored in the directory: they have no block from which they
		 * could be read again. */
		if (!at || !(columns & HWY_COL_BIT(c)) || !at->data || !at->stored)
			continue;
		free(at->data);
		at->data = NULL;
		at->loaded = 0;
	}
}

void hwy_forget_strip(struct hwy_trace *trace, uint32_t strip, uint64_t columns)
{
	for (uint32_t i = 0; i < chunks_of(trace->strips[strip].rows); i++)
		hwy_forget_chunk(trace, strip, i, columns);
}

bool hwy_need(struct hwy_trace *trace, uint32_t kinds, uint64_t columns, struct hwy_err *err)
{
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if ((kinds & HWY_KIND_BIT(trace->strips[s].kind)) &&
		    !hwy_need_strip(trace, s, columns, err))
			return false;
	return true;
}

bool hwy_peek_near(struct hwy_trace *trace, struct hwy_peeks *peeks, uint32_t strip,
		   enum hwy_col col, uint32_t row, int64_t *value, struct hwy_err *err)
{
	enum { RECENT = sizeof peeks->recent / sizeof *peeks->recent };
	const struct hwy_column *column = trace->strips[strip].columns[col];
	uint32_t at = row >> HWY_CHUNK_BITS, i = peeks->last;
	*value = 0;
	if (!column)
		return true;
	if (column->chunks[at].loaded) {
		*value = column_get(column, row);
		return true;
	}
	if (peeks->recent[i].column != column || peeks->recent[i].index != at)
		for (i = 0; i < RECENT; i++)
			if (peeks->recent[i].column == column && peeks->recent[i].index == at)
				break;
	if (i == RECENT) {
		struct hwy_chunk chunk = column->chunks[at];
		if (!file_peek(trace->file, column, at, &chunk, err))
			return false;
		i = peeks->next++ % RECENT;
		free(peeks->recent[i].chunk.data);
		peeks->recent[i] = (struct hwy_peeked){column, at, chunk};
	}
	peeks->last = i;
	struct hwy_column one = {.chunks = &peeks->recent[i].chunk};
	*value = column_get(&one, row & (HWY_CHUNK_ROWS - 1));
	return file_accept_value(trace->file, column, value, err);
}

void hwy_peeks_free(struct hwy_peeks *peeks)
{
	for (size_t i = 0; i < sizeof peeks->recent / sizeof *peeks->recent; i++)
		free(peeks->recent[i].chunk.data);
	*peeks = (struct hwy_peeks){0};
}

bool hwy_peek(struct hwy_trace *trace, uint32_t strip, enum hwy_col col, uint32_t row,
	      int64_t *value, struct hwy_err *err)
{
	struct hwy_peeks once = {0};
	bool found = hwy_peek_near(trace, &once, strip, col, row, value, err);
	hwy_peeks_free(&once);
	return found;
}

const struct hwy_strip *hwy_strip_of(const struct hwy_trace *trace, uint32_t id, uint32_t *row)
{
	assert(id < trace->n_spans);
	/* The first strip begins with id 0, so there is a strip before 'later'. */
	uint32_t later = HWY_FIRST(s, 0u, trace->n_strips, trace->strips[s].first > id);
	*row = id - trace->strips[later - 1].first;
	return &trace->strips[later - 1];
}

/* Yields the first strip of a lane, or of the next lane that has a strip. */
static uint32_t first_strip(const struct hwy_trace *trace, uint32_t lane)
{
	return HWY_FIRST(s, 0u, trace->n_strips, trace->strips[s].lane >= lane);
}

const struct hwy_strip *hwy_strip_on(const struct hwy_trace *trace, uint32_t lane,
				     enum hwy_kind kind)
{
	for (uint32_t s = first_strip(trace, lane);
	     s < trace->n_strips && trace->strips[s].lane == lane; s++)
		if (trace->strips[s].kind == kind)
			return &trace->strips[s];
	return NULL;
}

struct hwy_text hwy_text(const struct hwy_trace *trace, int64_t id)
{
	return trace->strings.texts[id >= 0 && id < trace->strings.n ? id : 0];
}

const char *hwy_str(const struct hwy_trace *trace, int64_t id)
{
	return hwy_text(trace, id).at;
}

bool hwy_has_ranks(const struct hwy_trace *trace)
{
	int64_t first = HWY_NONE;
	for (uint32_t p = 0; p < trace->n_processes; p++) {
		int64_t rank = trace->processes[p].rank;
		if (rank != HWY_NONE && first != HWY_NONE && rank != first)
			return true;
		first = rank != HWY_NONE ? rank : first;
	}
	return false;
}

const char *hwy_property(const struct hwy_trace *trace, const char *name)
{
	for (uint32_t i = 0; i < trace->n_properties; i++)
		if (strcmp(hwy_str(trace, trace->properties[i].name), name) == 0)
			return hwy_str(trace, trace->properties[i].value);
	return NULL;
}

bool hwy_lane_is_opencl(const struct hwy_trace *trace, uint32_t lane)
{
	const struct hwy_lane *at = &trace->lanes[lane];
	if (at->stream >= 0 && at->stream < trace->n_streams) {
		int64_t flags = trace->streams[at->stream].flags;
		return flags == HWY_STREAM_IN_ORDER || flags == HWY_STREAM_OUT_OF_ORDER;
	}
	return at->type == HWY_LANE_API && at->name > 0 &&
	       strcmp(hwy_str(trace, at->name), HWY_OPENCL) == 0;
}

bool hwy_lane_is_library(const struct hwy_trace *trace, uint32_t lane)
{
	const struct hwy_lane *at = &trace->lanes[lane];
	return at->type == HWY_LANE_CALL && hwy_text(trace, at->name).length > 0;
}

int64_t hwy_corr(const struct hwy_trace *trace, const struct hwy_strip *strip, uint32_t row)
{
	uint32_t call, api_row;
	if (!hwy_get_index(strip, HWY_LINK, row, &call))
		return hwy_get(strip, HWY_CORR, row);
	const struct hwy_strip *api = hwy_strip_of(trace, call, &api_row);
	return hwy_get(api, HWY_CORR, api_row);
}

bool hwy_extent(const struct hwy_trace *trace, uint32_t kinds, int64_t *from, int64_t *to)
{
	bool any = false;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		if (!(kinds & HWY_KIND_BIT(strip->kind)) || strip->rows == 0)
			continue;
		int64_t start = hwy_get(strip, HWY_START, 0);
		*from = !any || start < *from ? start : *from;
		*to = any ? *to : start;
		any = true;
		for (uint32_t row = 0; row < strip->rows; row++) {
			int64_t end = hwy_end(strip, row);
			*to = end > *to ? end : *to;
		}
	}
	return any;
}

struct hwy_walk hwy_walk(const struct hwy_trace *trace, uint32_t lane, uint32_t kinds)
{
	struct hwy_walk walk = {0};
	for (uint32_t s = first_strip(trace, lane);
	     s < trace->n_strips && trace->strips[s].lane == lane; s++)
		if ((kinds & HWY_KIND_BIT(trace->strips[s].kind)) && trace->strips[s].rows)
			walk.heads[walk.n++].strip = &trace->strips[s];
	return walk;
}

bool hwy_walk_next(struct hwy_walk *walk)
{
	uint32_t best = UINT32_MAX;
	int64_t best_start = 0, best_dur = 0;
	for (uint32_t h = 0; h < walk->n; h++) {
		const struct hwy_strip *strip = walk->heads[h].strip;
		uint32_t row = walk->heads[h].next;
		if (row == strip->rows)
			continue;
		int64_t start = hwy_get(strip, HWY_START, row), dur = hwy_get(strip, HWY_DUR, row);
		if (best == UINT32_MAX || start < best_start ||
		    (start == best_start && dur > best_dur)) {
			best = h;
			best_start = start;
			best_dur = dur;
		}
	}
	if (best == UINT32_MAX)
		return false;
	walk->strip = walk->heads[best].strip;
	walk->row = walk->heads[best].next++;
	return true;
}

bool hwy_device_is_cpu(const struct hwy_trace *trace, int64_t device)
{
	if (device < 0 || device >= trace->n_devices)
		return false;
	const struct hwy_device *one = &trace->devices[device];
	char name[64];
	snprintf(name, sizeof name, "opencl.device.%" PRId64 ".type", one->ordinal);
	const char *type = hwy_property(trace, name);
	/* A device of CUDA has a compute capability, and may have the same ordinal. */
	return one->compute_major == HWY_NONE && type && strcmp(type, "cpu") == 0;
}

bool hwy_devices_are_cpus(const struct hwy_trace *trace)
{
	for (uint32_t i = 0; i < trace->n_devices; i++)
		if (!hwy_device_is_cpu(trace, i))
			return false;
	return trace->n_devices > 0;
}
