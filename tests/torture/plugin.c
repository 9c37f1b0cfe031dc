/* SPDX-License-Identifier: Apache-2.0 */
/* plugin.c - a library for the acts of acts_loader.c: threads and waits while the loader is at work. */
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

static int made;
static __thread int own = 5;

static void *add_one(void *count)
{
	poll(NULL, 0, 1);
	++*(int *)count;
	return NULL;
}

__attribute__((constructor)) static void begin(void)
{
	poll(NULL, 0, 1);
	made++;
}

__attribute__((destructor)) static void end(void)
{
	poll(NULL, 0, 1);
}

__attribute__((visibility("default"))) int plugin_work(int number);
int plugin_work(int number)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, add_one, &made) != 0)
		return -1;
	pthread_join(thread, NULL);
	own += number;
	return made * 100 + own;
}
