/* SPDX-License-Identifier: Apache-2.0 */
/* text_ids.c - the process's ids of texts: each text is defined once in the spools, then named by
 * number.
 *
 * A text that has an id is found without a lock: the table, its slots and the entries are only ever
 * added to, and each is published with release order after it is complete. A new text is added
 * under a lock whose holder never waits for anything but the kernel; a thread that waits for the
 * lock too long gets no id (0).
 *
 * A forked child keeps the numbers but must define them again in spools of its own: an entry names
 * the generation (process.h) that defined it last. The same field marks a definition that found no
 * room in the spool.
 *
 * A text that gets no id is a name that the report lacks: these are counted, and told as lost.
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
	BLOCKS = 256, /* BLOCKS * BLOCK_ENTRIES is the most texts of a process: a million */
	FIRST_SLOTS = 4096,
	ARENA_BYTES = 256 * 1024,
	SKIP_ENTRIES = 16,
	/* MOST_TEXTS: later texts get no id, but for lost_reason, which must say so. The last
	 * entries are for it, and for those that forked children skip. */
	MOST_TEXTS = BLOCKS * BLOCK_ENTRIES - 16 * SKIP_ENTRIES,
};

struct entry {
	const char *text;
	uint32_t length;
	uint32_t hash;
	/* The process generation (counted by forks) that defined the text in its spools; 0: none
	 * did. */
	_Atomic uint32_t generation;
	uint32_t spare;
};

/* A hash table with open addressing: a slot holds a text id, 0: free. At most half of the slots
 * are in use. */
struct table {
	uint32_t mask;
	_Atomic uint32_t slots[];
};

static struct table *_Atomic table;
static struct entry *_Atomic blocks[BLOCKS];
/* Number of entries in use; entry 0 (id 0) stands for "no text". Under the lock. */
static uint32_t entries;

static char *arena;       /* where the next text is copied to; guarded by the lock */
static size_t arena_left; /* bytes that are left in the arena; guarded by the lock */

static struct lock lock;

static const char lost_reason[] =
	"names: more texts than a process may have, or no memory for them";
static _Atomic uint64_t lost, told; /* texts that got no id, and those of them that were told */

/* Called in a forked child. Another thread of the parent may have been adding a text while the
 * kernel copied the pages one by one: the last few entries, which may be incomplete, are skipped.
 * All entries before them were published in order and are complete. */
void text_ids_after_fork(void)
{
	lock_give(&lock);
	if (entries)
		entries += SKIP_ENTRIES;
	arena_left = 0;
	atomic_store(&lost, 0);
	atomic_store(&told, 0);
}

/* ---- looking up ------------------------------------------------------------------------------ */

static uint32_t text_ids_hash(const char *text, size_t length)
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

static struct entry *entry_find(uint32_t id)
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
		const struct entry *entry = entry_find(id);
		if (entry && entry->hash == hash && entry->length == length &&
		    memcmp(entry->text, text, length) == 0)
			return id;
	}
}

/* ---- adding (all under the lock) ------------------------------------------------------------- */

static void text_ids_put(struct table *into, uint32_t hash, uint32_t id)
{
	uint32_t i = hash & into->mask;
	while (atomic_load_explicit(&into->slots[i], memory_order_relaxed))
		i = (i + 1) & into->mask;
	atomic_store_explicit(&into->slots[i], id, memory_order_release);
}

/* Memory for more texts; NULL also in a process that has restricted its system calls, where a text
 * that needs more memory gets no id. */
static void *text_ids_memory(size_t size)
{
	return process.sealed ? NULL : sys_memory(size);
}

/* A table with room for one more text. The old table is not freed: a reader may be in it, and at
 * worst does not find the newest texts. */
static struct table *table_with_room(void)
{
	struct table *now = atomic_load_explicit(&table, memory_order_relaxed);
	if (now && entries <= now->mask / 2)
		return now;
	uint32_t slots = now ? (now->mask + 1) * 2 : FIRST_SLOTS;
	struct table *wider = text_ids_memory(sizeof *wider + slots * sizeof wider->slots[0]);
	if (!wider)
		return NULL;
	wider->mask = slots - 1;
	for (uint32_t id = 1; id < entries; id++) {
		const struct entry *entry = entry_find(id);
		if (entry && entry->text)
			text_ids_put(wider, entry->hash, id);
	}
	atomic_store_explicit(&table, wider, memory_order_release);
	return wider;
}

