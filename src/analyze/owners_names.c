/* SPDX-License-Identifier: Apache-2.0 */
/* owners_names.c - what the names of operators, ranges, functions and modules tell about owners,
 * and the records of owners, each kept once.
 *
 * Every name and every stack is examined once; the results are kept by the number of the text or
 * the stack.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/marks.h"
#include "analyze/owners_internal.h"
#include "analyze/place.h"
#include "analyze/xla.h"
#include "base/path.h"

#define ENGINE "autograd::engine::evaluate_function: "
#define KINETO_MODULE "nn.Module: "

/* ---- records, each kept once ----------------------------------------------------------------- */

#define PUT(array, n, cap, index, record)                                                          \
	bool fresh;                                                                                \
	uint32_t *number = hwy_index_put_element(&(index), array, sizeof *(array), &(record),      \
						 sizeof(record), &fresh);                          \
	if (fresh) {                                                                               \
		HWY_GROW(array, n, cap);                                                           \
		*number = n;                                                                       \
		(array)[(n)++] = record;                                                           \
	}                                                                                          \
	return *number;

uint32_t owners_put(struct hwy_owners *o, struct hwy_owner owner){
	PUT(o->owners, o->n_owners, o->cap_owners, o->by_owner, owner)}

uint32_t owners_put_link(struct hwy_owners *o, struct owner_link link){
	PUT(o->chain, o->n_chain, o->cap_chain, o->by_link, link)}

uint32_t owners_put_line(struct hwy_owners *o, struct owner_line line)
{
	PUT(o->lines, o->n_lines, o->cap_lines, o->by_line, line)
}

static uint32_t put_module(struct hwy_owners *o, uint32_t outer, uint32_t name, uint32_t root)
{
	uint32_t key[2] = {outer, name};
	bool fresh;
	uint32_t *number = hwy_index_put_element(&o->by_module, o->modules, sizeof *o->modules, key,
						 sizeof key, &fresh);
	if (fresh) {
		HWY_GROW(o->modules, o->n_modules, o->cap_modules);
		*number = o->n_modules;
		o->modules[o->n_modules] = (struct owner_module){
			.outer = outer, .name = name, .root = root ? root : o->n_modules};
		o->n_modules++;
	}
	return *number;
}

uint32_t owners_put_path(struct hwy_owners *o, uint32_t outer, struct hwy_text path, uint32_t type)
{
	uint32_t module = outer, root = 0, begin = 0;
	while (begin < path.length) {
		const char *dot = memchr(path.at + begin, '.', path.length - begin);
		uint32_t end = dot ? (uint32_t)(dot - path.at) : path.length;
		uint32_t name = hwy_intern(&o->texts, path.at + begin, end - begin);
		uint32_t outer_root = o->modules[outer].root;
		bool is_first = begin == 0;
		if (is_first && outer && o->modules[outer_root].name == name)
			module = o->modules[outer_root].outer;
		if (end > begin)
			module = put_module(o, module, name, root);
		if (is_first)
			root = o->modules[module].root;
		begin = end + 1;
	}
	if (type && !o->modules[module].type)
		o->modules[module].type = type;
	return module;
}

uint32_t owners_graft(struct hwy_owners *o, uint32_t called, uint32_t known)
{
	uint32_t parts[64], n = 0, module = called;
	for (; module && n < 64; module = o->modules[module].outer)
		parts[n++] = module;
	if (n == 0 || module)
		return called;
	uint32_t outermost = parts[n - 1];
	while (known && o->modules[known].name != o->modules[outermost].name)
		known = o->modules[known].outer;
	if (!known || known == outermost)
		return called;
	for (module = o->modules[known].outer; n-- > 0;) {
		const struct owner_module part = o->modules[parts[n]];
		module = put_module(o, module, part.name,
				    part.root == parts[n] ? 0 : o->modules[module].root);
		if (!o->modules[module].type)
			o->modules[module].type = part.type;
	}
	return module;
}

void owners_records_free(struct hwy_owners *o)
{
	free(o->owners);
	free(o->chain);
	free(o->modules);
	free(o->lines);
	free(o->module_calls);
	hwy_index_free(&o->by_owner);
	hwy_index_free(&o->by_link);
	hwy_index_free(&o->by_module);
	hwy_index_free(&o->by_line);
	hwy_strings_free(&o->texts);
}

