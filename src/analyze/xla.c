/* SPDX-License-Identifier: Apache-2.0 */
/* xla.c - see xla.h.
 *
 * A value may hold commas and equals signs ("jit(f)/reduce_sum[axes=(0, 1)]"), so that a value
 * ends only where a comma and one of the keys that XLA writes follow.
 */
#include "analyze/xla.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MOST_PROGRAM_DIGITS = 18 }; /* digits of a program's number that fit int64_t */

/* ---- texts ----------------------------------------------------------------------------------- */

static struct hwy_text xla_part(struct hwy_text text, uint32_t from, uint32_t to)
{
	return (struct hwy_text){text.at + from, to - from};
}

static bool xla_begins_with(struct hwy_text text, const char *beginning)
{
	size_t length = strlen(beginning);
	return text.length >= length && memcmp(text.at, beginning, length) == 0;
}

static bool xla_text_is(struct hwy_text text, const char *other)
{
	return text.length == strlen(other) && xla_begins_with(text, other);
}

static bool xla_is_one_of(struct hwy_text text, const char *const *words)
{
	for (; *words; words++)
		if (xla_text_is(text, *words))
			return true;
	return false;
}

/* ---- fields ---------------------------------------------------------------------------------- */

/* Length of the key of XLA's that begins the text, its '=' included; 0 where none does. */
static uint32_t key_length(struct hwy_text text)
{
	static const char *const keys[] = {"prefix=", "hlo_module=",       "program_id=", "name=",
					   "hlo_op=", "unique_hlo_op_id=", "module="};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
		if (xla_begins_with(text, keys[i]))
			return (uint32_t)strlen(keys[i]);
	return 0;
}

/* The offset behind the value that begins at 'from'. */
static uint32_t value_end(struct hwy_text fields, uint32_t from)
{
	for (uint32_t i = from; i < fields.length; i++)
		if (fields.at[i] == ',' && key_length(xla_part(fields, i + 1, fields.length)) > 0)
			return i;
	return fields.length;
}

/* The value of a field; an empty text where the fields do not hold the key. */
static struct hwy_text xla_value_of(struct hwy_text fields, const char *key)
{
	uint32_t from = 0;
	while (from < fields.length) {
		struct hwy_text rest = xla_part(fields, from, fields.length);
		uint32_t end = value_end(fields, from), length = key_length(rest);
		if (length == strlen(key) + 1 && xla_begins_with(rest, key))
			return xla_part(fields, from + length, end);
		from = end + 1;
	}
	return (struct hwy_text){"", 0};
}

static int64_t program_number(struct hwy_text digits)
{
	int64_t number = 0;
	if (digits.length == 0 || digits.length > MOST_PROGRAM_DIGITS)
		return -1;
	for (uint32_t i = 0; i < digits.length; i++) {
		if (!isdigit((unsigned char)digits.at[i]))
			return -1;
		number = number * 10 + (digits.at[i] - '0');
	}
	return number;
}

/* Length of the beginning "jit_" of a module's name; other functions that JAX compiles begin so
 * too. 0 for other modules. */
static uint32_t wrapper_length(struct hwy_text module)
{
	static const char *const wrappers[] = {"jit_", "pjit_", "pmap_", "xmap_"};
	for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
		if (xla_begins_with(module, wrappers[i]))
			return (uint32_t)strlen(wrappers[i]);
	return 0;
}

/* The kind of a range by what stands before its fields. */
static enum xla_kind kind_of_tag(struct hwy_text tag)
{
	static const char *const parts[] = {"XlaPass",
					    "XlaPassPipeline",
					    "XlaCompileBackend",
					    "XlaCompileGpuAsm",
					    "XlaCompileCudnnFusion",
					    "XlaOptimizeLlvmIr",
					    "XlaEmitGpuAsm",
					    "XlaEmitLlvmIr",
					    "XlaBufferAssignment",
					    "XlaMemoryScheduler",
					    "XlaCreateGpuExecutable",
					    "XlaAutotunerCompilation",
					    "XlaAutotunerMeasurement",
					    NULL};
	if (xla_text_is(tag, "XlaModule"))
		return XLA_EXECUTION;
	if (xla_text_is(tag, "Thunk"))
		return XLA_THUNK;
	if (xla_text_is(tag, "XlaCompile"))
		return XLA_COMPILE;
	return xla_is_one_of(tag, parts) ? XLA_COMPILE_PART : XLA_NONE;
}

