/* SPDX-License-Identifier: Apache-2.0 */
/* secrets.c - see secrets.h. */
#include "base/secrets.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

struct part {
	const char *at;
	size_t n;
};

static bool is_word(struct part part, const char *word)
{
	return part.n == strlen(word) && strncasecmp(part.at, word, part.n) == 0;
}

static bool is_any(struct part part, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_word(part, words[i]))
			return true;
	return false;
}

static bool ends_with_any(struct part part, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t length = strlen(words[i]);
		struct part end = {part.at + part.n - length, length};
		if (part.n >= length && is_word(end, words[i]))
			return true;
	}
	return false;
}

/* ---- names --------------------------------------------------------------------------------------- */

enum { MOST_PARTS = 16 };

/* A name is a secret's where its last part ends so: "dbpassword". */
static const char *const always[] = {"password",   "passwd",        "passphrase",  "passcode",
				     "secret",     "credential",    "credentials", "apikey",
				     "authtoken",  "accesstoken",   "secretkey",   "accesskey",
				     "privatekey", "authorization", "cookie"};
/* "key" is a secret's name only behind one of these: --sort-key and --key-size are none. */
static const char *const before_key[] = {"api",     "access",       "secret",     "private",
					 "auth",    "account",      "encryption", "signing",
					 "master",  "shared",       "service",    "deploy",
					 "session", "subscription", "storage",    "license"};
/* "token" is no secret's name behind one of these: models of language have tokens too. */
static const char *const before_token[] = {
	"pad",    "eos",   "bos",   "unk",   "sep",    "cls",    "mask",  "stop",
	"end",    "start", "image", "video", "audio",  "per",    "max",   "min",
	"num",    "next",  "last",  "first", "new",    "prompt", "draft", "special",
	"output", "input", "think", "class", "special"};
/* A variable with one of these as its last part holds no secret: TOKEN_LIMIT, KEY_SIZE. */
static const char *const harmless_ends[] = {
	"file", "path", "dir", "id",  "ids",     "size",  "len",    "length", "count", "num",
	"name", "type", "url", "ttl", "timeout", "limit", "expiry", "style",  "mode",  "index"};
/* Parameters of addresses. */
static const char *const signatures[] = {"sig",
					 "signature",
					 "key",
					 "x-amz-signature",
					 "x-amz-credential",
					 "x-amz-security-token",
					 "x-goog-signature"};

/* Splits a name at '-', '_', '.', ':' and where a capital follows a small letter; yields the last
 * parts of long names. */
static size_t split_name(const char *name, size_t n, struct part parts[MOST_PARTS])
{
	size_t n_parts = 0;
	for (size_t i = 0; i < n;) {
		size_t begin = i;
		while (i < n && !strchr("-_.:", name[i]) &&
		       !(i > begin && isupper((unsigned char)name[i]) &&
			 islower((unsigned char)name[i - 1])))
			i++;
		if (n_parts == MOST_PARTS)
			memmove(parts, parts + 1, --n_parts * sizeof *parts);
		if (i > begin)
			parts[n_parts++] = (struct part){name + begin, i - begin};
		i += i < n && strchr("-_.:", name[i]);
	}
	return n_parts;
}

/* Whether the part i of a name makes it a secret's name. */
static bool part_is_secret(const struct part *parts, size_t i, bool is_variable)
{
	struct part part = parts[i];
	if (ends_with_any(part, always, LENGTH(always)))
		return true;
	if (is_word(part, "pass") || (is_word(part, "pwd") && i > 0))
		return true;
	if (is_word(part, "token"))
		return i == 0 || !is_any(parts[i - 1], before_token, LENGTH(before_token));
	return is_word(part, "key") &&
	       (is_variable || (i > 0 && is_any(parts[i - 1], before_key, LENGTH(before_key))));
}

