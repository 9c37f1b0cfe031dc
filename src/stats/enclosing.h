/* enclosing.h - the innermost span of a nesting lane around a moment, for moments in ascending order. */
#ifndef HWY_STATS_ENCLOSING_H
#define HWY_STATS_ENCLOSING_H

#include "stats/run.h"

struct enclosing {
	const struct hwy_strip *strip; /* START and DUR are needed */
	uint32_t next;                 /* row not yet looked at */
	struct enclosing_open {
		uint32_t row;
		int64_t end;
	} * open;
	uint32_t n, cap;
};

/* The row around [start, end], or UINT32_MAX. Starts must not descend from call to call. */
uint32_t enclosing_find(struct enclosing *enclosing, int64_t start, int64_t end);
void enclosing_close(struct enclosing *enclosing);

#endif
