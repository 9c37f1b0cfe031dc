/* SPDX-License-Identifier: Apache-2.0 */
/* job_identity.c - see job_identity.h.
 *
 * Numbers that launchers give may come again on another day. Who uses an identity as a name must
 * be able to take another one (cli/profile_job.c does).
 */
#include "run/job_identity.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_ANCESTORS = 4, MOST_COMMAND = 4096 };

/* Adds a part, with a separator before it where there is one already. Other characters than
 * those of a file's name become '-'. */
static void add_part(char text[JOB_IDENTITY_BYTES], const char *part)
{
	size_t used = strlen(text);
	if (!part || !*part)
		return;
	if (used && used < JOB_IDENTITY_BYTES - 1)
		text[used++] = '-';
	for (; *part && used < JOB_IDENTITY_BYTES - 1; part++)
		text[used++] = isalnum((unsigned char)*part) || strchr("._", *part) ? *part : '-';
	text[used] = '\0';
}

/* A step that srun has made; the numbers of a batch script's and an interactive shell's steps
 * are larger. */
static const char *slurm_step(void)
{
	enum { FIRST_SPECIAL_STEP_DIGITS = 10 }; /* 4294967280 and above */
	const char *step = getenv("SLURM_STEP_ID");
	return step && *step && strlen(step) < FIRST_SPECIAL_STEP_DIGITS ? step : NULL;
}

static bool read_process_file(const char *format, pid_t pid, char *text, size_t size)
{
	char path[64];
	snprintf(path, sizeof path, format, (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	for (ssize_t i = 0; i < n; i++) /* the words of a command line are separated by 0 */
		text[i] = text[i] ? text[i] : '\n';
	return n > 0;
}

/* Reads the parent of a process and when the process began; false: there is no such process. */
static bool read_parent(pid_t pid, pid_t *parent, uint64_t *started)
{
	char line[1024];
	if (!read_process_file("/proc/%d/stat", pid, line, sizeof line))
		return false;
	const char *end = strrchr(line, ')');
	int number = 0;
	if (!end ||
	    sscanf(end + 1,
		   " %*c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		   "%*s %" SCNu64,
		   &number, started) != 2)
		return false;
	*parent = number;
	return true;
}

/* Hydra's proxy, which starts the ranks of a host, is told where its mpiexec listens: host:port. */
static bool add_hydra(char text[JOB_IDENTITY_BYTES])
{
	pid_t pid = getppid();
	uint64_t started;
	char command[MOST_COMMAND];
	for (int i = 0; i < MOST_ANCESTORS && pid > 1; i++) {
		if (!read_process_file("/proc/%d/cmdline", pid, command, sizeof command))
			return false;
		char *port = strstr(command, "--control-port\n");
		if (port) {
			port += strlen("--control-port\n");
			port[strcspn(port, "\n")] = '\0';
			add_part(text, port);
			return true;
		}
		if (!read_parent(pid, &pid, &started))
			return false;
	}
	return false;
}

/* The process that started this one, and when that began. */
static void add_starter(char text[JOB_IDENTITY_BYTES])
{
	char host[64] = "", part[128];
	uint64_t started = 0;
	pid_t grandparent;
	gethostname(host, sizeof host - 1);
	read_parent(getppid(), &grandparent, &started);
	snprintf(part, sizeof part, "%s-%d-%" PRIu64, host, (int)getppid(), started);
	add_part(text, part);
}

/* The first of several variables that is set. */
static const char *variable_of(const char *const *names)
{
	for (; *names; names++) {
		const char *text = getenv(*names);
		if (text && *text)
			return text;
	}
	return NULL;
}

static void add_torchrun(char text[JOB_IDENTITY_BYTES])
{
	const char *id = getenv("TORCHELASTIC_RUN_ID"), *nodes = getenv("GROUP_WORLD_SIZE");
	const char *local = getenv("LOCAL_WORLD_SIZE"), *world = getenv("WORLD_SIZE");
	bool is_one_host =
		(nodes && strcmp(nodes, "1") == 0) || (local && world && strcmp(local, world) == 0);
	if (id && strcmp(id, "none") != 0)
		add_part(text, id);
	if (is_one_host) {
		add_starter(text);
	} else {
		add_part(text, getenv("MASTER_ADDR"));
		add_part(text, getenv("MASTER_PORT"));
	}
}

/* Adds what the launcher whose numbers these are says about its job. */
static void add_launcher(const struct ranks *ranks, char text[JOB_IDENTITY_BYTES])
{
	static const char *const open_mpi[] = {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid",
					       "OMPI_MCA_orte_ess_jobid", NULL};
	static const char *const others[] = {"PALS_APID", "FLUX_JOB_ID", "PMIX_NAMESPACE",
					     "MPIRUN_ID", "ALPS_APP_ID", NULL};
	if (strcmp(ranks->launcher, "torchrun") == 0)
		add_torchrun(text);
	else if (strcmp(ranks->launcher, "Open MPI") == 0)
		add_part(text, variable_of(open_mpi));
	else if (strcmp(ranks->launcher, "PMI") != 0 || !add_hydra(text))
		add_part(text, slurm_step() ? NULL : variable_of(others));
}

void job_identity(const struct ranks *ranks, char text[JOB_IDENTITY_BYTES])
{
	static const char *const batch[] = {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", NULL};
	char job[64];
	const char *number = variable_of(batch), *step = slurm_step();
	const char *again = getenv("SLURM_RESTART_COUNT");
	*text = '\0';
	snprintf(job, sizeof job, "%s%s%s", number ? number : "", number && step ? "." : "",
		 number && step ? step : "");
	add_part(text, job);
	if (again && strcmp(again, "0") != 0)
		add_part(text, again);
	size_t before = strlen(text);
	add_launcher(ranks, text);
	if (strlen(text) == before && !(number && step))
		add_starter(text);
}

/* Yields the value of a long option, "--name value" or "--name=value" with '-' or '_' in the
 * name; NULL: it is not given. */
static const char *option_value(char *const *words, const char *name)
{
	size_t length = strlen(name);
	for (; *words; words++) {
		const char *word = *words;
		size_t n = 0;
		if (strncmp(word, "--", 2) != 0)
			continue;
		word += 2;
		while (n < length && (word[n] == name[n] || (word[n] == '-' && name[n] == '_')))
			n++;
		if (n == length && word[n] == '=')
			return word + n + 1;
		if (n == length && !word[n])
			return words[1];
	}
	return NULL;
}

bool job_identity_of_tree(char *const *words, char text[JOB_IDENTITY_BYTES])
{
	static const char *const places[] = {"rdzv_endpoint", "master_addr", "master_port",
					     "main_process_ip", "main_process_port"};
	const char *hosts = option_value(words, "nnodes");
	hosts = hosts ? hosts : option_value(words, "num_machines");
	const char *id = option_value(words, "rdzv_id");
	*text = '\0';
	if (!hosts || strcmp(hosts, "1") == 0 || strcmp(hosts, "1:1") == 0)
		return false;
	if (id && strcmp(id, "none") != 0)
		add_part(text, id);
	for (size_t i = 0; i < sizeof places / sizeof *places; i++)
		add_part(text, option_value(words, places[i]));
	return *text != '\0';
}

bool job_is_rank(const struct ranks *ranks)
{
	/* A shell inside an allocation has Slurm's variables too, but is no step of several
	 * tasks. */
	if (strcmp(ranks->launcher, "Slurm") == 0 && !slurm_step())
		return false;
	return ranks->rank >= 0 && ranks->world > 1;
}
