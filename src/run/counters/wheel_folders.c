/* SPDX-License-Identifier: Apache-2.0 */
/* wheel_folders.c - see wheel_folders.h. */
#include "run/counters/wheel_folders.h"

#include <glob.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

struct folders {
	char **list;
	uint32_t n, cap;
};

static void add_folder(struct folders *f, char *folder)
{
	HWY_GROW(f->list, f->n, f->cap);
	f->list[f->n++] = folder;
}

/* Adds what 'start' and 'pattern' together match. */
static void add_matching(struct folders *f, const char *start, int length, const char *pattern)
{
	char path[PATH_MAX];
	glob_t found;
	int n = snprintf(path, sizeof path, "%.*s%s", length, start, pattern);
	if (n < 0 || n >= (int)sizeof path || glob(path, 0, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		add_folder(f, hwy_copy(found.gl_pathv[i], strlen(found.gl_pathv[i]) + 1));
	globfree(&found);
}

static bool has_python(const char *folder, int length)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof path, "%.*s/python3", length, folder);
	return n > 0 && n < (int)sizeof path && access(path, X_OK) == 0;
}

char **wheel_folders_find(const char *path, const char *home)
{
	struct folders f = {0};
	for (const char *rest = path ? path : ""; *rest;) {
		int length = (int)strcspn(rest, ":");
		int prefix = length; /* without the last part: /opt/env/bin → /opt/env */
		while (prefix > 0 && rest[prefix - 1] != '/')
			prefix--;
		if (length && *rest == '/' && has_python(rest, length)) {
			add_matching(&f, rest, prefix, "lib*/python3*/site-packages");
			add_matching(&f, rest, prefix, "lib/python3*/dist-packages");
			add_matching(&f, rest, prefix, "local/lib/python3*/dist-packages");
		}
		rest += length + (rest[length] == ':');
	}
	if (home && *home == '/')
		add_matching(&f, home, (int)strlen(home), "/.local/lib/python3*/site-packages");
	add_folder(&f, NULL);
	return f.list;
}

void wheel_folders_free(char **folders)
{
	for (uint32_t i = 0; folders && folders[i]; i++)
		free(folders[i]);
	free(folders);
}
