/* SPDX-License-Identifier: Apache-2.0 */
/* lang.c - see lang.h. Reads the PO files that cmake/lang.cmake puts into the binary.
 *
 * Of a PO file only what the catalogues use is read: msgid and msgstr, strings over several
 * lines, comments, and msgctxt "web" before the sentences of the page, which hwy_tr does not
 * find. The files are our own and checked by a test, so a line that is none of these is passed
 * over.
 */
#include "base/lang.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/index.h"

/* Each entry is {"zh", the file's text}. */
static const struct catalogue {
	const char *name, *text;
} catalogues[] = {
#include HEADWAY_LANGUAGES
	{NULL, NULL},
};

static struct {
	const struct catalogue *from; /* NULL: English */
	bool says_device;             /* instead of GPU */
	struct hwy_index keys;        /* by English sentence: its place in 'sentences' */
	struct sentence {
		const char *english, *text;
		bool is_of_page;
	} * sentences;
	uint32_t n, cap;
	struct hwy_arena arena;
} lang;

/* Adds the string between the quotes of a line to 'to', with its escapes resolved. */
static void add_string(const char *line, size_t length, struct hwy_bytes *to)
{
	const char *at = memchr(line, '"', length), *end = line + length;
	for (at = at ? at + 1 : end; at < end && *at != '"'; at++) {
		char c = *at;
		if (c == '\\' && at + 1 < end) {
			c = *++at;
			c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
		}
		hwy_bytes_put(to, &c, 1);
	}
}

static const char *keep_sentence(const struct hwy_bytes *text)
{
	return hwy_arena_text(&lang.arena, (const char *)text->bytes, text->n);
}

static void add_sentence(const struct hwy_bytes *key, const struct hwy_bytes *sentence,
			 bool is_of_page)
{
	if (key->n == 0 || sentence->n == 0)
		return;
	HWY_GROW(lang.sentences, lang.n, lang.cap);
	lang.sentences[lang.n] =
		(struct sentence){keep_sentence(key), keep_sentence(sentence), is_of_page};
	if (!is_of_page)
		*hwy_index_put(&lang.keys, key->bytes, key->n, NULL) = lang.n;
	lang.n++;
}

static void read_catalogue(const char *text)
{
	static const char page_context[] = "msgctxt \"web\"";
	struct hwy_bytes key = {0}, sentence = {0}, *into = NULL;
	bool is_next_of_page = false, is_of_page = false;
	while (*text) {
		size_t length = strcspn(text, "\n");
		if (strncmp(text, "msgid ", 6) == 0) {
			add_sentence(&key, &sentence, is_of_page);
			key.n = sentence.n = 0;
			into = &key;
			is_of_page = is_next_of_page;
			is_next_of_page = false;
		} else if (strncmp(text, "msgstr ", 7) == 0) {
			into = &sentence;
		} else if (strncmp(text, page_context, strlen(page_context)) == 0) {
			is_next_of_page = true;
			add_sentence(&key, &sentence, is_of_page);
			key.n = sentence.n = 0;
			into = NULL;
		}
		if (into && *text != '#')
			add_string(text, length, into);
		text += length + (text[length] == '\n');
	}
	add_sentence(&key, &sentence, is_of_page);
	hwy_bytes_free(&key);
	hwy_bytes_free(&sentence);
}

/* The texts stay: somebody may hold a sentence that was asked for before. */
static void forget(void)
{
	hwy_index_free(&lang.keys);
	free(lang.sentences);
	lang.keys = (struct hwy_index){0};
	lang.sentences = NULL;
	lang.n = lang.cap = 0;
	lang.says_device = false;
}

/* Forgets all sentences, then reads those of a language; NULL: English has none. */
static void load(const struct catalogue *from)
{
	forget();
	lang.from = from;
	if (from)
		read_catalogue(from->text);
}

/* ---- "device" for "GPU" ---------------------------------------------------------------------- */

static bool is_of_name(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	       (c >= 'A' && c <= 'Z');
}

/* Where the next word "GPU" or "GPUs" of a text stands; NULL: there is none. It is no word in
 * NumGPUOps. */
static const char *find_gpu(const char *text, const char *from)
{
	const char *at = from;
	while ((at = strstr(at, "GPU"))) {
		const char *end = at + 3 + (at[3] == 's');
		if ((at == text || !is_of_name(at[-1])) && !is_of_name(*end))
			return at;
		at += 3;
	}
	return NULL;
}

static bool is_wide(char c)
{
	return (unsigned char)c >= 0x80;
}

/* Whether a sentence of the text begins at 'at'. A text without a full stop is no sentence. */
static bool begins_sentence(const char *text, const char *at)
{
	if (at == text)
		return text[strlen(text) - 1] == '.';
	return at - text >= 2 && at[-1] == ' ' && at[-2] == '.';
}

