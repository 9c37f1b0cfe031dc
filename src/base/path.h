/* path.h - parts of a file's path.
 *
 *   printf("%s\n", hwy_basename("/usr/bin/python3")); // python3
 */
#ifndef HWY_BASE_PATH_H
#define HWY_BASE_PATH_H

#include <string.h>

/* What follows the last '/'. The whole path where it has no '/' and where nothing follows the last one ("runs/"):
 * the result is empty only where the path is. It is a part of 'path'. */
static inline const char *hwy_basename(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

#endif
