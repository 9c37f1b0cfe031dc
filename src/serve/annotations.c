/* annotations.c - gaps and critical path of a window at the page's resolution. */
#include "serve/answers.h"

void pieces_index(struct view_pieces *pieces)
{
	pieces->spans = hwy_alloc((pieces->n / PIECES_BLOCK + 1) * sizeof *pieces->spans);
	for (uint32_t i = 0; i < pieces->n; i++) {
		const struct view_piece *piece = &pieces->v[i];
		struct hwy_interval *span = &pieces->spans[i / PIECES_BLOCK];
		if (i % PIECES_BLOCK == 0)
			*span = (struct hwy_interval){piece->from, piece->to};
		span->from = piece->from < span->from ? piece->from : span->from;
		span->to = piece->to > span->to ? piece->to : span->to;
	}
}

static void put_piece(struct packed *out, const struct view_piece *piece, uint32_t count,
		      int64_t covered)
{
	int64_t length = piece->to - piece->from;
	int64_t share =
		length > 0 ? (int64_t)(255.0 * (double)covered / (double)length + 0.5) : 255;
	packed_double(out, (double)piece->from);
	packed_double(out, (double)piece->to);
	packed_number(out, piece->span, 4);
	packed_number(out, piece->cause, 1);
	packed_number(out, piece->device, 1);
	packed_number(out, count < 255 ? count : 255, 1);
	packed_number(out, (uint64_t)(share < 1 ? 1 : share > 255 ? 255 : share), 1);
}

/* Pieces that begin in one pixel and are shorter than it are drawn as one, in the colour of the longest. */
void answer_pieces(const struct view_pieces *pieces, int64_t from, int64_t to, uint32_t n,
		   struct packed *out)
{
	int64_t pixel = (to - from) / n, longest = 0, covered = 0;
	size_t head = out->n;
	uint32_t written = 0, merged = 0;
	struct view_piece held = {0};
	packed_number(out, 0, 4);
	for (uint64_t i = 0; i < pieces->n; i++) {
		const struct view_piece *piece = &pieces->v[i];
		const struct hwy_interval *block = &pieces->spans[i / PIECES_BLOCK];
		int64_t length = piece->to - piece->from;
		if (i % PIECES_BLOCK == 0 && (block->to <= from || block->from >= to)) {
			i += PIECES_BLOCK - 1;
			continue;
		}
		if (piece->to <= from || piece->from >= to)
			continue;
		bool joins = merged > 0 && held.device == piece->device &&
			     piece->to - held.from <= pixel;
		if (!joins && merged > 0) {
			put_piece(out, &held, merged, covered);
			written++;
		}
		if (!joins) {
			held = *piece;
			merged = 0;
			covered = 0;
			longest = length;
		} else if (length > longest) {
			longest = length;
			held.cause = piece->cause;
			held.span = piece->span;
		}
		held.to = piece->to;
		covered += length;
		merged++;
	}
	if (merged > 0) {
		put_piece(out, &held, merged, covered);
		written++;
	}
	struct packed at = {.v = out->v + head, .cap = 4};
	packed_number(&at, written, 4);
}
