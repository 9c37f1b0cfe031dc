/* SPDX-License-Identifier: Apache-2.0 */
/* opencl_layer.c - how the program's OpenCL calls reach the recording functions, and how these call
 * on.
 *
 * As a layer: the loader asks clInitLayer (ocl-icd) or clInitLayerWithProperties (Khronos) for a
 * table of functions, and passes the table of the next layer. Preloaded: the functions exported
 * here come first in the program's scope. The library is both at once, since nobody knows
 * beforehand whether the loader supports layers: the first call that comes through an exported
 * function makes the loader initialise itself, and then it is known whether the loader has called
 * clInitLayer. If it has, the exported functions only call on; if not, they record. A program that
 * opens libOpenCL by dlopen never sees the exported functions: it is recorded through the layer, or
 * not at all. Without a run, or without the collect library, nothing is changed: the layer's table
 * is empty, and exported functions only call on.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <string.h>

#include "collect/opencl/opencl.h"

#define EXPORT __attribute__((visibility("default")))

struct opencl_functions opencl_next;

/* The functions of the OpenCL library that the program is linked with. */
static struct opencl_functions real;
static _Atomic bool is_found; /* the functions in 'real' are filled in */
/* The collect library was found, and the run records OpenCL, or another run of the process may. */
static _Atomic bool is_connected;
enum { UNDECIDED, LAYER, PRELOAD, ABSENT };
static _Atomic int way; /* how calls are recorded: UNDECIDED, LAYER, PRELOAD or ABSENT */
static struct lock deciding;

static void opencl_layer_after_fork(void)
{
	deciding = (struct lock){0};
	opencl_queues_after_fork();
	opencl_commands_after_fork();
	opencl_report_after_fork();
}

/* Connects with the collect library. This is not done in a constructor, because the constructor
 * of the collect library may run later. A program that records itself is connected whatever the
 * recording wants in which it begins with OpenCL: the loader asks once, and a later recording may
 * want it. */
static void opencl_layer_connect(void)
{
	if (!atomic_load(&is_connected) && sibling_connect() &&
	    ((collect_control->traces & REC_TRACE_OPENCL) || *sibling_joined_itself) &&
	    !atomic_exchange(&is_connected, true))
		pthread_atfork(NULL, NULL, opencl_layer_after_fork);
}

/* ---- as a layer
 * ----------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	size_t slot;
	/* recorder: the function that records the call; NULL: the collector calls the function
	 * and does not replace it. */
	void *recorder;
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

/* Keeps the library of an address loaded: a program may close libOpenCL, and open it again, while
 * the collector still holds events. */