static char *text_ids_keep(const char *text, size_t length)
{
	if (length > arena_left) {
		char *fresh = text_ids_memory(ARENA_BYTES);
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

static struct entry *entry_make(uint32_t id)
{
	if (id >= (uint32_t)BLOCKS * BLOCK_ENTRIES)
		return NULL;
	if (!entry_find(id)) {
		struct entry *block = text_ids_memory(BLOCK_ENTRIES * sizeof *block);
		if (!block)
			return NULL;
		atomic_store_explicit(&blocks[id / BLOCK_ENTRIES], block, memory_order_release);
	}
	return entry_find(id);
}

static void text_ids_define(uint32_t id, struct entry *entry)
{
	size_t bytes = offsetof(struct rec_string, text) + entry->length;
	struct rec_string *record =
		collect_reserve(REC_STRING, (unsigned)((bytes + REC_SLOT - 1) / REC_SLOT));
	if (!record)
		return;
	record->head.value = id;
	record->length = entry->length;
	memcpy(record->text, entry->text, entry->length);
	collect_publish(record);
	atomic_store_explicit(&entry->generation, process.generation, memory_order_relaxed);
}

static uint32_t text_ids_add(const char *text, size_t length, uint32_t hash)
{
	entries += entries == 0;
	uint32_t id = entries;
	if (id >= MOST_TEXTS && text != lost_reason)
		return 0;
	struct table *into = table_with_room();
	struct entry *entry = entry_make(id);
	char *kept = into && entry ? text_ids_keep(text, length) : NULL;
	if (!kept)
		return 0;
	entry->text = kept;
	entry->length = (uint32_t)length;
	entry->hash = hash;
	entries = id + 1;
	text_ids_define(id, entry);
	/* Other threads find the id only now, after its definition: a process that is killed in
	 * between leaves no number without a text. */
	text_ids_put(into, hash, id);
	return id;
}

/* ---- names that are lost --------------------------------------------------------------------- */

void text_ids_tell_lost(void)
{
	uint64_t now = atomic_load(&lost), before = atomic_exchange(&told, now);
	if (now > before)
		collect_drop(lost_reason, now - before);
}

/* Counts a text that got no id. A process that is killed has told of all but a sixteenth. */
static void text_ids_lose(void)
{
	uint64_t now = atomic_fetch_add(&lost, 1) + 1;
	uint64_t before = atomic_load_explicit(&told, memory_order_relaxed);
	if (now > before + before / 16)
		text_ids_tell_lost();
}

/* ---- the ids --------------------------------------------------------------------------------- */

static uint32_t text_ids_add_slowly(const char *text, size_t length, uint32_t hash, uint32_t id)
{
	/* The spool is made before the lock is taken: a new spool records the thread's name, which
	 * takes this lock. */
	/* Without a run a text gets its id, and is defined once there is one: a program keeps
	 * ids (NVTX's registered strings). */
	if (process.has_run && !spool_own())
		return id;
	int saved = errno;
	/* Where system calls are restricted, signals are not held back, and nobody waits for the
	 * lock. */
	bool holds = !process.sealed;
	uint64_t signals = holds ? sys_hold_signals() : 0;
	if (holds ? lock_take(&lock) : lock_try(&lock)) {
		id = text_ids_find(text, length, hash);
		struct entry *entry = id ? entry_find(id) : NULL;
		if (!entry)
			id = text_ids_add(text, length, hash);
		else if (atomic_load(&entry->generation) != process.generation)
			text_ids_define(id, entry);
		lock_give(&lock);
	}
	if (holds)
		sys_restore_signals(signals);
	if (!id && text != lost_reason)
		text_ids_lose();
	errno = saved;
	return id;
}

uint32_t collect_string(const char *text, size_t length)
{
	if (!collect_control || length == 0)
		return 0;
	if (length > REC_MAX_TEXT)
		length = REC_MAX_TEXT;
	uint32_t hash = text_ids_hash(text, length);
	uint32_t id = text_ids_find(text, length, hash);
	if (id && atomic_load_explicit(&entry_find(id)->generation, memory_order_relaxed) ==
			  process.generation)
		return id;
	return text_ids_add_slowly(text, length, hash, id);
}

uint32_t collect_string_z(const char *text)
{
	return text ? collect_string(text, strlen(text)) : 0;
}

uint32_t text_ids_define_again(uint32_t id)
{
	struct entry *entry = id ? entry_find(id) : NULL;
	if (!entry || !entry->text)
		return 0;
	if (atomic_load_explicit(&entry->generation, memory_order_relaxed) != process.generation)
		text_ids_add_slowly(entry->text, entry->length, entry->hash, id);
	return id;
}

const char *text_ids_text(uint32_t id, size_t *length)
{
	const struct entry *entry = id ? entry_find(id) : NULL;
	*length = entry && entry->text ? entry->length : 0;
	return *length ? entry->text : "";
}
