/* SPDX-License-Identifier: Apache-2.0 */
/* json_scan.c - see json_scan.h.
 *
 * Lenient strings: old recorders wrote names with quotes that are not escaped. In a lenient scan a
 * quote ends a string only if the text behind it can follow a string: a colon behind a key; a
 * closing bracket, or a comma and the next member or element, behind a value.
 */
#include "import/json_scan.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

static bool stop_scan(struct scan *scan, const char *cursor, enum scan_status status)
{
	scan->cursor = cursor;
	scan->status = cursor >= scan->end ? SCAN_MORE : status;
	return false;
}

static inline const char *json_scan_skip_space(const char *cursor)
{
	while (*cursor == ' ' || *cursor == '\n' || *cursor == '\r' || *cursor == '\t')
		cursor++;
	return cursor;
}

/* Yields the next quote or backslash; at the latest the quote behind the end of the window. */
static inline const char *find_quote(const char *cursor)
{
#ifdef __SSE2__
	const __m128i quote = _mm_set1_epi8('"'), backslash = _mm_set1_epi8('\\');
	for (;; cursor += 16) {
		__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)cursor);
		__m128i hits = _mm_or_si128(_mm_cmpeq_epi8(bytes, quote),
					    _mm_cmpeq_epi8(bytes, backslash));
		unsigned mask = (unsigned)_mm_movemask_epi8(hits);
		if (mask)
			return cursor + __builtin_ctz(mask);
	}
#else
	while (*cursor != '"' && *cursor != '\\')
		cursor++;
	return cursor;
#endif
}

/* Yields the next quote without a backslash before it; NULL when the window ends first. */
static inline const char *closing_quote(const char *cursor, const char *end, bool *escaped)
{
	for (;;) {
		cursor = find_quote(cursor);
		if (cursor >= end)
			return NULL;
		if (*cursor == '"')
			return cursor;
		*escaped = true;
		cursor += 2;
		if (cursor >= end)
			return NULL;
	}
}

enum place { AFTER_KEY, IN_OBJECT, IN_ARRAY };

enum guess { NO, YES, UNSURE };

static enum guess guess_byte(const char *cursor, const char *end, char wanted)
{
	return cursor >= end ? UNSURE : *cursor == wanted ? YES : NO;
}

/* Whether a lenient string in this place may end at 'quote'; UNSURE where the window ends before
 * that is clear. */
static enum guess can_end_here(const char *quote, const char *end, enum place place)
{
	const char *cursor = json_scan_skip_space(quote + 1);
	if (place == AFTER_KEY)
		return guess_byte(cursor, end, ':');
	if (guess_byte(cursor, end, ',') != YES)
		return guess_byte(cursor, end, place == IN_ARRAY ? ']' : '}');
	cursor = json_scan_skip_space(cursor + 1);
	if (cursor >= end)
		return UNSURE;
	if (place == IN_ARRAY)
		return *cursor != ',' && *cursor != ':' ? YES : NO;
	if (*cursor != '"')
		return *cursor == '}' ? YES : NO;
	bool escaped;
	const char *next = closing_quote(cursor + 1, end, &escaped);
	return next ? guess_byte(json_scan_skip_space(next + 1), end, ':') : UNSURE;
}

/* The first quote from 'quote' on at which a lenient string may end; NULL: the window ends
 * first. */
static const char *lenient_end(struct scan *scan, const char *quote, enum place place,
			       bool *escaped)
{
	enum guess guess = NO;
	while (quote && (guess = can_end_here(quote, scan->end, place)) == NO) {
		quote = closing_quote(quote + 1, scan->end, escaped);
		scan->guessed = true;
	}
	return guess == YES ? quote : NULL;
}

/* Yields the closing quote of the string whose text begins at 'cursor'; NULL, with the status
 * set, where there is none. */
static inline const char *string_end(struct scan *scan, const char *cursor, enum place place,
				     bool *escaped)
{
	const char *quote = closing_quote(cursor, scan->end, escaped);
	if (__builtin_expect(scan->lenient, 0))
		quote = lenient_end(scan, quote, place, escaped);
	if (!quote)
		stop_scan(scan, scan->end, SCAN_MORE);
	return quote;
}

