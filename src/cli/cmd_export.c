/* cmd_export.c - headway export: a recording in the format of another tool.
 *
 * The output appears complete under its name or not at all. Files that a library writes itself (SQLite) and
 * folders are written under a temporary name beside it, like streams.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/kit/cli.h"
#include "cli/kit/units.h"
#include "export/export.h"

enum {
	TYPE,
	OUTPUT,
	FORCE,
	HEAD_CUT,
	FROM,
	TO,
	RANGE,
	KINDS,
	LANES,
	HEAD_TYPES,
	STAGES,
	PLAIN,
	FOLD
};
static const struct cli_option options[] = {
	[TYPE] = {'t', "type", "TYPE",
		  "perfetto, chrome, sqlite, csv or folded; 'help' tells what for"},
	[OUTPUT] =
		{'o', "output", "FILE",
		 "where to write; '-' is standard output (default: FILE with the type's ending; a name "
		 "that ends in .gz is compressed)"},
	[FORCE] = {'f', "force", NULL, "overwrite what is there"},
	[HEAD_CUT] = {0, "", NULL, "What to write:"},
	[FROM] = {0, "from", "TIME", "only spans that end after this time (1.5s, 20ms, …)"},
	[TO] = {0, "to", "TIME", "only spans that begin before this time"},
	[RANGE] =
		{0, "range", "NAME",
		 "only what happens inside ranges of this name, and the device work launched there"},
	[KINDS] =
		{0, "kinds", "LIST",
		 "only these kinds of spans: api, kernel, copy, fill, graph, sync, event, range, op, call, os, "
		 "state, memory, sample, counter, overhead"},
	[LANES] =
		{0, "lanes", "LIST",
		 "only lanes whose name has one of these words: 'GPU 0', 'stream 7', 'thread 1234', …"},
	[HEAD_TYPES] = {0, "", NULL, "Of one type:"},
	[STAGES] =
		{0, "render-stages", NULL,
		 "perfetto: device work also as GPU render stages (tables and plugins of the UI)"},
	[PLAIN] =
		{0, "plain", NULL,
		 "perfetto, chrome: the recording only, without what the analysis adds (critical path, "
		 "findings, headway, utilisation; steps)"},
	[FOLD] =
		{0, "fold", "WHAT",
		 "folded: cpu (samples) or gpu (device time by range and stack); default: cpu where there are "
		 "samples"},
	{0},
};

struct wishes {
	const struct export_type *type;
	const char *input, *output;
	bool force;
	struct export_options how;
};

static _Noreturn void list_types(void)
{
	for (const struct export_type *type = export_types; type->name; type++)
		printf("%-9s %-9s %s\n", type->name, type->ending, type->about);
	exit(0);
}

static const struct export_type *find_type(const struct cli *cli, const char *name)
{
	const char *names[16] = {0};
	int n = 0;
	if (strcmp(name, "help") == 0)
		list_types();
	for (const struct export_type *type = export_types; type->name; type++)
		names[n++] = type->name;
	return &export_types[cli_word(cli, "type", name, names)];
}

static uint32_t read_kinds(const struct cli *cli, const char *text)
{
	uint32_t kinds = 0;
	char word[32];
	const char *names[HWY_KINDS + 1] = {0};
	for (int i = 0; i < HWY_KINDS; i++)
		names[i] = hwy_kind_names[i];
	for (const char *at = text; *at; at += *at == ',') {
		size_t length = strcspn(at, ",");
		snprintf(word, sizeof word, "%.*s", (int)(length < 30 ? length : 30), at);
		kinds |= HWY_KIND_BIT(cli_word(cli, "kinds", word, names));
		at += length;
	}
	if (!kinds)
		cli_misuse(cli, "--kinds needs one at least");
	return kinds;
}

static void export_read_option(const struct cli *cli, int option, const char *value,
			       struct wishes *wishes)
{
	static const char *const folds[] = {"auto", "cpu", "gpu", NULL};
	switch (option) {
	case TYPE: wishes->type = find_type(cli, value); break;
	case OUTPUT: wishes->output = value; break;
	case FORCE: wishes->force = true; break;
	case FROM: wishes->how.from = cli_time(cli, "from", value); break;
	case TO: wishes->how.to = cli_time(cli, "to", value); break;
	case RANGE: wishes->how.range = value; break;
	case KINDS: wishes->how.kinds = read_kinds(cli, value); break;
	case LANES: wishes->how.lanes = value; break;
	case STAGES: wishes->how.render_stages = true; break;
	case PLAIN: wishes->how.plain = true; break;
	case FOLD:
		wishes->how.folding = (enum export_folding)cli_word(cli, "fold", value, folds);
		break;
	default: cli_file(cli, &wishes->input, value);
	}
}

static bool export_ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);
	return n >= m && strcmp(text + n - m, end) == 0;
}

/* The source's name without the endings recordings have, and the type's. */
static char *default_output(const char *path, const char *ending)
{
	static const char *const endings[] = {".gz", ".json", ".nsys-rep", ".sqlite", ".hwy"};
	size_t n = strlen(path);
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

/* ---- what is there already ------------------------------------------------------------------------ */

static bool export_is_ours(const char *name)
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

/* Removes the files of an earlier export; anything else in the folder is somebody's. */
static void empty_folder(const char *path, bool only_look)
{
	DIR *folder = opendir(path);
	if (!folder)
		cli_die("%s: %s", path, strerror(errno));
	for (struct dirent *entry; (entry = readdir(folder));) {
		if (!export_is_ours(entry->d_name))
			cli_die("%s: holds '%s', which no export wrote; name another folder with -o",
				path, entry->d_name);
		if (!only_look && entry->d_name[0] != '.')
			unlinkat(dirfd(folder), entry->d_name, 0);
	}
	closedir(folder);
}

/* Says no before the work rather than after it. */
static void export_check_output(const struct wishes *wishes, bool is_folder)
{
	struct stat status;
	if (!*wishes->output)
		cli_die("the output has an empty name");
	if (strcmp(wishes->output, "-") == 0)
		cli_die("%s cannot go to standard output; name a file with -o", wishes->type->name);
	if (stat(wishes->output, &status) != 0)
		return;
	cli_keep_input(wishes->input, wishes->output);
	if (is_folder != (bool)S_ISDIR(status.st_mode) || (!is_folder && !S_ISREG(status.st_mode)))
		cli_die("%s: is %s", wishes->output,
			S_ISDIR(status.st_mode) ? "a directory"
			: is_folder             ? "not a folder"
						: "not a regular file");
	if (!wishes->force)
		cli_die("%s: exists and is kept; -f overwrites it", wishes->output);
	if (is_folder)
		empty_folder(wishes->output, true);
}

/* ---- writing -------------------------------------------------------------------------------------- */

/* A reader that has gone away is an error here: what it got is half a file. */
static void export_write_stream(const struct wishes *wishes, struct export_result *result)
{
	struct hwy_err err;
	cli_keep_input(wishes->input, wishes->output);
	struct cli_output output = cli_output_open(wishes->output, wishes->force);
	struct hwy_trace *trace = cli_open(wishes->input);
	signal(SIGPIPE, SIG_IGN);
	bool gzip = export_ends_with(wishes->output, ".gz");
	bool ok = wishes->type->stream(trace, output.out, gzip, &wishes->how, cli_progress(),
				       result, &err);
	cli_progress_end();
	if (!ok)
		cli_die("%s", err.text);
	cli_output_close(&output);
	hwy_trace_free(trace);
}

/* A temporary name beside the output: of a file that is not there yet, or of an empty folder. */
static char *make_temporary(const char *path, bool is_folder)
{
	char *name;
	if (asprintf(&name, "%s.XXXXXX", path) < 0)
		cli_die("%s: out of memory", path);
	int fd = is_folder ? -1 : mkstemp(name);
	if (is_folder ? !mkdtemp(name) : fd < 0)
		cli_die("%s: %s", path, strerror(errno));
	mode_t mask = umask(0);
	umask(mask);
	if (is_folder) {
		chmod(name, 0777 & ~mask);
	} else {
		fchmod(fd, 0666 & ~mask);
		close(fd);
	}
	cli_unfinished(name, true);
	return name;
}

static void write_files(const struct wishes *wishes, struct export_result *result)
{
	struct hwy_err err;
	bool is_folder = wishes->type->target == EXPORT_FOLDER;
	export_check_output(wishes, is_folder);
	char *temporary = make_temporary(wishes->output, is_folder);
	struct hwy_trace *trace = cli_open(wishes->input);
	bool ok = wishes->type->files(trace, temporary, &wishes->how, cli_progress(), result, &err);
	cli_progress_end();
	if (!ok) {
		/* The name people know, not the temporary one. */
		size_t n = strlen(temporary);
		bool named = strncmp(err.text, temporary, n) == 0;
		cli_die("%s%s", named ? wishes->output : "", named ? err.text + n : err.text);
	}
	if (is_folder && access(wishes->output, F_OK) == 0)
		empty_folder(wishes->output, false);
	if (rename(temporary, wishes->output) != 0)
		cli_die("%s: %s", wishes->output, strerror(errno));
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

static void print_result(const struct wishes *wishes, const struct export_result *result)
{
	uint64_t bytes = size_of(wishes->output);
	printf("%s: %s spans, %s", wishes->output, units_count(result->spans).at,
	       units_bytes(bytes).at);
	if (result->spans)
		printf(", %.1f bytes a span", (double)bytes / (double)result->spans);
	putchar('\n');
	bool any = false;
	for (int i = 0; i < HWY_KINDS; i++) {
		if (!result->left_out[i])
			continue;
		printf("%s%s %s",
		       any ? ", " : "left out, because the format has no place for them: ",
		       units_count(result->left_out[i]).at, hwy_kind_names[i]);
		any = true;
	}
	if (any)
		putchar('\n');
	if (result->note)
		puts(result->note);
}

int cmd_export(int argc, char **argv)
{
	struct cli cli = {
		.command = "export",
		.usage = "headway export [options] --type TYPE FILE",
		.about =
			"Writes a recording for another tool: Perfetto, chrome://tracing, everything that reads "
			"PyTorch's traces or Nsight Systems' exports, spreadsheets, flame graphs.",
		.options = options,
		.footer =
			"Examples:\n"
			"  headway export -t perfetto report1.hwy          writes report1.pftrace\n"
			"  headway export -t chrome run.sqlite -o run.json.gz\n"
			"  headway export -t sqlite report1.hwy && nsys stats report1.sqlite\n"
			"  headway export -t csv --kinds kernel,copy report1.hwy -o spans\n"
			"  headway export -t folded --fold gpu report1.hwy -o - | inferno-flamegraph\n",
		.argc = argc,
		.argv = argv,
	};
	struct wishes wishes = {
		.how = {.from = INT64_MIN, .to = INT64_MAX, .kinds = UINT32_MAX},
	};
	const char *value;
	for (int option; (option = cli_next(&cli, &value)) != CLI_END;)
		export_read_option(&cli, option, value, &wishes);
	if (!wishes.type)
		cli_misuse(&cli, "which type? '--type help' lists them");
	if (!wishes.input)
		cli_misuse(&cli, "which file?");
	if (wishes.how.from != INT64_MIN && wishes.how.from >= wishes.how.to)
		cli_misuse(&cli, "--from must be before --to");
	char *by_default = wishes.output ? NULL : default_output(wishes.input, wishes.type->ending);
	wishes.output = wishes.output ? wishes.output : by_default;
	wishes.how.target = strcmp(wishes.output, "-") == 0 ? "standard output" : wishes.output;
	struct export_result result = {0};
	if (wishes.type->target == EXPORT_STREAM)
		export_write_stream(&wishes, &result);
	else
		write_files(&wishes, &result);
	if (strcmp(wishes.output, "-") != 0)
		print_result(&wishes, &result);
	free(by_default);
	return 0;
}
