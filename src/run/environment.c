/* SPDX-License-Identifier: Apache-2.0 */
/* environment.c - the environment of the program: headway's own, and what makes the program record.
 * Called in the child, before exec.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "run/run.h"
#include "spool/preload.h"

/* The collector comes behind other libraries, as for the programs that this one starts
 * (collect/exec.c): a sanitizer's runtime must be the first. */
static void add_preload(const struct rec_control *control)
{
	const char *old = getenv("LD_PRELOAD");
	char *both = hwy_alloc(preload_room(control->library) + (old ? strlen(old) : 0) + 2);
	char *end = both;
	/* An empty list that is set stays one for the program: ours are taken off with the colon. */
	if (old)
		end = stpcpy(stpcpy(end, old), ":");
	preload_write(end, control->library, control->traces);
	setenv("LD_PRELOAD", both, 1);
	free(both);
}

/* The last layer is the outermost: ours comes behind the layers that the program is to have
 * anyway. */
static void add_layer(const char *library)
{
	const char *old = getenv("OPENCL_LAYERS");
	size_t folder = (size_t)(strrchr(library, '/') - library);
	char *both = hwy_alloc((old ? strlen(old) : 0) + folder + sizeof ":/libheadway-opencl.so");
	char *end = both;
	if (old && *old)
		end = stpcpy(stpcpy(end, old), ":");
	memcpy(end, library, folder);
	stpcpy(end + folder, "/libheadway-opencl.so");
	setenv("OPENCL_LAYERS", both, 1);
	free(both);
}

void environment_set(const struct run *run, const struct run_settings *settings)
{
	if (settings->fresh_environment)
		clearenv();
	for (char *const *given = settings->variables; given && *given; given++) {
		char *variable = hwy_copy(*given, strlen(*given) + 1);
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
	if (!preload_fits_command(settings->program[0]))
		return;
	add_preload(control);
	setenv("HEADWAY_RUN", run->directory, 1);
	if ((control->traces & REC_TRACE_CUDA) || control->capture == REC_CAPTURE_PROFILER_API)
		setenv("CUDA_INJECTION64_PATH", control->library, 1);
	if ((control->traces & REC_TRACE_NVTX) || control->capture == REC_CAPTURE_NVTX ||
	    control->steps)
		setenv("NVTX_INJECTION64_PATH", control->library, 1);
	if (control->traces & REC_TRACE_OPENCL)
		add_layer(control->library);
}
