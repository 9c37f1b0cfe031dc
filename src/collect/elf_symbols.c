/* SPDX-License-Identifier: Apache-2.0 */
/* elf_symbols.c - see elf_symbols.h. Reads the object's GNU hash table, as the loader does. */
#include "collect/elf_symbols.h"

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct dynamic {
	const ElfW(Sym) * symbols;
	const char *names;
	const uint32_t *hash; /* the object's hash table (DT_GNU_HASH) */
};

/* A pointer from an address in the dynamic section. The loader has added the base to such addresses
 * in most objects, but not in the vdso. */
static const void *address_in(const struct dl_phdr_info *object, ElfW(Addr) address)
{
	return (const void *)(address < object->dlpi_addr ? address + object->dlpi_addr : address);
}

static bool find_dynamic(const struct dl_phdr_info *object, struct dynamic *into)
{
	const ElfW(Dyn) *entry = NULL;
	for (unsigned i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
			entry = (const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
	*into = (struct dynamic){0};
	for (; entry && entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_SYMTAB)
			into->symbols = address_in(object, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_STRTAB)
			into->names = address_in(object, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_GNU_HASH)
			into->hash = address_in(object, entry->d_un.d_ptr);
	}
	return into->symbols && into->names && into->hash;
}

void *elf_symbols_find(const struct dl_phdr_info *object, const char *name)
{
	struct dynamic dynamic;
	if (!find_dynamic(object, &dynamic))
		return NULL;
	uint32_t hash = 5381;
	for (const char *c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;

	uint32_t buckets = dynamic.hash[0], first = dynamic.hash[1], words = dynamic.hash[2];
	uint32_t shift = dynamic.hash[3];
	const uint64_t *bloom = (const void *)(dynamic.hash + 4);
	const uint32_t *bucket = (const void *)(bloom + words);
	const uint32_t *chain = bucket + buckets;
	if (buckets == 0 || words == 0)
		return NULL;
	uint64_t word = bloom[hash / 64 % words];
	if (!(word >> hash % 64 & word >> (hash >> shift) % 64 & 1))
		return NULL;
	uint32_t i = bucket[hash % buckets];
	if (i < first)
		return NULL;
	for (;; i++) {
		uint32_t there = chain[i - first];
		const ElfW(Sym) *symbol = &dynamic.symbols[i];
		if ((there | 1) == (hash | 1) && symbol->st_shndx != SHN_UNDEF &&
		    strcmp(dynamic.names + symbol->st_name, name) == 0)
			return (void *)(object->dlpi_addr + symbol->st_value);
		if (there & 1)
			return NULL;
	}
}
