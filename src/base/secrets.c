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

/* ---- names ----------------------------------------------------------------------------------- */

enum { MOST_PARTS = 16 };

/* A name is a secret's where its last part ends so: "dbpassword". */
static const char *const always[] = {"password",  "passwd",     "passphrase",    "passcode",
				     "secret",    "credential", "credentials",   "apikey",
				     "creds",     "authtoken",  "accesstoken",   "secretkey",
				     "accesskey", "privatekey", "authorization", "cookie"};
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
/* A variable with one of these as its last part holds no secret: TOKEN_LIMIT, KEY_SIZE,
 * SSH_AUTH_SOCK. */
static const char *const harmless_ends[] = {
	"file",   "path",  "dir",  "id",    "ids",  "size",   "len",     "length",
	"count",  "num",   "name", "type",  "url",  "ttl",    "timeout", "limit",
	"expiry", "style", "mode", "index", "sock", "method", "enabled", "backend"};
/* Values of these may be plain words and numbers. */
static const char *const may_be_plain[] = {"token", "key", "pass", "auth", "oauth"};
/* Parameters of addresses. */
static const char *const signatures[] = {"sig",
					 "signature",
					 "key",
					 "x-amz-signature",
					 "x-amz-credential",
					 "x-amz-security-token",
					 "x-goog-signature"};

/* Splits a name at the separators and where a capital follows a small letter; yields the last parts
 * of long names. The separators are those of options, variables and keys of JSON ("API Key"). */
static bool is_separator(char c)
{
	return c == '-' || c == '_' || c == '.' || c == ':' || c == ' ' || c == '/';
}

static size_t split_name(const char *name, size_t n, struct part parts[MOST_PARTS])
{
	size_t n_parts = 0;
	for (size_t i = 0; i < n;) {
		size_t begin = i;
		while (i < n && !is_separator(name[i]) &&
		       !(i > begin && isupper((unsigned char)name[i]) &&
			 islower((unsigned char)name[i - 1])))
			i++;
		if (n_parts == MOST_PARTS)
			memmove(parts, parts + 1, --n_parts * sizeof *parts);
		if (i > begin)
			parts[n_parts++] = (struct part){name + begin, i - begin};
		i += i < n && is_separator(name[i]);
	}
	return n_parts;
}

