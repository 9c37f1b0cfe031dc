/* intervals.c - see intervals.h. */
#include "analyze/intervals.h"

#include <stdlib.h>

#include "base/mem.h"

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

void bins_add(struct hwy_bins *bins, int64_t from, int64_t to)
{
	while (bins->at < bins->n && bins->windows[bins->at].to <= from)
		bins->at++;
	for (uint32_t i = bins->at; i < bins->n && bins->windows[i].from < to; i++) {
		int64_t a = later(from, bins->windows[i].from);
		int64_t b = earlier(to, bins->windows[i].to);
		if (b > a)
			bins->sums[i] += b - a;
	}
}

void set_free(struct hwy_set *set)
{
	free(set->v);
	*set = (struct hwy_set){0};
}

void set_add(struct hwy_set *set, int64_t from, int64_t to)
{
	if (to <= from)
		return;
	if (set->n && from <= set->v[set->n - 1].to) {
		set->v[set->n - 1].to = later(set->v[set->n - 1].to, to);
		return;
	}
	HWY_GROW(set->v, set->n, set->cap);
	set->v[set->n++] = (struct hwy_interval){from, to};
}

int64_t set_total(const struct hwy_set *set)
{
	int64_t total = 0;
	for (uint32_t i = 0; i < set->n; i++)
		total += set->v[i].to - set->v[i].from;
	return total;
}

void set_union(const struct hwy_set *a, const struct hwy_set *b, struct hwy_set *out)
{
	uint32_t i = 0, j = 0;
	while (i < a->n || j < b->n) {
		bool take_a = j == b->n || (i < a->n && a->v[i].from <= b->v[j].from);
		const struct hwy_interval *next = take_a ? &a->v[i++] : &b->v[j++];
		set_add(out, next->from, next->to);
	}
}

void set_intersect(const struct hwy_set *a, const struct hwy_set *b, struct hwy_set *out)
{
	uint32_t i = 0, j = 0;
	while (i < a->n && j < b->n) {
		set_add(out, later(a->v[i].from, b->v[j].from), earlier(a->v[i].to, b->v[j].to));
		/* The one that ends first can meet nothing more. */
		if (a->v[i].to < b->v[j].to)
			i++;
		else
			j++;
	}
}

void set_subtract(const struct hwy_set *a, const struct hwy_set *b, struct hwy_set *out)
{
	uint32_t j = 0;
	for (uint32_t i = 0; i < a->n; i++) {
		int64_t from = a->v[i].from;
		while (j < b->n && b->v[j].to <= from)
			j++;
		for (uint32_t k = j; k < b->n && b->v[k].from < a->v[i].to; k++) {
			set_add(out, from, b->v[k].from);
			from = b->v[k].to;
		}
		set_add(out, from, a->v[i].to);
	}
}
