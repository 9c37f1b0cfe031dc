/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_view.c - headway view: the timeline in the browser. */
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/lang.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/html_page.h"
#include "cli/job_print.h"
#include "cli/opened_job.h"
#include "cli/view_process.h"
#include "serve/server.h"

struct options {
	struct cli_texts files;
	const char *html, *ranks, *token_file;
	struct cli_texts hosts;
	uint64_t max_mb;
	uint16_t port;
	bool no_browser, stay, keep_address, force, is_worker;
	struct cli_privacy privacy;
};

static void read_port(const struct cli_value *value)
{
	uint64_t port = cli_count(value);
	if (port > UINT16_MAX)
		cli_misuse(value->command, "a port is at most 65535");
	*(uint16_t *)value->field = (uint16_t)port;
}

static void read_host(const struct cli_value *value)
{
	struct cli_texts *hosts = value->field;
	if (!origin_is_host_name(value->text))
		cli_misuse(value->command,
			   "--allow-host takes the name of a host, without port and path: %s",
			   value->text);
	HWY_GROW(hosts->texts, hosts->n, hosts->cap);
	hosts->texts[hosts->n++] = value->text;
}

static const struct cli_option option_table[] = {
	{0, "port", "N", "listen on this port of 127.0.0.1 (default: a free one)", CLI_READ,
	 CLI_AT(port), .read = read_port},
	{0, "no-browser", NULL,
	 "only print the address, and the ssh line to reach it from elsewhere", CLI_SWITCH,
	 CLI_AT(no_browser)},
	{0, "stay", NULL, "stay when the last page has been closed", CLI_SWITCH, CLI_AT(stay)},
	{0, "keep-address", NULL,
	 "the same port and secret whenever these recordings are opened, so that links stay alive; kept in "
	 "the cache folder, for your eyes only",
	 CLI_SWITCH, CLI_AT(keep_address)},
	{0, "token-file", "FILE",
	 "the secret of the address: 32 hexadecimal digits in a file that only you can read; written "
	 "there if the file does not exist",
	 CLI_TEXT, CLI_AT(token_file)},
	{0, "allow-host", "NAME",
	 "also answer a browser that comes by this name, through the proxy of Jupyter or code-server; "
	 "may be given several times",
	 CLI_READ, CLI_AT(hosts), .read = read_host},
	{0, "html", "FILE",
	 "write one self-contained page instead: to send to somebody, needs no server", CLI_TEXT,
	 CLI_AT(html)},
	{'o', "output", "FILE", "the same", CLI_TEXT, CLI_AT(html)},
	{0, "ranks", "LIST",
	 "the ranks of a job to open: 3,17-19 (default: all of 64 at most; of more, those that its "
	 "digests point at)",
	 CLI_TEXT, CLI_AT(ranks)},
	HTML_PAGE_SIZE_OPTION,
	CLI_FORCE,
	CLI_HEAD("What the page of --html leaves out:"),
	CLI_NO_ARGS(offsetof(struct options, privacy)),
	CLI_ANONYMOUS(offsetof(struct options, privacy)),
	{0, "worker", NULL, NULL, CLI_SWITCH, CLI_AT(is_worker)},
	CLI_OLD_NAME("keep", "stay"),
	CLI_END_OF_OPTIONS,
};

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

static void end_on_signals(void)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
	struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART};
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		sigaction(numbers[i], &action, NULL);
}

/* ---- the address ---------------------------------------------------------------------------- */

static void print_address(const struct options *options, const struct server *server)
{
	char address[128], host[256] = "HOST";
	unsigned port = server_port(server);
	snprintf(address, sizeof address, "http://127.0.0.1:%u/%s/", port, server_token(server));
	bool opened = !options->no_browser && view_browser_open(address);
	printf("%s\n", address);
	if (opened) {
		fputs(hwy_tr("Open this address by hand if the browser shows no page.\n"), stdout);
	} else {
		gethostname(host, sizeof host - 1);
		const struct passwd *me = getpwuid(getuid());
		printf(hwy_tr("from another machine:  ssh -N -L %u:127.0.0.1:%u %s@%s   and open the same "
			      "address there\n"),
		       port, port, me ? me->pw_name : "USER", host);
	}
	for (uint32_t i = 0; i < options->hosts.n; i++)
		printf(hwy_tr("through the proxy of Jupyter or code-server:  https://%s/…/proxy/%u/%s/\n"),
		       options->hosts.texts[i], port, server_token(server));
	puts(hwy_tr(options->stay
			    ? "Ctrl-C ends it."
			    : "Ends with Ctrl-C, or a minute after its last page was closed."));
	fflush(stdout);
}

/* ---- the command ---------------------------------------------------------------------------- */

