/* SPDX-License-Identifier: Apache-2.0 */
/* roofline_shapes.c - points from the shapes of operators (roofline.h).
 *
 * Device work belongs to the innermost operator around its launch whose work is known
 * (op_work/). All work of one call of an operator is one use: its time is the operator's. Copies
 * between host and device are no matter of a roofline: a call that makes one has no point.
 *
 * Which of a call's kernels did the arithmetic, where there are several (a product and the sum
 * of its parts, transpositions before a convolution)? The longest, if it took most of the time
 * (MAIN_SHARE); both of the longest, half each, for a convolution's backward. Else the kernels
 * have no point, only the operator. Launches of one name share by their times.
 *
 * A node of a CUDA graph belongs to the call that captured it. The call's work is done again at
 * each replay, so it counts as often as the call's first node ran.
 */
#include <math.h>
#include <stdlib.h>

#include "analyze/kernel_math.h"
#include "analyze/op_work/op_settle.h"
#include "analyze/roofline.h"
#include "base/hash.h"

#define MAIN_SHARE 0.66
enum { OUTER_MOST = 8, NAMES_MOST = 16 };

struct use { /* a piece of device work, and the call of an operator that it belongs to */
	uint32_t op, span; /* span ids */
	const struct op_model *model;
};
struct known { /* what is known of an operator's name and arguments */
	struct op_work work;
	uint32_t shapes; /* id of a text in shapes.texts */
	bool is_known;
};
struct sum_key { /* no padding */
	int64_t kind, device;
	int64_t name; /* of a kernel: text id of the trace; of an operator: of shapes.texts */
	int64_t shapes, precision, tensor; /* of operators; a kernel has one point for its name */
};
struct sum {
	struct sum_key key;
	uint32_t count, span;
	int64_t ns, longest;
	double flop, bytes;
	double occupancy, waves, filled; /* times ns */
	bool is_shortcut;
	struct kernel_math math; /* of the longest launch */
};
struct part { /* kernels of one name in one call */
	int64_t name, ns;
	uint32_t n, span; /* the longest */
	int64_t longest;
};
struct shapes {
	struct hwy_trace *trace;
	const struct hwy_owners *owners;
	struct hwy_owners own_owners; /* where the caller has none */
	struct roofline_options options;
	/* By text id: the model of an operator of that name, or NULL, and the name alone, as an
	 * id of 'texts'; valid where has_model is set. */
	const struct op_model **models;
	uint32_t *names;
	uint8_t *has_model;
	struct use *uses;
	uint32_t n_uses, cap_uses;
	struct hwy_map known_of; /* (name << 32 | arguments) -> index in 'known' */
	struct known *known;
	uint32_t n_known, cap_known;
	struct op_results results; /* of convolutions */
	struct hwy_strings texts;  /* shapes, and names of operators */
	struct hwy_index sum_of;
	struct sum *sums;
	uint32_t n_sums, cap_sums;
};

/* ---- whose work it is ------------------------------------------------------------------------ */

/* Ranges that torch.autograd.profiler.emit_nvtx makes are operators, too: "aten::mm, op_id = 7,
 * sizes = [[3, 5], [5, 7]]". */
#define NVTX_SIZES ", sizes = "

static const struct op_model *shapes_model(struct shapes *s, int64_t name)
{
	if (name < 0 || name >= s->trace->strings.n)
		return NULL;
	if (!s->has_model[name]) {
		struct hwy_text text = hwy_text(s->trace, name);
		const char *comma = memmem(text.at, text.length, ", ", 2);
		s->has_model[name] = 1;
		s->names[name] = hwy_intern(&s->texts, text.at,
					    comma ? (uint32_t)(comma - text.at) : text.length);
		s->models[name] = op_work_model(s->texts.texts[s->names[name]].at);
	}
	return s->models[name];
}

