/* SPDX-License-Identifier: Apache-2.0 */
/* profile_digest.c - the digests of a rank's reports at the end of its recording
 * (docs/digest.md).
 *
 * The report is made and the folder knows of it before this begins. Digests are made by a
 * process of its own: reports are analysed for them, and whatever happens to that must change
 * neither the recording nor how headway ends. It has PATIENCE_MS; what is not done then is left
 * to `headway digest`. Nothing is said: a missing digest is named where somebody asks for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/profile.h"
#include "digest/digest_file.h"

enum { PATIENCE_MS = 10000, LOOK_MS = 2 };
/* Analysing larger reports takes longer than anybody should wait for. */
#define MOST_BYTES (UINT64_C(1) << 28)

void profile_digest_later(struct profile_job *job, const char *report)
{
	struct stat about;
	if (stat(report, &about) != 0 || (uint64_t)about.st_size > MOST_BYTES)
		return;
	HWY_GROW(job->reports, job->n_reports, job->cap_reports);
	job->reports[job->n_reports++] = hwy_arena_text(&job->texts, report, strlen(report));
}

static _Noreturn void make_digests_of(const struct profile_job *job)
{
	struct hwy_err err;
	int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO && nowhere >= 0; fd++)
		dup2(nowhere, fd);
	for (uint32_t i = 0; i < job->n_reports; i++)
		digest_write_beside(job->reports[i], &err);
	_exit(0);
}

void profile_digest(struct profile_job *job)
{
	if (job->n_reports == 0)
		return;
	fflush(NULL);
	pid_t parent = getpid(), pid = fork();
	if (pid == 0) {
		if (getppid() != parent)
			_exit(0);
		make_digests_of(job);
	}
	for (int waited = 0; pid > 0; waited += LOOK_MS) {
		pid_t ended = waitpid(pid, NULL, WNOHANG);
		if (ended == pid || (ended < 0 && errno != EINTR))
			break;
		if (waited >= PATIENCE_MS)
			kill(pid, SIGKILL);
		nanosleep(&(struct timespec){.tv_nsec = LOOK_MS * 1000000}, NULL);
	}
	free(job->reports);
	job->reports = NULL;
	job->n_reports = job->cap_reports = 0;
}
