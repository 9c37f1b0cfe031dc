/* worker.c - the viewer's side of worker.h: starts the process, keeps what it says. */
#include "serve/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	LARGEST = 1 << 30, /* bytes of a frame */
	PATIENCE_S = 20,
};

static bool read_all(int fd, void *to, size_t n)
{
	char *at = to;
	while (n > 0) {
		ssize_t got = read(fd, at, n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		n -= (size_t)got;
	}
	return true;
}

static void keep_pieces(struct view_pieces *pieces, struct packed *frame)
{
	pieces->v = (struct view_piece *)(void *)frame->v;
	pieces->n = (uint32_t)(frame->n / sizeof *pieces->v);
	*frame = (struct packed){0};
}

static void keep_frame(struct worker *worker, uint32_t tag, struct packed *frame)
{
	pthread_mutex_lock(&worker->lock);
	free(worker->frames[tag].v);
	worker->frames[tag] = *frame;
	if (tag == WORKER_GAPS)
		keep_pieces(&worker->gaps, &worker->frames[tag]);
	if (tag == WORKER_PATH)
		keep_pieces(&worker->path, &worker->frames[tag]);
	if (tag == WORKER_READY)
		worker->state = WORKER_DONE;
	if (tag == WORKER_FAILED)
		worker->state = WORKER_BROKEN;
	worker->is_answered |= tag == WORKER_WHATIF;
	pthread_cond_broadcast(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
}

static void *read_frames(void *argument)
{
	struct worker *worker = argument;
	uint8_t head[12];
	while (read_all(worker->from, head, sizeof head)) {
		uint64_t tag = packed_read(head, 4), n = packed_read(head + 4, 8);
		if (tag >= WORKER_TAGS || n > LARGEST)
			break;
		struct packed frame = {0};
		packed_room(&frame, n + 1)[n] = 0;
		frame.n = n;
		if (!read_all(worker->from, frame.v, n)) {
			free(frame.v);
			break;
		}
		keep_frame(worker, (uint32_t)tag, &frame);
	}
	pthread_mutex_lock(&worker->lock);
	worker->state = WORKER_BROKEN;
	pthread_cond_broadcast(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
	return NULL;
}

bool worker_start(struct worker *worker, char *const *argv, struct hwy_err *err)
{
	extern char **environ;
	int to[2], from[2];
	*worker = (struct worker){.state = WORKER_NONE, .to = -1, .from = -1};
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->changed, NULL);
	if (pipe2(to, O_CLOEXEC) != 0)
		return hwy_fail(err, "no pipe: %s", strerror(errno));
	if (pipe2(from, O_CLOEXEC) != 0) {
		close(to[0]);
		close(to[1]);
		return hwy_fail(err, "no pipe: %s", strerror(errno));
	}
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, to[0], 0);
	posix_spawn_file_actions_adddup2(&actions, from[1], 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	int error = posix_spawn(&worker->pid, "/proc/self/exe", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(to[0]);
	close(from[1]);
	worker->to = to[1];
	worker->from = from[0];
	if (error == 0) {
		worker->state = WORKER_PENDING;
		error = pthread_create(&worker->reader, NULL, read_frames, worker);
	}
	if (error != 0) {
		worker->state = WORKER_NONE;
		return hwy_fail(err, "cannot start the diagnosis: %s", strerror(error));
	}
	return true;
}

/* One question at a time; the lock is held but for the waiting. */
bool worker_ask(struct worker *worker, const char *question, struct packed *out)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	bool ok = true;
	pthread_mutex_lock(&worker->lock);
	while (ok && worker->is_asked && worker->state == WORKER_DONE)
		ok = pthread_cond_timedwait(&worker->changed, &worker->lock, &until) == 0;
	ok = ok && worker->state == WORKER_DONE;
	if (ok) {
		worker->is_asked = true;
		worker->is_answered = false;
		size_t n = strlen(question);
		ok = write(worker->to, question, n) == (ssize_t)n;
		while (ok && !worker->is_answered && worker->state == WORKER_DONE)
			ok = pthread_cond_timedwait(&worker->changed, &worker->lock, &until) == 0;
		ok = ok && worker->is_answered;
		if (ok)
			packed_put(out, worker->frames[WORKER_WHATIF].v,
				   worker->frames[WORKER_WHATIF].n);
		/* An answer that comes too late must not be taken for the next one's: end it. */
		if (!ok)
			worker->state = WORKER_BROKEN;
		worker->is_asked = false;
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
		close(worker->from);
	}
	for (unsigned t = 0; t < WORKER_TAGS; t++)
		free(worker->frames[t].v);
	free(worker->gaps.v);
	free(worker->path.v);
	*worker = (struct worker){0};
}