struct viewing {
	struct view_trace traces[SERVER_TRACES];
	struct worker workers[SERVER_TRACES];
	char *reports[SERVER_TRACES];
	struct comparison comparison;
	char *compare_argv[11];
};

static void view_open_all(const struct options *options, struct viewing *viewing)
{
	struct hwy_err err;
	for (uint32_t i = 0; i < options->files.n; i++) {
		const char *source = options->files.texts[i];
		struct view_choice choice = view_choose(source, options->ranks);
		struct hwy_trace *trace = choice.files
						  ? view_cache_open_ranks(choice.files, choice.n,
									  &viewing->reports[i])
						  : view_cache_open(source, &viewing->reports[i]);
		view_choice_free(&choice);
		/* A copy, because posix_spawn takes no const strings. */
		char *word = hwy_copy(source, strlen(source) + 1);
		char language[8];
		snprintf(language, sizeof language, "%s", hwy_lang());
		char *argv[] = {"headway",           "view", "--lang", language, "--worker", "--",
				viewing->reports[i], word,   NULL};
		if (!view_open(&viewing->traces[i], trace, source, &err) ||
		    !worker_start(&viewing->workers[i], argv, &err))
			cli_die("%s", err.text);
		free(word);
	}
}

/* The process that compares two recordings gets both reports, then both files as the user named
 * them. */
static void prepare_comparison(const struct options *options, struct viewing *viewing)
{
	const char *a = options->files.texts[0], *b = options->files.texts[1];
	const char *language = hwy_lang();
	char *argv[] = {"headway",
			"view",
			"--lang",
			hwy_copy(language, strlen(language) + 1),
			"--worker",
			"--",
			viewing->reports[0],
			viewing->reports[1],
			hwy_copy(a, strlen(a) + 1),
			hwy_copy(b, strlen(b) + 1),
			NULL};
	memcpy(viewing->compare_argv, argv, sizeof argv);
	comparison_init(&viewing->comparison, viewing->compare_argv);
}

static void close_all(const struct options *options, struct viewing *viewing)
{
	comparison_stop(&viewing->comparison);
	free(viewing->compare_argv[3]);
	free(viewing->compare_argv[8]);
	free(viewing->compare_argv[9]);
	for (uint32_t i = 0; i < options->files.n; i++) {
		struct hwy_trace *trace = viewing->traces[i].trace;
		worker_stop(&viewing->workers[i]);
		view_close(&viewing->traces[i]);
		hwy_trace_free(trace);
		free(viewing->reports[i]);
	}
}

/* Yields the path, to be freed, of the file that keeps the secret; NULL: it is not kept. */
static char *address_file(const struct options *options)
{
	if (options->keep_address)
		return view_address_path(&options->files);
	const char *path = options->token_file;
	return path ? hwy_copy(path, strlen(path) + 1) : NULL;
}

/* Writes what is not yet in the file that keeps the secret. */
static void note_address(const struct options *options, const struct server *server,
			 const char *path, const struct view_address *known)
{
	struct view_address now = {.port = options->keep_address ? server_port(server) : 0};
	memcpy(now.token, server_token(server), VIEW_TOKEN);
	if (path && (!*known->token || (options->keep_address && known->port != now.port)))
		view_address_write(path, &now);
}

static void serve(const struct options *options)
{
	static struct viewing viewing;
	struct view_address known = {0};
	char *path = address_file(options);
	if (path)
		view_address_read(path, &known);
	view_open_all(options, &viewing);
	if (options->files.n == 2)
		prepare_comparison(options, &viewing);
	struct server_options how = {
		.traces = viewing.traces,
		.workers = viewing.workers,
		.reports = viewing.reports,
		.n_traces = options->files.n,
		.comparison = options->files.n == 2 ? &viewing.comparison : NULL,
		.port = options->port ? options->port : known.port,
		.keep = options->stay,
		.token = *known.token ? known.token : NULL,
		.is_kept = path != NULL,
		.allowed = {options->hosts.texts, options->hosts.n},
		.interrupted = &interrupted,
		.on_first_page = view_browser_forget,
	};
	struct hwy_err err;
	struct server *server = server_start(&how, &err);
	if (!server) {
		close_all(options, &viewing);
		cli_die("%s%s", err.text,
			hwy_tr(!options->port && known.port
				       ? "; is it open already? --port chooses another port"
				       : ""));
	}
	note_address(options, server, path, &known);
	free(path);
	end_on_signals();
	print_address(options, server);
	server_wait(server);
	server_stop(server);
	view_browser_forget();
	close_all(options, &viewing);
}

/* Opens what the page shows of a file or of a job; 'ranks' keeps the answer about the ranks of a
 * job. Names of a job cannot be hidden: with --no-args and --anonymous there is no such answer. */
