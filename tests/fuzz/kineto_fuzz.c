/* SPDX-License-Identifier: Apache-2.0 */
/* kineto_fuzz.c - any bytes as a PyTorch trace: an error of one line, or a trace that holds together.
 *
 * Each input is read through a tiny window and through a large one; unless events had to be guessed at,
 * both must yield the same spans.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "import/kineto/kineto.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(bool ok)
{
	if (!ok)
		abort();
}

static void check_strip(const struct hwy_trace *trace, const struct hwy_strip *strip)
{
	for (uint32_t row = 0; row < strip->rows; row++) {
		check(hwy_get(strip, HWY_DUR, row) >= 0);
		check(row == 0 ||
		      hwy_get(strip, HWY_START, row - 1) <= hwy_get(strip, HWY_START, row));
		check((uint64_t)hwy_get(strip, HWY_NAME, row) < trace->strings.n);
		check((uint64_t)hwy_get(strip, HWY_ARGS, row) < trace->strings.n);
		check((uint64_t)hwy_get(strip, HWY_LINK, row) <= trace->n_spans);
		check((uint64_t)hwy_get(strip, HWY_WAITED, row) <= trace->n_streams);
	}
}

static void check_trace(const struct hwy_trace *trace)
{
	for (uint32_t s = 0; s < trace->n_strips; s++)
		check_strip(trace, &trace->strips[s]);
	for (uint32_t i = 0; i < trace->n_lanes; i++) {
		const struct hwy_lane *lane = &trace->lanes[i];
		check(lane->process >= 0 && lane->process < trace->n_processes);
		check(lane->thread == HWY_NONE ||
		      (lane->thread >= 0 && lane->thread < trace->n_threads));
		check(lane->device == HWY_NONE ||
		      (lane->device >= 0 && lane->device < trace->n_devices));
		check(lane->stream == HWY_NONE ||
		      (lane->stream >= 0 && lane->stream < trace->n_streams));
	}
	for (uint32_t i = 0; i < trace->n_edges; i++)
		check(trace->edges[i].from < trace->n_spans && trace->edges[i].to < trace->n_spans);
}

static struct hwy_trace *import(const char *path, size_t window, struct hwy_err *err)
{
	*err = (struct hwy_err){0};
	struct hwy_trace *trace = import_kineto_window(path, window, NULL, err);
	check(trace || (err->text[0] && !strchr(err->text, '\n')));
	if (trace)
		check_trace(trace);
	return trace;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char path[64];
	struct hwy_err small_err, large_err;
	int fd = memfd_create("kineto", MFD_CLOEXEC);
	check(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	struct hwy_trace *small = import(path, 16 + size % 61, &small_err);
	struct hwy_trace *large = import(path, SOURCE_WINDOW, &large_err);
	close(fd);
	/* Which of two faults of a gzip file is met first depends on the window. */
	bool is_gzip = size > 1 && bytes[0] == 0x1f && bytes[1] == 0x8b;
	if (!small || !large)
		check(!small == !large && (is_gzip || strcmp(small_err.text, large_err.text) == 0));
	else if (small->n_drops == 0 || large->n_drops == 0)
		check(small->n_spans == large->n_spans && small->n_drops == large->n_drops);
	if (small)
		hwy_trace_free(small);
	if (large)
		hwy_trace_free(large);
	return 0;
}
