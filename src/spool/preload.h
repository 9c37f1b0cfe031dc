/* preload.h - whether a program bears the collect library being preloaded into it. */
#ifndef HWY_SPOOL_PRELOAD_H
#define HWY_SPOOL_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Libraries that are preloaded with the collect library when their source is recorded. They lie in its folder. */
struct preload_sibling {
	uint32_t trace; /* REC_TRACE_… */
	const char *file;
};
extern const struct preload_sibling preload_siblings[]; /* ends with a trace of 0 */

/* What is preloaded for these traces, separated by colons: the collect library is the last, so that it begins
 * first. Yields the length; 'into' has room for preload_room(library) bytes. */
size_t preload_write(char *into, const char *library, uint32_t traces);
size_t preload_room(const char *library);
/* Whether a path is that of the collect library or of one of its siblings. */
bool preload_is_ours(const char *path, size_t length, const char *library);

/* Whether the collect library may be preloaded into a program. When in doubt, yes: LD_PRELOAD would do so by itself.
 * Both functions may be called in a vfork child: they allocate and remember nothing. They change errno. */
bool preload_fits_file(const char *path);
bool preload_fits_command(const char *name); /* as execvp would find it */

/* Why nothing inside a program can be recorded, NULL if it can. */
const char *preload_refusal(const char *name);

#endif
