/* SPDX-License-Identifier: Apache-2.0 */
/* launchers.c - see launchers.h.
 *
 * Kernels are counted by owner first, because equal owners share one record; then each owner is
 * added to one group, and with a module's group to those of all modules around it.
 */
#include "diagnose/launchers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/ref.h"
#include "base/say.h"

/* Who launches a smaller share of the kernels is not named. */
#define NAMED_SHARE 0.2
/* A module is left for the one inside of it that launches at least this share of its kernels. */
#define INNER_SHARE 0.6
/* A module is worth compiling first where its element-wise kernels are this share of all
 * launches. */
#define COMPILE_SHARE 0.3
/* With fewer launches a step nobody launches too much. */
#define FEWEST_LAUNCHES 20.0
/* Longer paths of modules are cut: no model is so deep, but a damaged file may be. */
enum { MOST_PATH = 200 };

/* ---- kernels by owner ------------------------------------------------------------------------ */

bool launchers_is_single(const struct hwy_case *c, uint32_t op)
{
	const struct flow_op *one = &c->flow->ops[op];
	return one->kind == HWY_KERNEL && one->call != FLOW_NONE &&
	       c->flow->calls[one->call].role != HWY_ROLE_GRAPH_LAUNCH;
}

static void count_by_owner(struct hwy_case *c, struct launchers *found)
{
	enum { NOT_ASKED, POINTWISE, OTHER };
	uint8_t *sorts = hwy_zalloc(c->trace->strings.n + 1u);
	for (uint32_t op = c->first_op; op < c->end_op; op++) {
		if (!launchers_is_single(c, op) || !case_op_is_ours(c, op))
			continue;
		const struct flow_op *one = &c->flow->ops[op];
		int64_t name = case_get(c, one->span, HWY_NAME);
		const struct hwy_owner *owner = case_owner(c, one->span);
		struct launcher *launcher = &found->by_owner[owner - c->owners->owners];
		if (name < 0 || name > c->trace->strings.n)
			name = 0;
		if (sorts[name] == NOT_ASKED)
			sorts[name] = strstr(hwy_str(c->trace, name), "elementwise_kernel")
					      ? POINTWISE
					      : OTHER;
		launcher->n++;
		launcher->pointwise += sorts[name] == POINTWISE;
		launcher->ns += one->end - one->start;
		found->n++;
	}
	free(sorts);
}

/* ---- groups ---------------------------------------------------------------------------------- */

uint32_t launchers_link(const struct hwy_owners *owners, uint32_t chain, const char *lead)
{
	size_t length = strlen(lead);
	for (; chain; chain = owners->chain[chain].outer)
		if (strncmp(owners_text(owners, owners->chain[chain].name), lead, length) == 0)
			return chain;
	return 0;
}

static bool is_number(const char *text, size_t n)
{
	return n > 0 && strspn(text, "0123456789") >= n;
}

/* The length of the part of a path without its number: "TransformerBlock" of Kineto's
 * "TransformerBlock_3", where the part is a class, which begins with a capital letter; 0 where
 * the whole part is a number. */
static size_t length_without_count(const char *part, size_t n)
{
	size_t bare = n;
	while (bare > 0 && part[bare - 1] >= '0' && part[bare - 1] <= '9')
		bare--;
	if (bare == 0)
		return 0;
	bool is_counted =
		bare < n && bare > 1 && part[bare - 1] == '_' && part[0] >= 'A' && part[0] <= 'Z';
	return is_counted ? bare - 1 : n;
}

void launchers_fold_path(const char *path, char *into, size_t size)
{
	size_t n = 0;
	while (*path && n + 1 < size) {
		size_t part = strcspn(path, "."), length = length_without_count(path, part);
		const char *from = length == 0 && part > 0 ? "*" : path;
		length = length == 0 && part > 0 ? 1 : length;
		if (length > size - 1 - n)
			length = size - 1 - n;
		memcpy(into + n, from, length);
		n += length;
		path += part;
		if (*path == '.') {
			path++;
			if (n + 1 < size)
				into[n++] = '.';
		}
	}
	into[n] = '\0';
}

