/* SPDX-License-Identifier: Apache-2.0 */
/* preload.h - whether a program bears the collect library being preloaded into it. */
#ifndef HWY_SPOOL_PRELOAD_H
#define HWY_SPOOL_PRELOAD_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

/* Libraries in the collect library's folder that are preloaded with it when their source is
 * recorded. */
struct preload_sibling {
	uint32_t
		trace; /* the sources that the library records, alone or with others: REC_TRACE_… */
	uint32_t alone; /* those of them that are not recorded at all without the library */
	const char *file;
};
/* The list ends with an entry whose 'trace' is 0. */
extern const struct preload_sibling preload_siblings[];

/* The library that NCCL loads (NCCL_PROFILER_PLUGIN); it lies in the collect library's folder,
 * and is not preloaded. */
#define PRELOAD_NCCL_PLUGIN "libheadway-nccl.so"
bool preload_is_nccl_plugin(const char *path, const char *library);

/* What is preloaded for these traces, separated by colons: the collect library is the last, so
 * that it begins first. Yields the length; 'into' has room for preload_room(library) bytes. */
size_t preload_write(char *into, const char *library, uint32_t traces);
size_t preload_room(const char *library);
/* Whether a path is that of the collect library or of one of its siblings. */
bool preload_is_ours(const char *path, size_t length, const char *library);

/* How a program file suits preloading. Programs of the first two kinds get the collect library
 * handed on: a static program does not load it, but programs that it starts do. Programs of the
 * other kinds get nothing. */
enum preload_fit {
	PRELOAD_FITS,
	PRELOAD_STATIC,
	PRELOAD_RAISED, /* it runs with the rights of another user or group, or with capabilities */
	PRELOAD_FOREIGN,
	PRELOAD_SANITIZED,
};
static inline bool preload_is_handed_on(enum preload_fit fit)
{
	return fit <= PRELOAD_STATIC;
}

/* Memory for the functions below: exec may be called on a stack that has no room for it. */
struct preload_scratch {
	union {
		Elf64_Ehdr header;
		char text[256];
	} head; /* the file's first bytes */
	Elf64_Phdr part;
	Elf64_Dyn entry;
	struct stat about;
	char text[256]; /* a short text of the file */
	char path[4096];
	/* Set by the caller: the kernel gives no program raised rights here. */
	bool is_never_raised;
};

/* How the program suits preloading that execve would start by this path, execvp by this name, or
 * fexecve by this descriptor; a relative path begins at the descriptor 'folder', or AT_FDCWD.
 * When in doubt, PRELOAD_FITS: LD_PRELOAD would be handed on by itself. May be called in a vfork
 * child: they allocate and remember nothing, and take no more than 300 bytes of stack. They
 * change errno. */
enum preload_fit preload_fit_of_file(int folder, const char *path, struct preload_scratch *scratch);
enum preload_fit preload_fit_of_command(const char *name, struct preload_scratch *scratch);
enum preload_fit preload_fit_of_descriptor(int fd, struct preload_scratch *scratch);

/* Whether the collect library is handed on to a program; finds the program as execvp would. */
bool preload_fits_command(const char *name);
/* Why nothing inside a program can be recorded, NULL if it can. */
const char *preload_refusal(const char *name);

#endif
