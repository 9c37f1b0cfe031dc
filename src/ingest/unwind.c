/* SPDX-License-Identifier: Apache-2.0 */
/* unwind.c - see unwind.h.
 *
 * libdw follows the call frame information of the modules (unwind_dwarf.c); where a module has
 * none, we follow frame pointers. Calls in a loop have the same stack thousands of times, so an
 * unwound stack is kept together with the positions of its return addresses in the copied
 * memory. Another copy with the same registers and with the same return addresses in the same
 * positions has the same stack. x86-64 only, like the registers in the records.
 */
#include "ingest/unwind.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/ref.h"
#include "ingest/binaries.h"
#include "ingest/dw.h"
#include "ingest/maps.h"
#include "ingest/unwind_dwarf.h"
#include "ingest/unwind_modules.h"

enum { NOT_FOUND = UINT16_MAX };

struct memo {                  /* a stack that was unwound before */
	uint64_t registers[3]; /* the values of rip, rsp and rbp */
	uint32_t bytes, n;
	uint64_t *addresses;
	/* slots: the index of the 8-byte word of the copy in which each address stood; not used
	 * for the first address, which was rip. */
	uint16_t *slots;
	uint32_t next_ref; /* ref of unwinder.memos: another memo with the same hash */
};

struct unwind_files {
	struct binaries *binaries;
	struct code_places *places;
	struct unwind_dwarf *dwarf;
};

struct unwinder {
	struct unwind_files *files;
	struct unwind_modules modules;
	/* 'memo_of' maps a memo_hash to a ref of 'memos'; memo_holds compares the rest. */
	struct hwy_map memo_of;
	struct memo *memos;
	uint32_t n_memos, cap_memos;
};

struct unwind_files *unwind_files_open(bool with_libdw)
{
	const struct dw *dw = with_libdw ? dw_open() : NULL;
	struct unwind_files *files = hwy_zalloc(sizeof *files);
	files->binaries = binaries_open(dw);
	files->places = code_places_open(files->binaries);
	files->dwarf = unwind_dwarf_open(dw);
	return files;
}

void unwind_files_close(struct unwind_files *files)
{
	if (!files)
		return;
	unwind_dwarf_close(files->dwarf);
	code_places_close(files->places);
	binaries_close(files->binaries);
	free(files);
}

struct unwinder *unwind_open(struct unwind_files *files)
{
	struct unwinder *u = hwy_zalloc(sizeof *u);
	u->files = files;
	return u;
}

void unwind_close(struct unwinder *u)
{
	if (!u)
		return;
	for (uint32_t i = 0; i < u->n_memos; i++) {
		free(u->memos[i].addresses);
		free(u->memos[i].slots);
	}
	free(u->memos);
	unwind_modules_free(&u->modules);
	hwy_map_free(&u->memo_of);
	free(u);
}

/* ---- modules
 * ----------------------------------------------------------------------------------- */

static void add_module(struct unwinder *u, const struct rec_module *module, struct binary *binary)
{
	if (module->size == 0 || module->base + module->size < module->base)
		return;
	unwind_modules_add(&u->modules, (struct unwind_module){
						.bias = module->base,
						.low = module->low,
						.high = module->base + module->size,
						.binary = binary,
					});
}

void unwind_add_module(struct unwinder *u, const struct rec_module *module, const char *path)
{
	add_module(u, module, binaries_get(u->files->binaries, path));
}

void unwind_add_map(struct unwinder *u, const struct rec_map *map, const char *path)
{
	struct binary *binary = binaries_get(u->files->binaries, path);
	const struct maps_segments *segments =
		unwind_modules_has(&u->modules, binary) ? NULL : binaries_segments(binary);
	struct rec_module module;
	if (segments && maps_module(map, segments, &module))
		add_module(u, &module, binary);
}

/* ---- frame pointers
 * ---------------------------------------------------------------------------- */

bool unwind_copy_word(const struct unwind_copy *copy, uint64_t address, uint64_t *word)
{
	uint64_t from = copy->registers[UNWIND_RSP], bytes = copy->count;
	if (bytes < sizeof *word || address < from || address - from > bytes - sizeof *word)
		return false;
	memcpy(word, copy->bytes + (address - from), sizeof *word);
	return true;
}

static uint32_t unwind_by_frame_pointer(struct unwinder *u, const struct unwind_copy *copy,
					uint64_t *addresses)
{
	uint64_t frame = copy->registers[UNWIND_RBP];
	uint32_t n = 0;
	addresses[n++] = copy->registers[UNWIND_RIP];
	while (n < UNWIND_FRAMES) {
		uint64_t next, caller;
		if (!unwind_copy_word(copy, frame, &next) ||
		    !unwind_copy_word(copy, frame + 8, &caller) ||
		    !unwind_modules_at(&u->modules, caller - 1))
			break;
		addresses[n++] = caller;
		if (next <= frame)
			break;
		frame = next;
	}
	return n;
}

