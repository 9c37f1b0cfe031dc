/* SPDX-License-Identifier: Apache-2.0 */
/* cli.c - prints errors, opens recordings and asks what the terminal can do; see cli.h. */
#include "cli/kit/cli.h"

#include <langinfo.h>
#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/lang.h"
#include "import/import.h"
#include "job/job_merge.h"
#include "trace/file.h"

/* Prints exactly one line, even where an argument (a file's name, for instance) contains a
 * newline. */
static void cli_print_line(const char *who, const char *format, va_list arguments)
{
	char text[2048];
	vsnprintf(text, sizeof text, hwy_tr(format), arguments);
	hwy_sanitize(text, strlen(text));
	cli_progress_end();
	fflush(stdout);
	fprintf(stderr, hwy_tr("headway%s%s: %s\n"), who ? " " : "", who ? who : "", text);
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
	fprintf(stderr, hwy_tr("See 'headway %s --help'.\n"), command->name);
	exit(2);
}

static bool is_folder(const char *path)
{
	struct stat about;
	return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* Recordings are the ranks of a job, and one trace on one clock. 'folder': NULL where they were
 * chosen among others, so that nothing is said about ranks that are missing. */
static struct hwy_trace *open_job(const char *const *paths, uint32_t n, const char *folder,
				  struct hwy_err *err)
{
	struct hwy_job job;
	if (!job_open(&job, paths, n, cli_progress(), err))
		return NULL;
	struct hwy_trace *trace = job_merge(&job, cli_progress(), err);
	cli_progress_end();
	for (uint32_t i = 0; i < job.n_problems && trace && folder; i++)
		cli_say("%s: %s", folder, job.problems[i]);
	job_close(&job);
	return trace;
}

void cli_name_device(const struct hwy_trace *trace)
{
	static bool has_gpu, has_cpu;
	bool are_cpus = hwy_devices_are_cpus(trace);
	has_cpu |= are_cpus;
	has_gpu |= trace->n_devices > 0 && !are_cpus;
	hwy_lang_name_device(has_gpu || !has_cpu);
}

struct hwy_trace *cli_open_ranks(const char *const *paths, uint32_t n)
{
	struct hwy_err err;
	struct hwy_trace *trace =
		n == 1 ? hwy_open(paths[0], cli_progress(), &err) : open_job(paths, n, NULL, &err);
	cli_progress_end();
	if (!trace)
		cli_die("%s", err.text);
	cli_name_device(trace);
	return trace;
}

struct hwy_trace *cli_open(const char *path)
{
	struct hwy_err err;
	if (!*path)
		cli_die("the file to read has an empty name");
	if (strcmp(path, "-") == 0)
		cli_die("a recording cannot come from standard input; write it to a file first");
	struct hwy_trace *trace = is_folder(path) ? open_job(&path, 1, path, &err)
						  : hwy_open(path, cli_progress(), &err);
	cli_progress_end();
	if (!trace)
		cli_die("%s", err.text);
	cli_name_device(trace);
	return trace;
}

/* The descriptor that 'out' writes to. In a locale without UTF-8, plain_stdout.c makes stdout a
 * stream that has none of its own. */
static int descriptor_of(FILE *out)
{
	return out == stdout ? STDOUT_FILENO : fileno(out);
}

int cli_colour(FILE *out)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
	return !(no && *no) && isatty(descriptor_of(out)) && !(term && strcmp(term, "dumb") == 0);
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
	if (!isatty(descriptor_of(out)))
		return 0;
	if (ioctl(descriptor_of(out), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return 80;
	return size.ws_col;
}

int cli_utf8(void)
{
	/* Only LC_CTYPE is set: LC_NUMERIC would make the decimal point of printed numbers a
	 * comma. */
	setlocale(LC_CTYPE, "");
	/* Who asked for another language has a terminal for it, also where its locale is not
	 * installed. */
	if (strcmp(hwy_lang(), "en") != 0)
		return true;
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
