/* process.h - who this process is in the run. */
#ifndef HWY_COLLECT_PROCESS_H
#define HWY_COLLECT_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

struct process {
	bool joined; /* the program's own code may be running */
	bool sealed; /* the program restricts its system calls: none of ours any more (sandbox.c) */
	uint32_t pid;
	uint32_t
		generation; /* 1, and one more after each fork: ids defined in an older one are not ours */
	int64_t start;  /* with pid the identity: rec_chunk.process */
	char run[4096]; /* the run directory */
};

/* Set by the constructor before collect_control is; changed in a forked child only. */
extern struct process process;

/* Makes the calling process one of the run in this directory, once. The constructor does it for the one that
 * HEADWAY_RUN names. */
bool process_join(const char *run);

/* True in a child that still shares its parent's memory (vfork, posix_spawn): it has no place to record
 * to, and must change nothing. */
bool process_is_borrowed(void);

/* True where nothing may be done that takes a system call: there, and in a sealed process. */
bool process_is_mute(void);

/* Makes the calling process a new one of the run if it came from a fork since. */
void process_after_fork(void);

/* Writes REC_PROCESS again if more is known than at the start: the Python version (0: not asked), or rank
 * variables that the program set for itself. For moments when the program is well under way. */
void process_look_again(uint32_t python);

uint32_t process_program(void); /* the id of its file's path */

/* Writes REC_EXIT with these flags. */
void process_put_exit(uint8_t flags);

/* Brings the list of shared objects in the spools up to date (modules.c). */
void modules_scan(void);
bool modules_hold_code(uintptr_t address); /* as of the last scan */
const void *modules_version(void);         /* another after each scan that found a change */
void modules_before_fork(void);            /* and in the parent, then in the child: */
void modules_forked(void);
void modules_after_fork(void);

/* What was kept about the parent is void. */
void strings_after_fork(void);
void python_after_fork(void);
void nvtx_after_fork(void);

/* A capture range that the process leaves open ends with it. */
void nvtx_exit(void);

/* exec.c: finds the functions it stands in for and remembers the environment to hand on. */
void exec_init(void);

#endif
