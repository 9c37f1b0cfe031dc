/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_export.c - headway export: a recording in the format of another tool.
 *
 * The output appears complete under its name or not at all: streams, files that SQLite writes
 * itself, and folders are all written under a temporary name beside the output.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/lang.h"
#include "base/mem.h"
#include "base/say.h"
#include "cli/commands.h"
#include "cli/export_tree.h"
#include "export/export.h"

struct options {
	const struct export_type *type;
	const char *input, *output, *job;
	bool force, missing, check;
	int folding; /* enum export_folding */
	struct cli_privacy privacy;
	struct export_options how;
};

static _Noreturn void list_types(void)
{
	for (const struct export_type *type = export_types; type->name; type++)
		printf("%-9s %-10s %s\n", type->name, type->ending, hwy_tr(type->about));
	exit(0);
}

static const char *type_name(size_t i)
{
	return export_types[i].name;
}

static void read_type(const struct cli_value *value)
{
	const char *names[16] = {0};
	int n = 0;
	if (strcmp(value->text, "help") == 0)
		list_types();
	for (const struct export_type *type = export_types; type->name; type++)
		names[n++] = type->name;
	const struct export_type **field = value->field;
	*field = &export_types[cli_word(value, value->text, names)];
}

static const char *kind_name(size_t i)
{
	return i < HWY_KINDS ? hwy_kind_names[i] : NULL;
}

static void read_kinds(const struct cli_value *value)
{
	uint32_t *kinds = value->field;
	char word[32];
	const char *names[HWY_KINDS + 1] = {0};
	for (int i = 0; i < HWY_KINDS; i++)
		names[i] = hwy_kind_names[i];
	*kinds = 0;
	for (const char *rest = value->text; *rest; rest += *rest == ',') {
		size_t length = strcspn(rest, ",");
		snprintf(word, sizeof word, "%.*s", (int)(length < 30 ? length : 30), rest);
		*kinds |= HWY_KIND_BIT(cli_word(value, word, names));
		rest += length;
	}
	if (!*kinds)
		cli_misuse(value->command, "--kinds needs one at least");
}

static const char *const foldings[] = {"auto", "cpu", "gpu", NULL}; /* enum export_folding */

static const struct cli_option option_table[] = {
	{'t', "type", "TYPE",
	 "perfetto, chrome, sqlite, csv, parquet or folded; 'help' tells what for", CLI_READ,
	 CLI_AT(type), .word = type_name, .read = read_type},
	CLI_OUTPUT_HELP(
		"where to write; '-' is standard output (default: FILE with the type's ending; a "
		"name that ends in .gz is compressed)"),
	CLI_FORCE,
	CLI_HEAD("What to write:"),
	{0, "from", "TIME", "only spans that end after this time (1.5s, 20ms, …)", CLI_TIME,
	 CLI_AT(how.from)},
	{0, "to", "TIME", "only spans that begin before this time", CLI_TIME, CLI_AT(how.to)},
	{0, "range", "NAME",
	 "only what happens inside ranges of this name, and the device work launched there",
	 CLI_TEXT, CLI_AT(how.range)},
	{0, "kinds", "LIST",
	 "only these kinds of spans: api, kernel, copy, fill, graph, sync, event, range, op, "
	 "call, os, state, memory, sample, counter, overhead",
	 CLI_READ, CLI_AT(how.kinds), .word = kind_name, .read = read_kinds},
	{0, "lanes", "LIST",
	 "only lanes whose name has one of these words: 'GPU 0', 'stream 7', 'thread 1234', …",
	 CLI_TEXT, CLI_AT(how.lanes)},
	CLI_HEAD("What to leave out:"),
	CLI_NO_ARGS(offsetof(struct options, privacy)),
	CLI_ANONYMOUS(offsetof(struct options, privacy)),
	CLI_HEAD("Of one type:"),
	{0, "render-stages", NULL,
	 "perfetto: device work also as GPU render stages (tables and plugins of the UI)",
	 CLI_SWITCH, CLI_AT(how.render_stages)},
	{0, "plain", NULL,
	 "perfetto, chrome, parquet: the recording only, without what the analysis adds (critical "
	 "path, findings, headway, utilisation; steps; gaps)",
	 CLI_SWITCH, CLI_AT(how.plain)},
	{0, "job", "ID",
	 "parquet: the name of the job among others in the folder (default: the job's own id, else "
	 "FILE's name)",
	 CLI_TEXT, CLI_AT(job)},
	{0, "missing", NULL,
	 "parquet: only ranks that are not in the folder yet, or were written before their report",
	 CLI_SWITCH, CLI_AT(missing)},
	{0, "check", NULL, "parquet: write nothing, only say which ranks are missing in that sense",
	 CLI_SWITCH, CLI_AT(check)},
	{0, "fold", "WHAT",
	 "folded: cpu (samples) or gpu (device time by range and stack); default: cpu where there "
	 "are samples",
	 CLI_WORD, CLI_AT(folding), .words = foldings},
	CLI_END_OF_OPTIONS,
};

