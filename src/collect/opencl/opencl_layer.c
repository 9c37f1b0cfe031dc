/* opencl_layer.c - how the program's OpenCL calls come to us, and how theirs go on.
 *
 * As a layer: the loader asks clInitLayer (ocl-icd) or clInitLayerWithProperties (Khronos) for a table of
 * functions and gives us the next one. Preloaded: the functions exported here come first in the program's
 * scope. We are both at once, since nobody knows beforehand whether the loader has layers: the first call
 * that comes through an exported function makes the loader initialise itself, and then it is known whether
 * it asked us. If it did, the exported functions only pass on; if not, they record. A program that opens
 * libOpenCL by dlopen never sees the exported functions and is recorded as a layer, or not at all.
 * Without a run, or without the collect library, nothing is changed: an empty table, and calls passed on.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <string.h>

#include "collect/opencl/opencl.h"

#define EXPORT __attribute__((visibility("default")))

struct opencl_functions opencl_next;
uint32_t opencl_generation = 1;

static struct opencl_functions real; /* of the library that the program is linked with */
static _Atomic bool is_found;        /* 'real' is filled */
static _Atomic bool is_connected;    /* to the collect library, in a run that records OpenCL */
enum { UNDECIDED, LAYER, PRELOAD, ABSENT };
static _Atomic int way; /* by which calls are recorded */
static struct lock deciding;

static void after_fork(void)
{
	opencl_generation++;
	deciding = (struct lock){0};
	queues_after_fork();
	commands_after_fork();
	tell_after_fork();
}

/* Not from a constructor: that of the collect library may come after ours. */
static void connect(void)
{
	if (!atomic_load(&is_connected) && sibling_connect() &&
	    (collect_control->traces & REC_TRACE_OPENCL) && !atomic_exchange(&is_connected, true))
		pthread_atfork(NULL, NULL, after_fork);
}

/* ---- as a layer ----------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	size_t slot;
	void *ours; /* NULL: we only call it */
} places[] = {
#define OURS(slot, name, result, parameters, arguments) {#name, slot, (void *)record_##name},
#define USED(slot, name, result, parameters, arguments) {#name, slot, NULL},
	OPENCL_USED(USED) OPENCL_OURS(OURS)
#undef OURS
#undef USED
};
enum { PLACES = sizeof places / sizeof *places };
static_assert(sizeof(struct opencl_functions) == PLACES * sizeof(void *), "in the same order");

static void *layer_table[ABI_CL_SLOTS];