/* The innermost operator with a model, from 'op' (a reference to a span) outward; 0: none. */
static uint32_t shapes_modelled(struct shapes *s, uint32_t op, const struct op_model **model)
{
	uint32_t inner = 0;
	for (unsigned depth = 0; hwy_ref32_is_set(op) && depth < OUTER_MOST; depth++) {
		uint32_t row;
		const struct hwy_strip *strip = hwy_strip_of(s->trace, hwy_ref32_index(op), &row);
		const struct op_model *found = shapes_model(s, hwy_get(strip, HWY_NAME, row));
		if (found && !(inner && op_work_yields(found))) {
			*model = found;
			inner = op;
			if (!op_work_yields(found))
				return op;
		}
		const uint32_t *outer = s->owners->op_of[strip - s->trace->strips];
		op = outer ? outer[row] : 0;
	}
	return inner;
}

static bool shapes_keeps(const struct shapes *s, const struct hwy_strip *strip, uint32_t row)
{
	const struct roofline_options *options = &s->options;
	int64_t start = hwy_get(strip, HWY_START, row);
	return (options->from == options->to || (start >= options->from && start < options->to)) &&
	       (!options->keeps || options->keeps(options->self, strip, row));
}

/* The time of all kernels that count, of each device: shares are of it. */
static void shapes_count_kernels(const struct shapes *s, struct hwy_roofline *roofline)
{
	for (uint32_t i = 0; i < roofline->n_devices; i++)
		roofline->devices[i].kernel_ns = 0;
	for (uint32_t i = 0; i < s->trace->n_strips; i++) {
		const struct hwy_strip *strip = &s->trace->strips[i];
		int64_t device = s->trace->lanes[strip->lane].device;
		struct roofline_device *of =
			strip->kind == HWY_KERNEL && device >= 0 && device < s->trace->n_devices
				? roofline_device_of(roofline, (uint32_t)device)
				: NULL;
		for (uint32_t row = 0; of && row < strip->rows; row++)
			if (shapes_keeps(s, strip, row))
				of->kernel_ns += hwy_get(strip, HWY_DUR, row);
	}
}

static void shapes_collect(struct shapes *s, const struct hwy_strip *strip)
{
	const uint32_t *op_of = s->owners->op_of[strip - s->trace->strips];
	for (uint32_t row = 0; op_of && row < strip->rows; row++) {
		const struct op_model *model = NULL;
		if (!shapes_keeps(s, strip, row) || owners_of(s->owners, strip, row)->is_replayed)
			continue;
		uint32_t op = shapes_modelled(s, op_of[row], &model);
		if (!hwy_ref32_is_set(op))
			continue;
		HWY_GROW(s->uses, s->n_uses, s->cap_uses);
		s->uses[s->n_uses++] = (struct use){hwy_ref32_index(op), strip->first + row, model};
	}
}

static int use_by_op(const void *left, const void *right)
{
	const struct use *a = left, *b = right;
	if (a->op != b->op)
		return a->op < b->op ? -1 : 1;
	return (a->span > b->span) - (a->span < b->span);
}

/* ---- what one call did ----------------------------------------------------------------------- */

struct call {
	struct op_work work;
	int64_t name, shapes; /* ids of texts in shapes.texts */
	int64_t device, ns;
	uint32_t runs;
	struct part parts[NAMES_MOST], *longest; /* kernels by name; the longest name first */
	uint32_t n_parts;
	struct kernel_math math;
	bool is_shortcut;
};

/* Profilers differ in the white space that they write: "[[64,768]]" becomes "[[64, 768]]". */
static uint32_t shapes_intern(struct shapes *s, struct hwy_text text)
{
	char *plain = hwy_array((size_t)text.length * 2 + 1, 1);
	uint32_t length = 0;
	for (uint32_t i = 0; i < text.length; i++) {
		if (strchr(" \n\t\r", text.at[i]))
			continue;
		plain[length++] = text.at[i];
		if (text.at[i] == ',')
			plain[length++] = ' ';
	}
	uint32_t id = hwy_intern(&s->texts, plain, length);
	free(plain);
	return id;
}

