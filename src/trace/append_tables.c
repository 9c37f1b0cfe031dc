/* SPDX-License-Identifier: Apache-2.0 */
/* append_tables.c - the records of append.h.
 *
 * 'layouts' says what the fields of each table hold; one function renumbers the fields of any
 * record by it. A record whose process is left out is left out too. Where a record that is left
 * out is referred to, the reference becomes HWY_NONE.
 */
#include <assert.h>
#include <stdlib.h>

#include "trace/append_internal.h"

/* What each field holds, a letter a field: x a text; t a time; s a span; k a reference to a
 * stack; H P T D S G M L an index into hosts, processes, threads, devices, streams, groups,
 * measured, shapes; anything else a number. Fields after the last letter are numbers. Tables
 * without a layout are appended by functions of their own. */
static const char *const layouts[APPEND_TABLES] = {
	[HWY_TABLE_lanes] = ".PTDSxx.",
	[HWY_TABLE_hosts] = "xx.xxx",
	[HWY_TABLE_processes] = "H.Pxxtt....x.",
	[HWY_TABLE_threads] = "P.x.x",
	[HWY_TABLE_devices] = "H.xxx",
	[HWY_TABLE_contexts] = "PD.....x",
	[HWY_TABLE_streams] = "PD.....x.",
	[HWY_TABLE_modules] = "Pxx",
	[HWY_TABLE_shapes] = ".",
	[HWY_TABLE_symbols] = "xxx",
	[HWY_TABLE_frames] = "xxx",
	[HWY_TABLE_edges] = ".ss.",
	[HWY_TABLE_groups] = "Pxxx.x",
	[HWY_TABLE_clocks] = "Ht..D.",
	[HWY_TABLE_calibrations] = "Dx..x",
	[HWY_TABLE_drops] = "PTxx..tt",
	[HWY_TABLE_diagnostics] = "t.Px",
	[HWY_TABLE_properties] = "xx",
	[HWY_TABLE_nodes] = "PT..tk",
	[HWY_TABLE_node_edges] = "P",
	[HWY_TABLE_measured] = "xLD..x",
	[HWY_TABLE_measures] = "Mx",
	[HWY_TABLE_stalled_lines] = "xx.x",
	[HWY_TABLE_messages] = "sssPGx.x.....x.xx.ttt",
	[HWY_TABLE_pings] = "P.t",
};

/* ---- fields ---------------------------------------------------------------------------------- */

int64_t append_text(struct append *a, int64_t text)
{
	if (text < 0 || text >= a->from->strings.n)
		return HWY_NONE;
	uint32_t *known = &a->texts[text];
	if (*known == APPEND_NONE) {
		struct hwy_text from = a->from->strings.texts[text];
		*known = hwy_text_id_n(a->b, from.at, from.length);
	}
	return *known;
}

static bool is_used_device(const struct append *a, int64_t device)
{
	return !a->how->keep || (device >= 0 && device < a->from->n_devices && a->is_used[device]);
}

static int64_t append_field(struct append *a, char holds, int64_t value)
{
	static const enum hwy_table tables[128] = {
		['H'] = HWY_TABLE_hosts,   ['P'] = HWY_TABLE_processes, ['T'] = HWY_TABLE_threads,
		['S'] = HWY_TABLE_streams, ['G'] = HWY_TABLE_groups,    ['M'] = HWY_TABLE_measured,
		['L'] = HWY_TABLE_shapes,
	};
	if (value == HWY_NONE)
		return HWY_NONE;
	switch (holds) {
	/* Records do not bring in devices that no process which is kept uses; copies between
	 * devices do. */
	case 'D':
		return is_used_device(a, value) ? append_index(a, HWY_TABLE_devices, value)
						: HWY_NONE;
	case 'x': return append_text(a, value);
	case 't': return append_time(a, value);
	case 's': return append_span(a, value);
	case 'k': {
		int64_t stack = hwy_ref_is_set(value)
					? append_index(a, HWY_TABLE_stacks, hwy_ref_index(value))
					: HWY_NONE;
		return stack == HWY_NONE ? 0 : hwy_ref(stack);
	}
	default: return tables[(int)holds] ? append_index(a, tables[(int)holds], value) : value;
	}
}

