/* profile_output.c - the report's name: what is replaced in it, and what is refused before the program runs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/profile.h"

struct text {
	char *at;
	uint32_t n, cap;
};

static void profile_output_add(struct text *text, const char *more, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		HWY_GROW(text->at, text->n, text->cap);
		text->at[text->n++] = more[i];
	}
}

/* %q{NAME}: yields what follows it. */
static const char *add_variable(struct text *text, const char *at)
{
	const char *end = *at == '{' ? strchr(at, '}') : NULL;
	if (!end)
		cli_die("output: '%%q' wants a name in braces: %%q{NAME}");
	char name[256];
	snprintf(name, sizeof name, "%.*s", (int)(end - at - 1), at + 1);
	const char *value = getenv(name);
	if (!value)
		cli_die("output: there is no environment variable '%s'", name);
	profile_output_add(text, value, strlen(value));
	return end + 1;
}

static bool profile_output_ends_with(const struct text *text, const char *ending)
{
	size_t n = strlen(ending);
	return text->n > n && memcmp(text->at + text->n - n, ending, n) == 0;
}

/* .hwy instead of the endings nsys's reports have. */
static void add_ending(struct text *text)
{
	static const char *const endings[] = {".hwy", ".nsys-rep", ".qdrep"};
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
		if (profile_output_ends_with(text, endings[i])) {
			text->n -= (uint32_t)strlen(endings[i]);
			break;
		}
	profile_output_add(text, ".hwy", 4);
}

char *profile_expand(const char *output, pid_t pid)
{
	struct text text = {0};
	char piece[256] = "";
	for (const char *at = output; *at;) {
		if (*at != '%') {
			profile_output_add(&text, at++, 1);
			continue;
		}
		at += 2;
		switch (at[-1]) {
		case '%': profile_output_add(&text, "%", 1); break;
		case 'p':
			snprintf(piece, sizeof piece, "%d", (int)pid);
			profile_output_add(&text, piece, strlen(piece));
			break;
		case 'h':
			gethostname(piece, sizeof piece - 1);
			profile_output_add(&text, piece, strlen(piece));
			break;
		case 'q': at = add_variable(&text, at); break;
		default:
			cli_die("output: '%s' has a '%%' that is none of %%p, %%h, %%q{NAME} and %%%%",
				output);
		}
	}
	add_ending(&text);
	profile_output_add(&text, "", 1);
	return text.at;
}

char *profile_next_free(void)
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

char *profile_folder(const char *path)
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

const char *profile_refusal(const char *path, bool force)
{
	struct stat about;
	char *folder = profile_folder(path);
	const char *refusal = NULL;
	if (access(folder, W_OK | X_OK) != 0)
		refusal = strerror(errno);
	else if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
		refusal = "is a directory";
	else if (!force && access(path, F_OK) == 0)
		refusal = "exists and is kept; -f overwrites it";
	free(folder);
	return refusal;
}
