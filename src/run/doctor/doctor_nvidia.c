/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_nvidia.c - NVIDIA's driver, its GPUs, CUPTI, and who may read the counters.
 *
 * libcuda is asked for its version only, and NVML for names: neither makes a context. CUPTI is
 * looked for where the collector does (spool/places.h), and in the wheels of the Pythons on PATH,
 * whose programs would find it beside the CUDA libraries that they map.
 */
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/lang.h"
#include "base/path.h"
#include "run/counters/pm_probe.h"
#include "run/doctor/doctor.h"
#include "run/host_facts.h"
#include "spool/places.h"

enum { TIMEOUT_MS = 5000, ANSWER = 8192, MOST_GPUS = 64 };

static const char *library_path(void *handle, const char *otherwise)
{
	struct link_map *map = NULL;
	dlinfo(handle, RTLD_DI_LINKMAP, &map);
	return map && *map->l_name ? map->l_name : otherwise;
}

/* ---- driver and GPUs ------------------------------------------------------------------------- */

static void look_at_driver(FILE *out, const void *with)
{
	(void)with;
	void *cuda = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	int (*get_version)(int *) = NULL;
	int version = 0;
	if (!cuda)
		return;
	fprintf(out, "libcuda %s\n", library_path(cuda, "libcuda.so.1"));
	*(void **)&get_version = dlsym(cuda, "cuDriverGetVersion");
	if (get_version && get_version(&version) == 0)
		fprintf(out, "version %d\n", version);
}

static void look_at_gpus(FILE *out, const void *with)
{
	(void)with;
	void *nvml = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (!nvml)
		return;
	int (*begin)(void), (*count_of)(unsigned *), (*driver_of)(char *, unsigned);
	int (*handle_of)(unsigned, void **), (*name_of)(void *, char *, unsigned);
	*(void **)&begin = dlsym(nvml, "nvmlInit_v2");
	*(void **)&count_of = dlsym(nvml, "nvmlDeviceGetCount_v2");
	*(void **)&driver_of = dlsym(nvml, "nvmlSystemGetDriverVersion");
	*(void **)&handle_of = dlsym(nvml, "nvmlDeviceGetHandleByIndex_v2");
	*(void **)&name_of = dlsym(nvml, "nvmlDeviceGetName");
	unsigned count = 0;
	char text[128] = "";
	if (!begin || !count_of || !driver_of || !handle_of || !name_of || begin() != 0)
		return;
	if (driver_of(text, sizeof text) == 0)
		fprintf(out, "driver %s\n", text);
	if (count_of(&count) != 0)
		return;
	for (unsigned i = 0; i < count && i < MOST_GPUS; i++) {
		void *device = NULL;
		if (handle_of(i, &device) == 0 && name_of(device, text, sizeof text) == 0)
			fprintf(out, "gpu %s\n", text);
	}
}

/* Where there is no NVML (Tegra), the driver itself is asked: the child initialises it, without a
 * context. */
static void ask_driver(FILE *out, const void *with)
{
	(void)with;
	void *cuda = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (!cuda)
		return;
	int (*begin)(unsigned), (*count_of)(int *), (*device_of)(int *, int);
	int (*name_of)(char *, int, int);
	*(void **)&begin = dlsym(cuda, "cuInit");
	*(void **)&count_of = dlsym(cuda, "cuDeviceGetCount");
	*(void **)&device_of = dlsym(cuda, "cuDeviceGet");
	*(void **)&name_of = dlsym(cuda, "cuDeviceGetName");
	int count = 0, device;
	if (!begin || !count_of || !device_of || begin(0) != 0 || count_of(&count) != 0)
		return;
	for (int i = 0; i < count && i < MOST_GPUS; i++) {
		char text[128] = "";
		bool named = device_of(&device, i) == 0 && name_of &&
			     name_of(text, sizeof text, device) == 0;
		fprintf(out, "gpu %s\n", named ? text : "GPU");
	}
}

static void add_gpu(struct doctor *doctor, const char *name)
{
	HWY_GROW(doctor->gpus, doctor->n_gpus, doctor->cap_gpus);
	doctor->gpus[doctor->n_gpus++] = doctor_text(doctor, name);
}

/* Finds driver and GPUs as the kernel module names them, where NVML does not answer. */
static void read_proc(struct doctor *doctor)
{
	char text[256], path[PATH_MAX];
	if (!doctor->driver && host_facts_driver_version(text, sizeof text))
		doctor->driver = doctor_text(doctor, text);
	DIR *gpus = doctor->n_gpus ? NULL : opendir("/proc/driver/nvidia/gpus");
	for (const struct dirent *entry; gpus && (entry = readdir(gpus));) {
		snprintf(path, sizeof path, "/proc/driver/nvidia/gpus/%s/information",
			 entry->d_name);
		if (host_facts_value(path, "Model", text, sizeof text))
			add_gpu(doctor, text);
	}
	if (gpus)
		closedir(gpus);
}

static void read_counters(struct doctor *doctor)
{
	char text[32];
	doctor->counters_for_all = -1;
	if (host_facts_value("/proc/driver/nvidia/params", "RmProfilingAdminOnly", text,
			     sizeof text) &&
	    isdigit((unsigned char)*text))
		doctor->counters_for_all = strtol(text, NULL, 10) == 0;
}

