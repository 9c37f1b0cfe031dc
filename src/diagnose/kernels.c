/* SPDX-License-Identifier: Apache-2.0 */
/* kernels.c - the kernels that take most of a step, and the command that looks inside the first
 * kernels, or which tool does where that is not Nsight Compute. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/kernel_table.h"
#include "base/cpp_names.h"
#include "base/lang.h"
#include "diagnose/case.h"

enum { TOP_KERNELS = 3, SHORT_NAME_BYTES = 40 };

/* Whether a name says nothing without its template arguments. */
static bool is_generic(const char *base, size_t length)
{
	static const char *const generic[] = {"Kernel",
					      "Kernel2",
					      "device_kernel",
					      "kernel",
					      "elementwise_kernel",
					      "vectorized_elementwise_kernel",
					      "unrolled_elementwise_kernel",
					      NULL};
	for (const char *const *one = generic; *one; one++) {
		size_t n = strlen(*one);
		if (length >= n && strncmp(base + length - n, *one, n) == 0 &&
		    (length == n || base[length - n - 1] == ':'))
			return true;
	}
	return false;
}

static size_t identifier(const char *text)
{
	size_t n = 0;
	while (isalnum((unsigned char)text[n]) || text[n] == '_' || text[n] == ':')
		n++;
	return n;
}

/* Writes the part of a demangled name by which a person, or a regular expression, knows the kernel:
 * only letters, digits, '_' and ':'. */
static void short_name(const char *name, char out[SHORT_NAME_BYTES])
{
	name = hwy_skip_return_type(name);
	size_t n = identifier(name);
	if (is_generic(name, n)) {
		const char *best = name + n;
		size_t longest = 0;
		for (const char *word = name + n; *word && *word != '(';) {
			size_t length = identifier(word);
			if (length > longest && !isdigit((unsigned char)*word) && length >= 8 &&
			    strncmp(word, "at::", 4) != 0 && strncmp(word, "c10::", 5) != 0 &&
			    strncmp(word, "std::", 5) != 0) {
				best = word;
				longest = length;
			}
			word += length ? length : 1;
		}
		if (longest) {
			name = best;
			n = longest;
		}
	}
	snprintf(out, SHORT_NAME_BYTES, "%.*s",
		 (int)(n < SHORT_NAME_BYTES ? n : SHORT_NAME_BYTES - 1), name);
}

int64_t kernel_blocks(const struct hwy_case *c, uint32_t span)
{
	int64_t shape = case_get(c, span, HWY_SHAPE);
	if (shape <= 0 || shape > c->trace->n_shapes)
		return 0;
	const struct hwy_shape *grid = &c->trace->shapes[shape - 1];
	if (grid->grid_x <= 0 || grid->grid_y <= 0 || grid->grid_z <= 0 ||
	    grid->grid_x > INT32_MAX || grid->grid_y > 65535 || grid->grid_z > 65535)
		return 0;
	return grid->grid_x * grid->grid_y * grid->grid_z;
}

bool kernel_leaves_room(const struct hwy_case *c, uint32_t op)
{
	const struct flow_op *one = &c->flow->ops[op];
	int64_t device = c->flow->devices[one->device].device;
	if (one->kind == HWY_COPY)
		return true;
	if (one->kind != HWY_KERNEL || device == HWY_NONE)
		return false;
	int64_t blocks = kernel_blocks(c, one->span);
	return blocks > 0 && blocks < c->trace->devices[device].sms;
}

static bool matches(const char *name, const char (*patterns)[SHORT_NAME_BYTES], uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		if (*patterns[k] && strstr(name, patterns[k]))
			return true;
	return false;
}

/* Counts the kernels before the steady steps that match a pattern: ncu has to skip these
 * kernels. */
static uint64_t launched_before(const struct hwy_case *c, const char (*patterns)[SHORT_NAME_BYTES],
				uint32_t top)
{
	uint64_t n = 0;
	/* For each id of a name: 0 not examined yet, 1 the name matches, 2 it does not. */
	uint8_t *states = hwy_zalloc(c->trace->strings.n + 1u);
	for (uint32_t i = 0; i < c->first_op; i++) {
		const struct flow_op *op = &c->flow->ops[i];
		if (op->kind != HWY_KERNEL || !case_op_is_of_process(c, i))
			continue;
		int64_t name = case_get(c, op->span, HWY_NAME);
		uint8_t *state = &states[name > 0 && name < c->trace->strings.n ? name : 0];
		if (!*state)
			*state = matches(hwy_str(c->trace, name), patterns, top) ? 1 : 2;
		n += *state == 1;
	}
	free(states);
	return n;
}

static const char *command_of(const struct hwy_case *c)
{
	uint32_t process = c->phase->process;
	const char *command = process < c->trace->n_processes
				      ? hwy_str(c->trace, c->trace->processes[process].command)
				      : "";
	return *command ? command : "COMMAND";
}

