/* SPDX-License-Identifier: Apache-2.0 */
/* ncu_fuzz.c - any bytes as the output of ncu --csv: an error of one line, or a trace that holds together, whose
 * counters can be looked at.
 *
 * Each input is read through a tiny window and through a large one; both must yield the same.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "analyze/kernel_counters.h"
#include "import/ncu/ncu.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void check(bool ok)
{
	if (!ok)
		abort();
}

static void check_trace(const struct hwy_trace *trace)
{
	struct measures m;
	struct kernel_counters facts;
	check(trace->n_measured > 0 && trace->n_spans == 0);
	for (uint32_t i = 0; i < trace->n_measured; i++) {
		const struct hwy_measured *measured = &trace->measured[i];
		check((uint64_t)measured->kernel < trace->strings.n && measured->launches > 0);
		check((uint64_t)measured->device < trace->n_devices);
		check(measured->shape == HWY_NONE || (uint64_t)measured->shape < trace->n_shapes);
	}
	for (uint32_t i = 0; i < trace->n_measures; i++) {
		check((uint64_t)trace->measures[i].measured < trace->n_measured);
		check((uint64_t)trace->measures[i].metric < trace->strings.n);
	}
	measures_open(&m, trace);
	for (uint32_t i = 0; i < trace->n_measured && i < 64; i++)
		kernel_counters_read(&m, i, &facts);
	measures_close(&m);
}

static struct hwy_trace *import(const char *path, size_t window, struct hwy_err *err)
{
	*err = (struct hwy_err){0};
	struct hwy_trace *trace = import_ncu_window(path, window, NULL, err);
	check(trace || (err->text[0] && !strchr(err->text, '\n')));
	if (trace)
		check_trace(trace);
	return trace;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char path[64];
	struct hwy_err small_err, large_err;
	int fd = memfd_create("ncu", MFD_CLOEXEC);
	check(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	struct hwy_trace *small = import(path, 16 + size % 61, &small_err);
	struct hwy_trace *large = import(path, SOURCE_WINDOW, &large_err);
	close(fd);
	/* Which of two faults of a gzip file is met first depends on the window. */
	bool is_gzip = size > 1 && bytes[0] == 0x1f && bytes[1] == 0x8b;
	check(!small == !large);
	check(small || is_gzip || strcmp(small_err.text, large_err.text) == 0);
	if (small && large)
		check(small->n_measures == large->n_measures &&
		      small->n_measured == large->n_measured);
	if (small)
		hwy_trace_free(small);
	if (large)
		hwy_trace_free(large);
	return 0;
}