/* The arguments of a range of emit_nvtx as a profiler would write them. The types are not
 * recorded. */
static struct hwy_text shapes_of_range(struct hwy_arena *arena, struct hwy_text name)
{
	const char *sizes = memmem(name.at, name.length, NVTX_SIZES, strlen(NVTX_SIZES));
	if (!sizes)
		return (struct hwy_text){"", 0};
	sizes += strlen(NVTX_SIZES);
	int length = (int)(name.at + name.length - sizes), depth = 0, inputs = 0;
	for (int i = 0; i < length; i++) {
		inputs += sizes[i] == '[' && depth == 1;
		depth += (sizes[i] == '[') - (sizes[i] == ']');
	}
	char *types = hwy_arena_array(arena, (size_t)inputs + 1, sizeof "\"float\","), *to = types;
	for (int i = 0; i < inputs; i++)
		to = stpcpy(to, i ? ",\"float\"" : "\"float\"");
	const char *text = hwy_arena_format(arena, "{\"Input Dims\": %.*s, \"Input type\": [%s]}",
					    length, sizes, types);
	return (struct hwy_text){text, (uint32_t)strlen(text)};
}

static const struct known *shapes_known(struct shapes *s, const struct op_model *model,
					int64_t name, int64_t arguments)
{
	bool fresh;
	uint32_t *index = hwy_map_put(&s->known_of,
				      (uint64_t)(uint32_t)name << 32 | (uint32_t)arguments, &fresh);
	if (fresh) {
		struct hwy_text text = hwy_text(s->trace, arguments);
		struct hwy_arena arena = {0};
		struct op_args args;
		bool is_range = text.length == 0;
		if (is_range)
			text = shapes_of_range(&arena, hwy_text(s->trace, name));
		HWY_GROW(s->known, s->n_known, s->cap_known);
		struct known *known = &s->known[s->n_known];
		*known = (struct known){0};
		known->is_known = op_args_read(&args, &arena, text.at, text.length) &&
				  op_work_find(&known->work, model, &args);
		known->work.assumes_fp32 |= is_range;
		known->shapes = shapes_intern(s, op_args_shapes(text));
		hwy_arena_free(&arena);
		if (known->is_known)
			op_results_learn(&s->results, &known->work);
		*index = s->n_known++;
	}
	return &s->known[*index];
}

static bool call_add_kernel(struct call *call, int64_t name, int64_t ns, uint32_t span)
{
	uint32_t p = 0;
	while (p < call->n_parts && call->parts[p].name != name)
		p++;
	if (p == NAMES_MOST)
		return false;
	if (p == call->n_parts)
		call->parts[call->n_parts++] = (struct part){.name = name, .longest = -1};
	struct part *part = &call->parts[p];
	part->ns += ns;
	part->n++;
	if (ns > part->longest) {
		part->longest = ns;
		part->span = span;
	}
	return true;
}

static int part_by_time(const void *left, const void *right)
{
	const struct part *a = left, *b = right;
	if (a->ns != b->ns)
		return a->ns < b->ns ? 1 : -1;
	return (a->name > b->name) - (a->name < b->name);
}

/* Sums the uses of one call; false where a part of them is no work of the device alone. */
static bool call_gather(struct call *call, const struct hwy_trace *trace, const struct use *uses,
			uint32_t n)
{
	int64_t first_node = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t row;
		const struct hwy_strip *strip = hwy_strip_of(trace, uses[i].span, &row);
		int64_t ns = hwy_get(strip, HWY_DUR, row), node = 0;
		if (strip->kind == HWY_COPY) {
			int64_t direction = hwy_get(strip, HWY_DIRECTION, row);
			if (direction != HWY_D2D && direction != HWY_P2P)
				return false;
		} else if (strip->kind == HWY_KERNEL) {
			node = hwy_get(strip, HWY_GRAPH_NODE, row);
			if (!call_add_kernel(call, hwy_get(strip, HWY_NAME, row), ns, uses[i].span))
				return false;
		}
		call->device = trace->lanes[strip->lane].device;
		call->ns += ns;
		first_node = first_node ? first_node : node;
		call->runs += node && node == first_node;
	}
	call->runs = call->runs ? call->runs : 1;
	qsort(call->parts, call->n_parts, sizeof *call->parts, part_by_time);
	return call->device >= 0 && call->device < trace->n_devices && call->ns > 0;
}

