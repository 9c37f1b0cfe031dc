/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_communicators.c - the communicators of a process: numbers for records, members as ranks of
 * the world, and an identity.
 *
 * The identity is equal on all members without a word between them: it is a hash of the parent's
 * identity, of the members, and of how many communicators this rank made of that parent with
 * those members before. All members take part in making a communicator, in the same order, so
 * they all count the same; ranks that are no members need not know. The two groups of an
 * intercommunicator have different parents: there the parent is left out, and the groups are
 * hashed without an order.
 *
 * A handle is used again after its communicator was freed: functions that free and make
 * communicators tell. The table is read without a lock. A place is taken by writing 'handle'
 * last, under the lock.
 */
#include <string.h>

#include "collect/lock.h"
#include "collect/mpi/mpi.h"
#include "collect/sys.h"

enum {
	PLACES = 8192,
	MOST_PROBES = 64,
	COUNTERS = 65536, /* of communicators with the same parent and members */
	MOST_RUNS = 4096, /* of ranks in one record */
};
#define FREED ((mpi_word)1) /* a place whose communicator is gone; no handle has this value */

struct counter {
	uint64_t key;
	uint64_t count;
};
static struct mpi_communicator *places;
static struct counter *counters;
static struct lock changing;
static uint32_t last_number;
static bool was_refused; /* there was no room for a communicator, which was noted */

/* The group of MPI_COMM_WORLD, by which ranks are translated. */
static mpi_word world_group;
static bool has_world_group;

static struct {
	int (*rank)(mpi_word, int *);
	int (*size)(mpi_word, int *);
	int (*test_inter)(mpi_word, int *);
	int (*group)(mpi_word, void *);
	int (*remote_size)(mpi_word, int *);
	int (*remote_group)(mpi_word, void *);
	int (*group_free)(void *);
	int (*translate)(mpi_word, int, const int *, mpi_word, int *);
	int (*topology)(mpi_word, int *);
	int (*dimensions)(mpi_word, int *);
	int (*shift)(mpi_word, int, int, int *, int *);
	int (*graph_neighbors)(mpi_word, int, int *);
	int (*dist_neighbors)(mpi_word, int *, int *, int *);
	int (*get_name)(mpi_word, char *, int *);
	bool are_found, are_there;
} ask;

static const char *const ask_names[] = {
	"PMPI_Comm_rank",
	"PMPI_Comm_size",
	"PMPI_Comm_test_inter",
	"PMPI_Comm_group",
	"PMPI_Comm_remote_size",
	"PMPI_Comm_remote_group",
	"PMPI_Group_free",
	"PMPI_Group_translate_ranks",
	"PMPI_Topo_test",
	"PMPI_Cartdim_get",
	"PMPI_Cart_shift",
	"PMPI_Graph_neighbors_count",
	"PMPI_Dist_graph_neighbors_count",
	"PMPI_Comm_get_name",
};
enum { ASKED = sizeof ask_names / sizeof *ask_names };
static_assert(offsetof(__typeof__(ask), are_found) == ASKED * sizeof(void *), "in the same order");

static void find_functions(void)
{
	void **into = (void **)&ask;
	bool all = true;
	for (size_t i = 0; i < ASKED; i++) {
		into[i] = mpi_library_helper(ask_names[i]);
		all &= into[i] != NULL;
	}
	ask.are_there = all;
	ask.are_found = true;
}

static mpi_word handle_in(const uint64_t *memory)
{
	return mpi_handle_at((mpi_word)memory, 0);
}

/* ---- members --------------------------------------------------------------------------------- */

struct members {
	struct rec_communicator_run runs[MOST_RUNS];
	uint32_t n;
	uint64_t hash;
	bool is_cut;
};

