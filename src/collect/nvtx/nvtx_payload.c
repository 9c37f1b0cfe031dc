/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_payload.c - NVTX's extension for payloads: layouts that the program registers, and data
 * that it gives with events.
 *
 * The bytes of a payload are copied as they are, and so are the texts that they point to; ingest
 * decodes them. A text is read by a system call, which fails where a pointer points to nothing;
 * in a process that has restricted its system calls texts are left out. Payloads above
 * REC_NVTX_MOST_BYTES, and texts above MOST_TEXT bytes, are cut.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "collect/abi/nvtx_extensions.h"
#include "collect/collect.h"
#include "collect/nvtx/nvtx.h"
#include "collect/process.h"
#include "collect/sys.h"
#include "spool/libraries.h"
#include "spool/record_nvtx.h"

#define EXPORT __attribute__((visibility("default")))

enum {
	MOST_SCHEMAS = 1024, /* a power of two */
	MOST_TEXT = 256,
	MOST_VALUES = 1024, /* of an enumeration */
	MOST_PAYLOADS = 16, /* of one event */
};

/* The next id that the collector gives to a schema, an enumeration, a counter or a scope; and
 * the number of the last event with payloads. */
static _Atomic uint64_t next_id = ABI_NVTX_DYNAMIC_ID, events;

/* ---- what is known of schemas ---------------------------------------------------------------- */

/* The schemas that the collector must know to copy a payload, by domain and id: open addressing.
 * A schema is added once, by the thread that sets 'state' to SCHEMA_MAKING, and can be read once
 * it is SCHEMA_MADE. */
enum { SCHEMA_FREE, SCHEMA_MAKING, SCHEMA_MADE };
static struct schema {
	_Atomic int state;
	uint32_t domain;
	uint64_t id;
	uint64_t size; /* bytes; 0: not told */
	uint32_t n_pointers;
	uint32_t pointers
		[REC_NVTX_POINTERS]; /* offsets of pointers to texts, in the order of the entries */
} schemas[MOST_SCHEMAS];

static uint32_t schema_place(uint32_t domain, uint64_t id)
{
	uint64_t hash = (id ^ (uint64_t)domain << 40) * UINT64_C(0x9e3779b97f4a7c15);
	return (uint32_t)(hash >> 32) & (MOST_SCHEMAS - 1);
}

static const struct schema *schema_find(uint32_t domain, uint64_t id)
{
	uint32_t at = schema_place(domain, id);
	for (uint32_t i = 0; i < MOST_SCHEMAS; i++, at = (at + 1) & (MOST_SCHEMAS - 1)) {
		int state = atomic_load_explicit(&schemas[at].state, memory_order_acquire);
		if (state == SCHEMA_FREE)
			return NULL;
		if (state == SCHEMA_MADE && schemas[at].id == id && schemas[at].domain == domain)
			return &schemas[at];
	}
	return NULL;
}

/* Offsets of pointers are known only where the program tells them, or the first entry is one. */
static void schema_fill(struct schema *schema, const struct abi_nvtx_schema *given)
{
	bool is_static = (given->fields & ABI_NVTX_SCHEMA_SIZE) != 0;
	schema->size = is_static ? given->size : 0;
	schema->n_pointers = 0;
	for (size_t i = 0; i < given->count && i < REC_NVTX_ENTRIES; i++) {
		const struct abi_nvtx_schema_entry *entry = &given->entries[i];
		if (!rec_nvtx_points_to_text(entry->type, entry->flags, entry->detail,
					     entry->offset, i == 0) ||
		    schema->n_pointers == REC_NVTX_POINTERS)
			continue;
		schema->pointers[schema->n_pointers++] = (uint32_t)entry->offset;
	}
}

static void schema_add(uint32_t domain, uint64_t id, const struct abi_nvtx_schema *given)
{
	if (schema_find(domain, id))
		return; /* another copy of NVTX has the same schema */
	uint32_t at = schema_place(domain, id);
	for (uint32_t i = 0; i < MOST_SCHEMAS; i++, at = (at + 1) & (MOST_SCHEMAS - 1)) {
		int state = SCHEMA_FREE;
		if (!atomic_compare_exchange_strong(&schemas[at].state, &state, SCHEMA_MAKING))
			continue;
		schemas[at].domain = domain;
		schemas[at].id = id;
		schema_fill(&schemas[at], given);
		atomic_store_explicit(&schemas[at].state, SCHEMA_MADE, memory_order_release);
		return;
	}
}

