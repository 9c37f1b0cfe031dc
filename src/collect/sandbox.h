/* SPDX-License-Identifier: Apache-2.0 */
/* sandbox.h - system calls that the collector does not look at. */
#ifndef HWY_COLLECT_SANDBOX_H
#define HWY_COLLECT_SANDBOX_H

/* Makes a system call, as libc's syscall() does. The collector's own syscall() looks at some of
 * them. */
long sandbox_call(long number, long a, long b, long c, long d, long e, long f);

#endif
