/* SPDX-License-Identifier: Apache-2.0 */
/* modules.c - records the shared objects of the process, which are needed to unwind its stacks.
 *
 * Each object is recorded once. Every stack that is not like an earlier one, and the exit, look
 * for objects that appeared since. A stack may be taken in a signal handler that interrupts the
 * loader or an allocator, so nothing here calls the loader or takes a lock of libc: the loader's
 * list of objects (struct link_map, which debuggers read too) is read through the kernel, so
 * that no read can fault. The program may change the list meanwhile: an object counts only if
 * its ELF headers fit its entry in the list, and if the entry is still in the list after
 * everything was read.
 *
 * The loader appends an object to the end of the list after it has mapped the object. As long as
 * the last entry is the one that it was, nothing was loaded, and a look costs one system call;
 * none where the last entry is that of the loader itself, as in programs that open no libraries.
 */
#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/single_threaded.h>

#include "collect/collect.h"
#include "collect/elf_symbols.h"
#include "collect/lock.h"
#include "collect/process.h"
#include "collect/python/python.h"
#include "collect/python/served.h"
#include "collect/spool.h"
#include "collect/sys.h"
#include "collect/torch/torch.h"

/* Tests build the collector without the files of torch/. */
#pragma weak torch_look_at_object

enum {
	MOST_MODULES = 8192,
	MOST_PARTS = 64,   /* how many program headers of a module are read at most */
	MOST_PATH = 4096,  /* bytes */
	MOST_NOTES = 1024, /* bytes of a section of notes; the build id is in a short one */
	MOST_TAIL = 128,   /* bytes */
};

struct recorded_module {
	uint64_t base, name;         /* the module's load address, and the hash of its path */
	uint64_t code_from, code_to; /* all code of the module lies between these addresses */
};

/* An entry of the loader's list, as it was read. */
struct listed {
	uint64_t at; /* the entry's own address; 0: there is none */
	struct link_map entry;
};

static struct lock scanning;
/* Guarded by 'scanning': modules that have a REC_MODULE record, and their number. */
static struct recorded_module *recorded;
static uint32_t recorded_count;
/* Guarded by 'scanning': how the list ended at the last scan. 'tail' has the last bytes of the last
 * entry's path, which lie at the address tail_at: the loader may give an entry's memory, unchanged
 * but for the path, to the next object that it loads. is_permanent: the last entry is the loader's
 * own, whose memory never goes away. */
static struct {
	struct listed last;
	bool is_permanent;
	uint64_t tail_at;
	uint32_t tail_length;
	char tail[MOST_TAIL];
} seen;
/* Guarded by 'scanning': room for what is read of one module. Not on the stack, which may be
 * small. */
static struct {
	ElfW(Phdr) parts[MOST_PARTS];
	char path[MOST_PATH];
	char notes[MOST_NOTES];
} * room;

/* Called in a forked child. The child has its parent's modules, as readers of the spools know; it
 * records all of its own when it finds that the list has changed. */
void modules_after_fork(void)
{
	recorded_count = 0;
	lock_give(&scanning);
}

/* The next scan records all modules. A scan that runs now may miss this; the run that begins
 * then lacks the modules that are recorded at its end. */
void modules_begin_again(void)
{
	if (!lock_take(&scanning))
		return;
	recorded_count = 0;
	seen.last.at = 0;
	lock_give(&scanning);
	uint64_t signals = sys_hold_signals();
	modules_scan();
	sys_restore_signals(signals);
}

/* ---- where code is --------------------------------------------------------------------------- */

struct ranges {
	_Atomic uint32_t count;
	struct range {
		_Atomic uint64_t from, to;
	} sorted[];
};
enum { RANGES_BYTES = 128 * 1024, MOST_RANGES = RANGES_BYTES / sizeof(struct range) - 1 };

/* Where the code of all objects was at the last scan: tables[version % 2]. A scan fills the other
 * table and then counts 'version' up. A reader who finds another version after reading may have
 * read a table that was being filled, and reads again. Version 0: there was no scan yet. */
static struct ranges *_Atomic tables[2];
static _Atomic uint64_t version;

/* The table that no reader is meant to read now, emptied; NULL: there is no memory. Whatever is
 * stored in it is seen after the version that was counted up before, because of the release
 * order. */
