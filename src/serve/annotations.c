/* SPDX-License-Identifier: Apache-2.0 */
/* annotations.c - idle gaps and the critical path inside a window, at the resolution of the page.
 *
 * The page draws annotations over the lanes. A long recording has millions of them, so blocks of
 * annotations that lie outside the window are skipped, and annotations that share a pixel are sent
 * as one.
 */
#include "serve/answers.h"

void annotations_index(struct annotations *all)
{
	uint32_t n_blocks = (all->n + ANNOTATIONS_BLOCK - 1) / ANNOTATIONS_BLOCK;
	all->blocks = hwy_array(n_blocks, sizeof *all->blocks);
	for (uint32_t i = 0; i < all->n; i++) {
		const struct annotation *one = &all->v[i];
		struct hwy_interval *block = &all->blocks[i / ANNOTATIONS_BLOCK];
		if (i % ANNOTATIONS_BLOCK == 0)
			*block = (struct hwy_interval){one->from, one->to};
		block->from = one->from < block->from ? one->from : block->from;
		block->to = one->to > block->to ? one->to : block->to;
	}
}

/* Annotations that the page draws as one: neighbours on one device that together are at most one
 * pixel wide. A longer annotation is drawn alone. */
struct merged {
	/* From the first begin to the last end of the merged annotations, with cause and span of
	 * the longest one. */
	struct annotation drawn;
	uint32_t count;  /* number of merged annotations; 0: nothing to draw */
	int64_t longest; /* duration of the longest annotation, ns */
	int64_t covered; /* sum of the durations of the merged annotations, ns */
};

static bool merged_takes(const struct merged *merged, const struct annotation *next,
			 int64_t pixel_ns)
{
	return merged->drawn.device == next->device && next->to - merged->drawn.from <= pixel_ns;
}

static void merged_add(struct merged *merged, const struct annotation *next)
{
	int64_t length = next->to - next->from;
	if (merged->count == 0) {
		merged->drawn = *next;
		merged->longest = length;
	} else if (length > merged->longest) {
		merged->longest = length;
		merged->drawn.cause = next->cause;
		merged->drawn.span_ref = next->span_ref;
	}
	merged->drawn.to = next->to;
	merged->covered += length;
	merged->count++;
}

/* Writes an annotation as VIEW_ANNOTATION bytes; see docs/view-protocol.md, "gaps, path". */
static void put_merged(const struct merged *merged, struct hwy_bytes *out)
{
	const struct annotation *drawn = &merged->drawn;
	int64_t length = drawn->to - drawn->from;
	int64_t share = length > 0
				? (int64_t)(255.0 * (double)merged->covered / (double)length + 0.5)
				: 255;
	hwy_bytes_put_double(out, (double)drawn->from);
	hwy_bytes_put_double(out, (double)drawn->to);
	hwy_bytes_put_little(out, drawn->span_ref, 4);
	hwy_bytes_put_byte(out, drawn->cause);
	hwy_bytes_put_byte(out, drawn->device);
	hwy_bytes_put_byte(out, (uint8_t)(merged->count < 255 ? merged->count : 255));
	hwy_bytes_put_byte(out, (uint8_t)(share < 1 ? 1 : share > 255 ? 255 : share));
}

/* Yields the first annotation from 'i' on that touches the window [from, to); all->n where there is
 * none. */
static uint32_t next_inside(const struct annotations *all, uint32_t i, int64_t from, int64_t to)
{
	while (i < all->n) {
		const struct hwy_interval *block = &all->blocks[i / ANNOTATIONS_BLOCK];
		uint32_t left = all->n - i;
		if (i % ANNOTATIONS_BLOCK == 0 && (block->to <= from || block->from >= to))
			i += left < ANNOTATIONS_BLOCK ? left : ANNOTATIONS_BLOCK;
		else if (all->v[i].to <= from || all->v[i].from >= to)
			i++;
		else
			break;
	}
	return i;
}

void annotations_answer(const struct annotations *all, int64_t from, int64_t to, uint32_t n_pixels,
			struct hwy_bytes *out)
{
	int64_t pixel_ns = (to - from) / n_pixels;
	size_t count_place = out->n;
	uint32_t n_written = 0;
	struct merged merged = {0};
	hwy_bytes_put_little(out, 0, 4); /* room for the count, which is known at the end */
	/* Here each annotation of the window before the i-th one is either written or contained in
	 * 'merged'. */
	for (uint32_t i = next_inside(all, 0, from, to); i < all->n;
	     i = next_inside(all, i + 1, from, to)) {
		if (merged.count > 0 && !merged_takes(&merged, &all->v[i], pixel_ns)) {
			put_merged(&merged, out);
			n_written++;
			merged = (struct merged){0};
		}
		merged_add(&merged, &all->v[i]);
	}
	if (merged.count > 0) {
		put_merged(&merged, out);
		n_written++;
	}
	hwy_little_write(out->bytes + count_place, n_written, 4);
}
