/* SPDX-License-Identifier: Apache-2.0 */
/* calibrate.c - runs the helper, plain and recorded, and keeps the result.
 *
 * The helper cannot do harm here: it has its own process, is killed when it takes too long, and its
 * trouble is one sentence in err.
 */
#include "run/calibrate/calibrate.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/run.h"

#define SELF "/proc/self/exe"
enum { OUTPUT = 16 * 1024 };
/* ns that all runs of the helper may take together, and that another process that measures is
 * waited for before */
static const int64_t PATIENCE_NS = INT64_C(15) * 1000 * 1000 * 1000;

struct helper_run {
	const struct calibration_key *key;
	const struct calibration_listener *listener;
	bool was_reported; /* the listener was told that the helper has begun */
	bool quick;        /* the helper measures only the calls that recording slows down */
	int64_t deadline;
	char output[OUTPUT]; /* what the helper printed */
	size_t length;
};

/* ---- the child ------------------------------------------------------------------------------- */

/* Sets the helper's environment, without variables that would make it another program than the one
 * that was profiled, or slower for no reason. */
static void set_environment(const struct calibration_key *key, const struct run *run)
{
	static const char *const not_wanted[] = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH",
						 "HEADWAY_RUN", "CUDA_LAUNCH_BLOCKING"};
	for (size_t i = 0; i < sizeof not_wanted / sizeof *not_wanted; i++)
		unsetenv(not_wanted[i]);
	setenv("CUDA_VISIBLE_DEVICES", key->gpu, 1);
	/* The helper must leave no kernels in the user's cache of compiled kernels. */
	setenv("CUDA_CACHE_DISABLE", "1", 1);
	if (key->cupti_path && *key->cupti_path)
		setenv("HEADWAY_CUPTI", key->cupti_path, 1);
	char self[] = SELF, *program[] = {self, NULL};
	struct run_settings settings = {.program = program};
	if (run)
		environment_set(run, &settings);
}

static _Noreturn void become_helper(const struct helper_run *helper, const struct run *run,
				    int output)
{
	const struct calibration_key *key = helper->key;
	char name[] = "headway", command[] = "calibrate-helper", gpu[64], quick[] = "quick";
	char *words[] = {name, command, gpu, helper->quick ? quick : NULL, NULL};
	snprintf(gpu, sizeof gpu, "%s", key->gpu);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	dup2(nowhere, STDIN_FILENO);
	dup2(nowhere, STDERR_FILENO);
	dup2(output, STDOUT_FILENO);
	set_environment(key, run);
	execv(SELF, words);
	_exit(127);
}

/* ---- while the helper runs ------------------------------------------------------------------- */

/* The signals that would end headway. While the helper runs they are blocked, and end the helper
 * instead. */
static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static sigset_t ending_signals(void)
{
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
		sigaddset(&set, ending[i]);
	return set;
}

static bool was_interrupted(void)
{
	sigset_t set;
	sigpending(&set);
	for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
		if (sigismember(&set, ending[i]) == 1)
			return true;
	return false;
}

/* Tells the listener once that the helper has begun. The helper's first line says that it has a
 * GPU, or why not. */
static void report_begin(struct helper_run *helper)
{
	static const char first[] = "device ";
	if (helper->was_reported || helper->length < strlen(first))
		return;
	if (strncmp(helper->output, first, strlen(first)) == 0 && helper->listener->begins)
		helper->listener->begins(helper->listener->listener);
	helper->was_reported = true;
}

/* Reads until the helper closes its output; false, with the reason, when the helper has to be
 * killed. */
static bool read_output(struct helper_run *helper, int from, struct hwy_err *err)
{
	for (;;) {
		struct pollfd ready = {.fd = from, .events = POLLIN};
		if (poll(&ready, 1, 50) > 0) {
			size_t room = sizeof helper->output - 1 - helper->length;
			ssize_t n = read(from, helper->output + helper->length, room);
			if (n <= 0 || !room)
				return true;
			helper->length += (size_t)n;
			report_begin(helper);
		}
		if (was_interrupted())
			return hwy_fail(err, "interrupted");
		if (run_now() > helper->deadline)
			return hwy_fail(err, "it took longer than %lld s",
					(long long)(PATIENCE_NS / 1000000000));
	}
}

/* Waits for the helper's end, after it has closed its output: the collector may still be
 * writing. */
static bool await_end(struct helper_run *helper, pid_t pid, bool kill_it, int *status)
{
	for (;; poll(NULL, 0, 5)) {
		pid_t ended = waitpid(pid, status, WNOHANG);
		if (ended == pid)
			return !kill_it;
		if (ended < 0 && errno != EINTR)
			return false;
		if (kill_it || was_interrupted() || run_now() > helper->deadline) {
			kill_it = true;
			kill(pid, SIGKILL);
		}
	}
}

