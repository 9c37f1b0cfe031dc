/* SPDX-License-Identifier: Apache-2.0 */
/* import.h - opens the files that Headway can read: a .hwy report, an nsys SQLite export, an
 * .nsys-rep, a PyTorch (Kineto) trace, plain or gzip, the output of `ncu --csv`. The content of
 * a file decides which reader it gets, not its name.
 */
#ifndef HWY_IMPORT_IMPORT_H
#define HWY_IMPORT_IMPORT_H

#include "base/progress.h"
#include "trace/trace.h"

/* Opens a trace file of any kind; NULL on failure, with one line in err. */
struct hwy_trace *hwy_open(const char *path, const struct hwy_progress *progress,
			   struct hwy_err *err);

struct hwy_trace *import_nsys(const char *path, const struct hwy_progress *progress,
			      struct hwy_err *err);
struct hwy_trace *import_ncu(const char *path, const struct hwy_progress *progress,
			     struct hwy_err *err);
struct hwy_trace *import_kineto(const char *path, const struct hwy_progress *progress,
				struct hwy_err *err);

#endif