static struct ranges *ranges_begin(void)
{
	uint64_t next = atomic_load_explicit(&version, memory_order_relaxed) + 1;
	struct ranges *table = atomic_load_explicit(&tables[next % 2], memory_order_relaxed);
	if (!table) {
		table = sys_memory(RANGES_BYTES);
		atomic_store_explicit(&tables[next % 2], table, memory_order_relaxed);
	}
	if (table)
		atomic_store_explicit(&table->count, 0, memory_order_release);
	return table;
}

static uint64_t word_of(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_acquire);
}

static void range_set(struct range *range, uint64_t from, uint64_t to)
{
	atomic_store_explicit(&range->from, from, memory_order_release);
	atomic_store_explicit(&range->to, to, memory_order_release);
}

static void ranges_add(struct ranges *table, uint64_t from, uint64_t to)
{
	uint32_t i = atomic_load_explicit(&table->count, memory_order_relaxed);
	if (i == MOST_RANGES || from >= to)
		return;
	atomic_store_explicit(&table->count, i + 1, memory_order_release);
	for (; i > 0 && word_of(&table->sorted[i - 1].from) > from; i--)
		range_set(&table->sorted[i], word_of(&table->sorted[i - 1].from),
			  word_of(&table->sorted[i - 1].to));
	range_set(&table->sorted[i], from, to);
}

uint64_t modules_version(void)
{
	return atomic_load_explicit(&version, memory_order_relaxed);
}

static bool ranges_hold(const struct ranges *table, uint64_t address)
{
	/* Invariant: the last range that begins at or below the address is in [low, high). */
	uint32_t low = 0, high = atomic_load_explicit(&table->count, memory_order_acquire);
	if (high == 0 || address < word_of(&table->sorted[0].from))
		return false;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (word_of(&table->sorted[middle].from) <= address)
			low = middle;
		else
			high = middle;
	}
	return address < word_of(&table->sorted[low].to);
}

bool modules_hold_code(uintptr_t address)
{
	for (int tries = 0; tries < 4; tries++) {
		uint64_t before = atomic_load_explicit(&version, memory_order_acquire);
		if (before == 0)
			return false;
		bool holds = ranges_hold(
			atomic_load_explicit(&tables[before % 2], memory_order_relaxed), address);
		if (atomic_load_explicit(&version, memory_order_relaxed) == before)
			return holds;
	}
	return true; /* a word that is taken for code is only compared in vain */
}

/* ---- the loader's list ----------------------------------------------------------------------- */

/* Guarded by 'scanning'. True in the constructor of a program without threads: nobody can unload
 * anything meanwhile, and the kernel need not be asked. */
static bool is_alone;

static bool modules_peek(void *into, uint64_t from, size_t size)
{
	if (is_alone) {
		memcpy(into, (const void *)(uintptr_t)from, size);
		return true;
	}
	return sys_peek(process.pid, into, (const void *)(uintptr_t)from, size) == (long)size;
}

