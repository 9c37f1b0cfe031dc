/* SPDX-License-Identifier: Apache-2.0 */
/* libraries.h - CUDA's libraries that tell of their own calls through NVTX: their domains, and
 * what switches them on.
 *
 * A library writes ranges only where its variable (CUBLAS_NVTX_LEVEL …) is above 0. The ranges
 * come in a domain of the library, and become calls of the library in a report.
 */
#ifndef HWY_SPOOL_LIBRARIES_H
#define HWY_SPOOL_LIBRARIES_H

#include <stddef.h>
#include <stdint.h>

#include "spool/control.h"

/* The sources that are recorded through NVTX. */
#define REC_TRACES_BY_NVTX                                                                         \
	(REC_TRACE_CUBLAS | REC_TRACE_CUDNN | REC_TRACE_CUSPARSE | REC_TRACE_CUSOLVER |            \
	 REC_TRACE_NCCL)

/* The source (REC_TRACE_…) whose ranges are in the domain of this name; 0: the domain is no
 * library's. */
uint32_t libraries_source(const char *domain, size_t length);

/* The library that a range of a domain is a call of: "cuBLAS", "cuBLASLt" …; NULL: the domain is
 * no library's. */
const char *libraries_name(const char *domain, size_t length, const char *function);

/* What a variable's value must be for these sources to be recorded, "2"; NULL: no library of
 * theirs reads it. */
const char *libraries_level(const char *variable, uint32_t traces);

#endif
