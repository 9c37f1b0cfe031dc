/* SPDX-License-Identifier: Apache-2.0 */
/* layers.c - the nn.Modules of PyTorch that were called: their classes, and their paths in the model.
 *
 * A module is known by its address, as stack_ids.c finds it in a frame. A module does not know its own path: the modules that
 * hold it do, in their dictionary '_modules'. So when modules without a path were called, the dictionaries are gone
 * through from the outermost module of the main thread's stack, inside the interpreter (inside.h), where objects
 * may be used: no code of Python runs meanwhile, only dictionaries are read. All modules of a model get
 * their paths at once.
 *
 * A path begins with the class of the outermost module: "GPT.blocks.3.attention". A module that is called
 * alone first, and later as part of a larger one, gets the longer path.
 *
 * An address that was freed may be another module's later: if its class is another one it gets a new id. One of the
 * same class keeps the path of the old one, until its own is found.
 */
#include "collect/python/layers.h"

#include <stdatomic.h>
#include <string.h>

#include "collect/collect.h"
#include "collect/lock.h"
#include "collect/process.h"
#include "collect/python/inside.h"
#include "collect/python/python.h"
#include "collect/python/stack_ids.h"
#include "collect/sys.h"

enum {
	SLOTS = 1 << 16, /* of the table of modules, a power of two */
	MOST_LAYERS = SLOTS / 2,
	MOST_DEPTH = 64,
	MOST_PATH = 1024,
	MOST_CLASS = 256,
	/* DICT_SUBCLASS: the bit of a type's flags that all dictionaries have (Py_TPFLAGS_DICT_SUBCLASS). */
	DICT_SUBCLASS = 1 << 29,
	MOST_WALKS = 256, /* how often the modules of a model are gone through in a process */
};

struct layer {
	uintptr_t object, type; /* addresses; 0: the slot is free */
	uint32_t id;
	uint32_t class_name, path; /* text ids; 0: not known */
	uint32_t path_length;
};

static struct lock lock; /* guards all variables below */
static struct layer *layers;
static uint32_t last_layer;
/* Modules were called whose path is not known, and nobody was asked for paths since. */
static _Atomic bool is_wanted;

void layers_after_fork(void)
{
	lock_give(&lock);
	layers = NULL;
	atomic_store(&is_wanted, false);
}

/* ---- the table, under the lock ------------------------------------------------------------------- */