static bool run_helper(struct helper_run *helper, const struct run *run, struct hwy_err *err)
{
	int output[2], status = 0;
	helper->length = 0;
	if (pipe2(output, O_CLOEXEC) != 0)
		return hwy_fail(err, "%s", hwy_strerror(errno));
	pid_t pid = fork();
	if (pid == 0) {
		sigset_t set = ending_signals();
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		become_helper(helper, run, output[1]);
	}
	close(output[1]);
	bool read = pid > 0 && read_output(helper, output[0], err);
	close(output[0]);
	helper->output[helper->length] = '\0';
	if (pid < 0)
		return hwy_fail(err, "cannot start the helper");
	if (!await_end(helper, pid, !read, &status))
		return !read ? false : hwy_fail(err, "the helper did not end");
	if (WIFSIGNALED(status))
		return hwy_fail(err, "the helper was ended by signal %d", WTERMSIG(status));
	return true;
}

/* ---- what the helper printed ----------------------------------------------------------------- */

/* Reads the helper's lines: numbers, then "done"; or "failed: REASON". */
static bool take_lines(struct helper_run *helper, struct calibration *into, struct hwy_err *err)
{
	bool done = false;
	into->n = 0;
	for (char *rest = helper->output, *line; (line = strtok_r(rest, "\n", &rest));) {
		if (strncmp(line, "failed: ", 8) == 0)
			return hwy_fail(err, "%s", line + 8);
		done = done || strcmp(line, "done") == 0;
		calibration_read_line(into, line);
	}
	return (done && into->n) || hwy_fail(err, "the helper ended early");
}

static bool measure_plain(struct helper_run *helper, struct calibration *into, struct hwy_err *err)
{
	return run_helper(helper, NULL, err) && take_lines(helper, into, err);
}

static bool measure_recorded(struct helper_run *helper, struct calibration *into,
			     struct hwy_err *err)
{
	char name[] = "headway";
	char *program[] = {name, NULL};
	const struct rec_control *control = helper->key->control;
	const struct calibration_listener *listener = helper->listener;
	struct run_settings settings = {
		.program = program,
		.control = {.traces = control->traces,
			    .graph_nodes = control->graph_nodes,
			    .all_apis = control->all_apis,
			    .memory_usage = control->memory_usage,
			    .flush_ms = control->flush_ms,
			    /* No stacks are recorded: stacks are taken at a rate, not for each
			     * call. */
			    .stack_threshold = -1},
	};
	struct run run = {.lock = -1};
	if (!run_prepare(&run, &settings, err))
		return false;
	bool measured = run_helper(helper, &run, err) && take_lines(helper, into, err);
	if (measured && listener->is_recorded &&
	    !listener->is_recorded(listener->listener, run.directory))
		measured = hwy_fail(err, "the helper was not recorded");
	run_remove(run.directory);
	run_free(&run);
	return measured;
}

/* Runs plain and recorded helpers by turns, so that a change on the machine affects plain and
 * recorded ones alike. */
static bool measure_all(struct helper_run *helper, struct calibration *into, struct hwy_err *err)
{
	struct calibration plain[CALIBRATION_RUNS], recorded[CALIBRATION_RUNS], both[2];
	for (int i = 0; i < CALIBRATION_RUNS; i++) {
		helper->quick = i > 0;
		if (!measure_plain(helper, &plain[i], err))
			return false;
		helper->quick = true;
		if (!measure_recorded(helper, &recorded[i], err))
			return false;
	}
	calibration_combine(plain, CALIBRATION_RUNS, &both[0]);
	calibration_combine(recorded, CALIBRATION_RUNS, &both[1]);
	calibration_compare(&both[0], &both[1], into);
	return true;
}

/* Waits while another process makes the same calibration. */
static bool await_turn(const struct helper_run *helper, int *turn, struct hwy_err *err)
{
	int64_t until = run_now() + PATIENCE_NS;
	bool was_reported = false;
	for (; calibration_is_others(helper->key, turn); poll(NULL, 0, 50)) {
		if (!was_reported && helper->listener->waits)
			helper->listener->waits(helper->listener->listener);
		was_reported = true;
		if (was_interrupted())
			return hwy_fail(err, "interrupted");
		if (run_now() > until)
			return hwy_fail(err, "others were measuring for %lld s",
					(long long)(PATIENCE_NS / 1000000000));
	}
	return true;
}

static bool measure_in_turn(struct helper_run *helper, struct calibration *into,
			    struct hwy_err *err)
{
	int turn = -1;
	bool measured = await_turn(helper, &turn, err);
	if (measured && !calibration_cached(helper->key, into)) {
		helper->deadline = run_now() + PATIENCE_NS;
		measured = measure_all(helper, into, err);
		if (measured)
			calibration_store(helper->key, into);
	}
	if (turn >= 0)
		close(turn);
	return measured;
}

bool calibration_measure(const struct calibration_key *key,
			 const struct calibration_listener *listener, struct calibration *into,
			 struct hwy_err *err)
{
	struct helper_run helper = {.key = key, .listener = listener};
	sigset_t set = ending_signals(), old;
	struct timespec now = {0};
	into->n = 0;
	if (!key->gpu || !*key->gpu)
		return hwy_fail(err, "the GPU's uuid is not known");
	sigprocmask(SIG_BLOCK, &set, &old);
	bool measured = measure_in_turn(&helper, into, err);
	while (sigtimedwait(&set, NULL, &now) > 0)
		;
	sigprocmask(SIG_SETMASK, &old, NULL);
	return measured;
}
