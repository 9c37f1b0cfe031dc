/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_opencl.c - the OpenCL loader, whether it takes layers, and the platforms that it finds.
 *
 * Asking for platforms loads every vendor's driver, which is most likely to crash or hang on a
 * machine that nobody looks after. What was found before that is kept.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lang.h"
#include "run/doctor/doctor.h"

enum {
	TIMEOUT_MS = 8000,
	ANSWER = 16384,
	MOST = 16,
	/* The following numbers are those of CL/cl.h. */
	PLATFORM_VERSION = 0x0901,
	PLATFORM_NAME = 0x0902,
	DEVICE_NAME = 0x102B,
};
static const uint64_t all_devices = 0xFFFFFFFF;

/* True if the loader supports layers. Such a loader reads the variable OPENCL_LAYERS, so its file
 * has the name in it; no call of the loader would tell. */
static bool knows_layers(const char *path)
{
	static const char variable[] = "OPENCL_LAYERS";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat about;
	bool knows = false;
	if (fd >= 0 && fstat(fd, &about) == 0 && about.st_size > 0) {
		size_t size = (size_t)about.st_size;
		void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (bytes != MAP_FAILED) {
			knows = memmem(bytes, size, variable, sizeof variable) != NULL;
			munmap(bytes, size);
		}
	}
	if (fd >= 0)
		close(fd);
	return knows;
}

struct functions {
	int (*platforms)(uint32_t, void **, uint32_t *);
	int (*platform_info)(void *, uint32_t, size_t, void *, size_t *);
	int (*devices)(void *, uint64_t, uint32_t, void **, uint32_t *);
	int (*device_info)(void *, uint32_t, size_t, void *, size_t *);
};

static void print_answer(FILE *out, const char *key, int result, char *text)
{
	for (char *c = text; *c; c++)
		if (*c == '\n')
			*c = ' ';
	fprintf(out, "%s %s\n", key, result == 0 ? text : "?");
}

static void look_at_platform(FILE *out, const struct functions *f, void *platform)
{
	void *devices[MOST];
	uint32_t n = 0;
	char text[256] = "";
	print_answer(out, "platform",
		     f->platform_info(platform, PLATFORM_NAME, sizeof text - 1, text, NULL), text);
	memset(text, 0, sizeof text);
	print_answer(out, "version",
		     f->platform_info(platform, PLATFORM_VERSION, sizeof text - 1, text, NULL),
		     text);
	if (f->devices(platform, all_devices, MOST, devices, &n) != 0)
		return;
	for (uint32_t i = 0; i < n && i < MOST; i++) {
		memset(text, 0, sizeof text);
		print_answer(out, "device",
			     f->device_info(devices[i], DEVICE_NAME, sizeof text - 1, text, NULL),
			     text);
	}
}

static void doctor_opencl_look(FILE *out, const void *with)
{
	(void)with;
	void *loader = dlopen("libOpenCL.so.1", RTLD_LAZY | RTLD_LOCAL);
	struct link_map *map = NULL;
	if (!loader)
		return;
	dlinfo(loader, RTLD_DI_LINKMAP, &map);
	fprintf(out, "loader %s\n", map && *map->l_name ? map->l_name : "libOpenCL.so.1");
	fprintf(out, "layers %d\n", map && knows_layers(map->l_name));
	struct functions f;
	*(void **)&f.platforms = dlsym(loader, "clGetPlatformIDs");
	*(void **)&f.platform_info = dlsym(loader, "clGetPlatformInfo");
	*(void **)&f.devices = dlsym(loader, "clGetDeviceIDs");
	*(void **)&f.device_info = dlsym(loader, "clGetDeviceInfo");
	if (!f.platforms || !f.platform_info || !f.devices || !f.device_info)
		return;
	void *platforms[MOST];
	uint32_t n = 0;
	if (f.platforms(MOST, platforms, &n) != 0)
		return;
	for (uint32_t i = 0; i < n && i < MOST; i++)
		look_at_platform(out, &f, platforms[i]);
	fprintf(out, "end -\n");
}

/* ---- the verdict ----------------------------------------------------------------------------- */

