/* SPDX-License-Identifier: Apache-2.0 */
/* worker.c - the viewer's side of worker.h: starts the process that diagnoses and keeps the
 * frames that it sends. */
#include "serve/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory_text.h"

enum {
	LARGEST_FRAME = 1 << 30, /* the most bytes of a frame */
};

/* ---- annotations ----------------------------------------------------------------------------- */

/* Makes room for annotations: a long recording has millions. They lie in a file without a name,
 * so that the kernel keeps in memory only what is looked at; where no such file can be made, on
 * the heap. */
static bool make_room(struct annotations *all, size_t bytes)
{
	const char *folder = getenv("TMPDIR");
	int fd = open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	void *room = MAP_FAILED;
	if (fd >= 0 && posix_fallocate(fd, 0, (off_t)bytes) == 0)
		room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	all->is_mapped = room != MAP_FAILED;
	all->v = all->is_mapped ? room : malloc(bytes);
	return all->v != NULL;
}

static void free_annotations(struct annotations *all)
{
	if (all->is_mapped)
		munmap(all->v, all->n * sizeof *all->v);
	else
		free(all->v);
	free(all->blocks);
	*all = (struct annotations){0};
}

static bool read_annotations(struct worker *worker, uint32_t tag, uint64_t bytes, FILE *in)
{
	struct annotations all = {.n = (uint32_t)(bytes / sizeof *all.v)};
	if (bytes > 0 && (bytes / sizeof *all.v > UINT32_MAX || !make_room(&all, bytes)))
		return false;
	if (bytes > 0 && fread(all.v, bytes, 1, in) != 1) {
		free_annotations(&all);
		return false;
	}
	annotations_index(&all);
	pthread_mutex_lock(&worker->lock);
	*(tag == WORKER_GAPS ? &worker->gaps : &worker->path) = all;
	pthread_mutex_unlock(&worker->lock);
	return true;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static void keep_frame(struct worker *worker, uint32_t tag, struct hwy_bytes *frame)
{
	pthread_mutex_lock(&worker->lock);
	free(worker->frames[tag].bytes);
	worker->frames[tag] = *frame;
	if (tag == WORKER_READY)
		worker->state = WORKER_DONE;
	if (tag == WORKER_FAILED)
		worker->state = WORKER_BROKEN;
	worker->n_answered += tag == WORKER_WHATIF;
	pthread_cond_broadcast(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
}

static void read_frames(struct worker *worker, FILE *in)
{
	uint8_t head[12];
	while (fread(head, sizeof head, 1, in) == 1) {
		uint64_t tag = hwy_little_read(head, 4), n = hwy_little_read(head + 4, 8);
		bool is_annotations = tag == WORKER_GAPS || tag == WORKER_PATH;
		if (is_annotations && read_annotations(worker, (uint32_t)tag, n, in))
			continue;
		if (is_annotations || tag >= WORKER_TAGS || n > LARGEST_FRAME)
			break;
		struct hwy_bytes frame = {0};
		/* Texts end with a 0 that 'n' does not count. */
		hwy_bytes_add(&frame, n + 1)[n] = 0;
		frame.n = n;
		if (n > 0 && fread(frame.bytes, n, 1, in) != 1) {
			free(frame.bytes);
			break;
		}
		keep_frame(worker, (uint32_t)tag, &frame);
	}
}

static void *read_until_end(void *argument)
{
	struct worker *worker = argument;
	read_frames(worker, worker->from);
	pthread_mutex_lock(&worker->lock);
	worker->state = WORKER_BROKEN;
	pthread_cond_broadcast(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
	return NULL;
}

static void worker_begin(struct worker *worker)
{
	*worker = (struct worker){.state = WORKER_NONE, .to = -1};
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->changed, NULL);
}

bool worker_start(struct worker *worker, char *const *argv, struct hwy_err *err)
{
	extern char **environ;
	int to[2], from[2];
	worker_begin(worker);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to) != 0)
		return hwy_fail(err, "no socket: %s", hwy_strerror(errno));
	if (pipe2(from, O_CLOEXEC) != 0) {
		close(to[0]);
		close(to[1]);
		return hwy_fail(err, "no pipe: %s", hwy_strerror(errno));
	}
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, to[0], 0);
	posix_spawn_file_actions_adddup2(&actions, from[1], 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	pid_t pid = 0;
	int error = posix_spawn(&pid, "/proc/self/exe", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(to[0]);
	close(from[1]);
	if (error == 0) {
		worker->pid = pid;
		worker->to = to[1];
		worker->from = fdopen(from[0], "r");
		worker->state = WORKER_PENDING;
		error = worker->from ? pthread_create(&worker->reader, NULL, read_until_end, worker)
				     : errno;
	}
	if (error == 0)
		return true;
	if (worker->pid > 0) {
		kill(worker->pid, SIGKILL);
		waitpid(worker->pid, NULL, 0);
	}
	close(to[1]);
	if (worker->from)
		fclose(worker->from);
	else
		close(from[0]);
	/* As if it had never been started: worker_stop has nothing to do, and a request may ask. */
	worker_begin(worker);
	return hwy_fail(err, "cannot start the diagnosis: %s", hwy_strerror(error));
}

void worker_here(struct worker *worker, struct hwy_analysis *analysis,
		 const struct hwy_diagnosis *diagnosis, int64_t origin, const char *json,
		 struct worker_job *ranks)
{
	struct memory_text sent;
	worker_begin(worker);
	worker->here = analysis;
	worker->ranks = ranks;
	memory_text_begin(&sent);
	worker_tell_frame(sent.out, WORKER_DIAGNOSIS, json, strlen(json));
	worker_tell(sent.out, analysis, diagnosis, origin, ranks);
	memory_text_end(&sent);
	FILE *received = fmemopen(sent.text, sent.length, "r");
	if (received) {
		read_frames(worker, received);
		fclose(received);
	}
	free(sent.text);
}

static bool answer_here(const struct worker *worker, const char *question, struct hwy_bytes *out)
{
	struct memory_text memory;
	memory_text_begin(&memory);
	worker_whatif(memory.out, worker->here, worker->ranks, question);
	memory_text_end(&memory);
	hwy_bytes_put(out, memory.text, memory.length);
	free(memory.text);
	return true;
}

/* Whether a thread may go on: a thread that has asked, when its answer has come; another thread,
 * when no question is open. */
static bool may_go_on(const struct worker *worker, bool is_mine)
{
	return worker->n_asked == worker->n_answered && (is_mine || !worker->is_asking);
}

/* Waits until may_go_on yields true; false where that takes too long, or nobody waits for it any
 * more. The lock is held, except while pthread_cond_timedwait waits. */
static bool wait_for_answers(struct worker *worker, bool is_mine,
			     bool (*is_abandoned)(const void *from), const void *from)
{
	enum { STEP_MS = 100, STEPS = WORKER_PATIENCE_S * 1000 / STEP_MS, NS_PER_S = 1000000000 };
	for (int i = 0; i < STEPS && worker->state == WORKER_DONE; i++) {
		if (may_go_on(worker, is_mine))
			return true;
		if (is_abandoned && is_abandoned(from))
			return false;
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += STEP_MS * 1000000;
		until.tv_sec += until.tv_nsec / NS_PER_S;
		until.tv_nsec %= NS_PER_S;
		pthread_cond_timedwait(&worker->changed, &worker->lock, &until);
	}
	return worker->state == WORKER_DONE && may_go_on(worker, is_mine);
}

/* Tells the process that nobody waits for the answer to its question: other questions need not
 * wait for it. A process that has ended meanwhile does not matter. */
static void cancel_question(const struct worker *worker)
{
	(void)send(worker->to, WORKER_CANCEL, strlen(WORKER_CANCEL), MSG_NOSIGNAL);
}

bool worker_ask(struct worker *worker, const char *question, bool (*is_abandoned)(const void *from),
		const void *from, struct hwy_bytes *out)
{
	if (worker->here)
		return answer_here(worker, question, out);
	size_t n = strlen(question);
	pthread_mutex_lock(&worker->lock);
	bool ok = wait_for_answers(worker, false, is_abandoned, from);
	if (ok) {
		worker->is_asking = true;
		/* The socket holds more than a question and a WORKER_CANCEL, so send does not
		 * block. */
		ok = send(worker->to, question, n, MSG_NOSIGNAL) == (ssize_t)n;
		worker->n_asked += ok;
		ok = ok && wait_for_answers(worker, true, is_abandoned, from);
		if (!ok && worker->n_asked != worker->n_answered)
			cancel_question(worker);
		if (ok)
			hwy_bytes_put(out, worker->frames[WORKER_WHATIF].bytes,
				      worker->frames[WORKER_WHATIF].n);
		worker->is_asking = false;
		pthread_cond_broadcast(&worker->changed);
	}
	pthread_mutex_unlock(&worker->lock);
	return ok;
}

void worker_stop(struct worker *worker)
{
	if (worker->pid > 0) {
		close(worker->to);
		kill(worker->pid, SIGKILL);
		waitpid(worker->pid, NULL, 0);
		pthread_join(worker->reader, NULL);
		fclose(worker->from);
	}
	for (unsigned t = 0; t < WORKER_TAGS; t++)
		free(worker->frames[t].bytes);
	free_annotations(&worker->gaps);
	free_annotations(&worker->path);
	*worker = (struct worker){0};
}
