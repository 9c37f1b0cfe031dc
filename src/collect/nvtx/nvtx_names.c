/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_names.c - domains, registered strings, and names that the program gives to things through
 * NVTX.
 *
 * A domain lives as long as the process. Two domains of the same name are one, as in other tools. A
 * domain's name is recorded when the domain is made, and again by a forked child's first use of the
 * domain.
 */
#include "collect/nvtx/nvtx.h"

#include <stdatomic.h>
#include <string.h>

#include "collect/collect.h"
#include "collect/process.h"
#include "collect/spool.h"
#include "collect/text_ids.h"
#include "spool/libraries.h"

enum { MOST_DOMAINS = 4096 };

struct nvtx_domain {
	_Atomic uint32_t name; /* text id of the domain's name; 0: the place is free */
	/* The generation in whose spools the domain's name is defined;
	 * each fork begins a new generation. */
	_Atomic uint32_t generation;
	/* The source that the domain's ranges are recorded for, beside REC_TRACE_NVTX: a bit
	 * REC_TRACE_… where the domain is that of a library, else 0. */
	_Atomic uint32_t source;
};

/* Domain number n is domains[n - 1]. A new domain takes the first free place by setting 'name'
 * there. */
static struct nvtx_domain domains[MOST_DOMAINS];

/* ---- texts
 * -------------------------------------------------------------------------------------- */

/* Converts a wide text to UTF-8, as much as fits; what is no character becomes '?'. Yields the
 * length. */
static size_t utf8_of_wide(const wchar_t *wide, char room[NVTX_WIDE_BYTES])
{
	size_t n = 0;
	for (; *wide && n + 4 <= NVTX_WIDE_BYTES; wide++) {
		uint32_t c = (uint32_t)*wide;
		if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
			c = '?';
		if (c < 0x80) {
			room[n++] = (char)c;
			continue;
		}
		int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
		static const uint8_t lead[] = {0, 0xc0, 0xe0, 0xf0};
		room[n++] = (char)(lead[more] | c >> (6 * more));
		while (more--)
			room[n++] = (char)(0x80 | (c >> (6 * more) & 0x3f));
	}
	return n;
}

struct nvtx_text nvtx_text_of(int type, union abi_nvtx_message message, char *room)
{
	struct nvtx_text text = {"", 0, 0};
	if (!message.registered)
		return text;
	switch (type) {
	case ABI_NVTX_MESSAGE_ASCII:
		text.bytes = message.ascii;
		text.length = strnlen(message.ascii, REC_MAX_TEXT);
		break;
	case ABI_NVTX_MESSAGE_WIDE:
		text.length = utf8_of_wide(message.wide, room);
		text.bytes = room;
		break;
	case ABI_NVTX_MESSAGE_REGISTERED:
		text.id = (uint32_t)(uintptr_t)message.registered;
		text.bytes = text_ids_text(text.id, &text.length);
		break;
	default: break;
	}
	return text;
}

uint32_t nvtx_string(const struct nvtx_text *text)
{
	return text->id ? text_ids_define_again(text->id)
			: collect_string(text->bytes, text->length);
}

/* ---- domains
 * ------------------------------------------------------------------------------------ */

static void put_name_record(enum rec_named what, uint32_t name, uint32_t domain, uint32_t number,
			    uint64_t handle)
{
	struct rec_naming *record = collect_reserve(REC_NAME, 1);
	if (!record)
		return;
	record->head.flags = (uint8_t)what;
	record->head.value = name;
	record->domain = domain;
	record->number = number;
	record->handle = handle;
	collect_publish(record);
}

uint32_t nvtx_domain_number(struct nvtx_domain *domain)
{
	if (domain < domains || domain >= domains + MOST_DOMAINS)
		return 0;
	uint32_t number = (uint32_t)(domain - domains) + 1;
	if (atomic_load_explicit(&domain->generation, memory_order_relaxed) != process.generation) {
		atomic_store(&domain->generation, process.generation);
		put_name_record(REC_NAMED_DOMAIN, text_ids_define_again(atomic_load(&domain->name)),
				number, number, 0);
	}
	return number;
}

uint32_t nvtx_domain_name(const struct nvtx_domain *domain)
{
	return domain ? atomic_load_explicit(&((struct nvtx_domain *)(uintptr_t)domain)->name,
					     memory_order_relaxed)
		      : 0;
}

/* The sources that the domain's events are recorded for. */
static uint32_t sources_of(struct nvtx_domain *domain)
{
	bool is_named = domain >= domains && domain < domains + MOST_DOMAINS;
	return REC_TRACE_NVTX |
	       (is_named ? atomic_load_explicit(&domain->source, memory_order_relaxed) : 0);
}

