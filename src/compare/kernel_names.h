/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_names.h - folded names of kernels: without the parts that differ from build to build or
 * from call to call.
 *
 * Template arguments, parameters and return types are dropped, addresses and counters become '#',
 * so that a kernel keeps its folded name when only its instantiation changes. A name that says
 * nothing by itself ("Kernel2", "elementwise_kernel") keeps the longest name among its template
 * arguments.
 */
#ifndef HWY_COMPARE_KERNEL_NAMES_H
#define HWY_COMPARE_KERNEL_NAMES_H

#include <stdbool.h>

enum { KERNEL_NAME_BYTES = 112 };

void kernel_name_fold(const char *name, char out[KERNEL_NAME_BYTES]);
/* A folded name without PyTorch's namespace, which is in most of its names and tells nothing;
 * the name itself where nothing is left: a name for people. */
void kernel_name_short(const char *name, char out[KERNEL_NAME_BYTES]);
/* Whether two folded names are of one family, re-tiled or recompiled: equal once all digits are
 * gone. */
bool kernel_name_is_sibling(const char *a, const char *b);

#endif
