/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.h - characters of UTF-8 text: where one ends, its code point, how many columns of a
 * terminal it takes.
 *
 *   const char *text = "内核 launch";
 *   size_t length = strlen(text);
 *   int columns = hwy_utf8_columns(text, length); // 11: each Chinese character takes two columns
 *   size_t fits = hwy_utf8_cut(text, length, 3); // 3 bytes: the second character would need column 4
 *   printf("%.*s…\n", (int)fits, text);
 *
 * Widths come from a table of our own, so that a table looks the same whatever the locale is. A
 * byte that is no UTF-8 counts as a character of one column: it is shown as one '?' or U+FFFD.
 */
#ifndef HWY_BASE_UTF8_H
#define HWY_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	HWY_UTF8_REPLACEMENT = 0xfffd, /* U+FFFD, shown in place of bytes that are no character */
	HWY_UTF8_BYTES = 4,            /* length of the longest sequence */
};

/* Yields the length of the well-formed UTF-8 sequence at 'text', of which 'left' bytes may be read;
 * 0 where it is none. Overlong forms, surrogates and numbers above U+10FFFF are not well-formed. */
size_t hwy_utf8_length(const char *text, size_t left);
/* hwy_utf8_length that also stores the code point in *code (HWY_UTF8_REPLACEMENT where the result
 * is 0). */
size_t hwy_utf8_decode(const char *text, size_t left, uint32_t *code);
/* Writes a code point and yields its number of bytes, 1 … 4. A number that is no code point is
 * written as U+FFFD. */
size_t hwy_utf8_encode(char to[HWY_UTF8_BYTES], uint32_t code);

/* Whether a byte continues a character, that is, does not begin one. */
static inline bool hwy_utf8_is_inside(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Yields the columns of a character on a terminal: 2 for East Asian wide characters and emoji, 0
 * for marks that combine with the character before them and for invisible ones, else 1 (control
 * characters too: they are shown as '?'). Marks are known for Latin, Greek, Cyrillic, Hebrew,
 * Arabic, Devanagari, Thai and Korean; those of other scripts count 1. */
int hwy_utf8_code_columns(uint32_t code);
/* Yields the columns that a text of 'length' bytes takes on a terminal. */
int hwy_utf8_columns(const char *text, size_t length);
/* Yields the length of the longest beginning that takes at most 'columns' columns. No character is
 * split, and marks stay with the character that they combine with. */
size_t hwy_utf8_cut(const char *text, size_t length, int columns);
/* Yields the length in bytes, at most 'most', of the longest beginning of the text that splits no
 * character. */
size_t hwy_utf8_cut_bytes(const char *text, size_t length, size_t most);

#endif
