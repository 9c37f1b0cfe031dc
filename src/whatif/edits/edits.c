/* SPDX-License-Identifier: Apache-2.0 */
/* edits.c - the table of all edits, and how an edit is read from the command line. */
#include <string.h>

#include "whatif/edits/edits.h"

const struct edit_kind *const edit_kinds[] = {
	&edit_remove_wait,
	&edit_decide,
	&edit_wait_every,
	&edit_read_late,
	&edit_pin,
	&edit_copy_stream,
	&edit_streams,
	&edit_no_barrier,
	&edit_no_roundtrip,
	&edit_graph,
	&edit_input,
	&edit_workers,
	&edit_background,
	&edit_no_alloc,
	&edit_no_module,
	&edit_no_graph_build,
	&edit_overlap_comm,
	&edit_bucket,
	&edit_faster_link,
	&edit_straggler,
	&edit_tensor,
	&edit_fuse,
	&edit_fill,
	&edit_faster,
	NULL,
};

const struct edit_kind *edit_find(const char *id)
{
	for (size_t i = 0; edit_kinds[i]; i++)
		if (strcmp(edit_kinds[i]->id, id) == 0)
			return edit_kinds[i];
	return NULL;
}

bool edit_read(const char *text, struct whatif_edit *edit)
{
	size_t n = strcspn(text, ":");
	char id[64];
	if (n >= sizeof id)
		return false;
	memcpy(id, text, n);
	id[n] = 0;
	*edit = (struct whatif_edit){edit_find(id), text[n] ? text + n + 1 : ""};
	return edit->kind != NULL;
}