/* Whether a name is that of a variable, by its capitals: there "KEY" alone is enough. */
static bool is_variable_name(const char *name, size_t n)
{
	bool has_capital = false;
	for (size_t i = 0; i < n; i++) {
		if (islower((unsigned char)name[i]) || name[i] == '-' || name[i] == '.')
			return false;
		has_capital |= isupper((unsigned char)name[i]) != 0;
	}
	return has_capital;
}

bool secrets_name(const char *name, size_t n)
{
	struct part parts[MOST_PARTS];
	size_t n_parts = split_name(name, n, parts);
	if (n_parts == 0)
		return false;
	if (!is_variable_name(name, n))
		return part_is_secret(parts, n_parts - 1, false);
	if (is_any(parts[n_parts - 1], harmless_ends, LENGTH(harmless_ends)))
		return false;
	for (size_t i = 0; i < n_parts; i++)
		if (part_is_secret(parts, i, true))
			return true;
	return false;
}

/* ---- values -------------------------------------------------------------------------------------- */

static bool is_value_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* Values that say by their form what they are: a beginning, and at least so many letters, digits and
 * (where 'dashes') '_' and '-' behind it, with a digit among them. */
static const struct form {
	const char *begin;
	uint8_t least;
	bool dashes;
} forms[] = {
	{"sk-", 20, true},         {"sk_live_", 16, false}, {"sk_test_", 16, false},
	{"rk_live_", 16, false},   {"ghp_", 20, false},     {"gho_", 20, false},
	{"ghu_", 20, false},       {"ghs_", 20, false},     {"ghr_", 20, false},
	{"github_pat_", 20, true}, {"glpat-", 16, true},    {"hf_", 20, false},
	{"AKIA", 16, false},       {"ASIA", 16, false},     {"AIza", 30, true},
	{"xoxb-", 10, true},       {"xoxp-", 10, true},     {"xoxa-", 10, true},
	{"xoxs-", 10, true},       {"xapp-", 10, true},     {"npm_", 30, false},
	{"pypi-", 30, true},       {"dckr_pat_", 16, true}, {"nvapi-", 20, true},
	{"gsk_", 20, false},       {"r8_", 30, false},      {"xai-", 20, true},
	{"ya29.", 20, true},       {"SG.", 20, true},       {"dop_v1_", 20, false},
};

/* Yields the length of a JSON Web Token at the text's begin: three parts with dots between; 0 where
 * there is none. */
static size_t jwt_length(const char *text, size_t n)
{
	size_t i = 0;
	if (n < 3 || memcmp(text, "eyJ", 3) != 0)
		return 0;
	for (int dots = 0; i < n && (is_value_char(text[i]) || (text[i] == '.' && dots < 2)); i++)
		dots += text[i] == '.';
	const char *dot = memchr(text, '.', i);
	return i >= 30 && dot && memchr(dot + 1, '.', i - (size_t)(dot + 1 - text)) ? i : 0;
}

/* Yields the length of a secret of a known form at the text's begin, else 0. */
static size_t form_length(const char *text, size_t n)
{
	for (size_t f = 0; f < LENGTH(forms); f++) {
		const struct form *form = &forms[f];
		size_t begin = strlen(form->begin), i = begin;
		bool has_digit = false;
		if (n < begin || memcmp(text, form->begin, begin) != 0)
			continue;
		while (i < n && is_value_char(text[i]) &&
		       (form->dashes || isalnum((unsigned char)text[i])))
			has_digit |= isdigit((unsigned char)text[i++]) != 0;
		if (i - begin >= form->least && has_digit && (i == n || !is_value_char(text[i])))
			return i;
	}
	return jwt_length(text, n);
}

/* Whether a value is a number or a switch: such a value of a "token" or a "key" is no secret. */
static bool is_number_or_switch(const char *value, size_t n)
{
	static const char *const words[] = {"true", "false", "yes",  "no",  "on",
					    "off",  "none",  "null", "auto"};
	bool is_number = n > 0 && n < 8;
	for (size_t i = 0; i < n; i++)
		is_number &= isdigit((unsigned char)value[i]) || strchr("-+.", value[i]);
	return n == 0 || is_number || is_any((struct part){value, n}, words, LENGTH(words));
}

