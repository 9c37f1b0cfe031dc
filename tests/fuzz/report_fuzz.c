/* SPDX-License-Identifier: Apache-2.0 */
/* report_fuzz.c - any bytes as a report: opened or refused, never a crash, never all memory.
 *
 * Input is a whole file, or, since chance does not find its way through zstd and its checksum, a file taken
 * apart: 'D', the directory's length (two bytes, little-endian), the directory as it is before compression,
 * and the bytes between header and directory.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyze/device_metrics.h"
#include "analyze/kernel_table.h"
#include "api/api_trace.h"
#include "serve/device_lead.h"
#include "serve/event_table.h"
#include "serve/selection.h"
#include "serve/tiles.h"
#include "trace/file_format.h"
#include "trace/pyramid.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static struct hwy_bytes assemble(const uint8_t *input, size_t size)
{
	struct hwy_bytes file = {0};
	size_t length = (size_t)(input[1] | input[2] << 8);
	length = length < size - 3 ? length : size - 3;
	const uint8_t *blocks = input + 3 + length;
	size_t n_blocks = size - 3 - length, stored = 0;
	struct codec *codec = codec_new();
	const void *directory = codec_compress(codec, 1, input + 3, length, &stored);
	uint64_t head[] = {FORMAT_MAJOR, FORMAT_HEADER + n_blocks + stored + FORMAT_TRAILER};
	uint64_t tail[] = {FORMAT_HEADER + n_blocks, stored, length};
	hwy_bytes_put(&file, FORMAT_MAGIC, 8);
	hwy_bytes_put(&file, head, sizeof head);
	hwy_bytes_put(&file, blocks, n_blocks);
	hwy_bytes_put(&file, directory, stored);
	hwy_bytes_put(&file, tail, sizeof tail);
	hwy_bytes_put(&file, FORMAT_END, 8);
	codec_free(codec);
	return file;
}

/* What counters of devices and of kernels say. */
static void use_counters(struct hwy_trace *trace)
{
	struct hwy_metrics metrics;
	struct kernel_table table;
	struct hwy_err err;
	int64_t ns;
	metrics_open(&metrics, trace);
	for (uint32_t device = 0; device < trace->n_devices && device < 4; device++)
		for (unsigned m = 0; m < METRICS; m++) {
			const struct metric_series *series =
				metrics_get(&metrics, device, (enum hwy_metric)m);
			if (series && !isfinite(metric_mean_between(series, INT64_MIN / 4,
								    INT64_MAX / 4, &ns)))
				abort();
		}
	metrics_close(&metrics);
	if (kernel_table_make(&table, trace, &err))
		kernel_table_free(&table);
}

/* Everything a reader may ask of an open report. */
static void use(struct hwy_trace *trace)
{
	struct hwy_err err;
	if (hwy_need(trace, UINT32_MAX, UINT64_MAX, &err)) {
		int64_t from, to;
		hwy_extent(trace, UINT32_MAX, &from, &to);
		for (uint32_t s = 0; s < trace->n_strips; s++)
			for (uint32_t row = 0; row < trace->strips[s].rows && row < 1000; row++) {
				hwy_corr(trace, &trace->strips[s], row);
				hwy_str(trace, hwy_get(&trace->strips[s], HWY_NAME, row));
			}
	}
	use_counters(trace);
	for (uint32_t i = 0; i < trace->n_results; i++)
		hwy_result_bytes(trace, i, &err);
	for (uint32_t lane = 0; lane < trace->n_lanes && lane < 20; lane++)
		for (unsigned level = 0; level <= 60; level += 30) {
			struct hwy_buckets buckets;
			if (hwy_pyramid_level(trace, lane, level, -1000, 1 << 20, &buckets, &err))
				free(buckets.v);
		}
	hwy_intern(&trace->strings, "x", 1);
}

/* The columns that the C API hands out, of every kind. */
static void take_columns(struct hwy_trace *trace)
{
	struct headway_trace handle = {.inside = trace};
	char why[256];
	for (unsigned kind = 0; kind <= HWY_KINDS; kind++) {
		const char *name, *kind_name = headway_kind_name(kind);
		for (unsigned i = 0; (name = headway_column_name(&handle, kind_name, i)); i++)
			headway_trace_column(&handle, kind_name, name, why, sizeof why);
	}
	api_columns_free(handle.columns);
}

