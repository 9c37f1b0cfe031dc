/* SPDX-License-Identifier: Apache-2.0 */
/* nvml_open.h - NVIDIA's management library, opened when somebody needs it.
 *
 *   struct abi_nvml nvml;
 *   if (!nvml_open(&nvml, err)) // err says why the library cannot be used
 *           return false;
 *   nvml.nvmlShutdown();
 *
 * The library may hang, crash, or end the process: only a process that nobody else needs may
 * open it (the watcher, the doctor's probe). It makes no CUDA context and needs no rights.
 */
#ifndef HWY_RUN_COUNTERS_NVML_OPEN_H
#define HWY_RUN_COUNTERS_NVML_OPEN_H

#include <stdbool.h>

#include "base/err.h"
#include "run/abi/nvml.h"

/* Opens and initialises the library. */
bool nvml_open(struct abi_nvml *nvml, struct hwy_err *err);
/* Yields the library's words for an error number. */
const char *nvml_error(const struct abi_nvml *nvml, int error);
/* Reads a uuid, "GPU-8-4-4-4-12" in hexadecimal digits, into 16 bytes; false where the text is
 * none. */
bool nvml_read_uuid(const char *text, uint8_t uuid[16]);

#endif