static void take_gpus(struct doctor *doctor, void (*look)(FILE *out, const void *with))
{
	char answer[ANSWER], *rest = answer;
	const char *key, *value;
	doctor_probe_run(look, NULL, TIMEOUT_MS, answer, sizeof answer);
	while (doctor_probe_line(&rest, &key, &value)) {
		if (strcmp(key, "driver") == 0)
			doctor->driver = doctor_text(doctor, value);
		else
			add_gpu(doctor, value);
	}
}

static enum doctor_probe_end find_driver(struct doctor *doctor)
{
	char answer[ANSWER], *rest = answer;
	const char *key, *value;
	enum doctor_probe_end end =
		doctor_probe_run(look_at_driver, NULL, TIMEOUT_MS, answer, sizeof answer);
	while (doctor_probe_line(&rest, &key, &value)) {
		if (strcmp(key, "libcuda") == 0)
			doctor->libcuda = doctor_text(doctor, value);
		else
			doctor->cuda_version = (uint32_t)strtoul(value, NULL, 10);
	}
	take_gpus(doctor, look_at_gpus);
	read_proc(doctor);
	if (doctor->libcuda && !doctor->n_gpus)
		take_gpus(doctor, ask_driver);
	read_counters(doctor);
	return end;
}

/* ---- CUPTI ----------------------------------------------------------------------------------- */

static bool try_cupti(FILE *out, const char *path)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	int (*get_version)(uint32_t *) = NULL;
	uint32_t version = 0;
	if (handle)
		*(void **)&get_version = dlsym(handle, "cuptiGetVersion");
	if (!get_version || !dlsym(handle, "cuptiActivityEnable"))
		return false;
	fprintf(out, "cupti %s\n", library_path(handle, path));
	if (get_version(&version) == 0)
		fprintf(out, "version %u\n", version);
	return true;
}

static bool try_names(FILE *out, const char *folder, const char *below)
{
	char path[PATH_MAX];
	for (size_t i = 0; places_cupti_names[i]; i++) {
		int n = snprintf(path, sizeof path, "%s%s%s%s", folder, below, *folder ? "/" : "",
				 places_cupti_names[i]);
		if (n > 0 && n < (int)sizeof path && try_cupti(out, path))
			return true;
	}
	return false;
}

static void look_for_cupti(FILE *out, const void *with)
{
	char *const *packages = with;
	const char *wish = getenv("HEADWAY_CUPTI");
	if (wish && *wish) {
		if (try_cupti(out, wish))
			return;
		fprintf(out, "refused -\n");
	}
	if (try_names(out, "", ""))
		return;
	for (size_t i = 0; places_cupti_folders[i]; i++)
		if (try_names(out, places_cupti_folders[i], ""))
			return;
	for (size_t p = 0; packages && packages[p]; p++)
		for (size_t i = 0; places_cupti_wheels[i]; i++)
			if (try_names(out, packages[p], places_cupti_wheels[i])) {
				fprintf(out, "wheel -\n");
				return;
			}
}

struct cupti { /* the result of the search for CUPTI */
	bool refused, in_wheel;
	enum doctor_probe_end end;
};

static struct cupti find_cupti(struct doctor *doctor)
{
	char answer[ANSWER], *rest = answer;
	const char *key, *value;
	struct cupti found = {0};
	found.end = doctor_probe_run(look_for_cupti, doctor->packages, TIMEOUT_MS, answer,
				     sizeof answer);
	while (doctor_probe_line(&rest, &key, &value)) {
		if (strcmp(key, "cupti") == 0)
			doctor->cupti = doctor_text(doctor, value);
		else if (strcmp(key, "version") == 0)
			doctor->cupti_version = (uint32_t)strtoul(value, NULL, 10);
		else if (strcmp(key, "wheel") == 0)
			found.in_wheel = true;
		else
			found.refused = true;
	}
	return found;
}

/* ---- the verdicts ---------------------------------------------------------------------------- */

/* Says why the driver cannot be used; false where the driver can be used. */
static bool driver_is_missing(struct doctor *doctor, enum doctor_probe_end end)
{
	if (end == PROBE_LATE || end == PROBE_CRASHED) {
		doctor_say(doctor, DOCTOR_CUDA, DOCTOR_NO,
			   end == PROBE_LATE
				   ? HWY_KEY("libcuda.so.1 does not return when it is opened")
				   : HWY_KEY("libcuda.so.1 crashes when it is opened"));
		doctor_advise(doctor, DOCTOR_CUDA,
			      "nvidia-smi should tell more; reinstall the driver");
	} else if (doctor->libcuda && doctor->n_gpus) {
		return false;
	} else if (doctor->libcuda && doctor->driver) {
		doctor_say(doctor, DOCTOR_CUDA, DOCTOR_NO, "driver %s, but no GPU is visible",
			   doctor->driver);
		doctor_advise(doctor, DOCTOR_CUDA, "in a container: docker run --gpus all ...");
	} else if (doctor->driver) {
		doctor_say(doctor, DOCTOR_CUDA, DOCTOR_NO,
			   "driver %s is loaded, but libcuda.so.1 is not here", doctor->driver);
		doctor_advise(doctor, DOCTOR_CUDA, "in a container: docker run --gpus all ...");
	} else {
		doctor_say(
			doctor, DOCTOR_CUDA, DOCTOR_NO,
			doctor->libcuda
				? HWY_KEY("no NVIDIA driver answers, though libcuda.so.1 is here")
				: HWY_KEY("no NVIDIA driver"));
		doctor_advise(doctor, DOCTOR_CUDA,
			      "needs a machine with an NVIDIA GPU and its driver");
	}
	return true;
}

