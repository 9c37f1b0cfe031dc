/* options.c - reads a command's options, and the values of them. */
#include "cli/kit/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPTIONS = 160 };

const char cli_boolean[] = "";

static int find_letter(const struct cli *cli, char letter)
{
	for (int i = 0; cli->options[i].name; i++)
		if (cli->options[i].letter == letter && letter)
			return i;
	return -1;
}

static int find_name(const struct cli *cli, const char *name, size_t length)
{
	for (int i = 0; cli->options[i].name; i++)
		if (length && strlen(cli->options[i].name) == length &&
		    memcmp(cli->options[i].name, name, length) == 0)
			return i;
	return -1;
}

static _Noreturn void unknown_name(const struct cli *cli, const char *name, size_t length)
{
	const char *known[MOST_OPTIONS + 2] = {0};
	int n = 0;
	for (int i = 0; cli->options[i].name && n < MOST_OPTIONS; i++)
		if (*cli->options[i].name)
			known[n++] = cli->options[i].name;
	known[n] = "help";
	char word[128];
	snprintf(word, sizeof word, "%.*s", (int)(length < 100 ? length : 100), name);
	const char *near = cli_nearest(word, known);
	fprintf(stderr, "headway %s: unknown option '--%s'; ", cli->command, word);
	if (near)
		fprintf(stderr, "did you mean '--%s'?\n", near);
	else
		fprintf(stderr, "'headway %s --help' lists them\n", cli->command);
	exit(2);
}

static _Noreturn void show_help(const struct cli *cli)
{
	cli_help(cli, stdout);
	exit(0);
}

static const char *next_word(struct cli *cli, const struct cli_option *option)
{
	if (cli->at >= cli->argc) {
		fprintf(stderr, "headway %s: option '--%s' needs a value (%s)\n", cli->command,
			option->name, option->value);
		exit(2);
	}
	return cli->argv[cli->at++];
}

static bool is_word(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(word, *list) == 0)
			return true;
	return false;
}

/* "true" or "false" for what was written behind '='. */
static const char *boolean(const struct cli *cli, const struct cli_option *option, const char *text)
{
	static const char *const yes[] = {"true", "yes", "on", "1", NULL};
	static const char *const no[] = {"false", "no", "off", "0", NULL};
	if (is_word(text, yes))
		return "true";
	if (is_word(text, no))
		return "false";
	cli_misuse(cli, "option '--%s': '%s' is neither true nor false", option->name, text);
}

/* The next word if it can be nothing but a boolean's value; a program called "true" comes after "--". */
static const char *boolean_word(struct cli *cli)
{
	static const char *const words[] = {"true", "false", NULL};
	if (cli->at < cli->argc && is_word(cli->argv[cli->at], words))
		return cli->argv[cli->at++];
	return "true";
}

static int long_option(struct cli *cli, const char *word, const char **value)
{
	const char *equals = strchr(word, '=');
	size_t length = equals ? (size_t)(equals - word) : strlen(word);
	int i = find_name(cli, word, length);
	if (i < 0 && length == 4 && memcmp(word, "help", 4) == 0)
		show_help(cli);
	if (i < 0)
		unknown_name(cli, word, length);
	const struct cli_option *option = &cli->options[i];
	*value = NULL;
	if (option->value == cli_boolean)
		*value = equals ? boolean(cli, option, equals + 1) : boolean_word(cli);
	else if (option->value)
		*value = equals ? equals + 1 : next_word(cli, option);
	else if (equals)
		cli_misuse(cli, "option '--%s' takes no value", option->name);
	return i;
}

static int short_option(struct cli *cli, const char **value)
{
	char letter = *cli->cluster++;
	int i = find_letter(cli, letter);
	if (i < 0 && letter == 'h')
		show_help(cli);
	if (i < 0) {
		fprintf(stderr,
			"headway %s: unknown option '-%c'; 'headway %s --help' lists them\n",
			cli->command, (unsigned char)letter < 0x20 ? '?' : letter, cli->command);
		exit(2);
	}
	const struct cli_option *option = &cli->options[i];
	*value = NULL;
	if (option->value == cli_boolean) {
		if (strcmp(cli->cluster, "true") == 0 || strcmp(cli->cluster, "false") == 0) {
			*value = cli->cluster;
			cli->cluster = NULL;
		} else {
			*value = *cli->cluster ? "true" : boolean_word(cli);
		}
	} else if (option->value) {
		*value = *cli->cluster ? cli->cluster : next_word(cli, option);
		cli->cluster = NULL;
	}
	return i;
}