/* ---- stacks that were seen before
 * -------------------------------------------------------------- */

static uint64_t memo_hash(const struct unwind_copy *copy)
{
	const uint64_t *registers = copy->registers;
	return hwy_mix(registers[UNWIND_RIP] ^ hwy_mix(registers[UNWIND_RSP])) ^
	       hwy_mix(registers[UNWIND_RBP]);
}

static bool memo_holds(const struct memo *memo, const struct unwind_copy *copy)
{
	const uint64_t *registers = copy->registers;
	if (memo->registers[0] != registers[UNWIND_RIP] ||
	    memo->registers[1] != registers[UNWIND_RSP] ||
	    memo->registers[2] != registers[UNWIND_RBP] || memo->bytes != copy->count)
		return false;
	for (uint32_t i = 1; i < memo->n; i++)
		if (memcmp(copy->bytes + (size_t)memo->slots[i] * 8, &memo->addresses[i], 8) != 0)
			return false;
	return true;
}

/* The first 8-byte word of the copy, from word number 'from' on, that holds the address; NOT_FOUND:
 * none does. */
static uint16_t unwind_slot_of(const struct unwind_copy *copy, uint64_t address, uint32_t from)
{
	uint32_t words = copy->count / 8 < NOT_FOUND ? copy->count / 8 : NOT_FOUND;
	for (uint32_t i = from; i < words; i++)
		if (memcmp(copy->bytes + (size_t)i * 8, &address, 8) == 0)
			return (uint16_t)i;
	return NOT_FOUND;
}

static void memo_add(struct unwinder *u, const struct unwind_copy *copy, uint64_t hash,
		     const uint64_t *addresses, uint32_t n)
{
	uint16_t *slots = hwy_array(n, sizeof *slots);
	uint32_t from = 0;
	for (uint32_t i = 1; i < n; i++) {
		slots[i] = unwind_slot_of(copy, addresses[i], from);
		if (slots[i] == NOT_FOUND) {
			free(slots);
			return;
		}
		from = slots[i] + 1u;
	}
	const uint64_t *registers = copy->registers;
	uint32_t *head = hwy_map_put(&u->memo_of, hash, NULL);
	HWY_GROW(u->memos, u->n_memos, u->cap_memos);
	u->memos[u->n_memos] = (struct memo){
		.registers = {registers[UNWIND_RIP], registers[UNWIND_RSP], registers[UNWIND_RBP]},
		.bytes = copy->count,
		.n = n,
		.addresses = hwy_copy_array(addresses, n, sizeof *addresses),
		.slots = slots,
		.next_ref = *head,
	};
	*head = hwy_ref32(u->n_memos++);
}

uint32_t unwind_stack(struct unwinder *u, const struct unwind_copy *copy,
		      uint64_t addresses[UNWIND_FRAMES])
{
	uint64_t hash = memo_hash(copy);
	const uint32_t *head = hwy_map_get(&u->memo_of, hash);
	uint32_t ref = head ? *head : HWY_REF_NONE;
	while (hwy_ref32_is_set(ref)) {
		const struct memo *memo = &u->memos[hwy_ref32_index(ref)];
		if (memo_holds(memo, copy)) {
			memcpy(addresses, memo->addresses, memo->n * sizeof *addresses);
			return memo->n;
		}
		ref = memo->next_ref;
	}
	uint64_t found[UNWIND_FRAMES] = {0};
	uint32_t n = unwind_dwarf_stack(u->files->dwarf, &u->modules, copy, found);
	if (n < 2)
		n = unwind_by_frame_pointer(u, copy, found);
	memo_add(u, copy, hash, found, n);
	memcpy(addresses, found, n * sizeof *addresses);
	return n;
}

/* ---- places
 * ------------------------------------------------------------------------------------ */

struct code_place *unwind_place(struct unwinder *u, uint64_t address, bool is_return)
{
	address -= is_return;
	const struct unwind_module *module = unwind_modules_at(&u->modules, address);
	return code_places_find(u->files->places, module ? module->binary : NULL,
				module ? address - module->bias : 0);
}

const struct code_line *unwind_line(struct unwinder *u, struct code_place *place,
				    const struct code_place *callee, bool is_sample)
{
	return code_places_line(u->files->places, place, callee, is_sample);
}
