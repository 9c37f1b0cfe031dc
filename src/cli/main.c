/* SPDX-License-Identifier: Apache-2.0 */
/* main.c - finds the command in a table of all commands and runs it. */
#include "cli/commands.h"
#include "cli/kit/generate.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/lang.h"
#include "base/mem.h"
#include "base/shell_word.h"
#include "cli/kit/paint.h"
#include "cli/welcome.h"
#include "run/job_launchers.h"
#include "run/run.h"

/* The commands, in the order of `headway --help`. */
static const struct cli_command *const commands[] = {
	&cmd_profile,  &cmd_recover, &cmd_doctor, &cmd_demo,    &cmd_info,      &cmd_show,
	&cmd_view,     &cmd_stats,   &cmd_sql,    &cmd_analyze, &cmd_breakdown, &cmd_tree,
	&cmd_kernels,  &cmd_whatif,  &cmd_path,   &cmd_digest,  &cmd_diff,      &cmd_gate,
	&cmd_baseline, &cmd_convert, &cmd_export, &cmd_mcp,     NULL,
};
enum { N_COMMANDS = sizeof commands / sizeof *commands - 1 };

static const struct cli_program program = {
	.about = "Headway shows what the CPU and the GPU did on one timeline, and what held the "
		 "program back.",
	.usage = "headway COMMAND [options] FILE\n"
		 "       headway profile [options] PROGRAM [arguments]",
	.files =
		"FILE is a .hwy report, an nsys export (.sqlite, .nsys-rep), a PyTorch profiler trace\n"
		"(.json, .json.gz), or the output of ncu --csv; Headway looks at the content, not at\n"
		"the name.",
	.examples =
		"  headway doctor                        what can be recorded here?\n"
		"  headway profile python3 train.py      records it; writes report1.hwy\n"
		"  headway show report1.hwy              CPU and GPU at the same time\n"
		"  headway info run.sqlite               is this recording good for anything?\n"
		"  headway analyze run.sqlite            what holds the program back, and where\n"
		"  headway stats trace.json.gz           the tables you know from nsys\n"
		"  headway stats -r cuda_gpu_kern_sum --format csv run.hwy\n",
	.commands = commands,
};

/* Prints text; its first n bytes are bold where 'out' is a terminal. */
static void print_bold(FILE *out, const char *text, size_t n)
{
	bool colour = cli_colour(out);
	fprintf(out, "%s%.*s%s%s", paint(colour, PAINT_BOLD), (int)n, text,
		paint(colour, PAINT_PLAIN), text + n);
}

/* Prints where the documents are that the help of commands calls docs/NAME.md. */
static void print_documents(FILE *out)
{
	static const char *const places[] = {
		"/../share/doc/headway/docs/view.md", /* installed */
		"/../_share/docs/view.md",            /* a Python package */
		"/../docs/view.md",                   /* the build folder of the source */
		NULL,
	};
	char *page = library_place(places);
	if (page) {
		*strrchr(page, '/') = '\0';
		fprintf(out, hwy_tr("The documents docs/NAME.md are in %s.\n"), page);
	}
	free(page);
}

static void print_help(FILE *out)
{
	print_bold(out, hwy_tr(program.about), strlen("Headway"));
	fputs("\n\n", out);
	cli_put_usage(out, program.usage);
	fputs("\n\n", out);
	print_bold(out, hwy_tr("Commands:\n"), strlen(hwy_tr("Commands:\n")));
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(out, "  %-10s  %s\n", commands[i]->name, hwy_tr(commands[i]->summary));
	fputc('\n', out);
	print_bold(out, hwy_tr(program.files), strlen("FILE"));
	fputs("\n\n", out);
	print_bold(out, hwy_tr("Examples:\n"), strlen(hwy_tr("Examples:\n")));
	fprintf(out, "%s\n%s", hwy_tr(program.examples),
		hwy_tr("'headway COMMAND --help' tells more; 'headway --version' prints the version.\n"));
	print_documents(out);
}

/* What other tools call a command of ours, or what people look for. Such a word may look more
 * like another of our names: 'record' like 'recover', 'timeline' like 'baseline', 'gaps' like
 * 'gate'. */
static const char *meant_by(const char *name)
{
	static const struct {
		const char *foreign, *ours;
	} words[] = {
		{"record", "'profile'"},
		{"run", "'profile'"},
		{"trace", "'profile'"},
		{"ui", "'view'"},
		{"open", "'view'"},
		{"gui", "'view'"},
		{"viewer", "'view'"},
		{"page", "'headway view FILE --html PAGE'"},
		{"html", "'headway view FILE --html PAGE'"},
		{"timeline", "'show', in the terminal, or 'view', in a browser"},
		{"plot", "'show', in the terminal, or 'view', in a browser"},
		{"steps", "'show', in the terminal, or 'headway sql FILE -f slow-steps'"},
		{"gap", "'headway breakdown FILE' or 'headway sql FILE -f device-gaps'"},
		{"gaps", "'headway breakdown FILE' or 'headway sql FILE -f device-gaps'"},
		{"idle", "'headway breakdown FILE' or 'headway sql FILE -f device-gaps'"},
		{"report", "'analyze'"},
		{"summary", "'analyze'"},
		{"summarize", "'analyze'"},
		{"advice", "'analyze'"},
		{"bottleneck", "'analyze'"},
		{"bottlenecks", "'analyze'"},
		{"findings", "'analyze'"},
		{"compare", "'diff'"},
		{"query", "'sql'"},
		{"tables", "'stats'"},
		{"table", "'stats'"},
		{"import", "'convert'"},
		{"flamegraph", "'view', or 'headway tree FILE --format folded'"},
		{"flame", "'view', or 'headway tree FILE --format folded'"},
		{"critical-path", "'path'"},
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(words[i].foreign, name) == 0)
			return words[i].ours;
	return NULL;
}

