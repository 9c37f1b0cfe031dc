/* SPDX-License-Identifier: Apache-2.0 */
/* tree_text.c - the tree for people: a head that says how much is known, then a line for each
 * node, numbers first.
 *
 * A node shares its line with its inner node where only one inner node has GPU time or idle
 * time. Nodes below the least share are added up in one line, which is left out where it is
 * small itself or would be alone.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/path.h"
#include "base/say.h"
#include "base/utf8.h"
#include "cli/kit/cli.h"
#include "cli/kit/paint.h"
#include "cli/tree_print.h"
#include "compare/kernel_names.h"

enum { NAME_BYTES = 512, MOST_DEPTH = 160, DEFAULT_WIDTH = 110, LEAST_NAME = 30 };
enum { TIME_COLUMNS = 11, SHARE_COLUMNS = 9, COUNT_COLUMNS = 10 };

struct tree_page {
	FILE *out;
	const struct tree_view *view;
	const struct hwy_tree *tree;
	bool colour, has_cpu, has_idle;
	bool by_cpu; /* there is no device work: the tree shows the CPU's time */
	int width;
};

/* ---- names ----------------------------------------------------------------------------------- */

struct tree_name { /* a text that grows, and is cut where the line ends */
	char text[NAME_BYTES];
	size_t length;
};

static void name_add(struct tree_name *name, const char *text)
{
	size_t n = strlen(text);
	if (n >= sizeof name->text - name->length)
		n = hwy_utf8_cut_bytes(text, n, sizeof name->text - name->length - 1);
	memcpy(name->text + name->length, text, n);
	name->length += n;
	name->text[name->length] = '\0';
}

/* "copy Host-to-Device", "fill": the first word is ours. */
static const char *say_leaf(enum tree_kind kind, const char *text, char *leaf, size_t size)
{
	const char *word =
		hwy_tr_word(kind == TREE_COPY ? HWY_KEY("tree|copy") : HWY_KEY("tree|fill"));
	snprintf(leaf, size, "%s%s", word, text + strcspn(text, " "));
	return leaf;
}

