/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_source.c - lines of source files, from the folders of --source only.
 *
 * A recording names files as they were where it was recorded. The file is looked for below each
 * folder, first by its whole path and then without its first folders: /home/ann/net/train.py is
 * net/train.py of a checkout. Hidden files are not shown: source folders hold .env and .git.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mcp/mcp_folders.h"
#include "mcp/mcp_tools.h"
#include "mcp/mcp_tree.h"

enum {
	LARGEST_FILE = 8 << 20,
	USUAL_AROUND = 10,
	USUAL_AROUND_PLACES = 3,
};

static bool is_hidden_path(const char *path)
{
	return path[0] == '.' || strstr(path, "/.") != NULL;
}

/* Yields the path of the file below a folder, without symbolic links; NULL where it is not
 * there. Freed by the caller. */
static char *find_below(const struct mcp_folders *sources, uint32_t folder, const char *file,
			struct hwy_arena *arena)
{
	size_t n = strlen(sources->paths[folder]);
	for (const char *rest = file; rest; rest = strchr(rest, '/')) {
		rest += *rest == '/';
		if (!*rest)
			break;
		char *real = realpath(
			hwy_arena_format(arena, "%s/%s", sources->paths[folder], rest), NULL);
		if (real && strncmp(real, sources->paths[folder], n) == 0 &&
		    (n == 1 || real[n] == '/') && !is_hidden_path(real + n + (n > 1)))
			return real;
		free(real);
	}
	return NULL;
}

static char *find_file(const struct mcp_config *config, const char *file, struct hwy_arena *arena,
		       struct hwy_err *err)
{
	char *real = NULL;
	for (uint32_t i = 0; i < config->sources.n && !real && strlen(file) < 4096; i++)
		real = find_below(&config->sources, i, file, arena);
	if (!real)
		hwy_fail(err, "%.200s: not in a folder of --source", file);
	return real;
}

/* Reads a regular file into memory, with a 0 at its end. */
static char *read_whole(const char *path, const char *shown, struct hwy_err *err)
{
	struct stat about;
	char *text = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &about) != 0) {
		hwy_fail(err, "%.200s: %s", shown, strerror(errno));
	} else if (!S_ISREG(about.st_mode) || about.st_size > LARGEST_FILE) {
		hwy_fail(err, "%.200s: not a source file", shown);
	} else {
		text = hwy_zalloc((size_t)about.st_size + 1);
		ssize_t n = read(fd, text, (size_t)about.st_size);
		text[n > 0 ? n : 0] = '\0';
	}
	if (fd >= 0)
		close(fd);
	return text;
}

/* Adds the lines around one as {"line": 54, "text": "…"}; false where the file has no such line. */
static bool put_lines(struct hwy_arena *arena, struct json_value *list, const char *text,
		      int64_t line, int64_t around)
{
	int64_t number = 1;
	for (const char *at = text; *at && number <= line + around; number++) {
		size_t n = strcspn(at, "\n");
		if (number >= line - around) {
			struct json_value *row = mcp_tree_put(arena, list, NULL, JSON_OBJECT);
			mcp_tree_put_int(arena, row, "line", number);
			mcp_tree_put_text(arena, row, "text", hwy_arena_text(arena, at, n));
		}
		at += n + (at[n] == '\n');
	}
	return number > line;
}

/* Adds the lines around a place to an object; false and a sentence where they cannot be shown. */
static bool source_put(struct mcp_call *call, struct json_value *object, const char *file,
		       int64_t line, int64_t around, struct hwy_err *err)
{
	char *real = find_file(call->config, file, &call->arena, err);
	char *text = real ? read_whole(real, file, err) : NULL;
	bool done = false;
	if (text) {
		struct json_value *list = mcp_tree_put(&call->arena, object, "source", JSON_ARRAY);
		done = put_lines(&call->arena, list, text, line, around) ||
		       hwy_fail(err,
				"%.200s: has no line %lld: the file is not that of the recording",
				file, (long long)line);
	}
	free(text);
	free(real);
	return done;
}

struct json_value *mcp_source_answer(struct mcp_call *call, struct hwy_err *err)
{
	struct json_value *answer = mcp_tree_new(&call->arena, JSON_OBJECT);
	const char *file = json_get_text(call->arguments, "file");
	mcp_tree_put_text(&call->arena, answer, "file", file);
	return source_put(call, answer, file, json_get_int(call->arguments, "line"),
			  json_as_int(json_get(call->arguments, "around"), USUAL_AROUND), err)
		       ? answer
		       : NULL;
}

bool mcp_source_add(struct mcp_call *call, struct json_value *answer, struct hwy_err *err)
{
	int64_t around = json_as_int(json_get(call->arguments, "around"), USUAL_AROUND_PLACES);
	const struct json_value *findings = json_get(answer, "findings");
	(void)err;
	for (const struct json_value *finding = findings ? findings->first : NULL; finding;
	     finding = finding->next) {
		const struct json_value *places = json_get(finding, "places");
		for (struct json_value *place = places ? places->first : NULL; place;
		     place = place->next) {
			struct hwy_err why;
			const char *file = json_get_text(place, "file");
			int64_t line = json_get_int(place, "line");
			if (!*file || line <= 0)
				mcp_tree_put_text(
					&call->arena, place, "no_source",
					"no stack was recorded here, so file and line are not known; range, function "
					"and api tell what is");
			else if (!source_put(call, place, file, line, around, &why))
				mcp_tree_put_text(&call->arena, place, "no_source", why.text);
		}
	}
	return true;
}
