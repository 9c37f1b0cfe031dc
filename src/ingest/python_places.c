/* SPDX-License-Identifier: Apache-2.0 */
/* python_places.c - the Python stacks at which operators and graph nodes were made.
 *
 * The call of an nn.Module is a frame of PyTorch's own function; in the trace's stack the module
 * stands in place of that frame.
 */
#include "ingest/python_places.h"

#include <stdlib.h>
#include <string.h>

#include "base/ref.h"
#include "spool/record_frameworks.h"

void python_places_note(struct ingest_process *process, const struct rec_head *record)
{
	if (record->type == REC_PLACE)
		*hwy_ids_put(&process->places, record->value) = hwy_ref32(process->place.n);
	ingest_list_add(record->type == REC_PLACE ? &process->place : &process->layer, record);
}

static uint32_t path_length(struct ingest_process *process, const struct rec_layer *layer)
{
	const struct ingest_text *text = ingest_text_entry(process, layer->path);
	return text ? text->record->length : 0;
}

/* Finds the record that counts for each module: a path is found once, after the module was
 * called, so the record with a path was written last. */
static void index_layers(struct ingest_process *process)
{
	for (uint32_t i = 0; i < process->layer.n; i++) {
		const struct rec_layer *layer = process->layer.items[i];
		uint32_t *ref = hwy_ids_put(&process->layers, layer->head.value);
		if (!hwy_ref32_is_set(*ref) ||
		    path_length(process, layer) >
			    path_length(process, process->layer.items[hwy_ref32_index(*ref)]))
			*ref = hwy_ref32(i);
	}
	process->has_layer_index = true;
}

static const struct rec_layer *find_layer(struct ingest_process *process, uint32_t id)
{
	if (!process->has_layer_index)
		index_layers(process);
	uint32_t ref = id ? hwy_ids_get(&process->layers, id) : HWY_REF_NONE;
	return hwy_ref32_is_set(ref) ? process->layer.items[hwy_ref32_index(ref)] : NULL;
}

static void add_layer(struct ingest *in, struct ingest_process *process,
		      const struct rec_layer *layer, struct ingest_frames *frames)
{
	uint32_t type = ingest_text(in, process, layer->type);
	uint32_t path = ingest_text(in, process, layer->path);
	struct hwy_frame frame = {
		.function = path ? path : type,
		.module = type,
		.flags = HWY_FRAME_PYTHON | HWY_FRAME_LAYER,
	};
	stacks_add_frame(in, frames, &frame);
}

static uint32_t make_stack(struct ingest *in, struct ingest_process *process,
			   const struct rec_place *place)
{
	struct ingest_frames frames = {.n = 0};
	for (uint32_t i = 0; i < place->count && i < REC_MAX_FRAMES; i++) {
		const struct rec_place_frame *from = &place->frames[i];
		const struct rec_layer *layer = find_layer(process, from->layer);
		struct rec_frame frame = {.code = from->code, .offset = from->offset};
		if (layer)
			add_layer(in, process, layer, &frames);
		else
			stacks_add_python(in, process, &frame, 1, &frames);
	}
	return stacks_join(in, &frames);
}

uint32_t python_places_stack(struct ingest *in, struct ingest_process *process, uint32_t place)
{
	uint32_t ref = place ? hwy_ids_get(&process->places, place) : HWY_REF_NONE;
	if (!hwy_ref32_is_set(ref))
		return HWY_REF_NONE;
	bool fresh;
	uint32_t *stack = hwy_map_put(&process->place_stacks, place, &fresh);
	if (fresh) {
		uint32_t made = make_stack(in, process, process->place.items[hwy_ref32_index(ref)]);
		/* Nothing was put into the map meanwhile, so that the pointer is still good. */
		*stack = made;
	}
	return *stack;
}
