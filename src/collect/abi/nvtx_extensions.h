/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_extensions.h - layouts and numbers of NVTX's extensions for payloads and counters, under
 * our own names.
 *
 * tests/collect/nvtx_abi.c compares each of them with the real headers where they are present.
 */
#ifndef HWY_COLLECT_ABI_NVTX_EXTENSIONS_H
#define HWY_COLLECT_ABI_NVTX_EXTENSIONS_H

#include <stddef.h>
#include <stdint.h>

/* The payload type of an event whose payload points to 'reserved' structs abi_nvtx_payload. */
#define ABI_NVTX_PAYLOAD_EXT ((int32_t)0xDFBD0009)

enum abi_nvtx_extension { ABI_NVTX_EXT_PAYLOAD = 2, ABI_NVTX_EXT_COUNTERS = 4 };
enum abi_nvtx_payload_slot {
	ABI_NVTX_SCHEMA_REGISTER = 0,
	ABI_NVTX_ENUM_REGISTER = 1,
	ABI_NVTX_MARK_PAYLOAD = 2,
	ABI_NVTX_RANGE_PUSH_PAYLOAD = 3,
	ABI_NVTX_RANGE_POP_PAYLOAD = 4,
	ABI_NVTX_RANGE_START_PAYLOAD = 5,
	ABI_NVTX_RANGE_END_PAYLOAD = 6,
	ABI_NVTX_DOMAIN_IS_ENABLED = 7,
	ABI_NVTX_TIMESTAMP_GET = 8,
	ABI_NVTX_TIME_DOMAIN_REGISTER = 9,
	ABI_NVTX_SCOPE_REGISTER = 12,
	ABI_NVTX_EVENT_SUBMIT = 16,
	ABI_NVTX_EVENT_BATCH_SUBMIT = 17,
};
enum abi_nvtx_counter_slot {
	ABI_NVTX_COUNTER_REGISTER = 0,
	ABI_NVTX_COUNTER_INT64 = 1,
	ABI_NVTX_COUNTER_FLOAT64 = 2,
	ABI_NVTX_COUNTER_SAMPLE = 3,
	ABI_NVTX_COUNTER_NO_VALUE = 4,
	ABI_NVTX_COUNTER_BATCH = 5,
};

struct abi_nvtx_segment {
	size_t id, count;
	intptr_t *slots;
};
struct abi_nvtx_extension_info {
	uint16_t version, struct_size, module, compatible;
	size_t segment_count;
	struct abi_nvtx_segment *segments;
	intptr_t (*get_export)(uint32_t id);
	const void *info;
};

struct abi_nvtx_payload {
	uint64_t schema;
	size_t size; /* SIZE_MAX: the schema tells */
	const void *bytes;
};
struct abi_nvtx_semantics {
	uint32_t struct_size;
	uint16_t id, version;
	const struct abi_nvtx_semantics *next;
};
enum { ABI_NVTX_SEMANTICS_TIME = 2, ABI_NVTX_SEMANTICS_COUNTER = 5 };
struct abi_nvtx_semantics_time {
	struct abi_nvtx_semantics head;
	uint64_t time_domain;
};
struct abi_nvtx_semantics_counter {
	struct abi_nvtx_semantics head;
	uint64_t flags;
	const char *unit;
	uint64_t numerator, denominator;
	int64_t limit_type;
	uint64_t least, most;
};
struct abi_nvtx_schema_entry {
	uint64_t flags, type;
	const char *name, *description;
	uint64_t detail, offset;
	const struct abi_nvtx_semantics *semantics;
	const void *reserved;
};
/* Bits of abi_nvtx_schema.fields and abi_nvtx_enum.fields: which members are set. */
enum {
	ABI_NVTX_SCHEMA_NAME = 2,
	ABI_NVTX_SCHEMA_TYPE = 4,
	ABI_NVTX_SCHEMA_FLAGS = 8,
	ABI_NVTX_SCHEMA_ENTRIES = 16,
	ABI_NVTX_SCHEMA_COUNT = 32,
	ABI_NVTX_SCHEMA_SIZE = 64,
	ABI_NVTX_SCHEMA_PACK = 128,
	ABI_NVTX_SCHEMA_ID = 256,
	ABI_NVTX_ENUM_NAME = 2,
	ABI_NVTX_ENUM_ENTRIES = 4,
	ABI_NVTX_ENUM_COUNT = 8,
	ABI_NVTX_ENUM_SIZE = 16,
	ABI_NVTX_ENUM_ID = 32,
};
struct abi_nvtx_schema {
	uint64_t fields;
	const char *name;
	uint64_t type, flags;
	const struct abi_nvtx_schema_entry *entries;
	size_t count, size, pack;
	uint64_t id;
	void *extension;
};
struct abi_nvtx_enum_value {
	const char *name;
	uint64_t value;
	int8_t is_flag;
};
struct abi_nvtx_enum {
	uint64_t fields;
	const char *name;
	const struct abi_nvtx_enum_value *entries;
	size_t count, size;
	uint64_t id;
	void *extension;
};
struct abi_nvtx_scope {
	size_t struct_size;
	const char *path;
	uint64_t parent, id;
};
struct abi_nvtx_time_domain {
	uint64_t scope, type, id, flags;
	int64_t resolution;
	uint64_t start;
};
struct abi_nvtx_counter {
	size_t struct_size;
	uint64_t schema;
	const char *name, *description;
	uint64_t scope;
	const struct abi_nvtx_semantics *semantics;
	uint64_t id;
};
struct abi_nvtx_counter_batch {
	uint64_t counter;
	const void *samples;
	size_t size;
	uint64_t flags;
	const int64_t *times;
	size_t times_size;
};

/* Ids that the program chooses begin at the first number, ids of the tool at the second. */
#define ABI_NVTX_STATIC_ID (UINT64_C(1) << 24)
#define ABI_NVTX_DYNAMIC_ID (UINT64_C(1) << 32)
/* Types of clocks that are CLOCK_MONOTONIC in ns: what ABI_NVTX_TIMESTAMP_GET yields,
 * clock_gettime's, C++'s steady clock. */
enum { ABI_NVTX_TIME_TOOL = 1, ABI_NVTX_TIME_MONOTONIC = 14, ABI_NVTX_TIME_STEADY = 50 };
/* Bits of flags of a batch: its times are not one a sample. */
#define ABI_NVTX_BATCH_INTERVAL (UINT64_C(3) << 32)

#endif
