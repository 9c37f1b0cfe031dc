/* SPDX-License-Identifier: Apache-2.0 */
/* job_launchers.c - see job_launchers.h.
 *
 * A launcher's options stand in front of the program, and only a table tells which of them take
 * the next word as their value. An option that is in no table makes the place of the program
 * doubtful, unless its value stands behind '=': a wrong place would start a wrong program.
 * mpirun and mpiexec are names of several launchers: where the file that the name stands for
 * does not tell which, an option counts only if all that know it agree.
 */
#include "run/job_launchers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"

/* How the options of a launcher are written, and what they take. Names are separated by spaces;
 * they stand here without dashes. */
struct dialect {
	/* True: options as getopt reads them: letters may stand together (-lu), a value may
	 * follow its letter (-n4). False: one or two dashes before any name. */
	bool letters_join;
	/* letters_join: the letters as for getopt: "n:" takes a value, "I::" one that is joined
	 * to it, "l" none. */
	const char *letters;
	const char *alone;  /* options without a value */
	const char *valued; /* options with a value */
	const char
		*twofold; /* options with two values, of which one may hold both: "A B" or "A=B" */
	/* Options that name a file or a way by which programs are told: where they are cannot be
	 * told. */
	const char *elsewhere;
};

static const struct dialect open_mpi = {
	.alone =
		"allow-run-as-root bind-to-core bind-to-socket bycore bynode byslot continuous d debug debug-daemons "
		"debug-daemons-file debug-devel disable-recovery display-allocation display-devel-allocation "
		"display-devel-map display-diffable-map display-map display-topo do-not-launch do-not-resolve "
		"enable-instant-on-support enable-recovery fwd-mpirun-port get-stack-traces index-argv-by-rank "
		"leave-session-attached merge-stderr-to-stdout nolocal nooversubscribe noprefix novm oversubscribe "
		"pernode preload-binary q quiet report-bindings report-child-jobs-separately "
		"report-state-on-timeout s set-cwd-to-session-dir show-progress tag-output timestamp-output tv "
		"use-hwthread-cpus use-regexp v verbose xml",
	.valued =
		"H N am bind-to c cartofile cf cpu-list cpu-set cpus-per-proc cpus-per-rank debugger "
		"default-hostfile display hnp host hostfile launch-agent machinefile map-by max-restarts "
		"max-vm-size n np npernode npersocket ompi-server output output-filename path personality ppr "
		"prefix preload-files rank-by rankfile report-events report-pid report-uri rf runtime-options "
		"stdin timeout tune wd wdir with-ft x xml-file xterm",
	.twofold = "mca gmca omca gomca pmixmca gpmixmca prtemca gprtemca",
	.elsewhere = "app h help V version",
};

/* MPICH's and Intel's. */
static const struct dialect hydra = {
	.alone =
		"genvnone genvall envnone envall enable-x disable-x verbose v print-all-exitcodes profile "
		"prepend-rank l disable-auto-cleanup disable-hostname-propagation pmi-port skip-launch-node "
		"nolocal print-rank-map ordered-output",
	.valued =
		"genvlist f hosts host wdir wd envlist n np launcher launcher-exec bootstrap bootstrap-exec rmk "
		"topolib bind-to map-by membind demux iface ppn perhost grr prepend-pattern outfile-pattern "
		"errfile-pattern nameserver order-nodes localhost usize gpus-per-proc machinefile machine "
		"hostfile path tmpdir umask s arch soft",
	.twofold = "genv env",
	.elsewhere = "configfile info help h version V gtool gtoolfile",
};

/* HPE's, on machines with PBS. */
static const struct dialect pals = {
	.alone = "envall envnone exclusive line-buffer label l v",
	.valued =
		"n np ppn depth d cpu-bind mem-bind gpu-bind hosts hostfile wdir umask rlimits pmi env path",
	.elsewhere = "help version spmd-file",
};

static const struct dialect slurm = {
	.letters_join = true,
	.letters = "A:B:b:C:c:D:d:Ee:F:G:HI::i:J:K::k::L:lM:m:N:n:Oo:p:Qq:r:S:sT:t:uvw:W:x:XZ",
	.alone =
		"bcast compress contiguous disable-status exact exclusive hold immediate interactive "
		"kill-on-bad-exit label nice no-kill no-allocate overcommit overlap oversubscribe preserve-env "
		"propagate pty quiet quit-on-interrupt reboot resv-ports send-libs share spread-job unbuffered "
		"use-min-nodes verbose whole x11",
	.valued =
		"accel-bind account acctg-freq bb bbf bcast-exclude begin chdir cluster-constraint clusters comment "
		"constraint container container-id container-image container-mounts container-name "
		"container-workdir core-spec cores-per-socket cpu-bind cpu_bind cpu-freq cpus-per-gpu "
		"cpus-per-task deadline delay-boot dependency distribution epilog error exclude export "
		"extra-node-info gid gpu-bind gpu-freq gpus gpus-per-node gpus-per-socket gpus-per-task gres "
		"gres-flags het-group hint input job-name jobid licenses mail-type mail-user mcs-label mem mem-bind "
		"mem_bind mem-per-cpu mem-per-gpu mincpus mpi msg-timeout network nodefile nodelist nodes ntasks "
		"ntasks-per-core ntasks-per-gpu ntasks-per-node ntasks-per-socket open-mode output partition power "
		"prefer priority profile prolog qos relative reservation signal slurmd-debug sockets-per-node "
		"switches task-epilog task-prolog thread-spec threads threads-per-core time time-min tmp uid wait "
		"wckey",
	.elsewhere = "multi-prog help usage version test-only",
};

