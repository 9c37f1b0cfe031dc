/* SPDX-License-Identifier: Apache-2.0 */
/* torch_inputs.c - the shapes and types of an operator's inputs, as PyTorch's own profiler finds
 * them.
 *
 * libtorch's functions yield std::vector<std::vector<int64_t>> and std::vector<std::string>:
 * vectors are three pointers, and a std::string is a pointer, a length, and 16 bytes in which a
 * short text lies. What they hold is given back by the program's operator delete.
 */
#include "collect/torch/torch_inputs.h"

#include <string.h>

#include "collect/collect.h"

enum { MOST_BYTES = 2048 }; /* of one operator's text; a list that is longer is cut */

struct vector {
	char *begin, *end, *room;
};
struct string {
	char *text;
	size_t length;
	char local[16];
};

/* Both yield their vector through the first argument. */
static void *(*input_sizes)(struct vector *into, const void *function, bool flatten);
static void *(*input_types)(struct vector *into, const void *function);
static void (*delete)(void *);

static void find_once(void *function, const struct elf_object *object, const char *name)
{
	uint64_t at;
	memcpy(&at, function, sizeof at);
	if (!at)
		at = elf_symbols_find(object, name);
	memcpy(function, &at, sizeof at);
}

void torch_inputs_look_at_object(const struct elf_object *object)
{
	find_once(&input_sizes, object,
		  "_ZN5torch8profiler4impl10inputSizesERKN2at14RecordFunctionEb");
	find_once(&input_types, object,
		  "_ZN5torch8profiler4impl10inputTypesB5cxx11ERKN2at14RecordFunctionE");
	find_once(&delete, object, "_ZdlPv");
}

bool torch_inputs_are_found(void)
{
	return input_sizes && delete;
}

/* ---- text ------------------------------------------------------------------------------------ */

struct line {
	size_t length;
	char text[MOST_BYTES];
};

/* Appends as much of a text as fits; room for the brackets at the end is kept. */
static void line_add(struct line *line, const char *text, size_t length)
{
	if (line->length + length > MOST_BYTES - 8)
		return;
	memcpy(line->text + line->length, text, length);
	line->length += length;
}

static void line_add_number(struct line *line, int64_t number)
{
	char digits[24];
	size_t at = sizeof digits;
	uint64_t rest = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
	do
		digits[--at] = (char)('0' + rest % 10);
	while (rest /= 10);
	if (number < 0)
		digits[--at] = '-';
	line_add(line, digits + at, sizeof digits - at);
}

static void add_sizes(struct line *line, const void *function)
{
	struct vector all = {0};
	input_sizes(&all, function, false);
	for (struct vector *one = (void *)all.begin; (char *)one < all.end; one++) {
		line_add(line, (char *)one == all.begin ? "[" : ",[",
			 (char *)one == all.begin ? 1 : 2);
		for (int64_t *size = (void *)one->begin; (char *)size < one->end; size++) {
			if ((char *)size != one->begin)
				line_add(line, ",", 1);
			line_add_number(line, *size);
		}
		line_add(line, "]", 1);
		if (one->begin)
			delete (one->begin);
	}
	if (all.begin)
		delete (all.begin);
}

static void add_types(struct line *line, const void *function)
{
	struct vector all = {0};
	input_types(&all, function);
	for (struct string *one = (void *)all.begin; (char *)one < all.end; one++) {
		line_add(line, (char *)one == all.begin ? "\"" : ",\"",
			 (char *)one == all.begin ? 1 : 2);
		/* A type is a word of C++; a text that is none would spoil the list. */
		if (!memchr(one->text, '"', one->length) && !memchr(one->text, '\\', one->length))
			line_add(line, one->text, one->length);
		line_add(line, "\"", 1);
		if (one->text != one->local)
			delete (one->text);
	}
	if (all.begin)
		delete (all.begin);
}

uint32_t torch_inputs_text(const void *function)
{
	static const char dims[] = "{\"Input Dims\":[", types[] = "],\"Input type\":[",
			  end[] = "]}";
	struct line line = {.length = 0};
	line_add(&line, dims, sizeof dims - 1);
	add_sizes(&line, function);
	if (input_types) {
		line_add(&line, types, sizeof types - 1);
		add_types(&line, function);
	}
	memcpy(line.text + line.length, end, sizeof end - 1);
	return collect_string(line.text, line.length + sizeof end - 1);
}
