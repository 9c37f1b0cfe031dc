/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_library.c - finds libcupti and opens it.
 *
 * A copy that the program has loaded already comes first: two copies in one process would compete
 * for the one subscription. Then come the path in HEADWAY_CUPTI, the dynamic linker's own search,
 * the toolkit's folders, and the folders of Python wheels beside the CUDA libraries that are mapped
 * (a wheel's libcupti fits its libcudart, and programs from wheels often run where no toolkit is
 * installed).
 */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/cuda/cuda.h"
#include "spool/places.h"

static const char *const *const names = places_cupti_names;

struct search {
	bool (*use)(const char *path);
	void *tried[16]; /* handles of the libraries that were tried: no library is tried twice */
	unsigned n_tried;
	bool done;
};

/* Looks up CUPTI's functions. False if one that must be there is missing; others that are missing
 * are NULL. */
static bool resolve(void *handle, struct cupti_functions *f)
{
	bool whole = true;
#define RESOLVE(name, parameters, must)                                                            \
	*(void **)&f->name = dlsym(handle, #name);                                                 \
	if (!f->name && must)                                                                      \
		whole = false;
	CUPTI_FUNCTIONS(RESOLVE)
#undef RESOLVE
	return whole;
}

static void try_library(struct search *s, const char *path, int flags)
{
	if (s->done || s->n_tried == sizeof s->tried / sizeof *s->tried)
		return;
	void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL | flags);
	if (!handle)
		return;
	for (unsigned i = 0; i < s->n_tried; i++)
		if (s->tried[i] == handle)
			return;
	/* The handle is never closed: the library may have started threads. */
	s->tried[s->n_tried++] = handle;
	if (!resolve(handle, &cuda.cupti))
		return;
	struct link_map *map = NULL;
	dlinfo(handle, RTLD_DI_LINKMAP, &map);
	s->done = s->use(map && *map->l_name ? map->l_name : path);
}

static void try_names(struct search *s, const char *directory, int flags)
{
	char path[PATH_MAX];
	for (unsigned i = 0; names[i] && !s->done; i++) {
		int n = directory ? snprintf(path, sizeof path, "%s/%s", directory, names[i])
				  : snprintf(path, sizeof path, "%s", names[i]);
		if (n > 0 && (size_t)n < sizeof path)
			try_library(s, path, flags);
	}
}

/* The directories of mapped CUDA and framework libraries. They are collected before any library is
 * opened, since nothing may be opened while the dynamic linker's list is walked. */
struct places {
	char directory[8][PATH_MAX];
	unsigned n;
};

static int note_place(struct dl_phdr_info *info, size_t size, void *data)
{
	struct places *p = data;
	const char *path = info->dlpi_name;
	(void)size;
	const char *file = path ? strrchr(path, '/') : NULL;
	if (!file || (!strstr(file, "libcudart") && !strstr(file, "libtorch") &&
		      !strstr(file, "libcublas") && !strstr(file, "libnvrtc")))
		return 0;
	size_t length = (size_t)(file - path);
	if (length >= PATH_MAX)
		return 0;
	for (unsigned i = 0; i < p->n; i++)
		if (strncmp(p->directory[i], path, length) == 0 && !p->directory[i][length])
			return 0;
	memcpy(p->directory[p->n], path, length);
	p->directory[p->n++][length] = 0;
	return p->n == sizeof p->directory / sizeof *p->directory;
}

static void try_beside(struct search *s, const char *directory)
{
	char path[PATH_MAX];
	try_names(s, directory, 0);
	const char *packages = strstr(directory, "/site-packages/");
	if (!packages)
		packages = strstr(directory, "/dist-packages/");
	if (!packages)
		return;
	int length = (int)(packages + strlen("/site-packages") - directory);
	for (unsigned i = 0; places_cupti_wheels[i]; i++) {
		int n = snprintf(path, sizeof path, "%.*s%s", length, directory,
				 places_cupti_wheels[i]);
		if (n > 0 && (size_t)n < sizeof path)
			try_names(s, path, 0);
	}
}

bool cuda_library_try_all(bool (*use)(const char *path))
{
	struct search s = {.use = use};
	try_names(&s, NULL, RTLD_NOLOAD);
	const char *wish = getenv("HEADWAY_CUPTI");
	if (wish && *wish)
		try_library(&s, wish, 0);
	try_names(&s, NULL, 0);
	for (unsigned i = 0; places_cupti_folders[i]; i++)
		try_names(&s, places_cupti_folders[i], 0);
	if (s.done)
		return true;
	struct places p = {.n = 0};
	dl_iterate_phdr(note_place, &p);
	for (unsigned i = 0; i < p.n; i++)
		try_beside(&s, p.directory[i]);
	return s.done;
}

void *cuda_library_loaded_symbol(const char *name)
{
	void *symbol = NULL;
	for (unsigned i = 0; names[i] && !symbol; i++) {
		void *handle = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);
		if (!handle)
			continue;
		symbol = dlsym(handle, name);
		dlclose(handle);
	}
	return symbol;
}