static bool is_word_byte(char c)
{
	return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '.' ||
	       c == '-' || c == '+' || c == '_';
}

static inline const char *skip_digits(const char *cursor)
{
	while (*cursor >= '0' && *cursor <= '9')
		cursor++;
	return cursor;
}

/* Yields the end of a valid JSON number; 'cursor' itself where there is no number. */
static inline const char *number_end(const char *cursor)
{
	const char *digits = cursor + (*cursor == '-');
	const char *end = skip_digits(digits);
	if (end == digits)
		return cursor;
	if (*end == '.') {
		const char *fraction = skip_digits(end + 1);
		if (fraction == end + 1)
			return cursor;
		end = fraction;
	}
	if (*end == 'e' || *end == 'E') {
		digits = end + 1 + (end[1] == '-' || end[1] == '+');
		end = skip_digits(digits);
		if (end == digits)
			return cursor;
	}
	return end;
}

/* The end of a number or word, with its type; 'cursor' itself where there is none. *odd is set for
 * words JSON does not have. */
static inline const char *token_end(const char *cursor, uint8_t *type, bool *odd)
{
	const char *end = number_end(cursor);
	*type = SCAN_NUMBER;
	if (end > cursor && !is_word_byte(*end))
		return end;
	*type = SCAN_WORD;
	for (end = cursor; is_word_byte(*end);)
		end++;
	size_t length = (size_t)(end - cursor);
	if (!(length == 4 && (memcmp(cursor, "null", 4) == 0 || memcmp(cursor, "true", 4) == 0)) &&
	    !(length == 5 && memcmp(cursor, "false", 5) == 0))
		*odd = true;
	return end;
}

struct walk { /* the state of container_end */
	const char *cursor;
	/* One bit for each level of nesting: 1 for an object, 0 for an array; bit 0 is the
	 * innermost level. */
	uint64_t objects;
	unsigned depth;
	enum { OPENED, COMMA, COLON, VALUE } last;
	bool odd;
};

static inline bool may_start_value(const struct walk *walk)
{
	return walk->objects & 1 ? walk->last == COLON : walk->last != VALUE;
}

static inline bool walk_open(struct scan *scan, struct walk *walk)
{
	if (walk->depth > 0 && !may_start_value(walk))
		return stop_scan(scan, walk->cursor, SCAN_BAD);
	if (walk->depth++ == SCAN_DEPTH_MOST)
		return stop_scan(scan, walk->cursor, SCAN_DEEP);
	walk->objects = walk->objects << 1 | (*walk->cursor == '{');
	walk->last = OPENED;
	walk->cursor++;
	return true;
}

static inline bool walk_close(struct scan *scan, struct walk *walk)
{
	if ((*walk->cursor == '}') != (walk->objects & 1) || walk->last == COLON)
		return stop_scan(scan, walk->cursor, SCAN_BAD);
	walk->odd |= walk->last == COMMA;
	walk->objects >>= 1;
	walk->depth--;
	walk->last = VALUE;
	walk->cursor++;
	return true;
}

/* Reads a string: a key with its colon, or a value. */
static inline bool walk_string(struct scan *scan, struct walk *walk)
{
	bool in_object = walk->objects & 1, escaped;
	enum place place = !in_object ? IN_ARRAY : walk->last == COLON ? IN_OBJECT : AFTER_KEY;
	if (walk->cursor >= scan->end || walk->last == VALUE)
		return stop_scan(scan, walk->cursor, SCAN_BAD);
	const char *end = string_end(scan, walk->cursor + 1, place, &escaped);
	if (!end)
		return false;
	walk->cursor = end + 1;
	walk->last = VALUE;
	if (place != AFTER_KEY)
		return true;
	walk->cursor = json_scan_skip_space(walk->cursor);
	if (*walk->cursor != ':')
		return stop_scan(scan, walk->cursor, SCAN_BAD);
	walk->cursor++;
	walk->last = COLON;
	return true;
}

static inline bool walk_token(struct scan *scan, struct walk *walk)
{
	uint8_t type;
	const char *end =
		may_start_value(walk) ? token_end(walk->cursor, &type, &walk->odd) : walk->cursor;
	if (end == walk->cursor)
		return stop_scan(scan, walk->cursor, SCAN_BAD);
	walk->cursor = end;
	walk->last = VALUE;
	return true;
}

