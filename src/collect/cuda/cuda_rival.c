/* cuda_rival.c - notices when the program wants CUPTI for itself (torch.profiler does).
 *
 * CUPTI before 13.3 serves one subscriber. Since ours is made inside cuInit it comes first, and the program's
 * own profiler is refused and runs without its GPU rows. Nobody tells us of a refusal, so the two entry points
 * are preloaded: they pass on to the caller's own libcupti and note the first refusal. Nothing else changes.
 */
#include <dlfcn.h>

#include "collect/cuda/cuda.h"

int cuptiSubscribe(void **subscriber, cupti_callback_fn *fn, void *user);
int cuptiSubscribe_v2(void **subscriber, cupti_callback_fn *fn, void *user,
		      struct cupti_subscriber_params *params);

/* What the caller would have reached without us: by its own dependencies, in the global scope, or by hand. */
static void *theirs(const char *name, void *caller)
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
	return function ? function : library_loaded_symbol(name);
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
	*(void **)&next = theirs("cuptiSubscribe", __builtin_return_address(0));
	return next ? cuda_rival_note(next(subscriber, fn, user)) : CUPTI_NOT_INITIALIZED;
}

__attribute__((visibility("default"))) int cuptiSubscribe_v2(void **subscriber,
							     cupti_callback_fn *fn, void *user,
							     struct cupti_subscriber_params *params)
{
	int (*next)(void **, cupti_callback_fn *, void *, struct cupti_subscriber_params *) = NULL;
	*(void **)&next = theirs("cuptiSubscribe_v2", __builtin_return_address(0));
	return next ? cuda_rival_note(next(subscriber, fn, user, params)) : CUPTI_NOT_INITIALIZED;
}