static bool export_ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);
	return n >= m && strcmp(text + n - m, end) == 0;
}

/* Yields the source's name with its endings (".json.gz", ".sqlite" …) replaced by the type's
 * ending. */
static char *default_output(const char *path, const char *ending)
{
	static const char *const endings[] = {".gz", ".json", ".nsys-rep", ".sqlite", ".hwy"};
	size_t n = strlen(path);
	while (n > 1 && path[n - 1] == '/')
		n--;
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		size_t length = strlen(endings[i]);
		if (n > length && path[n - length - 1] != '/' &&
		    memcmp(path + n - length, endings[i], length) == 0)
			n -= length;
	}
	char *output = hwy_alloc(n + strlen(ending) + 1);
	memcpy(output, path, n);
	strcpy(output + n, ending);
	return output;
}

/* ---- what is there already ------------------------------------------------------------------ */

static bool is_exported_file(const char *name)
{
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return true;
	for (int i = 0; i < HWY_KINDS; i++) {
		size_t n = strlen(hwy_kind_names[i]);
		if (strncmp(name, hwy_kind_names[i], n) == 0 && strcmp(name + n, ".csv") == 0)
			return true;
	}
	return false;
}

/* Removes the files of an earlier export. Exits with 2 where the folder holds a file that no
 * export wrote. */
static void empty_folder(const char *path, bool only_look)
{
	DIR *folder = opendir(path);
	if (!folder)
		cli_die("%s: %s", path, hwy_strerror(errno));
	for (struct dirent *entry; (entry = readdir(folder));) {
		if (!is_exported_file(entry->d_name))
			cli_die("%s: holds '%s', which no export wrote; name another folder with "
				"-o",
				path, entry->d_name);
		if (!only_look && entry->d_name[0] != '.')
			unlinkat(dirfd(folder), entry->d_name, 0);
	}
	closedir(folder);
}

/* Refuses an output that cannot be written, before the recording is read: reading may take long. */
static void export_check_output(const struct options *options, bool is_folder)
{
	struct stat status;
	if (!*options->output)
		cli_die("the output has an empty name");
	if (strcmp(options->output, "-") == 0)
		cli_die("%s cannot go to standard output; name a file with -o",
			options->type->name);
	if (stat(options->output, &status) != 0)
		return;
	cli_keep_input(options->input, options->output);
	if (is_folder != (bool)S_ISDIR(status.st_mode) || (!is_folder && !S_ISREG(status.st_mode)))
		cli_die("%s: is %s", options->output,
			S_ISDIR(status.st_mode) ? hwy_tr("a directory")
			: is_folder             ? hwy_tr("not a folder")
						: hwy_tr("not a regular file"));
	if (!options->force)
		cli_die("%s: exists and is kept; -f overwrites it", options->output);
	if (is_folder)
		empty_folder(options->output, true);
}

/* ---- writing -------------------------------------------------------------------------------- */

/* SIGPIPE is ignored, so that a reader that closed the pipe early is reported: it got half a
 * file. */
