/* SPDX-License-Identifier: Apache-2.0 */
/* text_stream.c - see text_stream.h. */
#include "serve/text_stream.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

static void end_without_memory(void)
{
	hwy_alloc(SIZE_MAX); /* never succeeds: hwy_alloc prints a message and ends the process */
}

void text_stream_open(struct text_stream *memory)
{
	*memory = (struct text_stream){0};
	memory->out = open_memstream(&memory->text, &memory->n);
	if (!memory->out)
		end_without_memory();
}

void text_stream_close(struct text_stream *memory)
{
	bool is_whole = !ferror(memory->out);
	is_whole &= fclose(memory->out) == 0;
	memory->out = NULL;
	if (!is_whole)
		end_without_memory();
}
