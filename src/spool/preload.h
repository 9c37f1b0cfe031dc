/* SPDX-License-Identifier: Apache-2.0 */
/* preload.h - whether a program bears the collect library being preloaded into it. */
#ifndef HWY_SPOOL_PRELOAD_H
#define HWY_SPOOL_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Libraries in the collect library's folder that are preloaded with it when their source is
 * recorded. */
struct preload_sibling {
	uint32_t trace; /* the source that the library records: REC_TRACE_… */
	const char *file;
};
/* The list ends with an entry whose 'trace' is 0. */
extern const struct preload_sibling preload_siblings[];

/* What is preloaded for these traces, separated by colons: the collect library is the last, so that it begins
 * first. Yields the length; 'into' has room for preload_room(library) bytes. */
size_t preload_write(char *into, const char *library, uint32_t traces);
size_t preload_room(const char *library);
/* Whether a path is that of the collect library or of one of its siblings. */
bool preload_is_ours(const char *path, size_t length, const char *library);

/* Whether the collect library may be preloaded into a program. When in doubt, yes: LD_PRELOAD would do so by itself.
 * Both functions may be called in a vfork child: they allocate and remember nothing. They change errno. */
bool preload_fits_file(const char *path);
bool preload_fits_command(const char *name); /* finds the program as execvp would */

/* Why nothing inside a program can be recorded, NULL if it can. */
const char *preload_refusal(const char *name);

#endif