static void keep_library_loaded(const void *in)
{
	Dl_info about;
	if (dladdr(in, &about) && about.dli_fname)
		dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

/* Fills the layer's table. Where an entry stays empty, the loader uses the next layer's
 * function. */
static int32_t init_layer(uint32_t n, void *const *target, uint32_t *n_ret, void *const **table,
			  const void *loader)
{
	if (!target || !n_ret || !table)
		return ABI_CL_INVALID_VALUE;
	*n_ret = n < ABI_CL_SLOTS ? n : ABI_CL_SLOTS;
	*table = layer_table;
	if (atomic_load(&way) != UNDECIDED)
		return ABI_CL_SUCCESS;
	opencl_layer_connect();
	if (!atomic_load(&is_connected))
		return ABI_CL_SUCCESS;
	void **next = (void **)&opencl_next;
	for (size_t i = 0; i < PLACES; i++) {
		if (places[i].slot >= n)
			continue;
		next[i] = target[places[i].slot];
		if (next[i] && places[i].recorder)
			layer_table[places[i].slot] = places[i].recorder;
	}
	keep_library_loaded(loader);
	keep_library_loaded((void *)opencl_next.clGetEventInfo);
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

EXPORT int32_t clInitLayer(uint32_t n, void *const *target, uint32_t *n_ret, void *const **table)
{
	return init_layer(n, target, n_ret, table, __builtin_return_address(0));
}

EXPORT int32_t clInitLayerWithProperties(uint32_t n, void *const *target, uint32_t *n_ret,
					 void *const **table, const void *properties)
{
	(void)properties;
	return init_layer(n, target, n_ret, table, __builtin_return_address(0));
}

/* Is called when the loader gives up its layers, and does nothing: that happens only when the
 * process ends. */
EXPORT int32_t clDeinitLayer(void)
{
	return ABI_CL_SUCCESS;
}

/* ---- preloaded
 * ------------------------------------------------------------------------------------ */

/* Callback of dl_iterate_phdr: yields the path of a loaded OpenCL library, whatever its exact name
 * ("libOpenCL-1a2b.so.1" in a wheel), also if it was opened with RTLD_LOCAL. */
static int find_opencl_path(struct dl_phdr_info *object, size_t size, void *found)
{
	(void)size;
	const char *slash = strrchr(object->dlpi_name, '/');
	const char *name = slash ? slash + 1 : object->dlpi_name;
	if (strncmp(name, "libOpenCL", 9) != 0)
		return 0;
	strncpy(found, object->dlpi_name, 4095);
	return 1;
}

/* The OpenCL library in the scope of a part of the program that was opened by dlopen; NULL:
 * none. */
static void *find_library(void)
{
	char path[4096] = "";
	void *library = dlopen("libOpenCL.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (!library && dl_iterate_phdr(find_opencl_path, path))
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

/* Finds out whether the loader uses the layer: makes it initialise itself by a call that it
 * refuses. */
static void opencl_layer_find_way(void)
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

static void opencl_layer_decide(void)
{
	int saved = errno;
	opencl_layer_connect();
	/* No OpenCL call is to be recorded. Several threads may decide this at once, with the
	 * same result. */
	if (!atomic_load(&is_connected)) {
		find_real_once();
		atomic_store(&way, ABSENT);
	} else if (lock_take(&deciding)) {
		opencl_layer_find_way();
		lock_give(&deciding);
	}
	errno = saved;
}

/* True if the exported functions record, because the loader has no layers. */
static inline bool opencl_layer_is_preloaded(void)
{
	int now = atomic_load_explicit(&way, memory_order_acquire);
	if (now == UNDECIDED || !atomic_load_explicit(&is_found, memory_order_acquire)) {
		opencl_layer_decide();
		now = atomic_load(&way);
	}
	return now == PRELOAD;
}

/* Yields the result of a call that the OpenCL library does not have. */
static inline void *no_pointer(void)
{
	return NULL;
}

#define MISSING(result)                                                                            \
	_Generic((result *)0, int32_t * : ABI_CL_INVALID_OPERATION, void ** : no_pointer())

/* Functions that yield a handle have a pointer to an int32_t as the last parameter, through which
 * they yield the error's code; no other function has. */
static inline void set_code(uintptr_t pointer)
{
	if (pointer)
		*(int32_t *)pointer = ABI_CL_INVALID_OPERATION;
}
static inline void set_nothing(uintptr_t unused)
{
	(void)unused;
}
#define SET_MISSING(...)                                                                           \
	_Generic((__VA_ARGS__), int32_t *                                                          \
		 : set_code, default                                                               \
		 : set_nothing)((uintptr_t)(__VA_ARGS__))

#pragma GCC diagnostic ignored "-Wunused-value" /* SET_MISSING uses the last argument only */
#define EXPORTED(slot, name, result, parameters, arguments)                                        \
	EXPORT result name parameters;                                                             \
	result name parameters                                                                     \
	{                                                                                          \
		bool records = opencl_layer_is_preloaded();                                        \
		if (!real.name) {                                                                  \
			SET_MISSING arguments;                                                     \
			return MISSING(result);                                                    \
		}                                                                                  \
		return records ? record_##name arguments : real.name arguments;                    \
	}
OPENCL_PLAIN(EXPORTED)
OPENCL_SPECIAL(EXPORTED)
OPENCL_ENQUEUE(EXPORTED)

EXPORT void clSVMFree(void *context, void *pointer);
void clSVMFree(void *context, void *pointer)
{
	bool records = opencl_layer_is_preloaded();
	if (real.clSVMFree && records)
		record_clSVMFree(context, pointer);
	else if (real.clSVMFree)
		real.clSVMFree(context, pointer);
}
