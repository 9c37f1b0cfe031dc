/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_dictionary.h - the different values of a column in one row group, numbered by first
 * appearance.
 *
 * Values are numbers, or keys of texts: then each entry's text is asked for once, and must be
 * UTF-8 in the file, so bytes that are none become U+FFFD.
 */
#ifndef HWY_EXPORT_PARQUET_PARQUET_DICTIONARY_H
#define HWY_EXPORT_PARQUET_PARQUET_DICTIONARY_H

#include "base/bytes.h"
#include "base/strings.h"

/* Yields the text of a key; valid until the next call. */
typedef struct hwy_text parquet_text(void *user, int64_t key);

struct parquet_dictionary {
	uint32_t n;              /* number of entries */
	struct hwy_bytes page;   /* the entries as Parquet's PLAIN encoding has them */
	uint32_t *indexes;       /* by value: the number of its entry */
	uint32_t least, largest; /* of texts: the entries that are first and last by their bytes */
	uint32_t *texts;         /* of texts: where each entry begins in 'page' */
	uint32_t cap_indexes, cap_texts;
	uint32_t *slots; /* by value or by hash: the number of the entry plus 1; 0: free */
	int64_t *keys;   /* parallel to 'slots', where they are by hash */
	size_t cap_slots, cap_keys;
};

void parquet_dictionary_free(struct parquet_dictionary *dictionary);

/* Numbers n values. Yields how many values, from the first on, have an entry: fewer than n where
 * there would be more than 'most' entries, or more than 'most_bytes' bytes of texts. min and max
 * are those of the values. 'text' is NULL for numbers. */
uint32_t parquet_dictionary_make(struct parquet_dictionary *dictionary, const int64_t *values,
				 uint32_t n, int64_t min, int64_t max, uint32_t most,
				 size_t most_bytes, parquet_text *text, void *user);
/* Of texts: the text of an entry. */
struct hwy_text parquet_dictionary_text(const struct parquet_dictionary *dictionary,
					uint32_t entry);

/* Adds a text as PLAIN has it: its length in four bytes, then the text, as UTF-8. */
void parquet_put_text(struct hwy_bytes *out, struct hwy_text text);
/* Compares two texts by their bytes, as Parquet's statistics do. */
int parquet_compare_texts(struct hwy_text a, struct hwy_text b);

#endif
