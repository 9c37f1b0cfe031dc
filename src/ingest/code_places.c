/* SPDX-License-Identifier: Apache-2.0 */
/* code_places.c - see code_places.h. */
#include "ingest/code_places.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/mem.h"
#include "ingest/binaries.h"
#include "ingest/symbol_names.h"

struct place_key { /* a key of code_places.place_of, so it must have no padding */
	const struct binary *binary;
	uint64_t offset;
};

struct code_places {
	struct binaries *binaries;
	struct hwy_index place_of; /* maps a struct place_key to an index into 'list' */
	struct code_place **list;
	uint32_t n, cap;
	struct code_place nowhere; /* the place of code that is in no module */
	struct hwy_arena memory;   /* holds the places and their texts */
};

struct code_places *code_places_open(struct binaries *binaries)
{
	struct code_places *places = hwy_zalloc(sizeof *places);
	places->binaries = binaries;
	return places;
}

void code_places_close(struct code_places *places)
{
	if (!places)
		return;
	free(places->list);
	hwy_index_free(&places->place_of);
	hwy_arena_free(&places->memory);
	free(places);
}

static bool is_interpreter(const char *function)
{
	static const char *const names[] = {"_PyEval_EvalFrame", "PyEval_EvalFrame", "_TAIL_CALL_"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strncmp(function, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static const char *keep_text(struct code_places *places, const char *text)
{
	return hwy_arena_text(&places->memory, text, strlen(text));
}

static void find_function(struct code_places *places, struct code_place *place)
{
	const char *name = binaries_function(places->binaries, place->binary, place->offset);
	if (!name)
		return;
	char *demangled = symbol_names_demangle(name);
	place->function = keep_text(places, demangled ? demangled : name);
	place->interpreter = is_interpreter(name);
	free(demangled);
}

struct code_place *code_places_find(struct code_places *places, struct binary *binary,
				    uint64_t offset)
{
	if (!binary || !*binaries_path(binary))
		return &places->nowhere;
	bool fresh;
	struct place_key key = {binary, offset};
	uint32_t *index = hwy_index_put(&places->place_of, &key, sizeof key, &fresh);
	if (!fresh)
		return places->list[*index];
	struct code_place *place = hwy_arena_alloc(&places->memory, sizeof *place);
	*index = places->n;
	HWY_GROW(places->list, places->n, places->cap);
	places->list[places->n++] = place;
	*place = (struct code_place){
		.module = binaries_path(binary), .binary = binary, .offset = offset};
	find_function(places, place);
	return place;
}

/* For every kernel nvcc makes a host function that calls the launch stub. Its line is the line of
 * the kernel, and it is inlined where the kernel is launched: there the line of the call is the one
 * that a user looks for. */
static bool is_stub(const struct code_place *place)
{
	return place && place->function && strstr(place->function, "__device_stub__");
}

const struct code_line *code_places_line(struct code_places *places, struct code_place *place,
					 const struct code_place *callee, bool is_sample)
{
	struct code_line *line = is_sample ? &place->of_sample : &place->of_call;
	if (line->is_known || !place->binary)
		return line;
	line->is_known = true;
	enum line_wanted wanted = is_sample ? LINE_PLAIN : is_stub(callee) ? LINE_CALL : LINE_OWN;
	const char *file =
		binaries_line(places->binaries, place->binary, place->offset, wanted, &line->line);
	line->file = file ? keep_text(places, file) : NULL;
	return line;
}
