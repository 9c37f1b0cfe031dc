/* SPDX-License-Identifier: Apache-2.0 */
/* cli.c - prints errors, opens recordings and asks what the terminal can do; see cli.h. */
#include "cli/kit/cli.h"

#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/json.h"
#include "import/import.h"
#include "trace/file.h"

/* Prints exactly one line, even where an argument (a file's name, for instance) contains a
 * newline. */
static void cli_print_line(const char *who, const char *format, va_list arguments)
{
	char text[2048];
	vsnprintf(text, sizeof text, format, arguments);
	hwy_sanitize(text, strlen(text));
	cli_progress_end();
	fflush(stdout);
	fprintf(stderr, "headway%s%s: %s\n", who ? " " : "", who ? who : "", text);
}

void cli_say(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	cli_print_line(NULL, format, arguments);
	va_end(arguments);
}

_Noreturn void cli_die(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	cli_print_line(NULL, format, arguments);
	va_end(arguments);
	exit(2);
}

_Noreturn void cli_misuse(const struct cli_command *command, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	cli_print_line(command->name, format, arguments);
	va_end(arguments);
	fprintf(stderr, "See 'headway %s --help'.\n", command->name);
	exit(2);
}

struct hwy_trace *cli_open(const char *path)
{
	struct hwy_err err;
	if (!*path)
		cli_die("the file to read has an empty name");
	if (strcmp(path, "-") == 0)
		cli_die("a recording cannot come from standard input; write it to a file first");
	struct hwy_trace *trace = hwy_open(path, cli_progress(), &err);
	cli_progress_end();
	if (!trace)
		cli_die("%s", err.text);
	return trace;
}

int cli_colour(FILE *out)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
	return !(no && *no) && isatty(fileno(out)) && !(term && strcmp(term, "dumb") == 0);
}

bool cli_is_report(const char *path)
{
	char head[16];
	FILE *file = fopen(path, "re");
	size_t n = file ? fread(head, 1, sizeof head, file) : 0;
	if (file)
		fclose(file);
	return hwy_file_is_report(head, n);
}

int cli_width(FILE *out)
{
	struct winsize size;
	if (!isatty(fileno(out)))
		return 0;
	if (ioctl(fileno(out), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return 80;
	return size.ws_col;
}

int cli_utf8(void)
{
	/* Only LC_CTYPE is set: LC_NUMERIC would make the decimal point of printed numbers a
	 * comma. */
	setlocale(LC_CTYPE, "");
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

void cli_put_optional(struct hwy_json *json, const char *key, int64_t value)
{
	json_key(json, key);
	if (value == HWY_NONE)
		json_null(json);
	else
		json_int(json, value);
}
