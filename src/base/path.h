/* SPDX-License-Identifier: Apache-2.0 */
/* path.h - parts of a file's path.
 *
 *   printf("%s\n", hwy_basename("/usr/bin/python3")); // python3
 */
#ifndef HWY_BASE_PATH_H
#define HWY_BASE_PATH_H

#include <string.h>

/* Yields the part after the last '/'. The whole path where it has no '/' and where nothing follows
 * the last one ("runs/"): the result is empty only where the path is. It is a part of 'path'. */
static inline const char *hwy_basename(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

/* Yields the program that a command line runs, without its folder: the first word that ends with
 * ".py", else the first word. The result is a part of 'command', *length bytes long:
 *
 *   size_t length;
 *   const char *name = hwy_program_name("/usr/bin/python3 -u /home/me/train.py --fast", &length); // train.py
 */
static inline const char *hwy_program_name(const char *command, size_t *length)
{
	const char *found = command, *end = command + strcspn(command, " ");
	for (const char *word = command; *word;) {
		size_t n = strcspn(word, " ");
		if (n > 3 && strncmp(word + n - 3, ".py", 3) == 0) {
			found = word;
			end = word + n;
			break;
		}
		word += n + strspn(word + n, " ");
	}
	for (const char *c = found; c < end; c++)
		if (*c == '/' && c + 1 < end)
			found = c + 1;
	*length = (size_t)(end - found);
	return found;
}

#endif
