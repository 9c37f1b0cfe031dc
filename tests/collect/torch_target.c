/* SPDX-License-Identifier: Apache-2.0 */
/* torch_target.c LIBRARY N [FUNCTION] - opens a libtorch (tests/mock/libtorch.c, or a real one) while another thread opens
 * folders, and runs N operators in it, or its FUNCTION, if it is the mock. */
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_bool is_loaded;

static void open_folder(void)
{
	DIR *folder = opendir("/");
	if (folder)
		closedir(folder);
}

/* Each opendir is a moment at which the collector may begin to record operators. */
static void *open_folders(void *unused)
{
	while (!atomic_load(&is_loaded))
		open_folder();
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t other;
	if (argc < 3 || pthread_create(&other, NULL, open_folders, NULL) != 0)
		return 2;
	void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	atomic_store(&is_loaded, true);
	pthread_join(other, NULL);
	if (!library)
		return 2;
	for (int i = 0; i < 30; i++) { /* as Python's imports do after they have loaded libtorch */
		open_folder();
		usleep(2000);
	}
	void (*go)(int);
	*(void **)&go = dlsym(library, argc > 3 ? argv[3] : "mock_torch_run");
	if (go)
		go(atoi(argv[2]));
	puts("done");
	return 0;
}
