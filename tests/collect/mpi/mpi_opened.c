/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_opened.c - a program without MPI that opens one with MPI for itself alone, and runs it: mpi_opened LIBRARY ARGUMENTS…. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*run)(int, char **);
	*(void **)&run = library ? dlsym(library, "main") : NULL;
	if (!run) {
		fprintf(stderr, "%s\n", dlerror());
		return 2;
	}
	return run(argc - 1, argv + 1);
}
