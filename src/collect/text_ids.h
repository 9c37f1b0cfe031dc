/* SPDX-License-Identifier: Apache-2.0 */
/* text_ids.h - lookups by text id, for the few sources that need more than collect_string. */
#ifndef HWY_COLLECT_TEXT_IDS_H
#define HWY_COLLECT_TEXT_IDS_H

#include <stddef.h>
#include <stdint.h>

/* Defines the text of an id in this process's spools if that has not happened yet, and yields the
 * id: a forked child inherits ids that only its parent defined. 0 for a number that never was an
 * id. */
uint32_t text_ids_define_again(uint32_t id);

/* Yields the text of an id, without a terminating 0 byte. An unknown id has a text of length 0. */
const char *text_ids_text(uint32_t id, size_t *length);

#endif
