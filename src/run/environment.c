/* SPDX-License-Identifier: Apache-2.0 */
/* environment.c - the environment of the program: headway's own, and what makes the program record.
 * Called in the child, before exec.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/run.h"
#include "spool/libraries.h"
#include "spool/preload.h"

/* The collector comes behind other libraries, as for the programs that this one starts
 * (collect/exec.c): a sanitizer's runtime must be the first. */
static bool add_preload(const struct rec_control *control)
{
	const char *old = getenv("LD_PRELOAD");
	char *both = hwy_alloc(preload_room(control->library) + (old ? strlen(old) : 0) + 2);
	char *end = both;
	/* An empty list that is set stays one for the program: ours are taken off with the
	 * colon. */
	if (old)
		end = stpcpy(stpcpy(end, old), ":");
	preload_write(end, control->library, control->traces);
	bool is_set = setenv("LD_PRELOAD", both, 1) == 0;
	free(both);
	return is_set;
}

/* The last layer is the outermost: ours comes behind the layers that the program is to have
 * anyway. */
static bool add_layer(const char *library)
{
	const char *old = getenv("OPENCL_LAYERS");
	size_t folder = (size_t)(strrchr(library, '/') - library);
	char *both = hwy_alloc((old ? strlen(old) : 0) + folder + sizeof ":/libheadway-opencl.so");
	char *end = both;
	if (old && *old)
		end = stpcpy(stpcpy(end, old), ":");
	memcpy(end, library, folder);
	stpcpy(end + folder, "/libheadway-opencl.so");
	bool is_set = setenv("OPENCL_LAYERS", both, 1) == 0;
	free(both);
	return is_set;
}

/* A plugin that the user asked for stays; profile says so (cli/cmd_profile.c). */
static bool add_nccl_plugin(const char *library)
{
	size_t folder = (size_t)(strrchr(library, '/') - library) + 1;
	char *path = hwy_alloc(folder + sizeof PRELOAD_NCCL_PLUGIN);
	memcpy(path, library, folder);
	strcpy(path + folder, PRELOAD_NCCL_PLUGIN);
	bool is_set = setenv("NCCL_PROFILER_PLUGIN", path, 0) == 0;
	free(path);
	return is_set;
}

bool environment_set(const struct run *run, const struct run_settings *settings)
{
	if (settings->fresh_environment)
		clearenv();
	for (char *const *given = settings->variables; given && *given; given++) {
		char *variable = hwy_copy(*given, strlen(*given) + 1);
		char *equals = strchr(variable, '=');
		bool is_set = true;
		if (equals) {
			*equals = '\0';
			is_set = setenv(variable, equals + 1, 1) == 0;
		}
		free(variable);
		if (!is_set)
			return false;
	}
	if (!run->directory)
		return true;
	const struct rec_control *control = run->control;
	if (!preload_fits_command(settings->program[0]))
		return true;
	bool is_set = add_preload(control) && setenv("HEADWAY_RUN", run->directory, 1) == 0;
	if ((control->traces & REC_TRACE_CUDA) || control->capture == REC_CAPTURE_PROFILER_API)
		is_set = is_set && setenv("CUDA_INJECTION64_PATH", control->library, 1) == 0;
	if ((control->traces & (REC_TRACE_NVTX | REC_TRACES_BY_NVTX)) ||
	    control->capture == REC_CAPTURE_NVTX || control->steps)
		is_set = is_set && setenv("NVTX_INJECTION64_PATH", control->library, 1) == 0;
	if (control->traces & REC_TRACE_OPENCL)
		is_set = is_set && add_layer(control->library);
	if (control->traces & REC_TRACE_NCCL)
		is_set = is_set && add_nccl_plugin(control->library);
	return is_set;
}
