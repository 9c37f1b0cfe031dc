/* SPDX-License-Identifier: Apache-2.0 */
/* cpp_names.c - see cpp_names.h. */
#include "base/cpp_names.h"

#include <string.h>

static void close_innermost(struct hwy_brackets *open)
{
	open->angles >>= 1;
	open->depth--;
}

void hwy_brackets_see(struct hwy_brackets *open, char c)
{
	switch (c) {
	case '<':
	case '(':
	case '[':
	case '{':
		open->angles = open->angles << 1 | (c == '<');
		open->depth++;
		break;
	case '>':
		if (open->depth > 0 && open->angles & 1)
			close_innermost(open);
		break;
	case ')':
	case ']':
	case '}':
		/* A '<' that is still open inside of these brackets was a comparison. */
		while (open->depth > 0 && open->angles & 1)
			close_innermost(open);
		if (open->depth > 0)
			close_innermost(open);
		break;
	default: break;
	}
}

const char *hwy_skip_return_type(const char *name)
{
	static const char anonymous[] = "(anonymous namespace)";
	const char *plain = strncmp(name, "void ", 5) == 0 ? name + 5 : name, *begin = plain;
	struct hwy_brackets open = {0};
	for (const char *c = plain; *c; c++) {
		if (strncmp(c, anonymous, sizeof anonymous - 1) == 0) {
			c += sizeof anonymous - 2;
			continue;
		}
		if (*c == '(' && open.depth == 0)
			return c > begin ? begin : plain; /* the parameters */
		hwy_brackets_see(&open, *c);
		if (*c == ' ' && open.depth == 0)
			begin = c + 1;
	}
	return plain;
}
