/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_device.c - records the properties of the devices.
 *
 * CUPTI's device record has everything but the device's place on the PCI bus. The flush thread asks
 * the driver for the place, never inside a CUPTI callback; the two driver calls made here need no
 * context and create none.
 */
#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "collect/cuda/cuda.h"
#include "collect/text_ids.h"

enum { DEVICES = 64 };

static struct {
	pthread_mutex_t lock;
	/* seen: the devices found so far, with text ids in 'name'; guarded by 'lock'. */
	struct rec_device seen[DEVICES];
	unsigned n; /* length of 'seen'; guarded by 'lock' */
	/* reported: how many devices of 'seen' have a REC_DEVICE record; used by the flush
	 * thread alone. */
	unsigned reported;
	/* Another run has begun, in whose spools no device is described yet. */
	_Atomic bool is_stale;
} devices = {.lock = PTHREAD_MUTEX_INITIALIZER};

void cuda_device_seen(const struct cupti_device *d)
{
	struct rec_device r = {
		.head.value = d->id,
		.name = collect_string_z(d->name ? d->name : ""),
		.compute_major = d->compute_major,
		.compute_minor = d->compute_minor,
		.sms = d->sms,
		.clock_khz = d->clock_khz,
		.memory_bytes = d->memory,
		.memory_bandwidth = d->bandwidth * 1000,
		.l2_bytes = d->l2,
		.copy_engines = d->copy_engines,
		.max_warps_per_sm = d->max_warps_per_sm,
		.max_blocks_per_sm = d->max_blocks_per_sm,
		.max_threads_per_block = d->max_threads_per_block,
		.registers_per_sm = d->registers_per_sm,
		.registers_per_block = d->registers_per_block,
		.shared_per_sm = d->shared_per_sm,
		.shared_per_block = d->shared_per_block,
		.threads_per_warp = d->threads_per_warp,
	};
	memcpy(r.uuid, d->uuid, sizeof r.uuid);
	pthread_mutex_lock(&devices.lock);
	unsigned i = 0;
	while (i < devices.n && devices.seen[i].head.value != d->id)
		i++;
	if (i == devices.n && i < DEVICES) {
		devices.seen[i] = r;
		devices.n++;
	}
	pthread_mutex_unlock(&devices.lock);
}

/* Ten times the first number in a file of sysfs ("2.5 GT/s" yields 25, whatever the locale); 0: no
 * number. */
static unsigned read_tenths(const char *bus, const char *name)
{
	char path[128];
	unsigned whole = 0, tenths = 0;
	snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/%s", bus, name);
	FILE *f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%4u.%1u", &whole, &tenths) < 1)
		whole = 0;
	fclose(f);
	return 10 * whole + tenths;
}

static uint32_t pcie_generation(unsigned tenths_of_giga_transfers)
{
	static const unsigned speeds[] = {25, 50, 80, 160, 320, 640};
	for (uint32_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
		if (tenths_of_giga_transfers == speeds[i])
			return i + 1;
	return 0;
}

static void add_bus(struct rec_device *device, void *driver)
{
	int (*bus_id)(char *, int, int) = NULL;
	char bus[32] = "";
	if (driver)
		*(void **)&bus_id = dlsym(driver, "cuDeviceGetPCIBusId");
	if (!bus_id || bus_id(bus, sizeof bus, (int)device->head.value) != 0)
		return;
	for (char *c = bus; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	device->bus = collect_string_z(bus);
	device->pcie_generation = pcie_generation(read_tenths(bus, "max_link_speed"));
	device->pcie_width = read_tenths(bus, "max_link_width") / 10;
}

static void report_driver(void *driver)
{
	int (*version)(int *) = NULL;
	int number = 0;
	char text[32];
	if (driver)
		*(void **)&version = dlsym(driver, "cuDriverGetVersion");
	if (!version || version(&number) != 0)
		return;
	snprintf(text, sizeof text, "%d.%d", number / 1000, number % 1000 / 10);
	collect_property("cuda.driver_version", text);
}

void cuda_device_begin_again(void)
{
	atomic_store(&devices.is_stale, true);
}

void cuda_device_report(void)
{
	if (atomic_exchange(&devices.is_stale, false))
		devices.reported = 0;
	pthread_mutex_lock(&devices.lock);
	unsigned n = devices.n;
	pthread_mutex_unlock(&devices.lock);
	if (devices.reported == n)
		return;
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	if (devices.reported == 0)
		report_driver(driver);
	for (; devices.reported < n; devices.reported++) {
		struct rec_device device = devices.seen[devices.reported];
		device.name = text_ids_define_again(device.name);
		add_bus(&device, driver);
		struct rec_device *r = collect_reserve(REC_DEVICE, sizeof *r / REC_SLOT);
		if (!r)
			continue;
		struct rec_head head = r->head;
		head.value = device.head.value;
		*r = device;
		r->head = head;
		collect_publish(r);
	}
	if (driver)
		dlclose(driver);
}