static const struct dialect flux = {
	.letters_join = true,
	.letters = "n:N:c:g:t:o:q:B:xlvS:u",
	.alone = "exclusive label-io verbose unbuffered",
	.valued =
		"ntasks nodes cores-per-task gpus-per-task tasks-per-node tasks-per-core gpus-per-node cores "
		"time-limit urgency job-name setopt setattr env env-remove env-file rlimit input output error "
		"queue bank cwd dependency requires begin-time signal taskmap add-file flags",
	.elsewhere = "dry-run help",
};

/* aprun of older Crays; -cc, -ss and the like are names of two letters. */
static const struct dialect alps = {
	.letters_join = true,
	.letters = "n:N:d:S:j:L:m:t:r:e:F:p:bBqT",
	.valued = "pes pes-per-node",
	.elsewhere = "help version",
};

static const struct dialect jsm = {
	.letters_join = true,
	.letters = "n:a:c:g:r:l:b:d:p:E:M:o:e:k:m:X:K:",
	.valued =
		"nrs tasks_per_rs cpu_per_rs gpu_per_rs rs_per_host latency_priority bind launch_distribution "
		"np env smpiargs stdio_mode stdio_stdout stdio_stderr stdio_stdin chdir memory_per_rs "
		"exit_on_error",
	.elsewhere = "appfile erf_input help version",
};

static const struct dialect ibrun = {.letters_join = true, .letters = "n:o:"};

/* The launchers by name. A name of which nothing is known but that it is mpirun's has the
 * dialect NULL. */
static const struct launcher {
	const char *name, *subcommand; /* the subcommand is the next word: flux run */
	enum launcher_kind kind;
	const struct dialect *dialect;
	bool takes_colon; /* ':' separates the parts of a job with several programs */
} launchers[] = {
	{"mpirun", NULL, LAUNCHER_RANKS, NULL, true},
	{"mpiexec", NULL, LAUNCHER_RANKS, NULL, true},
	{"orterun", NULL, LAUNCHER_RANKS, &open_mpi, true},
	{"prterun", NULL, LAUNCHER_RANKS, &open_mpi, true},
	{"oshrun", NULL, LAUNCHER_RANKS, &open_mpi, true},
	{"srun", NULL, LAUNCHER_RANKS, &slurm, true},
	{"flux", "run", LAUNCHER_RANKS, &flux, false},
	{"aprun", NULL, LAUNCHER_RANKS, &alps, true},
	{"jsrun", NULL, LAUNCHER_RANKS, &jsm, true},
	{"ibrun", NULL, LAUNCHER_RANKS, &ibrun, false},
	{"torchrun", NULL, LAUNCHER_TREE, NULL, false},
	{"deepspeed", NULL, LAUNCHER_TREE, NULL, false},
	{"accelerate", "launch", LAUNCHER_TREE, NULL, false},
	{"horovodrun", NULL, LAUNCHER_TREE, NULL, false},
};

/* ---- options --------------------------------------------------------------------------------- */

static bool list_names(const char *list, const char *name, size_t length)
{
	for (const char *at = list; at && *at;) {
		size_t n = strcspn(at, " ");
		if (n == length && memcmp(at, name, n) == 0)
			return true;
		at += n + (at[n] == ' ');
	}
	return false;
}

/* Yields how many of the next words belong to the option 'name'; -1: that is not known. */
static int words_of_name(const struct dialect *dialect, const char *name, size_t length,
			 const char *next)
{
	if (list_names(dialect->elsewhere, name, length))
		return -1;
	if (list_names(dialect->alone, name, length))
		return 0;
	if (list_names(dialect->valued, name, length))
		return 1;
	if (list_names(dialect->twofold, name, length))
		return dialect == &hydra && next && strchr(next, '=') ? 1 : 2;
	return -1;
}

/* Yields how many of the next words belong to the letters of a word such as -lun 4; -1: not
 * known. */
