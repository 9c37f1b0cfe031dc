/* SPDX-License-Identifier: Apache-2.0 */
/* strings.c - see strings.h. */
#include "base/strings.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_SLOTS = 1024 };

void hwy_strings_init(struct hwy_strings *table)
{
	*table = (struct hwy_strings){.mask = FIRST_SLOTS - 1};
	table->slots = hwy_zarray(FIRST_SLOTS, sizeof *table->slots);
	hwy_intern(table, "", 0);
}

void hwy_strings_free(struct hwy_strings *table)
{
	hwy_arena_free(&table->arena);
	free(table->texts);
	free(table->slots);
	*table = (struct hwy_strings){0};
}

/* Yields the slot that holds the text, or the empty slot where the text belongs. */
static uint32_t strings_slot_of(const struct hwy_strings *table, const char *text, size_t length)
{
	uint32_t i = (uint32_t)hwy_hash(text, length) & table->mask;
	for (; table->slots[i]; i = (i + 1) & table->mask) {
		const struct hwy_text *have = &table->texts[table->slots[i] - 1];
		if (have->length == length && memcmp(have->at, text, length) == 0)
			break;
	}
	return i;
}

/* Puts every text into a hash of at least twice their number. A table that was filled from a file
 * has none until something asks: most readers never do. */
static void rehash(struct hwy_strings *table)
{
	free(table->slots);
	table->mask = table->mask ? table->mask : FIRST_SLOTS - 1;
	while (table->n > table->mask / 2)
		table->mask = table->mask * 2 + 1;
	table->slots = hwy_zarray((size_t)table->mask + 1, sizeof *table->slots);
	for (uint32_t id = 0; id < table->n; id++)
		table->slots[strings_slot_of(table, table->texts[id].at, table->texts[id].length)] =
			id + 1;
}

uint32_t hwy_intern(struct hwy_strings *table, const char *text, size_t length)
{
	if (!table->slots)
		rehash(table);
	uint32_t slot = strings_slot_of(table, text, length);
	if (table->slots[slot])
		return table->slots[slot] - 1;
	HWY_GROW(table->texts, table->n, table->cap);
	uint32_t id = table->n++;
	table->texts[id] = (struct hwy_text){
		.at = hwy_arena_text(&table->arena, text, length),
		.length = (uint32_t)length,
	};
	table->slots[slot] = id + 1;
	if (table->n > table->mask / 2)
		rehash(table);
	return id;
}

uint32_t hwy_intern_z(struct hwy_strings *table, const char *text)
{
	return text ? hwy_intern(table, text, strlen(text)) : 0;
}

bool hwy_strings_find(struct hwy_strings *table, const char *text, size_t length, uint32_t *id)
{
	if (!table->slots)
		rehash(table);
	uint32_t slot = strings_slot_of(table, text, length);
	if (!table->slots[slot])
		return false;
	*id = table->slots[slot] - 1;
	return true;
}
