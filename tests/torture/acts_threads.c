/* SPDX-License-Identifier: Apache-2.0 */
/* acts_threads.c - threads that come, go, are cancelled and hand work to each other. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "torture.h"

static void *sum_up(void *argument)
{
	uintptr_t sum = 0;
	for (uintptr_t i = 0; i <= (uintptr_t)argument; i++)
		sum += i;
	pass_us(50);
	return (void *)sum;
}

static void act_threads(void)
{
	enum { MOST = 12 };
	static const size_t sizes[] = {0, 32768, 65536, 1 << 20};
	unsigned long threads[MOST];
	unsigned n = 2 + chance(MOST - 1);
	uintptr_t sum = 0;
	for (unsigned i = 0; i < n; i++)
		start_thread(&threads[i], sizes[chance(4)], sum_up, (void *)(uintptr_t)(100 * i));
	for (unsigned i = 0; i < n; i++)
		sum += (uintptr_t)end_thread(threads[i]);
	say(" %u threads, sum %lu", n, (unsigned long)sum);
}

struct crowd {
	sem_t left;
	atomic_uint done;
};

static void *leave_alone(void *argument)
{
	struct crowd *crowd = argument;
	pthread_setname_np(pthread_self(), "one of many");
	crowd->done++;
	sem_post(&crowd->left);
	return NULL;
}

static void act_detached(void)
{
	struct crowd crowd;
	unsigned n = 10 + chance(40);
	atomic_init(&crowd.done, 0);
	sem_init(&crowd.left, 0, 0);
	for (unsigned i = 0; i < n; i++) {
		unsigned long thread;
		start_thread(&thread, 32768, leave_alone, &crowd);
		pthread_detach(thread);
	}
	for (unsigned i = 0; i < n; i++)
		STEADILY(sem_wait(&crowd.left));
	say(" %u left", crowd.done);
	pass_us(5000); /* the last one may still be in sem_post */
}

/* ---- cancellation */

struct blocked {
	int how, pipe[2];
	sem_t never;
	pthread_mutex_t lock;
	pthread_cond_t condition;
	atomic_int cleaned;
	atomic_bool ready;
};

static void clean(void *argument)
{
	struct blocked *blocked = argument;
	blocked->cleaned++;
	if (blocked->how == 4)
		pthread_mutex_unlock(&blocked->lock);
	pass_us(20);
}

static void *block(void *argument)
{
	struct blocked *blocked = argument;
	struct pollfd one = {.fd = blocked->pipe[0], .events = POLLIN};
	char byte;
	pthread_cleanup_push(clean, blocked);
	if (blocked->how == 4)
		pthread_mutex_lock(&blocked->lock);
	if (blocked->how == 5)
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	blocked->ready = true;
	for (;;)
		switch (blocked->how) {
		case 0:
			if (read(blocked->pipe[0], &byte, 1))
				pthread_testcancel();
			break;
		case 1: poll(&one, 1, -1); break;
		case 2: sleep(1000); break;
		case 3: sem_wait(&blocked->never); break;
		case 4: pthread_cond_wait(&blocked->condition, &blocked->lock); break;
		case 5: /* only arithmetic may be cancelled at any moment */ break;
		default:
			pthread_testcancel();
			close(-1);
			nvtx_push("cancelled");
			nvtx_pop();
		}
	pthread_cleanup_pop(0);
	return NULL;
}

static void act_cancel(void)
{
	for (int how = 0; how < 7; how++) {
		struct blocked blocked = {.how = how};
		unsigned long thread;
		if (pipe2(blocked.pipe, O_CLOEXEC) != 0)
			give_up("pipe2");
		sem_init(&blocked.never, 0, 0);
		pthread_mutex_init(&blocked.lock, NULL);
		pthread_cond_init(&blocked.condition, NULL);
		start_thread(&thread, 0, block, &blocked);
		while (!blocked.ready)
			pass_us(50);
		pass_us(chance(300));
		int result = pthread_cancel(thread);
		bool cancelled = end_thread(thread) == PTHREAD_CANCELED;
		say(" %d%s%d", result, cancelled ? "c" : "?", blocked.cleaned);
		close(blocked.pipe[0]);
		close(blocked.pipe[1]);
	}
}

