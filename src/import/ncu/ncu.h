/* SPDX-License-Identifier: Apache-2.0 */
/* ncu.h - the reader of `ncu --csv`, for its own files and for tests. */
#ifndef HWY_IMPORT_NCU_NCU_H
#define HWY_IMPORT_NCU_NCU_H

#include "base/index.h"
#include "import/import.h"
#include "import/ncu/ncu_rows.h"
#include "import/ncu/ncu_values.h"
#include "trace/builder.h"

/* import_ncu with a window of so many bytes at first: a few bytes in tests. */
struct hwy_trace *import_ncu_window(const char *path, size_t window,
				    const struct hwy_progress *progress, struct hwy_err *err);

/* Whether a text file has the header of ncu's table in its first bytes, behind messages and
 * output. */
bool ncu_is_table(const char *path);

/* One launch that ncu has measured, while it is read. */
struct ncu_launch {
	uint32_t name; /* text: the kernel's name */
	struct hwy_shape shape;
	int64_t ordinal;      /* ncu's number of the device, or HWY_NONE */
	int64_t major, minor; /* the compute capability, or HWY_NONE */
	int64_t process;      /* ncu's process id, or HWY_NONE */
	int64_t launches;
};

struct ncu {
	const char *path;
	const struct hwy_progress *progress;
	struct hwy_err *err;
	struct ncu_rows rows;
	struct hwy_builder *b;
	struct ncu_launch *launches;
	uint32_t n_launches, cap_launches;
	struct hwy_index by_key; /* from a launch's process and number to its index in 'launches' */
	struct hwy_device
		device; /* what the table tells about the device; the fields of a record */
	uint64_t unknown_units;
	char unknown_unit[64]; /* the first unit that was not known */
};

/* ncu_launch.c: keeps a value as a measure of a launch, and where it is the shape's or the
 * device's, there too. */
void ncu_add_value(struct ncu *n, uint32_t launch, const char *metric, double value);
/* Keeps a text; only the device's name is of use. */
void ncu_add_text(struct ncu *n, const char *metric, const char *text);
/* Makes the records of devices, processes, shapes and measured kernels. */
void ncu_add_records(struct ncu *n);

#endif
