/* SPDX-License-Identifier: Apache-2.0 */
/* roles.c - what a vendor's call is for, and which kernels communicate. One table for all vendors.
 *
 * Names lose the vendor's prefix (cuda, cu, hip, hipExt, cl, ur, ze) and the version or per-thread
 * suffix (_v7000, _v2, _ptsz, _ptds) first, so one row serves CUDA runtime and driver, HIP, OpenCL,
 * and Intel's two.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "trace/trace.h"

enum { BLOCKS = HWY_ROLE_BLOCKS };

/* The first row that matches decides. '*' at the end matches any rest; without it the whole name
 * must be equal. Sources: CUDA 13.0 runtime and driver API, HIP 6.2, OpenCL 3.0, Unified Runtime
 * 0.11, Level Zero 1.9. "Blocks" is said of calls that by contract return only when device work has
 * ended; a copy from pageable memory is not known by its name. */
static const struct {
	const char *pattern;
	int role;
} table[] = {
	{"GraphLaunch*", HWY_ROLE_GRAPH_LAUNCH},
	{"GraphExecLaunch*", HWY_ROLE_GRAPH_LAUNCH},
	{"LaunchHostFunc*", HWY_ROLE_HOST_CALLBACK},
	{"StreamAddCallback*", HWY_ROLE_HOST_CALLBACK},
	{"EnqueueNativeKernel*", HWY_ROLE_HOST_CALLBACK},
	{"Launch*", HWY_ROLE_LAUNCH},
	{"ModuleLaunch*", HWY_ROLE_LAUNCH},
	{"EnqueueNDRangeKernel", HWY_ROLE_LAUNCH},
	{"EnqueueTask", HWY_ROLE_LAUNCH},
	{"EnqueueKernelLaunch*", HWY_ROLE_LAUNCH},
	{"EnqueueCooperativeKernelLaunch*", HWY_ROLE_LAUNCH},
	{"CommandListAppendLaunch*", HWY_ROLE_LAUNCH},

	{"StreamBeginCapture*", HWY_ROLE_GRAPH_BUILD},
	{"StreamEndCapture*", HWY_ROLE_GRAPH_BUILD},
	{"StreamUpdateCaptureDependencies*", HWY_ROLE_GRAPH_BUILD},
	{"GraphGet*", HWY_ROLE_OTHER},
	{"Graph*", HWY_ROLE_GRAPH_BUILD},

	{"MemcpyPeer*", HWY_ROLE_COPY},
	{"Memcpy*Async*", HWY_ROLE_COPY},
	{"MemcpyDtoD*", HWY_ROLE_COPY},
	{"MemcpyWithStream", HWY_ROLE_COPY | BLOCKS},
	{"Memcpy*", HWY_ROLE_COPY | BLOCKS},
	{"MemPrefetch*", HWY_ROLE_COPY},
	{"EnqueueReadBuffer*", HWY_ROLE_COPY},
	{"EnqueueWriteBuffer*", HWY_ROLE_COPY},
	{"EnqueueReadImage", HWY_ROLE_COPY},
	{"EnqueueWriteImage", HWY_ROLE_COPY},
	{"EnqueueCopy*", HWY_ROLE_COPY},
	{"EnqueueMap*", HWY_ROLE_COPY},
	{"EnqueueUnmap*", HWY_ROLE_COPY},
	{"EnqueueMigrate*", HWY_ROLE_COPY},
	{"EnqueueSVMMemFill", HWY_ROLE_FILL},
	{"EnqueueSVMMem*", HWY_ROLE_COPY},
	{"EnqueueSVMMap", HWY_ROLE_COPY},
	{"EnqueueSVMUnmap", HWY_ROLE_COPY},
	{"EnqueueSVMMigrate*", HWY_ROLE_COPY},
	{"EnqueueSVMFree", HWY_ROLE_FREE},
	{"EnqueueUSMFill*", HWY_ROLE_FILL},
	{"EnqueueUSM*", HWY_ROLE_COPY},
	{"EnqueueMemBufferFill", HWY_ROLE_FILL},
	{"EnqueueMemBuffer*", HWY_ROLE_COPY},
	{"CommandListAppendMemoryFill", HWY_ROLE_FILL},
	{"CommandListAppendMemoryCopy*", HWY_ROLE_COPY},
	{"Memset*", HWY_ROLE_FILL},
	{"EnqueueFill*", HWY_ROLE_FILL},

	{"DeviceSynchronize", HWY_ROLE_SYNC | BLOCKS},
	{"ThreadSynchronize", HWY_ROLE_SYNC | BLOCKS},
	{"CtxSynchronize*", HWY_ROLE_SYNC | BLOCKS},
	{"StreamSynchronize", HWY_ROLE_SYNC | BLOCKS},
	{"EventSynchronize", HWY_ROLE_SYNC | BLOCKS},
	{"Finish", HWY_ROLE_SYNC | BLOCKS},
	{"WaitForEvents", HWY_ROLE_SYNC | BLOCKS},
	{"QueueFinish", HWY_ROLE_SYNC | BLOCKS},
	{"EventWait", HWY_ROLE_SYNC | BLOCKS},
	{"CommandQueueSynchronize", HWY_ROLE_SYNC | BLOCKS},
	{"CommandListHostSynchronize", HWY_ROLE_SYNC | BLOCKS},
	{"EventHostSynchronize", HWY_ROLE_SYNC | BLOCKS},
	{"FenceHostSynchronize", HWY_ROLE_SYNC | BLOCKS},
	{"EventRecord*", HWY_ROLE_EVENT_RECORD},
	{"EnqueueMarker*", HWY_ROLE_EVENT_RECORD},
	{"StreamWaitEvent", HWY_ROLE_STREAM_WAIT},
	{"StreamWaitValue*", HWY_ROLE_STREAM_WAIT},
	{"EnqueueBarrier*", HWY_ROLE_STREAM_WAIT},
	{"EnqueueWaitForEvents", HWY_ROLE_STREAM_WAIT},
	{"EventQuery", HWY_ROLE_QUERY},
	{"StreamQuery", HWY_ROLE_QUERY},
	{"GetEventInfo", HWY_ROLE_QUERY},

	{"MallocHost", HWY_ROLE_PIN},
	{"HostAlloc", HWY_ROLE_PIN},
	{"HostMalloc", HWY_ROLE_PIN},
	{"HostRegister", HWY_ROLE_PIN},
	{"MemHostAlloc", HWY_ROLE_PIN},
	{"MemAllocHost", HWY_ROLE_PIN},
	{"MemHostRegister", HWY_ROLE_PIN},
	{"USMHostAlloc", HWY_ROLE_PIN},
	{"Malloc*", HWY_ROLE_ALLOC},
	{"MemAlloc*", HWY_ROLE_ALLOC},
	{"MemCreate", HWY_ROLE_ALLOC},
	{"MemMap*", HWY_ROLE_ALLOC},
	{"MemAddressReserve", HWY_ROLE_ALLOC},
	{"MemSetAccess", HWY_ROLE_ALLOC},
	{"MemPoolCreate", HWY_ROLE_ALLOC},
	{"ArrayCreate", HWY_ROLE_ALLOC},
	{"Array3DCreate", HWY_ROLE_ALLOC},
	{"MipmappedArrayCreate", HWY_ROLE_ALLOC},
	{"CreateBuffer*", HWY_ROLE_ALLOC},
	{"CreateImage*", HWY_ROLE_ALLOC},
	{"SVMAlloc", HWY_ROLE_ALLOC},
	{"USM*Alloc", HWY_ROLE_ALLOC},
	{"FreeAsync", HWY_ROLE_FREE},
	{"MemFreeAsync", HWY_ROLE_FREE},
	{"Free*", HWY_ROLE_FREE | BLOCKS}, /* cudaFree waits for the device */
	{"MemFree*", HWY_ROLE_FREE | BLOCKS},
	{"HostFree", HWY_ROLE_FREE | BLOCKS},
	{"HostUnregister", HWY_ROLE_FREE},
	{"MemHostUnregister", HWY_ROLE_FREE},
	{"MemUnmap", HWY_ROLE_FREE},
	{"MemRelease", HWY_ROLE_FREE},
	{"MemAddressFree", HWY_ROLE_FREE},
	{"MemPoolDestroy", HWY_ROLE_FREE},
	{"MemPoolTrimTo", HWY_ROLE_FREE},
	{"ArrayDestroy", HWY_ROLE_FREE},
	{"ReleaseMemObject", HWY_ROLE_FREE},
	{"SVMFree", HWY_ROLE_FREE},
	{"USMFree", HWY_ROLE_FREE},

	{"ModuleLoad*", HWY_ROLE_MODULE},
	{"ModuleUnload", HWY_ROLE_MODULE},
	{"LibraryLoad*", HWY_ROLE_MODULE},
	{"LibraryUnload", HWY_ROLE_MODULE},
	{"Link*", HWY_ROLE_MODULE},
	{"ModuleCreate", HWY_ROLE_MODULE},
	{"ProgramBuild*", HWY_ROLE_MODULE},
	{"BuildProgram", HWY_ROLE_MODULE},
	{"CompileProgram", HWY_ROLE_MODULE},
	{"CreateProgram*", HWY_ROLE_MODULE},
};

