/* SPDX-License-Identifier: Apache-2.0 */
/* process.h - who this process is in the run. */
#ifndef HWY_COLLECT_PROCESS_H
#define HWY_COLLECT_PROCESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct process {
	/* The collector's constructor is done, so that the program's own code may be running. */
	bool joined;
	/* There is a run to record into. A process that asks for its own recording
	 * (self_record.c) has one only from time to time; all others have theirs from the
	 * constructor on. */
	_Atomic bool has_run;
	/* The program asks for its recordings itself, and may ask for others later
	 * (self_record.c). */
	bool joined_itself;
	/* The program restricted its own system calls (sandbox.c): the collector makes none any
	 * more. */
	bool sealed;
	/* The program forbade itself to read the clock: reading it would end the program. Implies
	 * 'sealed'. */
	bool timeless;
	uint32_t pid;
	/* 1 at first, one more in each forked child, and with each run that the process joins or
	 * leaves later. A text or domain that an older generation defined must be defined again. */
	_Atomic uint32_t generation;
	/* Time in ns when the process began; pid and start together identify a process
	 * (rec_chunk.process). */
	int64_t start;
	char run[4096]; /* path of the run directory */
};

/* The constructor sets 'process' before collect_control; afterwards only a forked child changes
 * it. */
extern struct process process;

/* Makes the calling process part of the run in this directory; false where it is part of a run
 * already. The constructor joins the run that HEADWAY_RUN names. */
bool process_join(const char *run);
/* Leaves a run that was joined by process_join after the constructor: from here on nothing is
 * recorded, and the process has no file of the run open or in use. */
void process_leave(void);
/* Makes settings for a process that may join a run later: sources of events find these and stay
 * connected. */
bool process_expect_run(void);

/* True in a child of vfork or posix_spawn, which still shares its parent's memory: such a child has
 * no place to record to, and must change nothing. */
bool process_is_borrowed(void);

/* True where the collector may make no system call: in a child that shares its parent's memory, and
 * in a sealed process. */
bool process_is_mute(void);

/* sandbox.c: true once the process restricted its system calls for certain, so that programs it
 * starts are restricted too. process.sealed is true also where it may have. */
bool process_is_filtered(void);
void process_seal_at_start(void);

/* If the calling process was forked since it was last identified: registers it as a new process of
 * the run. */
void process_after_fork(void);

/* Writes REC_PROCESS again if more is known than at the start: the Python version (0: not asked
 * for), or variables with the rank that the program set itself. Called when the program is well
 * under way. */
void process_look_again(uint32_t python);

uint32_t process_program(void); /* text id of the path of the process's executable */

/* Writes a REC_EXIT record with the flags REC_EXIT_.... */
void process_put_exit(uint8_t flags);

/* modules.c: records which shared objects were loaded since the last scan. Signals must be held
 * back. */
void modules_scan(void);
bool modules_hold_code(uintptr_t address); /* true if the address lay in code at the last scan */
/* Yields another number after each scan that found modules loaded or unloaded; 0: there was no scan
 * yet. */
uint64_t modules_version(void);

/* Forgets, in a forked child, what was kept for the parent's spools. */
void modules_after_fork(void);
void text_ids_after_fork(void);
void python_after_fork(void);
void nvtx_after_fork(void);

/* Forget, in a process that joins another run while its threads run, what was defined in the
 * spools of the run before. */
void modules_begin_again(void);
void python_begin_again(void);
void cuda_begin_again(void);

/* Records how many texts got no id, and so how many names the report lacks. */
void text_ids_tell_lost(void);

/* Ends a capture range that is still open when the process exits. */
void nvtx_exit(void);

/* exec.c, hidden.c: find the libc functions that they replace. */
void exec_init(void);
void hidden_init(void);
/* exec.c: becomes a program, as execveat does. */
int exec_file(int folder, const char *path, int flags, char *const *arguments, char *const *given);

#endif
