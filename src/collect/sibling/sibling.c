/* SPDX-License-Identifier: Apache-2.0 */
/* sibling.c - collect.h's functions in a library that records through the collect library; see
 * share.h.
 *
 * The sibling's constructor calls sibling_connect before anything else. Until then, and where there
 * is no collect library, nothing is recorded.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "collect/share.h"

/* The collect library's table; written once, by the constructor. */
static const struct collect_share *share;
struct rec_control *collect_control;
const bool *sibling_is_sealed;
const bool *sibling_joined_itself;
const _Atomic uint64_t *sibling_python_runtime;
const _Atomic uint32_t *sibling_generation;

/* The table's function in a collect library that the program loaded later and for itself alone
 * (self_record.c); it lies beside this library. */
static void *find_in_loaded(void)
{
	static const char name[] = "libheadway-collect.so";
	Dl_info about;
	char path[4096];
	const char *slash = dladdr(&share, &about) ? strrchr(about.dli_fname, '/') : NULL;
	size_t folder = slash ? (size_t)(slash + 1 - about.dli_fname) : 0;
	if (!slash || folder + sizeof name > sizeof path)
		return NULL;
	memcpy(path, about.dli_fname, folder);
	memcpy(path + folder, name, sizeof name);
	void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	void *function = library ? dlsym(library, "headway_collect_share") : NULL;
	if (library)
		dlclose(library);
	return function;
}

bool sibling_connect(void)
{
	const struct collect_share *(*find)(void);
	*(void **)&find = dlsym(RTLD_DEFAULT, "headway_collect_share");
	if (!find)
		*(void **)&find = find_in_loaded();
	if (!find)
		dlerror(); /* the program must not find an error that is not its own */
	const struct collect_share *found = find ? find() : NULL;
	if (!found || found->size != sizeof *found)
		return false;
	sibling_is_sealed = found->is_sealed;
	sibling_joined_itself = found->joined_itself;
	sibling_python_runtime = found->python_runtime;
	sibling_generation = found->generation;
	collect_control = found->control();
	share = found;
	return collect_control != NULL;
}

bool sibling_is_inside(void)
{
	return !share || share->is_inside();
}

bool sibling_set_inside(bool is_inside)
{
	return share && share->set_inside(is_inside);
}

bool sibling_has(uint64_t address)
{
	return share && address >= (uintptr_t)share->from && address < (uintptr_t)share->to;
}

bool collect_is_on(uint32_t traces)
{
	return share && share->is_on(traces);
}

int64_t collect_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

uint32_t collect_tid(void)
{
	return share->tid();
}

void *collect_reserve(enum rec_type type, unsigned slots)
{
	return share ? share->reserve(type, slots) : NULL;
}

void collect_publish(void *record)
{
	share->publish(record);
}

uint32_t collect_string(const char *text, size_t length)
{
	return share ? share->string(text, length) : 0;
}

uint32_t collect_string_z(const char *text)
{
	return collect_string(text, strlen(text));
}

void collect_note(int severity, const char *format, ...)
{
	char text[1024];
	va_list args;
	va_start(args, format);
	int length = vsnprintf(text, sizeof text, format, args);
	va_end(args);
	if (share && length > 0)
		share->note(severity, text);
}

void collect_drop(const char *reason, uint64_t count)
{
	if (share)
		share->drop(reason, count);
}

void collect_property(const char *name, const char *value)
{
	if (share)
		share->property(name, value);
}

void collect_stack(enum rec_why why, int64_t start, uint32_t correlation)
{
	if (share)
		share->stack(why, start, correlation);
}
