/* preload.h - whether a program bears the collect library being preloaded into it. */
#ifndef HWY_RECORD_PRELOAD_H
#define HWY_RECORD_PRELOAD_H

#include <stdbool.h>

/* When in doubt, yes: that is what the environment would do by itself. Both may be called in a vfork child:
 * nothing is allocated or remembered. They change errno. */
bool preload_fits_file(const char *path);
bool preload_fits_command(const char *name); /* as execvp would find it */

#endif
