/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_library.c - which MPI the program uses, where its functions are, and what its datatypes
 * and statuses say.
 *
 * The library may be linked with the program, or with something that the program opened for
 * itself alone (mpi4py): then only the caller knows it. What a library calls itself decides how
 * it is spoken to; of one that is neither Open MPI nor MPICH nor has MPICH's ABI, only names and
 * times of calls are recorded.
 */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include "collect/lock.h"
#include "collect/mpi/mpi.h"

struct mpi_library mpi_library;

static struct lock meeting;

/* ---- functions ------------------------------------------------------------------------------- */

static const void *object_of(const void *address)
{
	Dl_info about;
	return address && dladdr(address, &about) ? about.dli_fbase : NULL;
}

/* A function of this name in the object that has the address 'in', or in what the object was
 * linked with; NULL: none. */
static void *find_beside(const void *in, const char *name)
{
	Dl_info about;
	if (!in || !dladdr(in, &about) || !about.dli_fname)
		return NULL;
	void *object = dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	void *found = object ? dlsym(object, name) : NULL;
	if (object)
		dlclose(object);
	/* The program itself is linked with all that is preloaded. */
	return object_of(found) == object_of(&mpi_library) ? NULL : found;
}

struct search {
	const char *name;
	void *found;
	char paths[16][256]; /* of libraries that may be MPI's */
	int n;
};

static int search_paths(struct dl_phdr_info *object, size_t size, void *context)
{
	struct search *search = context;
	const char *slash = strrchr(object->dlpi_name, '/');
	(void)size;
	if (slash && strncmp(slash, "/libmpi", 7) == 0 &&
	    strlen(object->dlpi_name) < sizeof search->paths[0])
		strcpy(search->paths[search->n++], object->dlpi_name);
	return search->n == 16;
}

/* A function of any loaded library that is named like MPI's. */
static __attribute__((noinline)) void *find_anywhere(const char *name)
{
	struct search search = {.n = 0};
	void *found = NULL;
	dl_iterate_phdr(search_paths, &search);
	for (int i = 0; i < search.n && !found; i++) {
		void *object = dlopen(search.paths[i], RTLD_LAZY | RTLD_NOLOAD);
		found = object ? dlsym(object, name) : NULL;
		if (object)
			dlclose(object);
	}
	return found;
}

