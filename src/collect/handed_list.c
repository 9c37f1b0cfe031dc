/* SPDX-License-Identifier: Apache-2.0 */
/* handed_list.c - see handed_list.h. */
#include "collect/handed_list.h"

#include <string.h>

#include "spool/preload.h"

const char *handed_list_value(const char *variable, const char *name)
{
	size_t length = strlen(name);
	return strncmp(variable, name, length) == 0 && variable[length] == '='
		       ? variable + length + 1
		       : NULL;
}

size_t handed_list_part(const char *part, const char **next)
{
	size_t length = strcspn(part, ": ");
	*next = part + length + (part[length] != '\0');
	return length;
}

bool handed_list_has_ours(const char *list, const char *library)
{
	for (const char *part = list, *next; *part; part = next)
		if (preload_is_ours(part, handed_list_part(part, &next), library))
			return true;
	return false;
}

bool handed_list_remove_ours(char *list, const char *ours, const char *library)
{
	size_t length = strlen(list), tail = strlen(ours);
	if (!handed_list_has_ours(list, library))
		return true;
	if (length >= tail && strcmp(list + length - tail, ours) == 0) {
		if (length == tail)
			return false;
		if (list[length - tail - 1] == ':') {
			list[length - tail - 1] = '\0';
			return true;
		}
	}
	char *to = list;
	for (const char *part = list, *next; *part; part = next) {
		size_t size = handed_list_part(part, &next);
		if (size == 0 || preload_is_ours(part, size, library))
			continue;
		if (to != list)
			*to++ = ':';
		memmove(to, part, size);
		to += size;
	}
	*to = '\0';
	return to != list;
}
