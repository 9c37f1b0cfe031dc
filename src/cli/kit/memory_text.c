/* SPDX-License-Identifier: Apache-2.0 */
/* memory_text.c - see memory_text.h. */
#include "cli/kit/memory_text.h"

#include "cli/kit/cli.h"

FILE *memory_text_begin(struct memory_text *memory)
{
	*memory = (struct memory_text){0};
	memory->out = open_memstream(&memory->text, &memory->length);
	if (!memory->out)
		cli_die("out of memory");
	return memory->out;
}

char *memory_text_end(struct memory_text *memory)
{
	if (fclose(memory->out) != 0 || !memory->text)
		cli_die("out of memory");
	return memory->text;
}
