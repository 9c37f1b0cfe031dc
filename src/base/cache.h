/* SPDX-License-Identifier: Apache-2.0 */
/* cache.h - the folder for files that can be made again: $XDG_CACHE_HOME/headway, else
 * ~/.cache/headway. */
#ifndef HWY_BASE_CACHE_H
#define HWY_BASE_CACHE_H

#include <limits.h>
#include <stdbool.h>

enum { HWY_CACHE_NAME = 64 }; /* bytes of PATH_MAX that stay free for a file's name */

/* Writes the folder's path and, where 'make' is true, creates the folder. Yields false where there
 * is no such folder. */
bool hwy_cache_folder(char path[PATH_MAX], bool make);

#endif
