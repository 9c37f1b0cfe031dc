/* SPDX-License-Identifier: Apache-2.0 */
/* piece.h - a part of a recording as a file of its own: what the page saves of its window or
 * selection.
 *
 * The report is opened a second time, so that no other request waits. The number of spans is
 * limited, because the file is made in memory.
 */
#ifndef HWY_SERVE_PIECE_H
#define HWY_SERVE_PIECE_H

#include "base/bytes.h"
#include "base/err.h"
#include "trace/append.h"

enum { PIECE_SPANS = 2000000 }; /* the most spans of a piece */

enum piece_type { PIECE_REPORT, PIECE_PERFETTO, PIECE_TYPES };
extern const char *const piece_types[PIECE_TYPES + 1]; /* "hwy", "perfetto", NULL */

/* Counts the spans of a part of a report. */
bool piece_count(const char *report, const struct hwy_append_part *part, uint64_t *spans,
		 struct hwy_err *err);
/* Adds the file to 'out'. False where the part has no spans, or more than PIECE_SPANS. */
bool piece_make(const char *report, const struct hwy_append_part *part, enum piece_type type,
		struct hwy_bytes *out, struct hwy_err *err);

#endif
