/* SPDX-License-Identifier: Apache-2.0 */
/* tree_path.c - where in a tree the work of an owner stands: its modules, scopes or line, then
 * its operators.
 *
 * Autograd's node around a backward operator is shown as that operator. Where layers are merged,
 * a number in a module's path becomes "*" if the module holds further modules, or if all modules
 * with numbers beside it are of its class: "blocks.*" stands for all blocks. Other modules
 * without inner ones keep their places: the four Linear_n of each block that Kineto numbers
 * through the whole model become Linear[0] to Linear[3] of "the" block. Scopes that differ in a
 * number are merged too.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/tree_internal.h"
#include "base/lang.h"
#include "base/ref.h"

#define ENGINE "autograd::engine::evaluate_function: "
enum { MOST_LINKS = 64 }; /* of a longer chain only the innermost operators and scopes are shown */

/* ---- modules --------------------------------------------------------------------------------- */

/* Whether a module is named by a number ("3"), or by its class and a number ("Linear_3"). */
static bool is_numbered(const struct hwy_owners *o, const struct owner_module *module,
			bool *is_kineto, uint32_t *number)
{
	struct hwy_text name = o->texts.texts[module->name], type = o->texts.texts[module->type];
	uint32_t at = 0;
	*is_kineto = module->type && name.length > type.length + 1 &&
		     memcmp(name.at, type.at, type.length) == 0 && name.at[type.length] == '_';
	if (*is_kineto)
		at = type.length + 1;
	size_t digits = strspn(name.at + at, "0123456789");
	if (digits == 0 || digits > 9 || at + digits != name.length)
		return false;
	*number = (uint32_t)strtoul(name.at + at, NULL, 10);
	return true;
}

struct numbered {
	uint32_t outer, type, number, module;
};

