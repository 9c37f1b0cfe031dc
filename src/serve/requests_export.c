/* SPDX-License-Identifier: Apache-2.0 */
/* requests_export.c - the requests that take a piece of a recording as a file: export,
 * export-size. */
#include <stdlib.h>
#include <string.h>

#include "serve/asking.h"
#include "serve/lane_choice.h"
#include "serve/piece.h"

static bool read_piece_type(const struct asking *a, enum piece_type *type, struct hwy_err *err)
{
	const char *text = a->request->argument(a->request, "type");
	for (*type = 0; piece_types[*type]; (*type)++)
		if (text && strcmp(text, piece_types[*type]) == 0)
			return true;
	return hwy_fail(err, "'type' must be hwy or perfetto");
}

/* Reads the window and the lanes; the lanes are to be freed. */
static bool export_read_part(const struct asking *a, uint32_t *t, struct hwy_append_part *part,
			     uint8_t **lanes, struct hwy_err *err)
{
	*lanes = NULL;
	if (!asking_read_trace(a, t, err))
		return false;
	struct view_trace *view = &a->all->traces[*t];
	if (!a->all->reports)
		return hwy_fail(err, "this page has no report to take a piece of");
	if (!asking_read_window(a, view, &part->from, &part->to, err) ||
	    !lane_choice_read(view, a->request->argument(a->request, "lanes"), lanes, err))
		return false;
	part->from += view->origin;
	part->to += view->origin;
	part->lanes = *lanes;
	return true;
}

/* Makes the piece once no other request makes one, unless nobody waits for it any more. */
static bool make_in_turn(struct asking *a, uint32_t t, const struct hwy_append_part *part,
			 enum piece_type type, struct hwy_err *err)
{
	const struct request *request = a->request;
	pthread_mutex_lock(a->all->pieces);
	bool is_left = request->is_abandoned && request->is_abandoned(request->from);
	bool ok = !is_left && piece_make(a->all->reports[t], part, type, &a->answer->body, err);
	pthread_mutex_unlock(a->all->pieces);
	if (is_left) {
		a->answer->status = 503;
		return hwy_fail(err, "nobody waits for the piece any more");
	}
	return ok;
}

bool export_ask_piece(struct asking *a, struct hwy_err *err)
{
	uint32_t t;
	enum piece_type type;
	struct hwy_append_part part;
	uint8_t *lanes = NULL;
	bool ok = read_piece_type(a, &type, err) && export_read_part(a, &t, &part, &lanes, err) &&
		  make_in_turn(a, t, &part, type, err);
	free(lanes);
	return ok;
}

bool export_ask_size(struct asking *a, struct hwy_err *err)
{
	uint32_t t;
	uint64_t spans;
	struct hwy_append_part part;
	uint8_t *lanes;
	bool ok = export_read_part(a, &t, &part, &lanes, err) &&
		  piece_count(a->all->reports[t], &part, &spans, err);
	free(lanes);
	if (!ok)
		return false;
	json_begin_object(&a->json);
	json_put_int(&a->json, "spans", (int64_t)spans);
	json_put_int(&a->json, "most", PIECE_SPANS);
	json_end_object(&a->json);
	return true;
}