static struct layer *layer_slot(uintptr_t object)
{
	if (!layers)
		layers = sys_memory(SLOTS * sizeof *layers);
	if (!layers)
		return NULL;
	uint32_t i = (uint32_t)(object * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (SLOTS - 1);
	while (layers[i].object && layers[i].object != object)
		i = (i + 1) & (SLOTS - 1);
	return &layers[i];
}

static bool put_layer(const struct layer *layer)
{
	struct rec_layer *record = collect_reserve(REC_LAYER, 1);
	if (!record)
		return false;
	record->head.value = layer->id;
	record->type = layer->class_name;
	record->path = layer->path;
	collect_publish(record);
	return true;
}

/* The entry of a module, which is made and recorded if need be; NULL: there are too many. */
static struct layer *layer_entry(uintptr_t object, uintptr_t type)
{
	struct layer *layer = layer_slot(object);
	char name[MOST_CLASS];
	if (!layer || (layer->object && layer->type == type))
		return layer;
	if (last_layer == MOST_LAYERS || !python_type_name(type, name, sizeof name))
		return NULL;
	struct layer fresh = {
		.object = object,
		.type = type,
		.id = last_layer + 1,
		.class_name = collect_string_z(name),
	};
	if (!put_layer(&fresh))
		return NULL;
	last_layer++;
	*layer = fresh;
	return layer;
}

uint32_t layers_id(uintptr_t object, uintptr_t type)
{
	uint32_t id = 0;
	if (!lock_take(&lock))
		return 0;
	const struct layer *layer = layer_entry(object, type);
	if (layer) {
		id = layer->id;
		if (!layer->path)
			atomic_store(&is_wanted, true);
	}
	lock_give(&lock);
	return id;
}

static void layer_set_path(uintptr_t object, uintptr_t type, const char *path, size_t length)
{
	uint32_t text = collect_string(path, length);
	uint64_t signals = sys_hold_signals();
	if (lock_take(&lock)) {
		struct layer *layer = layer_entry(object, type);
		if (layer && text && layer->path != text && length > layer->path_length) {
			layer->path = text;
			layer->path_length = (uint32_t)length;
			put_layer(layer);
		}
		lock_give(&lock);
	}
	sys_restore_signals(signals);
}

/* ---- the paths, inside the interpreter ------------------------------------------------------------ */

struct path_walk { /* the path to the module that is being looked at */
	const struct inside_api *api;
	void *modules; /* the str "_modules" */
	uint32_t visited;
	char path[MOST_PATH];
};

static uintptr_t type_of(const struct inside_api *api, const void *object)
{
	uintptr_t type;
	memcpy(&type, (const char *)object + api->object_type, sizeof type);
	return type;
}

static void name_layer(struct path_walk *walk, void *object, size_t length, unsigned depth);

/* Appends a child's name to the path, and goes on with the child. */
static void name_child(struct path_walk *walk, void *key, void *child, size_t length,
		       unsigned depth)
{
	int64_t n = 0;
	const char *name = walk->api->PyUnicode_AsUTF8AndSize(key, &n);
	if (!name) {
		walk->api->PyErr_Clear();
		return;
	}
	if (n <= 0 || length + 1 + (size_t)n >= MOST_PATH)
		return;
	walk->path[length] = '.';
	memcpy(walk->path + length + 1, name, (size_t)n);
	name_layer(walk, child, length + 1 + (size_t)n, depth + 1);
}

/* Gives a module the path of so many bytes, and the modules in it theirs. */
static void name_layer(struct path_walk *walk, void *object, size_t length, unsigned depth)
{
	const struct inside_api *api = walk->api;
	if (depth == MOST_DEPTH || ++walk->visited > MOST_LAYERS)
		return;
	/* Not PyObject_GetAttr: a class may have a __getattr__ of its own, which is the program's code. */
	void *children = api->PyObject_GenericGetAttr(object, walk->modules);
	if (!children) { /* not a module: None, or a function in its place */
		api->PyErr_Clear();
		return;
	}
	layer_set_path((uintptr_t)object, type_of(api, object), walk->path, length);
	if (api->PyType_GetFlags((void *)type_of(api, children)) & DICT_SUBCLASS) {
		int64_t at = 0;
		void *key, *child;
		while (api->PyDict_Next(children, &at, &key, &child))
			name_child(walk, key, child, length, depth);
	}
	api->Py_DecRef(children);
}

/* Runs on the main thread, inside the interpreter. Its stack holds references to the modules that it is calling. */
static void find_paths(void)
{
	static struct path_walk walk; /* used by the main thread alone */
	static unsigned walks;
	uintptr_t outermost = place_outermost_layer();
	walk.api = inside_api();
	if (!outermost || !walk.api) {
		atomic_store(&is_wanted,
			     true); /* no module is being called now: the next place asks again */
		return;
	}
	uintptr_t type = type_of(walk.api, (const void *)outermost);
	if (walks++ >= MOST_WALKS || !python_type_name(type, walk.path, MOST_CLASS))
		return;
	walk.modules = walk.api->PyUnicode_FromString("_modules");
	walk.visited = 0;
	if (walk.modules) {
		name_layer(&walk, (void *)outermost, strlen(walk.path), 0);
		walk.api->Py_DecRef(walk.modules);
	}
	walk.api->PyErr_Clear();
}

void layers_ask_paths(void)
{
	if (atomic_load_explicit(&is_wanted, memory_order_relaxed) &&
	    atomic_exchange(&is_wanted, false) && !inside_call_soon(find_paths))
		atomic_store(&is_wanted, true);
}