/* ---- a line -------------------------------------------------------------------------------------- */

/* A line that is being copied. */
struct masking {
	const char *line;
	size_t n, i;  /* its length, and the next byte to copy */
	char quote;   /* the quote that is open before the next byte, or 0 */
	bool is_curl; /* the word curl was seen: -u is followed by user:password */
	bool found;
	struct hwy_bytes *out;
};

static bool is_quote(char c)
{
	return c == '\'' || c == '"' || c == '`';
}

static void copy_to(struct masking *m, size_t end)
{
	if (end > m->i)
		hwy_bytes_put(m->out, m->line + m->i, end - m->i);
	m->i = end;
}

static void mask_to(struct masking *m, size_t end)
{
	hwy_bytes_put(m->out, SECRETS_MASK, strlen(SECRETS_MASK));
	m->i = end;
	m->found = true;
}

/* Yields where the value that begins at 'i' ends: at a blank or one of 'stops' outside of quotes, or
 * at the end of the quoted word that the value stands in. */
static size_t value_end(const struct masking *m, size_t i, const char *stops)
{
	char inner = 0;
	for (; i < m->n; i++) {
		char c = m->line[i];
		bool is_stop = isspace((unsigned char)c) || strchr(stops, c);
		if (c == '\\' && i + 1 < m->n && m->quote != '\'' && inner != '\'')
			i++;
		else if (inner)
			inner = c == inner ? 0 : inner;
		else if ((m->quote && c == m->quote) || (is_stop && !is_quote(c)))
			break;
		else if (is_quote(c))
			inner = c;
	}
	return i;
}

static size_t skip_blanks(const struct masking *m, size_t i)
{
	while (i < m->n && (m->line[i] == ' ' || m->line[i] == '\t'))
		i++;
	return i;
}

/* Masks the value at 'i' of a secret of this name, if it can be one. */
static void mask_value(struct masking *m, struct part name, size_t i, const char *stops)
{
	size_t end = value_end(m, i, stops), from = i, to = end;
	if (to > from + 1 && is_quote(m->line[from]) && m->line[to - 1] == m->line[from]) {
		from++;
		to--;
	}
	struct part parts[MOST_PARTS];
	size_t n_parts = split_name(name.at, name.n, parts);
	static const char *const may_be_plain[] = {"token", "key", "pass"};
	bool is_weak =
		n_parts > 0 && is_any(parts[n_parts - 1], may_be_plain, LENGTH(may_be_plain));
	if (to == from || (is_weak && is_number_or_switch(m->line + from, to - from)))
		return;
	copy_to(m, from);
	mask_to(m, to);
	copy_to(m, end);
}

/* Masks what follows the colon of a header: the rest of the quoted word, or of the line. The scheme
 * of an Authorization stays. */
static void mask_header(struct masking *m, size_t i)
{
	static const char *const schemes[] = {"Bearer", "Basic", "Token", "Digest", "ApiKey"};
	size_t end = i;
	while (end < m->n && m->line[end] != '\n' && !(m->quote && m->line[end] == m->quote))
		end++;
	size_t word = i;
	while (word < end && isalpha((unsigned char)m->line[word]))
		word++;
	if (is_any((struct part){m->line + i, word - i}, schemes, LENGTH(schemes)))
		i = skip_blanks(m, word);
	if (i >= end)
		return;
	copy_to(m, i);
	mask_to(m, end);
}

/* "scheme://user:password@host": masks the password, and a long user name without one. 'i' is the
 * first byte after "://". */
