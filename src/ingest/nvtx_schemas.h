/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_schemas.h - what a program gives with NVTX events, read by the layouts that it has
 * registered.
 *
 * Believes nothing: offsets, lengths and nested layouts are checked against the bytes that were
 * recorded.
 */
#ifndef HWY_INGEST_NVTX_SCHEMAS_H
#define HWY_INGEST_NVTX_SCHEMAS_H

#include "ingest/ingest_internal.h"
#include "spool/record_nvtx.h"

enum { NVTX_MOST_FIELDS = 16 };

/* A payload in the words of its schema. */
struct nvtx_decoded {
	uint32_t args;    /* text: a JSON object with its fields; 0: none */
	uint32_t message; /* text: the name that the payload gives its event; 0: none */
	/* The fields of the outermost schema that are numbers, the first ones; 'text' is the
	 * name of an enumeration's value. */
	struct nvtx_field {
		uint32_t name, text;
		int64_t value;
	} fields[NVTX_MOST_FIELDS];
	uint32_t n_fields;
};

/* Yields a number of the outermost schema by the field's name; false: there is none. */
bool nvtx_field(const struct ingest *in, const struct nvtx_decoded *decoded, const char *name,
		int64_t *value);

/* Yields what a definition says, found by its kind and id; NULL: neither the process nor one
 * that it was forked from has it. *owner: whose texts the definition names. */
const struct rec_nvtx_definition *nvtx_definition(struct ingest *in, uint32_t process,
						  enum rec_nvtx_defined what, uint32_t domain,
						  uint64_t id, struct ingest_process **owner);
/* The entries that follow a definition. */
uint32_t nvtx_entries(const struct rec_nvtx_definition *definition,
		      const struct rec_nvtx_entry **entries);

/* Second pass: decodes a payload. The result stays valid until nvtx_schemas_free; NULL: its
 * schema is not known. */
const struct nvtx_decoded *nvtx_decode(struct ingest *in, uint32_t process,
				       const struct rec_nvtx_payload *payload);
void nvtx_schemas_free(struct ingest *in);

/* A scalar among the bytes of a payload. */
struct nvtx_scalar {
	enum { NVTX_NOT_SCALAR, NVTX_SIGNED, NVTX_UNSIGNED, NVTX_REAL } is;
	int64_t whole; /* the bits of an unsigned one */
	double real;
};
/* Reads a value of one of NVTX's own types; the caller has checked that the bytes are there. */
struct nvtx_scalar nvtx_scalar(uint64_t type, const uint8_t *bytes);

#endif