/* What we call must stay: a program may close libOpenCL, and open it again, while we still hold events. */
static void keep_loaded(const void *in)
{
	Dl_info about;
	if (dladdr(in, &about) && about.dli_fname)
		dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/* An entry that we leave empty is the next layer's. */
static int32_t init_layer(uint32_t n, void *const *target, uint32_t *n_ret, void *const **ours,
			  const void *loader)
{
	if (!target || !n_ret || !ours)
		return ABI_CL_INVALID_VALUE;
	*n_ret = n < ABI_CL_SLOTS ? n : ABI_CL_SLOTS;
	*ours = layer_table;
	if (atomic_load(&way) != UNDECIDED)
		return ABI_CL_SUCCESS;
	connect();
	if (!atomic_load(&is_connected))
		return ABI_CL_SUCCESS;
	void **next = (void **)&opencl_next;
	for (size_t i = 0; i < PLACES; i++) {
		if (places[i].slot >= n)
			continue;
		next[i] = target[places[i].slot];
		if (next[i] && places[i].ours)
			layer_table[places[i].slot] = places[i].ours;
	}
	keep_loaded(loader);
	keep_loaded((void *)opencl_next.clGetEventInfo);
	atomic_store(&way, LAYER);
	collect_property("opencl.way", "layer");
	return ABI_CL_SUCCESS;
}

EXPORT int32_t clGetLayerInfo(uint32_t name, size_t size, void *value, size_t *size_ret)
{
	static const char title[] = "Headway";
	static const uint32_t version = ABI_CL_LAYER_API_VERSION_100;
	const void *answer = name == ABI_CL_LAYER_API_VERSION ? (const void *)&version : title;
	size_t length = name == ABI_CL_LAYER_API_VERSION ? sizeof version : sizeof title;
	if ((name != ABI_CL_LAYER_API_VERSION && name != ABI_CL_LAYER_NAME) ||
	    (value && size < length))
		return ABI_CL_INVALID_VALUE;
	if (value)
		memcpy(value, answer, length);
	if (size_ret)
		*size_ret = length;
	return ABI_CL_SUCCESS;
}

EXPORT int32_t clInitLayer(uint32_t n, void *const *target, uint32_t *n_ret, void *const **ours)
{
	return init_layer(n, target, n_ret, ours, __builtin_return_address(0));
}

EXPORT int32_t clInitLayerWithProperties(uint32_t n, void *const *target, uint32_t *n_ret,
					 void *const **ours, const void *properties)
{
	(void)properties;
	return init_layer(n, target, n_ret, ours, __builtin_return_address(0));
}

/* The loader lets go of its layers when the process ends. */
EXPORT int32_t clDeinitLayer(void)
{
	return ABI_CL_SUCCESS;
}

/* ---- preloaded ------------------------------------------------------------------------------------ */

/* A library that was opened with RTLD_LOCAL, whatever it is called ("libOpenCL-1a2b.so.1" in a wheel). */
static int open_if_opencl(struct dl_phdr_info *object, size_t size, void *found)
{
	(void)size;
	const char *slash = strrchr(object->dlpi_name, '/');
	const char *name = slash ? slash + 1 : object->dlpi_name;
	if (strncmp(name, "libOpenCL", 9) != 0)
		return 0;
	strncpy(found, object->dlpi_name, 4095);
	return 1;
}

/* What the program is linked with, after us in its scope; or in the scope of a part that it opened. */
static void *find_library(void)
{
	char path[4096] = "";
	void *library = dlopen("libOpenCL.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (!library && dl_iterate_phdr(open_if_opencl, path))
		library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	return library;
}

static void find_real(void)
{
	void **into = (void **)&real;
	void *library = NULL;
	if (!dlsym(RTLD_NEXT, "clGetPlatformIDs"))
		library = find_library();
	for (size_t i = 0; i < PLACES; i++)
		into[i] =
			library ? dlsym(library, places[i].name) : dlsym(RTLD_NEXT, places[i].name);
}

static void find_real_once(void)
{
	if (atomic_load(&is_found))
		return;
	find_real();
	atomic_store(&is_found, real.clGetPlatformIDs != NULL);
}

/* Makes the loader initialise itself by a call that it refuses. */
static void find_way(void)
{
	find_real_once();
	if (atomic_load(&way) != UNDECIDED || !real.clGetPlatformIDs)
		return;
	real.clGetPlatformIDs(0, NULL, NULL);
	if (atomic_load(&way) != UNDECIDED)
		return;
	opencl_next = real;
	atomic_store(&way, PRELOAD);
	collect_property("opencl.way", "preload");
}

static void decide(void)
{
	int saved = errno;
	connect();
	if (!atomic_load(
		    &is_connected)) { /* nobody is to record anything: several threads find the same */
		find_real_once();
		atomic_store(&way, ABSENT);
	} else if (lock_take(&deciding)) {
		find_way();
		lock_give(&deciding);
	}
	errno = saved;
}

/* True where the exported functions record. */
static inline bool opencl_layer_is_ours(void)
{
	int now = atomic_load_explicit(&way, memory_order_acquire);
	if (now == UNDECIDED || !atomic_load_explicit(&is_found, memory_order_acquire)) {
		decide();
		now = atomic_load(&way);
	}
	return now == PRELOAD;
}

/* What a call yields that the library does not have. */
static inline void *no_pointer(void)
{
	return NULL;
}

#define MISSING(result)                                                                            \
	_Generic((result *)0, int32_t * : ABI_CL_INVALID_OPERATION, void ** : no_pointer())

#define EXPORTED(slot, name, result, parameters, arguments)                                        \
	EXPORT result name parameters;                                                             \
	result name parameters                                                                     \
	{                                                                                          \
		bool ours = opencl_layer_is_ours();                                                \
		if (!real.name)                                                                    \
			return MISSING(result);                                                    \
		return ours ? record_##name arguments : real.name arguments;                       \
	}
OPENCL_PLAIN(EXPORTED)
OPENCL_SPECIAL(EXPORTED)
OPENCL_ENQUEUE(EXPORTED)

EXPORT void clSVMFree(void *context, void *pointer);
void clSVMFree(void *context, void *pointer)
{
	bool ours = opencl_layer_is_ours();
	if (real.clSVMFree && ours)
		record_clSVMFree(context, pointer);
	else if (real.clSVMFree)
		real.clSVMFree(context, pointer);
}
