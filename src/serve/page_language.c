/* SPDX-License-Identifier: Apache-2.0 */
/* page_language.c - the built page in the language in use: its <html lang>, and its sentences
 * before its script (docs/view-protocol.md, "The page").
 *
 * The sentences stand in a script, so no '<' of them may be written as it is: "</script>" would
 * end it. In English nothing is added.
 *
 * What the first picture does not need is the page's second script, between two marks
 * (web/build.mjs). The server sends it by a request of its own, with the sentences that stand in
 * that script alone; a self-contained page has all of it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/lang.h"
#include "base/memory_text.h"
#include "serve/asking.h"
#include "serve/server.h"

static void put(struct hwy_bytes *out, const char *text)
{
	hwy_bytes_put(out, text, strlen(text));
}

/* Where a string stands between quotation marks: bits of the value in the index of literals. */
enum { IN_FIRST = 1, IN_LATE = 2 };

/* The sentences that one script gets. */
struct choice {
	struct hwy_json json;
	struct hwy_index literals; /* by string: in which scripts the string stands */
	bool is_late;              /* whether the second script gets them */
	bool is_all;               /* whether there is one script with all sentences */
};

/* Adds every string between two quotation marks that follow each other in a script. Half of them
 * are the code between two strings, which equals no sentence. */
static void add_literals(struct hwy_index *literals, const char *from, const char *end,
			 uint32_t where)
{
	const char *open = memchr(from, '"', (size_t)(end - from));
	while (open) {
		const char *close = memchr(open + 1, '"', (size_t)(end - open - 1));
		if (close)
			*hwy_index_put_reference(literals, open + 1, (size_t)(close - open - 1),
						 NULL) |= where;
		open = close;
	}
}

/* A sentence waits for the second script only where it is known to stand there alone. A single word
 * may be a name in the code, where it has no quotation marks. */
static bool is_for_late(const struct hwy_index *literals, const char *english)
{
	const uint32_t *where = hwy_index_get(literals, english, strlen(english));
	return where && *where == IN_LATE && strchr(english, ' ');
}

static void put_sentence(void *to, const char *english, const char *sentence)
{
	struct choice *choice = to;
	if (choice->is_all || is_for_late(&choice->literals, english) == choice->is_late)
		json_put_text(&choice->json, english, sentence);
}

/* Puts the statement that sets HEADWAY_LANG: an object, English sentence -> sentence. */
static void put_sentences(struct hwy_bytes *out, struct choice *choice)
{
	struct memory_text memory;
	memory_text_begin(&memory);
	choice->json = (struct hwy_json){.out = memory.out};
	json_begin_object(&choice->json);
	hwy_lang_tell_page(put_sentence, choice);
	json_end_object(&choice->json);
	memory_text_end(&memory);
	put(out, "window.HEADWAY_LANG=");
	for (const char *at = memory.text; *at;) {
		size_t n = strcspn(at, "<");
		hwy_bytes_put(out, at, n);
		at += n;
		if (*at) {
			put(out, "\\u003c");
			at++;
		}
	}
	put(out, ";");
	free(memory.text);
}

static bool is_translated(void)
{
	return strcmp(hwy_lang(), "en") != 0;
}

/* Puts the page up to where data and sentences may stand in it; yields the rest, or NULL. */
static const char *put_first_part(struct hwy_bytes *out)
{
	static const char english[] = "<html lang=\"en\">", mark[] = "<!--HEADWAY_INLINE-->";
	const char *tag = strstr(built_page, english), *rest = strstr(built_page, mark);
	if (!tag || !rest)
		return NULL;
	hwy_bytes_put(out, built_page, (size_t)(tag - built_page));
	put(out, "<html lang=\"");
	put(out, hwy_lang());
	put(out, "\">");
	tag += strlen(english);
	hwy_bytes_put(out, tag, (size_t)(rest - tag));
	return rest;
}

const char *page_language_begin(struct hwy_bytes *out)
{
	const char *rest = put_first_part(out);
	if (rest && is_translated()) {
		put(out, "<script>");
		put_sentences(out, &(struct choice){.is_all = true});
		put(out, "</script>\n");
	}
	return rest;
}

/* The second script between its marks, with its tags. */
struct late {
	const char *mark, *script, *end, *after;
};

static bool find_late(struct late *late)
{
	static const char begin[] = "<!--HEADWAY_LATE--><script>",
			  end[] = "</script><!--HEADWAY_LATE_END-->";
	late->mark = strstr(built_page, begin);
	late->end = late->mark ? strstr(late->mark, end) : NULL;
	if (!late->end)
		return false;
	late->script = late->mark + strlen(begin);
	late->after = late->end + strlen(end);
	return true;
}

static void put_chosen(struct hwy_bytes *out, const struct late *late, bool is_late)
{
	struct choice choice = {.is_late = is_late};
	add_literals(&choice.literals, built_page, late->mark, IN_FIRST);
	add_literals(&choice.literals, late->after, built_page_end, IN_FIRST);
	add_literals(&choice.literals, late->script, late->end, IN_LATE);
	put_sentences(out, &choice);
	hwy_index_free(&choice.literals);
}

bool page_ask(struct asking *a, struct hwy_err *err)
{
	(void)err;
	struct hwy_bytes *out = &a->answer->body;
	struct late late;
	a->answer->type = "text/html; charset=utf-8";
	const char *rest = find_late(&late) ? put_first_part(out) : NULL;
	if (!rest) {
		hwy_bytes_put(out, built_page, (size_t)(built_page_end - built_page));
		return true;
	}
	if (is_translated()) {
		put(out, "<script>");
		put_chosen(out, &late, false);
		put(out, "</script>\n");
	}
	hwy_bytes_put(out, rest, (size_t)(late.mark - rest));
	hwy_bytes_put(out, late.after, (size_t)(built_page_end - late.after));
	return true;
}

bool page_ask_late(struct asking *a, struct hwy_err *err)
{
	struct hwy_bytes *out = &a->answer->body;
	struct late late;
	a->answer->type = "text/javascript; charset=utf-8";
	(void)err;
	if (!find_late(&late))
		return true;
	if (is_translated())
		put_chosen(out, &late, true);
	hwy_bytes_put(out, late.script, (size_t)(late.end - late.script));
	return true;
}
