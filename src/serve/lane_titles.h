/* SPDX-License-Identifier: Apache-2.0 */
/* lane_titles.h - what the lanes and groups of the tree are called. */
#ifndef HWY_SERVE_LANE_TITLES_H
#define HWY_SERVE_LANE_TITLES_H

#include "base/json.h"
#include "serve/view.h"

/* Writes a title; the format has a %s and a %lld, in this order, or only the first. */
void lane_titles_put(struct hwy_json *json, const char *format, const char *text, int64_t number);
/* Writes the name of a device, such as "GPU 0 NVIDIA H200". */
void lane_titles_put_device(const struct view_trace *view, struct hwy_json *json, uint32_t device);
/* Writes the name of a thread, such as "python (tid 411)". */
void lane_titles_put_thread(const struct view_trace *view, struct hwy_json *json, uint32_t thread);
/* Writes the key "title" of a lane. */
void lane_titles_put_lane(const struct view_trace *view, struct hwy_json *json, uint32_t lane);
/* Add the title of a lane, or of a thread, as the page shows it. */
void lane_titles_write_lane(const struct view_trace *view, uint32_t lane, struct hwy_bytes *out);
void lane_titles_write_thread(const struct view_trace *view, uint32_t thread,
			      struct hwy_bytes *out);
/* Whether a name contains a number as a word of its own: the title of "stream 7" need not repeat
 * that it is 7. */
bool lane_titles_has_number(const char *name, int64_t number);

#endif
