/* SPDX-License-Identifier: Apache-2.0 */
/* profile_words.c - the command line of a launcher, with a headway before each program that it
 * starts.
 *
 * The rank's headway gets the options that this one was given. It may run on another host, where
 * there is no headway, or another one: a few words of shell look, and run the program as it is
 * where there is none that could record it. The shell sets no variable, and is gone when the
 * program starts.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/profile.h"

/* $0 is headway, $1 what it says its version is, $2 how many words stand before the program. */
static const char look[] =
	"if test \"$(\"$0\" --version 2>/dev/null)\" = \"$1\"; then shift 2; exec \"$0\" \"$@\"; fi; "
	"echo \"headway: $(uname -n): no $1 at $0: this rank is not recorded\" >&2; "
	"shift \"$2\"; shift 2; exec \"$@\"";

/* A list of words; texts in it are not copied. */
struct word_list {
	char **words;
	uint32_t n, cap;
};

static void add_word(struct word_list *list, const char *word)
{
	HWY_GROW(list->words, list->n, list->cap);
	list->words[list->n++] = (char *)word;
}

/* Adds the words that stand before each program. */
static void add_headway(struct word_list *list, struct profile *profile, int n_options,
			char **options, const char *self)
{
	struct hwy_arena *texts = &profile->job.texts;
	add_word(list, "/bin/sh");
	add_word(list, "-c");
	add_word(list, look);
	add_word(list, self);
	add_word(list, "headway " HEADWAY_VERSION);
	add_word(list, hwy_arena_format(texts, "%d", n_options + 3));
	add_word(list, "profile");
	for (int i = 0; i < n_options; i++)
		add_word(list, options[i]);
	add_word(list, hwy_arena_format(texts, "--job-rank=%s", profile->job.folder));
	add_word(list, "--");
}

char **profile_words(struct profile *profile, int argc, char **argv)
{
	const struct launcher_found *found = &profile->job.launcher;
	struct word_list list = {0};
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
	if (length <= 0)
		cli_die("/proc/self/exe: %s", hwy_strerror(errno));
	const char *path = hwy_arena_text(&profile->job.texts, self, (size_t)length);
	int program = (int)(profile->program - argv), n_options = program - 1;
	if (n_options > 0 && strcmp(argv[n_options], "--") == 0)
		n_options--;
	uint32_t next = 0;
	for (uint32_t i = 0; program + (int)i < argc; i++) {
		if (next < found->n_programs && found->programs[next] == i) {
			add_headway(&list, profile, n_options, argv + 1, path);
			next++;
		}
		add_word(&list, profile->program[i]);
	}
	add_word(&list, NULL);
	return list.words;
}