static uint64_t address_of(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

/* What the loader tells debuggers, above all the first entry of its list; NULL: nothing. */
static const struct r_debug *loader_state(void)
{
	static const struct r_debug *state;
	/* The first scan happens in the constructor, where dlsym may be called. */
	if (!state && !process.joined)
		state = dlsym(RTLD_DEFAULT, "_r_debug");
	return state;
}

/* Reads an entry's path into 'room'; yields the length, or -1 for a path without an end. Most paths
 * are short. */
static long read_path(const struct link_map *entry)
{
	if (is_alone) {
		size_t length = strnlen(entry->l_name, MOST_PATH - 1);
		memcpy(room->path, entry->l_name, length);
		room->path[length] = '\0';
		return (long)length;
	}
	for (size_t size = MOST_PATH / 16; size <= MOST_PATH; size *= 16) {
		long got = sys_peek(process.pid, room->path, entry->l_name, size);
		const char *end = got > 0 ? memchr(room->path, 0, (size_t)got) : NULL;
		if (end)
			return end - room->path;
	}
	return -1;
}

/* Whether an entry that was read is still in the list. The loader takes an entry out before it
 * frees anything that belongs to the entry. */
static bool is_still_listed(const struct listed *listed)
{
	struct link_map before, again;
	if (!listed->entry.l_prev)
		return true; /* the program itself, which is never unloaded */
	return modules_peek(&before, address_of(listed->entry.l_prev), sizeof before) &&
	       address_of(before.l_next) == listed->at &&
	       modules_peek(&again, listed->at, sizeof again) &&
	       again.l_addr == listed->entry.l_addr && again.l_name == listed->entry.l_name &&
	       again.l_ld == listed->entry.l_ld;
}

/* Whether the list ends as it did at the last scan. One system call reads the last entry, the entry
 * before it, and the end of the last entry's path. */
static bool list_is_unchanged(void)
{
	struct {
		struct link_map last, before;
		char tail[MOST_TAIL];
	} now;
	if (!seen.last.at)
		return false;
	if (seen.is_permanent) {
		const struct link_map *entry = (const void *)(uintptr_t)seen.last.at;
		return !__atomic_load_n(&entry->l_next, __ATOMIC_RELAXED);
	}
	uint64_t before = address_of(seen.last.entry.l_prev);
	size_t size = sizeof now.last + sizeof now.before + seen.tail_length;
	struct iovec local = {&now, size};
	struct iovec remote[] = {
		{(void *)(uintptr_t)seen.last.at, sizeof now.last},
		{(void *)(uintptr_t)(before ? before : seen.last.at), sizeof now.before},
		{(void *)(uintptr_t)seen.tail_at, seen.tail_length},
	};
	long got = syscall(SYS_process_vm_readv, process.pid, &local, 1L, remote, 3L, 0L);
	return got == (long)size && memcmp(&now.last, &seen.last.entry, sizeof now.last) == 0 &&
	       (!before || address_of(now.before.l_next) == seen.last.at) &&
	       memcmp(now.tail, seen.tail, seen.tail_length) == 0;
}

/* Remembers how the list ends; 'room' has the path of the last entry. */
static void remember_end(const struct listed *last, size_t path_length)
{
	size_t length = path_length + 1 < MOST_TAIL ? path_length + 1 : MOST_TAIL;
	size_t from = path_length + 1 - length;
	seen.last = *last;
	seen.is_permanent = last->entry.l_addr == loader_state()->r_ldbase;
	seen.tail_at = address_of(last->entry.l_name) + from;
	seen.tail_length = (uint32_t)length;
	memcpy(seen.tail, room->path + from, length);
}

/* ---- one module ------------------------------------------------------------------------------ */

static uint64_t modules_hash(const char *text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return hash;
}

/* Copies the program headers of an entry's object into 'room'. False if they do not fit the entry,
 * because the object was unloaded. The program's own headers are where the kernel says. */
static bool read_parts(const struct listed *listed, struct elf_object *object)
{
	ElfW(Ehdr) head;
	uint64_t base = listed->entry.l_addr, at, count;
	if (!listed->entry.l_prev) {
		at = getauxval(AT_PHDR);
		count = getauxval(AT_PHNUM);
	} else if (sys_peek(process.pid, &head, (const void *)base, sizeof head) ==
			   (long)sizeof head &&
		   memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
		   head.e_phentsize == sizeof(ElfW(Phdr))) {
		at = base + head.e_phoff;
		count = head.e_phnum;
	} else {
		return false;
	}
	if (count > MOST_PARTS)
		count = MOST_PARTS;
	if (!modules_peek(room->parts, at, count * sizeof room->parts[0]))
		return false;
	*object = (struct elf_object){base, is_alone, room->parts, (unsigned)count};
	for (unsigned i = 0; i < count; i++)
		if (room->parts[i].p_type == PT_DYNAMIC &&
		    base + room->parts[i].p_vaddr == address_of(listed->entry.l_ld))
			return true;
	return false;
}

static bool modules_part_is_mapped(const struct elf_object *object, const ElfW(Phdr) * part)
{
	for (unsigned i = 0; i < object->part_count; i++) {
		const ElfW(Phdr) *load = &object->parts[i];
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

static void modules_fill(struct rec_module *record, const struct elf_object *object)
{
	uint64_t low = UINT64_MAX, high = 0;
	for (unsigned i = 0; i < object->part_count; i++) {
		const ElfW(Phdr) *part = &object->parts[i];
		if (part->p_type == PT_LOAD) {
			low = part->p_vaddr < low ? part->p_vaddr : low;
			if (part->p_vaddr + part->p_memsz > high)
				high = part->p_vaddr + part->p_memsz;
		} else if (part->p_type == PT_NOTE && modules_part_is_mapped(object, part)) {
			size_t size = part->p_filesz < MOST_NOTES ? part->p_filesz : MOST_NOTES;
			if (modules_peek(room->notes, object->base + part->p_vaddr, size))
				copy_build_id(record, room->notes, size, part->p_align);
		}
	}
	record->base = object->base;
	record->size = high;
	record->low = low == UINT64_MAX ? object->base : object->base + low;
}

/* Sets the addresses between which the code of the object lies. */
static void find_code(struct recorded_module *module, const struct elf_object *object)
{
	module->code_from = UINT64_MAX;
	module->code_to = 0;
	for (unsigned i = 0; i < object->part_count; i++) {
		const ElfW(Phdr) *part = &object->parts[i];
		uint64_t from = object->base + part->p_vaddr, to = from + part->p_memsz;
		if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
			continue;
		module->code_from = from < module->code_from ? from : module->code_from;
		module->code_to = to > module->code_to ? to : module->code_to;
	}
}

/* ---- recording ------------------------------------------------------------------------------- */

static struct recorded_module *find_recorded(uint64_t base, uint64_t name)
{
	for (uint32_t i = 0; i < recorded_count; i++)
		if (recorded[i].base == base && recorded[i].name == name)
			return &recorded[i];
	return NULL;
}

/* Records the module of an entry whose path is in 'room'. NULL: the module was unloaded
 * meanwhile. */
static struct recorded_module *record_module(const struct listed *listed, uint64_t name)
{
	struct elf_object object;
	if (!read_parts(listed, &object) || !is_still_listed(listed))
		return NULL;
	struct rec_module filled = {.path = 0};
	modules_fill(&filled, &object);
	bool is_main = !listed->entry.l_prev;
	uint32_t text =
		is_main && !room->path[0] ? process_program() : collect_string_z(room->path);
	struct rec_module *record = collect_reserve(REC_MODULE, 2);
	if (record) {
		filled.head = record->head;
		filled.head.flags = is_main;
		filled.path = text;
		*record = filled;
		collect_publish(record);
	}
	/* A full table is emptied: its modules are recorded once more. */
	if (recorded_count == MOST_MODULES)
		recorded_count = 0;
	struct recorded_module *module = &recorded[recorded_count++];
	*module = (struct recorded_module){.base = object.base, .name = name};
	find_code(module, &object);
	served_look_at_path(room->path);
	python_look_at_object(&object, name, true);
	if (torch_look_at_object)
		torch_look_at_object(&object);
	return module;
}

/* Looks at one entry, and adds its code to the ranges; yields the length of its path, which is then
 * in 'room'. -1: the list has changed under our eyes. */
static long look_at_entry(const struct listed *listed, struct ranges *code)
{
	long length = read_path(&listed->entry);
	if (length < 0)
		return -1;
	uint64_t name = modules_hash(room->path);
	struct recorded_module *module = find_recorded(listed->entry.l_addr, name);
	if (module)
		python_look_at_object(&(struct elf_object){.base = module->base}, name, false);
	else
		module = record_module(listed, name);
	if (module)
		ranges_add(code, module->code_from, module->code_to);
	/* An object whose headers cannot be found may still be a good link of the chain. */
	return module || is_still_listed(listed) ? length : -1;
}

/* Goes through the list; false if it changed meanwhile. */
static bool walk_list(struct ranges *code)
{
	const struct r_debug *loader = loader_state();
	struct listed now = {.at = loader ? address_of(loader->r_map) : 0};
	uint64_t before = 0;
	for (uint32_t n = 0; now.at && n < MOST_MODULES; n++) {
		if (!modules_peek(&now.entry, now.at, sizeof now.entry) ||
		    address_of(now.entry.l_prev) != before)
			return false;
		long length = look_at_entry(&now, code);
		if (length < 0)
			return false;
		if (!now.entry.l_next) {
			remember_end(&now, (size_t)length);
			return true;
		}
		before = now.at;
		now.at = address_of(now.entry.l_next);
	}
	return false;
}

static void modules_scan_locked(void)
{
	if (list_is_unchanged())
		return;
	if (!recorded)
		recorded = sys_memory(MOST_MODULES * sizeof *recorded);
	if (!room)
		room = sys_memory(sizeof *room);
	struct ranges *code = ranges_begin();
	if (!recorded || !room || !code)
		return;
	is_alone = !process.joined && __libc_single_threaded;
	bool complete = walk_list(code);
	is_alone = false;
	python_end_look(complete);
	if (complete)
		atomic_fetch_add_explicit(&version, 1, memory_order_release);
	else
		seen.last.at = 0;
}

/* Scans the loaded modules; signals must be held back. Does nothing while another thread scans:
 * that thread's result serves this thread too. */
void modules_scan(void)
{
	if (!spool_own() || process.sealed || !lock_try(&scanning))
		return;
	int saved = errno;
	modules_scan_locked();
	errno = saved;
	lock_give(&scanning);
}
