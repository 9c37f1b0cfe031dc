/* text_ids.c - the process's ids of texts: each text is defined once in the spools, then named by number.
 *
 * A text that is known is found without a lock: the table, its slots and the entries are only ever added
 * to, and each is published with release order after it is whole. A new text is added under a lock whose
 * holder never waits for anything but the kernel; whoever waits too long goes without an id (0).
 *
 * A forked child keeps the numbers but must define them again in spools of its own: an entry names the
 * generation (process.h) that it is defined in. The same serves a definition that found no room.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "collect/collect.h"
#include "collect/lock.h"
#include "collect/process.h"
#include "collect/spool.h"
#include "collect/sys.h"
#include "collect/text_ids.h"

enum {
	BLOCK_ENTRIES = 4096,
	BLOCKS = 256, /* a million texts */
	FIRST_SLOTS = 4096,
	ARENA_BYTES = 256 * 1024,
	SKIP_ENTRIES = 16,
};

struct entry {
	const char *text;
	uint32_t length;
	uint32_t hash;
	_Atomic uint32_t generation; /* in which it is defined; 0: in none */
	uint32_t spare;
};

struct table { /* open addressing; a slot holds an id, 0: free. At most half full. */
	uint32_t mask;
	_Atomic uint32_t slots[];
};

static struct table *_Atomic table;
static struct entry *_Atomic blocks[BLOCKS];
static uint32_t entries; /* in use, the first (id 0) stands for "no text"; under the lock */

static char *arena; /* under the lock, like the next */
static size_t arena_left;

static struct lock lock;

/* In the child. Another thread of the parent may have been adding a text while the pages were copied one by
 * one: what it touched last is left alone. Everything before was published in order and is whole. */
void strings_after_fork(void)
{
	lock_give(&lock);
	if (entries)
		entries += SKIP_ENTRIES;
	arena_left = 0;
}

/* ---- looking up --------------------------------------------------------------------------------- */

static uint32_t text_ids_hash_of(const char *text, size_t length)
{
	uint64_t hash = length * UINT64_C(0x9e3779b97f4a7c15);
	for (; length >= 8; text += 8, length -= 8) {
		uint64_t word;
		memcpy(&word, text, 8);
		hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
		hash ^= hash >> 32;
	}
	uint64_t word = 0;
	memcpy(&word, text, length);
	hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
	return (uint32_t)(hash >> 32);
}

static struct entry *entry_of(uint32_t id)
{
	struct entry *block =
		id < (uint32_t)BLOCKS * BLOCK_ENTRIES
			? atomic_load_explicit(&blocks[id / BLOCK_ENTRIES], memory_order_acquire)
			: NULL;
	return block ? &block[id % BLOCK_ENTRIES] : NULL;
}

static uint32_t text_ids_find(const char *text, size_t length, uint32_t hash)
{
	struct table *now = atomic_load_explicit(&table, memory_order_acquire);
	if (!now)
		return 0;
	for (uint32_t i = hash & now->mask;; i = (i + 1) & now->mask) {
		uint32_t id = atomic_load_explicit(&now->slots[i], memory_order_acquire);
		if (!id)
			return 0;
		const struct entry *entry = entry_of(id);
		if (entry && entry->hash == hash && entry->length == length &&
		    memcmp(entry->text, text, length) == 0)
			return id;
	}
}

/* ---- adding (all under the lock) ---------------------------------------------------------------- */

static void text_ids_put(struct table *into, uint32_t hash, uint32_t id)
{
	uint32_t i = hash & into->mask;
	while (atomic_load_explicit(&into->slots[i], memory_order_relaxed))
		i = (i + 1) & into->mask;
	atomic_store_explicit(&into->slots[i], id, memory_order_release);
}

/* A table for one more text. The old one stays: a reader may be in it, and finds less at worst. */
static struct table *table_with_room(void)
{
	struct table *now = atomic_load_explicit(&table, memory_order_relaxed);
	if (now && entries <= now->mask / 2)
		return now;
	uint32_t slots = now ? (now->mask + 1) * 2 : FIRST_SLOTS;
	struct table *wider = sys_memory(sizeof *wider + slots * sizeof wider->slots[0]);
	if (!wider)
		return NULL;
	wider->mask = slots - 1;
	for (uint32_t id = 1; id < entries; id++) {
		const struct entry *entry = entry_of(id);
		if (entry && entry->text)
			text_ids_put(wider, entry->hash, id);
	}
	atomic_store_explicit(&table, wider, memory_order_release);
	return wider;
}

