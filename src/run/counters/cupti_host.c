/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_host.c - see cupti_host.h.
 *
 * libcupti opens "libnvperf_host.so" by that name when the first host object is made, and ends
 * with ABI_CUPTI_UNKNOWN where the dynamic linker finds none. So it is opened here first, by its
 * path beside libcupti: the linker then answers libcupti with the copy that is there.
 */
#include "run/counters/cupti_host.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/mem.h"
#include "run/counters/wheel_folders.h"
#include "spool/places.h"

struct cupti_library {
	void *handle;
	char path[PATH_MAX];
	uint32_t version;
#define X(name, parameters) int (*name)(parameters *);
	ABI_CUPTI_HOST_FUNCTIONS(X)
#undef X
};

struct cupti_host {
	const struct cupti_library *library;
	void *object;
};

const char *cupti_result_text(int result)
{
	switch (result) {
	case ABI_CUPTI_INVALID_OPERATION:
	case ABI_CUPTI_HARDWARE_BUSY: return HWY_KEY("another profiler holds the counters");
	case ABI_CUPTI_HARDWARE: return HWY_KEY("the device does not answer");
	case ABI_CUPTI_NOT_SUPPORTED: return HWY_KEY("the device does not support it");
	case ABI_CUPTI_VIRTUALIZED_DEVICE:
	case ABI_CUPTI_VIRTUALIZED_PRIVILEGES:
		return HWY_KEY("the GPU is virtual, and its host does not permit it");
	case ABI_CUPTI_INSUFFICIENT_PRIVILEGES:
		return HWY_KEY("the driver lets only root read counters");
	case ABI_CUPTI_CONFIDENTIAL_COMPUTING: return HWY_KEY("the GPU is in confidential mode");
	case ABI_CUPTI_MIG_DEVICE: return HWY_KEY("the GPU is divided (MIG)");
	case ABI_CUPTI_WSL_DEVICE: return HWY_KEY("counters cannot be read under WSL");
	case ABI_CUPTI_INVALID_CHIP_NAME: return HWY_KEY("this CUPTI does not know the chip");
	default: return HWY_KEY("CUPTI refuses");
	}
}

const char *cupti_result_remedy(int result)
{
	switch (result) {
	case ABI_CUPTI_INSUFFICIENT_PRIVILEGES:
		return HWY_KEY("run as root, or load the driver with the module option "
			       "NVreg_RestrictProfilingToAdminUsers=0");
	case ABI_CUPTI_VIRTUALIZED_DEVICE:
	case ABI_CUPTI_VIRTUALIZED_PRIVILEGES:
		return HWY_KEY("the administrator of the host can permit it for the virtual GPU");
	case ABI_CUPTI_INVALID_OPERATION:
	case ABI_CUPTI_HARDWARE_BUSY:
		return HWY_KEY(
			"end the other one (nsys, ncu, another headway), or 'dcgmi profile --pause'");
	default: return "";
	}
}

/* ---- the library ----------------------------------------------------------------------------- */

struct library_search {
	struct cupti_library *library;
	char old[PATH_MAX];     /* a libcupti without the host API */
	char without[PATH_MAX]; /* a libcupti without libnvperf_host */
};

/* Opens libnvperf_host in the folder of 'path', or where the dynamic linker finds it. */
static bool open_nvperf(const char *path)
{
	char beside[PATH_MAX];
	const char *slash = strrchr(path, '/');
	int length = slash ? (int)(slash - path) : 0;
	int n = snprintf(beside, sizeof beside, "%.*s/libnvperf_host.so", length, path);
	return (slash && n < (int)sizeof beside && dlopen(beside, RTLD_LAZY | RTLD_LOCAL)) ||
	       dlopen("libnvperf_host.so", RTLD_LAZY | RTLD_LOCAL);
}

static bool try_host_library(struct library_search *search, const char *path)
{
	struct cupti_library *l = search->library;
	l->handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	if (!l->handle)
		return false;
	struct link_map *map = NULL;
	dlinfo(l->handle, RTLD_DI_LINKMAP, &map);
	snprintf(l->path, sizeof l->path, "%s", map && *map->l_name ? map->l_name : path);
	bool whole = true;
#define X(name, parameters) whole = (*(void **)&l->name = dlsym(l->handle, #name)) && whole;
	ABI_CUPTI_HOST_FUNCTIONS(X)
#undef X
	if (!whole) {
		if (dlsym(l->handle, "cuptiActivityEnable"))
			memcpy(search->old, l->path, sizeof search->old);
		return false;
	}
	if (!open_nvperf(l->path)) {
		memcpy(search->without, l->path, sizeof search->without);
		return false;
	}
	int (*get_version)(uint32_t *);
	*(void **)&get_version = dlsym(l->handle, "cuptiGetVersion");
	if (!get_version || get_version(&l->version) != 0)
		l->version = 0;
	return true;
}