static void name_add_node(const struct tree_page *page, struct tree_name *name,
			  const struct tree_node *node, bool is_last)
{
	const struct hwy_owners *o = &page->tree->owners;
	const char *text = owners_text(o, node->name), *type = owners_text(o, node->type);
	char folded[KERNEL_NAME_BYTES];
	if (node->kind == TREE_KERNEL) {
		kernel_name_short(text, folded);
		text = folded;
	}
	char leaf[64];
	if (node->kind == TREE_NOTHING)
		text = hwy_tr(text);
	else if (node->kind == TREE_COPY || node->kind == TREE_FILL)
		text = say_leaf(node->kind, text, leaf, sizeof leaf);
	name_add(name, *text ? text : hwy_tr("(no name)"));
	if (node->count > 1) {
		char count[32];
		snprintf(count, sizeof count, " ×%" PRIu32, node->count);
		name_add(name, count);
	}
	/* The class is said where the name does not say it already. */
	if (is_last && *type && strncmp(text, type, strlen(type)) != 0) {
		name_add(name, "  ");
		name_add(name, type);
	}
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void put_time(const struct tree_page *page, int64_t ns)
{
	struct hwy_words words = hwy_say_time4(ns);
	const char *text = ns ? words.text : "";
	int columns = hwy_utf8_columns(text, strlen(text));
	fprintf(page->out, "%*s%s", columns < TIME_COLUMNS ? TIME_COLUMNS - columns : 1, "", text);
}

/* The time that the tree is about, in ns. */
static int64_t time_of(const struct tree_page *page, const struct tree_node *node)
{
	return page->by_cpu ? node->cpu : node->gpu;
}

/* 'last' is the innermost node of those that share the line. */
static void put_numbers(const struct tree_page *page, const struct tree_node *node,
			const struct tree_node *last)
{
	int64_t time = time_of(page, node), all = time_of(page, &page->tree->nodes[0]);
	uint32_t calls = node->calls ? node->calls : last->calls;
	uint32_t count = page->by_cpu ? calls : node->launches;
	put_time(page, time);
	fprintf(page->out, "%*s", SHARE_COLUMNS, time ? hwy_say_part_1decimal(time, all).text : "");
	fprintf(page->out, "%*s", COUNT_COLUMNS, count ? hwy_say_count_grouped(count).text : "");
	if (page->has_cpu)
		put_time(page, node->cpu);
	if (page->has_idle)
		put_time(page, node->idle);
	fputs("  ", page->out);
}

static void put_line(const struct tree_page *page, const struct tree_node *node,
		     const struct tree_node *last, uint32_t level, const char *text,
		     enum paint colour)
{
	int used = TIME_COLUMNS + SHARE_COLUMNS + COUNT_COLUMNS +
		   (page->has_cpu ? TIME_COLUMNS : 0) + (page->has_idle ? TIME_COLUMNS : 0) + 2;
	int room = page->width - used - 2 * (int)level;
	room = room < LEAST_NAME ? LEAST_NAME : room;
	put_numbers(page, node, last);
	fprintf(page->out, "%*s%s", 2 * (int)level, "", paint(page->colour, colour));
	size_t length = strlen(text);
	if (hwy_utf8_columns(text, length) > room) {
		cli_put(page->out, text, hwy_utf8_cut(text, length, room - 1));
		fputs("…", page->out);
	} else {
		cli_put(page->out, text, length);
	}
	fprintf(page->out, "%s\n", paint(page->colour, PAINT_PLAIN));
}

static enum paint paint_of(const struct tree_node *node)
{
	switch (node->kind) {
	case TREE_MODULE: return PAINT_BOLD;
	case TREE_SCOPE: return PAINT_CYAN;
	case TREE_LINE: return PAINT_GREEN;
	case TREE_KERNEL:
	case TREE_COPY:
	case TREE_FILL:
	case TREE_GRAPH:
	case TREE_NOTHING: return PAINT_FAINT;
	default: return PAINT_PLAIN;
	}
}

static bool is_large(const struct tree_page *page, const struct tree_node *node)
{
	const struct tree_node *root = &page->tree->nodes[0];
	double least = page->view->min_share;
	return (double)time_of(page, node) >= least * (double)time_of(page, root) ||
	       (root->idle > 0 && (double)node->idle >= least * (double)root->idle);
}

/* Yields the inner node that has all of the node's GPU time and idle time below it; NULL where
 * there are several. */
static const struct tree_node *only_inner(const struct tree_page *page,
					  const struct tree_node *node)
{
	const struct tree_node *found = NULL;
	for (uint32_t i = 0; i < node->n; i++) {
		const struct tree_node *inner =
			&page->tree->nodes[page->tree->order[node->first + i]];
		if (time_of(page, inner) == 0 && inner->idle == 0)
			continue;
		/* An operator has CPU time of its own, beside that of the operators inside of
		 * it. */
		if (found || (page->by_cpu && inner->cpu != node->cpu))
			return NULL;
		found = inner;
	}
	return found;
}

static void print_inner(const struct tree_page *page, const struct tree_node *outer, uint32_t level,
			uint32_t depth);

/* Prints a node with the inner nodes that share its line, then what is below. 'depth' is the
 * node's level in the tree, 'level' that on the page. */
static void print_node(const struct tree_page *page, const struct tree_node *node, uint32_t level,
		       uint32_t depth)
{
	struct tree_name name = {.length = 0};
	const struct tree_node *last = node;
	uint32_t limit = page->view->depth ? page->view->depth : MOST_DEPTH;
	enum paint colour = paint_of(node);
	while (depth < limit && last->count == 1) {
		const struct tree_node *inner = only_inner(page, last);
		if (!inner)
			break;
		bool are_modules = last->kind == TREE_MODULE && inner->kind == TREE_MODULE;
		name_add_node(page, &name, last, !are_modules);
		name_add(&name, are_modules ? "." : " › ");
		last = inner;
		depth++;
	}
	name_add_node(page, &name, last, true);
	put_line(page, node, last, level, name.text, colour);
	if (depth < limit)
		print_inner(page, last, level + 1, depth + 1);
}

static void print_inner(const struct tree_page *page, const struct tree_node *outer, uint32_t level,
			uint32_t depth)
{
	struct tree_node rest = {0};
	uint32_t n_rest = 0;
	for (uint32_t i = 0; i < outer->n; i++) {
		const struct tree_node *node =
			&page->tree->nodes[page->tree->order[outer->first + i]];
		if (is_large(page, node)) {
			print_node(page, node, level, depth);
			continue;
		}
		n_rest++;
		rest.gpu += node->gpu;
		rest.cpu += node->cpu;
		rest.idle += node->idle;
		rest.launches += node->launches;
		rest.calls += node->calls;
	}
	bool is_all = n_rest == outer->n && level > 0;
	if (n_rest == 0 || is_all || !is_large(page, &rest))
		return;
	char text[64];
	snprintf(text, sizeof text, hwy_tr("… %" PRIu32 " more"), n_rest);
	put_line(page, &rest, &rest, level, text, PAINT_FAINT);
}

/* ---- the head -------------------------------------------------------------------------------- */

static void print_head(const struct tree_page *page)
{
	const struct tree_node *root = &page->tree->nodes[0];
	const struct hwy_trace *trace = page->view->trace;
	const char *name = hwy_basename(page->view->path);
	fprintf(page->out, " %s", paint(page->colour, PAINT_BOLD));
	cli_put(page->out, name, strlen(name));
	fputs(paint(page->colour, PAINT_PLAIN), page->out);
	if (trace->n_devices) {
		const char *device = hwy_str(trace, trace->devices[0].name);
		fputs(*device ? " · " : "", page->out);
		cli_put(page->out, device, strlen(device));
	}
	if (*page->view->what)
		fprintf(page->out, " · %s", page->view->what);
	if (page->by_cpu) {
		fprintf(page->out,
			hwy_tr("\n   no device work; CPU time %s in %s call%s of operators\n"),
			hwy_say_time4(root->cpu).text, hwy_say_count_grouped(root->calls).text,
			root->calls == 1 ? "" : "s");
		return;
	}
	fprintf(page->out, hwy_tr("\n   GPU time %s in %s launch%s"), hwy_say_time4(root->gpu).text,
		hwy_say_count_grouped(root->launches).text, root->launches == 1 ? "" : "es");
	if (root->idle)
		fprintf(page->out, hwy_tr(" · idle %s"), hwy_say_time4(root->idle).text);
	fputc('\n', page->out);
	if (root->gpu <= 0)
		return;
	fprintf(page->out, hwy_tr("   %s of it has an operator, "),
		hwy_say_share((double)page->tree->with_operator / (double)root->gpu).text);
	fprintf(page->out, hwy_tr("%s a module or a line\n"),
		hwy_say_share((double)page->tree->with_place / (double)root->gpu).text);
}

static void print_advice(const struct tree_page *page)
{
	if (!page->tree->has_operators)
		fputs(hwy_tr("\n   No operators were recorded. Those of a PyTorch program are, by headway profile -t pytorch or by torch.profiler.\n"),
		      page->out);
	/* Lines are counted by GPU time: without device work nobody can tell whether there are
	 * any. */
	else if (!page->tree->has_modules && page->tree->with_place == 0 && !page->by_cpu)
		fputs(hwy_tr("\n   There are no modules or lines in this recording: headway profile -t pytorch, or\n"
			     "   torch.profiler.profile(with_stack=True), records them.\n"),
		      page->out);
}

static void print_headings(const struct tree_page *page)
{
	fprintf(page->out, "\n%s", paint(page->colour, PAINT_FAINT));
	cli_put_right(page->out, hwy_tr(page->by_cpu ? "CPU time" : "GPU time"), TIME_COLUMNS);
	fprintf(page->out, "%*s", SHARE_COLUMNS, "");
	cli_put_right(page->out,
		      hwy_tr_word(page->by_cpu ? HWY_KEY("tree|calls") : HWY_KEY("tree|launches")),
		      COUNT_COLUMNS);
	if (page->has_cpu)
		cli_put_right(page->out, "CPU", TIME_COLUMNS);
	if (page->has_idle)
		cli_put_right(page->out, hwy_tr_word("tree|idle"), TIME_COLUMNS);
	static const char *const words[TREE_BYS] = {
		[TREE_BY_MODULE] = HWY_KEY("tree|module"),
		[TREE_BY_OPERATOR] = HWY_KEY("tree|operator"),
		[TREE_BY_LINE] = HWY_KEY("tree|line"),
		[TREE_BY_SCOPE] = HWY_KEY("tree|scope"),
	};
	fprintf(page->out, "  %s%s\n", hwy_tr_word(words[page->view->options->by]),
		paint(page->colour, PAINT_PLAIN));
}

/* Says what the columns of the CPU and of idle time mean. */
static void print_meanings(const struct tree_page *page)
{
	const char *cpu = hwy_tr(page->has_cpu ? "CPU: the time inside its operators." : "");
	const char *idle = hwy_tr(page->has_idle ? "idle: the GPU had nothing to do, because the "
						   "CPU was there."
						 : "");
	fprintf(page->out, "\n   %s", paint(page->colour, PAINT_FAINT));
	fprintf(page->out, *cpu && *idle ? hwy_tr("%s %s") : "%s%s", cpu, idle);
	fprintf(page->out, "%s\n", paint(page->colour, PAINT_PLAIN));
}

void tree_print_text(FILE *out, const struct tree_view *view)
{
	const struct tree_node *root = &view->tree->nodes[0];
	int width = cli_width(out);
	struct tree_page page = {.out = out,
				 .view = view,
				 .tree = view->tree,
				 .colour = cli_colour(out),
				 .by_cpu = root->launches == 0 && root->cpu > 0,
				 .has_cpu = root->launches > 0 && root->cpu != 0,
				 .has_idle = root->idle != 0,
				 .width = width ? width : DEFAULT_WIDTH};
	print_head(&page);
	if (root->launches == 0 && !page.by_cpu) {
		fputs(hwy_tr("\n   No device work in this recording or in this part of it.\n"),
		      out);
		return;
	}
	print_headings(&page);
	print_inner(&page, root, 0, 1);
	if (page.has_cpu || page.has_idle)
		print_meanings(&page);
	print_advice(&page);
}
