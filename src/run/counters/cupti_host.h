/* SPDX-License-Identifier: Apache-2.0 */
/* cupti_host.h - names of metrics into what the hardware is told to collect, and what was
 * collected into values.
 *
 *   struct cupti_library *cupti = cupti_library_open(NULL, err);
 *   struct cupti_host *host = cupti ? cupti_host_make(cupti, ABI_CUPTI_PM_SAMPLING, "GH100", NULL, err) : NULL;
 *   const char *const names[] = {"sm__cycles_active.avg"};
 *   struct cupti_config config = {0};
 *   if (host && cupti_host_add(host, names, 1, err) && cupti_host_config(host, &config, err))
 *           printf("%zu passes\n", config.passes);
 *   cupti_config_free(&config);
 *   cupti_host_free(host);
 *
 * Works without a GPU and without a driver, for every chip that the library knows. libcupti
 * needs libnvperf_host beside it. A library is never closed: it may have started threads. A host
 * object belongs to one thread at a time; host objects of different threads may work at the same
 * time. NVIDIA's code runs here: use it in a process that may die (the watcher, a child), not in
 * the one that waits for the program.
 */
#ifndef HWY_RUN_COUNTERS_CUPTI_HOST_H
#define HWY_RUN_COUNTERS_CUPTI_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "run/abi/cupti_host.h"

struct cupti_library; /* a libcupti that has the host API */
struct cupti_host;    /* CUPTI's host object for one chip and one kind of profiler */

/* Opens libcupti where the collector looks for it: HEADWAY_CUPTI, the dynamic linker's search,
 * the toolkit's folders, then the wheels below 'packages' (site-packages folders, NULL at the
 * end; NULL: those of the Pythons on PATH). Yields NULL where none has the host API, or
 * libnvperf_host is missing; err says which. */
struct cupti_library *cupti_library_open(char *const *packages, struct hwy_err *err);
const char *cupti_library_path(const struct cupti_library *library);
uint32_t cupti_library_version(
	const struct cupti_library *library); /* cuptiGetVersion: 130000, …; 0: unknown */
/* Looks up a function of the library that is no part of the host API; NULL: it has none of that
 * name. */
void *cupti_library_symbol(const struct cupti_library *library, const char *name);
void cupti_library_free(struct cupti_library *library);

/* The chips that the library knows ("GH100", …): 'n' names, which belong to the library. */
bool cupti_library_chips(const struct cupti_library *library, const char *const **names, size_t *n,
			 struct hwy_err *err);

/* Makes a host object. 'availability' is the image that says which counters the device at hand
 * has, or NULL for a chip on which everything is; it must live as long as the object. */
struct cupti_host *cupti_host_make(const struct cupti_library *library,
				   enum abi_cupti_profiler profiler, const char *chip,
				   const uint8_t *availability, struct hwy_err *err);
void cupti_host_free(struct cupti_host *host); /* NULL is fine */

/* The names of all metrics of one type without their suffix (".sum", …); they belong to the
 * object. */
bool cupti_host_base_metrics(struct cupti_host *host, enum abi_cupti_metric_type type,
			     const char *const **names, size_t *n, struct hwy_err *err);

/* Adds metrics to what is to be collected. On false nothing can be said of the object any more
 * but its end: make another one. */
bool cupti_host_add(struct cupti_host *host, const char *const *metrics, size_t n,
		    struct hwy_err *err);

struct cupti_config { /* what is handed to SetConfig of the device's side */
	uint8_t *image;
	size_t bytes;
	size_t passes; /* how often the work has to run */
};
bool cupti_host_config(struct cupti_host *host, struct cupti_config *config, struct hwy_err *err);
void cupti_config_free(struct cupti_config *config);

/* How many passes a set of metrics needs on a chip; 0: it cannot be collected. */
size_t cupti_host_passes(const struct cupti_library *library, enum abi_cupti_profiler profiler,
			 const char *chip, const uint8_t *availability, const char *const *metrics,
			 size_t n);
/* Chooses greedily, in the order of 'candidates', the metrics that the chip has and that
 * together need at most 'most_passes' passes. chosen[i] says whether candidates[i] was taken;
 * yields how many were. */
size_t cupti_host_choose(const struct cupti_library *library, enum abi_cupti_profiler profiler,
			 const char *chip, const uint8_t *availability,
			 const char *const *candidates, size_t n, size_t most_passes, bool *chosen);

/* Evaluates 'n' metrics of one range or sample of counter data. What the data does not say is
 * NaN. */
bool cupti_host_evaluate(struct cupti_host *host, const uint8_t *data, size_t bytes, size_t range,
			 const char *const *metrics, size_t n, double *values, struct hwy_err *err);
/* The name of a range, which the caller frees; NULL: it has none. */
char *cupti_host_range_name(const struct cupti_library *library, const uint8_t *data, size_t bytes,
			    size_t range);

/* What a result means, as a sentence's end: "permission is missing", …. */
const char *cupti_result_text(int result);
/* What a user can do about it, as a sentence; "" where nothing is known. */
const char *cupti_result_remedy(int result);

#endif