/* Renumbers a record in place; false where the record is of a process that is left out. */
static bool renumber(struct append *a, enum hwy_table table, int64_t *fields)
{
	bool is_kept = true;
	for (const char *holds = layouts[table]; *holds; holds++, fields++) {
		int64_t before = *fields;
		*fields = append_field(a, *holds, before);
		is_kept &= *holds != 'P' || before == HWY_NONE || *fields != HWY_NONE;
	}
	return is_kept;
}

/* ---- records that equal ones share ----------------------------------------------------------- */

static bool same_text(const struct append *a, int64_t to, int64_t from)
{
	struct hwy_text x = hwy_text(a->to, to), y = hwy_text(a->from, from);
	return x.length == y.length && memcmp(x.at, y.at, x.length) == 0;
}

static bool has_text(const struct hwy_trace *trace, int64_t text)
{
	return hwy_text(trace, text).length > 0;
}

static uint32_t append_host(struct append *a, const struct hwy_host *from)
{
	bool is_known = has_text(a->from, from->name) || has_text(a->from, from->boot_id);
	for (uint32_t i = 0; i < a->to->n_hosts && is_known; i++)
		if (same_text(a, a->to->hosts[i].name, from->name) &&
		    same_text(a, a->to->hosts[i].boot_id, from->boot_id))
			return i;
	uint32_t index = hwy_new_hosts(a->b);
	struct hwy_host host = *from;
	renumber(a, HWY_TABLE_hosts, &host.name);
	a->to->hosts[index] = host;
	return index;
}

/* The device of 'to' that is the same piece of hardware, or APPEND_NONE. */
static uint32_t find_same_device(struct append *a, const struct hwy_device *from)
{
	int64_t host = append_field(a, 'H', from->host);
	for (uint32_t i = 0; i < a->to->n_devices; i++) {
		const struct hwy_device *to = &a->to->devices[i];
		if (has_text(a->from, from->uuid) ? same_text(a, to->uuid, from->uuid)
						  : host != HWY_NONE && to->host == host &&
							    has_text(a->from, from->bus) &&
							    same_text(a, to->bus, from->bus))
			return i;
	}
	return APPEND_NONE;
}

/* A device that is known already learns what only the new trace tells about it. */
static uint32_t append_device(struct append *a, const struct hwy_device *from)
{
	struct hwy_device device = *from;
	uint32_t index = find_same_device(a, from);
	renumber(a, HWY_TABLE_devices, &device.host);
	if (index == APPEND_NONE) {
		index = hwy_new_devices(a->b);
		a->to->devices[index] = device;
		return index;
	}
	int64_t *known = &a->to->devices[index].host;
	const int64_t *told = &device.host;
	for (size_t i = 0; i < sizeof device / sizeof *told; i++)
		if (known[i] == HWY_NONE)
			known[i] = told[i];
	return index;
}

static uint32_t append_frame(struct append *a, int64_t index)
{
	struct hwy_frame frame = a->from->frames[index];
	renumber(a, HWY_TABLE_frames, &frame.function);
	return hwy_add_frame(a->b, &frame);
}

/* Appends a stack and its callers, from the outermost one that is not known yet down: recursion
 * could be too deep. */
static uint32_t append_stack(struct append *a, int64_t index)
{
	uint32_t *map = a->maps[HWY_TABLE_stacks];
	uint32_t *todo = NULL, n = 0, cap = 0;
	for (int64_t stack = hwy_ref(index);
	     hwy_ref_is_set(stack) && map[hwy_ref_index(stack)] == APPEND_NONE;
	     stack = hwy_stack_caller(a->from, stack)) {
		HWY_GROW(todo, n, cap);
		todo[n++] = (uint32_t)hwy_ref_index(stack);
	}
	while (n > 0) {
		const struct hwy_stack *from = &a->from->stacks[todo[--n]];
		int64_t parent = hwy_ref_is_set(from->parent)
					 ? hwy_ref(map[hwy_ref_index(from->parent)])
					 : 0;
		map[todo[n]] = hwy_add_stack(
			a->b, (struct hwy_stack){parent, append_frame(a, from->frame)});
	}
	free(todo);
	return map[index];
}

