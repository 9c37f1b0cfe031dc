/* nsys_labels.c - how tables name things, in nsys's words. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "stats/families.h"

struct hwy_text word_of_call(struct hwy_text name)
{
	/* nsys takes off versions of exactly four digits: all of CUDA 3.2 to 9.x, none after. */
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

#define WORD(text)                                                                                 \
	{                                                                                          \
		(text), sizeof(text) - 1                                                           \
	}

struct hwy_text word_of_copy(int64_t direction)
{
	static const struct hwy_text words[HWY_DIRECTIONS] = {
		[HWY_DIR_UNKNOWN] = WORD("[CUDA memcpy Unknown]"),
		[HWY_H2D] = WORD("[CUDA memcpy Host-to-Device]"),
		[HWY_D2H] = WORD("[CUDA memcpy Device-to-Host]"),
		[HWY_H2A] = WORD("[CUDA memcpy Host-to-Array]"),
		[HWY_A2H] = WORD("[CUDA memcpy Array-to-Host]"),
		[HWY_A2A] = WORD("[CUDA memcpy Array-to-Array]"),
		[HWY_A2D] = WORD("[CUDA memcpy Array-to-Device]"),
		[HWY_D2A] = WORD("[CUDA memcpy Device-to-Array]"),
		[HWY_D2D] = WORD("[CUDA memcpy Device-to-Device]"),
		[HWY_H2H] = WORD("[CUDA memcpy Host-to-Host]"),
		[HWY_P2P] = WORD("[CUDA memcpy Peer-to-Peer]"),
		[HWY_UM_H2D] = WORD("[CUDA memcpy Unified Host-to-Device]"),
		[HWY_UM_D2H] = WORD("[CUDA memcpy Unified Device-to-Host]"),
		[HWY_UM_D2D] = WORD("[CUDA memcpy Unified Device-to-Device]"),
	};
	return words[direction >= 0 && direction < HWY_DIRECTIONS ? direction : HWY_DIR_UNKNOWN];
}

struct hwy_text word_of_fill(void)
{
	return (struct hwy_text)WORD("[CUDA memset]");
}

struct hwy_text word_of_dimensions(int64_t x, int64_t y, int64_t z, char text[WORD_DIMENSIONS])
{
	int n = snprintf(text, WORD_DIMENSIONS, "%4" PRId64 " %4" PRId64 " %4" PRId64, x, y, z);
	return (struct hwy_text){text, (uint32_t)(n < WORD_DIMENSIONS ? n : WORD_DIMENSIONS - 1)};
}

struct hwy_text word_of_names(struct hwy_text domain, struct hwy_text name,
			      struct word_buffer *buffer)
{
	size_t length = (size_t)domain.length + 1 + name.length;
	if (buffer->cap < length + 1) {
		buffer->cap = length + 256;
		buffer->at = hwy_realloc(buffer->at, buffer->cap);
	}
	memcpy(buffer->at, domain.at, domain.length);
	buffer->at[domain.length] = ':';
	memcpy(buffer->at + domain.length + 1, name.at, name.length);
	buffer->at[length] = 0;
	return (struct hwy_text){buffer->at, (uint32_t)length};
}

struct hwy_text word_of_range(const struct hwy_trace *trace, uint32_t lane, int64_t name,
			      struct word_buffer *buffer)
{
	return word_of_names(hwy_text(trace, trace->lanes[lane].name), hwy_text(trace, name),
			     buffer);
}
