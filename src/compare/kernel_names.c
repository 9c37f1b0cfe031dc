/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_names.c - see kernel_names.h. */
#include "compare/kernel_names.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/cpp_names.h"

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == ':';
}

static size_t word_length(const char *text)
{
	size_t n = 0;
	while (text[n] && is_word(text[n]))
		n++;
	return n;
}

/* Copies a name: hexadecimal addresses and numbers after a separator ("tmp_12", "fn.3") become
 * '#'. */
static size_t put_word(char *out, size_t room, const char *word, size_t length)
{
	size_t n = 0;
	for (size_t i = 0; i < length && n + 1 < room;) {
		bool hex = length - i > 6 && word[i] == '0' && word[i + 1] == 'x';
		bool after = i > 0 && strchr("_.$#", word[i - 1]) != NULL;
		size_t digits = 0;
		if (hex)
			for (digits = 2;
			     i + digits < length && isxdigit((unsigned char)word[i + digits]);)
				digits++;
		else if (after)
			while (i + digits < length && isdigit((unsigned char)word[i + digits]))
				digits++;
		bool ends = i + digits == length || !isalpha((unsigned char)word[i + digits]);
		if (digits && ends) {
			out[n++] = '#';
			i += digits;
		} else {
			out[n++] = word[i++];
		}
	}
	out[n] = '\0';
	return n;
}

/* Whether the last part of a qualified name says nothing about what the kernel computes. */
static bool is_generic(const char *word, size_t length)
{
	static const char *const generic[] = {
		"Kernel",        "Kernel2", "kernel", "device_kernel", "elementwise_kernel",
		"reduce_kernel", NULL};
	for (const char *const *one = generic; *one; one++) {
		size_t n = strlen(*one);
		if (length >= n && strncmp(word + length - n, *one, n) == 0 &&
		    (length == n || strchr(":_", word[length - n - 1])))
			return true;
	}
	return false;
}

/* The longest word among the template arguments that is no plain type. */
static const char *telling_argument(const char *text, size_t *length)
{
	const char *best = NULL;
	*length = 0;
	struct hwy_brackets open = {0};
	while (*text && (*text != '(' || open.depth > 0)) {
		size_t n = word_length(text);
		hwy_brackets_see(&open, *text);
		if (n > *length && n >= 8 && !isdigit((unsigned char)*text) &&
		    strncmp(text, "std::", 5) != 0) {
			best = text;
			*length = n;
		}
		text += n ? n : 1;
	}
	return best;
}

enum { LONGEST_NAME_BYTES = 2048 };

/* Copies a name without its anonymous namespaces, however the demangler writes them. */
static void copy_without_anonymous_namespaces(const char *name, char out[LONGEST_NAME_BYTES])
{
	static const char *const unnamed[] = {
		"(anonymous namespace)::", "<unnamed>::", "{anonymous}::", NULL};
	size_t n = 0;
	while (*name && n + 1 < LONGEST_NAME_BYTES) {
		size_t skip = 0;
		for (const char *const *one = unnamed; *one && !skip; one++)
			skip = strncmp(name, *one, strlen(*one)) == 0 ? strlen(*one) : 0;
		name += skip;
		if (!skip)
			out[n++] = *name++;
	}
	out[n] = '\0';
}

void kernel_name_fold(const char *name, char out[KERNEL_NAME_BYTES])
{
	char whole[LONGEST_NAME_BYTES], plain[512];
	size_t n = 0;
	struct hwy_brackets open = {0};
	copy_without_anonymous_namespaces(name, whole);
	const char *begin = hwy_skip_return_type(whole);
	for (const char *c = begin; *c && n + 1 < sizeof plain; c++) {
		if (open.depth == 0 && *c == '(')
			break;
		bool was_inside = open.depth > 0;
		hwy_brackets_see(&open, *c);
		if (open.depth == 0 && !was_inside)
			plain[n++] = *c;
	}
	while (n > 0 && isspace((unsigned char)plain[n - 1]))
		n--;
	if (n == 0) { /* the name is nothing but brackets: the whole name is better than no name */
		n = strlen(name) < sizeof plain ? strlen(name) : sizeof plain - 1;
		memcpy(plain, name, n);
	}
	plain[n] = '\0';
	size_t used = put_word(out, KERNEL_NAME_BYTES, plain, n), length = 0;
	const char *more =
		is_generic(plain, n) ? telling_argument(begin + word_length(begin), &length) : NULL;
	if (more && used + 4 < KERNEL_NAME_BYTES) {
		out[used++] = '<';
		used += put_word(out + used, KERNEL_NAME_BYTES - used - 1, more, length);
		out[used++] = '>';
		out[used] = '\0';
	}
}

void kernel_name_short(const char *name, char out[KERNEL_NAME_BYTES])
{
	static const char space[] = "at::native::";
	size_t n = sizeof space - 1;
	kernel_name_fold(name, out);
	for (char *at = out; (at = strstr(at, space));)
		memmove(at, at + n, strlen(at + n) + 1);
	if (!*out)
		snprintf(out, KERNEL_NAME_BYTES, "%s", name);
}

bool kernel_name_is_sibling(const char *a, const char *b)
{
	for (;; a++, b++) {
		while (isdigit((unsigned char)*a) || *a == 'x' || *a == '#')
			a++;
		while (isdigit((unsigned char)*b) || *b == 'x' || *b == '#')
			b++;
		if (*a != *b)
			return false;
		if (!*a)
			return true;
	}
}
