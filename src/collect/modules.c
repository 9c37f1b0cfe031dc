/* SPDX-License-Identifier: Apache-2.0 */
/* modules.c - records the shared objects of the process, which are needed to unwind its stacks.
 *
 * Each object is recorded once. Every stack that is taken, and the exit, look for objects that
 * appeared since; the loader's counters of loads and unloads say when there can be any.
 * dl_iterate_phdr holds a lock of the loader, but not the one that dlopen holds while constructors
 * run. dlclose frees memory under that lock: a thread that may be inside an allocator must not scan
 * (see osrt.c).
 */
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "collect/collect.h"
#include "collect/lock.h"
#include "collect/process.h"
#include "collect/python/python.h"
#include "collect/spool.h"
#include "collect/sys.h"

enum { MOST_MODULES = 8192 };

struct recorded_module {
	uint64_t base, name; /* the module's load address, and the hash of its path */
};

static struct lock scanning;
/* Modules that have a REC_MODULE record; guarded by 'scanning'. */
static struct recorded_module *recorded;
static uint32_t recorded_count;       /* length of 'recorded'; guarded by 'scanning' */
static _Atomic uint64_t changes_seen; /* the loader's count of loads and unloads at the last scan */

/* A forked child inherits the loader's lock as it is, and would hang at its next dlopen if a scan
 * held it. Taking 'scanning' before the fork makes sure that no scan does. */
void modules_before_fork(void)
{
	if (process.sealed)
		return;
	int saved = errno;
	lock_take(&scanning);
	errno = saved;
}

void modules_forked(void)
{
	if (atomic_load(&scanning.holder) == collect_tid())
		lock_give(&scanning);
}

void modules_after_fork(void)
{
	recorded_count = 0;
	atomic_store(&changes_seen, 0);
	lock_give(&scanning);
}

static uint64_t modules_hash(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

static bool modules_was_recorded(uint64_t base, uint64_t name)
{
	for (uint32_t i = 0; i < recorded_count; i++)
		if (recorded[i].base == base && recorded[i].name == name)
			return true;
	if (recorded_count < MOST_MODULES)
		recorded[recorded_count++] = (struct recorded_module){base, name};
	return false;
}

static bool modules_part_is_mapped(const struct dl_phdr_info *object, const ElfW(Phdr) * part)
{
	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *load = &object->dlpi_phdr[i];
		if (load->p_type == PT_LOAD && (load->p_flags & PF_R) &&
		    part->p_vaddr >= load->p_vaddr &&
		    part->p_vaddr + part->p_filesz <= load->p_vaddr + load->p_filesz)
			return true;
	}
	return false;
}

static void copy_build_id(struct rec_module *record, const char *notes, size_t size, size_t align)
{
	size_t pad = align == 8 ? 7 : 3;
	while (size >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const void *)notes;
		size_t name = (note->n_namesz + pad) & ~pad, text = (note->n_descsz + pad) & ~pad;
		if (name > size || text > size || sizeof *note + name + text > size)
			return;
		const char *bytes = notes + sizeof *note;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
		    memcmp(bytes, "GNU", 4) == 0) {
			size_t length = note->n_descsz < sizeof record->build_id
						? note->n_descsz
						: sizeof record->build_id;
			memcpy(record->build_id, bytes + name, length);
			record->build_id_length = (uint8_t)length;
			return;
		}
		notes += sizeof *note + name + text;
		size -= sizeof *note + name + text;
	}
}

static void modules_fill(struct rec_module *record, const struct dl_phdr_info *object)
{
	uint64_t low = UINT64_MAX, high = 0;
	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		if (part->p_type == PT_LOAD) {
			low = part->p_vaddr < low ? part->p_vaddr : low;
			if (part->p_vaddr + part->p_memsz > high)
				high = part->p_vaddr + part->p_memsz;
		} else if (part->p_type == PT_NOTE && modules_part_is_mapped(object, part)) {
			copy_build_id(record, (const char *)object->dlpi_addr + part->p_vaddr,
				      part->p_filesz, part->p_align);
		}
	}
	record->base = object->dlpi_addr;
	record->size = high;
	record->low = low == UINT64_MAX ? object->dlpi_addr : object->dlpi_addr + low;
}

