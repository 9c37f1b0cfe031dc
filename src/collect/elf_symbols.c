/* SPDX-License-Identifier: Apache-2.0 */
/* elf_symbols.c - see elf_symbols.h. Reads the object's GNU hash table, as the loader does. */
#include "collect/elf_symbols.h"

#include <elf.h>
#include <stdbool.h>
#include <string.h>

#include "collect/process.h"
#include "collect/sys.h"

enum {
	ENTRIES = 16,      /* how many entries of the dynamic section are read at a time */
	MOST_CHAIN = 4096, /* how many symbols of one hash are looked at */
	MOST_NAME = 192,   /* bytes of a symbol's name; names of C++ are long */
};

struct dynamic {
	uint64_t symbols, names; /* addresses of the symbol table and of the symbols' names */
	uint64_t hash;           /* address of the object's hash table (DT_GNU_HASH) */
};

static bool elf_peek(const struct elf_object *object, void *into, uint64_t from, size_t size)
{
	if (object->is_pinned) {
		memcpy(into, (const void *)(uintptr_t)from, size);
		return true;
	}
	return sys_peek(process.pid, into, (const void *)(uintptr_t)from, size) == (long)size;
}

/* An address from the dynamic section. The loader has added the base to such addresses in most
 * objects, but not in the vdso. */
static uint64_t address_in(const struct elf_object *object, uint64_t address)
{
	return address < object->base ? address + object->base : address;
}

static void note_entry(const struct elf_object *object, struct dynamic *into,
		       const ElfW(Dyn) * entry)
{
	if (entry->d_tag == DT_SYMTAB)
		into->symbols = address_in(object, entry->d_un.d_ptr);
	else if (entry->d_tag == DT_STRTAB)
		into->names = address_in(object, entry->d_un.d_ptr);
	else if (entry->d_tag == DT_GNU_HASH)
		into->hash = address_in(object, entry->d_un.d_ptr);
}

static bool find_dynamic(const struct elf_object *object, struct dynamic *into)
{
	ElfW(Dyn) entries[ENTRIES];
	uint64_t at = 0, left = 0;
	for (unsigned i = 0; i < object->part_count; i++) {
		if (object->parts[i].p_type == PT_DYNAMIC) {
			at = object->base + object->parts[i].p_vaddr;
			left = object->parts[i].p_memsz / sizeof entries[0];
		}
	}
	*into = (struct dynamic){0};
	while (left) {
		uint64_t count = left < ENTRIES ? left : ENTRIES;
		if (!elf_peek(object, entries, at, count * sizeof entries[0]))
			return false;
		for (uint64_t i = 0; i < count && entries[i].d_tag != DT_NULL; i++)
			note_entry(object, into, &entries[i]);
		if (entries[count - 1].d_tag == DT_NULL)
			break;
		at += count * sizeof entries[0];
		left -= count;
	}
	return into->symbols && into->names && into->hash;
}

/* Whether the symbol number i has this name and is defined in the object; 'value' and 'bytes'
 * get its value and size. */
static bool symbol_is(const struct elf_object *object, const struct dynamic *dynamic, uint32_t i,
		      const char *name, uint64_t *value, uint64_t *bytes)
{
	ElfW(Sym) symbol;
	char there[MOST_NAME];
	size_t size = strlen(name) + 1;
	if (size > sizeof there ||
	    !elf_peek(object, &symbol, dynamic->symbols + (uint64_t)i * sizeof symbol,
		      sizeof symbol) ||
	    symbol.st_shndx == SHN_UNDEF ||
	    !elf_peek(object, there, dynamic->names + symbol.st_name, size) ||
	    memcmp(there, name, size) != 0)
		return false;
	*value = symbol.st_value;
	*bytes = symbol.st_size;
	return true;
}

uint64_t elf_symbols_find(const struct elf_object *object, const char *name)
{
	uint64_t size;
	return elf_symbols_find_sized(object, name, &size);
}

uint64_t elf_symbols_find_sized(const struct elf_object *object, const char *name, uint64_t *size)
{
	struct dynamic dynamic;
	struct {
		uint32_t buckets, first, words, shift;
	} table;
	if (!find_dynamic(object, &dynamic) ||
	    !elf_peek(object, &table, dynamic.hash, sizeof table) || table.buckets == 0 ||
	    table.words == 0)
		return 0;
	uint32_t hash = 5381;
	for (const char *c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;

	uint64_t bloom = dynamic.hash + sizeof table, bucket = bloom + (uint64_t)table.words * 8;
	uint64_t chain = bucket + (uint64_t)table.buckets * 4, word, value;
	if (!elf_peek(object, &word, bloom + hash / 64 % table.words * UINT64_C(8), sizeof word) ||
	    !(word >> hash % 64 & word >> (hash >> table.shift % 32) % 64 & 1))
		return 0;
	uint32_t i, there;
	if (!elf_peek(object, &i, bucket + hash % table.buckets * UINT64_C(4), sizeof i) ||
	    i < table.first)
		return 0;
	for (unsigned steps = 0; steps < MOST_CHAIN; steps++, i++) {
		if (!elf_peek(object, &there, chain + (uint64_t)(i - table.first) * 4,
			      sizeof there))
			return 0;
		if ((there | 1) == (hash | 1) && symbol_is(object, &dynamic, i, name, &value, size))
			return object->base + value;
		if (there & 1)
			return 0;
	}
	return 0;
}
