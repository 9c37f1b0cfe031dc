/* SPDX-License-Identifier: Apache-2.0 */
/* kineto_text.h - PyTorch traces from texts, which use ' where JSON has ", and what is looked for in them. */
#ifndef HWY_TESTS_KINETO_TEXT_H
#define HWY_TESTS_KINETO_TEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "import/kineto/kineto.h"

static struct hwy_err err;

static inline struct hwy_trace *import_bytes(const char *bytes, size_t length, size_t window)
{
	char path[] = "/tmp/headway-kineto-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, length), length);
	close(fd);
	struct hwy_trace *trace = import_kineto_window(path, window, NULL, &err);
	unlink(path);
	return trace;
}

static inline struct hwy_trace *import_in(const char *text, size_t window)
{
	size_t length = strlen(text);
	char *bytes = malloc(length + 1);
	for (size_t i = 0; i <= length; i++)
		bytes[i] = text[i] == '\'' ? '"' : text[i];
	struct hwy_trace *trace = import_bytes(bytes, length, window);
	free(bytes);
	return trace;
}

static inline struct hwy_trace *import(const char *text)
{
	struct hwy_trace *trace = import_in(text, SOURCE_WINDOW);
	if (!trace)
		fail_msg("%s", err.text);
	return trace;
}

#define EVENTS(text) "{'traceEvents': [" text "]}"

struct span {
	const struct hwy_strip *strip;
	uint32_t row, id;
};

/* The only span of that kind and name. */
static inline struct span span_of(struct hwy_trace *trace, enum hwy_kind kind, const char *name)
{
	struct span found = {0};
	for (uint32_t s = 0; s < trace->n_strips; s++) {
		const struct hwy_strip *strip = &trace->strips[s];
		for (uint32_t row = 0; strip->kind == kind && row < strip->rows; row++) {
			if (strcmp(hwy_str(trace, hwy_get(strip, HWY_NAME, row)), name) != 0)
				continue;
			assert_null(found.strip);
			found = (struct span){strip, row, strip->first + row};
		}
	}
	if (!found.strip)
		fail_msg("no %s '%s'", hwy_kind_names[kind], name);
	return found;
}

static inline int64_t get(struct span span, enum hwy_col col)
{
	return hwy_get(span.strip, col, span.row);
}

static inline struct hwy_lane lane_of(struct hwy_trace *trace, struct span span)
{
	return trace->lanes[span.strip->lane];
}

static inline uint32_t count(const struct hwy_trace *trace, enum hwy_kind kind)
{
	uint32_t n = 0;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (trace->strips[s].kind == kind)
			n += trace->strips[s].rows;
	return n;
}

static inline uint32_t count_linked(const struct hwy_trace *trace)
{
	uint32_t n = 0;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		for (uint32_t row = 0; row < trace->strips[s].rows; row++)
			if (HWY_KIND_BIT(trace->strips[s].kind) & HWY_DEVICE_KINDS)
				n += hwy_get(&trace->strips[s], HWY_LINK, row) != 0;
	return n;
}

static inline int64_t dropped(const struct hwy_trace *trace, const char *reason)
{
	for (uint32_t i = 0; i < trace->n_drops; i++)
		if (strcmp(hwy_str(trace, trace->drops[i].reason), reason) == 0)
			return trace->drops[i].count;
	return 0;
}

#endif
