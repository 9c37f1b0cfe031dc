/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_dictionary.c - see parquet_dictionary.h. */
#include "export/parquet/parquet_dictionary.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"

/* Values that lie within so many numbers are looked up by value instead of by hash. */
enum { MOST_DIRECT = 1 << 20 };

void parquet_dictionary_free(struct parquet_dictionary *dictionary)
{
	hwy_bytes_free(&dictionary->page);
	free(dictionary->indexes);
	free(dictionary->texts);
	free(dictionary->slots);
	free(dictionary->keys);
	*dictionary = (struct parquet_dictionary){0};
}

/* ---- texts ----------------------------------------------------------------------------------- */

void parquet_put_text(struct hwy_bytes *out, struct hwy_text text)
{
	static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */
	size_t head = out->n;
	hwy_bytes_put_little(out, 0, 4);
	for (uint32_t from = 0, at = 0; from < text.length; from = at) {
		size_t length = 1;
		while (at < text.length &&
		       (length = (unsigned char)text.at[at] < 0x80
					 ? 1
					 : hwy_utf8_length(text.at + at, text.length - at)))
			at += (uint32_t)length;
		hwy_bytes_put(out, text.at + from, at - from);
		if (at < text.length) {
			hwy_bytes_put(out, replacement, 3);
			at++;
		}
	}
	hwy_little_write(out->bytes + head, out->n - head - 4, 4);
}

int parquet_compare_texts(struct hwy_text a, struct hwy_text b)
{
	uint32_t n = a.length < b.length ? a.length : b.length;
	int order = n ? memcmp(a.at, b.at, n) : 0;
	return order ? order : (a.length > b.length) - (a.length < b.length);
}

struct hwy_text parquet_dictionary_text(const struct parquet_dictionary *dictionary, uint32_t entry)
{
	const uint8_t *at = dictionary->page.bytes + dictionary->texts[entry];
	return (struct hwy_text){(const char *)at + 4, (uint32_t)hwy_little_read(at, 4)};
}

static void dictionary_add_text(struct parquet_dictionary *d, struct hwy_text text)
{
	HWY_GROW(d->texts, d->n, d->cap_texts);
	d->texts[d->n] = (uint32_t)d->page.n;
	parquet_put_text(&d->page, text);
	struct hwy_text added = parquet_dictionary_text(d, d->n);
	if (d->n == 0)
		d->least = d->largest = 0;
	if (parquet_compare_texts(added, parquet_dictionary_text(d, d->least)) < 0)
		d->least = d->n;
	if (parquet_compare_texts(added, parquet_dictionary_text(d, d->largest)) > 0)
		d->largest = d->n;
}

/* ---- numbering ------------------------------------------------------------------------------- */

static bool add_entry(struct parquet_dictionary *d, int64_t value, uint32_t most, size_t most_bytes,
		      parquet_text *text, void *user)
{
	if (d->n >= most)
		return false;
	if (text) {
		struct hwy_text added = text(user, value);
		/* A byte that is no UTF-8 becomes three. */
		if (4 + 3 * (size_t)added.length > most_bytes - d->page.n)
			return false;
		dictionary_add_text(d, added);
	} else {
		hwy_bytes_put_little(&d->page, (uint64_t)value, 8);
	}
	d->n++;
	return true;
}

static void clear_slots(struct parquet_dictionary *d, size_t n, bool with_keys)
{
	if (n > d->cap_slots) {
		free(d->slots);
		d->slots = hwy_array(n, sizeof *d->slots);
		d->cap_slots = n;
	}
	if (with_keys && n > d->cap_keys) {
		free(d->keys);
		d->keys = hwy_array(n, sizeof *d->keys);
		d->cap_keys = n;
	}
	memset(d->slots, 0, n * sizeof *d->slots);
}

/* The slot of a value among 'mask' + 1 slots, at least half of which are free. */
static uint32_t *dictionary_slot(struct parquet_dictionary *d, size_t mask, int64_t value)
{
	size_t at = (size_t)((uint64_t)value * 0x9e3779b97f4a7c15u >> 20) & mask;
	while (d->slots[at] && d->keys[at] != value)
		at = (at + 1) & mask;
	d->keys[at] = value;
	return &d->slots[at];
}

uint32_t parquet_dictionary_make(struct parquet_dictionary *d, const int64_t *values, uint32_t n,
				 int64_t min, int64_t max, uint32_t most, size_t most_bytes,
				 parquet_text *text, void *user)
{
	bool is_direct = n > 0 && (uint64_t)max - (uint64_t)min < MOST_DIRECT;
	size_t slots = is_direct ? (size_t)((uint64_t)max - (uint64_t)min) + 1 : 16;
	while (!is_direct && slots < 2 * (size_t)(most < n ? most : n) + 2)
		slots *= 2;
	clear_slots(d, slots, !is_direct);
	if (n > d->cap_indexes) {
		d->indexes = hwy_resize(d->indexes, n, sizeof *d->indexes);
		d->cap_indexes = n;
	}
	d->n = 0;
	d->page.n = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t *slot = is_direct ? &d->slots[(uint64_t)values[i] - (uint64_t)min]
					   : dictionary_slot(d, slots - 1, values[i]);
		if (!*slot) {
			if (!add_entry(d, values[i], most, most_bytes, text, user))
				return i;
			*slot = d->n;
		}
		d->indexes[i] = *slot - 1;
	}
	return n;
}
