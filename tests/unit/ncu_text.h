/* SPDX-License-Identifier: Apache-2.0 */
/* ncu_text.h - output of ncu from texts, which use ' where ncu has ", and what is looked for in it. */
#ifndef HWY_TESTS_NCU_TEXT_H
#define HWY_TESTS_NCU_TEXT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analyze/kernel_counters.h"
#include "import/ncu/ncu.h"

#define WHO                                                                                        \
	"'ID','Process ID','Process Name','Host Name','Kernel Name','Context','Stream','Block Size','Grid Size','Device','CC'"
#define LONG_HEADER WHO ",'Section Name','Metric Name','Metric Unit','Metric Value'\n"
/* One counter of launch 'id' of 'kernel'. */
#define LONG_ROW(id, kernel, metric, unit, value)                                                   \
	"'" id "','371','a.out','127.0.0.1','" kernel                                               \
	"','1','7','(256, 1, 1)','(1024, 2, 1)','0','9.0','Command line profiler metrics','" metric \
	"','" unit "','" value "'\n"

static struct hwy_err err;

static inline struct hwy_trace *read_ncu_in(const char *text, size_t window)
{
	char path[] = "/tmp/headway-ncu-XXXXXX";
	size_t length = strlen(text);
	char *bytes = malloc(length + 1);
	for (size_t i = 0; i <= length; i++)
		bytes[i] = text[i] == '\'' ? '"' : text[i];
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, length), length);
	close(fd);
	free(bytes);
	err = (struct hwy_err){0};
	struct hwy_trace *trace = import_ncu_window(path, window, NULL, &err);
	unlink(path);
	return trace;
}

static inline struct hwy_trace *read_ncu(const char *text)
{
	struct hwy_trace *trace = read_ncu_in(text, SOURCE_WINDOW);
	if (!trace)
		fail_msg("%s", err.text);
	return trace;
}

static inline double counter(const struct hwy_trace *trace, uint32_t measured, const char *metric)
{
	struct measures m;
	measures_open(&m, trace);
	double value = measures_value(&m, measured, metric);
	measures_close(&m);
	return value;
}

#endif
