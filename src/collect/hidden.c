/* SPDX-License-Identifier: Apache-2.0 */
/* hidden.c - for those who need the run's variables, which handed.c removed from the program's
 * environment.
 *
 * Replaces getenv: the CUDA driver, NVTX and OpenCL's loader ask for three of the variables by
 * their names, and get them. Replaces system and popen, whose shell gets the environment that
 * 'environ' names: libc makes them of functions that cannot be replaced. For the time of the
 * call 'environ' names an array with the run's variables in it; what another thread changes in
 * it meanwhile stays. A thread that is cancelled inside the call, and one that adds a variable
 * meanwhile, leave the run's variables visible, which does no harm.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/handed.h"

#define EXPORT __attribute__((visibility("default")))

extern char **environ;

static int (*real_system)(const char *);
static FILE *(*real_popen)(const char *, const char *);
static char *(*real_getenv)(const char *);
static char *(*real_secure_getenv)(const char *);

void hidden_init(void)
{
	*(void **)&real_system = dlsym(RTLD_NEXT, "system");
	*(void **)&real_popen = dlsym(RTLD_NEXT, "popen");
	*(void **)&real_secure_getenv = dlsym(RTLD_NEXT, "secure_getenv");
	*(void **)&real_getenv = dlsym(RTLD_NEXT, "getenv");
}

/* ---- asking by name -------------------------------------------------------------------------- */

/* For those who ask before the constructor of this library, such as allocators: dlsym may
 * allocate. */
static char *look_up(const char *name)
{
	size_t length = strlen(name);
	for (char **at = environ; length && at && *at; at++)
		if (strncmp(*at, name, length) == 0 && (*at)[length] == '=')
			return *at + length + 1;
	return NULL;
}

EXPORT char *getenv(const char *name)
{
	return handed_variable(name, real_getenv ? real_getenv(name) : look_up(name));
}

EXPORT char *secure_getenv(const char *name)
{
	return handed_variable(name, real_secure_getenv ? real_secure_getenv(name) : look_up(name));
}

/* ---- shells that libc starts ----------------------------------------------------------------- */

/* The environment while a shell is started. */
struct lent {
	struct handed handed;
	char **own; /* the program's environment; handed.variables is the same: nothing is lent */
	uint64_t print; /* of the lent array, to see whether another thread changed it */
};

static uint64_t print_of(char *const *variables)
{
	uint64_t print = UINT64_C(14695981039346656037);
	for (; *variables; variables++)
		print = (print ^ (uintptr_t)*variables) * UINT64_C(1099511628211);
	return print;
}

static bool replace_environ(char **from, char **to)
{
	return __atomic_compare_exchange_n(&environ, &from, to, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_SEQ_CST);
}

/* Lets 'environ' name an environment with the run's variables. */
static void lend(struct lent *lent)
{
	static const struct handed_program shell = {.how = HANDED_SHELL};
	int saved = errno;
	*lent = (struct lent){.own = environ, .handed = {.variables = environ}};
	if (handed_is_hidden)
		lent->handed = handed_begin(&shell, lent->own);
	char **with = (char **)(uintptr_t)lent->handed.variables;
	if (with != lent->own) {
		lent->print = print_of(with);
		if (!replace_environ(lent->own, with)) {
			handed_end(&lent->handed, true);
			lent->handed.variables = lent->own;
		}
	}
	errno = saved;
}

/* Names the program's own environment again. If another thread changed the lent one meanwhile,
 * that one becomes the program's own, without the run's variables. */
static void take_back(struct lent *lent)
{
	char **with = (char **)(uintptr_t)lent->handed.variables;
	if (with == lent->own)
		return;
	if (environ == with && print_of(with) != lent->print)
		handed_hide(with);
	else if (replace_environ(with, lent->own))
		handed_end(&lent->handed, true);
}

EXPORT int system(const char *command)
{
	if (!real_system) {
		errno = ENOSYS;
		return -1;
	}
	struct lent lent;
	if (!command)
		return real_system(command);
	lend(&lent);
	int result = real_system(command);
	take_back(&lent);
	return result;
}

EXPORT FILE *popen(const char *command, const char *mode)
{
	if (!real_popen) {
		errno = ENOSYS;
		return NULL;
	}
	struct lent lent;
	lend(&lent);
	FILE *result = real_popen(command, mode);
	take_back(&lent);
	return result;
}