static int words_of_letters(const struct dialect *dialect, const char *letters)
{
	for (const char *letter = letters; *letter; letter++) {
		const char *row = *letter == ':' ? NULL : strchr(dialect->letters, *letter);
		if (!row)
			return -1;
		if (row[1] == ':' && row[2] == ':')
			return 0;
		if (row[1] == ':')
			return letter[1] ? 0 : 1;
	}
	return 0;
}

static int words_of_option(const struct dialect *dialect, const char *word, const char *next)
{
	bool is_long = word[1] == '-';
	const char *name = word + 1 + is_long;
	size_t length = strcspn(name, "=");
	if (list_names(dialect->elsewhere, name, length))
		return -1;
	if (dialect == &alps && strcmp(name, "cc") == 0)
		return 1;
	if (dialect->letters_join && !is_long)
		return words_of_letters(dialect, name);
	if (name[length] == '=')
		return 0;
	return words_of_name(dialect, name, length, next);
}

/* The same where the launcher may be any mpirun: those that know the option must agree. */
static int words_of_any(const char *word, const char *next)
{
	static const struct dialect *const all[] = {&open_mpi, &hydra, &pals};
	int agreed = -1;
	const char *name = word + 1 + (word[1] == '-');
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		int words = words_of_option(all[i], word, next);
		if (list_names(all[i]->elsewhere, name, strcspn(name, "=")) ||
		    (words >= 0 && agreed >= 0 && words != agreed))
			return -1;
		agreed = words >= 0 ? words : agreed;
	}
	return agreed;
}

/* ---- the launcher ---------------------------------------------------------------------------- */

bool launchers_find_file(const char *command, char real[PATH_MAX])
{
	char path[PATH_MAX];
	if (strchr(command, '/'))
		return realpath(command, real) != NULL;
	for (const char *folder = getenv("PATH"); folder && *folder;) {
		size_t length = strcspn(folder, ":");
		if (snprintf(path, sizeof path, "%.*s/%s", (int)length, folder, command) <
			    (int)sizeof path &&
		    access(path, X_OK) == 0)
			return realpath(path, real) != NULL;
		folder += length + (folder[length] == ':');
	}
	return false;
}

/* Which mpirun this is, by the name behind its links (Debian's mpirun is orterun); NULL: any. */
static const struct dialect *dialect_of_file(const char *command)
{
	char real[PATH_MAX];
	const char *name =
		launchers_find_file(command, real) ? hwy_basename(real) : hwy_basename(command);
	if (strstr(name, "orterun") || strstr(name, "prterun") || strstr(name, "openmpi"))
		return &open_mpi;
	if (strstr(name, "hydra") || strstr(name, "mpich"))
		return &hydra;
	return NULL;
}

/* mpirun.openmpi and mpiexec.hydra are mpirun and mpiexec. */
static bool is_named(const char *word, const char *name)
{
	const char *base = hwy_basename(word);
	size_t length = strlen(name);
	return strncmp(base, name, length) == 0 && (!base[length] || base[length] == '.');
}

/* Finds the next program from words[at] on, behind a launcher's options. Yields its index; 0: it
 * cannot be told where, and *doubt is the word that is not understood. */
static uint32_t find_program(const struct dialect *dialect, char *const *words, uint32_t at,
			     const char **doubt)
{
	while (words[at]) {
		const char *word = words[at++];
		if (word[0] != '-' || !word[1])
			return at - 1;
		if (strcmp(word, "--") == 0 && dialect != &hydra)
			return words[at] ? at : 0;
		int more = dialect ? words_of_option(dialect, word, words[at])
				   : words_of_any(word, words[at]);
		if (more < 0) {
			*doubt = word;
			return 0;
		}
		for (; more > 0 && words[at]; more--)
			at++;
	}
	return 0;
}

static void find_programs(const struct launcher *launcher, char *const *words, uint32_t at,
			  struct launcher_found *found)
{
	const struct dialect *dialect = launcher->dialect;
	if (!dialect)
		dialect = dialect_of_file(words[0]);
	while (words[at]) {
		uint32_t program = find_program(dialect, words, at, &found->doubt);
		if (!program && !found->doubt)
			found->doubt = words[0]; /* no program at all: the launcher says so */
		if (found->doubt)
			return;
		if (found->n_programs == LAUNCHER_MOST_PROGRAMS) {
			found->doubt = words[program];
			return;
		}
		found->programs[found->n_programs++] = program;
		for (at = program + 1; words[at]; at++)
			if (launcher->takes_colon && strcmp(words[at], ":") == 0)
				break;
		at += words[at] != NULL;
	}
	if (found->n_programs == 0)
		found->doubt = words[0];
}

