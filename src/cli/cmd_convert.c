/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_convert.c - headway convert: any recording as a .hwy report. */
#include "cli/commands.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/lang.h"
#include "base/mem.h"
#include "base/say.h"
#include "trace/file.h"
#include "whatif/path_cache.h"

struct options {
	const char *input, *output;
	bool force;
	struct cli_privacy privacy;
};

static const struct cli_option option_table[] = {
	CLI_OUTPUT_HELP("the report to write (default: FILE.hwy, the source's endings dropped)"),
	CLI_FORCE,
	CLI_HEAD("What to leave out:"),
	CLI_NO_ARGS(offsetof(struct options, privacy)),
	CLI_ANONYMOUS(offsetof(struct options, privacy)),
	CLI_END_OF_OPTIONS,
};

/* Yields the source's name with its endings (".json.gz", ".sqlite" …) replaced by ".hwy". */
static char *default_output(const char *path)
{
	static const char *const endings[] = {".gz", ".json",   ".trace",   ".pt", ".nsys-rep",
					      ".db", ".sqlite", ".sqlite3", ".hwy"};
	size_t n = strlen(path), name = n;
	while (name > 0 && path[name - 1] != '/')
		name--;
	for (size_t i = 0; i < sizeof endings / sizeof *endings;) {
		size_t length = strlen(endings[i]);
		if (n - name > length && memcmp(path + n - length, endings[i], length) == 0) {
			n -= length;
			i = 0;
		} else {
			i++;
		}
	}
	char *output = hwy_alloc(n + sizeof ".hwy");
	memcpy(output, path, n);
	memcpy(output + n, ".hwy", sizeof ".hwy");
	return output;
}

/* Refuses an output that cannot be written, before the recording is read: reading may take long. */
static void convert_check_output(const char *input, const char *output, bool force)
{
	struct stat out;
	if (!*output)
		cli_die("the output has an empty name");
	if (strcmp(output, "-") == 0)
		cli_die("a report cannot go to standard output; name a file with -o");
	if (stat(output, &out) != 0)
		return;
	cli_keep_input(input, output);
	if (S_ISDIR(out.st_mode))
		cli_die("%s: is a directory", output);
	if (!S_ISREG(out.st_mode))
		cli_die("%s: is not a regular file", output);
	if (!force)
		cli_die("%s: exists and is kept; -f overwrites it", output);
}

static uint64_t size_of(const char *path)
{
	struct stat status;
	return stat(path, &status) == 0 && S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
}

static void print_result(const char *input, const char *output, const struct hwy_trace *trace)
{
	uint64_t source = size_of(input), report = size_of(output), spans = trace->n_spans;
	printf(hwy_tr("%s: %s spans, %s"), output, hwy_say_count_grouped(spans).text,
	       hwy_say_bytes3(report).text);
	if (spans)
		printf(hwy_tr(", %.2f bytes a span"), (double)report / (double)spans);
	if (source)
		printf(hwy_tr(", %.3g %% of the source's %s"),
		       100.0 * (double)report / (double)source, hwy_say_bytes3(source).text);
	putchar('\n');
}

static int run_convert(int argc, char **argv)
{
	struct options options = {0};
	cli_read(&cmd_convert, argc, argv, &options);
	const char *input = options.input;
	if (!input)
		cli_misuse(&cmd_convert, "which file?");
	char *by_default = options.output ? NULL : default_output(input);
	const char *output = options.output ? options.output : by_default;

	convert_check_output(input, output, options.force);
	struct hwy_trace *trace = cli_open(input);
	struct hwy_err err;
	cli_privacy_apply(&options.privacy, trace);
	path_cache_add(trace);
	bool written = hwy_file_write(trace, output, options.force, cli_progress(), &err);
	cli_progress_end();
	if (!written)
		cli_die("%s", err.text);
	print_result(input, output, trace);
	hwy_trace_free(trace);
	free(by_default);
	return 0;
}

const struct cli_command cmd_convert = {
	.name = "convert",
	.summary = "write a recording as a .hwy report: small, and opens at once",
	.usage = "headway convert [options] FILE|JOB",
	.about = "Writes a recording as a .hwy report: everything Headway reads from the source, "
		 "in a few bytes a span, and opened in milliseconds. Every command gives the same "
		 "answer for both.",
	.options = option_table,
	.footer = "Examples:\n"
		  "  headway convert run.sqlite               writes run.hwy\n"
		  "  headway convert trace.json.gz -o a.hwy\n"
		  "  headway convert -f run.sqlite            writes run.hwy anew\n",
	.operands = CLI_FILE,
	.operands_offset = offsetof(struct options, input),
	.run = run_convert,
};
