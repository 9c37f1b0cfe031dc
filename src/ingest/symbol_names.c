/* SPDX-License-Identifier: Apache-2.0 */
/* symbol_names.c - see symbol_names.h.
 *
 * We use the demangler of the C++ runtime, opened when it is first needed: it supports exactly what
 * the compilers write, and a machine that ran a CUDA program has one. Without a C++ runtime names
 * stay mangled.
 */
#include "ingest/symbol_names.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpp_names.h"

typedef char *demangle_fn(const char *, char *, size_t *, int *);

static demangle_fn *demangler(void)
{
	static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
	static demangle_fn *found;
	static bool looked;
	for (size_t i = 0; !looked && !found && i < sizeof libraries / sizeof *libraries; i++) {
		void *library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
		if (library)
			*(void **)&found = dlsym(library, "__cxa_demangle");
	}
	looked = true;
	return found;
}

char *symbol_names_demangle(const char *mangled)
{
	if (strncmp(mangled, "_Z", 2) != 0)
		return NULL;
	demangle_fn *demangle = demangler();
	int status = 0;
	return demangle ? demangle(mangled, NULL, NULL, &status) : NULL;
}

/* Length of the operator's name ("operator<<", "operator()") with which the text begins; 0: it
 * begins with none. The brackets of such a name open no template arguments and no parameters. */
static size_t operator_length(const char *text)
{
	static const char word[] = "operator";
	size_t n = sizeof word - 1;
	if (strncmp(text, word, n) != 0)
		return 0;
	if (strncmp(text + n, "()", 2) == 0 || strncmp(text + n, "[]", 2) == 0)
		return n + 2;
	size_t signs = strspn(text + n, "<>=-+*/%&|^!~,");
	/* In "operator<<int>" the last '<' opens template arguments; in "operator<<(" it does
	 * not. */
	if (signs > 1 && text[n + signs - 1] == '<' && text[n + signs] && text[n + signs] != '(')
		signs--;
	return signs ? n + signs : 0;
}

/* Copies a name up to its template arguments. */
static void copy_without_arguments(const char *name, const char *end, char *into)
{
	while (name < end) {
		size_t length = operator_length(name);
		if (length == 0 && *name == '<')
			break;
		length = length ? length : 1;
		memcpy(into, name, length);
		into += length;
		name += length;
	}
	*into = '\0';
}

void symbol_names_shorten(const char *demangled, char *into)
{
	static const char anonymous[] = "(anonymous namespace)";
	const char *begin = demangled, *end = NULL, *next = demangled;
	struct hwy_brackets open = {0};
	while (*next && !end) {
		size_t skip = open.depth == 0 ? operator_length(next) : 0;
		if (skip) {
			next += skip;
			continue;
		}
		if (strncmp(next, anonymous, sizeof anonymous - 1) == 0) {
			next += sizeof anonymous - 1;
			continue;
		}
		if (open.depth == 0 && (*next == '(' || *next == '['))
			end = next;
		else if (open.depth == 0 && (*next == ' ' || (next[0] == ':' && next[1] == ':')))
			begin = next + (*next == ' ' ? 1 : 2);
		hwy_brackets_see(&open, *next);
		next++;
	}
	copy_without_arguments(begin, end ? end : next, into);
	if (!*into)
		strcpy(into, demangled);
}

uint32_t symbol_names_add(struct hwy_builder *b, uint32_t mangled)
{
	const char *name = hwy_str(hwy_builder_trace(b), mangled);
	char *demangled = symbol_names_demangle(name);
	const char *full = demangled ? demangled : name;
	char *brief = hwy_alloc(strlen(full) + 1);
	symbol_names_shorten(full, brief);
	struct hwy_symbol symbol = {
		.mangled = mangled,
		.demangled = hwy_text_id(b, full),
		.shortname = hwy_text_id(b, brief),
	};
	free(brief);
	free(demangled);
	return hwy_add_symbol(b, symbol);
}
