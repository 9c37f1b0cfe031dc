/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx.h - what the two halves of the NVTX source share: events (nvtx.c), names (nvtx_names.c). */
#ifndef HWY_COLLECT_NVTX_NVTX_H
#define HWY_COLLECT_NVTX_NVTX_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/abi/nvtx.h"

/* A domain. The handle that the program holds is a pointer to this struct; NULL is the default
 * domain, whose number is 0. */
struct nvtx_domain;

/* Yields the domain's number, after making sure that this process's spools have the
 * domain's name. */
uint32_t nvtx_domain_number(struct nvtx_domain *domain);
uint32_t nvtx_domain_name(const struct nvtx_domain *domain); /* text id of the domain's name */

/* Whether events of this domain are to be recorded: all of them, or those of a library. */
bool nvtx_is_on(struct nvtx_domain *domain);

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

#endif
