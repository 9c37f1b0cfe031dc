/* SPDX-License-Identifier: Apache-2.0 */
/* op_args.c - see op_args.h. Sizes are doubles from the start: a trace may hold any number, and
 * products of sizes must not overflow. */
#include "analyze/op_work/op_args.h"

#include <math.h>
#include <stdlib.h>

#include "base/json_read.h"

#define MOST_ELEMENTS 0x1p60
#define MOST_NUMBER 1e9

/* How the profiler spells types of elements: those of C++, and of c10 (2.x). */
static const struct {
	const char *name;
	double size;
	enum hwy_precision precision;
	bool is_floating, is_complex;
} types[] = {
	{"float", 4, HWY_FP32, true, false},
	{"double", 8, HWY_FP64, true, false},
	{"c10::Half", 2, HWY_FP16, true, false},
	{"c10::BFloat16", 2, HWY_BF16, true, false},
	{"c10::Float8_e4m3fn", 1, HWY_FP8, true, false},
	{"c10::Float8_e5m2", 1, HWY_FP8, true, false},
	{"c10::Float8_e4m3fnuz", 1, HWY_FP8, true, false},
	{"c10::Float8_e5m2fnuz", 1, HWY_FP8, true, false},
	{"c10::Float8_e8m0fnu", 1, HWY_FP8, true, false},
	{"c10::Float4_e2m1fn_x2", 1, HWY_FP4, true, false},
	{"signed char", 1, HWY_INT8, false, false},
	{"unsigned char", 1, HWY_INT8, false, false},
	{"bool", 1, HWY_FP32, false, false},
	{"short", 2, HWY_FP32, false, false},
	{"short int", 2, HWY_FP32, false, false},
	{"int", 4, HWY_FP32, false, false},
	{"unsigned int", 4, HWY_FP32, false, false},
	{"long", 8, HWY_FP32, false, false},
	{"long int", 8, HWY_FP32, false, false},
	{"unsigned long", 8, HWY_FP32, false, false},
	{"c10::complex<float>", 8, HWY_FP32, true, true},
	{"c10::complex<double>", 16, HWY_FP64, true, true},
	{"c10::complex<c10::Half>", 4, HWY_FP16, true, true},
};

static void op_args_read_type(struct op_input *input, const char *name)
{
	static const char *const values[] = {"Scalar", "ScalarList", "GenericList", "Int",
					     "Double", "Bool",       "Device",      NULL};
	if (strcmp(name, "TensorList") == 0) {
		input->kind = OP_INPUT_LIST;
		return;
	}
	for (unsigned i = 0; values[i]; i++)
		if (strcmp(name, values[i]) == 0)
			input->kind = OP_INPUT_VALUE;
	for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
		if (strcmp(name, types[i].name) != 0)
			continue;
		input->kind = OP_INPUT_TENSOR;
		input->size = types[i].size;
		input->precision = types[i].precision;
		input->is_floating = types[i].is_floating;
		input->is_complex = types[i].is_complex;
	}
}

static double op_args_number(const struct json_value *value)
{
	return value->type == JSON_NUMBER ? strtod(value->text, NULL) : 0;
}

/* Elements of a tensor whose sizes are in the array; its sizes go to 'dims', which may be NULL. */
static double op_args_read_sizes(const struct json_value *sizes, double *dims, uint32_t *n)
{
	double elements = 1;
	*n = 0;
	for (const struct json_value *one = sizes->first; one; one = one->next) {
		double size = op_args_number(one);
		size = size >= 0 && size <= MOST_ELEMENTS ? size : 0;
		elements *= size;
		if (dims && *n < OP_ARGS_DIMS)
			dims[(*n)++] = size;
	}
	/* A tensor of more elements fits no memory: the trace is damaged, and the tensor counts
	 * as empty. */
	return elements <= MOST_ELEMENTS ? elements : 0;
}

static void op_args_read_dims(struct op_input *input, const struct json_value *sizes)
{
	uint32_t n;
	if (sizes->type != JSON_ARRAY)
		return;
	/* PyTorch leaves the sizes of a list of more than 30 tensors out. */
	if (input->kind == OP_INPUT_LIST && !sizes->first)
		return;
	if (!sizes->first || sizes->first->type != JSON_ARRAY) {
		input->elements = op_args_read_sizes(sizes, input->dims, &input->n_dims);
		/* A tensor with more dimensions than there is room for is not described. */
		if (sizes->n > OP_ARGS_DIMS)
			input->kind = OP_INPUT_NONE;
		return;
	}
	input->kind = OP_INPUT_LIST;
	for (const struct json_value *one = sizes->first; one; one = one->next)
		input->elements += op_args_read_sizes(one, NULL, &n);
	input->dims[0] = sizes->n;
}