/* The recorder adds this suffix to the name of a call that the program told to wait (CL_TRUE). */
static const char blocking[] = " [blocking]";

static const char *without_prefix(const char *name)
{
	static const char *const prefixes[] = {"hipExt", "cuda", "hip", "cu", "cl", "ur", "ze"};
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
		size_t n = strlen(prefixes[i]);
		if (strncmp(name, prefixes[i], n) == 0 && isupper((unsigned char)name[n]))
			return name + n;
	}
	return NULL;
}

/* Yields the length of a name of n bytes without an ending such as "_v7000", "_ptsz" or "_ptds". */
static size_t base_length(const char *name, size_t n)
{
	for (;;) {
		size_t digits = n;
		while (digits > 0 && isdigit((unsigned char)name[digits - 1]))
			digits--;
		if (digits < n && digits >= 2 && name[digits - 1] == 'v' && name[digits - 2] == '_')
			n = digits - 2;
		else if (n > 5 && (memcmp(name + n - 5, "_ptsz", 5) == 0 ||
				   memcmp(name + n - 5, "_ptds", 5) == 0))
			n -= 5;
		else
			return n;
	}
}

/* Whether a name matches a pattern in which '*' stands for any text, also in the middle
 * ("Memcpy*Async*"). */
static bool matches(const char *pattern, const char *name, size_t length)
{
	for (; *pattern && *pattern != '*'; pattern++, name++, length--)
		if (length == 0 || *pattern != *name)
			return false;
	if (!*pattern)
		return length == 0;
	for (size_t skip = 0; skip <= length; skip++)
		if (!pattern[1] || matches(pattern + 1, name + skip, length - skip))
			return true;
	return false;
}

