/* SPDX-License-Identifier: Apache-2.0 */
/* record_nvtx.h - the records of NVTX's payload and counter extensions. record.h lists their
 * types and says how spools are laid out.
 *
 * A program describes the layout of its data once (a schema, an enumeration), and then gives
 * bytes with an event. The collector copies both; ingest/nvtx_schemas.c decodes. Ids are 64-bit
 * numbers of the program or of the collector, unique in their domain. A forked child does not
 * define again what its parent has defined.
 */
#ifndef HWY_SPOOL_RECORD_NVTX_H
#define HWY_SPOOL_RECORD_NVTX_H

#include <stdbool.h>

#include "spool/record.h"

/* The value of rec_range.payload_type of an event with payloads of the extension;
 * rec_range.payload is then the number that its REC_NVTX_PAYLOAD records have, which stand
 * before it in the same file. */
enum { REC_PAYLOAD_EXTENDED = 9 };

enum rec_nvtx_defined {
	REC_NVTX_SCHEMA,
	REC_NVTX_ENUM,
	REC_NVTX_COUNTER,
	REC_NVTX_SCOPE,
};
/* Most entries of one record. Further entries of a schema are left out; a longer enumeration has
 * several records. */
enum { REC_NVTX_ENTRIES = 64 };

struct rec_nvtx_definition {
	struct rec_head
		head; /* head.flags: enum rec_nvtx_defined; head.value: string id of the name */
	uint64_t id;
	/* Of a schema or an enumeration: its size in bytes, 0: not told; of a counter: the id of
	 * its schema or its type; of a scope: the id of the scope that it is a part of. */
	uint64_t of;
	uint32_t domain; /* number of the NVTX domain; 0: the default domain */
	uint32_t count;  /* how many entries follow, from byte 64 on */
	uint32_t type;   /* of a schema: NVTX's number of its type */
	uint32_t flags;  /* of a schema: NVTX's flags */
	uint32_t pack; /* of a schema: the alignment of a packed struct, 0: as the compiler does */
	uint32_t unit; /* of a counter: string id */
	/* Of a counter: the id of its scope; of an enumeration: the index of its first value
	 * that follows. */
	uint64_t scope;
	/* Of a counter: what a value is multiplied with is low / high 32 bits; 0: nothing. */
	uint64_t scale;
};
static_assert(sizeof(struct rec_nvtx_definition) == 2 * REC_SLOT, "two slots");

struct rec_nvtx_entry {  /* an entry of a schema, or a value of an enumeration */
	uint64_t type;   /* a number of NVTX, or the id of a schema; the value of an enumeration */
	uint64_t detail; /* NVTX's arrayOrUnionDetail */
	uint64_t offset; /* in bytes; 0 of an entry that is not the first: not told */
	uint32_t flags;  /* NVTX's flags; of an enumeration's value 1: it is a set of bits */
	uint32_t name;   /* string id */
	uint32_t unit;   /* of an entry that is a counter: string id of the unit */
	uint32_t spare;
};
static_assert(sizeof(struct rec_nvtx_entry) == 40, "as it is written");

struct rec_nvtx_payload {     /* one payload of the event that has 'number' */
	struct rec_head head; /* head.value: number of the domain */
	uint64_t number;
	uint64_t schema;
	uint32_t bytes; /* how many bytes follow, from byte 32 on */
	/* How many string ids (uint32_t) follow behind the bytes, which are padded to a multiple
	 * of 8: the texts that the schema's entries point to, in the order of the entries. */
	uint32_t texts;
};
static_assert(sizeof(struct rec_nvtx_payload) == REC_SLOT, "one slot");

/* head.flags of a sample: what 'value' is. */
enum rec_nvtx_value {
	REC_NVTX_INT64,
	REC_NVTX_FLOAT64,
	/* the number of bytes that follow, from byte 32 on: one sample of the counter's schema */
	REC_NVTX_BYTES,
	/* NVTX's reason: 0 the value is zero, 1 it has not changed, else there is none */
	REC_NVTX_NO_VALUE,
};
struct rec_nvtx_sample {
	struct rec_head head; /* head.value: number of the domain */
	int64_t time;
	uint64_t counter;
	uint64_t value;
};
static_assert(sizeof(struct rec_nvtx_sample) == REC_SLOT, "one slot");

/* Types and flags of entries, numbers of NVTX */
enum {
	REC_NVTX_TYPE_CSTRING = 75,
	REC_NVTX_TYPE_CSTRING_LAST = 78,
	REC_NVTX_TYPE_REGISTERED = 80,
	REC_NVTX_FLAG_POINTER = 1 << 1,
	REC_NVTX_FLAG_FROM =
		3
		<< 2, /* the entry has an offset of its data: from the beginning, or from itself */
	REC_NVTX_FLAG_ARRAY = 7 << 4,
	REC_NVTX_FLAG_MESSAGE = 1 << 10,
	REC_NVTX_POINTERS = 8,     /* how many texts of a payload are copied */
	REC_NVTX_MOST_BYTES = 4096 /* longer payloads are cut */
};

/* Whether an entry points to a text, which the collector copies. The offset is needed for that:
 * 0 counts in the first entry only. */
static inline bool rec_nvtx_points_to_text(uint64_t type, uint64_t flags, uint64_t detail,
					   uint64_t offset, bool is_first)
{
	bool is_text = type == REC_NVTX_TYPE_CSTRING || type == REC_NVTX_TYPE_CSTRING + 1;
	bool is_inside = (flags & (REC_NVTX_FLAG_ARRAY | REC_NVTX_FLAG_FROM)) || detail > 0;
	return is_text && (!is_inside || (flags & REC_NVTX_FLAG_POINTER)) && (offset || is_first) &&
	       offset <= REC_NVTX_MOST_BYTES - sizeof(char *);
}

/* Bytes of a value of one of NVTX's own types on 64-bit Linux; 0: a type without a size of its
 * own, or a schema. */
static inline uint32_t rec_nvtx_type_size(uint64_t type)
{
	static const uint8_t sizes[] = {
		0,        1,        1,         2,        2,        4,         4,         8,
		8,        8,        8,         1,        1,        2,         2,         4,
		4,        8,        8,         4,        8,        16,        8,         8,
		4,        1,        2,         4,        [32] = 1, [33] = 16, [34] = 16, [42] = 2,
		[43] = 4, [44] = 8, [45] = 16, [50] = 2, [52] = 4, [68] = 4,  [69] = 4,  [70] = 8,
		[71] = 4, [72] = 8, [73] = 4,  [74] = 8, [80] = 8, [100] = 1,
	};
	return type < sizeof sizes ? sizes[type] : 0;
}

#endif