static uint64_t mixed(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static void add_member(struct members *members, int32_t rank)
{
	struct rec_communicator_run *last = members->n ? &members->runs[members->n - 1] : NULL;
	members->hash = mixed(members->hash, (uint32_t)rank);
	if (last && last->count == 1)
		last->step = rank - last->first;
	if (last && last->step && rank == last->first + last->count * last->step) {
		last->count++;
	} else if (members->n < MOST_RUNS) {
		if (last && last->count == 1)
			last->step = 0;
		members->runs[members->n++] = (struct rec_communicator_run){rank, 0, 1};
	} else {
		members->is_cut = true;
	}
}

/* Adds the ranks of a group, translated to ranks of the world; REC_MPI_NO_RANK: a rank of
 * another world. */
static bool add_group(struct members *members, mpi_word group, int size)
{
	enum { AT_ONCE = 256 };
	int ours[AT_ONCE], theirs[AT_ONCE];
	for (int from = 0; from < size; from += AT_ONCE) {
		int n = size - from < AT_ONCE ? size - from : AT_ONCE;
		for (int i = 0; i < n; i++)
			ours[i] = from + i;
		if (ask.translate(group, n, ours, world_group, theirs) != 0)
			return false;
		for (int i = 0; i < n; i++)
			add_member(members, theirs[i] >= 0 ? theirs[i] : REC_MPI_NO_RANK);
	}
	return true;
}

static void read_members(struct members *members, mpi_word handle, int size, bool remote)
{
	uint64_t group = 0;
	members->n = 0;
	members->hash = 1;
	members->is_cut = false;
	if (!has_world_group ||
	    (remote ? ask.remote_group(handle, &group) : ask.group(handle, &group)) != 0)
		return;
	if (!add_group(members, handle_in(&group), size))
		members->n = 0;
	ask.group_free(&group);
}

/* ---- records --------------------------------------------------------------------------------- */

static void put_record(const struct mpi_communicator *c, uint32_t parent, uint32_t label,
		       const struct members *own, const struct members *other)
{
	uint32_t others = other ? other->n : 0;
	size_t bytes = sizeof(struct rec_communicator) +
		       (own->n + others) * sizeof(struct rec_communicator_run);
	struct rec_communicator *record =
		collect_reserve(REC_COMMUNICATOR, (unsigned)((bytes + REC_SLOT - 1) / REC_SLOT));
	if (!record)
		return;
	record->head.value = c->number;
	record->head.flags = own->is_cut || (other && other->is_cut) ? REC_COMMUNICATOR_CUT : 0;
	if (atomic_load_explicit(&c->handle, memory_order_relaxed) == mpi_library.world)
		record->head.flags |= REC_COMMUNICATOR_WORLD;
	record->identity = c->identity;
	record->size = (uint32_t)c->size;
	record->remote_size = (uint32_t)c->remote_size;
	record->rank = c->rank;
	record->label = label;
	record->parent = parent;
	record->runs = own->n;
	record->remote_runs = others;
	for (uint32_t i = 0; i < own->n; i++)
		record->run[i] = own->runs[i];
	for (uint32_t i = 0; i < others; i++)
		record->run[own->n + i] = other->runs[i];
	collect_publish(record);
}

/* How many communicators with this key were made before. */
static uint64_t counted(uint64_t key)
{
	key |= key == 0;
	for (uint32_t i = 0; counters && i < MOST_PROBES; i++) {
		struct counter *counter = &counters[(key + i) % COUNTERS];
		if (counter->key && counter->key != key)
			continue;
		counter->key = key;
		return counter->count++;
	}
	return 0;
}

static uint64_t identity_of(uint64_t parent, const struct members *own, const struct members *other)
{
	uint64_t key = other ? own->hash + other->hash : mixed(parent, own->hash);
	return mixed(key, counted(key)) | 1;
}

/* ---- the table ------------------------------------------------------------------------------- */

static struct mpi_communicator *find_place(mpi_word handle, bool for_new)
{
	uint64_t hash = (uint64_t)handle * UINT64_C(0x9e3779b97f4a7c15) >> 51;
	for (uint32_t i = 0; i < MOST_PROBES; i++) {
		struct mpi_communicator *place = &places[(hash + i) % PLACES];
		mpi_word there = atomic_load_explicit(&place->handle, memory_order_acquire);
		if (there == handle && !for_new)
			return place;
		if (there == 0)
			return for_new ? place : NULL;
		if (there == FREED && for_new)
			return place;
	}
	return NULL;
}

static uint32_t label_of(mpi_word handle)
{
	char name[256] = "";
	int length = 0;
	if (ask.get_name(handle, name, &length) != 0 || length <= 0)
		return 0;
	return collect_string(name, strnlen(name, sizeof name));
}

/* Where nothing can be recorded, nothing has to be known. */
static bool prepare(void)
{
	if (!ask.are_found)
		find_functions();
	if (!ask.are_there)
		return false;
	if (!places) {
		counters = sys_memory(COUNTERS * sizeof *counters);
		places = sys_memory(PLACES * sizeof *places);
	}
	if (places && !has_world_group) {
		/* Before MPI_Init there is no world; so there is none where a program uses only
		 * sessions. */
		uint64_t group = 0;
		int (*is_there)(int *) = NULL;
		*(void **)&is_there = mpi_library_helper("PMPI_Initialized");
		int yes = 0;
		if (is_there && is_there(&yes) == 0 && yes &&
		    ask.group(mpi_library.world, &group) == 0) {
			world_group = handle_in(&group);
			has_world_group = true;
		}
	}
	return places != NULL;
}

/* Fills in the facts of a communicator; false: the library does not tell. */
static bool describe(struct mpi_communicator *c, mpi_word handle)
{
	int inter = 0;
	if (ask.rank(handle, &c->rank) != 0 || ask.size(handle, &c->size) != 0 ||
	    ask.test_inter(handle, &inter) != 0)
		return false;
	c->remote_size = 0;
	return !inter || ask.remote_size(handle, &c->remote_size) == 0;
}

/* Two lists of members are too large for the stack of a thread. */
static struct members *own_members, *other_members;

static struct mpi_communicator *add_locked(mpi_word handle, const struct mpi_communicator *parent)
{
	struct mpi_communicator facts = {.handle = FREED, .number = last_number + 1};
	if (!prepare() || !describe(&facts, handle))
		return NULL;
	struct mpi_communicator *place = find_place(handle, false);
	if (!place)
		place = find_place(handle, true);
	if (!own_members && !(own_members = sys_memory(2 * sizeof *own_members)))
		return NULL;
	other_members = facts.remote_size ? own_members + 1 : NULL;
	if (!place) {
		if (!was_refused)
			collect_note(2,
				     "more than %d communicators of MPI at a time: calls on some "
				     "of them are recorded without their communicator",
				     MOST_PROBES);
		was_refused = true;
		return NULL;
	}
	read_members(own_members, handle, facts.size, false);
	if (other_members)
		read_members(other_members, handle, facts.remote_size, true);
	facts.identity = identity_of(parent ? parent->identity : 0, own_members, other_members);
	last_number++;
	uint32_t parent_number = parent ? parent->number : 0;
	atomic_store_explicit(&place->handle, FREED, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	*place = facts;
	atomic_store_explicit(&place->handle, handle, memory_order_release);
	put_record(place, parent_number, label_of(handle), own_members, other_members);
	return place;
}

static struct mpi_communicator *add(mpi_word handle, const struct mpi_communicator *parent)
{
	int saved = errno;
	struct mpi_communicator *added = NULL;
	uint64_t signals = sys_hold_signals();
	if (lock_take(&changing)) {
		added = add_locked(handle, parent);
		lock_give(&changing);
	}
	sys_restore_signals(signals);
	errno = saved;
	return added;
}

struct mpi_communicator *mpi_communicator_of(mpi_word word)
{
	mpi_word handle = mpi_handle(word);
	struct mpi_communicator *found = places ? find_place(handle, false) : NULL;
	return found || handle == mpi_library.comm_null ? found : add(handle, NULL);
}

void mpi_communicator_made(mpi_word word, const struct mpi_communicator *parent)
{
	mpi_word handle = mpi_handle(word);
	if (mpi_library.is_known && handle != mpi_library.comm_null)
		add(handle, parent);
}

uint32_t mpi_communicator_gone(mpi_word word)
{
	struct mpi_communicator *found = places ? find_place(mpi_handle(word), false) : NULL;
	uint32_t number = found ? found->number : 0;
	if (found)
		atomic_store_explicit(&found->handle, FREED, memory_order_release);
	return number;
}

void mpi_communicators_end(void)
{
	uint64_t group = world_group;
	if (mpi_library.handle_bytes == 4)
		group = (uint32_t)group;
	if (has_world_group)
		ask.group_free(&group);
	has_world_group = false;
}

void mpi_communicator_named(mpi_word word, const char *name)
{
	struct mpi_communicator *found = mpi_communicator_of(word);
	uint32_t label = found ? collect_string_z(name) : 0;
	struct rec_communicator *record = label ? collect_reserve(REC_COMMUNICATOR, 2) : NULL;
	if (!record)
		return;
	record->head.value = found->number;
	record->head.flags = REC_COMMUNICATOR_NAMED;
	record->label = label;
	collect_publish(record);
}

/* ---- neighbours ------------------------------------------------------------------------------ */

static void read_grid(struct mpi_communicator *c, mpi_word handle)
{
	int dimensions = 0;
	if (ask.dimensions(handle, &dimensions) != 0 || dimensions > 32)
		return;
	for (int i = 0; i < dimensions; i++) {
		int before, after;
		if (ask.shift(handle, i, 1, &before, &after) != 0)
			return;
		c->absent |= (uint64_t)(before == mpi_library.proc_null) << (2 * i);
		c->absent |= (uint64_t)(after == mpi_library.proc_null) << (2 * i + 1);
	}
	c->sources = c->destinations = 2 * dimensions;
}

void mpi_communicator_neighbors(struct mpi_communicator *c)
{
	int topology = 0, weighted;
	mpi_word handle = atomic_load(&c->handle);
	if (atomic_load_explicit(&c->has_neighbors, memory_order_acquire))
		return;
	if (ask.topology(handle, &topology) == 0) {
		if (topology == mpi_library.topology_cart) {
			read_grid(c, handle);
		} else if (topology == mpi_library.topology_graph) {
			ask.graph_neighbors(handle, c->rank, &c->sources);
			c->destinations = c->sources;
		} else if (topology == mpi_library.topology_dist_graph) {
			ask.dist_neighbors(handle, &c->sources, &c->destinations, &weighted);
		}
	}
	atomic_store_explicit(&c->has_neighbors, true, memory_order_release);
}

void mpi_communicators_after_fork(void)
{
	lock_give(&changing);
	/* Numbers mean something in one process only. MPI cannot be used in the child, but
	 * nobody hinders it. */
	places = NULL;
	counters = NULL;
	has_world_group = false;
}