static void judge_cuda(struct doctor *doctor, const struct cupti *cupti)
{
	char gpus[96];
	if (doctor->n_gpus > 1)
		snprintf(gpus, sizeof gpus, "%u x %s", doctor->n_gpus, doctor->gpus[0]);
	else
		snprintf(gpus, sizeof gpus, "%s", doctor->gpus[0]);
	char driver[64];
	if (doctor->driver)
		snprintf(driver, sizeof driver, hwy_tr("driver %s"), doctor->driver);
	else
		snprintf(driver, sizeof driver, "CUDA %u.%u", doctor->cuda_version / 1000,
			 doctor->cuda_version % 1000 / 10);
	if (!doctor->cupti && cupti->end != PROBE_DONE) {
		doctor_say(doctor, DOCTOR_CUDA, DOCTOR_NO, "%s, %s; libcupti cannot be opened",
			   gpus, driver);
		doctor_advise(doctor, DOCTOR_CUDA,
			      "HEADWAY_CUPTI=/path/to/libcupti.so.13 names another one");
	} else if (!doctor->cupti) {
		doctor_say(doctor, DOCTOR_CUDA, DOCTOR_PARTLY,
			   "%s, %s; no CUPTI but what a program brings", gpus, driver);
		doctor_advise(
			doctor, DOCTOR_CUDA,
			"install the CUDA toolkit, or set HEADWAY_CUPTI=/path/to/libcupti.so.13");
	} else {
		doctor_say(doctor, DOCTOR_CUDA, cupti->refused ? DOCTOR_PARTLY : DOCTOR_YES,
			   "%s, %s, %s%s", gpus, driver, hwy_basename(doctor->cupti),
			   hwy_tr(cupti->in_wheel ? " of a wheel" : ""));
	}
	if (cupti->refused)
		doctor_advise(doctor, DOCTOR_CUDA,
			      "HEADWAY_CUPTI is no CUPTI: unset HEADWAY_CUPTI");
}

/* Says who may read counters, where CUPTI could not be asked to plan any. */
static void judge_permission(struct doctor *doctor)
{
	bool root = geteuid() == 0;
	if (doctor->counters_for_all < 0) {
		doctor_say(doctor, DOCTOR_COUNTERS, DOCTOR_NO,
			   "not known whether they may be read");
	} else if (doctor->counters_for_all || root) {
		doctor_say(doctor, DOCTOR_COUNTERS, DOCTOR_YES,
			   doctor->counters_for_all ? HWY_KEY("may be read")
						    : HWY_KEY("may be read, being root"));
	} else {
		doctor_say(doctor, DOCTOR_COUNTERS, DOCTOR_PARTLY,
			   "for root only; tracing does not need them");
		doctor_advise(doctor, DOCTOR_COUNTERS,
			      "module option NVreg_RestrictProfilingToAdminUsers=0, or be root");
	}
}

static void judge_counters(struct doctor *doctor)
{
	if (!doctor->driver) {
		doctor_say(doctor, DOCTOR_COUNTERS, DOCTOR_NO, "no NVIDIA driver");
		return;
	}
	struct pm_probe *probe = hwy_zalloc(sizeof *probe);
	if (doctor->cupti && doctor->n_gpus)
		pm_probe_look(probe);
	const struct pm_probe_gpu *gpu = probe->gpus;
	if (probe->n && gpu->metrics) {
		doctor_say(doctor, DOCTOR_COUNTERS, DOCTOR_YES, "%u metrics of %s can be sampled",
			   gpu->metrics, gpu->chip);
	} else if (probe->n) {
		doctor_say(doctor, DOCTOR_COUNTERS, DOCTOR_PARTLY, "%s", hwy_tr(gpu->reason));
		doctor_advise(doctor, DOCTOR_COUNTERS, "%s", hwy_tr(gpu->remedy));
	} else {
		judge_permission(doctor);
		if (*probe->reason && !*doctor->checks[DOCTOR_COUNTERS].remedy)
			doctor_advise(doctor, DOCTOR_COUNTERS, "cannot be sampled yet: %s",
				      hwy_tr(probe->reason));
	}
	free(probe);
}

void doctor_nvidia(struct doctor *doctor)
{
	enum doctor_probe_end end = find_driver(doctor);
	struct cupti cupti = find_cupti(doctor);
	if (!driver_is_missing(doctor, end))
		judge_cuda(doctor, &cupti);
	judge_counters(doctor);
}
