/* symbol_names.c - see symbol_names.h.
 *
 * The demangler is the C++ runtime's own, opened when first needed: nothing else follows the compilers as
 * closely, and a machine that ran a CUDA program has one. Without it names stay as they are.
 */
#include "ingest/symbol_names.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

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

char *names_demangle(const char *mangled)
{
	if (strncmp(mangled, "_Z", 2) != 0)
		return NULL;
	demangle_fn *demangle = demangler();
	int status = 0;
	return demangle ? demangle(mangled, NULL, NULL, &status) : NULL;
}

/* Length of an operator's name at 'at', which may hold brackets of its own ("operator<<", "operator()"). */
static size_t operator_length(const char *at)
{
	static const char word[] = "operator";
	size_t n = sizeof word - 1;
	if (strncmp(at, word, n) != 0)
		return 0;
	if (strncmp(at + n, "()", 2) == 0 || strncmp(at + n, "[]", 2) == 0)
		return n + 2;
	size_t signs = strspn(at + n, "<>=-+*/%&|^!~,");
	/* "operator<<int>": the last of several brackets opens the arguments, unless '(' follows. */
	if (signs > 1 && at[n + signs - 1] == '<' && at[n + signs] && at[n + signs] != '(')
		signs--;
	return signs ? n + signs : 0;
}

void names_shorten(const char *demangled, char *into)
{
	static const char anonymous[] = "(anonymous namespace)";
	const char *begin = demangled, *end = NULL, *at = demangled;
	int depth = 0; /* of <> and of () that are no parameters */
	while (*at && !end) {
		size_t skip = depth == 0 ? operator_length(at) : 0;
		if (skip) {
			at += skip;
			continue;
		}
		if (strncmp(at, anonymous, sizeof anonymous - 1) == 0) {
			at += sizeof anonymous - 1;
			continue;
		}
		if (*at == '<' || *at == '{')
			depth++;
		else if (*at == '>' || *at == '}')
			depth -= depth > 0;
		else if (depth == 0 && (*at == '(' || *at == '['))
			end = at;
		else if (depth == 0 && (*at == ' ' || (at[0] == ':' && at[1] == ':')))
			begin = at + (*at == ' ' ? 1 : 2);
		at++;
	}
	end = end ? end : at;
	size_t n = 0;
	for (at = begin; at < end; at++) { /* what is left of template arguments */
		size_t whole = operator_length(at);
		if (whole) {
			memcpy(into + n, at, whole);
			n += whole;
			at += whole - 1;
		} else if (*at == '<') {
			break;
		} else {
			into[n++] = *at;
		}
	}
	into[n] = '\0';
	if (n == 0)
		strcpy(into, demangled);
}

uint32_t names_symbol(struct hwy_builder *b, uint32_t mangled)
{
	const char *name = hwy_str(hwy_builder_trace(b), mangled);
	char *demangled = names_demangle(name);
	const char *full = demangled ? demangled : name;
	char *brief = hwy_alloc(strlen(full) + 1);
	names_shorten(full, brief);
	struct hwy_symbol symbol = {
		.mangled = mangled,
		.demangled = hwy_text_id(b, full),
		.shortname = hwy_text_id(b, brief),
	};
	free(brief);
	free(demangled);
	return hwy_add_symbol(b, symbol);
}
