/* enclosing.c - see enclosing.h. */
#include "stats/enclosing.h"

#include <stdlib.h>

static void drop_ended(struct enclosing *enclosing, int64_t moment)
{
	while (enclosing->n && enclosing->open[enclosing->n - 1].end < moment)
		enclosing->n--;
}

uint32_t enclosing_find(struct enclosing *enclosing, int64_t start, int64_t end)
{
	const struct hwy_strip *strip = enclosing->strip;
	for (; enclosing->next < strip->rows; enclosing->next++) {
		int64_t begins = hwy_get(strip, HWY_START, enclosing->next);
		if (begins > start)
			break;
		drop_ended(enclosing, begins);
		HWY_GROW(enclosing->open, enclosing->n, enclosing->cap);
		enclosing->open[enclosing->n++] =
			(struct enclosing_open){enclosing->next, hwy_end(strip, enclosing->next)};
	}
	drop_ended(enclosing, start);
	for (uint32_t i = enclosing->n; i-- > 0;)
		if (enclosing->open[i].end >= end)
			return enclosing->open[i].row;
	return UINT32_MAX;
}

void enclosing_close(struct enclosing *enclosing)
{
	free(enclosing->open);
	*enclosing = (struct enclosing){0};
}
