/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_python.c - the Pythons on PATH, and whether their stacks can be read.
 *
 * Each Python is asked for its version and its packages' folders. Shims and wrappers are asked too:
 * the Python that they start counts. The collector decides by the version alone (spool/places.h),
 * and reads an interpreter's memory by process_vm_readv at first.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "run/doctor/doctor.h"
#include "spool/places.h"

enum { TIMEOUT_MS = 3000, ANSWER = 8192, MOST_ASKED = 12, MOST_PACKAGES = 32 };

static const char question[] =
	"import sys\n"
	"print('version', '.'.join(map(str, sys.version_info[:3])))\n"
	"print('minor', sys.version_info[1] if sys.version_info[0] == 3 else 0)\n"
	"print('implementation', sys.implementation.name)\n"
	"print('executable', sys.executable)\n"
	"for p in sys.path:\n"
	"    if p.endswith('-packages'): print('packages', p)\n";

static void become_python(FILE *out, const void *with)
{
	const char *path = with;
	dup2(fileno(out), STDOUT_FILENO);
	char isolated[] = "-I", command[] = "-c", code[sizeof question], name[PATH_MAX];
	memcpy(code, question, sizeof question);
	snprintf(name, sizeof name, "%s", path);
	char *const words[] = {name, isolated, command, code, NULL};
	execv(path, words);
}

static char **package_folders(struct doctor *doctor)
{
	if (!doctor->packages)
		doctor->packages =
			hwy_arena_array(&doctor->texts, MOST_PACKAGES + 1 /* the NULL at the end */,
					sizeof *doctor->packages);
	return doctor->packages;
}

static void add_packages(struct doctor *doctor, const char *folder)
{
	char **all = package_folders(doctor);
	uint32_t n = 0;
	for (; all[n]; n++)
		if (strcmp(all[n], folder) == 0)
			return;
	if (n < MOST_PACKAGES)
		all[n] = doctor_text(doctor, folder);
}

static bool doctor_python_was_seen(const struct doctor *doctor, const char *path)
{
	char real[PATH_MAX], other[PATH_MAX];
	if (!realpath(path, real))
		return false;
	for (uint32_t i = 0; i < doctor->n_pythons; i++)
		if (realpath(doctor->pythons[i].path, other) && strcmp(real, other) == 0)
			return true;
	return false;
}

static void ask_version(struct doctor *doctor, const char *path)
{
	char answer[ANSWER], *rest = answer;
	const char *key, *value;
	struct doctor_python python = {0};
	doctor_probe_run(become_python, path, TIMEOUT_MS, answer, sizeof answer);
	while (doctor_probe_line(&rest, &key, &value)) {
		if (strcmp(key, "version") == 0)
			python.version = doctor_text(doctor, value);
		else if (strcmp(key, "minor") == 0)
			python.minor = (uint32_t)strtoul(value, NULL, 10);
		else if (strcmp(key, "implementation") == 0)
			python.implementation = doctor_text(doctor, value);
		else if (strcmp(key, "executable") == 0)
			python.path = doctor_text(doctor, *value ? value : path);
		else if (strcmp(key, "packages") == 0)
			add_packages(doctor, value);
	}
	if (!python.version || !python.path || !python.implementation ||
	    doctor_python_was_seen(doctor, python.path))
		return;
	python.stacks = strcmp(python.implementation, "cpython") == 0 &&
			python.minor >= PLACES_PYTHON_OLDEST &&
			python.minor <= PLACES_PYTHON_NEWEST;
	HWY_GROW(doctor->pythons, doctor->n_pythons, doctor->cap_pythons);
	doctor->pythons[doctor->n_pythons++] = python;
}

/* Looks for python3, python and python3.N in a folder of PATH. */
static void look_in_folder(struct doctor *doctor, const char *folder, uint32_t *asked)
{
	for (int minor = -2; minor < 20; minor++) {
		char path[PATH_MAX], number[8] = "";
		struct stat about;
		if (minor >= 0)
			snprintf(number, sizeof number, "3.%d", minor);
		int n = snprintf(path, sizeof path, "%s/python%s", folder,
				 minor == -2 ? "3" : number);
		if (n < 0 || n >= (int)sizeof path || *asked == MOST_ASKED ||
		    stat(path, &about) != 0 || !S_ISREG(about.st_mode) || access(path, X_OK) != 0 ||
		    doctor_python_was_seen(doctor, path))
			continue;
		++*asked;
		ask_version(doctor, path);
	}
}

/* Whether a process may read its own memory by process_vm_readv. seccomp filters of old container
 * engines forbid the call. */
static bool memory_can_be_read(void)
{
	char from = 1, to = 0;
	struct iovec local = {&to, 1}, remote = {&from, 1};
	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1;
}

static void doctor_python_judge(struct doctor *doctor)
{
	enum { SAYS = 160 };
	char good[SAYS] = "", bad[SAYS] = "";
	bool any = false, refused = false;
	for (uint32_t i = 0; i < doctor->n_pythons; i++) {
		const struct doctor_python *python = &doctor->pythons[i];
		char *list = python->stacks ? good : bad;
		size_t n = strlen(list);
		snprintf(list + n, SAYS - n, "%s%s", n ? ", " : "", python->version);
		any = any || python->stacks;
		refused = refused || !python->stacks;
	}
	if (!doctor->memory_can_be_read) {
		doctor_say(doctor, DOCTOR_PYTHON, DOCTOR_NO, "process_vm_readv is not permitted");
		doctor_advise(doctor, DOCTOR_PYTHON,
			      "in a container: docker run --cap-add SYS_PTRACE ...");
	} else if (!doctor->n_pythons) {
		doctor_say(doctor, DOCTOR_PYTHON, DOCTOR_PARTLY,
			   "no Python on PATH; 3.%d to 3.%d can be read", PLACES_PYTHON_OLDEST,
			   PLACES_PYTHON_NEWEST);
	} else if (!refused) {
		doctor_say(doctor, DOCTOR_PYTHON, DOCTOR_YES, "Python %s", good);
	} else {
		if (any)
			doctor_say(doctor, DOCTOR_PYTHON, DOCTOR_PARTLY, "Python %s; not of %s",
				   good, bad);
		else
			doctor_say(doctor, DOCTOR_PYTHON, DOCTOR_NO, "not of %s", bad);
		doctor_advise(doctor, DOCTOR_PYTHON, "CPython 3.%d to 3.%d can be read",
			      PLACES_PYTHON_OLDEST, PLACES_PYTHON_NEWEST);
	}
}

void doctor_pythons(struct doctor *doctor)
{
	const char *path = getenv("PATH");
	char *folders = doctor_text(doctor, path ? path : "");
	uint32_t asked = 0;
	for (char *folder; folders && (folder = strsep(&folders, ":"));)
		if (*folder == '/')
			look_in_folder(doctor, folder, &asked);
	doctor->memory_can_be_read = memory_can_be_read();
	doctor_python_judge(doctor);
}
