/* SPDX-License-Identifier: Apache-2.0 */
/* acts_loader.c - libraries that come and go, with work in their constructors and destructors. */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "torture.h"

/* What dlerror says, without folders: they are the machine's own. */
static void say_dlerror(void)
{
	const char *text = dlerror();
	say(" [%s]", text ? text : "-");
}

static void act_loader(void)
{
	static const char *const names[] = {"libcrypt.so.1", "libresolv.so.2", "libz.so.1",
					    "libthread_db.so.1", "libm.so.6"};
	say_dlerror();
	for (unsigned i = 0, n = 3 + chance(20); i < n; i++) {
		void *library = dlopen(names[chance(5)], chance(2) ? RTLD_NOW : RTLD_LAZY);
		say(" %d", library ? dlclose(library) : -1);
	}
	say_dlerror();
	say(" %d", dlopen("libheadway-there-is-none.so", RTLD_NOW) != NULL);
	say_dlerror();
	say_dlerror();
	say(" %d", dlsym(RTLD_DEFAULT, "there_is_no_such_symbol") != NULL);
	say(" %d", dlerror() != NULL);
	say_dlerror();
}

static char *plugin_path(void)
{
	static __thread char path[4200];
	snprintf(path, sizeof path, "%s-plugin.so", program_path);
	return path;
}

/* The plugin counts what its constructor did; every opening is a new life of it. */
static void act_plugin(void)
{
	for (unsigned i = 0, n = 2 + chance(8); i < n; i++) {
		void *plugin = dlopen(plugin_path(), RTLD_NOW | RTLD_LOCAL);
		int (*work)(int) = NULL;
		if (plugin)
			*(void **)&work = dlsym(plugin, "plugin_work");
		say(" %d", work ? work((int)i) : -1);
		if (plugin)
			dlclose(plugin);
	}
}

/* A second copy of libc, in a list of its own. */
static void act_namespace(void)
{
	void *library = dlmopen(LM_ID_NEWLM, "libcrypt.so.1", RTLD_NOW);
	char *(*crypt_of)(const char *, const char *) = NULL;
	if (library)
		*(void **)&crypt_of = dlsym(library, "crypt");
	const char *hidden = crypt_of ? crypt_of("word", "$1$salt$") : NULL;
	say(" %s", hidden ? hidden : "-");
	say(" %d", library ? dlclose(library) : -1);
}

static int count_object(struct dl_phdr_info *object, size_t size, void *count)
{
	(void)size;
	if (object->dlpi_name && strstr(object->dlpi_name, "-plugin.so"))
		++*(int *)count;
	return 0;
}

static void act_phdrs(void)
{
	int before = 0, within = 0, after = 0;
	dl_iterate_phdr(count_object, &before);
	void *plugin = dlopen(plugin_path(), RTLD_NOW);
	dl_iterate_phdr(count_object, &within);
	if (plugin)
		dlclose(plugin);
	dl_iterate_phdr(count_object, &after);
	say(" %d %d %d", before, within, after);
}

const struct act loader_acts[] = {
	{"loader", act_loader, 0},
	{"plugin", act_plugin, NEEDS_IMAGE},
	{"namespace", act_namespace, NEEDS_IMAGE},
	{"phdrs", act_phdrs, NEEDS_IMAGE},
	{NULL, NULL, 0},
};
