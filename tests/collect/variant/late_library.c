/* SPDX-License-Identifier: Apache-2.0 */
/* late_library.c - a library that loader_target opens: its functions wait inside it. */
#include <poll.h>

__attribute__((visibility("default"), noinline)) int late_library_waits(int ms)
{
	int result = poll(0, 0, ms);
	__asm__ volatile("" ::: "memory");
	return result;
}

__attribute__((visibility("default"), noinline)) int late_library_waits_elsewhere(int ms)
{
	int result = poll(0, 0, ms);
	__asm__ volatile("" ::: "memory");
	return result;
}