static bool starts_with_any_case(const char *name, const char *start)
{
	return strncasecmp(name, start, strlen(start)) == 0;
}

unsigned hwy_role_of_name(const char *name)
{
	static const char *const comm[] = {"nccl", "rccl", "MPI_", "nvshmem", "ucp_", "shmem_"};
	for (size_t i = 0; i < sizeof comm / sizeof *comm; i++)
		if (starts_with_any_case(name, comm[i]))
			return HWY_ROLE_COMM;
	const char *rest = without_prefix(name);
	if (!rest)
		return HWY_ROLE_OTHER;
	size_t whole = strlen(rest), ending = sizeof blocking - 1;
	bool blocks = whole > ending && strcmp(rest + whole - ending, blocking) == 0;
	size_t length = base_length(rest, blocks ? whole - ending : whole);
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		if (matches(table[i].pattern, rest, length))
			return (unsigned)table[i].role | (blocks ? BLOCKS : 0);
	return HWY_ROLE_OTHER;
}

/* Libraries by their names or name spaces (DeepEP's kernels live in ep::internode and
 * ep::intranode), then kernels by the collective that they are: the custom all-reduces of vLLM,
 * SGLang and TensorRT-LLM, PyTorch's symmetric memory. */
bool hwy_name_is_comm(const char *name)
{
	static const char *const parts[] = {
		"nccl",          "rccl",           "nvshmem",       "rocshmem",
		"msccl",         "oneccl",         "ep::internode", "ep::intranode",
		"deep_ep::",     "quickreduce",    "quick_reduce",  "cross_device_reduce",
		"allreduce",     "all_reduce",     "allgather",     "all_gather",
		"reducescatter", "reduce_scatter", "alltoall",      "all_to_all"};
	/* Inductor names a kernel after operators nearby: triton_poi_fused_all_reduce_add only
	 * computes. */
	if (strncmp(name, "triton_", 7) == 0)
		return false;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (strcasestr(name, parts[i]))
			return true;
	return false;
}

/* Yields the entry for a text id in one of the trace's caches; the first use allocates the
 * cache. */
static uint8_t *cached(const struct hwy_trace *trace, uint8_t **cache, int64_t name)
{
	if (!*cache) {
		*cache = hwy_alloc(trace->strings.n);
		memset(*cache, 0xff, trace->strings.n);
	}
	return &(*cache)[name >= 0 && name < trace->strings.n ? name : 0];
}

unsigned hwy_role(struct hwy_trace *trace, int64_t name)
{
	uint8_t *role = cached(trace, &trace->roles, name);
	if (*role == 0xff)
		*role = (uint8_t)hwy_role_of_name(hwy_str(trace, name));
	return *role;
}

/* What a kernel's name tells, as bits in the trace's cache. */
enum { COMM_OF_ANY_KIND = 1, COMM_OF_A_LIBRARY = 2 };

static unsigned comm_of_kernel(struct hwy_trace *trace, int64_t name)
{
	uint8_t *comm = cached(trace, &trace->comm, name);
	if (*comm == 0xff) {
		const char *text = hwy_str(trace, name);
		bool of_library = strcasestr(text, "nccl") || strcasestr(text, "rccl") ||
				  strcasestr(text, "nvshmem");
		*comm = (uint8_t)((hwy_name_is_comm(text) ? COMM_OF_ANY_KIND : 0) |
				  (of_library ? COMM_OF_A_LIBRARY : 0));
	}
	return *comm;
}

static enum hwy_class class_by(struct hwy_trace *trace, enum hwy_kind kind, int64_t name,
			       unsigned comm)
{
	if (kind == HWY_COPY || kind == HWY_FILL)
		return HWY_MEMCLASS;
	return kind == HWY_KERNEL && comm_of_kernel(trace, name) & comm ? HWY_COMM : HWY_COMPUTE;
}

enum hwy_class hwy_class(struct hwy_trace *trace, enum hwy_kind kind, int64_t name)
{
	return class_by(trace, kind, name, COMM_OF_ANY_KIND | COMM_OF_A_LIBRARY);
}

enum hwy_class hwy_class_as_hta(struct hwy_trace *trace, enum hwy_kind kind, int64_t name)
{
	return class_by(trace, kind, name, COMM_OF_A_LIBRARY);
}