static void export_write_stream(const struct options *options, struct export_result *result)
{
	struct hwy_err err;
	cli_keep_input(options->input, options->output);
	struct cli_output output = cli_output_open(options->output, options->force);
	struct hwy_trace *trace = cli_open(options->input);
	cli_privacy_apply(&options->privacy, trace);
	signal(SIGPIPE, SIG_IGN);
	bool gzip = export_ends_with(options->output, ".gz");
	bool ok = options->type->stream(trace, output.out, gzip, &options->how, cli_progress(),
					result, &err);
	cli_progress_end();
	if (!ok)
		cli_die("%s", err.text);
	cli_output_close(&output);
	hwy_trace_free(trace);
}

/* Creates an empty file (mode 0600) or folder (mode 0700) beside the output and yields its
 * temporary name, to be freed. */
static char *make_temporary(const char *path, bool is_folder)
{
	char *name;
	if (asprintf(&name, "%s.XXXXXX", path) < 0)
		cli_die("%s: out of memory", path);
	sigset_t before;
	cli_hold_signals(&before);
	int fd = is_folder ? -1 : mkstemp(name);
	if (is_folder ? !mkdtemp(name) : fd < 0)
		cli_die("%s: %s", path, hwy_strerror(errno));
	cli_unfinished(name, true);
	cli_release_signals(&before);
	if (fd >= 0)
		close(fd);
	return name;
}

static void write_files(const struct options *options, struct export_result *result)
{
	struct hwy_err err;
	bool is_folder = options->type->target == EXPORT_FOLDER;
	export_check_output(options, is_folder);
	char *temporary = make_temporary(options->output, is_folder);
	struct hwy_trace *trace = cli_open(options->input);
	cli_privacy_apply(&options->privacy, trace);
	bool ok =
		options->type->files(trace, temporary, &options->how, cli_progress(), result, &err);
	cli_progress_end();
	if (!ok) {
		/* The message names the output as the user did, not by its temporary name. */
		size_t n = strlen(temporary);
		bool named = strncmp(err.text, temporary, n) == 0;
		cli_die("%s%s", named ? options->output : "", named ? err.text + n : err.text);
	}
	if (is_folder && access(options->output, F_OK) == 0)
		empty_folder(options->output, false);
	if (rename(temporary, options->output) != 0)
		cli_die("%s: %s", options->output, hwy_strerror(errno));
	cli_unfinished(temporary, false);
	free(temporary);
	hwy_trace_free(trace);
}

static uint64_t size_of(const char *path)
{
	struct stat status;
	if (stat(path, &status) != 0)
		return 0;
	if (!S_ISDIR(status.st_mode))
		return (uint64_t)status.st_size;
	uint64_t sum = 0;
	DIR *folder = opendir(path);
	for (struct dirent *entry; folder && (entry = readdir(folder));)
		if (entry->d_name[0] != '.' &&
		    fstatat(dirfd(folder), entry->d_name, &status, 0) == 0)
			sum += (uint64_t)status.st_size;
	if (folder)
		closedir(folder);
	return sum;
}

/* What was written, and the next line to type. */
static void print_tree(const struct options *options, const struct export_result *result)
{
	if (result->files == 0) {
		printf(hwy_tr("%s: nothing is missing\n"), options->output);
		return;
	}
	printf(hwy_tr("%s: %s files, %s rows, %s"), options->output,
	       hwy_say_count_grouped(result->files).text, hwy_say_count_grouped(result->rows).text,
	       hwy_say_bytes3(result->bytes).text);
	if (result->spans)
		printf(hwy_tr("; %s spans, %.1f bytes a span"),
		       hwy_say_count_grouped(result->spans).text,
		       (double)result->bytes / (double)result->spans);
	printf(hwy_tr("\nnext: duckdb -c \"SELECT name, count(*), sum(duration) FROM '%s/*/*/table=%s/*.parquet' "
		      "GROUP BY name ORDER BY 3 DESC LIMIT 10\"\n"),
	       options->output, result->table ? result->table : "lanes");
}