static void take_answer(struct doctor *doctor, const char *key, const char *value)
{
	struct doctor_platform *last =
		doctor->n_platforms ? &doctor->platforms[doctor->n_platforms - 1] : NULL;
	if (strcmp(key, "loader") == 0) {
		doctor->opencl = doctor_text(doctor, value);
	} else if (strcmp(key, "layers") == 0) {
		doctor->opencl_layers = *value == '1';
	} else if (strcmp(key, "platform") == 0) {
		HWY_GROW(doctor->platforms, doctor->n_platforms, doctor->cap_platforms);
		doctor->platforms[doctor->n_platforms++] =
			(struct doctor_platform){.name = doctor_text(doctor, value)};
	} else if (last && strcmp(key, "version") == 0) {
		last->version = doctor_text(doctor, value);
	} else if (last && strcmp(key, "device") == 0) {
		HWY_GROW(last->devices, last->n_devices, last->cap_devices);
		last->devices[last->n_devices++] = doctor_text(doctor, value);
	}
}

static void judge_absent(struct doctor *doctor, enum doctor_probe_end end)
{
	if (end == PROBE_CRASHED || end == PROBE_LATE) {
		doctor_say(doctor, DOCTOR_OPENCL, DOCTOR_NO,
			   end == PROBE_CRASHED
				   ? HWY_KEY("an OpenCL driver crashes when it is loaded")
				   : HWY_KEY("an OpenCL driver does not answer"));
		doctor_advise(doctor, DOCTOR_OPENCL,
			      "find the broken one in /etc/OpenCL/vendors; 'clinfo -l' fails too");
	} else if (!doctor->opencl) {
		doctor_say(doctor, DOCTOR_OPENCL, DOCTOR_NO, "libOpenCL.so.1 is not installed");
		doctor_advise(doctor, DOCTOR_OPENCL,
			      "sudo apt-get install ocl-icd-libopencl1 pocl-opencl-icd");
	} else {
		doctor_say(doctor, DOCTOR_OPENCL, DOCTOR_NO,
			   "the loader finds no platform with a device");
		doctor_advise(doctor, DOCTOR_OPENCL,
			      "sudo apt-get install pocl-opencl-icd (runs on the CPU)");
	}
}

static void doctor_opencl_judge(struct doctor *doctor)
{
	uint32_t devices = 0;
	char what[128];
	for (uint32_t i = 0; i < doctor->n_platforms; i++)
		devices += doctor->platforms[i].n_devices;
	if (doctor->n_platforms == 1 && devices == 1)
		snprintf(what, sizeof what, "%s", doctor->platforms[0].name);
	else
		snprintf(what, sizeof what, hwy_tr("%u platforms, %u devices"), doctor->n_platforms,
			 devices);
	if (!doctor->opencl_library) {
		doctor_say(doctor, DOCTOR_OPENCL, DOCTOR_NO,
			   "%s; but libheadway-opencl.so is missing", what);
		doctor_advise(doctor, DOCTOR_OPENCL,
			      "it belongs beside libheadway-collect.so: reinstall Headway");
	} else if (!doctor->opencl_layers) {
		doctor_say(doctor, DOCTOR_OPENCL, DOCTOR_PARTLY,
			   "%s; programs linked with libOpenCL only", what);
		doctor_advise(doctor, DOCTOR_OPENCL,
			      "a loader with layers: ocl-icd 2.3 or Khronos' of 2021 on");
	} else {
		doctor_say(doctor, DOCTOR_OPENCL, DOCTOR_YES, "%s", what);
	}
}

void doctor_opencl(struct doctor *doctor)
{
	char answer[ANSWER], *rest = answer;
	const char *key, *value;
	enum doctor_probe_end end =
		doctor_probe_run(doctor_opencl_look, NULL, TIMEOUT_MS, answer, sizeof answer);
	while (doctor_probe_line(&rest, &key, &value))
		take_answer(doctor, key, value);
	uint32_t devices = 0;
	for (uint32_t i = 0; i < doctor->n_platforms; i++)
		devices += doctor->platforms[i].n_devices;
	if (end != PROBE_DONE || !devices)
		judge_absent(doctor, end);
	else
		doctor_opencl_judge(doctor);
}