uint32_t nvtx_size_of_type(uint32_t domain, uint64_t type)
{
	const struct schema *schema = schema_find(domain, type);
	return schema && schema->size <= REC_NVTX_MOST_BYTES ? (uint32_t)schema->size
							     : rec_nvtx_type_size(type);
}

/* ---- definitions ----------------------------------------------------------------------------- */

uint64_t nvtx_new_id(uint64_t given)
{
	return given >= ABI_NVTX_STATIC_ID && given < ABI_NVTX_DYNAMIC_ID
		       ? given
		       : atomic_fetch_add_explicit(&next_id, 1, memory_order_relaxed);
}

const char *nvtx_unit(const struct abi_nvtx_semantics *semantics, uint64_t *scale)
{
	for (int i = 0; semantics && i < 16; semantics = semantics->next, i++) {
		const struct abi_nvtx_semantics_counter *counter = (const void *)semantics;
		if (semantics->id != ABI_NVTX_SEMANTICS_COUNTER ||
		    semantics->struct_size < sizeof *counter)
			continue;
		bool scales = counter->numerator && counter->denominator &&
			      counter->numerator != counter->denominator &&
			      counter->numerator <= UINT32_MAX &&
			      counter->denominator <= UINT32_MAX;
		if (scale && scales)
			*scale = counter->numerator | counter->denominator << 32;
		return counter->unit;
	}
	return NULL;
}

struct rec_nvtx_definition *nvtx_reserve_definition(enum rec_nvtx_defined what, uint32_t name,
						    uint32_t count)
{
	size_t bytes = sizeof(struct rec_nvtx_definition) + count * sizeof(struct rec_nvtx_entry);
	struct rec_nvtx_definition *record =
		collect_reserve(REC_NVTX_DEFINITION, (unsigned)((bytes + REC_SLOT - 1) / REC_SLOT));
	if (!record)
		return NULL;
	record->head.flags = (uint8_t)what;
	record->head.value = name;
	record->count = count;
	return record;
}

/* Texts are made before the record is reserved: nothing may be recorded in between. */
struct entry_texts {
	uint32_t name, unit;
};

static void put_schema(uint32_t domain, uint64_t id, const struct abi_nvtx_schema *given)
{
	struct entry_texts texts[REC_NVTX_ENTRIES];
	uint32_t n = given->count < REC_NVTX_ENTRIES ? (uint32_t)given->count : REC_NVTX_ENTRIES;
	for (uint32_t i = 0; i < n; i++) {
		const struct abi_nvtx_schema_entry *entry = &given->entries[i];
		const char *unit = nvtx_unit(entry->semantics, NULL);
		texts[i].name = entry->name ? collect_string_z(entry->name) : 0;
		texts[i].unit = unit ? collect_string_z(unit) : 0;
	}
	bool is_named = (given->fields & ABI_NVTX_SCHEMA_NAME) && given->name;
	struct rec_nvtx_definition *record = nvtx_reserve_definition(
		REC_NVTX_SCHEMA, is_named ? collect_string_z(given->name) : 0, n);
	if (!record)
		return;
	record->id = id;
	record->of = given->fields & ABI_NVTX_SCHEMA_SIZE ? given->size : 0;
	record->domain = domain;
	record->type = (uint32_t)given->type;
	record->flags = given->fields & ABI_NVTX_SCHEMA_FLAGS ? (uint32_t)given->flags : 0;
	record->pack = given->fields & ABI_NVTX_SCHEMA_PACK ? (uint32_t)given->pack : 0;
	struct rec_nvtx_entry *entries = (void *)(record + 1);
	for (uint32_t i = 0; i < n; i++) {
		const struct abi_nvtx_schema_entry *entry = &given->entries[i];
		entries[i] = (struct rec_nvtx_entry){
			.type = entry->type,
			.detail = entry->detail,
			.offset = entry->offset,
			.flags = (uint32_t)entry->flags,
			.name = texts[i].name,
			.unit = texts[i].unit,
		};
	}
	collect_publish(record);
}

static uint64_t schema_register(struct nvtx_domain *domain, const struct abi_nvtx_schema *given)
{
	const uint64_t needed = ABI_NVTX_SCHEMA_ENTRIES | ABI_NVTX_SCHEMA_COUNT;
	if (!given || (given->fields & needed) != needed || !given->entries)
		return 0;
	int saved = errno;
	uint64_t id = nvtx_new_id(given->fields & ABI_NVTX_SCHEMA_ID ? given->id : 0);
	uint32_t number = nvtx_domain_number(domain);
	put_schema(number, id, given);
	schema_add(number, id, given);
	errno = saved;
	return id;
}

