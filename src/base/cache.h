/* cache.h - the folder for what can be made again: $XDG_CACHE_HOME/headway, else ~/.cache/headway. */
#ifndef HWY_BASE_CACHE_H
#define HWY_BASE_CACHE_H

#include <limits.h>
#include <stdbool.h>

enum { HWY_CACHE_NAME = 64 }; /* bytes of the path that are left for a file's name */

/* make: it is there afterwards. False where there is no such folder. */
bool hwy_cache_folder(char path[PATH_MAX], bool make);

#endif
