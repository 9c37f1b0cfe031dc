/* SPDX-License-Identifier: Apache-2.0 */
/* ncu_launch.c - what ncu tells of one launch as records: measured kernel, measures, shape,
 * device. */
#include <math.h>
#include <string.h>

#include "import/ncu/ncu.h"

static int64_t bits_of(double value)
{
	int64_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

/* Counters that ncu itself adds, and that are facts of the launch or of the device. */
struct fact_place {
	const char *metric;
	size_t offset;
	double factor; /* from ncu's unit to ours */
};

#define OF_SHAPE(field) offsetof(struct hwy_shape, field), 1
#define OF_DEVICE(field) offsetof(struct hwy_device, field)

static const struct fact_place shape_facts[] = {
	{"launch__registers_per_thread", OF_SHAPE(registers)},
	{"launch__shared_mem_per_block_static", OF_SHAPE(static_shared)},
	{"launch__shared_mem_per_block_dynamic", OF_SHAPE(dynamic_shared)},
	{"launch__shared_mem_config_size", OF_SHAPE(executed_shared)},
	{"launch__cluster_dim_x", OF_SHAPE(cluster_x)},
	{"launch__cluster_dim_y", OF_SHAPE(cluster_y)},
	{"launch__cluster_dim_z", OF_SHAPE(cluster_z)},
};

static const struct fact_place device_facts[] = {
	{"device__attribute_multiprocessor_count", OF_DEVICE(sms), 1},
	{"launch__sm_count", OF_DEVICE(sms), 1},
	{"device__attribute_warp_size", OF_DEVICE(threads_per_warp), 1},
	{"device__attribute_max_warps_per_multiprocessor", OF_DEVICE(max_warps_per_sm), 1},
	{"device__attribute_max_blocks_per_multiprocessor", OF_DEVICE(max_blocks_per_sm), 1},
	{"device__attribute_max_threads_per_block", OF_DEVICE(max_threads_per_block), 1},
	{"device__attribute_max_threads_per_multiprocessor", OF_DEVICE(max_threads_per_sm), 1},
	{"device__attribute_max_registers_per_multiprocessor", OF_DEVICE(registers_per_sm), 1},
	{"device__attribute_max_registers_per_block", OF_DEVICE(registers_per_block), 1},
	{"device__attribute_max_shared_memory_per_multiprocessor", OF_DEVICE(shared_per_sm), 1},
	{"device__attribute_max_shared_memory_per_block", OF_DEVICE(shared_per_block), 1},
	{"device__attribute_max_shared_memory_per_block_optin", OF_DEVICE(shared_per_block_optin),
	 1},
	{"device__attribute_l2_cache_size", OF_DEVICE(l2_bytes), 1},
	/* The driver tells clocks in kHz, and ncu prints them without a unit. */
	{"device__attribute_clock_rate", OF_DEVICE(clock_hz), 1000},
	{"device__attribute_compute_capability_major", OF_DEVICE(compute_major), 1},
	{"device__attribute_compute_capability_minor", OF_DEVICE(compute_minor), 1},
};

static void set_fact(void *record, const struct fact_place *facts, size_t n, const char *metric,
		     double value)
{
	/* Below 2^53: larger numbers are not of this kind, and might not fit. */
	if (!(value >= 0 && value < 9e15))
		return;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(facts[i].metric, metric) == 0) {
			int64_t number = (int64_t)(value * facts[i].factor);
			memcpy((char *)record + facts[i].offset, &number, sizeof number);
		}
	}
}

void ncu_add_value(struct ncu *n, uint32_t launch, const char *metric, double value)
{
	struct hwy_trace *trace = hwy_builder_trace(n->b);
	uint32_t index = hwy_new_measures(n->b);
	trace->measures[index] = (struct hwy_measure){
		.measured = launch, .metric = hwy_text_id(n->b, metric), .value = bits_of(value)};
	set_fact(&n->launches[launch].shape, shape_facts, sizeof shape_facts / sizeof *shape_facts,
		 metric, value);
	set_fact(&n->device, device_facts, sizeof device_facts / sizeof *device_facts, metric,
		 value);
}

void ncu_add_text(struct ncu *n, const char *metric, const char *text)
{
	if (strcmp(metric, "device__attribute_display_name") == 0)
		n->device.name = hwy_text_id(n->b, text);
}

/* ---- records --------------------------------------------------------------------------------- */

/* Yields the index of the device with ncu's number. The table's attributes are those of the
 * first device: ncu measures one kernel at a time, nearly always on one device. */
static uint32_t ncu_device_of(struct ncu *n, const struct ncu_launch *launch)
{
	struct hwy_trace *trace = hwy_builder_trace(n->b);
	int64_t ordinal = launch->ordinal == HWY_NONE ? 0 : launch->ordinal;
	for (uint32_t i = 0; i < trace->n_devices; i++)
		if (trace->devices[i].ordinal == ordinal)
			return i;
	uint32_t index = hwy_new_devices(n->b);
	if (index == 0)
		trace->devices[0] = n->device;
	struct hwy_device *device = &trace->devices[index];
	device->ordinal = ordinal;
	if (device->compute_major == HWY_NONE) {
		device->compute_major = launch->major;
		device->compute_minor = launch->minor;
	}
	return index;
}

void ncu_add_records(struct ncu *n)
{
	struct hwy_trace *trace = hwy_builder_trace(n->b);
	for (uint32_t i = 0; i < n->n_launches; i++) {
		const struct ncu_launch *launch = &n->launches[i];
		uint32_t shape = hwy_add_shape(n->b, &launch->shape);
		uint32_t device = ncu_device_of(n, launch), index = hwy_new_measured(n->b);
		trace->measured[index] = (struct hwy_measured){
			.kernel = launch->name,
			.shape = launch->shape.grid_x > 0 ? (int64_t)shape : HWY_NONE,
			.device = device,
			.ordinal = HWY_NONE,
			.launches = launch->launches,
			.source = hwy_text_id(n->b, "ncu"),
		};
	}
}
