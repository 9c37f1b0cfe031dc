/* SPDX-License-Identifier: Apache-2.0 */
/* maps.h - turns one mapping of a file's code (struct rec_map) into a module of the process. */
#ifndef HWY_INGEST_MAPS_H
#define HWY_INGEST_MAPS_H

#include <stdbool.h>

#include "spool/record.h"

/* The extent of the whole module follows from the program headers of the file, which are read now.
 * False: the file does not exist any more, or is no ELF file of this machine. */
bool maps_module(const struct rec_map *map, const char *path, struct rec_module *module);

#endif
