/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate_helper.c - the process that measures: opens the driver, makes a context, takes the
 * measurements.
 *
 * To the collector the helper is a program like any other, so that it can be recorded. It never
 * runs inside the program that is profiled. It takes 64 MiB of the device's memory, and a few
 * seconds.
 */
#include "run/calibrate/calibrate_helper.h"

#include <dlfcn.h>
#include <string.h>

#include "base/quantile.h"
#include "run/calibrate/calibrate_kernels.h"
#include "run/run.h"

enum { COPY_BYTES = 64 << 20, WARM_UP_MS = 30 };

bool helper_ok(struct helper *helper, int result)
{
	if (result != ABI_CUDA_SUCCESS && !helper->error)
		helper->error = result;
	return !helper->error;
}

void helper_launch(struct helper *helper, void *kernel, void **parameters)
{
	helper_ok(helper, helper->cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, helper->stream,
						      parameters, NULL));
}

void helper_synchronize(struct helper *helper)
{
	helper_ok(helper, helper->cuda.cuStreamSynchronize(helper->stream));
}

/* ---- numbers --------------------------------------------------------------------------------- */

void helper_summarize(struct helper_samples *samples, double *median, double *spread)
{
	const double *values = samples->values;
	uint32_t n = samples->n;
	hwy_sort_real(samples->values, n);
	*median = hwy_median_between_real(values, n);
	*spread = (hwy_rank_below_real(values, n, 75) - hwy_rank_below_real(values, n, 25)) / 2;
}

/* Other work on the machine only makes times longer, at bad moments most of them: then the median
 * is a disturbed time. The quickest sample is luck, though: a tenth of the samples agree on the
 * lower decile. Where few samples were calm, the lower quartile is far from the quickest, and the
 * spread says so. */
void helper_summarize_calm(struct helper_samples *samples, double *value, double *spread)
{
	const double *values = samples->values;
	uint32_t n = samples->n;
	hwy_sort_real(samples->values, n);
	*value = hwy_rank_below_real(values, n, 10);
	*spread = (hwy_rank_below_real(values, n, 25) - hwy_rank_below_real(values, n, 0)) / 2;
}

void helper_print(struct helper *helper, const char *name, double value, double spread,
		  const char *unit)
{
	if (!helper->error)
		fprintf(helper->out, "%s %.1f %.1f %s\n", name, value < 0 ? 0 : value, spread,
			unit);
}

void helper_print_samples(struct helper *helper, const char *name, struct helper_samples *samples)
{
	double median, spread;
	helper_summarize(samples, &median, &spread);
	if (samples->n)
		helper_print(helper, name, median, spread, "ns");
}

/* ---- the driver ------------------------------------------------------------------------------ */

static bool open_driver(struct abi_cuda *cuda, struct hwy_err *err)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return hwy_fail(err, "there is no CUDA driver: %s", dlerror());
	const char *missing = NULL;
#define X(name, parameters)                                                                        \
	*(void **)&cuda->name = dlsym(library, #name);                                             \
	if (!cuda->name)                                                                           \
		missing = #name;
	ABI_CUDA_FUNCTIONS(X)
#undef X
	return !missing || hwy_fail(err, "the CUDA driver has no %s", missing);
}

static bool driver_failed(struct helper *helper, const char *what, struct hwy_err *err)
{
	const char *name = NULL;
	helper->cuda.cuGetErrorName(helper->error, &name);
	return hwy_fail(err, "%s: %s (%d)", what, name ? name : "error", helper->error);
}

static bool has_uuid(struct helper *helper, int device, const char *gpu)
{
	struct abi_cuda_uuid uuid;
	char text[48] = "GPU-", *to = text + 4;
	if (!helper_ok(helper, helper->cuda.cuDeviceGetUuid(&uuid, device)))
		return false;
	for (int i = 0; i < 16; i++)
		to += sprintf(to, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x",
			      uuid.bytes[i]);
	return strcmp(text, gpu) == 0;
}

