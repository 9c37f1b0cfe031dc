/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_find.c - which kernel of a table a text means, and the shortest text that means a
 * kernel.
 *
 * A text means the kernel that has it as its name, else the only one with the text in its name.
 * Texts that are yielded begin with a word of the name and end with a part of that word, as
 * people would write them: "vectorized_layer".
 */
#include <ctype.h>
#include <string.h>

#include "analyze/kernel_table.h"

/* Shorter parts tell a reader nothing: "sm80", "void". */
enum { LEAST_PART_BYTES = 6 };

const struct known_kernel *kernel_table_find(const struct kernel_table *table, const char *text,
					     struct hwy_err *err)
{
	const struct known_kernel *found = NULL;
	for (uint32_t i = 0; i < table->n; i++)
		if (strcmp(table->kernels[i].point.name, text) == 0)
			return &table->kernels[i];
	for (uint32_t i = 0; *text && i < table->n; i++) {
		const struct known_kernel *kernel = &table->kernels[i];
		if (!strstr(kernel->point.name, text))
			continue;
		if (found && strcmp(found->point.name, kernel->point.name) != 0) {
			hwy_fail(
				err,
				"'%s' is part of several kernels' names: '%.160s' and '%.160s'; give more of "
				"the name",
				text, found->point.name, kernel->point.name);
			return NULL;
		}
		found = kernel;
	}
	if (!found)
		hwy_fail(err, "no kernel has '%s' in its name", text);
	return found;
}

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Whether no other kernel's name has the first n bytes of 'part' in it. */
static bool is_only_of(const struct kernel_table *table, const struct known_kernel *kernel,
		       const char *part, size_t n)
{
	for (uint32_t i = 0; i < table->n; i++) {
		const char *name = table->kernels[i].point.name;
		if (strcmp(name, kernel->point.name) != 0 && memmem(name, strlen(name), part, n))
			return false;
	}
	return true;
}

/* Whether a word names a namespace, which says nothing of what the kernel does. */
static bool is_namespace(const char *word, size_t length)
{
	return strncmp(word + length, "::", 2) == 0 ||
	       strncmp(word, "anonymous namespace", 19) == 0 ||
	       strncmp(word, "namespace)", 10) == 0;
}

size_t kernel_table_part(const struct kernel_table *table, const struct known_kernel *kernel,
			 const char **part)
{
	const char *name = kernel->point.name;
	for (const char *word = name; *word;) {
		size_t length = 0;
		while (is_letter(word[length]))
			length++;
		for (size_t n = LEAST_PART_BYTES; n <= length && !is_namespace(word, length); n++) {
			bool ends_here = n == length || word[n] == '_';
			if (!ends_here || !is_only_of(table, kernel, word, n))
				continue;
			*part = word;
			return n;
		}
		word += length ? length : 1;
	}
	*part = name;
	return strlen(name);
}
