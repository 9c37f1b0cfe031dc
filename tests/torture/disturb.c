/* SPDX-License-Identifier: Apache-2.0 */
/* disturb.c - threads that go on beside the lanes, each with one thing that profilers trip over.
 *
 * Nothing that they do is printed. They stop between two turns.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "torture.h"

extern char **environ;

static void load_and_unload(unsigned turn)
{
	static const char *const names[] = {"libcrypt.so.1", "libthread_db.so.1", "libz.so.1",
					    "libBrokenLocale.so.1"};
	void *library = dlopen(names[turn % 4], RTLD_NOW);
	if (library)
		dlclose(library);
}

static void allocate(unsigned turn)
{
	void *volatile blocks[64];
	for (unsigned i = 0; i < 64; i++)
		blocks[i] = malloc(16 + (turn * 977 + i * 131) % 9000);
	for (unsigned i = 0; i < 64; i++)
		free(blocks[i]);
}

static void fork_child(unsigned turn)
{
	pid_t child = fork();
	if (child == 0)
		_exit((int)(turn % 100));
	if (child > 0)
		status_of(child);
}

static void spawn_child(unsigned turn)
{
	static char *const arguments[] = {"true", NULL};
	pid_t child;
	(void)turn;
	if (posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ) == 0)
		status_of(child);
}

static void mark_ranges(unsigned turn)
{
	for (unsigned i = 0; i < 200; i++) {
		nvtx_push(i % 2 ? "an odd range" : "an even range");
		nvtx_mark("a mark");
		nvtx_pop();
	}
	if (turn % 8 == 0)
		pass_us(100);
}

static void *nothing(void *argument)
{
	return argument;
}

static void make_threads(unsigned turn)
{
	unsigned long threads[4];
	for (unsigned i = 0; i < 4; i++)
		start_thread(&threads[i], turn % 2 ? 65536 : 0, nothing, NULL);
	for (unsigned i = 0; i < 4; i++)
		end_thread(threads[i]);
}

const char *const disturbance_names[DISTURBANCES] = {"loader", "allocator", "forks",
						     "spawns", "ranges",    "threads"};
static void (*const disturbances[DISTURBANCES])(unsigned) = {
	load_and_unload, allocate, fork_child, spawn_child, mark_ranges, make_threads};

static atomic_bool stop;
static struct {
	unsigned long thread;
	void (*run)(unsigned);
	bool storm;
} running[DISTURBANCES];
static unsigned n_running;

static void *disturb(void *argument)
{
	unsigned index = (unsigned)(uintptr_t)argument;
	struct result unused = {0};
	act_begin(&unused, index, 1000 + index);
	if (running[index].storm)
		storm_join();
	for (unsigned turn = 0; !stop; turn++) {
		running[index].run(turn);
		pass_us(200);
	}
	storm_leave();
	return NULL;
}

void disturb_start(unsigned which, bool storm)
{
	unsigned index = n_running++;
	running[index].run = disturbances[which];
	running[index].storm = storm;
	start_thread(&running[index].thread, 0, disturb, (void *)(uintptr_t)index);
}

void disturb_stop(void)
{
	stop = true;
	for (unsigned i = 0; i < n_running; i++)
		end_thread(running[i].thread);
}
