/* SPDX-License-Identifier: Apache-2.0 */
/* nccl_events.c - records communicators, calls and operations of NCCL as they begin, and the
 * ends of calls. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "collect/nccl/nccl.h"

static _Atomic uint64_t last_id;
static _Atomic uint32_t last_comm;

static void *handle_of_id(unsigned kind)
{
	uint64_t id = atomic_fetch_add_explicit(&last_id, 1, memory_order_relaxed) + 1;
	return (void *)(uintptr_t)(id << NCCL_HANDLE_BITS | kind);
}

static uint32_t text_or_0(const char *text)
{
	return text && *text ? collect_string_z(text) : 0;
}

/* ---- communicators --------------------------------------------------------------------------- */

/* Whether the library that asks is RCCL; notes its version at the first communicator. The
 * library is open: it calls. */
static bool look_at_caller(const void *caller, bool is_first)
{
	Dl_info about;
	if (!dladdr(caller, &about) || !about.dli_fname)
		return false;
	const char *slash = strrchr(about.dli_fname, '/');
	bool is_rccl = strstr(slash ? slash : about.dli_fname, "rccl") != NULL;
	void *library = dlopen(about.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	int (*ask)(int *) = NULL;
	if (library)
		*(void **)&ask = dlsym(library, "ncclGetVersion");
	int version = 0;
	char text[32];
	if (ask && is_first && ask(&version) == ABI_NCCL_SUCCESS && version > 2000) {
		/* 2.8 and before: 2804; since 2.9: 20908. */
		int major = version >= 10000 ? version / 10000 : version / 1000;
		int minor = version >= 10000 ? version / 100 % 100 : version / 100 % 10;
		snprintf(text, sizeof text, "%d.%d.%d", major, minor, version % 100);
		collect_property(is_rccl ? "rccl.version" : "nccl.version", text);
	}
	if (library)
		dlclose(library);
	if (!library || !ask)
		dlerror(); /* the program must not find an error that is not its own */
	return is_rccl;
}

/* The events that NCCL shall tell. Channels of kernels have their price: NCCL's proxy thread
 * watches for them, and every graph that is captured gets a host function for each kernel of
 * NCCL's, which it would not have otherwise. Where CUDA is recorded the kernels' times are known
 * without them. */
static int wanted_events(uint32_t traces)
{
	bool wants_channels = !(traces & REC_TRACE_CUDA) || (traces & REC_TRACE_NCCL_CHANNELS);
	return traces & REC_TRACE_NCCL ? NCCL_MASK | (wants_channels ? ABI_NCCL_KERNEL_CHANNEL : 0)
				       : 0;
}

void *nccl_begin_comm(unsigned interface, uint64_t hash, const char *name, int nodes, int ranks,
		      int rank, int *mask, const void *caller)
{
	int saved = errno;
	int wanted = collect_control ? wanted_events(collect_control->traces) : 0;
	if (mask)
		*mask = wanted;
	if (!wanted)
		return NULL;
	uint32_t number = atomic_fetch_add_explicit(&last_comm, 1, memory_order_relaxed) + 1;
	bool is_rccl = look_at_caller(caller, number == 1);
	uint32_t text = text_or_0(name);
	struct rec_nccl_comm *record = collect_reserve(REC_NCCL_COMM, 2);
	if (record) {
		record->head.flags = is_rccl ? REC_NCCL_IS_RCCL : 0;
		record->head.value = number;
		record->time = collect_now();
		record->hash = hash;
		record->name = text;
		record->nodes = nodes;
		record->ranks = ranks;
		record->rank = rank;
		record->interface = interface;
		collect_publish(record);
	}
	char version[16];
	snprintf(version, sizeof version, "v%u", interface);
	if (number == 1)
		collect_property("nccl.interface", version);
	errno = saved;
	return (void *)(uintptr_t)number;
}

/* ---- calls and operations -------------------------------------------------------------------- */

void *nccl_start_plan(void)
{
	return nccl_is_on() ? handle_of_id(NCCL_IS_ID) : NULL;
}

void *nccl_start_event(void *context, const struct nccl_event *event)
{
	if (!nccl_is_on())
		return NULL;
	int saved = errno;
	void *handle = handle_of_id(event->ends ? NCCL_IS_ID_THAT_ENDS : NCCL_IS_ID);
	int64_t now = collect_now();
	uint32_t function = text_or_0(event->function), datatype = text_or_0(event->datatype),
		 algorithm = text_or_0(event->algorithm), protocol = text_or_0(event->protocol);
	struct rec_nccl_event *record = collect_reserve(REC_NCCL_EVENT, 4);
	if (record) {
		record->head.flags = (uint8_t)event->kind;
		record->head.value = (uint32_t)(uintptr_t)context;
		record->start = now;
		record->id = nccl_id(handle);
		record->parent = nccl_id(event->parent);
		record->plan = nccl_id(event->plan);
		record->sequence = event->sequence;
		record->count = event->count;
		record->traffic = event->traffic;
		record->hash = event->hash;
		record->function = function;
		record->datatype = datatype;
		record->algorithm = algorithm;
		record->protocol = protocol;
		record->peer = event->peer;
		record->rank = event->rank;
		record->channels = (uint16_t)event->channels;
		record->bits = (uint16_t)((event->is_captured ? REC_NCCL_CAPTURED : 0) |
					  (event->hash ? REC_NCCL_HAS_HASH : 0));
		record->depth = event->depth;
		record->stream = (uintptr_t)event->stream;
		collect_publish(record);
	}
	errno = saved;
	return handle;
}

int nccl_stop(void *handle)
{
	unsigned kind = nccl_handle_kind(handle);
	if (kind == NCCL_IS_SLOT)
		nccl_proxy_stop(handle);
	else if (kind == NCCL_IS_ID_THAT_ENDS && nccl_is_on()) {
		int saved = errno;
		int64_t now = collect_now();
		struct rec_nccl_end *record = collect_reserve(REC_NCCL_END, 1);
		if (record) {
			record->time = now;
			record->id = nccl_id(handle);
			collect_publish(record);
		}
		errno = saved;
	}
	return ABI_NCCL_SUCCESS;
}