struct xla_range xla_parse(struct hwy_text name)
{
	struct xla_range range = {.module = {"", 0}, .op = {"", 0}, .path = {"", 0}, .program = -1};
	uint32_t tag = 0;
	if (name.length == 0 || (name.at[0] != 'X' && name.at[0] != 'T'))
		return range;
	while (tag < name.length && name.at[tag] != ':')
		tag++;
	if (tag + 1 >= name.length || name.at[tag + 1] != '#')
		return range;
	range.kind = kind_of_tag(xla_part(name, 0, tag));
	if (range.kind == XLA_NONE)
		return range;
	uint32_t end = name.length;
	if (end > tag + 2 && name.at[end - 1] == '#')
		end--;
	struct hwy_text fields = xla_part(name, tag + 2, end);
	range.op = xla_value_of(fields, "hlo_op");
	range.program = program_number(xla_value_of(fields, "program_id"));
	if (range.kind == XLA_THUNK) {
		range.path = xla_value_of(fields, "name");
	} else if (range.kind == XLA_EXECUTION) {
		range.module = xla_value_of(fields, "hlo_module");
		range.path = xla_value_of(fields, "prefix");
		/* XLA's tuner executes a module that holds one operation, and gives that module
		 * no number. */
		if (range.program < 0 && wrapper_length(range.module) == 0)
			range.kind = XLA_TRIAL;
	} else {
		range.module = xla_value_of(fields, "module");
	}
	return range;
}

bool xla_any_execution(const struct hwy_strings *texts)
{
	for (uint32_t i = 0; i < texts->n; i++)
		if (xla_parse(texts->texts[i]).kind == XLA_EXECUTION)
			return true;
	return false;
}

bool xla_is_range(struct hwy_text name)
{
	return xla_parse(name).kind != XLA_NONE;
}

/* ---- what a user calls it -------------------------------------------------------------------- */

void xla_function(struct hwy_text module, char *into, size_t size)
{
	uint32_t wrapper = wrapper_length(module);
	struct hwy_text function = xla_part(module, wrapper, module.length);
	if (xla_text_is(function, "_lambda_"))
		function = (struct hwy_text){"<lambda>", 8};
	if (wrapper)
		snprintf(into, size, "%.*s(%.*s)", (int)wrapper - 1, module.at,
			 (int)function.length, function.at);
	else
		snprintf(into, size, "%.*s", (int)module.length, module.at);
}

