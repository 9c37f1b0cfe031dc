/* SPDX-License-Identifier: Apache-2.0 */
/* torch_target.c LIBRARY N - opens a libtorch (tests/mock/libtorch.c) and runs N operators in it. */
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	void *library = argc > 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	void (*go)(int);
	if (!library || !(*(void **)&go = dlsym(library, "mock_torch_run")))
		return 2;
	DIR *folder =
		opendir("/"); /* as Python's imports do, from which on operators are recorded */
	if (folder)
		closedir(folder);
	go(atoi(argv[2]));
	puts("done");
	return 0;
}
