/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_place.c - Headway's own libraries, libdw, and the folder that a run can be written to. */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/lang.h"
#include "run/doctor/doctor.h"
#include "run/run.h"
#include "run/space.h"

enum { TIMEOUT_MS = 3000 };

/* Yields the path of a library in the collect library's folder; NULL: the library is not there. */
static char *library_beside(struct doctor *doctor, const char *name)
{
	char path[PATH_MAX];
	const char *slash = doctor->collect ? strrchr(doctor->collect, '/') : NULL;
	if (!slash)
		return NULL;
	int n = snprintf(path, sizeof path, "%.*s/%s", (int)(slash - doctor->collect),
			 doctor->collect, name);
	return n < (int)sizeof path && access(path, R_OK) == 0 ? doctor_text(doctor, path) : NULL;
}

static void find_libraries(struct doctor *doctor, struct hwy_err *err)
{
	char *collect = library_find(err);
	doctor->collect = collect ? doctor_text(doctor, collect) : NULL;
	free(collect);
	doctor->osrt = library_beside(doctor, "libheadway-osrt.so");
	doctor->opencl_library = library_beside(doctor, "libheadway-opencl.so");
}

static bool can_write(const char *folder)
{
	char path[PATH_MAX];
	if (snprintf(path, sizeof path, "%s/headway-XXXXXX", folder) >= (int)sizeof path ||
	    !mkdtemp(path))
		return false;
	rmdir(path);
	return true;
}

/* Finds the folder for a run as run_prepare does: TMPDIR, /tmp, then the output's folder. */
static void find_temporary(struct doctor *doctor)
{
	const char *given = getenv("TMPDIR");
	const char *folders[] = {given && *given ? given : "/tmp", "/tmp", "."};
	struct statvfs about;
	struct space_place place;
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		if (statvfs(folders[i], &about) != 0 || !space_look(folders[i], &place) ||
		    !can_write(folders[i]))
			continue;
		/* What a recording leaves alone does not count. */
		uint64_t room = place.free > place.keep_free ? place.free - place.keep_free : 0;
		if (doctor->temporary && room <= doctor->temporary_free)
			continue;
		doctor->temporary = doctor_text(doctor, folders[i]);
		doctor->temporary_free = room;
		doctor->temporary_exec = !(about.f_flag & ST_NOEXEC);
		if (room >= RUN_ENOUGH_BYTES)
			return;
	}
}

static void look_for_libdw(FILE *out, const void *with)
{
	(void)with;
	void *library = dlopen("libdw.so.1", RTLD_NOW | RTLD_LOCAL);
	struct link_map *map = NULL;
	if (library && dlsym(library, "dwfl_attach_state") &&
	    dlinfo(library, RTLD_DI_LINKMAP, &map) == 0)
		fprintf(out, "libdw %s\n", map->l_name);
}

static void judge_program(struct doctor *doctor, const struct hwy_err *err)
{
	double gib = (double)doctor->temporary_free / (1 << 30);
	if (!doctor->collect) {
		doctor_say(doctor, DOCTOR_PROGRAM, DOCTOR_NO, "%s", err->text);
		doctor_advise(doctor, DOCTOR_PROGRAM, "reinstall Headway: make install PREFIX=...");
	} else if (!doctor->temporary) {
		doctor_say(doctor, DOCTOR_PROGRAM, DOCTOR_NO,
			   "no folder can be written: TMPDIR, /tmp, .");
		doctor_advise(doctor, DOCTOR_PROGRAM, "export TMPDIR=/a/folder/of/yours");
	} else if (doctor->temporary_free < RUN_ENOUGH_BYTES) {
		doctor_say(doctor, DOCTOR_PROGRAM, DOCTOR_PARTLY,
			   "only %.0f MiB for recordings in %s", gib * 1024, doctor->temporary);
		doctor_advise(doctor, DOCTOR_PROGRAM,
			      "make room there, or export TMPDIR=/a/larger/folder");
	} else {
		doctor_say(doctor, DOCTOR_PROGRAM, DOCTOR_YES, "via %s, %.1f GiB for recordings%s",
			   doctor->temporary, gib,
			   hwy_tr(doctor->temporary_exec ? "" : " (noexec, does no harm)"));
	}
}

void doctor_place(struct doctor *doctor)
{
	struct hwy_err err = {""};
	char answer[PATH_MAX + 16], *rest = answer;
	const char *key, *value;
	find_libraries(doctor, &err);
	find_temporary(doctor);
	judge_program(doctor, &err);
	doctor_probe_run(look_for_libdw, NULL, TIMEOUT_MS, answer, sizeof answer);
	if (doctor_probe_line(&rest, &key, &value))
		doctor->libdw = doctor_text(doctor, value);
#if defined(__x86_64__)
	const bool is_unwound = true;
#else
	/* Copies of stacks hold the registers of x86-64 only (collect/stack.c, ingest/unwind.c). */
	const bool is_unwound = false;
#endif
	if (!is_unwound) {
		doctor_say(doctor, DOCTOR_STACKS, DOCTOR_PARTLY,
			   "CPU samples by frame pointers; calls have none on this CPU");
	} else if (doctor->libdw) {
		doctor_say(doctor, DOCTOR_STACKS, DOCTOR_YES, "unwound with libdw");
	} else {
		doctor_say(doctor, DOCTOR_STACKS, DOCTOR_PARTLY,
			   "by frame pointers, without source lines: no libdw");
		doctor_advise(doctor, DOCTOR_STACKS, "sudo apt-get install libdw1");
	}
	if (doctor->osrt) {
		doctor_say(doctor, DOCTOR_OS, DOCTOR_YES,
			   "waits for files, locks, sockets, children");
	} else {
		doctor_say(doctor, DOCTOR_OS, DOCTOR_NO, "libheadway-osrt.so is missing");
		doctor_advise(doctor, DOCTOR_OS,
			      "it belongs beside libheadway-collect.so: reinstall Headway");
	}
}
