/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_view.c - headway view: the timeline in the browser. */
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/html_page.h"
#include "cli/view_process.h"
#include "serve/server.h"

struct options {
	struct cli_texts files;
	const char *html, *ranks;
	uint64_t max_mb;
	uint16_t port;
	bool no_browser, stay, force, is_worker;
	struct cli_privacy privacy;
};

static void read_port(const struct cli_value *value)
{
	uint64_t port = cli_count(value);
	if (port > UINT16_MAX)
		cli_misuse(value->command, "a port is at most 65535");
	*(uint16_t *)value->field = (uint16_t)port;
}

static const struct cli_option option_table[] = {
	{0, "port", "N", "listen on this port of 127.0.0.1 (default: a free one)", CLI_READ,
	 CLI_AT(port), .read = read_port},
	{0, "no-browser", NULL,
	 "only print the address, and the ssh line to reach it from elsewhere", CLI_SWITCH,
	 CLI_AT(no_browser)},
	{0, "stay", NULL, "stay when the last page has been closed", CLI_SWITCH, CLI_AT(stay)},
	{0, "html", "FILE",
	 "write one self-contained page instead: to send to somebody, needs no server", CLI_TEXT,
	 CLI_AT(html)},
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
		printf("Open this address by hand if the browser shows no page.\n");
	} else {
		gethostname(host, sizeof host - 1);
		const struct passwd *me = getpwuid(getuid());
		printf("from another machine:  ssh -N -L %u:127.0.0.1:%u %s@%s   and open the same "
		       "address there\n",
		       port, port, me ? me->pw_name : "USER", host);
	}
	printf("%s\n", options->stay
			       ? "Ctrl-C ends it."
			       : "Ends with Ctrl-C, or a minute after its last page was closed.");
	fflush(stdout);
}

/* ---- the command ---------------------------------------------------------------------------- */

struct viewing {
	struct view_trace traces[SERVER_TRACES];
	struct worker workers[SERVER_TRACES];
	char *reports[SERVER_TRACES];
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
		char *argv[] = {"headway",           "view", "--worker", "--",
				viewing->reports[i], word,   NULL};
		if (!view_open(&viewing->traces[i], trace, source, &err) ||
		    !worker_start(&viewing->workers[i], argv, &err))
			cli_die("%s", err.text);
		free(word);
	}
}

static void close_all(const struct options *options, struct viewing *viewing)
{
	for (uint32_t i = 0; i < options->files.n; i++) {
		struct hwy_trace *trace = viewing->traces[i].trace;
		worker_stop(&viewing->workers[i]);
		view_close(&viewing->traces[i]);
		hwy_trace_free(trace);
		free(viewing->reports[i]);
	}
}

static void serve(const struct options *options)
{
	static struct viewing viewing;
	view_open_all(options, &viewing);
	struct server_options how = {
		.traces = viewing.traces,
		.workers = viewing.workers,
		.reports = viewing.reports,
		.n_traces = options->files.n,
		.port = options->port,
		.keep = options->stay,
		.interrupted = &interrupted,
		.on_first_page = view_browser_forget,
	};
	struct hwy_err err;
	struct server *server = server_start(&how, &err);
	if (!server) {
		close_all(options, &viewing);
		cli_die("%s", err.text);
	}
	end_on_signals();
	print_address(options, server);
	server_wait(server);
	server_stop(server);
	view_browser_forget();
	close_all(options, &viewing);
}

static void write_page(const struct options *options)
{
	struct analyze_run runs[SERVER_TRACES];
	struct analyze_view views[SERVER_TRACES];
	for (uint32_t i = 0; i < options->files.n; i++)
		cli_keep_input(options->files.texts[i], options->html);
	struct cli_output output = cli_output_open(options->html, options->force);
	for (uint32_t i = 0; i < options->files.n; i++) {
		const char *source = options->files.texts[i];
		struct view_choice choice = view_choose(source, options->ranks);
		analyze_open_trace(&runs[i],
				   choice.files ? cli_open_ranks(choice.files, choice.n)
						: cli_open(source),
				   source, NULL, &options->privacy);
		view_choice_free(&choice);
		views[i] = (struct analyze_view){.runs = &runs[i], .n = 1};
	}
	html_page_write(output.out, views, options->files.n, options->max_mb);
	cli_output_close(&output);
	for (uint32_t i = 0; i < options->files.n; i++)
		analyze_close(&runs[i]);
}

static int run_view(int argc, char **argv)
{
	struct options options = {0};
	cli_read(&cmd_view, argc, argv, &options);
	if (options.files.n > SERVER_TRACES)
		cli_misuse(&cmd_view, "at most two files can be seen together");
	if (options.files.n == 0)
		cli_misuse(&cmd_view, "which file?");
	if (!options.html && (options.privacy.no_args || options.privacy.anonymous))
		cli_misuse(&cmd_view, "--no-args and --anonymous are for --html");
	const char **files = options.files.texts;
	int status = 0;
	if (options.is_worker) {
		status = view_worker_run(files[0], files[options.files.n - 1]);
	} else {
		signal(SIGPIPE, SIG_IGN);
		(options.html ? write_page : serve)(&options);
	}
	free(files);
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
		"random address; nothing leaves the machine.",
	.options = option_table,
	.footer = "Examples:\n"
		  "  headway view report1.hwy\n"
		  "  headway view --no-browser run.sqlite     on a server: prints the ssh line\n"
		  "  headway view before.hwy after.hwy\n"
		  "  headway view job1 --ranks 0,611          some ranks of a job\n"
		  "  headway view report1.hwy --html run.html\n",
	.operands = CLI_FILES,
	.operands_offset = offsetof(struct options, files),
	.run = run_view,
};
