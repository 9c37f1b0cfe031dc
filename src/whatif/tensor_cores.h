/* SPDX-License-Identifier: Apache-2.0 */
/* tensor_cores.h - which kernels leave the tensor cores unused, and how much faster they would
 * be. */
#ifndef HWY_WHATIF_TENSOR_CORES_H
#define HWY_WHATIF_TENSOR_CORES_H

#include "trace/trace.h"

/* Whether a kernel, by its name, multiplies or convolves in fp32 without tensor cores. */
bool tensor_cores_are_unused(const char *kernel);
/* How many times as fast such a kernel of 'ns' would run on the tensor cores of a device; device
 * may be NULL. 1 where the device has none, or where they are no faster. */
double tensor_cores_speedup(const struct hwy_device *device, const char *kernel, int64_t ns);

#endif