/* ---- names of operators and ranges ----------------------------------------------------------- */

/* The length of the name in a range of emit_nvtx, "aten::mm, seq = 12, op_id = 7", whose number
 * becomes *sequence; the whole length for other texts. */
static uint32_t nvtx_name_length(struct hwy_text text, int64_t *sequence)
{
	static const char *const fields[] = {", seq = ", ", op_id = ", ", sizes = "};
	uint32_t length = text.length;
	for (unsigned i = 0; i < sizeof fields / sizeof *fields; i++) {
		const char *at = strstr(text.at, fields[i]);
		if (!at)
			continue;
		if (i == 0 && strspn(at + 8, "0123456789") < 19)
			*sequence = atoll(at + 8);
		length = (uint32_t)(at - text.at) < length ? (uint32_t)(at - text.at) : length;
	}
	return length;
}

static bool is_engine(struct hwy_text text)
{
	return text.length > strlen(ENGINE) && memcmp(text.at, ENGINE, strlen(ENGINE)) == 0;
}

static uint32_t line_of_frame(struct hwy_owners *o, const struct hwy_frame *frame)
{
	const struct hwy_trace *trace = o->trace;
	if (!frame || frame->line <= 0)
		return 0;
	const char *file = hwy_str(trace, frame->file);
	if (!*file && frame->flags > 0 && (frame->flags & HWY_FRAME_PYTHON))
		file = hwy_str(trace, frame->module);
	if (!*file)
		return 0;
	struct owner_line line = {
		.line = frame->line,
		.file = hwy_intern_z(&o->texts, file),
		.function = hwy_intern_z(&o->texts, hwy_str(trace, frame->function)),
	};
	return owners_put_line(o, line);
}

/* The line that calls the function of an HLO module, or 0. */
static uint32_t line_of_function(struct owner_names *names, struct hwy_text module)
{
	struct hwy_owners *o = names->owners;
	if (!names->nests.nests)
		nests_open(&names->nests, o->trace, HWY_KIND_BIT(HWY_RANGE));
	return line_of_frame(o, xla_line_of(&names->lines, &names->nests, module));
}

static struct owner_name name_of_xla(struct owner_names *names, struct hwy_text text,
				     const struct xla_range *range)
{
	struct hwy_owners *o = names->owners;
	char buffer[256];
	struct owner_name name = {.kind = OWNER_NAME_SCOPE, .sequence = -1};
	xla_label(text, buffer, sizeof buffer);
	name.text = hwy_intern_z(&o->texts, buffer);
	if (range->kind == XLA_THUNK) {
		name.kind = OWNER_NAME_OPERATOR;
		name.is_backward = xla_is_backward(range->path);
		xla_scope(range->path, buffer, sizeof buffer);
		name.module = hwy_intern_z(&o->texts, buffer);
	} else if (range->kind == XLA_EXECUTION || range->kind == XLA_COMPILE) {
		name.line = line_of_function(names, range->module);
	}
	return name;
}

static struct owner_name name_of_range(struct owner_names *names, struct hwy_text text)
{
	struct hwy_owners *o = names->owners;
	struct xla_range xla = xla_parse(text);
	struct owner_name name = {.kind = OWNER_NAME_SCOPE, .sequence = -1};
	if (xla.kind != XLA_NONE)
		return name_of_xla(names, text, &xla);
	uint32_t length = nvtx_name_length(text, &name.sequence);
	name.text = hwy_intern(&o->texts, text.at, length);
	if (length < text.length)
		name.kind = is_engine(text) ? OWNER_NAME_ENGINE : OWNER_NAME_OPERATOR;
	else if (text.length == 0 || mark_is_step(text))
		name.kind = OWNER_NAME_SKIPPED;
	return name;
}

static struct owner_name name_of_op(struct hwy_owners *o, struct hwy_text text)
{
	struct owner_name name = {.kind = OWNER_NAME_OPERATOR, .sequence = -1};
	name.text = hwy_intern(&o->texts, text.at, text.length);
	if (is_engine(text))
		name.kind = OWNER_NAME_ENGINE;
	else if (mark_is_scope(text.at))
		name.kind = mark_is_step(text) ? OWNER_NAME_SKIPPED : OWNER_NAME_SCOPE;
	return name;
}

