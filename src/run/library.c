/* SPDX-License-Identifier: Apache-2.0 */
/* library.c - finds files that belong to headway: the collect library is beside the program as in
 * the build folder, in ../lib/headway as installed, in ../_lib in a Python package, or where
 * HEADWAY_LIB says (the file, or its folder).
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/run.h"

#define NAME "libheadway-collect.so"

/* Yields the real path of a file that can be read, which the caller frees; or NULL. */
static char *file_at(const char *folder, const char *rest)
{
	char path[PATH_MAX];
	struct stat about;
	if (snprintf(path, sizeof path, "%s%s", folder, rest) >= (int)sizeof path ||
	    access(path, R_OK) != 0 || stat(path, &about) != 0 || !S_ISREG(about.st_mode))
		return NULL;
	return realpath(path, NULL);
}

char *library_place(const char *const *places)
{
	char self[PATH_MAX], *path = NULL;
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n <= 0)
		return NULL;
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	for (; !path && *places; places++)
		path = file_at(self, *places);
	return path;
}

char *library_find(struct hwy_err *err)
{
	static const char *const places[] = {
		"/" NAME,
		"/../lib/headway/" NAME,
		"/../lib64/headway/" NAME,
		"/../lib/x86_64-linux-gnu/headway/" NAME,
		"/../lib/aarch64-linux-gnu/headway/" NAME,
		"/../_lib/" NAME,
		NULL,
	};
	const char *given = getenv("HEADWAY_LIB");
	if (given && *given) {
		char *path = file_at(given, "");
		path = path ? path : file_at(given, "/" NAME);
		if (!path)
			hwy_fail(err, "HEADWAY_LIB=%s: no %s there", given, NAME);
		return path;
	}
	char *path = library_place(places);
	if (!path)
		hwy_fail(
			err,
			"%s is neither beside headway nor in ../lib/headway; HEADWAY_LIB can name it",
			NAME);
	return path;
}

uint32_t run_installed_sources(uint32_t sources)
{
	static const struct {
		uint32_t source;
		const char *file;
	} files[] = {{REC_TRACE_MPI, "libheadway-mpi.so"},
		     {REC_TRACE_NCCL, "libheadway-nccl.so"},
		     {REC_TRACE_OSRT, "libheadway-osrt.so"},
		     {REC_TRACE_OPENCL, "libheadway-opencl.so"}};
	struct hwy_err ignored;
	uint32_t installed = 0;
	char *library = library_find(&ignored);
	if (!library)
		return 0;
	*(strrchr(library, '/') + 1) = '\0';
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		char *file = sources & files[i].source ? file_at(library, files[i].file) : NULL;
		installed |= file ? files[i].source : 0;
		free(file);
	}
	free(library);
	return installed;
}