static bool try_host_names(struct library_search *search, const char *folder, const char *below)
{
	char path[PATH_MAX];
	for (size_t i = 0; places_cupti_names[i]; i++) {
		int n = snprintf(path, sizeof path, "%s%s%s%s", folder, below, *folder ? "/" : "",
				 places_cupti_names[i]);
		if (n > 0 && n < (int)sizeof path && try_host_library(search, path))
			return true;
	}
	return false;
}

static bool try_wheels(struct library_search *search, char *const *packages)
{
	for (size_t p = 0; packages[p]; p++)
		for (size_t i = 0; places_cupti_wheels[i]; i++)
			if (try_host_names(search, packages[p], places_cupti_wheels[i]))
				return true;
	return false;
}

static bool find_host_library(struct library_search *search, char *const *packages)
{
	const char *wish = getenv("HEADWAY_CUPTI");
	if (wish && *wish && try_host_library(search, wish))
		return true;
	if (try_host_names(search, "", ""))
		return true;
	for (size_t i = 0; places_cupti_folders[i]; i++)
		if (try_host_names(search, places_cupti_folders[i], ""))
			return true;
	char **found = packages ? NULL : wheel_folders_find(getenv("PATH"), getenv("HOME"));
	bool done = try_wheels(search, packages ? packages : found);
	wheel_folders_free(found);
	return done;
}

struct cupti_library *cupti_library_open(char *const *packages, struct hwy_err *err)
{
	struct library_search search = {.library = hwy_zalloc(sizeof *search.library)};
	if (find_host_library(&search, packages))
		return search.library;
	free(search.library);
	if (*search.without)
		hwy_fail(
			err,
			"%s needs libnvperf_host.so beside it; install the whole of CUPTI (package "
			"cuda-cupti or nvidia-cuda-cupti)",
			search.without);
	else if (*search.old)
		hwy_fail(err, "%s is older than CUDA 12.6 and cannot plan counters", search.old);
	else
		hwy_fail(err,
			 "no libcupti of CUDA 12.6 or later is here; install the CUDA toolkit, or "
			 "set HEADWAY_CUPTI=/path/to/libcupti.so.13");
	return NULL;
}

const char *cupti_library_path(const struct cupti_library *library)
{
	return library->path;
}

uint32_t cupti_library_version(const struct cupti_library *library)
{
	return library->version;
}

void *cupti_library_symbol(const struct cupti_library *library, const char *name)
{
	return dlsym(library->handle, name);
}

void cupti_library_free(struct cupti_library *library)
{
	free(library);
}

/* Says which function refused, of which chip or metric, and why. */
static bool host_refuses(struct hwy_err *err, const char *call, const char *of, int result)
{
	return hwy_fail(err, "%s(%s): %s (CUPTI error %d)", call, of ? of : "",
			cupti_result_text(result), result);
}

bool cupti_library_chips(const struct cupti_library *library, const char *const **names, size_t *n,
			 struct hwy_err *err)
{
	struct abi_cupti_host_chips p = {
		.size = ABI_CUPTI_SIZE(struct abi_cupti_host_chips, names)};
	int result = library->cuptiProfilerHostGetSupportedChips(&p);
	if (result)
		return host_refuses(err, "cuptiProfilerHostGetSupportedChips", NULL, result);
	*names = p.names;
	*n = p.n;
	return true;
}

/* ---- a host object --------------------------------------------------------------------------- */

struct cupti_host *cupti_host_make(const struct cupti_library *library,
				   enum abi_cupti_profiler profiler, const char *chip,
				   const uint8_t *availability, struct hwy_err *err)
{
	struct abi_cupti_host_initialize p = {
		.size = ABI_CUPTI_SIZE(struct abi_cupti_host_initialize, host),
		.profiler = (int)profiler,
		.chip = chip,
		.availability = availability,
	};
	int result = library->cuptiProfilerHostInitialize(&p);
	if (result) {
		host_refuses(err, "cuptiProfilerHostInitialize", chip, result);
		return NULL;
	}
	struct cupti_host *host = hwy_zalloc(sizeof *host);
	host->library = library;
	host->object = p.host;
	return host;
}

void cupti_host_free(struct cupti_host *host)
{
	if (!host)
		return;
	struct abi_cupti_host_deinitialize p = {
		.size = ABI_CUPTI_SIZE(struct abi_cupti_host_deinitialize, host),
		.host = host->object,
	};
	host->library->cuptiProfilerHostDeinitialize(&p);
	free(host);
}

bool cupti_host_base_metrics(struct cupti_host *host, enum abi_cupti_metric_type type,
			     const char *const **names, size_t *n, struct hwy_err *err)
{
	struct abi_cupti_host_base_metrics p = {
		.size = ABI_CUPTI_SIZE(struct abi_cupti_host_base_metrics, n),
		.host = host->object,
		.type = (int)type,
	};
	int result = host->library->cuptiProfilerHostGetBaseMetrics(&p);
	if (result)
		return host_refuses(err, "cuptiProfilerHostGetBaseMetrics", NULL, result);
	*names = (const char *const *)p.names;
	*n = p.n;
	return true;
}