static uint32_t launchers_group(struct hwy_case *c, struct launchers *found,
				enum launcher_kind kind, const char *name, uint32_t outer)
{
	char key[MOST_PATH + 8];
	bool fresh;
	int length = snprintf(key, sizeof key, "%d%s", (int)kind, name);
	size_t size = length < (int)sizeof key ? (size_t)length : sizeof key - 1;
	uint32_t *index = hwy_index_put(&found->by_name, key, size, &fresh);
	if (fresh) {
		HWY_GROW(found->groups, found->n_groups, found->cap_groups);
		found->groups[found->n_groups] = (struct launcher_group){
			.name = hwy_arena_format(&c->diagnosis->arena, "%s", key + 1),
			.kind = kind,
			.outer = outer,
		};
		*index = found->n_groups++;
	}
	return *index;
}

/* Sets group_of_module. A module stands behind the one around it in the owners' list. */
static void group_modules(struct hwy_case *c, struct launchers *found)
{
	const struct hwy_owners *o = c->owners;
	found->group_of_module = hwy_zarray(o->n_modules, sizeof *found->group_of_module);
	for (uint32_t m = 1; m < o->n_modules; m++) {
		const struct owner_module *module = &o->modules[m];
		const char *name = owners_text(o, module->name),
			   *type = owners_text(o, module->type);
		uint32_t outer = found->group_of_module[module->outer];
		const char *around = outer ? found->groups[hwy_ref32_index(outer)].name : "";
		size_t length = strlen(name), of_type = module->type ? strlen(type) : 0;
		bool is_class = of_type && strncmp(name, type, of_type) == 0 &&
				name[of_type] == '_' &&
				is_number(name + of_type + 1, length - of_type - 1);
		char path[MOST_PATH], part[MOST_PATH];
		launchers_fold_path(name, part, sizeof part);
		int n = snprintf(path, sizeof path, "%s%s%s", around, *around ? "." : "",
				 is_class ? type : part);
		found->group_of_module[m] = outer;
		if (n >= (int)sizeof path)
			continue;
		uint32_t group = launchers_group(c, found, LAUNCHER_MODULE, path, outer);
		found->groups[group].is_classes |= is_class;
		found->group_of_module[m] = hwy_ref32(group);
	}
}

static uint32_t group_of_owner(struct hwy_case *c, struct launchers *found,
			       const struct hwy_owner *owner)
{
	const struct hwy_owners *o = c->owners;
	uint32_t link = launchers_link(o, owner->chain, "Optimizer.");
	if (!link && owner->module && found->group_of_module[owner->module])
		return hwy_ref32_index(found->group_of_module[owner->module]);
	if (!link && owner->is_backward)
		return launchers_group(c, found, LAUNCHER_BACKWARD, hwy_tr("the backward pass"), 0);
	link = link ? link : owners_scope(o, owner->chain);
	if (link)
		return launchers_group(c, found, LAUNCHER_SCOPE,
				       owners_text(o, o->chain[link].name), 0);
	link = owners_outermost_op(o, owner->chain);
	return launchers_group(c, found, LAUNCHER_OPERATOR, owners_text(o, o->chain[link].name), 0);
}

static void count_groups(struct hwy_case *c, struct launchers *found)
{
	group_modules(c, found);
	for (uint32_t i = 0; i < c->owners->n_owners; i++) {
		const struct launcher *launcher = &found->by_owner[i];
		if (launcher->n == 0)
			continue;
		uint32_t group = group_of_owner(c, found, &c->owners->owners[i]);
		for (uint32_t at = hwy_ref32(group); at;
		     at = found->groups[hwy_ref32_index(at)].outer) {
			struct launcher_group *one = &found->groups[hwy_ref32_index(at)];
			one->n += launcher->n;
			one->pointwise += launcher->pointwise;
			one->backward += c->owners->owners[i].is_backward ? launcher->n : 0;
		}
	}
}

const struct launchers *launchers_find(struct hwy_case *c)
{
	if (!c->owners || c->launchers)
		return c->launchers;
	c->launchers = hwy_zalloc(sizeof *c->launchers);
	c->launchers->by_owner = hwy_zarray(c->owners->n_owners, sizeof *c->launchers->by_owner);
	count_by_owner(c, c->launchers);
	count_groups(c, c->launchers);
	return c->launchers;
}

void launchers_free(struct launchers *launchers)
{
	if (!launchers)
		return;
	free(launchers->by_owner);
	free(launchers->groups);
	free(launchers->group_of_module);
	hwy_index_free(&launchers->by_name);
	free(launchers);
}

/* ---- words ----------------------------------------------------------------------------------- */