bool nvtx_is_on(struct nvtx_domain *domain)
{
	return collect_is_on(sources_of(domain)) && !collect_is_ours;
}

bool nvtx_is_traced(struct nvtx_domain *domain)
{
	return collect_control && (collect_control->traces & sources_of(domain));
}

static struct nvtx_domain *domain_with_name(uint32_t name)
{
	for (size_t i = 0; name && i < MOST_DOMAINS; i++) {
		uint32_t there = 0;
		if (atomic_compare_exchange_strong(&domains[i].name, &there, name) ||
		    there == name) {
			size_t length;
			const char *text = text_ids_text(name, &length);
			atomic_store_explicit(&domains[i].source, libraries_source(text, length),
					      memory_order_relaxed);
			nvtx_domain_number(&domains[i]);
			return &domains[i];
		}
	}
	return NULL;
}

static struct nvtx_domain *domain_create_a(const char *name)
{
	return domain_with_name(collect_string_z(name));
}

static struct nvtx_domain *domain_create_w(const wchar_t *name)
{
	char room[NVTX_WIDE_BYTES];
	return name ? domain_with_name(collect_string(room, utf8_of_wide(name, room))) : NULL;
}

static void domain_destroy(struct nvtx_domain *domain)
{
	(void)domain;
}

static void *register_string_a(struct nvtx_domain *domain, const char *text)
{
	(void)domain;
	return (void *)(uintptr_t)collect_string_z(text);
}

static void *register_string_w(struct nvtx_domain *domain, const wchar_t *text)
{
	(void)domain;
	char room[NVTX_WIDE_BYTES];
	return text ? (void *)(uintptr_t)collect_string(room, utf8_of_wide(text, room)) : NULL;
}

/* ---- names
 * -------------------------------------------------------------------------------------- */

/* Not inlined: only callers that have a wide text need stack for the room. */
__attribute__((noinline)) static uint32_t wide_text_id(const wchar_t *name)
{
	char room[NVTX_WIDE_BYTES];
	return name ? collect_string(room, utf8_of_wide(name, room)) : 0;
}

static void name_category(struct nvtx_domain *domain, uint32_t category, uint32_t name)
{
	put_name_record(REC_NAMED_CATEGORY, name, nvtx_domain_number(domain), category, 0);
}

static void domain_name_category_a(struct nvtx_domain *domain, uint32_t category, const char *name)
{
	name_category(domain, category, collect_string_z(name));
}

static void domain_name_category_w(struct nvtx_domain *domain, uint32_t category,
				   const wchar_t *name)
{
	name_category(domain, category, wide_text_id(name));
}

static void name_category_a(uint32_t category, const char *name)
{
	name_category(NULL, category, collect_string_z(name));
}

static void name_category_w(uint32_t category, const wchar_t *name)
{
	name_category(NULL, category, wide_text_id(name));
}

static void name_thread(uint32_t tid, uint32_t name)
{
	struct rec_name *record = collect_reserve(REC_THREAD, 1);
	if (!record)
		return;
	record->head.flags = 1;
	record->head.value = tid;
	record->name = name;
	collect_publish(record);
}

static void name_thread_a(uint32_t tid, const char *name)
{
	name_thread(tid, collect_string_z(name));
}

static void name_thread_w(uint32_t tid, const wchar_t *name)
{
	name_thread(tid, wide_text_id(name));
}

static void name_device_a(int device, const char *name)
{
	put_name_record(REC_NAMED_DEVICE, collect_string_z(name), 0, (uint32_t)device, 0);
}

static void name_device_w(int device, const wchar_t *name)
{
	put_name_record(REC_NAMED_DEVICE, wide_text_id(name), 0, (uint32_t)device, 0);
}

static void name_context_a(void *context, const char *name)
{
	put_name_record(REC_NAMED_CONTEXT, collect_string_z(name), 0, 0,
			(uint64_t)(uintptr_t)context);
}

static void name_context_w(void *context, const wchar_t *name)
{
	put_name_record(REC_NAMED_CONTEXT, wide_text_id(name), 0, 0, (uint64_t)(uintptr_t)context);
}

static void name_stream_a(void *stream, const char *name)
{
	put_name_record(REC_NAMED_STREAM, collect_string_z(name), 0, 0,
			(uint64_t)(uintptr_t)stream);
}

static void name_stream_w(void *stream, const wchar_t *name)
{
	put_name_record(REC_NAMED_STREAM, wide_text_id(name), 0, 0, (uint64_t)(uintptr_t)stream);
}

