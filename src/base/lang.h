/* SPDX-License-Identifier: Apache-2.0 */
/* lang.h - sentences in the reader's language.
 *
 *   hwy_lang_use("zh");
 *   printf(hwy_tr("%u steps"), 7u);
 *
 * The key of a sentence is its English text, as it stands in the source. lang/zh.po has the
 * sentences of one language in gettext's file format and is a part of the binary: no locale need
 * be installed. A sentence that a language does not have stays English. A translation may take
 * its arguments in another order ("%2$s", "%1$s"); tests/check_lang holds it to the arguments of
 * the key.
 *
 * The language is the one piece of state that this room keeps: it is chosen once, before the
 * first sentence and the first thread.
 */
#ifndef HWY_BASE_LANG_H
#define HWY_BASE_LANG_H

#include <stdbool.h>

#include "base/mem.h"

/* Chooses the language of all sentences from here on: "zh", "zh_CN.UTF-8", "en", "C". False
 * where there is none of that name; the sentences then stay as they were. */
bool hwy_lang_use(const char *name);
/* Yields the name of the language in use: "en", "zh". */
const char *hwy_lang(void);
/* Yields the name of the i-th language that there is besides English, or NULL. */
const char *hwy_lang_name(unsigned i);

/* Yields a sentence in the language in use; 'english' itself where the language lacks it. */
const char *hwy_tr(const char *english) __attribute__((format_arg(1)));

/* hwy_tr of a word that other languages say in several ways. Its key tells where it stands, a
 * bar, and the word: "row|copies" heads a row, while "copies" is counted. Yields the text behind
 * the bar where the language lacks it. */
const char *hwy_tr_word(const char *key);

/* hwy_tr of a sentence that the page says, too: a ready question of `headway sql`. */
const char *hwy_tr_page(const char *english);

/* From here on sentences say "device" where they say "GPU", or again "GPU": for recordings whose
 * devices are all CPUs, by OpenCL. Only the sentences change, never what is filled into them:
 * names of kernels and of devices stay as they are. To be called, as hwy_lang_use, before the
 * first thread. */
void hwy_lang_name_device(bool is_gpu);

/* Tells every sentence of the language in use that the viewer's page says, in the file's order:
 * their entries have the context "web", so that a word of the page may have another translation
 * than the same word here. */
void hwy_lang_tell_page(void (*tell)(void *to, const char *english, const char *sentence),
			void *to);

/* Marks a string of a table as a key for tests/check_lang; the sentence itself is asked for with
 * hwy_tr where the table is read. */
#define HWY_KEY(english) (english)

/* hwy_arena_format with a format that is translated first. */
HWY_ALLOCATES char *hwy_arena_say(struct hwy_arena *arena, const char *english, ...)
	__attribute__((format(printf, 2, 3)));

#endif
