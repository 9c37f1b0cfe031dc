/* nvtx.h - what the two halves of the NVTX source share: events (nvtx.c), names (nvtx_names.c). */
#ifndef HWY_COLLECT_NVTX_NVTX_H
#define HWY_COLLECT_NVTX_NVTX_H

#include <stdint.h>

#include "collect/abi/nvtx.h"

/* A domain as the program holds it: its handle is our pointer. NULL is the default domain, number 0. */
struct nvtx_domain;

uint32_t nvtx_domain_number(
	struct nvtx_domain *domain); /* named in this process's spools by then */
uint32_t nvtx_domain_name(const struct nvtx_domain *domain); /* string id */

enum { NVTX_WIDE_BYTES = 4096 }; /* wide texts are cut to this in UTF-8 */

/* A message's bytes; 'room' takes wide ones, 'id' is not 0 if it was registered. */
struct nvtx_text {
	const char *bytes;
	size_t length;
	uint32_t id;
};
struct nvtx_text nvtx_text_of(int type, union abi_nvtx_message message, char room[NVTX_WIDE_BYTES]);
uint32_t nvtx_string(const struct nvtx_text *text); /* its string id */

#define NVTX_INSTALL(table, size, id, function)                                                    \
	do {                                                                                       \
		if ((unsigned)(id) < (size) && (table)[id])                                        \
			*(table)[id] = (abi_nvtx_function)(function);                              \
	} while (0)

/* Installs the naming functions of a module; the rest of the table is left alone. */
void nvtx_install_names(int module, abi_nvtx_function **table, unsigned size);

#endif
