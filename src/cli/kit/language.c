/* SPDX-License-Identifier: Apache-2.0 */
/* language.c - the language of what people read: --lang, else HEADWAY_LANG, else the locale that
 * the environment names.
 *
 * A locale chooses its language only where its character set is UTF-8, by its name: the locale
 * need not be installed. */
#include "cli/kit/cli.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/lang.h"

static const char *language_word(size_t i)
{
	return i == 0 ? "en" : hwy_lang_name((unsigned)i - 1);
}

const struct cli_option cli_language_option = {
	.name = "lang",
	.value = "NAME",
	.help = "the language of what is said: en, zh (default: that of the locale)",
	.type = CLI_TEXT,
	.word = language_word,
};

void cli_language_use(const char *name)
{
	if (hwy_lang_use(name))
		return;
	char known[128] = "";
	for (size_t i = 0; language_word(i); i++)
		snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s",
			 i ? ", " : "", language_word(i));
	cli_die("there is no language '%s' here; there are: %s", name, known);
}

static bool is_utf8_locale(const char *locale)
{
	const char *set = strchr(locale, '.');
	return set && (strncasecmp(set, ".utf-8", 6) == 0 || strncasecmp(set, ".utf8", 5) == 0);
}

void cli_language_start(void)
{
	static const char *const variables[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
	const char *own = getenv("HEADWAY_LANG");
	if (own && *own) {
		cli_language_use(own);
		return;
	}
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
		const char *locale = getenv(variables[i]);
		if (!locale || !*locale)
			continue;
		if (is_utf8_locale(locale))
			hwy_lang_use(locale);
		return; /* the first that is set decides, as in setlocale */
	}
}