void xla_label(struct hwy_text name, char *into, size_t size)
{
	struct xla_range range = xla_parse(name);
	char function[256];
	xla_function(range.module, function, sizeof function);
	switch (range.kind) {
	case XLA_NONE: snprintf(into, size, "%s", ""); break;
	case XLA_EXECUTION: snprintf(into, size, "%s", function); break;
	case XLA_TRIAL: snprintf(into, size, "tune %s", function); break;
	case XLA_THUNK:
		snprintf(into, size, "%.*s%s", (int)range.op.length, range.op.at,
			 xla_is_callback(range.path)   ? " (callback)"
			 : xla_copies_argument(&range) ? " (argument)"
						       : "");
		break;
	case XLA_COMPILE:
	case XLA_COMPILE_PART: snprintf(into, size, "compile %s", function); break;
	}
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* The offset of the '/' that ends the component at 'from': one that is not inside parentheses or
 * brackets. */
static uint32_t component_end(struct hwy_text path, uint32_t from)
{
	int depth = 0;
	for (uint32_t i = from; i < path.length; i++) {
		char c = path.at[i];
		depth += (c == '(' || c == '[') - (c == ')' || c == ']');
		if (c == '/' && depth <= 0)
			return i;
	}
	return path.length;
}

/* The scope that a component names: "MLP" for "transpose(jvp(MLP))". Empty for functions,
 * control flow and what JAX adds. */
static struct hwy_text scope_of_component(struct hwy_text component)
{
	static const char *const kept[] = {"jvp", "transpose", "vmap", "checkpoint", "remat", NULL};
	static const char *const added[] = {"while",
					    "body",
					    "cond",
					    "scan",
					    "checkpoint",
					    "remat",
					    "remat2",
					    "rematted_computation",
					    "closed_call",
					    "core_call",
					    "custom_jvp_call",
					    "custom_vjp_call",
					    "shard_map",
					    "pjit",
					    NULL};
	for (;;) {
		const char *open = memchr(component.at, '(', component.length);
		if (!open || component.at[component.length - 1] != ')')
			break;
		uint32_t word = (uint32_t)(open - component.at);
		if (!xla_is_one_of(xla_part(component, 0, word), kept))
			return (struct hwy_text){"", 0};
		component = xla_part(component, word + 1, component.length - 1);
	}
	return xla_is_one_of(component, added) ? (struct hwy_text){"", 0} : component;
}

void xla_scope(struct hwy_text path, char *into, size_t size)
{
	size_t used = 0;
	if (size)
		into[0] = 0;
	for (uint32_t from = 0; from < path.length;) {
		uint32_t end = component_end(path, from);
		/* The last component is the primitive: "dot_general". */
		if (end >= path.length)
			return;
		struct hwy_text scope = scope_of_component(xla_part(path, from, end));
		if (scope.length && used < size)
			used += (size_t)snprintf(into + used, size - used, "%s%.*s",
						 used ? "." : "", (int)scope.length, scope.at);
		from = end + 1;
	}
}

bool xla_is_callback(struct hwy_text path)
{
	static const char *const primitives[] = {"pure_callback", "io_callback", "debug_callback",
						 "debug_print"};
	uint32_t from = path.length;
	while (from > 0 && path.at[from - 1] != '/')
		from--;
	/* Older versions of JAX write the primitive's parameters behind it:
	 * "pure_callback[callback=…]". */
	for (size_t i = 0; i < sizeof primitives / sizeof *primitives; i++)
		if (xla_begins_with(xla_part(path, from, path.length), primitives[i]))
			return true;
	return false;
}

bool xla_copies_argument(const struct xla_range *range)
{
	return range->kind == XLA_THUNK && xla_begins_with(range->op, "copy") &&
	       range->path.length && component_end(range->path, 0) == range->path.length &&
	       wrapper_length(range->path) == 0 && !xla_begins_with(range->path, "jit(");
}

bool xla_is_backward(struct hwy_text path)
{
	for (uint32_t i = 0; i < path.length; i++) {
		bool begins = i == 0 || path.at[i - 1] == '/';
		if (begins && xla_begins_with(xla_part(path, i, path.length), "transpose(jvp("))
			return true;
	}
	return false;
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* Length of a kernel's name without the number that XLA puts behind it: "loop_add_fusion" of
 * "loop_add_fusion_3". */
static size_t length_without_number(const char *name)
{
	size_t length = strlen(name), digits = length;
	while (digits > 0 && isdigit((unsigned char)name[digits - 1]))
		digits--;
	return digits > 0 && digits < length && name[digits - 1] == '_' ? digits - 1 : length;
}

bool xla_is_kernel(const char *name)
{
	static const char fusion[] = "fusion";
	size_t length = length_without_number(name), word = sizeof fusion - 1;
	for (size_t i = 0; i < length; i++)
		if (!islower((unsigned char)name[i]) && !isdigit((unsigned char)name[i]) &&
		    name[i] != '_')
			return false;
	if (strncmp(name, "wrapped_", 8) == 0 || strncmp(name, "gemm_fusion_", 12) == 0)
		return true;
	return length >= word && strncmp(name + length - word, fusion, word) == 0 &&
	       (length == word || name[length - word - 1] == '_');
}

bool xla_is_tuning_kernel(const char *name)
{
	static const char *const words[] = {"RedzoneAllocatorKernel", "DelayKernel",
					    "RepeatBufferKernel", "xla_fp_comparison"};
	if (!strstr(name, "stream_executor::gpu::"))
		return false;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strstr(name, words[i]))
			return true;
	return false;
}
