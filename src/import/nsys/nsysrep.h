/* SPDX-License-Identifier: Apache-2.0 */
/* nsysrep.h - Nsight Systems' own report files (.nsys-rep): read through an installed nsys. */
#ifndef HWY_IMPORT_NSYS_NSYSREP_H
#define HWY_IMPORT_NSYS_NSYSREP_H

#include "base/progress.h"
#include "trace/trace.h"

bool nsysrep_is_report(const char *path, const void *head, size_t length);
struct hwy_trace *import_nsysrep(const char *path, const struct hwy_progress *progress,
				 struct hwy_err *err);

#endif
