/* SPDX-License-Identifier: Apache-2.0 */
/* record_nvtx.h - the records of NVTX's payload and counter extensions. record.h lists their types and says how spools are
 * laid out.
 *
 * A program describes the layout of its data once (a schema, an enumeration), and then gives bytes with an event. The
 * collector copies both; ingest/nvtx_schemas.c decodes. Ids are 64-bit numbers of the program or of the collector, unique in
 * their domain. A forked child does not define again what its parent has defined.
 */
#ifndef HWY_SPOOL_RECORD_NVTX_H
#define HWY_SPOOL_RECORD_NVTX_H

#include "spool/record.h"

/* The value of rec_range.payload_type of an event with payloads of the extension; rec_range.payload is then the number that
 * its REC_NVTX_PAYLOAD records have, which stand before it in the same file. */
enum { REC_PAYLOAD_EXTENDED = 9 };

enum rec_nvtx_defined {
	REC_NVTX_SCHEMA,
	REC_NVTX_ENUM,
	REC_NVTX_COUNTER,
	REC_NVTX_SCOPE,
};
/* Most entries of a schema, or values of an enumeration; the others are left out. */
enum { REC_NVTX_ENTRIES = 512 };

struct rec_nvtx_definition {
	struct rec_head head; /* head.flags: enum rec_nvtx_defined; head.value: string id of the name */
	uint64_t id;
	/* Of a schema or an enumeration: its size in bytes, 0: not told; of a counter: the id of its schema or its type; of a
	 * scope: the id of the scope that it is a part of. */
	uint64_t of;
	uint32_t domain; /* number of the NVTX domain; 0: the default domain */
	uint32_t count;  /* how many entries follow, from byte 64 on */
	uint32_t type;   /* of a schema: NVTX's number of its type */
	uint32_t flags;  /* of a schema: NVTX's flags */
	uint32_t pack;   /* of a schema: the alignment of a packed struct, 0: as the compiler does */
	uint32_t unit;   /* of a counter: string id */
	uint64_t scope;  /* of a counter: the id of its scope */
	/* Of a counter: what a value is multiplied with is low / high 32 bits; 0: nothing. */
	uint64_t scale;
};
static_assert(sizeof(struct rec_nvtx_definition) == 2 * REC_SLOT, "two slots");

struct rec_nvtx_entry {        /* an entry of a schema, or a value of an enumeration */
	uint64_t type;         /* a number of NVTX, or the id of a schema; the value of an enumeration */
	uint64_t detail;       /* NVTX's arrayOrUnionDetail */
	uint64_t offset;       /* in bytes; 0 of an entry that is not the first: not told */
	uint32_t flags;        /* NVTX's flags; of an enumeration's value 1: it is a set of bits */
	uint32_t name;         /* string id */
	uint32_t unit;         /* of an entry that is a counter: string id of the unit */
	uint32_t spare;
};
static_assert(sizeof(struct rec_nvtx_entry) == 40, "as it is written");

struct rec_nvtx_payload { /* one payload of the event that has 'number' */
	struct rec_head head; /* head.value: number of the domain */
	uint64_t number;
	uint64_t schema;
	uint32_t bytes; /* how many bytes follow, from byte 32 on */
	/* How many string ids (uint32_t) follow behind the bytes, which are padded to a multiple of 8: the texts that the
	 * schema's entries point to, in the order of the entries. */
	uint32_t texts;
};
static_assert(sizeof(struct rec_nvtx_payload) == REC_SLOT, "one slot");

/* head.flags of a sample: what 'value' is. */
enum rec_nvtx_value {
	REC_NVTX_INT64,
	REC_NVTX_FLOAT64,
	REC_NVTX_BYTES, /* the number of bytes that follow, from byte 32 on: one sample of the counter's schema */
	REC_NVTX_NO_VALUE, /* NVTX's reason: 0 the value is zero, 1 it has not changed, else there is none */
};
struct rec_nvtx_sample {
	struct rec_head head; /* head.value: number of the domain */
	int64_t time;
	uint64_t counter;
	uint64_t value;
};
static_assert(sizeof(struct rec_nvtx_sample) == REC_SLOT, "one slot");

#endif