const struct owner_name *owner_name_of(struct owner_names *names, int64_t text, bool is_mark)
{
	const struct hwy_trace *trace = names->owners->trace;
	if (text < 0 || text >= trace->strings.n)
		text = 0;
	uint32_t *number = &names->name_of[2 * (size_t)text + is_mark];
	if (*number == 0) {
		struct hwy_text name = hwy_text(trace, text);
		struct owner_name made =
			is_mark ? name_of_range(names, name) : name_of_op(names->owners, name);
		HWY_GROW(names->names, names->n, names->cap);
		names->names[names->n] = made;
		*number = ++names->n;
	}
	return &names->names[*number - 1];
}

/* ---- stacks and traced functions ------------------------------------------------------------- */

/* Sets module_of_stack. A caller's stack stands before those of its callees, so one pass
 * suffices. */
static void find_modules_of_stacks(struct owner_names *names)
{
	struct hwy_owners *o = names->owners;
	const struct hwy_trace *trace = o->trace;
	bool has_layers = false;
	for (uint32_t i = 0; i < trace->n_frames && !has_layers; i++)
		has_layers =
			trace->frames[i].flags > 0 && (trace->frames[i].flags & HWY_FRAME_LAYER);
	if (!has_layers)
		return;
	names->module_of_stack = hwy_zarray(trace->n_stacks, sizeof *names->module_of_stack);
	for (uint32_t i = 0; i < trace->n_stacks; i++) {
		const struct hwy_stack *stack = &trace->stacks[i];
		uint32_t caller, module = 0;
		if (hwy_ref_to_index(stack->parent, &caller) && caller < i)
			module = names->module_of_stack[caller];
		names->module_of_stack[i] = module;
		if (stack->frame < 0 || stack->frame >= trace->n_frames)
			continue;
		const struct hwy_frame *frame = &trace->frames[stack->frame];
		if (frame->flags <= 0 || !(frame->flags & HWY_FRAME_LAYER))
			continue;
		uint32_t type = hwy_intern_z(&o->texts, hwy_str(trace, frame->module));
		names->module_of_stack[i] =
			owners_put_path(o, module, hwy_text(trace, frame->function), type);
	}
}

struct owner_context owner_context_of_stack(struct owner_names *names, int64_t stack)
{
	struct hwy_owners *o = names->owners;
	struct owner_context context = {0, 0};
	uint32_t index;
	if (!hwy_ref_to_index(stack, &index) || index >= o->trace->n_stacks)
		return context;
	if (names->module_of_stack)
		context.module = names->module_of_stack[index];
	if (names->line_of_stack[index] == 0)
		names->line_of_stack[index] =
			hwy_ref32(line_of_frame(o, place_frame(o->trace, stack)));
	context.line = hwy_ref32_index(names->line_of_stack[index]);
	return context;
}

/* The line of a traced function of the user's own code ("train.py(23): step"); 0 for other
 * functions. */
static uint32_t line_of_traced(struct hwy_owners *o, const char *name)
{
	struct owner_line line = {0};
	size_t length;
	const char *function;
	if (!place_traced_function(name, &length, &line.line, &function) || line.line <= 0)
		return 0;
	uint32_t file = hwy_intern(&o->texts, name, length);
	if (place_is_library(owners_text(o, file)))
		return 0;
	line.file = file;
	line.function = hwy_intern_z(&o->texts, function);
	return owners_put_line(o, line);
}

struct owner_context owner_context_of_call(struct owner_names *names, struct owner_context context,
					   int64_t text)
{
	struct hwy_owners *o = names->owners;
	if (text <= 0 || text >= o->trace->strings.n)
		return context;
	struct hwy_text name = hwy_text(o->trace, text);
	uint32_t lead = (uint32_t)strlen(KINETO_MODULE);
	if (name.length > lead && memcmp(name.at, KINETO_MODULE, lead) == 0) {
		struct hwy_text path = {name.at + lead, name.length - lead};
		const char *number = strrchr(path.at, '_');
		uint32_t type = hwy_intern(&o->texts, path.at,
					   number ? (size_t)(number - path.at) : path.length);
		context.module = owners_put_path(o, context.module, path, type);
		return context;
	}
	if (names->line_of_call[text] == 0)
		names->line_of_call[text] = hwy_ref32(line_of_traced(o, name.at));
	uint32_t line = hwy_ref32_index(names->line_of_call[text]);
	context.line = line ? line : context.line;
	return context;
}

