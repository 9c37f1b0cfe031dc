/* SPDX-License-Identifier: Apache-2.0 */
/* layers.c - the nn.Modules of PyTorch that were called: their classes, and their paths in the
 * model.
 *
 * A module is known by its address, as stack_ids.c finds it in a frame. A module does not know
 * its own path: the modules that hold it do, in their dictionary '_modules'. So when modules
 * without a path were called, the dictionaries are gone through from the outermost module of the
 * main thread's stack, inside the interpreter (inside.h), where objects may be used: no code of
 * Python runs meanwhile, only dictionaries are read. All modules of a model get their paths at
 * once.
 *
 * A path begins with the class of the outermost module: "GPT.blocks.3.attention"; where a module
 * is held twice, the first path counts, as in PyTorch's named_modules. An id never changes its
 * path: a module whose path becomes another one, since it was called alone first and is part of
 * a larger module now, gets a new id, and so it does if its class becomes another one. Where a
 * path changed, all places that call modules are defined anew (layers_epoch).
 *
 * An address that was freed may be another module's later. One of the same class keeps the path
 * of the old one, until the modules are gone through again: that happens, at times, when modules
 * are called in a way that is new.
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
#include "collect/text_ids.h"
#include "spool/record_frameworks.h"

enum {
	SLOTS = 1 << 16, /* of the table of modules, a power of two */
	MOST_LAYERS = SLOTS / 2,
	MOST_DEPTH = 64,
	MOST_PATH = 1024,
	MOST_CLASS = 256,
	/* DICT_SUBCLASS: the bit of a type's flags that all dictionaries have
	 * (Py_TPFLAGS_DICT_SUBCLASS). */
	DICT_SUBCLASS = 1 << 29,
	MOST_WALKS = 256, /* how often the modules of a model are gone through in a process */
};

/* Modules whose paths are known are gone through again no sooner than this after the last time,
 * in ns; the time doubles with each walk, since a walk that changes paths has all places defined
 * anew. */
#define AGAIN_NS INT64_C(100000000)

struct layer {
	uintptr_t object, type; /* addresses; 0: the slot is free */
	uint32_t id;
	uint32_t class_name, path; /* text ids; 0: not known */
	uint32_t walk;             /* number of the walk that last came to the module */
	uint32_t born;             /* number of walks when the entry was made */
};

static struct lock lock; /* guards all variables below */
static struct layer *layers;
static uint32_t last_layer;
static bool told_full;
/* How often modules were gone through. Written by the main thread in the interpreter. */
static _Atomic uint32_t walks;
/* From when on modules with paths are gone through again, in ns. */
static _Atomic int64_t next_walk;
_Atomic uint32_t layers_epoch;
/* Modules were called whose path is not known, and nobody was asked for paths since. */
static _Atomic bool is_wanted;

void layers_after_fork(void)
{
	lock_give(&lock);
	layers = NULL;
	atomic_store(&is_wanted, false);
}

void layers_begin_again(void)
{
	if (!lock_take(&lock))
		return;
	if (layers)
		memset(layers, 0, SLOTS * sizeof *layers);
	atomic_store(&is_wanted, false);
	lock_give(&lock);
}

/* ---- the table, under the lock --------------------------------------------------------------- */

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
	if (last_layer == MOST_LAYERS) {
		if (!told_full)
			collect_note(
				2,
				"more than %d modules of PyTorch were called: the later ones have no path",
				(int)MOST_LAYERS);
		told_full = true;
		return NULL;
	}
	if (!python_type_name(type, name, sizeof name))
		return NULL;
	struct layer fresh = {
		.object = object,
		.type = type,
		.id = last_layer + 1,
		.class_name = collect_string_z(name),
		.born = walks,
	};
	if (!put_layer(&fresh))
		return NULL;
	last_layer++;
	*layer = fresh;
	return layer;
}

/* Whether nobody has looked for the path of a module yet. */
static bool layer_is_new(const struct layer *layer)
{
	return !layer->path && layer->born == walks && walks < MOST_WALKS;
}

uint32_t layers_id(uintptr_t object, uintptr_t type, bool *is_in_new)
{
	uint32_t id = 0;
	if (!lock_take(&lock))
		return 0;
	const struct layer *layer = layer_entry(object, type);
	if (layer && (!layer->path || collect_now() >= atomic_load(&next_walk)))
		atomic_store(&is_wanted, true);
	/* A type is no module, so that the entry at its address has the class, and never a path. */
	if (layer && layer->path && *is_in_new)
		layer = layer_entry(type, type);
	if (layer) {
		id = layer->id;
		*is_in_new |= layer_is_new(layer);
	}
	lock_give(&lock);
	return id;
}

/* Gives a module its path. Unless this is the first walk since the module was called, the module
 * gets a new id too: what was recorded with the old id may have been another module, or was
 * called alone. */
static void layer_change_path(struct layer *layer, uint32_t path)
{
	struct layer changed = *layer;
	bool is_other = layer->path || layer->born + 1 < walks;
	if (is_other && last_layer == MOST_LAYERS)
		return;
	changed.path = path;
	if (is_other)
		changed.id = last_layer + 1;
	if (!put_layer(&changed))
		return;
	if (is_other) {
		last_layer++;
		atomic_fetch_add(&layers_epoch, 1);
	}
	*layer = changed;
}