/* Records the values from 'from' on, as many as one record has. */
static void put_enum(uint32_t domain, uint64_t id, const struct abi_nvtx_enum *given, uint32_t from)
{
	uint32_t names[REC_NVTX_ENTRIES];
	uint32_t left = (uint32_t)given->count - from;
	uint32_t n = left < REC_NVTX_ENTRIES ? left : REC_NVTX_ENTRIES;
	for (uint32_t i = 0; i < n; i++)
		names[i] = collect_string_z(given->entries[from + i].name);
	bool is_named = (given->fields & ABI_NVTX_ENUM_NAME) && given->name;
	struct rec_nvtx_definition *record = nvtx_reserve_definition(
		REC_NVTX_ENUM, is_named ? collect_string_z(given->name) : 0, n);
	if (!record)
		return;
	record->id = id;
	record->of = given->fields & ABI_NVTX_ENUM_SIZE ? given->size : 0;
	record->domain = domain;
	record->scope = from;
	struct rec_nvtx_entry *entries = (void *)(record + 1);
	for (uint32_t i = 0; i < n; i++)
		entries[i] = (struct rec_nvtx_entry){
			.type = given->entries[from + i].value,
			.flags = given->entries[from + i].is_flag != 0,
			.name = names[i],
		};
	collect_publish(record);
}

static uint64_t enum_register(struct nvtx_domain *domain, const struct abi_nvtx_enum *given)
{
	const uint64_t needed = ABI_NVTX_ENUM_ENTRIES | ABI_NVTX_ENUM_COUNT;
	if (!given || (given->fields & needed) != needed || !given->entries)
		return 0;
	int saved = errno;
	uint64_t id = nvtx_new_id(given->fields & ABI_NVTX_ENUM_ID ? given->id : 0);
	uint32_t number = nvtx_domain_number(domain);
	for (uint32_t from = 0; from < given->count && from < MOST_VALUES; from += REC_NVTX_ENTRIES)
		put_enum(number, id, given, from);
	errno = saved;
	return id;
}

static uint64_t scope_register(struct nvtx_domain *domain, const struct abi_nvtx_scope *given)
{
	if (!given || given->struct_size < sizeof *given)
		return 0;
	int saved = errno;
	uint64_t id = nvtx_new_id(given->id);
	uint32_t number = nvtx_domain_number(domain);
	uint32_t path = given->path ? collect_string_z(given->path) : 0;
	struct rec_nvtx_definition *record = nvtx_reserve_definition(REC_NVTX_SCOPE, path, 0);
	if (record) {
		record->id = id;
		record->of = given->parent;
		record->domain = number;
		collect_publish(record);
	}
	errno = saved;
	return id;
}

/* ---- payloads -------------------------------------------------------------------------------- */

/* The id of the text that a payload points to; 0: there is none. */
static uint32_t pointed_text(const char *bytes, size_t size, uint32_t offset)
{
	const char *pointer;
	char text[MOST_TEXT];
	if (offset + sizeof pointer > size)
		return 0;
	memcpy(&pointer, bytes + offset, sizeof pointer);
	if (!pointer || process.sealed)
		return 0;
	/* A read that begins in a page that is there ends, at worst, at the end of that page. */
	long n = sys_peek(sys_pid(), text, pointer, sizeof text);
	if (n <= 0) {
		size_t in_page = 4096 - ((uintptr_t)pointer & 4095);
		n = in_page < sizeof text ? sys_peek(sys_pid(), text, pointer, in_page) : 0;
	}
	return n > 0 ? collect_string(text, strnlen(text, (size_t)n)) : 0;
}

