/* SPDX-License-Identifier: Apache-2.0 */
/* real_cupti.h - the libcupti of this machine, for tests of its host side, which needs no GPU. */
#ifndef HWY_TESTS_UNIT_REAL_CUPTI_H
#define HWY_TESTS_UNIT_REAL_CUPTI_H

#include "run/counters/cupti_host.h"

/* Opens libcupti, once. Where there is none, or it cannot be opened, the test that asks is skipped. */
static inline struct cupti_library *real_cupti(void)
{
	static struct cupti_library *cupti;
	struct hwy_err err = {""};
#ifdef __SANITIZE_ADDRESS__
	/* libcupti opens libnvperf_host with RTLD_DEEPBIND, and AddressSanitizer ends programs that do so. */
	hwy_fail(&err, "libcupti cannot be opened under AddressSanitizer");
#else
	if (!cupti)
		cupti = cupti_library_open(NULL, &err);
#endif
	if (!cupti) {
		print_message("skipped: %s\n", err.text);
		skip();
	}
	return cupti;
}

#endif