/* ---- the paths, inside the interpreter ------------------------------------------------------- */

struct path_walk { /* the path to the module that is being looked at */
	const struct inside_api *api;
	uint32_t number;
	/* How many bytes of the path are the class of the outermost module, and the path that
	 * this module already has as a part of a larger one, which is longer; 0: it has none. */
	size_t class_length;
	uint32_t larger;
	char path[MOST_PATH];
};

/* Whether a module has the path that is looked at, or the one that leads to it from the larger
 * module. */
static bool path_is_known(const struct path_walk *walk, uint32_t path, size_t length)
{
	size_t known_length, larger_length;
	if (!path)
		return false;
	const char *known = text_ids_text(path, &known_length);
	if (known_length == length && memcmp(known, walk->path, length) == 0)
		return true;
	if (!walk->larger)
		return false;
	const char *larger = text_ids_text(walk->larger, &larger_length);
	size_t rest = length - walk->class_length;
	return known_length == larger_length + rest && memcmp(known, larger, larger_length) == 0 &&
	       memcmp(known + larger_length, walk->path + walk->class_length, rest) == 0;
}

/* Gives a module the path of so many bytes. False: this walk has come to the module before, or
 * it cannot be noted. */
static bool layer_set_path(struct path_walk *walk, uintptr_t object, uintptr_t type, size_t length)
{
	bool is_first = false;
	uint64_t signals = sys_hold_signals();
	if (lock_take(&lock)) {
		struct layer *layer = layer_entry(object, type);
		is_first = layer && layer->walk != walk->number;
		if (is_first) {
			layer->walk = walk->number;
			if (length == walk->class_length)
				walk->larger = layer->path;
			if (!path_is_known(walk, layer->path, length))
				layer_change_path(layer, collect_string(walk->path, length));
		}
		lock_give(&lock);
	}
	sys_restore_signals(signals);
	return is_first;
}

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

/* Yields the attribute _modules of an object, with a reference of its own; NULL: the object is
 * no module. The attribute is not asked for: a class may have a __getattr__ or a property for
 * it, which is the program's code. */
static void *modules_in(const struct inside_api *api, void *object)
{
	void *dict = api->PyObject_GenericGetDict(object);
	void *children = dict ? api->PyDict_GetItemString(dict, "_modules") : NULL;
	if (children)
		api->Py_IncRef(children);
	else /* None or a function in the place of a module */
		api->PyErr_Clear();
	if (dict)
		api->Py_DecRef(dict);
	return children;
}

/* Goes on with the modules in a dictionary. A copy of it holds references of its own: a
 * collection of garbage, and another thread of a Python without the GIL, may change the
 * dictionary meanwhile. */
static void name_children(struct path_walk *walk, void *children, size_t length, unsigned depth)
{
	const struct inside_api *api = walk->api;
	if (!(api->PyType_GetFlags((void *)type_of(api, children)) & DICT_SUBCLASS))
		return;
	void *copy = api->PyDict_Copy(children), *key, *child;
	if (!copy) {
		api->PyErr_Clear();
		return;
	}
	for (int64_t at = 0; api->PyDict_Next(copy, &at, &key, &child);)
		name_child(walk, key, child, length, depth);
	api->Py_DecRef(copy);
}

/* Gives a module the path of so many bytes, and the modules in it theirs. */
static void name_layer(struct path_walk *walk, void *object, size_t length, unsigned depth)
{
	void *children = depth < MOST_DEPTH ? modules_in(walk->api, object) : NULL;
	if (!children)
		return;
	if (layer_set_path(walk, (uintptr_t)object, type_of(walk->api, object), length))
		name_children(walk, children, length, depth);
	walk->api->Py_DecRef(children);
}

/* Runs on the main thread, inside the interpreter. Its stack holds references to the modules
 * that it is calling. */
static void find_paths(void)
{
	static struct path_walk walk; /* used by the main thread alone */
	static int64_t pause = AGAIN_NS / 2;
	uintptr_t outermost = place_outermost_layer();
	walk.api = inside_api();
	if (!outermost || !walk.api) {
		atomic_store(&is_wanted,
			     true); /* no module is being called now: the next place asks again */
		return;
	}
	uintptr_t type = type_of(walk.api, (const void *)outermost);
	if (walks == MOST_WALKS || !python_type_name(type, walk.path, MOST_CLASS))
		return;
	walk.number = ++walks;
	if (walks == MOST_WALKS)
		collect_note(
			1,
			"modules of PyTorch that are made from now on have only their class, no path: "
			"new ones were made too often");
	walk.class_length = strlen(walk.path);
	walk.larger = 0;
	name_layer(&walk, (void *)outermost, walk.class_length, 0);
	walk.api->PyErr_Clear();
	int64_t now = collect_now();
	if (now >= atomic_load(&next_walk) && pause <= INT64_MAX / 4)
		pause *= 2;
	atomic_store(&next_walk, now + pause);
}

void layers_ask_paths(void)
{
	if (atomic_load_explicit(&is_wanted, memory_order_relaxed) &&
	    atomic_exchange(&is_wanted, false) && !inside_call_soon(find_paths))
		atomic_store(&is_wanted, true);
}
