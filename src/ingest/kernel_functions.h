/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_functions.h - the functions of the Linux kernel that runs on this machine
 * (/proc/kallsyms). */
#ifndef HWY_INGEST_KERNEL_FUNCTIONS_H
#define HWY_INGEST_KERNEL_FUNCTIONS_H

#include <stdint.h>

struct kernel_functions;

/* Never NULL. Where the sysctl kernel.kptr_restrict hides the addresses from us, it has no
 * function. */
struct kernel_functions *kernel_functions_open(void);
void kernel_functions_close(struct kernel_functions *kernel); /* 'kernel' may be NULL */
/* The function at an address of the kernel; NULL where kptr_restrict hides it or 'kernel' is NULL.
 * *module is set in any case: "[kernel]", or the name of a kernel module ("[nvidia]"). */
const char *kernel_functions_find(const struct kernel_functions *kernel, uint64_t address,
				  const char **module);

#endif
