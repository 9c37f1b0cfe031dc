/* SPDX-License-Identifier: Apache-2.0 */
/* page_language.c - the built page in the language in use: its <html lang>, and its sentences
 * before its script (docs/view-protocol.md, "The page").
 *
 * The sentences stand in a script, so no '<' of them may be written as it is: "</script>" would
 * end it. In English nothing is added.
 */
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "base/memory_text.h"
#include "serve/server.h"

static void put(struct hwy_bytes *out, const char *text)
{
	hwy_bytes_put(out, text, strlen(text));
}

static void put_sentence(void *json, const char *english, const char *sentence)
{
	json_put_text(json, english, sentence);
}

/* Puts a script that sets HEADWAY_LANG: an object, English sentence -> sentence. */
static void put_sentences(struct hwy_bytes *out)
{
	struct memory_text memory;
	memory_text_begin(&memory);
	struct hwy_json json = {.out = memory.out};
	json_begin_object(&json);
	hwy_lang_tell_page(put_sentence, &json);
	json_end_object(&json);
	memory_text_end(&memory);
	put(out, "<script>window.HEADWAY_LANG=");
	for (const char *at = memory.text; *at;) {
		size_t n = strcspn(at, "<");
		hwy_bytes_put(out, at, n);
		at += n;
		if (*at) {
			put(out, "\\u003c");
			at++;
		}
	}
	put(out, "</script>\n");
	free(memory.text);
}

const char *page_language_begin(struct hwy_bytes *out)
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
	if (strcmp(hwy_lang(), "en") != 0)
		put_sentences(out);
	return rest;
}