/* Yields the text with 'noun' for each word "GPU". Chinese has a space between "GPU" and its own
 * words, but none between two words of its own. */
static const char *with_noun(const char *text, const char *noun)
{
	struct hwy_bytes changed = {0};
	const char *from = text, *at;
	while ((at = find_gpu(text, from))) {
		size_t before = (size_t)(at - from);
		if (is_wide(*noun) && before >= 2 && at[-1] == ' ' && is_wide(at[-2]))
			before--;
		hwy_bytes_put(&changed, from, before);
		const char *rest = noun;
		if (begins_sentence(text, at) && *noun >= 'a' && *noun <= 'z') {
			char capital = (char)(*noun - 'a' + 'A');
			hwy_bytes_put(&changed, &capital, 1);
			rest++;
		}
		hwy_bytes_put(&changed, rest, strlen(rest));
		from = at + 3;
		if (is_wide(*noun) && from[0] == ' ' && is_wide(from[1]))
			from++;
	}
	hwy_bytes_put(&changed, from, strlen(from));
	const char *kept = keep_sentence(&changed);
	hwy_bytes_free(&changed);
	return kept;
}

/* English has no sentences of its own here: their keys stand in any language's. */
static void use_english_keys(void)
{
	struct sentence *sentences = lang.sentences;
	for (uint32_t i = 0; i < lang.n; i++) {
		const char *bar = strchr(sentences[i].english, '|');
		bool is_word = bar && !memchr(sentences[i].english, ' ',
					      (size_t)(bar - sentences[i].english));
		sentences[i].text = is_word ? bar + 1 : sentences[i].english;
		sentences[i].is_of_page = false;
	}
}

void hwy_lang_name_device(bool is_gpu)
{
	if (lang.says_device == !is_gpu)
		return;
	const struct catalogue *from = lang.from;
	load(from ? from : is_gpu ? NULL : &catalogues[0]);
	lang.from = from;
	lang.says_device = !is_gpu;
	if (is_gpu)
		return;
	if (!from)
		use_english_keys();
	const char *noun = hwy_tr_word(HWY_KEY("noun|device"));
	for (uint32_t i = 0; i < lang.n; i++) {
		struct sentence *one = &lang.sentences[i];
		if (!one->is_of_page && find_gpu(one->text, one->text))
			one->text = with_noun(one->text, noun);
	}
}

static bool is_name(const char *known, const char *name, size_t length)
{
	return strlen(known) == length && strncmp(known, name, length) == 0;
}

bool hwy_lang_use(const char *name)
{
	/* "zh_CN.UTF-8" is "zh"; so are "zh-Hans" and "zh_TW", for want of a closer one. */
	size_t length = strcspn(name, "_-.@");
	bool is_english = length == 0 || is_name("en", name, length) ||
			  is_name("C", name, length) || is_name("POSIX", name, length);
	const struct catalogue *found = NULL;
	for (const struct catalogue *one = catalogues; one->name && !is_english; one++)
		if (is_name(one->name, name, length))
			found = one;
	if (!found && !is_english)
		return false;
	if (found == lang.from)
		return true;
	bool says_device = lang.says_device;
	load(found);
	hwy_lang_name_device(!says_device);
	return true;
}

const char *hwy_lang(void)
{
	return lang.from ? lang.from->name : "en";
}

const char *hwy_lang_name(unsigned i)
{
	return i < sizeof catalogues / sizeof *catalogues ? catalogues[i].name : NULL;
}

const char *hwy_tr(const char *english)
{
	const uint32_t *found =
		lang.n > 0 ? hwy_index_get(&lang.keys, english, strlen(english)) : NULL;
	return found ? lang.sentences[*found].text : english;
}

const char *hwy_tr_page(const char *english)
{
	for (uint32_t i = 0; i < lang.n; i++)
		if (lang.sentences[i].is_of_page && strcmp(lang.sentences[i].english, english) == 0)
			return lang.sentences[i].text;
	return english;
}

void hwy_lang_tell_page(void (*tell)(void *to, const char *english, const char *sentence), void *to)
{
	for (uint32_t i = 0; i < lang.n; i++)
		if (lang.sentences[i].is_of_page)
			tell(to, lang.sentences[i].english, lang.sentences[i].text);
}

const char *hwy_tr_word(const char *key)
{
	const char *found = hwy_tr(key), *bar = strchr(key, '|');
	/* With "device" for "GPU" the keys of English are sentences of their own, and may have kept
	 * what stands before the bar. */
	bool is_key = found == key || (bar && strncmp(found, key, (size_t)(bar + 1 - key)) == 0);
	return is_key && bar ? found + (bar + 1 - key) : found;
}

char *hwy_arena_say(struct hwy_arena *arena, const char *english, ...)
{
	va_list arguments;
	va_start(arguments, english);
	char *text = hwy_arena_vformat(arena, hwy_tr(english), arguments);
	va_end(arguments);
	return text;
}
