/* SPDX-License-Identifier: Apache-2.0 */
/* strings.h - every text once, named by a number.
 *
 * Id 0 is the empty text. Ids are dense and in order of first use. Texts may hold any byte but are
 * always followed by a 0 that is not counted. Pointers stay valid as long as the table.
 */
#ifndef HWY_BASE_STRINGS_H
#define HWY_BASE_STRINGS_H

#include "base/hash.h"
#include "base/mem.h"

struct hwy_text {
	const char *at;
	uint32_t length;
};

struct hwy_strings {
	struct hwy_arena arena;
	struct hwy_text *texts;
	uint32_t n, cap;
	uint32_t *slots; /* by hash: id + 1 of a text; NULL until the first lookup */
	uint32_t mask;
};

void hwy_strings_init(struct hwy_strings *table);
void hwy_strings_free(struct hwy_strings *table);
uint32_t hwy_intern(struct hwy_strings *table, const char *text, size_t length);
/* Yields the id of a text that ends with a 0; NULL counts as "". */
uint32_t hwy_intern_z(struct hwy_strings *table, const char *text);
/* Finds the id of a text that the table has; false where it has none. Adds nothing. */
bool hwy_strings_find(struct hwy_strings *table, const char *text, size_t length, uint32_t *id);

#endif
