/* SPDX-License-Identifier: Apache-2.0 */
/* torture.h - a program that is rough with its process, and whose result depends on its seed alone.
 *
 * A seed decides which acts run, in which of up to four threads (lanes), what goes on beside them
 * (disturbances), and how the process ends. An act prints only what is the same each time, however
 * the threads are scheduled: so the same seed run under a profiler must print the same.
 *
 * Rules for an act: what a signal can interrupt is tried again; times, addresses and ids are never
 * printed; files have names of the act's own (act_file). An act that changes its whole process
 * (signal handlers, rights, descriptors, filters) runs in an image: a process of its own, started
 * in one of the ways of images.c.
 */
#ifndef TESTS_TORTURE_TORTURE_H
#define TESTS_TORTURE_TORTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum act_needs {
	NEEDS_IMAGE = 1, /* runs in a process of its own */
	NEEDS_CALM = 2,  /* no signal storm in that process: the act counts signals or is sealed */
	NEEDS_ROOT = 4,
	IS_SLOW = 8, /* chosen once where others are chosen ten times */
};

struct act {
	const char *name; /* NULL ends a table */
	void (*run)(void);
	unsigned needs; /* of enum act_needs */
};

extern const struct act thread_acts[], lock_acts[], process_acts[], loader_acts[], signal_acts[],
	stack_acts[], sandbox_acts[], rights_acts[], file_acts[], source_acts[], odd_acts[];

/* ---- kit.c: what acts say and how they choose. Each belongs to the act that the thread is in. */

struct result { /* what a lane's acts have said */
	char *text;
	size_t size, room;
};

void act_begin(struct result *into, uint64_t seed, unsigned number);
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_bytes(const char *bytes, size_t size);
/* A number below n. */
uint32_t chance(uint32_t n);
uint64_t chance_seed(void);
/* The next number of the sequence that 'state' is in. */
uint64_t next_random(uint64_t *state);
/* A file name that no other act uses; the buffer belongs to the thread. */
const char *act_file(const char *what);

/* Sleeps this long, whatever signals arrive. */
void pass_us(unsigned microseconds);
/* Waits for a child: its exit status, or 1000 + the number of the signal that ended it. */
int status_of(pid_t child);
/* How a pthread function of three lines would be started: with a stack of this size (bytes), 0 for
 * the default one. The process ends when there is no thread to be had. */
void start_thread(unsigned long *thread, size_t stack, void *(*run)(void *), void *argument);
void *end_thread(unsigned long thread);
void give_up(const char *what);

/* ---- images.c */

extern const char *program_path; /* of this program */
/* Runs an act in a process of its own, and says what it said and how it ended. */
void image_run(const struct act *act, bool storm);

/* ---- storm.c: signals to single threads, whose handler makes async-signal-safe calls. */

void storm_init(void);
/* The calling thread gets signals until it leaves. */
void storm_join(void);
void storm_leave(void);
/* The first call whose result was wrong in a handler, or NULL. */
const char *storm_wrong(void);

/* ---- disturb.c: what goes on beside the lanes. */

enum { DISTURBANCES = 6 };
extern const char *const disturbance_names[DISTURBANCES];
void disturb_start(unsigned which, bool storm);
void disturb_stop(void);

/* ---- endings.c */

extern const char *const ending_names[];
unsigned endings_count(void);
/* Prints what the lanes said, and ends the process. */
_Noreturn void end_process(unsigned which, const struct result *said);

/* ---- acts_sources.c: what the profiler records besides the operating system; no-ops without it. */

void nvtx_init(void);
void nvtx_push(const char *text);
void nvtx_pop(void);
void nvtx_mark(const char *text);

/* Evaluates a system call again while a signal interrupts it. */
#define STEADILY(call)                                                                             \
	({                                                                                         \
		__typeof__(call) steady_result;                                                    \
		do                                                                                 \
			steady_result = (call);                                                    \
		while (steady_result == -1 && errno == EINTR);                                     \
		steady_result;                                                                     \
	})

/* Says a call's result, and errno where it is -1. */
#define SAY_RESULT(call)                                                                           \
	do {                                                                                       \
		long said_result = (long)(call);                                                   \
		say(" %ld/%d", said_result, said_result == -1 ? errno : 0);                        \
	} while (0)

#endif