/* Whether the part i of a name makes it a secret's name. */
static bool part_is_secret(const struct part *parts, size_t i, bool is_variable)
{
	struct part part = parts[i];
	if (ends_with_any(part, always, LENGTH(always)))
		return true;
	if (is_word(part, "pass") || is_word(part, "auth") || is_word(part, "oauth") ||
	    (is_word(part, "pwd") && i > 0))
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

/* Every word by which a name can be a secret's begins with one of these. Most names have none of
 * them, and are told without being split. */
static bool has_secret_word(const char *name, size_t n)
{
	static const char *const words[] = {"pass", "pwd",   "secret", "cred",
					    "key",  "token", "auth",   "cookie"};
	for (size_t i = 0; i + 3 <= n; i++) {
		if (!strchr("psckta", name[i] | 0x20))
			continue;
		for (size_t w = 0; w < LENGTH(words); w++) {
			size_t length = strlen(words[w]);
			if (i + length <= n && strncasecmp(name + i, words[w], length) == 0)
				return true;
		}
	}
	return false;
}

bool secrets_name(const char *name, size_t n)
{
	if (!has_secret_word(name, n))
		return false;
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

bool secrets_environment_name(const char *name, size_t n)
{
	static const char *const whole[] = {"env",         "envs",   "environ",
					    "environment", "envvar", "envvars"};
	static const char *const variables[] = {"var", "vars", "variable", "variables"};
	struct part parts[MOST_PARTS];
	size_t n_parts = split_name(name, n, parts);
	if (n_parts > 1 && is_any(parts[n_parts - 1], variables, LENGTH(variables)))
		n_parts--;
	return n_parts > 0 && is_any(parts[n_parts - 1], whole, LENGTH(whole));
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool is_value_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '-';
}

/* Values that say by their form what they are: a beginning, and at least so many letters, digits
 * and (where DASHES) '_' and '-' behind it. Where names and words begin so too (WORDS), what
 * follows has to look random. */
enum { LETTERS = 0, DASHES = 1, WORDS = 2 };
static const struct form {
	const char *begin;
	uint8_t least, flags;
} forms[] = {
	{"sk-", 16, DASHES | WORDS},   {"sk_live_", 16, LETTERS},   {"sk_test_", 16, LETTERS},
	{"rk_live_", 16, LETTERS},     {"ghp_", 16, LETTERS},       {"gho_", 16, LETTERS},
	{"ghu_", 16, LETTERS},         {"ghs_", 16, LETTERS},       {"ghr_", 16, LETTERS},
	{"github_pat_", 16, DASHES},   {"glpat-", 16, DASHES},      {"hf_", 16, LETTERS},
	{"AKIA", 16, LETTERS},         {"ASIA", 16, WORDS},         {"AIza", 30, DASHES},
	{"xoxb-", 10, DASHES},         {"xoxp-", 10, DASHES},       {"xoxa-", 10, DASHES},
	{"xoxs-", 10, DASHES},         {"xapp-", 10, DASHES},       {"npm_", 30, WORDS},
	{"pypi-", 30, DASHES | WORDS}, {"dckr_pat_", 16, DASHES},   {"nvapi-", 16, DASHES},
	{"gsk_", 20, WORDS},           {"r8_", 30, WORDS},          {"xai-", 20, DASHES | WORDS},
	{"ya29.", 20, DASHES},         {"SG.", 20, DASHES | WORDS}, {"dop_v1_", 20, LETTERS},
};

/* Whether a text looks drawn by chance: it has a digit, or small letters and capitals, or no end of
 * a word in 20 letters. */
static bool looks_random(const char *text, size_t n)
{
	enum { LONGEST_WORD = 19 };
	bool has_small = false, has_capital = false;
	size_t word = 0;
	for (size_t i = 0; i < n; i++) {
		word = isalnum((unsigned char)text[i]) ? word + 1 : 0;
		if (isdigit((unsigned char)text[i]) || word > LONGEST_WORD)
			return true;
		has_small |= islower((unsigned char)text[i]) != 0;
		has_capital |= isupper((unsigned char)text[i]) != 0;
	}
	return has_small && has_capital;
}

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
	if (n < 3 || !strchr("sgrhAxnpdySe", text[0]))
		return 0;
	for (size_t f = 0; f < LENGTH(forms); f++) {
		const struct form *form = &forms[f];
		if (form->begin[0] != text[0])
			continue;
		size_t begin = strlen(form->begin), i = begin;
		if (n < begin || memcmp(text, form->begin, begin) != 0)
			continue;
		while (i < n && is_value_char(text[i]) &&
		       (form->flags & DASHES || isalnum((unsigned char)text[i])))
			i++;
		bool is_word = form->flags & WORDS && (!looks_random(text + begin, i - begin) ||
						       (i < n && is_value_char(text[i])));
		if (i - begin >= form->least && !is_word)
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

bool secrets_value(const char *name, size_t n, const char *value, size_t n_value)
{
	struct part parts[MOST_PARTS];
	if (n_value == 0 || is_word((struct part){value, n_value}, SECRETS_MASK) ||
	    !secrets_name(name, n))
		return false;
	size_t n_parts = split_name(name, n, parts);
	bool is_weak = is_any(parts[n_parts - 1], may_be_plain, LENGTH(may_be_plain));
	return !is_weak || !is_number_or_switch(value, n_value);
}

/* ---- a line ---------------------------------------------------------------------------------- */

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

/* Yields where the value that begins at 'i' ends: at a blank or one of 'stops' outside of
 * quotes, or at the end of the quoted word that the value stands in. */
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

/* Masks the value at 'i' of a secret of this name, if it can be one. A quote of a value may have a
 * backslash before it: JSON inside of a quoted text. */
static void mask_value(struct masking *m, struct part name, size_t i, const char *stops)
{
	bool is_escaped = i + 1 < m->n && m->line[i] == '\\' && is_quote(m->line[i + 1]);
	size_t end = is_escaped ? i : value_end(m, i, stops), from = i, to = end;
	if (is_escaped) {
		from = to = i + 2;
		while (to < m->n &&
		       !(m->line[to] == '\\' && to + 1 < m->n && m->line[to + 1] == m->line[i + 1]))
			to++;
		end = to;
	} else if (to > from + 1 && is_quote(m->line[from]) && m->line[to - 1] == m->line[from]) {
		from++;
		to--;
	}
	if (!secrets_name(name.at, name.n)) /* a signature of an address */
		name = (struct part){"token", strlen("token")};
	if (!secrets_value(name.at, name.n, m->line + from, to - from))
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
	/* "name": "value" of JSON: the quote that ends the name, which may have a backslash. */
	size_t i = end;
	i += m->line[i] == '\\' && i + 1 < m->n && is_quote(before);
	if (is_quote(m->line[i]) && before == m->line[i]) {
		i++;
		m->quote = m->quote == before ? 0 : m->quote;
		copy_to(m, i);
	} else {
		i = end;
	}
	size_t next = skip_blanks(m, i);
	char separator = next < m->n ? m->line[next] : 0;
	bool is_word_of_its_own = is_option || isspace((unsigned char)before) || is_quote(before);
	const char *stops = is_word_of_its_own && i == end ? "" : "&#,;})";
	if (i == end && separator == ':' && next == end && next + 1 < m->n &&
	    m->line[next + 1] == ' ')
		mask_header(m, skip_blanks(m, next + 1));
	else if (separator == '=' && next == end)
		mask_value(m, name, next + 1, stops);
	else if (i > end && (separator == ':' || separator == '=' ||
			     (is_option && separator == ','))) /* "name": x and ['--token', 'x'] */
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

/* ---- texts without any ----------------------------------------------------------------------- */

/* What every secret has in its text or before it: a word of a name, the begin of a form, "://"
 * of an address, the escape that could hide one of these. Forms stand without what names have,
 * too. */
static const char *const marks[] = {
	"pass", "pwd",    "secret", "cred", "key",  "token", "auth", "cookie", "env",  "sig",
	"curl", "://",    "\\u00",  "sk-",  "sk_",  "rk_",   "ghp_", "gho_",   "ghu_", "ghs_",
	"ghr_", "github", "glpat",  "hf_",  "akia", "asia",  "aiza", "xox",    "xapp", "npm_",
	"pypi", "dckr",   "nva",    "gsk_", "r8_",  "xai-",  "ya29", "sg.",    "dop_", "eyj"};

#define BIT(c) (1u << ((c)&31))
/* By the low five bits of a byte, those of the second and third bytes of the marks that begin so.
 * Most places of a text are told to begin no mark by this alone: arguments of spans are hundreds of
 * MB. */
static const uint32_t marks_begin[32][2] = {
	['a' & 31] = {BIT('u') | BIT('k') | BIT('s') | BIT('i'), BIT('t') | BIT('i') | BIT('z')},
	['c' & 31] = {BIT('r') | BIT('o') | BIT('u'), BIT('e') | BIT('o') | BIT('r')},
	['d' & 31] = {BIT('c') | BIT('o'), BIT('k') | BIT('p')},
	['e' & 31] = {BIT('n') | BIT('y'), BIT('v') | BIT('j')},
	['g' & 31] = {BIT('h') | BIT('i') | BIT('l') | BIT('s'),
		      BIT('p') | BIT('o') | BIT('u') | BIT('s') | BIT('r') | BIT('t') | BIT('k')},
	['h' & 31] = {BIT('f'), BIT('_')},
	['k' & 31] = {BIT('e'), BIT('y')},
	['n' & 31] = {BIT('p') | BIT('v'), BIT('m') | BIT('a')},
	['p' & 31] = {BIT('a') | BIT('w') | BIT('y'), BIT('s') | BIT('d') | BIT('p')},
	['r' & 31] = {BIT('k') | BIT('8'), BIT('_')},
	['s' & 31] = {BIT('e') | BIT('i') | BIT('k') | BIT('g'),
		      BIT('c') | BIT('g') | BIT('-') | BIT('_') | BIT('.')},
	['t' & 31] = {BIT('o'), BIT('k')},
	['x' & 31] = {BIT('o') | BIT('a'), BIT('x') | BIT('p') | BIT('i')},
	['y' & 31] = {BIT('a'), BIT('2')},
	[':' & 31] = {BIT('/'), BIT('/')},
	['\\' & 31] = {BIT('u'), BIT('0')},
};

static bool is_mark(const char *at, size_t n)
{
	for (size_t i = 0; i < LENGTH(marks); i++) {
		if ((marks[i][0] & 31) != (at[0] & 31) || (marks[i][1] & 31) != (at[1] & 31))
			continue;
		size_t length = strlen(marks[i]);
		if (length <= n && strncasecmp(at, marks[i], length) == 0)
			return true;
	}
	return false;
}

bool secrets_possible(const char *text, size_t n)
{
	for (size_t i = 0; i + 2 < n; i++) {
		const uint32_t *next = marks_begin[text[i] & 31];
		if (next[0] & BIT(text[i + 1]) && next[1] & BIT(text[i + 2]) &&
		    is_mark(text + i, n - i))
			return true;
	}
	return false;
}
