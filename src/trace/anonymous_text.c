/* SPDX-License-Identifier: Apache-2.0 */
/* anonymous_text.c - see anonymous_text.h. */
#include "trace/anonymous_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Folders that are the same on every machine. */
static const char *const public_folders[] = {
	"/usr/lib/",       "/usr/lib64/",  "/usr/lib32/",   "/usr/libexec/",   "/usr/bin/",
	"/usr/sbin/",      "/usr/share/",  "/usr/include/", "/usr/local/lib/", "/usr/local/bin/",
	"/usr/local/cuda", "/lib/",        "/lib64/",       "/lib32/",         "/bin/",
	"/sbin/",          "/opt/nvidia/", "/opt/rocm",     "/proc/",          "/dev/nvidia",
	"/dev/dri/",       "/dev/null"};
/* From one of these on a path names a library, which is the same for everybody. Analyses tell
 * libraries from programs by them. */
static const char *const library_folders[] = {"/lib/python", "/lib64/python", "/site-packages/",
					      "/dist-packages/"};
static const char *const homes[] = {"/home/", "/Users/", "\\Users\\"};

void anonymous_begin(struct anonymous *words)
{
	*words = (struct anonymous){0};
	hwy_strings_init(&words->folders);
}

void anonymous_end(struct anonymous *words)
{
	hwy_strings_free(&words->folders);
}

/* ---- words ----------------------------------------------------------------------------------- */

static void learn_word(struct anonymous *words, const char *text, size_t n, const char *instead)
{
	struct anonymous_word *word = &words->words[words->n];
	if (n < 2 || n >= sizeof word->text || words->n == ANONYMOUS_WORDS)
		return;
	for (uint32_t i = 0; i < words->n; i++)
		if (strlen(words->words[i].text) == n && memcmp(words->words[i].text, text, n) == 0)
			return;
	memcpy(word->text, text, n);
	word->text[n] = 0;
	word->instead = instead;
	words->n++;
}

void anonymous_learn(struct anonymous *words, const char *text, const char *instead)
{
	static const char *const everybody[] = {"localhost", "root", "user", "host", "shared"};
	for (size_t i = 0; text && i < LENGTH(everybody); i++)
		if (strcmp(text, everybody[i]) == 0)
			return;
	if (!text)
		return;
	learn_word(words, text, strlen(text), instead);
	/* A host with its domain is known without the domain too. */
	if (strcmp(instead, "host") == 0)
		learn_word(words, text, strcspn(text, "."), instead);
}

void anonymous_learn_home(struct anonymous *words, const char *home)
{
	/* "/" and "/root" say nothing about anybody. */
	if (home && strlen(home) > 1 && strcmp(home, "/root") != 0)
		learn_word(words, home, strlen(home), "/home");
}

void anonymous_learn_users(struct anonymous *words, struct hwy_text text)
{
	char name[64];
	for (size_t h = 0; h < LENGTH(homes); h++) {
		size_t length = strlen(homes[h]);
		const char *found = memmem(text.at, text.length, homes[h], length);
		if (!found)
			continue;
		found += length;
		size_t n = strcspn(found, "/\\ '\":,;)");
		if (n < sizeof name && n > 0) {
			memcpy(name, found, n);
			name[n] = 0;
			anonymous_learn(words, name, "user");
		}
	}
}

/* Whether a word may begin or end between two bytes: names of fewer than four letters are taken as
 * words only where no '_' touches them. */
static bool is_border(char c, size_t length)
{
	return !isalnum((unsigned char)c) && (c != '_' || length >= 4);
}

/* Yields the word that stands at a place of a text, or NULL. */
static const struct anonymous_word *word_at(const struct anonymous *words, struct hwy_text text,
					    size_t i)
{
	const struct anonymous_word *longest = NULL;
	for (uint32_t w = 0; w < words->n; w++) {
		const struct anonymous_word *word = &words->words[w];
		size_t n = strlen(word->text);
		if (n > text.length - i || strncasecmp(text.at + i, word->text, n) != 0 ||
		    (i > 0 && !is_border(text.at[i - 1], n)) ||
		    (i + n < text.length && !is_border(text.at[i + n], n)))
			continue;
		if (!longest || n > strlen(longest->text))
			longest = word;
	}
	return longest;
}

/* Adds a part of a text in which names of hosts and users are replaced. */
static void put_words(const struct anonymous *words, struct hwy_text text, bool replaces,
		      struct hwy_bytes *out)
{
	for (size_t i = 0; i < text.length;) {
		const struct anonymous_word *word = replaces ? word_at(words, text, i) : NULL;
		if (word) {
			hwy_bytes_put(out, word->instead, strlen(word->instead));
			i += strlen(word->text);
		} else {
			hwy_bytes_put_byte(out, (uint8_t)text.at[i++]);
		}
	}
}

