/* edits.c - the table of edits; one file each. */
#include <string.h>

#include "replay/edits.h"

const struct edit_kind *const edit_kinds[] = {
	&edit_remove_wait, &edit_wait_every, &edit_pin, &edit_graph, &edit_input, NULL,
};

const struct edit_kind *edit_find(const char *id)
{
	for (size_t i = 0; edit_kinds[i]; i++)
		if (strcmp(edit_kinds[i]->id, id) == 0)
			return edit_kinds[i];
	return NULL;
}