/* Whether this is a program, by the content of its file: a recording may be executable, too. */
static bool is_program(const char *name)
{
	char path[PATH_MAX], magic[4] = "";
	size_t length = strlen(name);
	if (length > 3 && strcmp(name + length - 3, ".py") == 0 && access(name, R_OK) == 0)
		return true;
	if (!launchers_find_file(name, path) || access(path, X_OK) != 0)
		return false;
	FILE *file = fopen(path, "re");
	size_t n = file ? fread(magic, 1, sizeof magic, file) : 0;
	if (file)
		fclose(file);
	return n == 4 && (memcmp(magic, "\177ELF", 4) == 0 || memcmp(magic, "#!", 2) == 0);
}

/* Ends Headway where the words begin with no command, but with a program or a file. */
static void main_need_command(char *const *words)
{
	char line[512] = "";
	if (is_program(words[0])) {
		for (size_t n = 0; *words && n < sizeof line; words++)
			n += (size_t)snprintf(line + n, sizeof line - n, " %s",
					      hwy_shell_word(*words).text);
		cli_die("a command comes first: did you mean 'headway profile%s'?", line);
	}
	if (access(words[0], F_OK) == 0)
		cli_die("a command comes first: did you mean 'headway analyze %s'?",
			hwy_shell_word(words[0]).text);
}

/* The command that the words begin with; ends Headway where there is none. */
static const struct cli_command *main_find(char *const *words)
{
	const char *name = words[0];
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	const char *names[N_COMMANDS + 2] = {0};
	for (size_t i = 0; i < N_COMMANDS; i++)
		names[i] = commands[i]->name;
	names[N_COMMANDS] = "help";
	const char *meant = meant_by(name), *near = cli_nearest(name, names);
	if (meant)
		cli_die("unknown command '%s'; did you mean %s?", name, meant);
	if (near)
		cli_die("unknown command '%s'; did you mean '%s'?", name, near);
	main_need_command(words);
	cli_die("unknown command '%s'; 'headway --help' lists them", name);
}

static int run_help(int argc, char **argv)
{
	if (argc < 2) {
		cli_plain_stdout();
		print_help(stdout);
		return 0;
	}
	const struct cli_command *command = main_find(argv + 1);
	char option[] = "--help";
	char *words[] = {argv[1], option, NULL};
	return command->run(2, words);
}

static int run_command(const struct cli_command *command, int argc, char **argv)
{
	struct hwy_rescue rescue;
	if (HWY_RESCUED(&rescue))
		cli_die("out of memory (asked for %zu bytes)", rescue.asked);
	int status = command->run(argc, argv);
	hwy_rescue_end(&rescue);
	return status;
}

int main(int argc, char **argv)
{
	cli_start();
	cli_language_start();
	if (argc > 2 && strcmp(argv[1], "--lang") == 0) {
		cli_language_use(argv[2]);
		argv += 2;
		argc -= 2;
	} else if (argc > 1 && strncmp(argv[1], "--lang=", 7) == 0) {
		cli_language_use(argv[1] + 7);
		argv++;
		argc--;
	}
	if (argc < 2) {
		cli_plain_stdout();
		print_bold(stdout, hwy_tr(program.about), strlen("Headway"));
		fputs("\n\n", stdout);
		welcome_print(stdout);
		return 0;
	}
	const char *word = argv[1];
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0 ||
	    strcmp(word, "version") == 0) {
		puts("headway " HEADWAY_VERSION);
		return 0;
	}
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
		bool names_one = argc > 2 && argv[2][0] != '-';
		return run_help(names_one ? argc - 1 : 1, argv + 1);
	}
	if (strcmp(word, "--generate") == 0 && argc == 4) {
		generate(&program, argv[2], argv[3]);
		return 0;
	}
	if (strcmp(word, "calibrate-helper") == 0)
		return cmd_calibrate_helper(argc - 1, argv + 1);
	if (strcmp(word, "help") == 0)
		return run_help(argc - 1, argv + 1);
	if (word[0] == '-')
		cli_die("unknown option '%s'; a command comes first, 'headway --help' lists them",
			word);
	return run_command(main_find(argv + 1), argc - 1, argv + 1);
}