static int by_place(const void *left, const void *right)
{
	const struct numbered *a = left, *b = right;
	if (a->outer != b->outer)
		return a->outer < b->outer ? -1 : 1;
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static void find_ordinals(struct tree_paths *paths)
{
	const struct hwy_owners *o = &paths->tree->owners;
	struct numbered *list = hwy_array(o->n_modules, sizeof *list);
	uint32_t n = 0, number;
	bool is_kineto;
	for (uint32_t m = 1; m < o->n_modules; m++)
		if (is_numbered(o, &o->modules[m], &is_kineto, &number) && is_kineto &&
		    !paths->has_inner[m])
			list[n++] = (struct numbered){o->modules[m].outer, o->modules[m].type,
						      number, m};
	qsort(list, n, sizeof *list, by_place);
	for (uint32_t first = 0, end; first < n; first = end) {
		for (end = first; end < n && list[end].outer == list[first].outer &&
				  list[end].type == list[first].type;
		     end++)
			;
		for (uint32_t i = first; i < end; i++) {
			paths->ordinal[list[i].module] = i - first + 1;
			paths->siblings[list[i].module] = end - first;
		}
	}
	free(list);
}

void tree_paths_open(struct tree_paths *paths, struct hwy_tree *tree,
		     const struct tree_options *options)
{
	const struct hwy_owners *o = &tree->owners;
	*paths = (struct tree_paths){.tree = tree, .options = options};
	paths->node_of_module = hwy_zarray(o->n_modules, sizeof *paths->node_of_module);
	paths->has_inner = hwy_zarray(o->n_modules, sizeof *paths->has_inner);
	paths->ordinal = hwy_zarray(o->n_modules, sizeof *paths->ordinal);
	paths->siblings = hwy_zarray(o->n_modules, sizeof *paths->siblings);
	paths->type_of_numbered = hwy_zarray(o->n_modules, sizeof *paths->type_of_numbered);
	for (uint32_t m = 1; m < o->n_modules; m++) {
		const struct owner_module *module = &o->modules[m];
		uint32_t *type = &paths->type_of_numbered[module->outer], number;
		bool is_kineto;
		paths->has_inner[module->outer] = true;
		if (is_numbered(o, module, &is_kineto, &number) && !is_kineto)
			*type = *type == 0 || *type == hwy_ref32(module->type)
					? hwy_ref32(module->type)
					: UINT32_MAX;
	}
	if (options->merges_layers)
		find_ordinals(paths);
}

/* Notes that a numbered module is part of a merged node. */
static void merge_number(struct tree_paths *paths, uint32_t node, uint32_t number, uint32_t name)
{
	bool fresh;
	hwy_map_put(&paths->numbers, (uint64_t)node << 32 | number, &fresh);
	while (paths->cap_original <= node) {
		uint32_t old = paths->cap_original;
		paths->original =
			hwy_grow(paths->original, &paths->cap_original, sizeof *paths->original);
		memset(paths->original + old, 0,
		       (paths->cap_original - old) * sizeof *paths->original);
	}
	if (paths->original[node] == 0)
		paths->original[node] = name;
	else if (fresh)
		paths->tree->nodes[node].count++;
}

void tree_paths_close(struct tree_paths *paths)
{
	struct hwy_tree *tree = paths->tree;
	for (uint32_t i = 0; i < tree->n && i < paths->cap_original; i++)
		if (paths->original[i] && tree->nodes[i].count == 1)
			tree->nodes[i].name = paths->original[i];
	free(paths->node_of_module);
	free(paths->has_inner);
	free(paths->type_of_numbered);
	free(paths->ordinal);
	free(paths->siblings);
	free(paths->original);
	hwy_map_free(&paths->numbers);
}

static uint32_t node_of_one_module(struct tree_paths *paths, uint32_t m, uint32_t outer)
{
	struct hwy_owners *o = &paths->tree->owners;
	const struct owner_module module = o->modules[m];
	bool is_kineto;
	uint32_t number;
	char text[160];
	if (!paths->options->merges_layers || !is_numbered(o, &module, &is_kineto, &number))
		return tree_put(paths->tree, outer, TREE_MODULE, module.name, module.type);
	bool is_list = !is_kineto && paths->type_of_numbered[module.outer] != UINT32_MAX;
	if (paths->has_inner[m] || is_list) {
		uint32_t name = is_kineto ? module.type : hwy_intern_z(&o->texts, "*");
		uint32_t node = tree_put(paths->tree, outer, TREE_MODULE, name, module.type);
		merge_number(paths, node, number, module.name);
		return node;
	}
	if (!is_kineto || paths->siblings[m] == 0)
		return tree_put(paths->tree, outer, TREE_MODULE, module.name, module.type);
	if (paths->siblings[m] == 1)
		return tree_put(paths->tree, outer, TREE_MODULE, module.type, module.type);
	snprintf(text, sizeof text, "%s[%" PRIu32 "]", owners_text(o, module.type),
		 paths->ordinal[m] - 1);
	return tree_put(paths->tree, outer, TREE_MODULE, hwy_intern_z(&o->texts, text),
			module.type);
}

/* A module's outer modules have smaller indexes. */
static uint32_t node_of_module(struct tree_paths *paths, uint32_t m)
{
	const struct hwy_owners *o = &paths->tree->owners;
	uint32_t path[MOST_LINKS], n = 0, node = 0;
	for (; m && n < MOST_LINKS; m = o->modules[m].outer) {
		if (hwy_ref32_is_set(paths->node_of_module[m])) {
			node = hwy_ref32_index(paths->node_of_module[m]);
			break;
		}
		path[n++] = m;
	}
	while (n-- > 0) {
		node = node_of_one_module(paths, path[n], node);
		paths->node_of_module[path[n]] = hwy_ref32(node);
	}
	return node;
}

/* ---- scopes, lines, operators ---------------------------------------------------------------- */

/* The node of a scope. Where layers are merged, scopes that differ in a number at the end are
 * one: "layer_*". */
static uint32_t node_of_scope(struct tree_paths *paths, uint32_t outer, uint32_t name)
{
	struct hwy_owners *o = &paths->tree->owners;
	struct hwy_text text = o->texts.texts[name];
	uint32_t stem = text.length;
	char merged[160];
	while (stem && isdigit((unsigned char)text.at[stem - 1]))
		stem--;
	if (!paths->options->merges_layers || stem == text.length || text.length - stem > 9 ||
	    stem + 2 > sizeof merged)
		return tree_put(paths->tree, outer, TREE_SCOPE, name, 0);
	int length = snprintf(merged, sizeof merged, "%.*s*", (int)stem, text.at);
	uint32_t node = tree_put(paths->tree, outer, TREE_SCOPE,
				 hwy_intern(&o->texts, merged, (size_t)length), 0);
	merge_number(paths, node, (uint32_t)strtoul(text.at + stem, NULL, 10), name);
	return node;
}

/* Adds the operators of a chain, or the scopes around all of them, the outermost first; not
 * those outside of the link 'last', or all where that is 0. */
static uint32_t add_links(struct tree_paths *paths, uint32_t node, uint32_t link, uint32_t last,
			  bool operators)
{
	struct hwy_owners *o = &paths->tree->owners;
	uint32_t names[MOST_LINKS], n = 0, before = 0;
	for (; link && n < MOST_LINKS; link = o->chain[link].outer) {
		if (o->chain[link].is_operator && !operators)
			n = 0; /* the scopes so far are inside of this operator */
		else if ((o->chain[link].is_operator != 0) == operators)
			names[n++] = o->chain[link].name;
		if (link == last)
			break;
	}
	while (n-- > 0) {
		struct hwy_text name = o->texts.texts[names[n]];
		uint32_t lead = (uint32_t)strlen(ENGINE), shown = names[n];
		if (name.length > lead && memcmp(name.at, ENGINE, lead) == 0)
			shown = hwy_intern(&o->texts, name.at + lead, name.length - lead);
		if (shown != before && operators)
			node = tree_put(paths->tree, node, TREE_OPERATOR, shown, 0);
		else if (shown != before)
			node = node_of_scope(paths, node, shown);
		before = shown;
	}
	return node;
}

static uint32_t add_line(struct tree_paths *paths, uint32_t node, uint32_t line)
{
	struct hwy_owners *o = &paths->tree->owners;
	char text[256];
	if (!line)
		return node;
	owners_line_text(o, line, text, sizeof text);
	return tree_put(paths->tree, node, TREE_LINE, hwy_intern_z(&o->texts, text), 0);
}

static uint32_t add_nothing(struct tree_paths *paths, uint32_t node, const char *why)
{
	return tree_put(paths->tree, node, TREE_NOTHING,
			hwy_intern_z(&paths->tree->owners.texts, why), 0);
}

/* The upper levels: modules, scopes or a line. */
static uint32_t upper_path(struct tree_paths *paths, const struct hwy_owner *owner)
{
	bool known = owner->op || owner->line || owner->module;
	uint32_t node = 0;
	switch (paths->options->by) {
	case TREE_BY_MODULE:
		if (owner->module)
			return node_of_module(paths, owner->module);
		node = add_links(paths, 0, owner->chain, 0, false);
		if (node || !known || !paths->tree->has_modules)
			return node;
		return add_line(paths, add_nothing(paths, 0, HWY_KEY("outside of modules")),
				owner->line);
	case TREE_BY_LINE:
		node = add_line(paths, 0, owner->line);
		return node || !owner->op ? node : add_nothing(paths, 0, HWY_KEY("line not known"));
	case TREE_BY_SCOPE:
		node = add_links(paths, 0, owner->chain, 0, false);
		return node || !owner->op ? node
					  : add_nothing(paths, 0, HWY_KEY("outside of scopes"));
	default: return 0;
	}
}

uint32_t tree_path_of_module(const struct tree_paths *paths, uint32_t module)
{
	uint32_t node = paths->node_of_module[module];
	return hwy_ref32_is_set(node) ? hwy_ref32_index(node) : 0;
}

uint32_t tree_path(struct tree_paths *paths, const struct hwy_owner *owner)
{
	uint32_t node = upper_path(paths, owner);
	bool by_module = paths->options->by == TREE_BY_MODULE;
	if (owner->op)
		return add_links(paths, node, owner->op, by_module ? owner->inside : 0, true);
	if (node == 0 || paths->tree->nodes[node].kind == TREE_NOTHING)
		node = add_line(paths, node, owner->line);
	if (node == 0 || paths->tree->nodes[node].kind == TREE_NOTHING)
		node = add_nothing(
			paths, node,
			owner->is_replayed
				? HWY_KEY("in a CUDA graph whose capture was not recorded")
				: owner_why_texts[owner->why]);
	return node;
}
