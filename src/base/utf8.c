/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.c - see utf8.h. */
#include "base/utf8.h"

#include "base/search.h"

size_t hwy_utf8_length(const char *text, size_t left)
{
	if (left == 0)
		return 0;
	const unsigned char *bytes = (const unsigned char *)text;
	unsigned char c = bytes[0];
	size_t n = c < 0x80                 ? 1
		   : c >= 0xc2 && c <= 0xdf ? 2
		   : (c & 0xf0) == 0xe0     ? 3
		   : c >= 0xf0 && c <= 0xf4 ? 4
					    : 0;
	if (n == 0 || n > left)
		return 0;
	for (size_t i = 1; i < n; i++)
		if (!hwy_utf8_is_inside(text[i]))
			return 0;
	/* overlong forms, surrogates and numbers above U+10FFFF are not well-formed */
	if ((c == 0xe0 && bytes[1] < 0xa0) || (c == 0xed && bytes[1] > 0x9f) ||
	    (c == 0xf0 && bytes[1] < 0x90) || (c == 0xf4 && bytes[1] > 0x8f))
		return 0;
	return n;
}

size_t hwy_utf8_decode(const char *text, size_t left, uint32_t *code)
{
	/* The bits of the first byte that belong to the code point, by the length of the
	 * sequence. */
	static const unsigned char first_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	size_t n = hwy_utf8_length(text, left);
	*code = HWY_UTF8_REPLACEMENT;
	if (n == 0)
		return 0;
	*code = (unsigned char)text[0] & first_bits[n];
	for (size_t i = 1; i < n; i++)
		*code = *code << 6 | ((unsigned char)text[i] & 0x3f);
	return n;
}

size_t hwy_utf8_encode(char to[HWY_UTF8_BYTES], uint32_t code)
{
	if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		code = HWY_UTF8_REPLACEMENT;
	if (code < 0x80) {
		to[0] = (char)code;
		return 1;
	}
	size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	for (size_t i = n - 1; i > 0; i--, code >>= 6)
		to[i] = (char)(0x80 | (code & 0x3f));
	static const unsigned char first_byte[] = {0, 0, 0xc0, 0xe0, 0xf0};
	to[0] = (char)(first_byte[n] | code);
	return n;
}

/* ---- columns --------------------------------------------------------------------------------- */

struct range {
	uint32_t first, last;
};

/* Ascending: characters of the Unicode categories Mn and Me in the scripts that utf8.h names, and
 * invisible characters. */
static const struct range without_width[] =
	{
		{0x0300, 0x036f}, /* accents */
		{0x0483, 0x0489}, /* Cyrillic */
		{0x0591, 0x05bd}, /* Hebrew */
		{0x05bf, 0x05bf},
		{0x05c1, 0x05c2},
		{0x05c4, 0x05c5},
		{0x05c7, 0x05c7},
		{0x0610, 0x061a}, /* Arabic */
		{0x061c, 0x061c},
		{0x064b, 0x065f},
		{0x0670, 0x0670},
		{0x06d6, 0x06dc},
		{0x06df, 0x06e4},
		{0x06e7, 0x06e8},
		{0x06ea, 0x06ed},
		{0x0900, 0x0902}, /* Devanagari */
		{0x093a, 0x093a},
		{0x093c, 0x093c},
		{0x0941, 0x0948},
		{0x094d, 0x094d},
		{0x0951, 0x0957},
		{0x0962, 0x0963},
		{0x0e31, 0x0e31}, /* Thai */
		{0x0e34, 0x0e3a},
		{0x0e47, 0x0e4e},
		{0x1160, 0x11ff}, /* Hangul vowels and finals, drawn into the syllable */
		{0x1ab0, 0x1ace}, /* more accents */
		{0x1dc0, 0x1dff},
		{0x200b, 0x200f}, /* zero-width space, joiners, direction marks */
		{0x202a, 0x202e},
		{0x2060, 0x206f}, /* direction, invisible operators */
		{0x20d0, 0x20f0}, /* marks for symbols */
		{0x302a, 0x302d}, /* tone marks of Chinese */
		{0x3099, 0x309a}, /* voicing marks of Japanese */
		{0xfe00, 0xfe0f}, /* variation selectors */
		{0xfe20, 0xfe2f},
		{0xfeff, 0xfeff},
		{0xe0001, 0xe007f}, /* tags */
		{0xe0100, 0xe01ef}, /* variation selectors */
};