static uint32_t append_shared(struct append *a, enum hwy_table table, int64_t index)
{
	switch (table) {
	case HWY_TABLE_hosts: return append_host(a, &a->from->hosts[index]);
	case HWY_TABLE_devices: return append_device(a, &a->from->devices[index]);
	case HWY_TABLE_stacks: return append_stack(a, index);
	case HWY_TABLE_shapes: return hwy_add_shape(a->b, &a->from->shapes[index]);
	case HWY_TABLE_symbols: {
		struct hwy_symbol symbol = a->from->symbols[index];
		renumber(a, HWY_TABLE_symbols, &symbol.demangled);
		return hwy_add_symbol(a->b, symbol);
	}
	default: return APPEND_NONE;
	}
}

int64_t append_index(struct append *a, enum hwy_table table, int64_t index)
{
	if (index < 0 || index >= hwy_table_rows(a->from, table) || !a->maps[table])
		return HWY_NONE;
	uint32_t now = a->maps[table][index];
	if (now == APPEND_NONE)
		a->maps[table][index] = now = append_shared(a, table, index);
	return now == APPEND_NONE ? HWY_NONE : now;
}

/* ---- whole tables ---------------------------------------------------------------------------- */

/* APPEND_ALL(lanes): a new record of 'to' for every record of the table that is kept. */
#define APPEND_ALL(table)                                                                          \
	for (uint32_t i = 0; i < a->from->n_##table; i++) {                                        \
		__typeof__(*a->from->table) record = a->from->table[i];                            \
		if (!renumber(a, HWY_TABLE_##table, (int64_t *)&record))                           \
			continue;                                                                  \
		uint32_t index = hwy_new_##table(a->b);                                            \
		a->to->table[index] = record;                                                      \
		a->maps[HWY_TABLE_##table][i] = index;                                             \
	}

/* A parent may stand after its child, so processes get their numbers before any of them is
 * renumbered. */
static void append_processes(struct append *a)
{
	uint32_t *map = a->maps[HWY_TABLE_processes];
	for (uint32_t i = 0; i < a->from->n_processes; i++)
		if (!a->how->keep || a->how->keep[i])
			map[i] = hwy_new_processes(a->b);
	for (uint32_t i = 0; i < a->from->n_processes; i++) {
		if (map[i] == APPEND_NONE)
			continue;
		struct hwy_process process = a->from->processes[i];
		renumber(a, HWY_TABLE_processes, &process.host);
		if (process.rank == HWY_NONE)
			process.rank = a->how->rank;
		a->to->processes[map[i]] = process;
	}
}

static void use_device(struct append *a, int64_t process, int64_t device)
{
	bool is_kept = !a->how->keep ||
		       (process >= 0 && process < a->from->n_processes && a->how->keep[process]);
	if (is_kept && device >= 0 && device < a->from->n_devices)
		a->is_used[device] = true;
}

static void find_used_devices(struct append *a)
{
	const struct hwy_trace *from = a->from;
	for (uint32_t i = 0; i < from->n_lanes; i++)
		use_device(a, from->lanes[i].process, from->lanes[i].device);
	for (uint32_t i = 0; i < from->n_contexts; i++)
		use_device(a, from->contexts[i].process, from->contexts[i].device);
	for (uint32_t i = 0; i < from->n_streams; i++)
		use_device(a, from->streams[i].process, from->streams[i].device);
	for (uint32_t i = 0; i < from->n_devices; i++)
		if (!a->how->keep || a->is_used[i])
			append_index(a, HWY_TABLE_devices, i);
}

/* Whether the lane holds what an earlier trace has from the same sensor of the same device, or
 * what belongs to a device that is left out. */
static bool lane_is_left_out(const struct append *a, const struct hwy_lane *from,
			     const struct hwy_lane *now)
{
	if (from->process != HWY_NONE || from->device == HWY_NONE)
		return false;
	if (!is_used_device(a, from->device))
		return true;
	for (uint32_t i = 0; i < a->n_lanes_before; i++)
		if (memcmp(&a->to->lanes[i], now, sizeof *now) == 0)
			return true;
	return false;
}

/* Not hwy_add_lane: a lane without process and device is another one in each trace. */
static void append_lanes(struct append *a)
{
	for (uint32_t i = 0; i < a->from->n_lanes; i++) {
		struct hwy_lane lane = a->from->lanes[i];
		if (!renumber(a, HWY_TABLE_lanes, &lane.type) ||
		    lane_is_left_out(a, &a->from->lanes[i], &lane))
			continue;
		uint32_t index = hwy_new_lanes(a->b);
		a->to->lanes[index] = lane;
		a->maps[HWY_TABLE_lanes][i] = index;
	}
}

void append_places(struct append *a)
{
	for (int t = HWY_TABLE_NONE + 1; t < APPEND_TABLES; t++) {
		uint32_t rows = hwy_table_rows(a->from, (enum hwy_table)t);
		a->maps[t] = hwy_array(rows, sizeof *a->maps[t]);
		memset(a->maps[t], 0xff, rows * sizeof *a->maps[t]);
	}
	for (uint32_t i = 0; i < a->from->n_hosts; i++)
		append_index(a, HWY_TABLE_hosts, i);
	append_processes(a);
	find_used_devices(a);
	APPEND_ALL(threads)
	APPEND_ALL(contexts)
	APPEND_ALL(streams)
	append_lanes(a);
}

/* ---- what refers to spans, and what nothing refers to ---------------------------------------- */

static void append_properties(struct append *a)
{
	for (uint32_t i = 0; i < a->from->n_properties; i++) {
		const struct hwy_property *from = &a->from->properties[i];
		if (!hwy_property(a->to, hwy_str(a->from, from->name)))
			hwy_add_property(a->b, hwy_str(a->from, from->name),
					 hwy_str(a->from, from->value));
	}
}

static void append_calibrations(struct append *a)
{
	uint32_t before = a->to->n_calibrations;
	for (uint32_t i = 0; i < a->from->n_calibrations; i++) {
		struct hwy_calibration one = a->from->calibrations[i];
		if (one.device != HWY_NONE && !is_used_device(a, one.device))
			continue;
		renumber(a, HWY_TABLE_calibrations, &one.device);
		bool is_known = false;
		for (uint32_t k = 0; k < before; k++)
			is_known |= a->to->calibrations[k].device == one.device &&
				    a->to->calibrations[k].name == one.name;
		if (is_known)
			continue;
		uint32_t index = hwy_new_calibrations(a->b);
		a->to->calibrations[index] = one;
	}
}

/* Edges whose one end is left out are left out. */
static void append_edges(struct append *a)
{
	for (uint32_t i = 0; i < a->from->n_edges; i++) {
		struct hwy_edge edge = a->from->edges[i];
		renumber(a, HWY_TABLE_edges, &edge.kind);
		if (edge.from == HWY_NONE || edge.to == HWY_NONE)
			continue;
		uint32_t index = hwy_new_edges(a->b);
		a->to->edges[index] = edge;
	}
}

/* Appends the counters of kernels, which are of no process but of a device. */
static void append_measured(struct append *a)
{
	APPEND_ALL(measured)
	APPEND_ALL(measures)
	APPEND_ALL(stalled_lines)
}

/* Appends what says how the recording was made, and what it lost. */
static void append_circumstances(struct append *a)
{
	APPEND_ALL(clocks)
	append_calibrations(a);
	APPEND_ALL(drops)
	APPEND_ALL(diagnostics)
	append_properties(a);
}

void append_stories(struct append *a)
{
	APPEND_ALL(modules)
	append_edges(a);
	APPEND_ALL(groups)
	append_circumstances(a);
	APPEND_ALL(nodes)
	APPEND_ALL(node_edges)
	append_measured(a);
	APPEND_ALL(messages)
	APPEND_ALL(pings)
}
