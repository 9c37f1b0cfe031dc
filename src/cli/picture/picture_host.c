/* SPDX-License-Identifier: Apache-2.0 */
/* picture_host.c - when threads ran, for recordings without device work and without calls of a
 * vendor's library: a program on the CPU alone, or one whose GPU could not be recorded.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/picture/picture.h"

/* A sample stands for no more time than this, in ns: samples that are further apart are those of a
 * thread that slept between them. */
enum { MOST_SAMPLE_NS = 10000000 };

bool picture_host_score(struct hwy_trace *trace, const struct picture_options *options,
			uint64_t *scores, struct hwy_err *err)
{
	if (!hwy_need(trace, PICTURE_HOST_KINDS, HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR),
		      err) ||
	    !hwy_need(trace, HWY_KIND_BIT(HWY_STATE), HWY_COL_BIT(HWY_NAME), err))
		return false;
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		int64_t thread = trace->lanes[strip->lane].thread;
		if (!(PICTURE_HOST_KINDS & HWY_KIND_BIT(strip->kind)) || thread < 0 ||
		    thread >= trace->n_threads)
			continue;
		for (uint32_t row = 0; row < strip->rows; row++)
			scores[thread] += hwy_get(strip, HWY_START, row) < options->to &&
					  hwy_end(strip, row) >= options->from;
	}
	return true;
}

static bool is_running(const struct hwy_trace *trace, const struct hwy_strip *strip, uint32_t row)
{
	return strcmp(hwy_str(trace, hwy_get(strip, HWY_NAME, row)), "running") == 0;
}

static void add_spans_of(const struct hwy_trace *trace, const struct hwy_strip *strip,
			 const struct picture_options *options, struct picture_layer *layer)
{
	for (uint32_t row = 0; row < strip->rows; row++) {
		int64_t from = hwy_get(strip, HWY_START, row), to = hwy_end(strip, row);
		if (from >= options->to)
			break;
		if (to > options->from &&
		    (strip->kind != HWY_STATE || is_running(trace, strip, row)))
			picture_layer_add(layer, from, to);
	}
}

static int compare_lengths(const void *left, const void *right)
{
	const int64_t *a = left, *b = right;
	return (*a > *b) - (*a < *b);
}

/* The median distance of two samples: how much time one of them stands for. */
static int64_t sample_length(const struct hwy_strip *strip)
{
	uint32_t n = strip->rows - 1;
	if (strip->rows < 2)
		return MOST_SAMPLE_NS;
	int64_t *lengths = hwy_array(n, sizeof *lengths);
	for (uint32_t i = 0; i < n; i++)
		lengths[i] = hwy_get(strip, HWY_START, i + 1) - hwy_get(strip, HWY_START, i);
	qsort(lengths, n, sizeof *lengths, compare_lengths);
	int64_t median = lengths[n / 2];
	free(lengths);
	return median < MOST_SAMPLE_NS ? median : MOST_SAMPLE_NS;
}

static void add_samples(const struct hwy_strip *strip, const struct picture_options *options,
			struct picture_layer *layer)
{
	int64_t length = sample_length(strip);
	for (uint32_t row = 0; row < strip->rows; row++) {
		int64_t to = hwy_get(strip, HWY_START, row), from = to - length;
		if (from >= options->to)
			break;
		if (to > options->from)
			picture_layer_add(layer, from, to);
	}
}

void picture_host_runs(const struct hwy_trace *trace, int64_t thread,
		       const struct picture_options *options, struct picture_layer *layer)
{
	static const uint32_t sources[] = {
		HWY_KIND_BIT(HWY_STATE),
		HWY_KIND_BIT(HWY_SAMPLE),
		HWY_KIND_BIT(HWY_OP) | HWY_KIND_BIT(HWY_CALL) | HWY_KIND_BIT(HWY_RANGE),
	};
	for (size_t i = 0; i < sizeof sources / sizeof *sources && layer->n == 0; i++)
		for (uint32_t s = 0; s < trace->n_strips; s++) {
			const struct hwy_strip *strip = &trace->strips[s];
			if (!(sources[i] & HWY_KIND_BIT(strip->kind)) || strip->rows == 0 ||
			    trace->lanes[strip->lane].thread != thread)
				continue;
			if (strip->kind == HWY_SAMPLE)
				add_samples(strip, options, layer);
			else
				add_spans_of(trace, strip, options, layer);
		}
}
