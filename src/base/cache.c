/* SPDX-License-Identifier: Apache-2.0 */
/* cache.c - see cache.h. */
#include "base/cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool hwy_cache_folder(char path[PATH_MAX], bool make)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n;
	if (cache && *cache == '/')
		n = snprintf(path, PATH_MAX, "%s", cache);
	else if (home && *home == '/')
		n = snprintf(path, PATH_MAX, "%s/.cache", home);
	else
		return false;
	if (n >= PATH_MAX - (int)sizeof "/headway" - HWY_CACHE_NAME)
		return false;
	if (make)
		mkdir(path, 0700);
	strcat(path, "/headway");
	return !make || mkdir(path, 0700) == 0 || errno == EEXIST;
}