/* The end of the object or array that opens at 'cursor', which is checked to be valid; NULL with
 * the status set. */
static const char *container_end(struct scan *scan, const char *cursor, bool *odd)
{
	struct walk walk = {.cursor = cursor};
	do {
		bool ok = true;
		walk.cursor = json_scan_skip_space(walk.cursor);
		switch (*walk.cursor) {
		case '{':
		case '[': ok = walk_open(scan, &walk); break;
		case '}':
		case ']': ok = walk_close(scan, &walk); break;
		case '"': ok = walk_string(scan, &walk); break;
		case ',':
			if (walk.last != VALUE)
				return stop_scan(scan, walk.cursor, SCAN_BAD), NULL;
			walk.last = COMMA;
			walk.cursor++;
			break;
		default: ok = walk_token(scan, &walk);
		}
		if (!ok)
			return NULL;
	} while (walk.depth > 0);
	*odd |= walk.odd;
	return walk.cursor;
}

char scan_peek(struct scan *scan)
{
	scan->cursor = json_scan_skip_space(scan->cursor);
	return *scan->cursor;
}

bool scan_enter(struct scan *scan, char bracket)
{
	scan->cursor = json_scan_skip_space(scan->cursor);
	if (*scan->cursor != bracket)
		return stop_scan(scan, scan->cursor, SCAN_BAD);
	scan->cursor++;
	scan->fresh = true;
	return true;
}

/* Goes to the next member or element; false: it read the closing bracket instead, or the status is
 * set. */
static inline bool next_entry(struct scan *scan, char closing)
{
	const char *cursor = json_scan_skip_space(scan->cursor);
	if (!scan->fresh && *cursor != closing) {
		if (*cursor != ',')
			return stop_scan(scan, cursor, SCAN_BAD);
		cursor = json_scan_skip_space(cursor + 1);
	}
	scan->fresh = false;
	scan->cursor = cursor;
	if (*cursor == closing) {
		scan->cursor++;
		return false;
	}
	return true;
}

bool scan_key(struct scan *scan, struct hwy_text *key)
{
	if (!next_entry(scan, '}'))
		return false;
	const char *cursor = scan->cursor;
	if (*cursor != '"' || cursor >= scan->end)
		return stop_scan(scan, cursor, SCAN_BAD);
	bool escaped;
	const char *end = string_end(scan, cursor + 1, AFTER_KEY, &escaped);
	if (!end)
		return false;
	*key = (struct hwy_text){cursor + 1, (uint32_t)(end - cursor - 1)};
	cursor = json_scan_skip_space(end + 1);
	if (*cursor != ':')
		return stop_scan(scan, cursor, SCAN_BAD);
	scan->cursor = json_scan_skip_space(cursor + 1);
	scan->in_array = false;
	return true;
}

bool scan_element(struct scan *scan)
{
	if (!next_entry(scan, ']'))
		return false;
	scan->in_array = true;
	return true;
}

bool scan_value(struct scan *scan, struct scan_value *value)
{
	const char *cursor = json_scan_skip_space(scan->cursor), *end;
	*value = (struct scan_value){.text = cursor};
	scan->guessed = false;
	switch (*cursor) {
	case '"':
		if (cursor >= scan->end)
			return stop_scan(scan, cursor, SCAN_MORE);
		value->type = SCAN_STRING;
		value->text = cursor + 1;
		end = string_end(scan, cursor + 1, scan->in_array ? IN_ARRAY : IN_OBJECT,
				 &value->escaped);
		if (!end)
			return false;
		value->length = (uint32_t)(end - value->text);
		value->odd = scan->guessed;
		scan->cursor = end + 1;
		return true;
	case '{':
	case '[':
		value->type = *cursor == '{' ? SCAN_OBJECT : SCAN_ARRAY;
		end = container_end(scan, cursor, &value->odd);
		if (!end)
			return false;
		value->odd |= scan->guessed;
		break;
	default:
		end = token_end(cursor, &value->type, &value->odd);
		if (end == cursor || end >= scan->end)
			return stop_scan(scan, end, SCAN_BAD);
	}
	value->length = (uint32_t)(end - cursor);
	scan->cursor = end;
	scan->fresh = false;
	return true;
}
