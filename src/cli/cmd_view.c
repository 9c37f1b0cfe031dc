/* cmd_view.c - headway view: the timeline in the browser. */
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/html_page.h"
#include "cli/kit/cli.h"
#include "cli/view_process.h"
#include "serve/server.h"

enum { PORT, NO_BROWSER, KEEP, HTML, MAX_SIZE, FORCE, WORKER };

static const struct cli_option options[] = {
	[PORT] = {0, "port", "N", "listen on this port of 127.0.0.1 (default: a free one)"},
	[NO_BROWSER] = {0, "no-browser", NULL,
			"only print the address, and the ssh line to reach it from elsewhere"},
	[KEEP] = {0, "keep", NULL, "stay when the last page has been closed"},
	[HTML] = {0, "html", "FILE",
		  "write one self-contained page instead: to send to somebody, needs no server"},
	[MAX_SIZE] = {0, "max-size", "MB", PAGE_SIZE_HELP},
	[FORCE] = {'f', "force", NULL, "overwrite that page if it exists"},
	[WORKER] = {0, "worker", NULL, NULL},
	{0},
};

struct wishes {
	const char *paths[SERVER_TRACES];
	uint32_t n;
	const char *html;
	uint64_t max_mb;
	uint16_t port;
	bool no_browser, keep, force, is_worker;
};

static void view_read_option(const struct cli *cli, int option, const char *value,
			     struct wishes *wishes)
{
	uint64_t port;
	switch (option) {
	case PORT:
		port = cli_count(cli, "port", value);
		if (port > UINT16_MAX)
			cli_misuse(cli, "a port is at most 65535");
		wishes->port = (uint16_t)port;
		break;
	case NO_BROWSER: wishes->no_browser = true; break;
	case KEEP: wishes->keep = true; break;
	case HTML: wishes->html = value; break;
	case MAX_SIZE: wishes->max_mb = page_size(cli, value); break;
	case FORCE: wishes->force = true; break;
	case WORKER: wishes->is_worker = true; break;
	default:
		if (wishes->n == SERVER_TRACES)
			cli_misuse(cli, "at most two files can be seen together");
		wishes->paths[wishes->n++] = value;
	}
}

static volatile int interrupted;

static void on_interrupt(int number)
{
	(void)number;
	interrupted = 1;
}

/* ---- the browser --------------------------------------------------------------------------------------- */

static bool open_browser(const char *address)
{
	extern char **environ;
	const char *x11 = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
	if (!(x11 && *x11) && !(wayland && *wayland))
		return false;
	char *argv[] = {"xdg-open", (char *)address, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	for (int fd = 0; fd < 3; fd++)
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
	pid_t pid;
	int error = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return error == 0;
}

static void print_address(const struct wishes *wishes, const struct server *server)
{
	char address[128], host[256] = "HOST";
	unsigned port = server_port(server);
	snprintf(address, sizeof address, "http://127.0.0.1:%u/%s/", port, server_token(server));
	gethostname(host, sizeof host - 1);
	const struct passwd *me = getpwuid(getuid());
	bool opened = !wishes->no_browser && open_browser(address);
	printf("%s\n", address);
	if (!opened)
		printf("from another machine:  ssh -N -L %u:127.0.0.1:%u %s@%s   and open the same address "
		       "there\n",
		       port, port, me ? me->pw_name : "USER", host);
	printf("%s\n", wishes->keep
			       ? "Ctrl-C ends it."
			       : "Ends with Ctrl-C, or a minute after its last page was closed.");
	fflush(stdout);
}

/* ---- the command ------------------------------------------------------------------------------------------ */

struct viewing {
	struct view_trace traces[SERVER_TRACES];
	struct worker workers[SERVER_TRACES];
	char *reports[SERVER_TRACES];
};

static void view_open_all(const struct wishes *wishes, struct viewing *viewing)
{
	struct hwy_err err;
	for (uint32_t i = 0; i < wishes->n; i++) {
		char *source = (char *)wishes->paths[i];
		struct hwy_trace *trace = view_report(source, &viewing->reports[i]);
		char *argv[] = {"headway", "view", "--worker", viewing->reports[i], source, NULL};
		if (!view_open(&viewing->traces[i], trace, source, &err) ||
		    !worker_start(&viewing->workers[i], argv, &err))
			cli_die("%s", err.text);
	}
}

static void close_all(const struct wishes *wishes, struct viewing *viewing)
{
	for (uint32_t i = 0; i < wishes->n; i++) {
		struct hwy_trace *trace = viewing->traces[i].trace;
		worker_stop(&viewing->workers[i]);
		view_close(&viewing->traces[i]);
		hwy_trace_free(trace);
		free(viewing->reports[i]);
	}
}

static void serve(const struct wishes *wishes)
{
	static struct viewing viewing;
	view_open_all(wishes, &viewing);
	struct server_options how = {
		.traces = viewing.traces,
		.workers = viewing.workers,
		.reports = viewing.reports,
		.n_traces = wishes->n,
		.port = wishes->port,
		.keep = wishes->keep,
		.interrupted = &interrupted,
	};
	struct hwy_err err;
	struct server *server = server_start(&how, &err);
	if (!server) {
		close_all(wishes, &viewing);
		cli_die("%s", err.text);
	}
	signal(SIGINT, on_interrupt);
	signal(SIGTERM, on_interrupt);
	signal(SIGHUP, on_interrupt);
	print_address(wishes, server);
	server_wait(server);
	server_stop(server);
	close_all(wishes, &viewing);
}

static void write_page(const struct wishes *wishes)
{
	struct analyze_run runs[SERVER_TRACES];
	struct analyze_view views[SERVER_TRACES];
	for (uint32_t i = 0; i < wishes->n; i++)
		cli_keep_input(wishes->paths[i], wishes->html);
	struct cli_output output = cli_output_open(wishes->html, wishes->force);
	for (uint32_t i = 0; i < wishes->n; i++) {
		analyze_open(&runs[i], wishes->paths[i], NULL);
		views[i] = (struct analyze_view){.runs = &runs[i], .n = 1};
	}
	page_write(output.out, views, wishes->n, wishes->max_mb);
	cli_output_close(&output);
	for (uint32_t i = 0; i < wishes->n; i++)
		analyze_close(&runs[i]);
}

int cmd_view(int argc, char **argv)
{
	struct cli cli = {
		.command = "view",
		.usage = "headway view [options] FILE [FILE]",
		.about =
			"Opens the timeline in the browser: lanes of devices, streams and threads, the diagnosis beside "
			"them, and what fixes would change. Two files are shown one under the other, step by step. "
			"The page is served on 127.0.0.1 only, behind a random address; nothing leaves the machine.",
		.options = options,
		.footer =
			"Examples:\n"
			"  headway view report1.hwy\n"
			"  headway view --no-browser run.sqlite     on a server: prints the ssh line\n"
			"  headway view before.hwy after.hwy\n"
			"  headway view report1.hwy --html run.html\n",
		.argc = argc,
		.argv = argv,
	};
	struct wishes wishes = {0};
	const char *value;
	for (int option; (option = cli_next(&cli, &value)) != CLI_END;)
		view_read_option(&cli, option, value, &wishes);
	if (wishes.n == 0)
		cli_misuse(&cli, "which file?");
	if (wishes.is_worker)
		return view_work(wishes.paths[0], wishes.paths[wishes.n - 1]);
	signal(SIGPIPE, SIG_IGN);
	(wishes.html ? write_page : serve)(&wishes);
	return 0;
}