static void put_payload(uint64_t number, uint32_t domain, const struct abi_nvtx_payload *payload)
{
	const struct schema *schema = schema_find(domain, payload->schema);
	size_t size = payload->size == SIZE_MAX ? (schema ? schema->size : 0) : payload->size;
	if (!payload->bytes || !size)
		return;
	if (size > REC_NVTX_MOST_BYTES)
		size = REC_NVTX_MOST_BYTES;
	uint32_t texts[REC_NVTX_POINTERS], n = schema ? schema->n_pointers : 0;
	for (uint32_t i = 0; i < n; i++)
		texts[i] = pointed_text(payload->bytes, size, schema->pointers[i]);
	size_t padded = (size + 7) / 8 * 8;
	size_t whole = sizeof(struct rec_nvtx_payload) + padded + n * sizeof *texts;
	struct rec_nvtx_payload *record =
		collect_reserve(REC_NVTX_PAYLOAD, (unsigned)((whole + REC_SLOT - 1) / REC_SLOT));
	if (!record)
		return;
	record->head.value = domain;
	record->number = number;
	record->schema = payload->schema;
	record->bytes = (uint32_t)size;
	record->texts = n;
	memcpy(record + 1, payload->bytes, size);
	memcpy((char *)(record + 1) + padded, texts, n * sizeof *texts);
	collect_publish(record);
}

uint64_t nvtx_put_payloads(uint32_t domain, const struct abi_nvtx_payload *payloads, size_t n)
{
	if (!payloads || n == 0)
		return 0;
	int saved = errno;
	uint64_t number = atomic_fetch_add_explicit(&events, 1, memory_order_relaxed) + 1;
	for (size_t i = 0; i < n && i < MOST_PAYLOADS; i++)
		put_payload(number, domain, &payloads[i]);
	errno = saved;
	return number;
}

/* ---- installing ------------------------------------------------------------------------------ */

static uint8_t domain_is_enabled(struct nvtx_domain *domain)
{
	return nvtx_is_traced(domain);
}

static int64_t timestamp_get(void)
{
	return collect_now();
}

static uint64_t time_domain_register(struct nvtx_domain *domain,
				     const struct abi_nvtx_time_domain *given)
{
	(void)domain;
	return given ? nvtx_time_domain(given->id, given->type) : 0;
}

static void event_submit(struct nvtx_domain *domain, const void *events_given)
{
	(void)events_given;
	if (nvtx_is_on(domain))
		collect_drop("NVTX events that were submitted later, with times of their own", 1);
}

#define INSTALL(slot, function)                                                                    \
	do {                                                                                       \
		if ((size_t)(slot) < count)                                                        \
			slots[slot] = (intptr_t)(function);                                        \
	} while (0)

static void install_payloads(intptr_t *slots, size_t count)
{
	INSTALL(ABI_NVTX_SCHEMA_REGISTER, schema_register);
	INSTALL(ABI_NVTX_ENUM_REGISTER, enum_register);
	INSTALL(ABI_NVTX_SCOPE_REGISTER, scope_register);
	INSTALL(ABI_NVTX_MARK_PAYLOAD, nvtx_mark_payload);
	INSTALL(ABI_NVTX_RANGE_PUSH_PAYLOAD, nvtx_range_push_payload);
	INSTALL(ABI_NVTX_RANGE_POP_PAYLOAD, nvtx_range_pop_payload);
	INSTALL(ABI_NVTX_RANGE_START_PAYLOAD, nvtx_range_start_payload);
	INSTALL(ABI_NVTX_RANGE_END_PAYLOAD, nvtx_range_end_payload);
	INSTALL(ABI_NVTX_DOMAIN_IS_ENABLED, domain_is_enabled);
	INSTALL(ABI_NVTX_TIMESTAMP_GET, timestamp_get);
	INSTALL(ABI_NVTX_TIME_DOMAIN_REGISTER, time_domain_register);
	INSTALL(ABI_NVTX_EVENT_SUBMIT, event_submit);
	INSTALL(ABI_NVTX_EVENT_BATCH_SUBMIT, event_submit);
}

EXPORT int InitializeInjectionNvtxExtension(struct abi_nvtx_extension_info *info);

/* Each copy of NVTX calls this once for each extension that it has. With a result of 0 that
 * copy's extension does nothing. Functions that are not set here do nothing either. */
int InitializeInjectionNvtxExtension(struct abi_nvtx_extension_info *info)
{
	if (!collect_control || !info || info->struct_size < sizeof *info ||
	    !(collect_control->traces & (REC_TRACE_NVTX | REC_TRACES_BY_NVTX)) || !info->segments ||
	    info->segment_count == 0 || !info->segments[0].slots)
		return 0;
	const struct abi_nvtx_segment *segment = &info->segments[0];
	if (info->module == ABI_NVTX_EXT_PAYLOAD)
		install_payloads(segment->slots, segment->count);
	else if (info->module == ABI_NVTX_EXT_COUNTERS)
		nvtx_install_counters(segment->slots, segment->count);
	else
		return 0;
	return 1;
}