/* A resource names a thread, device, context or stream, by way of a struct. */
static void *resource_create(struct nvtx_domain *domain, const struct abi_nvtx_resource *resource)
{
	if (!resource || resource->size < sizeof *resource)
		return domain;
	bool wide = resource->message_type == ABI_NVTX_MESSAGE_WIDE;
	struct nvtx_text text = {"", 0, 0};
	if (!wide)
		text = nvtx_text_of(resource->message_type, resource->message, NULL);
	uint32_t name = wide ? wide_text_id(resource->message.wide) : nvtx_string(&text);
	switch (resource->type) {
	case ABI_NVTX_THREAD_NATIVE: name_thread((uint32_t)resource->identifier, name); break;
	case ABI_NVTX_CUDA_DEVICE:
	case ABI_NVTX_CUDART_DEVICE:
		put_name_record(REC_NAMED_DEVICE, name, 0, (uint32_t)resource->identifier, 0);
		break;
	case ABI_NVTX_CUDA_CONTEXT:
		put_name_record(REC_NAMED_CONTEXT, name, 0, 0, resource->identifier);
		break;
	case ABI_NVTX_CUDA_STREAM:
	case ABI_NVTX_CUDART_STREAM:
		put_name_record(REC_NAMED_STREAM, name, 0, 0, resource->identifier);
		break;
	default: break;
	}
	/* The handle has no other use than to be passed to resource_destroy by the program. */
	return (void *)(uintptr_t)&domains;
}

static void resource_destroy(void *resource)
{
	(void)resource;
}

/* ---- installing
 * --------------------------------------------------------------------------------- */

static void install_core2(abi_nvtx_function **table, unsigned size)
{
	NVTX_INSTALL(table, size, ABI_NVTX_DOMAIN_RESOURCE_CREATE, resource_create);
	NVTX_INSTALL(table, size, ABI_NVTX_DOMAIN_RESOURCE_DESTROY, resource_destroy);
	NVTX_INSTALL(table, size, ABI_NVTX_DOMAIN_NAME_CATEGORY_A, domain_name_category_a);
	NVTX_INSTALL(table, size, ABI_NVTX_DOMAIN_NAME_CATEGORY_W, domain_name_category_w);
	NVTX_INSTALL(table, size, ABI_NVTX_DOMAIN_REGISTER_STRING_A, register_string_a);
	NVTX_INSTALL(table, size, ABI_NVTX_DOMAIN_REGISTER_STRING_W, register_string_w);
	NVTX_INSTALL(table, size, ABI_NVTX_DOMAIN_CREATE_A, domain_create_a);
	NVTX_INSTALL(table, size, ABI_NVTX_DOMAIN_CREATE_W, domain_create_w);
	NVTX_INSTALL(table, size, ABI_NVTX_DOMAIN_DESTROY, domain_destroy);
}

void nvtx_install_names(int module, abi_nvtx_function **table, unsigned size)
{
	switch (module) {
	case ABI_NVTX_CORE:
		NVTX_INSTALL(table, size, ABI_NVTX_NAME_CATEGORY_A, name_category_a);
		NVTX_INSTALL(table, size, ABI_NVTX_NAME_CATEGORY_W, name_category_w);
		NVTX_INSTALL(table, size, ABI_NVTX_NAME_OS_THREAD_A, name_thread_a);
		NVTX_INSTALL(table, size, ABI_NVTX_NAME_OS_THREAD_W, name_thread_w);
		break;
	case ABI_NVTX_CORE2: install_core2(table, size); break;
	case ABI_NVTX_CUDA:
		NVTX_INSTALL(table, size, ABI_NVTX_NAME_CU_DEVICE_A, name_device_a);
		NVTX_INSTALL(table, size, ABI_NVTX_NAME_CU_DEVICE_W, name_device_w);
		NVTX_INSTALL(table, size, ABI_NVTX_NAME_CU_CONTEXT_A, name_context_a);
		NVTX_INSTALL(table, size, ABI_NVTX_NAME_CU_CONTEXT_W, name_context_w);
		NVTX_INSTALL(table, size, ABI_NVTX_NAME_CU_STREAM_A, name_stream_a);
		NVTX_INSTALL(table, size, ABI_NVTX_NAME_CU_STREAM_W, name_stream_w);
		break;
	case ABI_NVTX_CUDART:
		NVTX_INSTALL(table, size, ABI_NVTX_NAME_CUDA_DEVICE_A, name_device_a);
		NVTX_INSTALL(table, size, ABI_NVTX_NAME_CUDA_DEVICE_W, name_device_w);
		NVTX_INSTALL(table, size, ABI_NVTX_NAME_CUDA_STREAM_A, name_stream_a);
		NVTX_INSTALL(table, size, ABI_NVTX_NAME_CUDA_STREAM_W, name_stream_w);
		break;
	default: break;
	}
}