int cli_next(struct cli *cli, const char **value)
{
	if (cli->at == 0)
		cli->at = 1;
	if (cli->cluster && *cli->cluster)
		return short_option(cli, value);
	if (cli->at >= cli->argc)
		return CLI_END;
	const char *word = cli->argv[cli->at++];
	if (!cli->operands_only && strcmp(word, "--") == 0) {
		cli->operands_only = 1;
		return cli_next(cli, value);
	}
	/* A lone "-" is an operand. */
	if (cli->operands_only || word[0] != '-' || word[1] == 0) {
		*value = word;
		return CLI_OPERAND;
	}
	if (word[1] == '-')
		return long_option(cli, word + 2, value);
	cli->cluster = word + 1;
	return short_option(cli, value);
}

static int64_t unit_ns(const char *unit)
{
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = {{"", 1},           {"ns", 1},       {"us", 1000},      {"\u00b5s", 1000},
		     {"\u03bcs", 1000}, {"ms", 1000000}, {"s", 1000000000}, {"min", 60000000000}};
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strcmp(unit, units[i].name) == 0)
			return units[i].ns;
	return 0;
}

int64_t cli_time(const struct cli *cli, const char *option, const char *text)
{
	const char *at = text;
	int negative = *at == '-';
	at += negative;
	const char *number = at;
	int64_t whole = 0, fraction = 0, scale = 1;
	bool fits = true;
	for (; *at >= '0' && *at <= '9'; at++)
		fits = fits && !__builtin_mul_overflow(whole, 10, &whole) &&
		       !__builtin_add_overflow(whole, *at - '0', &whole);
	bool digits = at > number;
	if (*at == '.')
		for (at++; *at >= '0' && *at <= '9'; at++, digits = true)
			if (scale < 1000000000) { /* what is finer than 1 ns falls away */
				fraction = fraction * 10 + (*at - '0');
				scale *= 10;
			}
	int64_t ns = unit_ns(at);
	if (!digits || ns == 0)
		cli_misuse(cli, "option '--%s': '%s' is not a time; write 1500, 1.5us, 20ms or 3s",
			   option, text);
	if (!fits || __builtin_mul_overflow(whole, ns, &whole))
		cli_misuse(cli, "option '--%s': '%s' is too large", option, text);
	/* 10^9 and 60*10^9 both hold 'scale' or are at most as fine: no digit above 1 ns is lost. */
	whole += ns >= scale ? fraction * (ns / scale) : fraction / (scale / ns);
	return negative ? -whole : whole;
}

int64_t cli_length(const struct cli *cli, const char *option, const char *text)
{
	int64_t length = cli_time(cli, option, text);
	if (length < 0)
		cli_misuse(cli, "option '--%s': '%s' is negative", option, text);
	return length;
}

uint64_t cli_count(const struct cli *cli, const char *option, const char *text)
{
	char *end;
	errno = 0;
	unsigned long long value = strtoull(text, &end, 10);
	if (errno || *end || *text < '0' || *text > '9')
		cli_misuse(cli, "option '--%s': '%s' is not a number", option, text);
	return value;
}

int cli_word(const struct cli *cli, const char *option, const char *text, const char *const *words)
{
	char list[256] = "";
	for (int i = 0; words[i]; i++) {
		if (strcmp(words[i], text) == 0)
			return i;
		size_t n = strlen(list);
		snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", words[i]);
	}
	cli_misuse(cli, "option '--%s': '%s' is none of %s", option, text, list);
}

void cli_file(const struct cli *cli, const char **file, const char *text)
{
	if (*file)
		cli_misuse(cli, "one file at a time: '%s' and '%s'", *file, text);
	*file = text;
}
