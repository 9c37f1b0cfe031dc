/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_rival.c - notices when the program wants CUPTI for itself (torch.profiler does).
 *
 * CUPTI before 13.3 serves one subscriber. The collector subscribes inside cuInit and so comes
 * first; the program's own profiler is refused and runs without its GPU rows. CUPTI does not report
 * such a refusal to the collector, so the two functions that subscribe are replaced here: they call
 * the function of the caller's own libcupti and note the first refusal. Nothing else changes.
 */
#include <dlfcn.h>

#include "collect/cuda/cuda.h"

int cuptiSubscribe(void **subscriber, cupti_callback_fn *fn, void *user);
int cuptiSubscribe_v2(void **subscriber, cupti_callback_fn *fn, void *user,
		      struct cupti_subscriber_params *params);

/* The function that the caller would have reached without the collector: in its own dependencies,
 * in the global scope, or in a libcupti that it opened by dlopen. */
static void *program_function(const char *name, void *caller)
{
	Dl_info info;
	void *handle = NULL, *function = NULL;
	if (dladdr(caller, &info) && info.dli_fname)
		handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (handle) {
		function = dlsym(handle, name);
		dlclose(handle);
	}
	if (function == (void *)cuptiSubscribe || function == (void *)cuptiSubscribe_v2)
		function = NULL;
	if (!function)
		function = dlsym(RTLD_NEXT, name);
	return function ? function : cuda_library_loaded_symbol(name);
}

static int cuda_rival_note(int result)
{
	static atomic_flag was_noted = ATOMIC_FLAG_INIT;
	if (result == CUPTI_MULTIPLE_SUBSCRIBERS && cuda_is_on() &&
	    !atomic_flag_test_and_set(&was_noted))
		collect_note(
			2,
			"a profiler inside the program asked for CUPTI, which serves one tool at a "
			"time: it runs without its GPU rows (--leave-cupti leaves CUPTI to it)");
	return result;
}

__attribute__((visibility("default"))) int cuptiSubscribe(void **subscriber, cupti_callback_fn *fn,
							  void *user)
{
	int (*next)(void **, cupti_callback_fn *, void *) = NULL;
	*(void **)&next = program_function("cuptiSubscribe", __builtin_return_address(0));
	return next ? cuda_rival_note(next(subscriber, fn, user)) : CUPTI_NOT_INITIALIZED;
}

__attribute__((visibility("default"))) int cuptiSubscribe_v2(void **subscriber,
							     cupti_callback_fn *fn, void *user,
							     struct cupti_subscriber_params *params)
{
	int (*next)(void **, cupti_callback_fn *, void *, struct cupti_subscriber_params *) = NULL;
	*(void **)&next = program_function("cuptiSubscribe_v2", __builtin_return_address(0));
	return next ? cuda_rival_note(next(subscriber, fn, user, params)) : CUPTI_NOT_INITIALIZED;
}
