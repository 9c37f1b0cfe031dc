/* SPDX-License-Identifier: Apache-2.0 */
/* nsys_labels.h - how the tables name calls, copies, launch dimensions and ranges: as nsys's own
 * tables do. */
#ifndef HWY_STATS_NSYS_LABELS_H
#define HWY_STATS_NSYS_LABELS_H

#include "trace/trace.h"

/* Memory for one text that is put together; it grows and serves one text after the other. Free
 * 'at' in the end. */
struct text_buffer {
	char *at;
	size_t cap;
};
/* Makes room for 'bytes' bytes; what the buffer held is lost. */
char *text_buffer_reserve(struct text_buffer *buffer, size_t bytes);

/* Yields a call's name without its version: "cudaMalloc" for "cudaMalloc_v3020" (but v10000 and
 * v2 stay). */
struct hwy_text nsys_label_call(struct hwy_text name);
/* Yield labels such as "[CUDA memcpy Host-to-Device]" and "[CUDA memset]": constant texts that
 * are never freed. */
struct hwy_text nsys_label_copy(int64_t direction);
struct hwy_text nsys_label_fill(void);
enum { NSYS_LABEL_DIMENSIONS_BYTES = 64 };
/* Writes launch dimensions such as "  16   16    1" to 'text'. */
struct hwy_text nsys_label_dimensions(int64_t x, int64_t y, int64_t z,
				      char text[NSYS_LABEL_DIMENSIONS_BYTES]);
/* Yields a range's label "domain:name", which is valid until the buffer is used again. */
struct hwy_text nsys_label_join(struct hwy_text domain, struct hwy_text name,
				struct text_buffer *buffer);
struct hwy_text nsys_label_range(const struct hwy_trace *trace, uint32_t lane, int64_t name,
				 struct text_buffer *buffer);

#endif
