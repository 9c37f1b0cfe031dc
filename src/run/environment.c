/* environment.c - what the program's environment has more than ours. Called in the child, before exec. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/run.h"
#include "spool/preload.h"

/* Behind what is there, as for the programs that this one starts (collect/exec.c): a sanitizer's runtime must
 * be the first. */
static void preload(const struct rec_control *control)
{
	const char *old = getenv("LD_PRELOAD");
	char *both = hwy_alloc(preload_room(control->library) + (old ? strlen(old) : 0) + 2);
	char *at = both;
	if (old && *old)
		at = stpcpy(stpcpy(at, old), ":");
	preload_write(at, control->library, control->traces);
	setenv("LD_PRELOAD", both, 1);
	free(both);
}

/* The last layer is the outermost: behind those that the program is to have anyway. */
static void add_layer(const char *library)
{
	const char *old = getenv("OPENCL_LAYERS");
	size_t folder = (size_t)(strrchr(library, '/') - library);
	char *both = hwy_alloc((old ? strlen(old) : 0) + folder + sizeof ":/libheadway-opencl.so");
	char *at = both;
	if (old && *old)
		at = stpcpy(stpcpy(at, old), ":");
	memcpy(at, library, folder);
	stpcpy(at + folder, "/libheadway-opencl.so");
	setenv("OPENCL_LAYERS", both, 1);
	free(both);
}

void environment_set(const struct run *run, const struct run_settings *settings)
{
	if (settings->fresh_environment)
		clearenv();
	for (char *const *at = settings->variables; at && *at; at++) {
		char *variable = hwy_copy(*at, strlen(*at) + 1);
		char *equals = strchr(variable, '=');
		if (equals) {
			*equals = '\0';
			setenv(variable, equals + 1, 1);
		}
		free(variable);
	}
	if (!run->directory)
		return;
	const struct rec_control *control = run->control;
	if (preload_fits_command(settings->program[0]))
		preload(control);
	setenv("HEADWAY_RUN", run->directory, 1);
	if ((control->traces & REC_TRACE_CUDA) || control->capture == REC_CAPTURE_PROFILER_API)
		setenv("CUDA_INJECTION64_PATH", control->library, 1);
	if ((control->traces & REC_TRACE_NVTX) || control->capture == REC_CAPTURE_NVTX ||
	    control->steps)
		setenv("NVTX_INJECTION64_PATH", control->library, 1);
	if (control->traces & REC_TRACE_OPENCL)
		add_layer(control->library);
}