/* ---- where code is ------------------------------------------------------------------------------ */

struct ranges {
	uint32_t count;
	struct range {
		uintptr_t from, to;
	} sorted[];
};
enum { RANGES_BYTES = 128 * 1024, MOST_RANGES = RANGES_BYTES / sizeof(struct range) - 1 };

/* Where the code of all objects was at the last scan. A scan that finds a change makes a new table;
 * the old table is never freed, since another thread may be reading it. */
static struct ranges *_Atomic ranges;

static void modules_add_range(struct ranges *into, uintptr_t from, uintptr_t to)
{
	if (into->count == MOST_RANGES)
		return;
	uint32_t i = into->count++;
	for (; i > 0 && into->sorted[i - 1].from > from; i--)
		into->sorted[i] = into->sorted[i - 1];
	into->sorted[i] = (struct range){from, to};
}

static int add_code(struct dl_phdr_info *object, size_t size, void *into)
{
	(void)size;
	for (unsigned i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];
		uintptr_t from = object->dlpi_addr + part->p_vaddr;
		if (part->p_type == PT_LOAD && (part->p_flags & PF_X))
			modules_add_range(into, from, from + part->p_memsz);
	}
	return 0;
}

const void *modules_version(void)
{
	return atomic_load_explicit(&ranges, memory_order_relaxed);
}

bool modules_hold_code(uintptr_t address)
{
	const struct ranges *now = atomic_load_explicit(&ranges, memory_order_acquire);
	if (!now || now->count == 0 || address < now->sorted[0].from)
		return false;
	uint32_t low = 0,
		 /* Invariant: the last range that begins at or below the address is in [low,
		  * high). */
		high = now->count;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (now->sorted[middle].from <= address)
			low = middle;
		else
			high = middle;
	}
	return address < now->sorted[low].to;
}

/* ---- recording ------------------------------------------------------------------------------- */

static int modules_record_object(struct dl_phdr_info *object, size_t size, void *first)
{
	(void)size;
	bool is_main = *(bool *)first;
	*(bool *)first = false;
	uint64_t name = modules_hash(object->dlpi_name);
	bool is_new = !modules_was_recorded(object->dlpi_addr, name);
	python_look_at_object(object, name, is_new);
	if (!is_new)
		return 0;
	uint32_t text = 0;
	if (object->dlpi_name[0])
		text = collect_string_z(object->dlpi_name);
	else if (is_main)
		text = process_program();
	struct rec_module *record = collect_reserve(REC_MODULE, 2);
	if (!record)
		return 0;
	record->head.flags = is_main;
	record->path = text;
	modules_fill(record, object);
	collect_publish();
	return 0;
}

/* The loader's count of loads and unloads, which every object's info carries: the first object is
 * enough. One is added so that the count is never 0, which means "not scanned yet". */
static int count_changes(struct dl_phdr_info *object, size_t size, void *changes)
{
	(void)size;
	*(uint64_t *)changes = object->dlpi_adds + object->dlpi_subs + 1;
	return 1;
}

static void modules_scan_locked(void)
{
	uint64_t changes = 0;
	dl_iterate_phdr(count_changes, &changes);
	if (changes == atomic_load_explicit(&changes_seen, memory_order_relaxed))
		return;
	if (!recorded)
		recorded = sys_memory(MOST_MODULES * sizeof *recorded);
	if (recorded) {
		bool first = true;
		dl_iterate_phdr(modules_record_object, &first);
		python_end_look();
		atomic_store(&changes_seen, changes);
	}
	struct ranges *code = sys_memory(RANGES_BYTES);
	if (code) {
		dl_iterate_phdr(add_code, code);
		atomic_store_explicit(&ranges, code, memory_order_release);
	}
}

/* Scans the loaded modules. Does nothing while another thread scans: that thread's result serves
 * this thread too. */
void modules_scan(void)
{
	if (!spool_own() || !lock_try(&scanning))
		return;
	modules_scan_locked();
	lock_give(&scanning);
}
