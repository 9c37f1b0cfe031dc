/* cuda_intern.c - kernel names and launch shapes: each is defined once, records carry numbers.
 *
 * Lookups take no lock: slots go from NULL to an entry that never changes, published with release order.
 * A name is found by its address; its text is compared all the same, since an unloaded module's memory may
 * come back with another name. Entries are made under 'lock'. When a table is full, names go through the
 * process's string table each time, and shapes are left out and counted.
 *
 * The slots are a megabyte and mapped on first use: every process of a run loads this library, few use CUDA,
 * and one whose data is limited could not be loaded at all.
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
	_Atomic(struct slots *) slots; /* NULL: not used yet, or no memory */
	unsigned n_names, n_shapes;    /* by 'lock' */
	char *block;                   /* by 'lock': where entries are cut from */
	size_t left;
	bool told;
	pthread_mutex_t lock;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct slots *slots_of_table(void)
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

/* ---- names ---- */

static void add_name(struct slots *slots, const char *name, size_t length, uint32_t id, uint32_t at)
{
	pthread_mutex_lock(&table.lock);
	struct name *entry =
		table.n_names < FULL ? cuda_intern_take(sizeof *entry + length + 1) : NULL;
	if (entry) {
		entry->address = name;
		entry->id = id;
		memcpy(entry->text, name, length + 1);
		struct name *old;
		while ((old = atomic_load(&slots->names[at])) && old->address != name)
			at = (at + 1) % SLOTS;
		if (!old)
			table.n_names++;
		atomic_store_explicit(&slots->names[at], entry, memory_order_release);
	}
	pthread_mutex_unlock(&table.lock);
}

uint32_t intern_name(const char *name)
{
	if (!name)
		return 0;
	struct slots *slots = slots_of_table();
	if (!slots)
		return collect_string_z(name);
	uint32_t at = (uint32_t)(mix((uintptr_t)name) % SLOTS);
	uint32_t first = at;
	struct name *entry;
	while ((entry = atomic_load_explicit(&slots->names[at], memory_order_acquire)) &&
	       entry->address != name)
		at = (at + 1) % SLOTS;
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
	for (size_t i = 1; i < sizeof words / sizeof *words; i++) /* without the head */
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

/* Finds the shape from 'at' on, or the empty slot where it belongs. */
static struct shape *find_shape(struct slots *slots, uint32_t *at, uint64_t hash,
				const struct rec_shape *shape)
{
	struct shape *entry;
	while ((entry = atomic_load_explicit(&slots->shapes[*at], memory_order_acquire)) &&
	       !cuda_intern_is_same(entry, hash, shape))
		*at = (*at + 1) % SLOTS;
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
	collect_publish();
	return id;
}

uint32_t intern_shape(const struct rec_shape *shape)
{
	struct slots *slots = slots_of_table();
	if (!slots)
		return 0;
	uint64_t hash = hash_shape(shape);
	uint32_t at = (uint32_t)(hash % SLOTS);
	struct shape *entry = find_shape(slots, &at, hash, shape);
	if (entry)
		return entry->shape.head.value;
	pthread_mutex_lock(&table.lock);
	entry = find_shape(slots, &at, hash, shape);
	bool is_new = !entry, is_full = false;
	if (is_new) {
		entry = table.n_shapes < FULL ? cuda_intern_take(sizeof *entry) : NULL;
		if (entry) {
			entry->hash = hash;
			entry->shape = *shape;
			entry->shape.head.value = ++table.n_shapes;
			atomic_store_explicit(&slots->shapes[at], entry, memory_order_release);
		} else {
			is_full = !table.told;
			table.told = true;
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