/* Unicode: East_Asian_Width W and F. Ranges of which a few code points are narrow or unassigned are
 * kept whole beyond U+16FE0. Ascending. */
static const struct range wide[] = {
	{0x1100, 0x115f}, /* Hangul consonants */
	{0x231a, 0x231b},   {0x2329, 0x232a},   {0x23e9, 0x23ec},   {0x23f0, 0x23f0},
	{0x23f3, 0x23f3},   {0x25fd, 0x25fe},   {0x2614, 0x2615},   {0x2648, 0x2653},
	{0x267f, 0x267f},   {0x2693, 0x2693},   {0x26a1, 0x26a1},   {0x26aa, 0x26ab},
	{0x26bd, 0x26be},   {0x26c4, 0x26c5},   {0x26ce, 0x26ce},   {0x26d4, 0x26d4},
	{0x26ea, 0x26ea},   {0x26f2, 0x26f3},   {0x26f5, 0x26f5},   {0x26fa, 0x26fa},
	{0x26fd, 0x26fd},   {0x2705, 0x2705},   {0x270a, 0x270b},   {0x2728, 0x2728},
	{0x274c, 0x274c},   {0x274e, 0x274e},   {0x2753, 0x2755},   {0x2757, 0x2757},
	{0x2795, 0x2797},   {0x27b0, 0x27b0},   {0x27bf, 0x27bf},   {0x2b1b, 0x2b1c},
	{0x2b50, 0x2b50},   {0x2b55, 0x2b55},   {0x2e80, 0x303e}, /* radicals, punctuation */
	{0x3041, 0x4dbf},                     /* kana, letters in circles, ideographs */
	{0x4e00, 0xa4cf},                     /* ideographs, Yi */
	{0xa960, 0xa97f},   {0xac00, 0xd7a3}, /* Hangul syllables */
	{0xf900, 0xfaff},   {0xfe10, 0xfe19},   {0xfe30, 0xfe6f},   {0xff01, 0xff60},
	{0xffe0, 0xffe6},   {0x16fe0, 0x1b2ff}, {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf},
	{0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f200, 0x1f265}, {0x1f300, 0x1f64f},
	{0x1f680, 0x1f6ff}, {0x1f7e0, 0x1f7eb}, {0x1f90c, 0x1f9ff}, {0x1fa70, 0x1faff},
	{0x20000, 0x3fffd},
};

static bool is_in(const struct range *ranges, size_t n, uint32_t code)
{
	size_t found = HWY_FIRST(i, 0, n, ranges[i].last >= code);
	return found < n && ranges[found].first <= code;
}

int hwy_utf8_code_columns(uint32_t code)
{
	if (code < without_width[0].first)
		return 1;
	if (is_in(without_width, sizeof without_width / sizeof *without_width, code))
		return 0;
	return is_in(wide, sizeof wide / sizeof *wide, code) ? 2 : 1;
}

int hwy_utf8_columns(const char *text, size_t length)
{
	int columns = 0;
	for (size_t i = 0; i < length;) {
		uint32_t code;
		size_t n = hwy_utf8_decode(text + i, length - i, &code);
		columns += hwy_utf8_code_columns(code);
		i += n ? n : 1;
	}
	return columns;
}

size_t hwy_utf8_cut(const char *text, size_t length, int columns)
{
	size_t i = 0;
	while (i < length) {
		uint32_t code;
		size_t n = hwy_utf8_decode(text + i, length - i, &code);
		columns -= hwy_utf8_code_columns(code);
		if (columns < 0)
			break;
		i += n ? n : 1;
	}
	return i;
}

size_t hwy_utf8_cut_bytes(const char *text, size_t length, size_t most)
{
	if (length <= most)
		return length;
	/* The character that contains text[most] begins at most three bytes before it. */
	for (size_t begin = most; begin + HWY_UTF8_BYTES > most; begin--) {
		if (!hwy_utf8_is_inside(text[begin])) {
			bool is_split =
				hwy_utf8_length(text + begin, length - begin) > most - begin;
			return is_split ? begin : most;
		}
		if (begin == 0)
			break;
	}
	return most;
}
