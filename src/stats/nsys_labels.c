/* SPDX-License-Identifier: Apache-2.0 */
/* nsys_labels.c - see nsys_labels.h. */
#include "stats/nsys_labels.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

char *text_buffer_reserve(struct text_buffer *buffer, size_t bytes)
{
	if (buffer->cap < bytes) {
		free(buffer->at);
		buffer->cap = bytes + 256;
		buffer->at = hwy_alloc(buffer->cap);
	}
	return buffer->at;
}

struct hwy_text nsys_label_call(struct hwy_text name)
{
	/* nsys removes versions of exactly four digits: those of CUDA 3.2 to 9.x, none of a
	 * later CUDA. */
	if (name.length <= 6)
		return name;
	const char *tail = name.at + name.length - 6;
	if (tail[0] != '_' || tail[1] != 'v')
		return name;
	for (int i = 2; i < 6; i++)
		if (!isdigit((unsigned char)tail[i]))
			return name;
	name.length -= 6;
	return name;
}

#define LABEL(text)                                                                                \
	{                                                                                          \
		(text), sizeof(text) - 1                                                           \
	}

struct hwy_text nsys_label_copy(int64_t direction)
{
	static const struct hwy_text words[HWY_DIRECTIONS] = {
		[HWY_DIR_UNKNOWN] = LABEL("[CUDA memcpy Unknown]"),
		[HWY_H2D] = LABEL("[CUDA memcpy Host-to-Device]"),
		[HWY_D2H] = LABEL("[CUDA memcpy Device-to-Host]"),
		[HWY_H2A] = LABEL("[CUDA memcpy Host-to-Array]"),
		[HWY_A2H] = LABEL("[CUDA memcpy Array-to-Host]"),
		[HWY_A2A] = LABEL("[CUDA memcpy Array-to-Array]"),
		[HWY_A2D] = LABEL("[CUDA memcpy Array-to-Device]"),
		[HWY_D2A] = LABEL("[CUDA memcpy Device-to-Array]"),
		[HWY_D2D] = LABEL("[CUDA memcpy Device-to-Device]"),
		[HWY_H2H] = LABEL("[CUDA memcpy Host-to-Host]"),
		[HWY_P2P] = LABEL("[CUDA memcpy Peer-to-Peer]"),
		[HWY_UM_H2D] = LABEL("[CUDA memcpy Unified Host-to-Device]"),
		[HWY_UM_D2H] = LABEL("[CUDA memcpy Unified Device-to-Host]"),
		[HWY_UM_D2D] = LABEL("[CUDA memcpy Unified Device-to-Device]"),
	};
	return words[direction >= 0 && direction < HWY_DIRECTIONS ? direction : HWY_DIR_UNKNOWN];
}

struct hwy_text nsys_label_fill(void)
{
	return (struct hwy_text)LABEL("[CUDA memset]");
}

struct hwy_text nsys_label_dimensions(int64_t x, int64_t y, int64_t z,
				      char text[NSYS_LABEL_DIMENSIONS_BYTES])
{
	int n = snprintf(text, NSYS_LABEL_DIMENSIONS_BYTES, "%4" PRId64 " %4" PRId64 " %4" PRId64,
			 x, y, z);
	return (struct hwy_text){
		text,
		(uint32_t)(n < NSYS_LABEL_DIMENSIONS_BYTES ? n : NSYS_LABEL_DIMENSIONS_BYTES - 1)};
}

struct hwy_text nsys_label_join(struct hwy_text domain, struct hwy_text name,
				struct text_buffer *buffer)
{
	size_t length = (size_t)domain.length + 1 + name.length;
	char *text = text_buffer_reserve(buffer, length + 1);
	memcpy(text, domain.at, domain.length);
	text[domain.length] = ':';
	memcpy(text + domain.length + 1, name.at, name.length);
	text[length] = 0;
	return (struct hwy_text){text, (uint32_t)length};
}

struct hwy_text nsys_label_range(const struct hwy_trace *trace, uint32_t lane, int64_t name,
				 struct text_buffer *buffer)
{
	return nsys_label_join(hwy_text(trace, trace->lanes[lane].name), hwy_text(trace, name),
			       buffer);
}