/* Yields the module that a command of Python runs (-m MODULE); "" where it runs none. */
static const char *python_module(char *const *words)
{
	if (strncmp(hwy_basename(words[0]), "python", 6) != 0)
		return "";
	for (uint32_t i = 1; words[i] && words[i][0] == '-'; i++) {
		if (strcmp(words[i], "-m") == 0)
			return words[i + 1] ? words[i + 1] : "";
		if ((strcmp(words[i], "-X") == 0 || strcmp(words[i], "-W") == 0) && words[i + 1])
			i++;
	}
	return "";
}

/* Commands that only prepare the process for the command behind them. */
static const struct forerunner {
	const char *name;
	struct dialect dialect;
	uint32_t operands;      /* words between the options and the command: timeout 60 */
	bool takes_assignments; /* env: any number of A=B behind the options */
} forerunners[] = {
	{.name = "env",
	 .dialect = {.letters_join = true,
		     .letters = "iu:C:v",
		     .alone = "ignore-environment debug"},
	 .takes_assignments = true},
	{.name = "nohup", .dialect = {.letters_join = true, .letters = ""}},
	{.name = "timeout",
	 .dialect = {.letters_join = true,
		     .letters = "fk:ps:v",
		     .alone = "foreground preserve-status verbose"},
	 .operands = 1},
	{.name = "nice", .dialect = {.letters_join = true, .letters = "n:"}},
	{.name = "ionice",
	 .dialect = {.letters_join = true, .letters = "c:n:t", .alone = "ignore"}},
	{.name = "time",
	 .dialect = {.letters_join = true,
		     .letters = "af:o:pv",
		     .alone = "append portability verbose"}},
	{.name = "stdbuf", .dialect = {.letters_join = true, .letters = "e:i:o:"}},
	{.name = "setsid",
	 .dialect = {.letters_join = true, .letters = "cfw", .alone = "ctty fork wait"}},
	{.name = "taskset",
	 .dialect = {.letters_join = true, .letters = "ac", .alone = "all-tasks cpu-list"},
	 .operands = 1},
	{.name = "numactl",
	 .dialect = {.letters_join = true,
		     .letters = "C:N:abi:lm:p:",
		     .alone = "all balancing localalloc",
		     .valued = "cpunodebind interleave membind physcpubind preferred"}},
};

/* Yields how many words a forerunner takes in front of its command; 0: its options are not
 * understood. */
static uint32_t words_of_forerunner(const struct forerunner *one, char *const *words)
{
	uint32_t n = 1;
	while (words[n] && words[n][0] == '-' && words[n][1]) {
		if (strcmp(words[n++], "--") == 0)
			break;
		int more = words_of_option(&one->dialect, words[n - 1], words[n]);
		if (more < 0)
			return 0;
		for (; more > 0 && words[n]; more--)
			n++;
	}
	while (one->takes_assignments && words[n] && strchr(words[n], '='))
		n++;
	for (uint32_t i = 0; i < one->operands && words[n]; i++)
		n++;
	return n;
}

/* Yields how many words only set the stage for the command behind them: env A=B, timeout 60, uv
 * run. */
static uint32_t words_in_front(char *const *words)
{
	static const char runners[] = "uv poetry pipenv pdm pixi rye hatch";
	const char *base = hwy_basename(words[0]);
	uint32_t n = 0;
	if (list_names(runners, base, strlen(base)) && words[1] && strcmp(words[1], "run") == 0)
		n = 2;
	for (size_t i = 0; i < sizeof forerunners / sizeof *forerunners; i++)
		if (strcmp(base, forerunners[i].name) == 0)
			n = words_of_forerunner(&forerunners[i], words);
	return n > 0 && words[n] ? n + words_in_front(words + n) : 0;
}

struct launcher_found launchers_look(char *const *words)
{
	static const char modules[] = "torch.distributed.run torch.distributed.launch deepspeed "
				      "deepspeed.launcher.runner accelerate.commands.launch";
	struct launcher_found found = {0};
	uint32_t front = words[0] ? words_in_front(words) : 0;
	char *const *command = words + front;
	if (!command[0])
		return found;
	const char *module = python_module(command);
	if (*module && list_names(modules, module, strlen(module))) {
		found.kind = LAUNCHER_TREE;
		found.name = module;
		return found;
	}
	for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
		const struct launcher *one = &launchers[i];
		bool has_word =
			one->subcommand && command[1] && strcmp(command[1], one->subcommand) == 0;
		if (!is_named(command[0], one->name) || (one->subcommand && !has_word))
			continue;
		found.kind = one->kind;
		found.name = one->name;
		if (one->kind == LAUNCHER_RANKS)
			find_programs(one, command, has_word ? 2 : 1, &found);
		break;
	}
	for (uint32_t i = 0; i < found.n_programs; i++)
		found.programs[i] += front;
	return found;
}
