/* SPDX-License-Identifier: Apache-2.0 */
/* memory_text.c - see memory_text.h. */
#include "base/memory_text.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

static void end_without_memory(void)
{
	hwy_alloc(SIZE_MAX); /* never succeeds: hwy_alloc prints a message and ends the process */
}

FILE *memory_text_begin(struct memory_text *memory)
{
	*memory = (struct memory_text){0};
	memory->out = open_memstream(&memory->text, &memory->length);
	if (!memory->out)
		end_without_memory();
	return memory->out;
}

char *memory_text_end(struct memory_text *memory)
{
	bool is_whole = !ferror(memory->out);
	is_whole &= fclose(memory->out) == 0;
	memory->out = NULL;
	if (!is_whole || !memory->text)
		end_without_memory();
	return memory->text;
}