static void print_result(const struct options *options, const struct export_result *result)
{
	uint64_t bytes = size_of(options->output);
	printf(hwy_tr("%s: %s spans, %s"), options->output,
	       hwy_say_count_grouped(result->spans).text, hwy_say_bytes3(bytes).text);
	if (result->spans)
		printf(hwy_tr(", %.1f bytes a span"), (double)bytes / (double)result->spans);
	putchar('\n');
	bool any = false;
	for (int i = 0; i < HWY_KINDS; i++) {
		if (!result->left_out[i])
			continue;
		printf("%s%s %s",
		       hwy_tr(any ? ", " : "left out, because the format has no place for them: "),
		       hwy_say_count_grouped(result->left_out[i]).text, hwy_kind_names[i]);
		any = true;
	}
	if (any)
		putchar('\n');
	if (result->note)
		puts(result->note);
}

/* Yields how many ranks were not there. */
static uint32_t write_tree(const struct options *options, struct export_result *result)
{
	struct export_tree tree = {
		.type = options->type,
		.input = options->input,
		.output = options->output,
		.job = options->job,
		.force = options->force,
		.missing = options->missing,
		.check = options->check,
		.privacy = &options->privacy,
		.how = &options->how,
	};
	uint32_t missing = export_tree_write(&tree, result);
	if (!options->check)
		print_tree(options, result);
	return missing;
}

static int run_export(int argc, char **argv)
{
	struct options options = {
		.how = {.from = INT64_MIN, .to = INT64_MAX, .kinds = UINT32_MAX},
	};
	cli_read(&cmd_export, argc, argv, &options);
	options.how.folding = (enum export_folding)options.folding;
	if (!options.type)
		cli_misuse(&cmd_export, "which type? '--type help' lists them");
	if (!options.input)
		cli_misuse(&cmd_export, "which file?");
	if (options.how.from != INT64_MIN && options.how.from >= options.how.to)
		cli_misuse(&cmd_export, "--from must be before --to");
	char *by_default =
		options.output ? NULL : default_output(options.input, options.type->ending);
	options.output = options.output ? options.output : by_default;
	options.how.target = strcmp(options.output, "-") == 0 ? "standard output" : options.output;
	struct export_result result = {0};
	int status = 0;
	if (options.type->target == EXPORT_STREAM) {
		export_write_stream(&options, &result);
	} else if (options.type->target == EXPORT_TREE) {
		uint32_t missing = write_tree(&options, &result);
		status = options.check && missing > 0;
	} else {
		write_files(&options, &result);
	}
	if (strcmp(options.output, "-") != 0 && options.type->target != EXPORT_TREE)
		print_result(&options, &result);
	free(by_default);
	return status;
}

const struct cli_command cmd_export = {
	.name = "export",
	.summary = "write it for Perfetto, chrome://tracing, nsys's tools, scripts, flame graphs",
	.usage = "headway export [options] --type TYPE FILE|JOB",
	.about =
		"Writes a recording for another tool: Perfetto, chrome://tracing, everything that "
		"reads PyTorch's traces or Nsight Systems' exports, DuckDB and the like, spreadsheets, "
		"flame graphs.",
	.options = option_table,
	.footer = "Examples:\n"
		  "  headway export -t perfetto report1.hwy          writes report1.pftrace\n"
		  "  headway export -t chrome run.sqlite -o run.json.gz\n"
		  "  headway export -t sqlite report1.hwy && nsys stats report1.sqlite\n"
		  "  headway export -t csv --kinds kernel,copy report1.hwy -o spans\n"
		  "  headway export -t parquet job1 -o lake          adds lake/job=ID/rank=0 …\n"
		  "  headway export -t folded --fold gpu report1.hwy -o - | inferno-flamegraph\n",
	.operands = CLI_FILE,
	.operands_offset = offsetof(struct options, input),
	.status = "Ranks are missing in the folder (--check).",
	.run = run_export,
};
