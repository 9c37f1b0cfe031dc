/* SPDX-License-Identifier: Apache-2.0 */
/* profile_output.c - the report's name: its placeholders are replaced, and names that cannot be
 * written are refused. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/lang.h"
#include "base/mem.h"
#include "cli/profile.h"

/* Adds the value of an environment variable. 'braced' is the text behind "%q": "{NAME}…"; yields
 * the text behind the closing brace. */
static const char *profile_output_add_variable(struct hwy_bytes *name, const char *braced)
{
	const char *end = *braced == '{' ? strchr(braced, '}') : NULL;
	if (!end)
		cli_die("output: '%%q' wants a name in braces: %%q{NAME}");
	char variable[256];
	snprintf(variable, sizeof variable, "%.*s", (int)(end - braced - 1), braced + 1);
	const char *value = getenv(variable);
	if (!value)
		cli_die("output: there is no environment variable '%s'", variable);
	hwy_bytes_put(name, value, strlen(value));
	return end + 1;
}

static bool profile_output_ends_with(const struct hwy_bytes *name, const char *ending)
{
	size_t n = strlen(ending);
	return name->n > n && memcmp(name->bytes + name->n - n, ending, n) == 0;
}

/* Adds the ending .hwy to a name; it replaces the endings that nsys gives to reports. */
static void add_ending(struct hwy_bytes *name)
{
	static const char *const endings[] = {".hwy", ".nsys-rep", ".qdrep"};
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (profile_output_ends_with(name, endings[i])) {
			name->n -= strlen(endings[i]);
			break;
		}
	hwy_bytes_put(name, ".hwy", 4);
}

char *profile_output_name(const char *output, pid_t pid)
{
	struct hwy_bytes name = {0};
	char piece[256] = "";
	for (const char *rest = output; *rest;) {
		if (*rest != '%') {
			hwy_bytes_put(&name, rest++, 1);
			continue;
		}
		rest += 2;
		switch (rest[-1]) {
		case '%': hwy_bytes_put_byte(&name, '%'); break;
		case 'p':
			snprintf(piece, sizeof piece, "%d", (int)pid);
			hwy_bytes_put(&name, piece, strlen(piece));
			break;
		case 'h':
			gethostname(piece, sizeof piece - 1);
			hwy_bytes_put(&name, piece, strlen(piece));
			break;
		case 'q': rest = profile_output_add_variable(&name, rest); break;
		default:
			cli_die("output: '%s' has a '%%' that is none of %%p, %%h, %%q{NAME} and "
				"%%%%",
				output);
		}
	}
	add_ending(&name);
	hwy_bytes_put_byte(&name, '\0');
	return (char *)name.bytes;
}

char *profile_output_next_free(void)
{
	for (int n = 1;; n++) {
		char *name;
		if (asprintf(&name, "report%d.hwy", n) < 0)
			cli_die("out of memory");
		if (access(name, F_OK) != 0)
			return name;
		free(name);
	}
}

char *profile_output_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	if (!slash)
		return hwy_copy(".", 2);
	size_t n = slash == path ? 1 : (size_t)(slash - path);
	char *folder = hwy_alloc(n + 1);
	memcpy(folder, path, n);
	folder[n] = '\0';
	return folder;
}

const char *profile_output_refusal(const char *path, bool force)
{
	struct stat about;
	char *folder = profile_output_folder(path);
	const char *refusal = NULL;
	if (access(folder, W_OK | X_OK) != 0)
		refusal = hwy_strerror(errno);
	else if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
		refusal = hwy_tr("is a directory");
	else if (!force && access(path, F_OK) == 0)
		refusal = hwy_tr("exists and is kept; -f overwrites it");
	free(folder);
	return refusal;
}