static char *text_ids_keep(const char *text, size_t length)
{
	if (length > arena_left) {
		char *fresh = sys_memory(ARENA_BYTES);
		if (!fresh)
			return NULL;
		arena = fresh;
		arena_left = ARENA_BYTES;
	}
	char *kept = arena;
	memcpy(kept, text, length);
	arena += length;
	arena_left -= length;
	return kept;
}
static_assert((int)REC_MAX_TEXT <= (int)ARENA_BYTES, "every text fits");

static struct entry *entry_for(uint32_t id)
{
	if (id >= (uint32_t)BLOCKS * BLOCK_ENTRIES)
		return NULL;
	if (!entry_of(id)) {
		struct entry *block = sys_memory(BLOCK_ENTRIES * sizeof *block);
		if (!block)
			return NULL;
		atomic_store_explicit(&blocks[id / BLOCK_ENTRIES], block, memory_order_release);
	}
	return entry_of(id);
}

static void define(uint32_t id, struct entry *entry)
{
	size_t bytes = offsetof(struct rec_string, text) + entry->length;
	struct rec_string *record =
		collect_reserve(REC_STRING, (unsigned)((bytes + REC_SLOT - 1) / REC_SLOT));
	if (!record)
		return;
	record->head.value = id;
	record->length = entry->length;
	memcpy(record->text, entry->text, entry->length);
	collect_publish();
	atomic_store_explicit(&entry->generation, process.generation, memory_order_relaxed);
}

static uint32_t text_ids_add(const char *text, size_t length, uint32_t hash)
{
	entries += entries == 0;
	uint32_t id = entries;
	struct table *into = table_with_room();
	struct entry *entry = entry_for(id);
	char *kept = into && entry ? text_ids_keep(text, length) : NULL;
	if (!kept)
		return 0;
	entry->text = kept;
	entry->length = (uint32_t)length;
	entry->hash = hash;
	entries = id + 1;
	define(id, entry);
	/* Only now may others use it: a process killed in between leaves no number without a text. */
	text_ids_put(into, hash, id);
	return id;
}

/* ---- the ids ------------------------------------------------------------------------------------ */

static uint32_t string_slowly(const char *text, size_t length, uint32_t hash, uint32_t id)
{
	/* Before the lock: making a spool names the thread, which takes it too. */
	if (!spool_own())
		return id;
	int saved = errno;
	bool holds = !process.sealed;
	uint64_t signals = holds ? sys_hold_signals() : 0;
	if (lock_take(&lock)) {
		id = text_ids_find(text, length, hash);
		struct entry *entry = id ? entry_of(id) : NULL;
		if (!entry)
			id = text_ids_add(text, length, hash);
		else if (atomic_load(&entry->generation) != process.generation)
			define(id, entry);
		lock_give(&lock);
	}
	if (holds)
		sys_restore_signals(signals);
	errno = saved;
	return id;
}

uint32_t collect_string(const char *text, size_t length)
{
	if (!collect_control || length == 0)
		return 0;
	if (length > REC_MAX_TEXT)
		length = REC_MAX_TEXT;
	uint32_t hash = text_ids_hash_of(text, length);
	uint32_t id = text_ids_find(text, length, hash);
	if (id && atomic_load_explicit(&entry_of(id)->generation, memory_order_relaxed) ==
			  process.generation)
		return id;
	return string_slowly(text, length, hash, id);
}

uint32_t collect_string_z(const char *text)
{
	return text ? collect_string(text, strlen(text)) : 0;
}

uint32_t strings_again(uint32_t id)
{
	struct entry *entry = id ? entry_of(id) : NULL;
	if (!entry || !entry->text)
		return 0;
	if (atomic_load_explicit(&entry->generation, memory_order_relaxed) != process.generation)
		string_slowly(entry->text, entry->length, entry->hash, id);
	return id;
}

const char *strings_text(uint32_t id, size_t *length)
{
	const struct entry *entry = id ? entry_of(id) : NULL;
	*length = entry && entry->text ? entry->length : 0;
	return *length ? entry->text : "";
}