bool cupti_host_add(struct cupti_host *host, const char *const *metrics, size_t n,
		    struct hwy_err *err)
{
	struct abi_cupti_host_add_metrics p = {
		.size = ABI_CUPTI_SIZE(struct abi_cupti_host_add_metrics, n_metrics),
		.host = host->object,
		.metrics = (const char **)metrics,
		.n_metrics = n,
	};
	int result = host->library->cuptiProfilerHostConfigAddMetrics(&p);
	/* An unknown name comes back as ABI_CUPTI_INVALID_PARAMETER or ABI_CUPTI_UNKNOWN (CUPTI
	 * 13.0). */
	return !result ||
	       hwy_fail(err, "the chip has no metric '%s'%s, or cannot collect it (CUPTI error %d)",
			n ? metrics[0] : "", hwy_tr(n > 1 ? " or one of those with it" : ""),
			result);
}

bool cupti_host_config(struct cupti_host *host, struct cupti_config *config, struct hwy_err *err)
{
	const struct cupti_library *l = host->library;
	struct abi_cupti_host_config_size s = {
		.size = ABI_CUPTI_SIZE(struct abi_cupti_host_config_size, bytes),
		.host = host->object,
	};
	int result = l->cuptiProfilerHostGetConfigImageSize(&s);
	if (result)
		return host_refuses(err, "cuptiProfilerHostGetConfigImageSize", NULL, result);
	*config = (struct cupti_config){.image = hwy_zalloc(s.bytes), .bytes = s.bytes};
	struct abi_cupti_host_config c = {
		.size = ABI_CUPTI_SIZE(struct abi_cupti_host_config, image),
		.host = host->object,
		.bytes = config->bytes,
		.image = config->image,
	};
	struct abi_cupti_host_passes p = {
		.size = ABI_CUPTI_SIZE(struct abi_cupti_host_passes, passes),
		.bytes = config->bytes,
		.image = config->image,
	};
	result = l->cuptiProfilerHostGetConfigImage(&c);
	if (!result)
		result = l->cuptiProfilerHostGetNumOfPasses(&p);
	if (result) {
		cupti_config_free(config);
		return host_refuses(err, "cuptiProfilerHostGetConfigImage", NULL, result);
	}
	config->passes = p.passes;
	return true;
}

void cupti_config_free(struct cupti_config *config)
{
	free(config->image);
	*config = (struct cupti_config){0};
}

size_t cupti_host_passes(const struct cupti_library *library, enum abi_cupti_profiler profiler,
			 const char *chip, const uint8_t *availability, const char *const *metrics,
			 size_t n)
{
	struct hwy_err err;
	struct cupti_config config = {0};
	struct cupti_host *host = cupti_host_make(library, profiler, chip, availability, &err);
	size_t passes = 0;
	if (host && cupti_host_add(host, metrics, n, &err) &&
	    cupti_host_config(host, &config, &err))
		passes = config.passes;
	cupti_config_free(&config);
	cupti_host_free(host);
	return passes;
}

size_t cupti_host_choose(const struct cupti_library *library, enum abi_cupti_profiler profiler,
			 const char *chip, const uint8_t *availability,
			 const char *const *candidates, size_t n, size_t most_passes, bool *chosen)
{
	const char **taken = hwy_array(n, sizeof *taken);
	size_t n_taken = 0;
	for (size_t i = 0; i < n; i++) {
		taken[n_taken] = candidates[i];
		size_t passes = cupti_host_passes(library, profiler, chip, availability, taken,
						  n_taken + 1);
		chosen[i] = passes && passes <= most_passes;
		n_taken += chosen[i];
	}
	free(taken);
	return n_taken;
}

/* ---- evaluation ------------------------------------------------------------------------------ */

bool cupti_host_evaluate(struct cupti_host *host, const uint8_t *data, size_t bytes, size_t range,
			 const char *const *metrics, size_t n, double *values, struct hwy_err *err)
{
	for (size_t i = 0; i < n; i++)
		values[i] = NAN;
	struct abi_cupti_host_evaluate p = {
		.size = ABI_CUPTI_SIZE(struct abi_cupti_host_evaluate, values),
		.host = host->object,
		.data = data,
		.data_bytes = bytes,
		.range = range,
		.metrics = (const char **)metrics,
		.n_metrics = n,
		.values = values,
	};
	int result = host->library->cuptiProfilerHostEvaluateToGpuValues(&p);
	return !result || host_refuses(err, "cuptiProfilerHostEvaluateToGpuValues",
				       n ? metrics[0] : NULL, result);
}

char *cupti_host_range_name(const struct cupti_library *library, const uint8_t *data, size_t bytes,
			    size_t range)
{
	struct abi_cupti_host_range_name p = {
		.size = ABI_CUPTI_SIZE(struct abi_cupti_host_range_name, name),
		.data = data,
		.data_bytes = bytes,
		.range = range,
		.delimiter = "/",
	};
	if (library->cuptiProfilerHostGetRangeName(&p))
		return NULL;
	return (char *)p.name;
}
