/* SPDX-License-Identifier: Apache-2.0 */
/* pm_devices.c - see pm_devices.h. */
#include "run/counters/pm_devices.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "run/abi/cuda.h"

void pm_devices_environment(const struct pm_settings *settings)
{
	/* The driver would load the collector of an outer recording into this process. */
	unsetenv("CUDA_INJECTION64_PATH");
	if (settings->devices != PM_DEVICES_VISIBLE) {
		unsetenv("CUDA_VISIBLE_DEVICES");
		setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
	} else if (settings->visible) {
		setenv("CUDA_VISIBLE_DEVICES", settings->visible, 1);
	}
}

struct driver {
	int (*init)(unsigned);
	int (*count)(int *);
	int (*get)(int *, int);
	int (*uuid)(struct abi_cuda_uuid *, int);
	int (*name)(char *, int, int); /* may be NULL */
};

static bool open_driver(struct driver *driver)
{
	void *cuda = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (!cuda)
		return false;
	*(void **)&driver->init = dlsym(cuda, "cuInit");
	*(void **)&driver->count = dlsym(cuda, "cuDeviceGetCount");
	*(void **)&driver->get = dlsym(cuda, "cuDeviceGet");
	*(void **)&driver->uuid = dlsym(cuda, "cuDeviceGetUuid");
	*(void **)&driver->name = dlsym(cuda, "cuDeviceGetName");
	return driver->init && driver->count && driver->get && driver->uuid;
}

static bool is_wished(const struct pm_settings *settings, int index)
{
	return settings->devices != PM_DEVICES_LISTED ||
	       (index < 64 && (settings->listed >> index & 1));
}

bool pm_devices_find(const struct pm_settings *settings, struct pm_devices *devices,
		     struct hwy_err *err)
{
	struct driver driver;
	int count = 0;
	devices->n = 0;
	if (!open_driver(&driver))
		return hwy_fail(err, "no NVIDIA driver (libcuda.so.1)");
	int error = driver.init(0);
	if (!error)
		error = driver.count(&count);
	if (error)
		return hwy_fail(err, "CUDA cannot be initialised (error %d)", error);
	for (int i = 0; i < count && devices->n < PM_MOST_DEVICES; i++) {
		struct pm_devices_entry *entry = &devices->list[devices->n];
		struct abi_cuda_uuid uuid;
		int device;
		if (!is_wished(settings, i) || driver.get(&device, i) || driver.uuid(&uuid, device))
			continue;
		*entry = (struct pm_devices_entry){.index = (uint32_t)i, .name = "GPU"};
		memcpy(entry->uuid, uuid.bytes, sizeof entry->uuid);
		if (driver.name)
			driver.name(entry->name, sizeof entry->name, device);
		devices->n++;
	}
	return devices->n || hwy_fail(err, "there are %d GPUs, none of them was asked for", count);
}
