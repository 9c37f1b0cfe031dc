/* SPDX-License-Identifier: Apache-2.0 */
/* machine_model.c - what recording costs, and the machine's latencies: as measured with the report,
 * or from a table.
 *
 * The table's figures come from runs of the same programs with and without a profiler
 * (docs/whatif.md says which). They are used for files without a calibration; predictions from them
 * get a wider bar.
 */
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "whatif/whatif.h"

static const struct {
	const char *gpu; /* part of the device's name; "" fits any device */
	const char *source;
	/* The cost of recording on this machine's host, relative to the host with the H200; 0
	 * where it is not known. */
	double host;
	struct whatif_machine machine;
} table[] = {
	{"H200",
	 HWY_KEY("a table for the H200"),
	 1,
	 {.graph_launch = 1700,
	  .graph_next = 400,
	  .launch = 3900,
	  .h2d = {6000, 54.9e9},
	  .d2h = {6600, 54.8e9}}},
	{"H100",
	 HWY_KEY("a table for the H100"),
	 1,
	 {.graph_launch = 2000,
	  .graph_next = 400,
	  .launch = 3900,
	  .h2d = {6000, 54e9},
	  .d2h = {6600, 54e9}}},
	{"A100",
	 HWY_KEY("its cost on an A100 is not known"),
	 0, /* host is 0: no cost of recording is taken out */
	 {.graph_launch = 3000,
	  .graph_next = 500,
	  .launch = 4500,
	  .h2d = {7000, 24e9},
	  .d2h = {7500, 25e9}}},
	{"",
	 HWY_KEY("its cost on this GPU is not known"),
	 0,
	 {.graph_launch = 3000,
	  .graph_next = 500,
	  .launch = 4500,
	  .h2d = {8000, 0}, /* bandwidth 0 stands for the rate of machine_model_link_rate */
	  .d2h = {8000, 0}}},
};

/* What recording adds to each call, range or operator in ns, by the file's format. */
static const struct {
	const char *format;
	int64_t launch, sync, graph_launch, range, op;
} recorders[] = {
	{"headway", 3000, 500, 1400, 120, 0},
	{"nsys", 1600, 500, 2000, 250, 0},
	{"kineto", 1800, 800, 2000, 0, 2500},
	{"", 0, 0, 0, 0, 0},
};

double machine_model_link_rate(const struct hwy_device *device)
{
	return metric_pcie_rate(device);
}

static bool machine_model_starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* PyTorch's modules take up to 60 µs from one launch to the next, and twice that on a CPU that
 * others use too (transformers on an H200's host). */
enum { OWN_WORK_NS = 120000 };

static void from_table(struct whatif_machine *machine, const struct hwy_trace *trace)
{
	const char *name = trace->n_devices > 0 ? hwy_str(trace, trace->devices[0].name) : "";
	size_t i = 0;
	while (!strstr(name, table[i].gpu))
		i++;
	*machine = table[i].machine;
	machine->own_work = OWN_WORK_NS;
	if (machine->h2d.bandwidth == 0) {
		const struct hwy_device *device = trace->n_devices > 0 ? &trace->devices[0] : NULL;
		machine->h2d.bandwidth = machine->d2h.bandwidth = machine_model_link_rate(device);
	}
	machine->source = table[i].source;
	const char *format = hwy_property(trace, "source.format");
	/* A headway recording without CUPTI is of OpenCL, whose recording cost was not measured. */
	if (format && strcmp(format, "headway") == 0 && !hwy_property(trace, "cupti.version"))
		format = "";
	size_t r = 0;
	while (!machine_model_starts_with(format ? format : "", recorders[r].format))
		r++;
	double host = table[i].host;
	machine->cost.launch = (int64_t)(host * (double)recorders[r].launch);
	machine->cost.sync = (int64_t)(host * (double)recorders[r].sync);
	machine->cost.graph_launch = (int64_t)(host * (double)recorders[r].graph_launch);
	machine->cost.range = (int64_t)(host * (double)recorders[r].range);
	machine->cost.op = (int64_t)(host * (double)recorders[r].op);
}

/* No calibrated time is longer than a second: a report that has one is damaged, and the value is
 * ignored. */
enum { MOST_NS = 1000 * 1000 * 1000 };

static void machine_model_take(struct whatif_machine *m, const char *name, int64_t value)
{
	const struct {
		const char *name;
		int64_t *field;
	} fields[] = {
		{"cost.launch", &m->cost.launch},
		{"cost.sync", &m->cost.sync},
		{"cost.graph_launch", &m->cost.graph_launch},
		{"cost.range", &m->cost.range},
		{"cost.launch_latency", &m->cost.latency},
		{"cost.kernel_period", &m->cost.next},
		{"machine.launch", &m->launch},
		{"machine.graph_launch", &m->graph_launch},
		{"machine.graph_node_period", &m->graph_period},
		{"machine.copy_h2d_pinned_latency", &m->h2d.latency},
		{"machine.copy_d2h_pinned_latency", &m->d2h.latency},
	};
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (strcmp(name, fields[i].name) == 0 && value >= 0 && value <= MOST_NS)
			*fields[i].field = value;
	if (strcmp(name, "machine.copy_h2d_pinned_bandwidth") == 0 && value > 0)
		m->h2d.bandwidth = (double)value;
	if (strcmp(name, "machine.copy_d2h_pinned_bandwidth") == 0 && value > 0)
		m->d2h.bandwidth = (double)value;
}

bool machine_model_has_samples(const struct hwy_trace *trace)
{
	/* Samples of other recorders are taken outside the program: nsys reads the kernel's ring
	 * from a process of its own. */
	bool is_own = false;
	for (uint32_t i = 0; i < trace->n_properties; i++)
		is_own |= strcmp(hwy_str(trace, trace->properties[i].name), "source.format") == 0 &&
			  strcmp(hwy_str(trace, trace->properties[i].value), "headway") == 0;
	if (!is_own)
		return false;
	for (uint32_t s = 0; s < trace->n_strips; s++)
		if (trace->strips[s].kind == HWY_SAMPLE && trace->strips[s].rows > 0)
			return true;
	return false;
}

int64_t machine_model_operator_cost(const struct hwy_trace *trace)
{
	const char *text = hwy_property(trace, "cost.operator_ps");
	long long ps = text ? strtoll(text, NULL, 10) : 0;
	return ps > 0 && ps < 1000LL * MOST_NS ? (int64_t)(ps / 1000) : 0;
}

void machine_model_find(struct whatif_machine *machine, struct hwy_trace *trace)
{
	from_table(machine, trace);
	machine->has_samples = machine_model_has_samples(trace);
	if (trace->n_calibrations > 0)
		machine->cost = (struct whatif_cost){0};
	for (uint32_t i = 0; i < trace->n_calibrations; i++) {
		const struct hwy_calibration *one = &trace->calibrations[i];
		machine_model_take(machine, hwy_str(trace, one->name), one->value);
		machine->is_measured = true;
		machine->source = HWY_KEY("measured where it was recorded");
	}
	if (machine_model_operator_cost(trace))
		machine->cost.op = machine_model_operator_cost(trace);
}
