/* maps.h - a piece of a file mapped as code, as a module. */
#ifndef HWY_INGEST_MAPS_H
#define HWY_INGEST_MAPS_H

#include <stdbool.h>

#include "spool/record.h"

/* By the file's own program headers: only they tell what else of it is mapped where. False: it is not there
 * any more, or no ELF file of this machine. */
bool maps_module(const struct rec_map *map, const char *path, struct rec_module *module);

#endif
