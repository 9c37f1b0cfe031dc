/* text_ids.h - more about the process's texts than every source needs. */
#ifndef HWY_COLLECT_TEXT_IDS_H
#define HWY_COLLECT_TEXT_IDS_H

#include <stddef.h>
#include <stdint.h>

/* An id that was given before, perhaps in the parent of a fork: defined here too now. 0 for what was
 * never an id. */
uint32_t strings_again(uint32_t id);

/* The text of an id, not terminated; of length 0 for none. */
const char *strings_text(uint32_t id, size_t *length);

#endif
