/* SPDX-License-Identifier: Apache-2.0 */
/* plain_stdout.c - what people read on standard output, in characters that their terminal has.
 *
 * Where the locale's characters are not UTF-8, stdout becomes a stream that says each character
 * beyond ASCII with plain ones (lines.h), and hands on the rest. Files keep UTF-8, and so does
 * what programs read: JSON, Markdown, HTML, CSV.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory_text.h"
#include "base/utf8.h"
#include "cli/kit/cli.h"
#include "cli/kit/lines.h"

enum { LONGEST_CHARACTER = 4 };

/* The first bytes of a character whose rest has not come yet. */
static struct {
	char bytes[LONGEST_CHARACTER];
	size_t n;
} cut;

static bool write_all(const char *text, size_t n)
{
	while (n > 0) {
		ssize_t wrote = write(STDOUT_FILENO, text, n);
		if (wrote <= 0)
			return false;
		text += wrote;
		n -= (size_t)wrote;
	}
	return true;
}

/* Yields how many bytes at the end of a text are the begin of a character. */
static size_t unfinished_bytes(const char *text, size_t n)
{
	size_t back = 1;
	while (back < n && back < LONGEST_CHARACTER && hwy_utf8_is_inside(text[n - back]))
		back++;
	unsigned char first = n >= back ? (unsigned char)text[n - back] : 0;
	size_t whole = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
	return whole > back ? back : 0;
}

static ssize_t write_plain(void *cookie, const char *text, size_t n)
{
	(void)cookie;
	struct memory_text whole, plain;
	FILE *all = memory_text_begin(&whole);
	fwrite(cut.bytes, 1, cut.n, all);
	fwrite(text, 1, n, all);
	char *given = memory_text_end(&whole);
	cut.n = unfinished_bytes(given, whole.length);
	memcpy(cut.bytes, given + whole.length - cut.n, cut.n);
	given[whole.length - cut.n] = '\0';
	lines_put_plain(memory_text_begin(&plain), given);
	char *said = memory_text_end(&plain);
	bool done = write_all(said, plain.length);
	free(said);
	free(given);
	return done ? (ssize_t)n : 0;
}

void cli_plain_stdout(void)
{
	static bool is_plain;
	if (is_plain || cli_utf8())
		return;
	FILE *plain = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_plain});
	if (!plain)
		return;
	setvbuf(plain, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
	fflush(stdout);
	stdout = plain;
	is_plain = true;
}