static void op_args_read_strides(struct op_input *input, const struct json_value *strides)
{
	uint32_t d = 0;
	input->stored = input->elements;
	if (!strides || strides->type != JSON_ARRAY || input->kind != OP_INPUT_TENSOR)
		return;
	input->stored = 1;
	for (const struct json_value *one = strides->first; one && d < input->n_dims;
	     one = one->next, d++)
		if (one->type != JSON_NUMBER || op_args_number(one) != 0)
			input->stored *= input->dims[d];
	for (; d < input->n_dims; d++)
		input->stored *= input->dims[d];
}

static const struct json_value *op_args_first(const struct json_value *root, const char *key)
{
	const struct json_value *list = json_get(root, key);
	return list && list->type == JSON_ARRAY ? list->first : NULL;
}

static const struct json_value *op_args_next(const struct json_value *value)
{
	return value ? value->next : NULL;
}

bool op_args_read(struct op_args *args, struct hwy_arena *arena, const char *text, size_t length)
{
	struct hwy_err err = {0};
	const struct json_value *root = length ? json_read(arena, text, length, &err) : NULL;
	*args = (struct op_args){0};
	const struct json_value *dims = op_args_first(root, "Input Dims");
	if (!dims)
		dims = op_args_first(root, "Input dims");
	const struct json_value *type = op_args_first(root, "Input type"),
				*strides = op_args_first(root, "Input Strides"),
				*value = op_args_first(root, "Concrete Inputs");
	args->has_values = value != NULL;
	args->has_strides = strides != NULL;
	for (; dims && args->n < OP_ARGS_INPUTS; dims = dims->next) {
		struct op_input *input = &args->inputs[args->n++];
		input->value = value && value->type == JSON_TEXT ? value->text : "";
		if (type && type->type == JSON_TEXT)
			op_args_read_type(input, type->text);
		op_args_read_dims(input, dims);
		op_args_read_strides(input, strides);
		type = op_args_next(type);
		strides = op_args_next(strides);
		value = op_args_next(value);
	}
	return args->n > 0;
}

struct hwy_text op_args_shapes(struct hwy_text arguments)
{
	static const char *const keys[] = {
		"\"Input Dims\":", "\"Input dims\":", "\"Input Shapes\":"};
	const char *at = NULL;
	for (unsigned i = 0; i < 3 && !at; i++) {
		at = memmem(arguments.at, arguments.length, keys[i], strlen(keys[i]));
		at = at ? at + strlen(keys[i]) : NULL;
	}
	if (!at)
		return (struct hwy_text){"", 0};
	const char *end = arguments.at + arguments.length;
	while (at < end && *at == ' ')
		at++;
	bool quoted = false;
	int depth = 0;
	for (const char *c = at; c < end; c++) {
		if (*c == '\\' && quoted) {
			c++;
		} else if (*c == '"') {
			quoted = !quoted;
		} else if (!quoted && (*c == '[' || *c == '{')) {
			depth++;
		} else if (!quoted && (*c == ']' || *c == '}') && --depth <= 0) {
			return (struct hwy_text){at, (uint32_t)(c + (depth == 0) - at)};
		} else if (!quoted && depth == 0 && *c == ',') {
			return (struct hwy_text){at, (uint32_t)(c - at)};
		}
	}
	return (struct hwy_text){at, (uint32_t)(end - at)};
}

const struct op_input *op_args_get(const struct op_args *args, int index)
{
	static const struct op_input none = {.value = ""};
	return index >= 0 && (uint32_t)index < args->n ? &args->inputs[index] : &none;
}

uint32_t op_args_numbers(const struct op_args *args, int index, double *into, uint32_t most)
{
	const char *at = op_args_get(args, index)->value;
	uint32_t n = 0;
	while (n < most) {
		at += strcspn(at, "-0123456789");
		char *end;
		double number = strtod(at, &end);
		/* Strides, dimensions and the like are small: what is not ("-inf", "-nan") is no
		 * list of them. */
		if (end == at || !(fabs(number) <= MOST_NUMBER))
			break;
		into[n++] = number;
		at = end;
	}
	return n;
}

bool op_args_flag(const struct op_args *args, int index, bool otherwise)
{
	const char *value = op_args_get(args, index)->value;
	return *value ? strcmp(value, "True") == 0 || strcmp(value, "1") == 0 : otherwise;
}