/* Keeps the library of an address loaded: its functions are called from here on. */
static void keep_loaded(const void *in)
{
	Dl_info about;
	if (dladdr(in, &about) && about.dli_fname)
		dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

void *mpi_library_function(const char *name, const void *caller)
{
	void *found = dlsym(RTLD_NEXT, name);
	if (!found && (found = find_beside(caller, name)))
		keep_loaded(found);
	if (!found && (found = find_anywhere(name)))
		keep_loaded(found);
	if (!found)
		dlerror(); /* the program must not find an error that is not its own */
	return found;
}

/* ---- who it is ------------------------------------------------------------------------------- */

/* Open MPI's handles are the addresses of its variables. Where the program has a copy of such a
 * variable, everybody uses the copy: it comes first in the search. */
static mpi_word variable(const char *name, const void *in)
{
	void *found = dlsym(RTLD_DEFAULT, name);
	return (mpi_word)(found ? found : mpi_library_function(name, in));
}

static void be_open_mpi(const void *in)
{
	mpi_library = (struct mpi_library){
		.is_known = true,
		.handle_bytes = 8,
		.source_at = 0,
		.tag_at = 4,
		.proc_null = -2,
		.any_source = -1,
		.root = -4,
		.combiner_named = 0,
		.topology_cart = 1,
		.topology_graph = 2,
		.topology_dist_graph = 3,
		.status_bytes = 24,
		.status_ignore = 0,
		.in_place = 1,
		.world = variable("ompi_mpi_comm_world", in),
		.self = variable("ompi_mpi_comm_self", in),
		.comm_null = variable("ompi_mpi_comm_null", in),
		.request_null = variable("ompi_request_null", in),
		.message_no_proc = variable("ompi_message_no_proc", in),
		.op_no_op = variable("ompi_mpi_op_no_op", in),
		.byte = variable("ompi_mpi_byte", in),
	};
	mpi_library.is_known = mpi_library.world && mpi_library.comm_null;
}

static void be_mpich(void)
{
	mpi_library = (struct mpi_library){
		.is_known = true,
		.handle_bytes = 4,
		.source_at = 8,
		.tag_at = 12,
		.proc_null = -1,
		.any_source = -2,
		.root = -3,
		.combiner_named = 1,
		.topology_graph = 1,
		.topology_cart = 2,
		.topology_dist_graph = 3,
		.status_bytes = 20,
		.status_ignore = 1,
		.in_place = UINTPTR_MAX,
		.world = 0x44000000,
		.self = 0x44000001,
		.comm_null = 0x04000000,
		.request_null = 0x2c000000,
		.message_no_proc = 0x6c000000,
		.op_no_op = 0x5800000e,
		.byte = 0x4c00010d,
	};
}

/* The library speaks the ABI that MPI 5 has brought, under which handles have other values. */
static bool is_standard_abi(const void *in)
{
	int (*version)(int *, int *);
	int major = -1, minor = -1;
	*(void **)&version = mpi_library_function("PMPI_Abi_get_version", in);
	return version && version(&major, &minor) == 0 && major > 0;
}

static const char *what_it_says(const void *in, char text[9000])
{
	int (*version)(char *, int *);
	int length = 0;
	text[0] = '\0';
	*(void **)&version = mpi_library_function("PMPI_Get_library_version", in);
	if (version && version(text, &length) == 0)
		text[length >= 0 && length < 8999 ? length : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static __attribute__((noinline)) void library_recognise(const void *in)
{
	char text[9000]; /* MPICH's text has at most 8192 bytes */
	static const char *const mpich[] = {"MPICH", "Intel(R) MPI", "MVAPICH", "ParaStation"};
	const char *says = what_it_says(in, text);
	bool is_mpich = false;
	for (size_t i = 0; i < sizeof mpich / sizeof *mpich; i++)
		is_mpich |= strstr(says, mpich[i]) != NULL;
	if (is_standard_abi(in))
		is_mpich = false;
	else if (strstr(says, "Open MPI"))
		be_open_mpi(in);
	if (is_mpich)
		be_mpich();
	if (!mpi_library.is_known) {
		mpi_library.handle_bytes = 8;
		collect_note(2,
			     "of calls of MPI only names and times are recorded: this MPI is "
			     "neither Open MPI nor MPICH: '%s'",
			     says);
	}
	collect_property("mpi.library", says);
	*(void **)&mpi_library.type_size = mpi_library_function("PMPI_Type_size", in);
	*(void **)&mpi_library.type_name = mpi_library_function("PMPI_Type_get_name", in);
	*(void **)&mpi_library.type_envelope = mpi_library_function("PMPI_Type_get_envelope", in);
	mpi_library.is_known &=
		mpi_library.type_size && mpi_library.type_name && mpi_library.type_envelope;
	mpi_library.at = in;
}

void mpi_library_meet(const void *in)
{
	int saved = errno;
	if (in && lock_take(&meeting)) {
		if (!mpi_library.is_met)
			library_recognise(in);
		atomic_thread_fence(memory_order_release);
		mpi_library.is_met = true;
		lock_give(&meeting);
	}
	errno = saved;
}

void *mpi_library_helper(const char *name)
{
	return mpi_library_function(name, mpi_library.at);
}

/* ---- datatypes ------------------------------------------------------------------------------- */

/* Types that MPI names are never freed: what they are is asked once. A place is written under
 * the lock; 'handle' is written last. */
enum { TYPES = 256 };
static struct known_type {
	_Atomic mpi_word handle;
	uint32_t bytes;
	uint32_t name, generation;
} known_types[TYPES];
static struct lock learning;

static struct known_type *place_of_type(mpi_word handle)
{
	return &known_types[(uint64_t)handle * UINT64_C(0x9e3779b97f4a7c15) >> 56];
}
static_assert(TYPES == 1 << (64 - 56), "as many as there are hashes");

static bool is_named_by_mpi(mpi_word handle)
{
	int integers, addresses, types, combiner = -1;
	return mpi_library.type_envelope(handle, &integers, &addresses, &types, &combiner) == 0 &&
	       combiner == mpi_library.combiner_named;
}

static __attribute__((noinline)) struct mpi_type learn_type(mpi_word handle)
{
	int bytes = -1, length = 0;
	char name[256] = "";
	struct mpi_type type = {.bytes = REC_MPI_UNKNOWN};
	if (mpi_library.type_size(handle, &bytes) == 0 && bytes >= 0)
		type.bytes = (uint64_t)bytes;
	if (!is_named_by_mpi(handle)) {
		type.name = collect_string_z("derived");
		return type;
	}
	if (mpi_library.type_name(handle, name, &length) == 0 && length > 0)
		type.name = collect_string(name, strnlen(name, sizeof name));
	struct known_type *place = place_of_type(handle);
	if (type.bytes != REC_MPI_UNKNOWN && lock_take(&learning)) {
		atomic_store(&place->handle, 0);
		atomic_thread_fence(memory_order_seq_cst);
		place->bytes = (uint32_t)bytes;
		place->name = type.name;
		place->generation = atomic_load(&mpi_generation);
		atomic_store_explicit(&place->handle, handle, memory_order_release);
		lock_give(&learning);
	}
	return type;
}

struct mpi_type mpi_type_of(mpi_word word)
{
	mpi_word handle = mpi_handle(word);
	struct known_type *place = place_of_type(handle);
	if (atomic_load_explicit(&place->handle, memory_order_acquire) == handle) {
		struct mpi_type type = {place->bytes, place->name};
		uint32_t generation = place->generation;
		atomic_thread_fence(memory_order_acquire);
		if (atomic_load_explicit(&place->handle, memory_order_relaxed) == handle &&
		    generation == atomic_load_explicit(&mpi_generation, memory_order_relaxed))
			return type;
	}
	return learn_type(word);
}

/* ---- statuses -------------------------------------------------------------------------------- */

/* Open MPI: size_t at byte 16. MPICH: the lower half at byte 0, the upper half at byte 4, whose
 * bit 0 says "cancelled". */
uint64_t mpi_status_bytes(const void *status)
{
	const uint32_t *words = status;
	if (mpi_library.handle_bytes == 8)
		return words[4] | (uint64_t)words[5] << 32;
	return words[0] | (uint64_t)(words[1] >> 1) << 32;
}

bool mpi_status_is_cancelled(const void *status)
{
	const uint32_t *words = status;
	return mpi_library.handle_bytes == 8 ? words[3] != 0 : (words[1] & 1) != 0;
}
