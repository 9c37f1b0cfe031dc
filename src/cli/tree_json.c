/* SPDX-License-Identifier: Apache-2.0 */
/* tree_json.c - the tree as one JSON object, and as folded stacks for flame graphs. Both have
 * every node down to the asked depth: no share is too small. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "cli/kit/cli.h"
#include "cli/tree_print.h"

static void put_node(struct hwy_json *json, const struct tree_view *view, uint32_t index,
		     uint32_t depth)
{
	const struct hwy_tree *tree = view->tree;
	const struct tree_node *node = &tree->nodes[index];
	json_begin_object(json);
	json_put_text(json, "kind", tree_kind_names[node->kind]);
	json_put_text(json, "name", owners_text(&tree->owners, node->name));
	if (node->kind == TREE_MODULE) {
		json_put_text(json, "class", owners_text(&tree->owners, node->type));
		json_put_int(json, "merged", node->count);
	}
	json_put_int(json, "gpu_ns", node->gpu);
	json_put_int(json, "launches", node->launches);
	json_put_int(json, "cpu_ns", node->cpu);
	json_key(json, "calls");
	if (node->calls || node->kind == TREE_OPERATOR || node->kind == TREE_ROOT)
		json_int(json, node->calls);
	else
		json_null(json);
	json_put_int(json, "idle_ns", node->idle);
	if (node->n && (view->depth == 0 || depth < view->depth)) {
		json_key(json, "inner");
		json_begin_array(json);
		for (uint32_t i = 0; i < node->n; i++)
			put_node(json, view, tree->order[node->first + i], depth + 1);
		json_end_array(json);
	}
	json_end_object(json);
}

void tree_print_json(FILE *out, const struct tree_view *view)
{
	struct hwy_json json = {.out = out, .pretty = true};
	const struct hwy_tree *tree = view->tree;
	json_begin_object(&json);
	json_put_text(&json, "by", tree_by_names[view->options->by]);
	json_put_int(&json, "gpu_ns", tree->nodes[0].gpu);
	json_put_int(&json, "with_operator_ns", tree->with_operator);
	json_put_int(&json, "with_module_or_line_ns", tree->with_place);
	json_put_int(&json, "idle_ns", tree->nodes[0].idle);
	json_key(&json, "tree");
	put_node(&json, view, 0, 0);
	json_end_object(&json);
	fputc('\n', out);
}

/* ---- folded stacks --------------------------------------------------------------------------- */

enum { FOLDED_BYTES = 8192 };

/* Adds a name to a stack. A ';' separates names, so those in a name become ','; control
 * characters become spaces. Yields the new length, or the old one where the name does not fit. */
static size_t fold_name(char *stack, size_t length, const char *name)
{
	size_t n = strlen(name);
	if (length + n + 2 > FOLDED_BYTES)
		return length;
	if (length)
		stack[length++] = ';';
	for (size_t i = 0; i < n; i++) {
		char c = name[i];
		stack[length++] = c == ';' ? ',' : (unsigned char)c < ' ' || c == 0x7f ? ' ' : c;
	}
	stack[length] = '\0';
	return length;
}

static void fold_node(FILE *out, const struct tree_view *view, uint32_t index, char *stack,
		      size_t length, uint32_t depth)
{
	const struct hwy_tree *tree = view->tree;
	const struct tree_node *node = &tree->nodes[index];
	if (index) {
		const char *name = owners_text(&tree->owners, node->name);
		length = fold_name(stack, length, *name ? name : "(no name)");
	}
	if (node->n == 0 || (view->depth && depth >= view->depth)) {
		if (node->gpu > 0)
			fprintf(out, "%s %" PRId64 "\n", stack, node->gpu);
		stack[length] = '\0';
		return;
	}
	for (uint32_t i = 0; i < node->n; i++) {
		fold_node(out, view, tree->order[node->first + i], stack, length, depth + 1);
		stack[length] = '\0';
	}
}

void tree_print_folded(FILE *out, const struct tree_view *view)
{
	char stack[FOLDED_BYTES] = "";
	fold_node(out, view, 0, stack, 0, 0);
}
