/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_intern.c - kernel names and launch shapes: each is defined once, records carry numbers.
 *
 * Lookups take no lock: slots go from NULL to an entry that never changes, published with
 * release order. A name is found by its address; its text is compared all the same, since an
 * unloaded module's memory may come back with another name. Entries are made under 'table.lock'.
 * When a table is full, each name is looked up in the process's text ids instead, and shapes are
 * left out.
 *
 * The slots are a megabyte and mapped on first use: every process of a run loads this library, few
 * use CUDA, and a process with a limit on its data could not load a library with such a table in
 * it.
 */
#include <pthread.h>
#include <string.h>

#include "collect/cuda/cuda.h"
#include "collect/sys.h"

enum { SLOTS = 1 << 16, FULL = SLOTS / 4 * 3, BLOCK = 256 * 1024 };

struct name {
	const char *address;
	uint32_t id;
	char text[];
};
struct shape {
	uint64_t hash;
	struct rec_shape shape;
};

struct slots {
	_Atomic(struct name *) names[SLOTS];
	_Atomic(struct shape *) shapes[SLOTS];
};

static struct {
	/* NULL: CUDA was not used yet, or memory for the slots is lacking. */
	_Atomic(struct slots *) slots;
	unsigned n_names, n_shapes; /* how many names and shapes there are; guarded by 'lock' */
	char *block;       /* memory from which the next entry is taken; guarded by 'lock' */
	size_t left;       /* bytes of 'block' that are free */
	bool was_reported; /* a note says that there is no room for more shapes */
	pthread_mutex_t lock;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct slots *intern_slots(void)
{
	struct slots *slots = atomic_load_explicit(&table.slots, memory_order_acquire);
	if (slots)
		return slots;
	pthread_mutex_lock(&table.lock);
	slots = atomic_load(&table.slots);
	if (!slots) {
		slots = sys_memory(sizeof *slots);
		atomic_store_explicit(&table.slots, slots, memory_order_release);
	}
	pthread_mutex_unlock(&table.lock);
	return slots;
}

static void *cuda_intern_take(size_t bytes)
{
	bytes = (bytes + 15) & ~(size_t)15;
	if (bytes > BLOCK)
		return NULL;
	if (table.left < bytes) {
		void *block = sys_memory(BLOCK);
		if (!block)
			return NULL;
		table.block = block;
		table.left = BLOCK;
	}
	void *entry = table.block;
	table.block += bytes;
	table.left -= bytes;
	return entry;
}

static uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= UINT64_C(0xd6e8feb86659fd93);
	return x ^ x >> 32;
}

/* Forgets all names and shapes: the spools of another run do not define them. Entries are not
 * freed, since a reader takes no lock. Numbers of shapes go on. */
void cuda_intern_begin_again(void)
{
	pthread_mutex_lock(&table.lock);
	struct slots *slots = atomic_load(&table.slots);
	for (uint32_t i = 0; slots && i < SLOTS; i++) {
		atomic_store_explicit(&slots->names[i], NULL, memory_order_relaxed);
		atomic_store_explicit(&slots->shapes[i], NULL, memory_order_relaxed);
	}
	table.n_names = 0;
	pthread_mutex_unlock(&table.lock);
}

/* ---- names ---- */

static void add_name(struct slots *slots, const char *name, size_t length, uint32_t id,
		     uint32_t slot)
{
	pthread_mutex_lock(&table.lock);
	struct name *entry =
		table.n_names < FULL ? cuda_intern_take(sizeof *entry + length + 1) : NULL;
	if (entry) {
		entry->address = name;
		entry->id = id;
		memcpy(entry->text, name, length + 1);
		struct name *old;
		while ((old = atomic_load(&slots->names[slot])) && old->address != name)
			slot = (slot + 1) % SLOTS;
		if (!old)
			table.n_names++;
		atomic_store_explicit(&slots->names[slot], entry, memory_order_release);
	}
	pthread_mutex_unlock(&table.lock);
}

uint32_t cuda_intern_name(const char *name)
{
	if (!name)
		return 0;
	struct slots *slots = intern_slots();
	if (!slots)
		return collect_string_z(name);
	uint32_t slot = (uint32_t)(mix((uintptr_t)name) % SLOTS);
	uint32_t first = slot;
	struct name *entry;
	while ((entry = atomic_load_explicit(&slots->names[slot], memory_order_acquire)) &&
	       entry->address != name)
		slot = (slot + 1) % SLOTS;
	if (entry && strcmp(entry->text, name) == 0)
		return entry->id;
	size_t length = strlen(name);
	uint32_t id = collect_string(name, length);
	add_name(slots, name, length, id, first);
	return id;
}

/* ---- shapes ---- */

static uint64_t hash_shape(const struct rec_shape *shape)
{
	uint64_t words[sizeof *shape / 8], hash = 0;
	memcpy(words, shape, sizeof words);
	/* The record's head is no part of the shape. */
	for (size_t i = 1; i < sizeof words / sizeof *words; i++)
		hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
	return mix(hash) | 1;
}

static bool cuda_intern_is_same(const struct shape *entry, uint64_t hash,
				const struct rec_shape *shape)
{
	return entry->hash == hash && memcmp((const char *)&entry->shape + sizeof shape->head,
					     (const char *)shape + sizeof shape->head,
					     sizeof *shape - sizeof shape->head) == 0;
}

/* Finds a shape, searching from *slot on; NULL: *slot is the empty slot where the shape belongs. */
static struct shape *find_shape(struct slots *slots, uint32_t *slot, uint64_t hash,
				const struct rec_shape *shape)
{
	struct shape *entry;
	while ((entry = atomic_load_explicit(&slots->shapes[*slot], memory_order_acquire)) &&
	       !cuda_intern_is_same(entry, hash, shape))
		*slot = (*slot + 1) % SLOTS;
	return entry;
}

static uint32_t define_shape(const struct rec_shape *shape, uint32_t id)
{
	struct rec_shape *r = collect_reserve(REC_SHAPE, sizeof *r / REC_SLOT);
	if (!r)
		return 0;
	memcpy((char *)r + sizeof r->head, (const char *)shape + sizeof r->head,
	       sizeof *r - sizeof r->head);
	r->head.value = id;
	collect_publish(r);
	return id;
}

uint32_t cuda_intern_shape(const struct rec_shape *shape)
{
	struct slots *slots = intern_slots();
	if (!slots)
		return 0;
	uint64_t hash = hash_shape(shape);
	uint32_t slot = (uint32_t)(hash % SLOTS);
	struct shape *entry = find_shape(slots, &slot, hash, shape);
	if (entry)
		return entry->shape.head.value;
	pthread_mutex_lock(&table.lock);
	entry = find_shape(slots, &slot, hash, shape);
	bool is_new = !entry, is_full = false;
	if (is_new) {
		entry = table.n_shapes < FULL ? cuda_intern_take(sizeof *entry) : NULL;
		if (entry) {
			entry->hash = hash;
			entry->shape = *shape;
			entry->shape.head.value = ++table.n_shapes;
			atomic_store_explicit(&slots->shapes[slot], entry, memory_order_release);
		} else {
			is_full = !table.was_reported;
			table.was_reported = true;
		}
	}
	pthread_mutex_unlock(&table.lock);
	if (is_full)
		collect_note(2, "more than %d launch shapes: later kernels are recorded without",
			     FULL);
	if (!entry)
		return 0;
	uint32_t id = entry->shape.head.value;
	return is_new ? define_shape(shape, id) : id;
}