/* Where the types of inputs are not recorded: the type is that of the kernel's functor or of its
 * instructions, or only its size in bytes ("OpaqueType<2u>"). */
static void call_correct_type(struct op_work *work, const char *kernel)
{
	static const char *const bf16[] = {"bfloat16", "bf16", "nvjet_tst", "nvjet_sm90_tst", NULL};
	static const char *const half[] = {"half",  "f16",  "fp16", "hgemm", "h16816",
					   "h1688", "h884", "_hsh", NULL};
	if (!work->assumes_fp32)
		return;
	const char *opaque = strstr(kernel, "OpaqueType<");
	double size = opaque ? strtod(opaque + strlen("OpaqueType<"), NULL) : 4;
	for (unsigned i = 0; bf16[i] && size == 4; i++)
		if (strcasestr(kernel, bf16[i])) {
			size = 2;
			work->precision = HWY_BF16;
		}
	for (unsigned i = 0; half[i] && size == 4; i++)
		if (strcasestr(kernel, half[i])) {
			size = 2;
			work->precision = HWY_FP16;
		}
	if (size >= 1 && size <= 16)
		work->bytes *= size / 4;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static struct sum *shapes_sum(struct shapes *s, const struct sum_key *key)
{
	bool fresh;
	uint32_t *index = hwy_index_put_element(&s->sum_of, s->sums, sizeof *s->sums, key,
						sizeof *key, &fresh);
	if (fresh) {
		HWY_GROW(s->sums, s->n_sums, s->cap_sums);
		*index = s->n_sums;
		s->sums[s->n_sums++] = (struct sum){.key = *key, .longest = -1};
	}
	return &s->sums[*index];
}

static void sum_add(struct shapes *s, const struct sum_key *key, const struct call *call,
		    const struct part *part, double share, uint32_t count, int64_t ns)
{
	struct sum *sum = shapes_sum(s, key);
	sum->count += count;
	sum->ns += ns;
	sum->flop += share * call->work.flop * call->runs;
	sum->bytes += share * call->work.bytes * call->runs;
	sum->is_shortcut |= call->is_shortcut;
	if (sum->count == count)
		sum->math = call->math;
	if (!part)
		return;
	struct hwy_occupancy occupancy;
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(s->trace, part->span, &row);
	if (occupancy_find(&occupancy, &s->trace->devices[call->device],
			   hwy_get_shape(s->trace, strip, row))) {
		sum->occupancy += occupancy.share * (double)ns;
		sum->waves += occupancy.waves * (double)ns;
		sum->filled += occupancy.filled * (double)ns;
	}
	if (part->longest > sum->longest) {
		sum->longest = part->longest;
		sum->span = part->span;
		sum->math = call->math;
	}
}

/* How many names of kernels, the longest first, did the arithmetic; 0: cannot tell. */
static uint32_t call_main_parts(const struct call *call)
{
	int64_t total = 0, main = 0;
	uint32_t n = call->work.parts < call->n_parts ? call->work.parts : call->n_parts;
	for (uint32_t p = 0; p < call->n_parts; p++)
		total += call->parts[p].ns;
	for (uint32_t p = 0; p < n; p++)
		main += call->parts[p].ns;
	return (double)main >= MAIN_SHARE * (double)total ? n : 0;
}

/* Kernels of convolutions that compute less than the definition says. */
static bool call_is_shortcut(const struct call *call, const struct hwy_trace *trace)
{
	for (uint32_t p = 0; call->work.family == OP_FAMILY_CONVOLUTION && p < call->n_parts; p++) {
		const char *name = hwy_str(trace, call->parts[p].name);
		if (strcasestr(name, "winograd") || strcasestr(name, "fft"))
			return true;
	}
	return false;
}

static void shapes_add_call(struct shapes *s, struct call *call)
{
	struct sum_key key = {.kind = ROOFLINE_OPERATOR,
			      .device = call->device,
			      .name = call->name,
			      .shapes = call->shapes};
	const char *kernel = call->n_parts ? hwy_str(s->trace, call->parts[0].name) : "";
	if (!op_settle(&call->work, &s->results, kernel))
		return;
	call_correct_type(&call->work, kernel);
	call->is_shortcut = call_is_shortcut(call, s->trace);
	call->math = call->work.is_matrix ? kernel_math_find(kernel, call->work.precision)
					  : (struct kernel_math){call->work.precision, false, true};
	key.precision = call->math.precision;
	key.tensor = call->math.tensor;
	sum_add(s, &key, call, call->n_parts ? &call->parts[0] : NULL, 1, call->runs, call->ns);
	key = (struct sum_key){.kind = ROOFLINE_KERNEL, .device = call->device};
	uint32_t n = call_main_parts(call);
	for (uint32_t p = 0; p < n; p++) {
		const struct part *part = &call->parts[p];
		key.name = part->name;
		sum_add(s, &key, call, part, 1.0 / n, part->n, part->ns);
	}
}

/* What is known of the operator of a use: its work, or what of it is open. */
static const struct known *shapes_of_use(struct shapes *s, const struct use *use, int64_t *name)
{
	uint32_t row;
	const struct hwy_strip *strip = hwy_strip_of(s->trace, use->op, &row);
	*name = hwy_get(strip, HWY_NAME, row);
	return shapes_known(s, use->model, *name, hwy_get(strip, HWY_ARGS, row));
}

static void shapes_sum_calls(struct shapes *s)
{
	int64_t name;
	if (s->n_uses)
		qsort(s->uses, s->n_uses, sizeof *s->uses, use_by_op);
	/* Calls of backward tell what those of forward leave open, and stand behind them. */
	for (uint32_t i = 0; i < s->n_uses; i++)
		shapes_of_use(s, &s->uses[i], &name);
	for (uint32_t i = 0, end; i < s->n_uses; i = end) {
		for (end = i; end < s->n_uses && s->uses[end].op == s->uses[i].op;)
			end++;
		struct call call = {0};
		const struct known *known = shapes_of_use(s, &s->uses[i], &call.name);
		if (!known->is_known || !call_gather(&call, s->trace, &s->uses[i], end - i))
			continue;
		call.work = known->work;
		call.name = s->names[call.name];
		call.shapes = known->shapes;
		shapes_add_call(s, &call);
	}
}

/* ---- points ---------------------------------------------------------------------------------- */

/* Products of fp32 whose kernel does not tell: what is faster than the ordinary units ran on
 * tensor cores. Units that a device does not have did not do it. */
static void point_settle_precision(struct roofline_point *point, const struct sum *sum,
				   const struct hwy_peaks *peaks)
{
	double rate = sum->ns ? sum->flop / ((double)sum->ns * 1e-9) : 0;
	if (!sum->math.is_told && point->precision == HWY_FP32 && peaks->plain[HWY_FP32] > 0 &&
	    rate > peaks->plain[HWY_FP32] && peaks->tensor[HWY_TF32] > 0) {
		point->precision = HWY_TF32;
		point->tensor = true;
	}
	if (point->precision == HWY_FP32 && !point->tensor && peaks->tensor[HWY_FP32] > 0 &&
	    !sum->math.is_told)
		point->tensor = true; /* AMD's matrix cores take fp32 as it is */
	if (point->tensor && peaks->tensor[point->precision] <= 0 &&
	    peaks->plain[point->precision] > 0)
		point->tensor = false;
}

static void shapes_add_points(struct shapes *s, struct hwy_roofline *roofline)
{
	for (uint32_t i = 0; i < s->n_sums; i++) {
		const struct sum *sum = &s->sums[i];
		struct roofline_point point = {
			.kind = (enum roofline_kind)sum->key.kind,
			.source = ROOFLINE_SHAPES,
			.name = sum->key.kind == ROOFLINE_OPERATOR
					? s->texts.texts[sum->key.name].at
					: hwy_str(s->trace, sum->key.name),
			.device = (uint32_t)sum->key.device,
			.count = sum->count,
			.ns = sum->ns,
			.flop = sum->flop,
			.bytes = sum->bytes,
			.precision = sum->math.precision,
			.tensor = sum->math.tensor,
			.is_shortcut = sum->is_shortcut,
			.occupancy = sum->ns ? sum->occupancy / (double)sum->ns : 0,
			.waves = sum->ns ? sum->waves / (double)sum->ns : 0,
			.filled = sum->ns ? sum->filled / (double)sum->ns : 0,
			.span = sum->longest >= 0 ? sum->span : ROOFLINE_NO_SPAN,
		};
		struct roofline_device *device = roofline_device_of(roofline, point.device);
		if (point.kind == ROOFLINE_OPERATOR)
			point.shapes = s->texts.texts[sum->key.shapes].at;
		if (device) {
			point_settle_precision(&point, sum, &device->peaks);
			device->known_ns += point.kind == ROOFLINE_KERNEL ? point.ns : 0;
		}
		roofline_add(roofline, &point);
	}
}

static void shapes_free(struct shapes *s)
{
	if (s->owners == &s->own_owners)
		owners_close(&s->own_owners);
	free(s->models);
	free(s->names);
	free(s->has_model);
	free(s->uses);
	free(s->known);
	free(s->sums);
	op_results_free(&s->results);
	hwy_strings_free(&s->texts);
	hwy_map_free(&s->known_of);
	hwy_index_free(&s->sum_of);
}

bool roofline_from_shapes(struct hwy_roofline *roofline, struct hwy_trace *trace,
			  const struct roofline_options *options, struct hwy_err *err)
{
	const uint32_t kinds =
		HWY_KIND_BIT(HWY_KERNEL) | HWY_KIND_BIT(HWY_COPY) | HWY_KIND_BIT(HWY_FILL);
	struct shapes s = {.trace = trace};
	if (options)
		s.options = *options;
	bool ok = roofline_open(roofline, trace, err) &&
		  hwy_need(trace, HWY_KIND_BIT(HWY_OP),
			   HWY_COL_BIT(HWY_NAME) | HWY_COL_BIT(HWY_ARGS), err) &&
		  hwy_need(trace, kinds,
			   HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME) |
				   HWY_COL_BIT(HWY_SHAPE) | HWY_COL_BIT(HWY_DIRECTION) |
				   HWY_COL_BIT(HWY_GRAPH_NODE),
			   err) &&
		  (s.options.owners || owners_open(&s.own_owners, trace, NULL, 0, err));
	if (!ok) {
		roofline_free(roofline);
		return false;
	}
	s.owners = s.options.owners ? s.options.owners : &s.own_owners;
	hwy_strings_init(&s.texts);
	s.models = hwy_zarray(trace->strings.n, sizeof *s.models);
	s.names = hwy_zarray(trace->strings.n, sizeof *s.names);
	s.has_model = hwy_zarray(trace->strings.n, 1);
	for (uint32_t i = 0; i < trace->n_strips; i++)
		if (HWY_KIND_BIT(trace->strips[i].kind) & kinds)
			shapes_collect(&s, &trace->strips[i]);
	if (s.options.from != s.options.to || s.options.keeps)
		shapes_count_kernels(&s, roofline);
	shapes_sum_calls(&s);
	shapes_add_points(&s, roofline);
	roofline_sort(roofline);
	shapes_free(&s);
	return true;
}