static void open_for_page(const struct options *options, const char *source,
			  struct analyze_run *run, struct analyze_view *view,
			  struct analyze_view *ranks)
{
	const struct cli_privacy *privacy = &options->privacy;
	struct view_choice choice = view_choose(source, options->ranks);
	struct hwy_err ignored;
	analyze_open_trace(run,
			   choice.files ? cli_open_ranks(choice.files, choice.n) : cli_open(source),
			   source, NULL, privacy);
	view_choice_free(&choice);
	*view = (struct analyze_view){.runs = run, .n = 1};
	*ranks = (struct analyze_view){.cells = ANALYZE_POINTS};
	if (opened_job_is(source) && !privacy->no_args && !privacy->anonymous &&
	    job_view_of_folder(ranks, source, NULL, &ignored))
		view->job = ranks->job;
}

/* Whether a name is one of a recording: no page is called so. */
static bool is_of_recording(const char *name)
{
	static const char *const endings[] = {".hwy",  ".sqlite",  ".nsys-rep",
					      ".json", ".json.gz", ".hwd"};
	size_t length = strlen(name);
	for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
		size_t n = strlen(endings[i]);
		if (length > n && strcmp(name + length - n, endings[i]) == 0)
			return true;
	}
	return false;
}

static void check_page_name(const char *page)
{
	if (*page == '-' && page[1])
		cli_misuse(&cmd_view, "--html takes the name of the page to write, not '%s'", page);
	if (is_of_recording(page))
		cli_misuse(&cmd_view,
			   "'%s' is the name of a recording; --html takes that of the page to "
			   "write: headway view %s --html page.html",
			   page, page);
}

static void write_page(const struct options *options)
{
	struct analyze_run runs[SERVER_TRACES];
	struct analyze_view views[SERVER_TRACES], ranks[SERVER_TRACES];
	for (uint32_t i = 0; i < options->files.n; i++)
		cli_keep_input(options->files.texts[i], options->html);
	struct cli_output output = cli_output_open(options->html, options->force);
	for (uint32_t i = 0; i < options->files.n; i++)
		open_for_page(options, options->files.texts[i], &runs[i], &views[i], &ranks[i]);
	html_page_write(output.out, views, options->files.n, options->max_mb);
	cli_output_close(&output);
	for (uint32_t i = 0; i < options->files.n; i++) {
		job_view_free(&ranks[i]);
		analyze_close(&runs[i]);
	}
}

static int run_view(int argc, char **argv)
{
	struct options options = {0};
	cli_read(&cmd_view, argc, argv, &options);
	if (options.files.n > SERVER_TRACES && !options.is_worker)
		cli_misuse(&cmd_view, "at most two files can be seen together");
	if (options.html)
		check_page_name(options.html);
	if (options.files.n == 0)
		cli_misuse(&cmd_view, "which file?");
	if (options.keep_address && options.token_file)
		cli_misuse(&cmd_view,
			   "--keep-address keeps a secret of its own; --token-file has another");
	if (!options.html && (options.privacy.no_args || options.privacy.anonymous))
		cli_misuse(&cmd_view, "--no-args and --anonymous are for --html");
	const char **files = options.files.texts;
	int status = 0;
	if (options.is_worker) {
		status = options.files.n == 2 * SERVER_TRACES
				 ? view_compare_run(files, files + SERVER_TRACES)
				 : view_worker_run(files[0], files[options.files.n - 1]);
	} else {
		signal(SIGPIPE, SIG_IGN);
		(options.html ? write_page : serve)(&options);
	}
	free(files);
	free(options.hosts.texts);
	return status;
}

const struct cli_command cmd_view = {
	.name = "view",
	.summary = "the timeline in the browser, with the diagnosis beside it",
	.usage = "headway view [options] FILE|JOB [FILE|JOB]",
	.about =
		"Opens the timeline in the browser: lanes of devices, streams and threads, the "
		"diagnosis beside them, and what fixes would change. Two files are shown one "
		"under the other, step by step. Of a job of more than 64 ranks with digests only the "
		"ranks are opened that its answer is about, and a line says which and why. The page is served on 127.0.0.1 only, behind a "
		"random address; nothing leaves the machine. docs/view.md tells how to reach it from "
		"elsewhere, and how links stay alive.",
	.options = option_table,
	.footer = "Examples:\n"
		  "  headway view report1.hwy\n"
		  "  headway view --no-browser run.sqlite     on a server: prints the ssh line\n"
		  "  headway view before.hwy after.hwy\n"
		  "  headway view --keep-address run.hwy      links still work after a restart\n"
		  "  headway view job1 --ranks 0,611          some ranks of a job\n"
		  "  headway view report1.hwy -o run.html     a page to send, needs no server\n",
	.operands = CLI_FILES,
	.operands_offset = offsetof(struct options, files),
	.run = run_view,
};
