/* SPDX-License-Identifier: Apache-2.0 */
/* agreement.c - see agreement.h.
 *
 * The folder may be on a file system of several hosts, which tell of new files late: a listing
 * is asked for, since the absence of a name is remembered for longer. The answer appears by
 * link(), complete, for one who gives it.
 */
#include "job/agreement.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ANSWER ".every-rank"
#define TAKEN ".ending"
/* How often the folder is looked at: often at first, then less. */
enum { FIRST_LOOK_NS = 1000000, LAST_LOOK_NS = 50000000 };

static int64_t agreement_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Reads the answer: 1 yes, 0 no, -1 none yet. */
static int read_answer(const char *folder)
{
	char path[PATH_MAX], word[4] = "";
	if (snprintf(path, sizeof path, "%s/" ANSWER, folder) >= (int)sizeof path)
		return 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ssize_t n = read(fd, word, sizeof word - 1);
	close(fd);
	return n > 0 ? strncmp(word, "yes", 3) == 0 : 0;
}

/* Gives an answer; another one may be there already. */
static void give_answer(const char *folder, const char *word)
{
	char path[PATH_MAX], own[PATH_MAX], host[HOST_NAME_MAX + 1] = "";
	gethostname(host, sizeof host - 1);
	if (snprintf(path, sizeof path, "%s/" ANSWER, folder) >= (int)sizeof path ||
	    snprintf(own, sizeof own, "%s/" ANSWER ".%s.%d", folder, host, (int)getpid()) >=
		    (int)sizeof own)
		return;
	int fd = open(own, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	bool written = write(fd, word, strlen(word)) == (ssize_t)strlen(word);
	written = close(fd) == 0 && written;
	/* Without links only "no" may be said: two answers could be written over one another. */
	if (written && link(own, path) != 0 && errno != EEXIST && strcmp(word, "no") == 0 &&
	    rename(own, path) == 0)
		return;
	unlink(own);
}

/* Counts the notes of ranks with a number, and says whether there is an answer. */
static int64_t count_notes(const char *folder, bool *has_answer)
{
	int64_t n = 0;
	DIR *listing = opendir(folder);
	*has_answer = false;
	for (const struct dirent *entry; listing && (entry = readdir(listing));) {
		size_t digits = strncmp(entry->d_name, ".rank", 5) == 0
					? strspn(entry->d_name + 5, "0123456789")
					: 0;
		n += digits > 0 && strcmp(entry->d_name + 5 + digits, ".run") == 0;
		*has_answer = *has_answer || strcmp(entry->d_name, ANSWER) == 0;
	}
	if (listing)
		closedir(listing);
	return n;
}

bool job_agree(const char *folder, int64_t rank, int64_t world, int64_t patience_ns)
{
	int64_t begun = agreement_now(), pause = FIRST_LOOK_NS;
	/* The first rank decides earlier than the others lose patience. */
	int64_t patience = rank == 0 ? patience_ns : 2 * patience_ns;
	for (;;) {
		bool has_answer;
		int64_t notes = count_notes(folder, &has_answer);
		if (has_answer)
			break;
		if (rank == 0 && notes >= world) {
			give_answer(folder, "yes");
			break;
		}
		if (agreement_now() - begun > patience) {
			job_disagree(folder);
			break;
		}
		nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
		pause = pause * 2 < LAST_LOOK_NS ? pause * 2 : LAST_LOOK_NS;
	}
	return read_answer(folder) == 1;
}

void job_disagree(const char *folder)
{
	give_answer(folder, "no");
}

bool job_take_end(const char *folder)
{
	char path[PATH_MAX];
	if (snprintf(path, sizeof path, "%s/" TAKEN, folder) >= (int)sizeof path)
		return true;
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	/* Who cannot write there will hardly end the job, but can say how it went. */
	return fd >= 0 || errno != EEXIST;
}

void job_agreement_forget(const char *folder)
{
	char path[PATH_MAX];
	if (snprintf(path, sizeof path, "%s/" ANSWER, folder) < (int)sizeof path)
		unlink(path);
	if (snprintf(path, sizeof path, "%s/" TAKEN, folder) < (int)sizeof path)
		unlink(path);
}