static void mask_userinfo(struct masking *m, size_t i)
{
	enum { LONG = 20 };
	size_t end = i, at = i, colon = i;
	while (end < m->n && !isspace((unsigned char)m->line[end]) && !is_quote(m->line[end]) &&
	       !strchr("/?#", m->line[end])) {
		at = m->line[end] == '@' ? end : at;
		end++;
	}
	copy_to(m, i);
	while (colon < at && m->line[colon] != ':')
		colon++;
	if (at == i || (colon == at && at - i < LONG && !form_length(m->line + i, at - i)))
		return;
	copy_to(m, colon < at ? colon + 1 : i);
	if (at > m->i)
		mask_to(m, at);
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-' || c == '.';
}

/* "-u user:password" of curl. */
static void mask_user(struct masking *m, size_t value)
{
	size_t end = value_end(m, value, ""), colon = value;
	while (colon < end && m->line[colon] != ':')
		colon++;
	if (colon + 1 >= end)
		return;
	copy_to(m, colon + 1);
	mask_to(m, end);
}

/* Looks at the name [i, end) and masks the value that follows, if the name is that of a secret. The
 * name is copied in any case. */
static void mask_named(struct masking *m, size_t end)
{
	size_t begin = m->i, dashes = begin;
	while (dashes < end && m->line[dashes] == '-')
		dashes++;
	char before = begin > 0 ? m->line[begin - 1] : ' ';
	struct part name = {m->line + dashes, end - dashes};
	bool is_option = dashes > begin, is_parameter = before == '?' || before == '&';
	bool is_secret = secrets_name(name.at, name.n) ||
			 (is_parameter && is_any(name, signatures, LENGTH(signatures)));
	bool is_user = m->is_curl && is_option &&
		       (is_word(name, "u") || is_word(name, "user") || is_word(name, "proxy-user"));
	m->is_curl |= is_word(name, "curl");
	copy_to(m, end);
	if ((!is_secret && !is_user) || end >= m->n)
		return;
	/* "name": "value" of JSON: the quote that ends the name. */
	size_t i = end;
	if (is_quote(m->line[i]) && before == m->line[i])
		i++;
	size_t next = skip_blanks(m, i);
	char separator = next < m->n ? m->line[next] : 0;
	bool is_word_of_its_own = is_option || isspace((unsigned char)before) || is_quote(before);
	const char *stops = is_word_of_its_own && i == end ? "" : "&#,;})";
	if (i == end && separator == ':' && next == end && next + 1 < m->n &&
	    m->line[next + 1] == ' ')
		mask_header(m, skip_blanks(m, next + 1));
	else if (separator == '=' && next == end)
		mask_value(m, name, next + 1, stops);
	else if ((separator == ':' || separator == '=') && i > end)
		mask_value(m, name, skip_blanks(m, next + 1), stops);
	else if (is_option && next > end && separator && separator != '-' && name.n > 1)
		is_user ? mask_user(m, next) : mask_value(m, name, next, "");
	else if (is_user && next > end && separator && separator != '-')
		mask_user(m, next);
}

bool secrets_mask(const char *line, size_t n, struct hwy_bytes *out)
{
	struct masking m = {.line = line, .n = n, .out = out};
	while (m.i < n) {
		char c = line[m.i];
		bool is_begin = m.i == 0 || !is_name_char(line[m.i - 1]);
		size_t end = m.i;
		while (is_begin && end < n && is_name_char(line[end]))
			end++;
		size_t form = is_begin ? form_length(line + m.i, n - m.i) : 0;
		if (form > 0)
			mask_to(&m, m.i + form);
		else if (end > m.i && n - end >= 3 && memcmp(line + end, "://", 3) == 0)
			mask_userinfo(&m, end + 3);
		else if (end > m.i)
			mask_named(&m, end);
		else {
			if (is_quote(c) && (!m.quote || m.quote == c))
				m.quote = m.quote ? 0 : c;
			copy_to(&m, m.i + 1);
		}
	}
	return m.found;
}
