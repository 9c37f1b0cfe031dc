/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx.h - what the files of the NVTX source share: events (nvtx.c), names (nvtx_names.c), the
 * extensions for payloads (nvtx_payload.c) and counters (nvtx_counters.c). */
#ifndef HWY_COLLECT_NVTX_NVTX_H
#define HWY_COLLECT_NVTX_NVTX_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/abi/nvtx.h"
#include "collect/abi/nvtx_extensions.h"
#include "spool/record_nvtx.h"

/* A domain. The handle that the program holds is a pointer to this struct; NULL is the default
 * domain, whose number is 0. */
struct nvtx_domain;

/* Yields the domain's number, after making sure that this process's spools have the
 * domain's name. */
uint32_t nvtx_domain_number(struct nvtx_domain *domain);
uint32_t nvtx_domain_name(const struct nvtx_domain *domain); /* text id of the domain's name */

/* Whether events of this domain are to be recorded: all of them, or those of a library; not what
 * the collector calls itself. */
bool nvtx_is_on(struct nvtx_domain *domain);

/* Whether events of this domain are recorded whenever recording is on. */
bool nvtx_is_traced(struct nvtx_domain *domain);

enum { NVTX_WIDE_BYTES = 4096 }; /* wide texts are cut to so many bytes of UTF-8 */

/* The bytes of a message; 'id' is not 0 if the program registered the text. Wide texts are
 * converted into 'room' (NVTX_WIDE_BYTES), which other texts do not need. */
struct nvtx_text {
	const char *bytes;
	size_t length;
	uint32_t id;
};
struct nvtx_text nvtx_text_of(int type, union abi_nvtx_message message, char *room);
/* The id of an NVTX text, defined in the spool. */
uint32_t nvtx_string(const struct nvtx_text *text);

#define NVTX_INSTALL(table, size, id, function)                                                    \
	do {                                                                                       \
		if ((unsigned)(id) < (size) && (table)[id])                                        \
			*(table)[id] = (abi_nvtx_function)(function);                              \
	} while (0)

/* Installs the naming functions of a module; the rest of the table is left alone. */
void nvtx_install_names(int module, abi_nvtx_function **table, unsigned size);

/* ---- nvtx.c: for self_record.c ---- */

int nvtx_range_push_a(const char *text);
int nvtx_range_pop(void);
uint64_t nvtx_range_start_a(const char *text);
void nvtx_range_end(uint64_t id);
/* How many copies of NVTX in the process have the collector's functions. */
uint32_t nvtx_copies(void);

/* ---- nvtx.c: the functions of the payload extension that are events ---- */

void nvtx_mark_payload(struct nvtx_domain *domain, const struct abi_nvtx_payload *payloads,
		       size_t n);
int nvtx_range_push_payload(struct nvtx_domain *domain, const struct abi_nvtx_payload *payloads,
			    size_t n);
int nvtx_range_pop_payload(struct nvtx_domain *domain, const struct abi_nvtx_payload *payloads,
			   size_t n);
uint64_t nvtx_range_start_payload(struct nvtx_domain *domain,
				  const struct abi_nvtx_payload *payloads, size_t n);
void nvtx_range_end_payload(struct nvtx_domain *domain, uint64_t id,
			    const struct abi_nvtx_payload *payloads, size_t n);

/* ---- nvtx_payload.c ---- */

/* Records the payloads of an event that is recorded next; yields the event's number, 0: it has
 * none. */
uint64_t nvtx_put_payloads(uint32_t domain, const struct abi_nvtx_payload *payloads, size_t n);
/* The id of a new definition: the one that the program gives, if it is one of the program's,
 * else a new one. */
uint64_t nvtx_new_id(uint64_t given);
/* Reserves a definition with room for so many entries; NULL: there is no room. */
struct rec_nvtx_definition *nvtx_reserve_definition(enum rec_nvtx_defined what, uint32_t name,
						    uint32_t count);
/* The unit of a counter, or NULL; *scale: what its values are multiplied with, as
 * rec_nvtx_definition.scale. */
const char *nvtx_unit(const struct abi_nvtx_semantics *semantics, uint64_t *scale);
/* Bytes of a value of a type or schema; 0: not known. */
uint32_t nvtx_size_of_type(uint32_t domain, uint64_t type);

/* ---- nvtx_counters.c ---- */

/* Remembers a time domain of the program, and yields its id. */
uint64_t nvtx_time_domain(uint64_t given, uint64_t type);
void nvtx_install_counters(intptr_t *slots, size_t count);

#endif
