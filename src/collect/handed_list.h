/* SPDX-License-Identifier: Apache-2.0 */
/* handed_list.h - variables of an environment that are lists, and the collector's part in them.
 *
 * The parts of LD_PRELOAD and OPENCL_LAYERS are separated by colons or blanks. "Ours" are the
 * libraries of the collector, which lie beside 'library'. Nothing here takes memory: exec may be
 * called in a signal handler.
 */
#ifndef HWY_COLLECT_HANDED_LIST_H
#define HWY_COLLECT_HANDED_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* Yields the value of a variable "NAME=value" that has this name; else NULL. */
const char *handed_list_value(const char *variable, const char *name);
/* Yields the length of the part that begins at 'part', and in *next where the next part begins. */
size_t handed_list_part(const char *part, const char **next);
bool handed_list_has_ours(const char *list, const char *library);
/* Removes ours from a list, in place. False: the list was nothing but ours, so that there would
 * be no such variable. A list to which ours were appended becomes, byte for byte, what it was
 * before. */
bool handed_list_remove_ours(char *list, const char *ours, const char *library);

#endif
