/* SPDX-License-Identifier: Apache-2.0 */
/* handed.h - what this process hands on to programs that it becomes or starts: the collect
 * library and the run. */
#ifndef HWY_COLLECT_HANDED_H
#define HWY_COLLECT_HANDED_H

#include <stdbool.h>
#include <stdint.h>

#include "spool/control.h"
#include "spool/record.h"

/* Which program gets the environment. */
struct handed_program {
	enum {
		HANDED_FILE,       /* the file 'name', from the folder 'fd' on; AT_FDCWD */
		HANDED_COMMAND,    /* the command 'name', searched in PATH */
		HANDED_DESCRIPTOR, /* the open file 'fd' */
		HANDED_SHELL,      /* the system's shell */
	} how;
	int fd;
	const char *name;
};

/* An environment for one call of exec or posix_spawn. */
struct handed {
	char *const *variables;
	/* The memory that 'variables' lies in; NULL: the memory is the program's. */
	struct handed_room *room;
	/* The counter of the run's state that counts the program, because nothing will be recorded
	 * inside it; NULL: it is not counted. */
	uint32_t *counter;
};

/* Remembers what to hand on, if LD_PRELOAD loaded the collect library of these settings, and
 * removes it from the program's own environment. For the constructor: no other thread runs. */
void handed_init(struct rec_control *control);

/* Yields the environment for a program that was given the environment 'given'. With it goes what
 * makes the program part of the run, if the program bears that; else nothing of the run goes
 * with it. Makes no system call in a process whose system calls are restricted. Changes errno. */
struct handed handed_begin(const struct handed_program *program, char *const *given);
/* Frees what handed_begin took, after the exec failed or the program was spawned. A program that
 * did not start is not counted any more. Keeps errno. */
void handed_end(struct handed *handed, bool has_started);

/* Takes the run's variables out of an environment. */
void handed_hide(char **variables);

/* Yields the value of a variable of the run that was removed from the environment, for those who
 * ask for it by name; else 'value', which is what the environment says. */
char *handed_variable(const char *name, char *value);

/* True where what was removed from the environment is handed on by the functions above. */
extern bool handed_is_hidden;

#endif