static const char *ncu_command(struct hwy_case *c, const uint32_t *picked, uint32_t top)
{
	struct hwy_arena *arena = &c->diagnosis->arena;
	char pattern[TOP_KERNELS * (SHORT_NAME_BYTES + 1) + 1] = "",
							    names[TOP_KERNELS][SHORT_NAME_BYTES] = {
								    ""};
	for (uint32_t k = 0; k < top; k++) {
		short_name(hwy_str(c->trace, c->kernels[picked[k]].name), names[k]);
		if (!*names[k] || strstr(pattern, names[k]))
			continue;
		size_t n = strlen(pattern);
		snprintf(pattern + n, sizeof pattern - n, "%s%s", n ? "|" : "", names[k]);
	}
	return hwy_arena_say(
		arena, "ncu --kernel-name-base demangled -k regex:\"%s\" -s %llu -c 3 %s", pattern,
		(unsigned long long)launched_before(c, names, top), command_of(c));
}

/* A sentence about the tool for kernels that Nsight Compute cannot look into; "" for CUDA's, or
 * where no tool is known. */
static const char *other_profiler(const struct hwy_case *c, uint32_t span)
{
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(c->trace, span, &row);
	int64_t link = hwy_get(strip, HWY_LINK, row);
	if (hwy_lane_is_opencl(c->trace, strip->lane))
		return "Nsight Compute cannot look into OpenCL kernels. Where the device is the CPU, perf "
		       "record shows their code; else the vendor's profiler does: VTune for Intel, rocprof "
		       "for AMD.";
	if (link > 0 && link <= c->trace->n_spans &&
	    strncmp(case_name(c, (uint32_t)(link - 1)), "hip", 3) == 0)
		return "rocprof-compute profile -n NAME -- COMMAND looks into the kernels of a HIP program.";
	return "";
}

/* The kernels with most time, at most TOP_KERNELS of them, as indexes into c->kernels. Kernels
 * that talk to other GPUs are left out: a profiler that replays a single kernel would wait for
 * the others for ever. */
static uint32_t pick_kernels(const struct hwy_case *c, uint32_t picked[TOP_KERNELS])
{
	uint32_t n = 0;
	for (uint32_t k = 0; k < c->n_kernels && n < TOP_KERNELS; k++)
		if (!hwy_name_is_comm(hwy_str(c->trace, c->kernels[k].name)))
			picked[n++] = k;
	return n;
}

/* Takes what counters say of a kernel: the bound of the launch shape that takes most of its
 * time, and what the roof leaves of the time of all shapes that have one. */
static void take_bound(const struct kernel_table *table, struct hwy_top_kernel *kernel)
{
	int64_t most = 0;
	double ns = 0, roof_ns = 0;
	for (uint32_t i = 0; i < table->n; i++) {
		const struct known_kernel *known = &table->kernels[i];
		const struct roofline_point *point = &known->point;
		if (!known->is_measured || strcmp(point->name, kernel->name) != 0)
			continue;
		if (point->ns > most) {
			most = point->ns;
			kernel->bound = kernel_bound_name(known);
		}
		ns += known->has_gain ? (double)point->ns : 0;
		roof_ns += known->has_gain ? point->roof_ns : 0;
	}
	kernel->of_roof = ns > 0 ? roof_ns / ns : NAN;
}

static void take_bounds(struct hwy_case *c, struct hwy_outlook *verdict)
{
	struct kernel_table table;
	struct hwy_err err;
	if (c->trace->n_measured == 0 || !kernel_table_make(&table, c->trace, &err))
		return;
	for (uint32_t k = 0; k < verdict->n_kernels; k++)
		take_bound(&table, &verdict->kernels[k]);
	kernel_table_free(&table);
}

void kernels_top(struct hwy_case *c, struct hwy_outlook *verdict)
{
	uint32_t picked[TOP_KERNELS], n = pick_kernels(c, picked);
	if (n == 0 || c->counts.kernel_ns <= 0)
		return;
	verdict->kernels = hwy_arena_array(&c->diagnosis->arena, n, sizeof *verdict->kernels);
	verdict->n_kernels = n;
	uint32_t worth = 1;
	for (uint32_t k = 0; k < n; k++) {
		const struct case_kernel *kernel = &c->kernels[picked[k]];
		double share = (double)kernel->ns / (double)c->counts.kernel_ns;
		verdict->kernels[k] = (struct hwy_top_kernel){
			.name = hwy_str(c->trace, kernel->name),
			.ns = c->phase->n_steady ? kernel->ns / c->phase->n_steady : 0,
			.share = share,
			.count = kernel->n,
			.bound = "",
			.of_roof = NAN,
		};
		if (k && share >= 0.1)
			worth = k + 1;
	}
	take_bounds(c, verdict);
	verdict->inside = hwy_tr(other_profiler(c, c->kernels[picked[0]].span));
	/* Phases that are neither healthy nor the main one are mentioned only in passing, without a
	 * command. */
	if (!*verdict->inside && (verdict->is_healthy || c->index == c->analysis->phases.main))
		verdict->ncu = ncu_command(c, picked, worth);
}