/* Goes from a module's group to the innermost one that still has most of its launches. */
static const struct launcher_group *innermost_group(const struct launchers *found, uint32_t group)
{
	for (;;) {
		uint32_t best = group;
		for (uint32_t i = 0; i < found->n_groups; i++) {
			const struct launcher_group *one = &found->groups[i];
			if (one->outer == hwy_ref32(group) &&
			    (best == group || one->n > found->groups[best].n))
				best = i;
		}
		if (best == group ||
		    (double)found->groups[best].n < INNER_SHARE * (double)found->groups[group].n)
			return &found->groups[group];
		group = best;
	}
}

/* The group with most launches that is not 'but'; NULL where there is none of NAMED_SHARE.
 * Operators are named only where nothing else is. */
static const struct launcher_group *top_group(const struct launchers *found,
					      const struct launcher_group *but)
{
	uint32_t best = UINT32_MAX;
	for (uint32_t i = 0; i < found->n_groups; i++) {
		const struct launcher_group *one = &found->groups[i];
		if (one->outer || !*one->name || (double)one->n < NAMED_SHARE * (double)found->n ||
		    (but && (one == but || innermost_group(found, i) == but)))
			continue;
		bool is_operator = one->kind == LAUNCHER_OPERATOR;
		bool best_is = best != UINT32_MAX && found->groups[best].kind == LAUNCHER_OPERATOR;
		if (best == UINT32_MAX || (best_is && !is_operator) ||
		    (best_is == is_operator && one->n > found->groups[best].n))
			best = i;
	}
	return best == UINT32_MAX ? NULL : innermost_group(found, best);
}

const char *launchers_sentence(struct hwy_case *c)
{
	const struct launchers *found = launchers_find(c);
	if (!found || case_count_per_step(c, found->n) < FEWEST_LAUNCHES || found->is_said)
		return "";
	const struct launcher_group *top[2] = {top_group(found, NULL), NULL};
	const char *said[2] = {"", ""};
	top[1] = top[0] ? top_group(found, top[0]) : NULL;
	for (int i = 0; i < 2 && top[i]; i++)
		said[i] = hwy_arena_say(&c->diagnosis->arena,
					i ? ", %.80s%s %s" : "%.80s%s launches %s", top[i]->name,
					hwy_tr(top[i]->kind == LAUNCHER_MODULE && top[i]->backward
						       ? " with its backward pass"
						       : ""),
					hwy_say_count_mean(case_count_per_step(c, top[i]->n)).text);
	c->launchers->is_said = true;
	if (!top[0])
		return "";
	return hwy_arena_say(
		&c->diagnosis->arena, " Of %s kernels%s%s %s%s.",
		hwy_say_count_mean(case_count_per_step(c, found->n)).text, case_a_step(c),
		hwy_tr(found->n < c->counts.kernels ? " that are launched one by one," : ""),
		said[0], said[1]);
}

/* How a program may name a module whose path is "GPT.blocks.*": the statement that compiles it. */
static const char *compile_statement(struct hwy_case *c, const struct launcher_group *module)
{
	const char *dot = strchr(module->name, '.'); /* a module inside of another has one */
	const char *star = strchr(module->name, '*');
	if (!dot || module->is_classes || (star && star[1]))
		return "";
	if (!star)
		return hwy_arena_say(&c->diagnosis->arena, "\n  model%s.compile()", dot);
	return hwy_arena_say(&c->diagnosis->arena, "\n  for part in model%.*s: part.compile()",
			     (int)(star - dot - 1), dot);
}

const char *launchers_compile_advice(struct hwy_case *c)
{
	const struct launchers *found = launchers_find(c);
	const struct launcher_group *module = NULL;
	for (uint32_t i = 0; found && i < found->n_groups; i++) {
		const struct launcher_group *one = &found->groups[i];
		if (one->kind == LAUNCHER_MODULE && !one->outer && (!module || one->n > module->n))
			module = innermost_group(found, i);
	}
	/* The outermost module is the whole model, which is to be compiled anyway. */
	if (!module || !module->outer ||
	    (double)module->pointwise < COMPILE_SHARE * (double)found->n)
		return "";
	return hwy_arena_say(
		&c->diagnosis->arena,
		"\nWhere not all of it compiles, begin with %.80s: element-wise kernels in it, which a compiler fuses, are %s of all "
		"launches.%s",
		module->name, hwy_say_share((double)module->pointwise / (double)found->n).text,
		compile_statement(c, module));
}