static bool choose_device(struct helper *helper, const char *gpu, struct hwy_err *err)
{
	const struct abi_cuda *cuda = &helper->cuda;
	int count = 0, device = 0;
	if (!helper_ok(helper, cuda->cuInit(0)) ||
	    !helper_ok(helper, cuda->cuDeviceGetCount(&count)))
		return driver_failed(helper, "the CUDA driver cannot be used", err);
	for (int i = 0; i < count; i++) {
		if (!helper_ok(helper, cuda->cuDeviceGet(&device, i)) ||
		    (*gpu && !has_uuid(helper, device, gpu)))
			continue;
		void *context = NULL;
		if (helper_ok(helper, cuda->cuDevicePrimaryCtxRetain(&context, device)) &&
		    helper_ok(helper, cuda->cuCtxSetCurrent(context)))
			return true;
		return driver_failed(helper, "the GPU cannot be used", err);
	}
	return hwy_fail(err, "there is no GPU %s here", gpu);
}

/* ---- kernels, graphs and memory -------------------------------------------------------------- */

static bool load_kernels(struct helper *helper)
{
	const struct abi_cuda *cuda = &helper->cuda;
	void *module = NULL;
	struct {
		const char *name;
		void **into;
	} kernels[] = {{"empty", &helper->empty},
		       {"stamp", &helper->stamp},
		       {"spin", &helper->spin},
		       {"pong", &helper->pong}};
	bool good = helper_ok(helper, cuda->cuModuleLoadData(&module, kernels_text));
	for (size_t i = 0; good && i < sizeof kernels / sizeof *kernels; i++)
		good = helper_ok(helper, cuda->cuModuleGetFunction(kernels[i].into, module,
								   kernels[i].name));
	return good;
}

/* Makes a graph: a chain of empty kernels, captured from the stream. */
static bool make_graph(struct helper *helper, uint32_t nodes, void **exec)
{
	const struct abi_cuda *cuda = &helper->cuda;
	void *graph = NULL;
	if (!helper_ok(helper, cuda->cuStreamBeginCapture_v2(helper->stream,
							     ABI_CUDA_CAPTURE_THREAD_LOCAL)))
		return false;
	for (uint32_t i = 0; i < nodes; i++)
		helper_launch(helper, helper->empty, NULL);
	return helper_ok(helper, cuda->cuStreamEndCapture(helper->stream, &graph)) &&
	       helper_ok(helper, cuda->cuGraphInstantiateWithFlags(exec, graph, 0));
}

static bool set_up(struct helper *helper, struct hwy_err *err)
{
	const struct abi_cuda *cuda = &helper->cuda;
	void *memory = NULL;
	if (!load_kernels(helper))
		return driver_failed(helper, "the helper's kernels do not load", err);
	bool good =
		helper_ok(helper,
			  cuda->cuStreamCreate(&helper->stream, ABI_CUDA_STREAM_NON_BLOCKING)) &&
		helper_ok(helper, cuda->cuMemHostAlloc(&memory, sizeof *helper->mailbox,
						       ABI_CUDA_HOST_MAPPED)) &&
		helper_ok(helper,
			  cuda->cuMemHostGetDevicePointer_v2(&helper->mailbox_device, memory, 0)) &&
		helper_ok(helper, cuda->cuMemAlloc_v2(&helper->buffer, COPY_BYTES)) &&
		make_graph(helper, 1, &helper->graph_1) &&
		make_graph(helper, HELPER_NODES, &helper->graph_n);
	helper->mailbox = memory;
	return good || driver_failed(helper, "the helper cannot be set up", err);
}

/* Warms up: the device's clocks rise under load, and a kernel's first launch loads its code. */
static void warm_up(struct helper *helper)
{
	for (int64_t until = run_now() + WARM_UP_MS * INT64_C(1000000);
	     !helper->error && run_now() < until;) {
		for (int i = 0; i < 100; i++)
			helper_launch(helper, helper->empty, NULL);
		helper_synchronize(helper);
	}
}

bool calibration_helper(const char *gpu, bool quick, FILE *out, struct hwy_err *err)
{
	struct helper helper = {.out = out};
	helper_move_to_calm_cpu();
	if (!open_driver(&helper.cuda, err) || !choose_device(&helper, gpu, err))
		return false;
	fprintf(out, "device %s\n", gpu);
	fflush(out);
	if (!set_up(&helper, err))
		return false;
	warm_up(&helper);
	helper_measure_calls(&helper);
	helper_measure_latency(&helper);
	if (!quick) {
		helper_measure_copies(&helper);
		helper_measure_queue(&helper);
	}
	if (helper.error)
		return driver_failed(&helper, "a measurement failed", err);
	fprintf(out, "done\n");
	return fflush(out) == 0 || hwy_fail(err, "the results cannot be written");
}