/* ---- opening, and texts for people ----------------------------------------------------------- */

void owner_names_open(struct owner_names *names, struct hwy_owners *owners)
{
	const struct hwy_trace *trace = owners->trace;
	*names = (struct owner_names){.owners = owners};
	names->name_of = hwy_zarray(2 * ((size_t)trace->strings.n + 1), sizeof *names->name_of);
	names->line_of_stack = hwy_zarray(trace->n_stacks, sizeof *names->line_of_stack);
	names->line_of_call = hwy_zarray(trace->strings.n, sizeof *names->line_of_call);
	find_modules_of_stacks(names);
}

void owner_names_close(struct owner_names *names)
{
	free(names->name_of);
	free(names->names);
	free(names->module_of_stack);
	free(names->line_of_stack);
	free(names->line_of_call);
	if (names->nests.nests)
		nests_close(&names->nests);
	xla_lines_free(&names->lines);
}

/* The last part of a module's path; "*" for a number, and the class alone for Kineto's class
 * with a number. */
static struct hwy_text part_without_number(const struct hwy_owners *owners,
					   const struct owner_module *module)
{
	struct hwy_text name = owners->texts.texts[module->name];
	uint32_t stem = name.length;
	while (stem && name.at[stem - 1] >= '0' && name.at[stem - 1] <= '9')
		stem--;
	if (stem == 0)
		return (struct hwy_text){"*", 1};
	struct hwy_text type = owners->texts.texts[module->type];
	bool is_class = type.length && stem == type.length + 1 && stem < name.length &&
			name.at[stem - 1] == '_' && memcmp(name.at, type.at, type.length) == 0;
	return is_class ? type : name;
}

static void write_path(const struct hwy_owners *owners, uint32_t module, bool numbers, char *into,
		       size_t size)
{
	uint32_t parts[64], n = 0;
	size_t length = 0;
	if (size)
		*into = '\0';
	for (; module && n < 64; module = owners->modules[module].outer)
		parts[n++] = module;
	while (n-- > 0 && length < size) {
		const struct owner_module *part = &owners->modules[parts[n]];
		struct hwy_text name = numbers ? owners->texts.texts[part->name]
					       : part_without_number(owners, part);
		int wrote = snprintf(into + length, size - length, "%s%.*s", length ? "." : "",
				     (int)name.length, name.at);
		length += wrote > 0 ? (size_t)wrote : 0;
	}
}

void owners_module_path(const struct hwy_owners *owners, uint32_t module, char *into, size_t size)
{
	write_path(owners, module, true, into, size);
}

void owners_module_label(const struct hwy_owners *owners, uint32_t module, char *into, size_t size)
{
	write_path(owners, module, false, into, size);
}

void owners_line_text(const struct hwy_owners *owners, uint32_t line, char *into, size_t size)
{
	const struct owner_line *at = &owners->lines[line];
	if (size)
		*into = '\0';
	if (!line)
		return;
	const char *function = owners_text(owners, at->function);
	bool is_plain = *function && !strpbrk(function, "(<");
	snprintf(into, size, "%s:%" PRId64 "%s%s%s", hwy_basename(owners_text(owners, at->file)),
		 at->line, *function ? " " : "", function, is_plain ? "()" : "");
}

uint32_t owners_outermost_op(const struct hwy_owners *owners, uint32_t chain)
{
	uint32_t found = 0;
	for (; chain; chain = owners->chain[chain].outer)
		if (owners->chain[chain].is_operator)
			found = chain;
	return found;
}

uint32_t owners_scope(const struct hwy_owners *owners, uint32_t chain)
{
	while (chain && owners->chain[chain].is_operator)
		chain = owners->chain[chain].outer;
	return chain;
}