/* Tables of spans, by every column and in every kind of group, and of queries with every kind of
 * term. */
static void ask_tables(struct view_trace *view, struct hwy_json *json)
{
	static const char *const texts[] = {
		"",
		"-thread~. -line~. lane:\"a\"",
		"dur>0 latency>=0 start:0.. end:..1s",
		"line:a.py:1 name~a.*b",
		"registers>0 correlation:1.. payload>0 rate>1MB/s",
		"module:m step:0.. phase:0 gpu:0 stream:0.. rank:0.. pid:0..",
	};
	const struct timed_step step = {.cpu = {view->from, view->to},
					.device = {view->from, view->to},
					.process = FLOW_NO_PROCESS};
	struct event_request request = {.is_whole = true,
					.to = view->to - view->origin,
					.lanes = "",
					.n = 100,
					.steps = {.v = &step, .n = 1, .is_known = true}};
	struct hwy_err err;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		for (unsigned by = 0; by < EVENT_GROUPS + EVENT_COUNT; by++) {
			request.text = texts[i];
			request.group = by < EVENT_GROUPS ? by : EVENT_BY_NOTHING;
			request.sort = by < EVENT_GROUPS ? EVENT_NAME : by - EVENT_GROUPS;
			request.falls = by % 2;
			event_table_answer(view, json, &request, &err);
		}
}

/* Everything the viewer's page may ask; frees the trace. */
static void show(struct hwy_trace *trace)
{
	struct hwy_err err;
	struct view_trace view;
	char *text = NULL;
	size_t n = 0;
	struct hwy_bytes out = {0};
	struct hwy_json json = {.out = open_memstream(&text, &n)};
	if (view_open(&view, trace, "report", &err)) {
		int64_t last = view.to - view.origin;
		if (trace->n_spans % 2)
			view.whole_spans = 0; /* every lane by parts */
		lane_tree_answer(&view, &json, &err);
		for (uint32_t lane = 0; lane < trace->n_lanes && lane < 8; lane++)
			for (unsigned level = 0; level < VIEW_LEVELS; level += 8)
				tiles_put(&view,
					  &(struct tile){0, level, lane, last >> (level + 9)}, &out,
					  &err);
		tiles_put(&view, &(struct tile){0, 20, VIEW_HARDWARE, 0}, &out, &err);
		for (uint32_t id = 0; id < trace->n_spans && id < 16; id++) {
			detail_answer_span(&view, &json, id, &err);
			span_chain_answer(&view, &json, id, &err);
		}
		ask_tables(&view, &json);
		struct device_lead leads[16];
		bool is_known;
		for (uint32_t d = 0; d < trace->n_devices && d < 4; d++)
			device_lead_parts(&view, d, view.from, view.to + 1, leads, 16, &is_known,
					  &err);
		struct search search = {.text = "e", .to = last + 1, .n = 16, .lane = -1};
		search_answer(&view, &json, &search, &err);
		search_answer_marks(&view, &json, &search, &err);
		search_answer_hit(&view, &json, "e", (struct step_times){0},
				  (struct search_place){0, -1}, 1, &err);
		struct selection selection = {.from = view.origin, .to = view.origin + last + 1};
		selection_answer(&view, &json, &selection, &err);
	}
	fclose(json.out);
	free(text);
	free(out.bytes);
	view_close(&view);
	hwy_trace_free(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct hwy_bytes file = {0};
	if (size > 3 && bytes[0] == 'D')
		file = assemble(bytes, size);
	else
		hwy_bytes_put(&file, bytes, size);
	int fd = memfd_create("report", MFD_CLOEXEC);
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (fd >= 0 && write(fd, file.bytes, file.n) == (ssize_t)file.n) {
		struct hwy_err err;
		struct hwy_trace *trace = hwy_file_open(path, &err);
		if (trace && size % 2)
			use(trace);
		if (trace && size % 4 < 2)
			take_columns(trace);
		if (trace)
			show(trace);
	}
	close(fd);
	free(file.bytes);
	return 0;
}