/* ---- paths ----------------------------------------------------------------------------------- */

static bool is_slash(char c)
{
	return c == '/' || c == '\\';
}

/* Whether an absolute path begins at a place: "/x" or "C:\x", not behind a letter, a dot or '>'. */
static bool path_begins(struct hwy_text text, size_t i)
{
	const char *at = text.at + i;
	size_t left = text.length - i;
	char before = i > 0 ? at[-1] : ' ';
	if (isalnum((unsigned char)before) || strchr("_.)>]~/\\", before))
		return false;
	if (left >= 3 && isalpha((unsigned char)at[0]) && at[1] == ':' && is_slash(at[2]))
		return true;
	return left >= 2 && at[0] == '/' &&
	       (isalnum((unsigned char)at[1]) || strchr("._~@+-", at[1]) ||
		(unsigned char)at[1] >= 0x80);
}

static size_t path_length(struct hwy_text text, size_t i, enum anonymous_kind kind)
{
	size_t n = 0;
	if (kind == ANONYMOUS_PATH)
		return text.length - i;
	/* The colon of "C:" is a part of the path, that of "file:12" is not. */
	while (i + n < text.length && ((n == 1 && text.at[i + n] == ':') ||
				       (!isspace((unsigned char)text.at[i + n]) &&
					!strchr("'\"`:,;()<>|*?[]{}", text.at[i + n]))))
		n++;
	return n;
}

static bool is_public(struct hwy_text path)
{
	for (size_t i = 0; i < LENGTH(public_folders); i++) {
		size_t n = strlen(public_folders[i]);
		if (path.length >= n && memcmp(path.at, public_folders[i], n) == 0)
			return true;
	}
	return false;
}

/* Yields the length of the folder that is left out: all before the last slash, or before the first
 * folder of libraries. */
static size_t folder_length(struct hwy_text path)
{
	size_t n = 0;
	for (size_t i = 0; i + 1 < path.length; i++)
		n = is_slash(path.at[i]) ? i : n;
	for (size_t i = 0; i < LENGTH(library_folders); i++) {
		const char *found = memmem(path.at, path.length, library_folders[i],
					   strlen(library_folders[i]));
		if (found && (size_t)(found - path.at) < n)
			n = (size_t)(found - path.at);
	}
	return n;
}

static void put_private_path(struct anonymous *words, struct hwy_text path, struct hwy_bytes *out)
{
	size_t folder = is_public(path) ? 0 : folder_length(path);
	if (folder > 0) {
		char name[32];
		int n = snprintf(name, sizeof name, "/dir%u",
				 hwy_intern(&words->folders, path.at, folder));
		hwy_bytes_put(out, name, (size_t)n);
	}
	struct hwy_text rest = {path.at + folder, path.length - (uint32_t)folder};
	put_words(words, rest, true, out);
}

/* "scheme://host/…": yields the length of scheme's "://" and the host, 0 where there is none. */
static size_t address_length(struct hwy_text text, size_t i)
{
	size_t n = 3;
	if (text.length - i < 4 || memcmp(text.at + i, "://", 3) != 0)
		return 0;
	while (i + n < text.length && !isspace((unsigned char)text.at[i + n]) &&
	       !strchr("/?#'\"`<>", text.at[i + n]))
		n++;
	return n;
}

bool anonymous_rewrite(struct anonymous *words, struct hwy_text text, enum anonymous_kind kind,
		       struct hwy_bytes *out)
{
	size_t i = 0, plain = 0;
	bool replaces = kind != ANONYMOUS_FUNCTION;
	while (i < text.length) {
		bool is_path = path_begins(text, i) && (kind != ANONYMOUS_PATH || i == 0);
		size_t address = is_path ? 0 : address_length(text, i);
		if (!is_path && !address) {
			i++;
			continue;
		}
		put_words(words, (struct hwy_text){text.at + plain, (uint32_t)(i - plain)},
			  replaces, out);
		size_t n = is_path ? path_length(text, i, kind) : address;
		if (is_path)
			put_private_path(words, (struct hwy_text){text.at + i, (uint32_t)n}, out);
		else
			hwy_bytes_put(out, "://host", 7);
		i += n;
		plain = i;
	}
	put_words(words, (struct hwy_text){text.at + plain, text.length - (uint32_t)plain},
		  replaces, out);
	return out->n != text.length || (text.length && memcmp(out->bytes, text.at, out->n) != 0);
}
