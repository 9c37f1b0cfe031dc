/* SPDX-License-Identifier: Apache-2.0 */
/* places.c - see places.h. */
#include "spool/places.h"

#include <stddef.h>

const char *const places_cupti_names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
					  NULL};
const char *const places_cupti_folders[] = {"/usr/local/cuda/extras/CUPTI/lib64",
					    "/usr/local/cuda/lib64", NULL};
const char *const places_cupti_wheels[] = {"/nvidia/cu13/lib", "/nvidia/cuda_cupti/lib", NULL};