/* ---- a line of workers, each with its own way to hand a number on */

enum { NUMBERS = 200 };

struct channel {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int value; /* -1: empty */
	int pipe[2];
	sem_t full, empty;
	int last;
};

static void *produce(void *argument)
{
	struct channel *channel = argument;
	for (int i = 0; i < NUMBERS; i++) {
		pthread_mutex_lock(&channel->lock);
		while (channel->value >= 0)
			pthread_cond_wait(&channel->changed, &channel->lock);
		channel->value = i;
		pthread_cond_broadcast(&channel->changed);
		pthread_mutex_unlock(&channel->lock);
	}
	return NULL;
}

static void *convey(void *argument)
{
	struct channel *channel = argument;
	for (int i = 0; i < NUMBERS; i++) {
		pthread_mutex_lock(&channel->lock);
		while (channel->value < 0)
			pthread_cond_wait(&channel->changed, &channel->lock);
		int value = channel->value;
		channel->value = -1;
		pthread_cond_signal(&channel->changed);
		pthread_mutex_unlock(&channel->lock);
		if (STEADILY(write(channel->pipe[1], &value, sizeof value)) != sizeof value)
			give_up("write");
	}
	return NULL;
}

static void *pass_on(void *argument)
{
	struct channel *channel = argument;
	int value;
	for (int i = 0; i < NUMBERS; i++) {
		if (STEADILY(read(channel->pipe[0], &value, sizeof value)) != sizeof value)
			give_up("read");
		STEADILY(sem_wait(&channel->empty));
		channel->last = value;
		sem_post(&channel->full);
	}
	return NULL;
}

static void act_pipeline(void)
{
	struct channel channel = {.value = -1};
	unsigned long threads[3];
	unsigned hash = 0;
	pthread_mutex_init(&channel.lock, NULL);
	pthread_cond_init(&channel.changed, NULL);
	sem_init(&channel.full, 0, 0);
	sem_init(&channel.empty, 0, 1);
	if (pipe2(channel.pipe, O_CLOEXEC) != 0)
		give_up("pipe2");
	start_thread(&threads[0], 0, produce, &channel);
	start_thread(&threads[1], 0, convey, &channel);
	start_thread(&threads[2], 0, pass_on, &channel);
	for (int i = 0; i < NUMBERS; i++) {
		STEADILY(sem_wait(&channel.full));
		hash = hash * 31 + (unsigned)channel.last;
		sem_post(&channel.empty);
	}
	for (int i = 0; i < 3; i++)
		end_thread(threads[i]);
	close(channel.pipe[0]);
	close(channel.pipe[1]);
	say(" hash %x", hash);
}

/* ---- values of threads */

static pthread_key_t keys[4];
static pthread_once_t keys_once = PTHREAD_ONCE_INIT;

/* Destructors run when much of the thread is gone already; each sets another value twice. */
static void destroy_value(void *value)
{
	atomic_uint *count = value;
	unsigned n = ++*count;
	nvtx_push("in a destructor");
	pass_us(100);
	nvtx_pop();
	if (n % 4 < 3)
		pthread_setspecific(keys[n % 4], count);
}

static void make_keys(void)
{
	for (int i = 0; i < 4; i++)
		pthread_key_create(&keys[i], destroy_value);
}

static void *set_values(void *argument)
{
	pthread_setspecific(keys[3], argument);
	return NULL;
}

static void act_keys(void)
{
	atomic_uint count = 0;
	pthread_once(&keys_once, make_keys);
	for (unsigned i = 0; i < 3 + chance(4); i++) {
		unsigned long thread;
		count = 0;
		start_thread(&thread, 0, set_values, &count);
		end_thread(thread);
		say(" %u", count);
	}
}

const struct act thread_acts[] = {
	{"threads", act_threads, 0},   {"detached", act_detached, 0}, {"cancel", act_cancel, 0},
	{"pipeline", act_pipeline, 0}, {"keys", act_keys, 0},         {NULL, NULL, 0},
};
