/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_view.c - whether `headway view` finds the one library that it opens at run time.
 *
 * The viewer itself (src/serve/) names the package of Debian only; here the distribution is known.
 */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"
#include "run/doctor/doctor.h"
#include "run/host_facts.h"

#define LIBRARY "libmicrohttpd.so.12" /* the name that serve/mhd.c opens */

enum { TIMEOUT_MS = 3000 };

static void look_for_library(FILE *out, const void *with)
{
	(void)with;
	void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	struct link_map *map = NULL;
	if (library && dlsym(library, "MHD_start_daemon") &&
	    dlinfo(library, RTLD_DI_LINKMAP, &map) == 0)
		fprintf(out, "libmicrohttpd %s\n", map->l_name);
}

/* Whether 'like', a list of words with spaces between them, has the word. */
static bool list_has(const char *like, const char *word)
{
	size_t length = strlen(word);
	for (const char *rest = like; *rest;) {
		size_t n = strcspn(rest, " ");
		if (n == length && memcmp(rest, word, n) == 0)
			return true;
		rest += n + strspn(rest + n, " ");
	}
	return false;
}

/* Debian 13 and Ubuntu 24.04 renamed the package with their change to 64-bit times. A development
 * release of Debian has no version. */
const char *doctor_view_remedy(const char *id, const char *like, const char *version)
{
	double number = strtod(version, NULL);
	bool is_new = !*version || number >= (strcmp(id, "ubuntu") == 0 ? 24.04 : 13);
	if (strcmp(id, "debian") == 0 || strcmp(id, "ubuntu") == 0)
		return is_new ? "sudo apt-get install libmicrohttpd12t64"
			      : "sudo apt-get install libmicrohttpd12";
	if (list_has(like, "debian") || list_has(like, "ubuntu"))
		return HWY_KEY("sudo apt-get install libmicrohttpd12t64 (older: libmicrohttpd12)");
	if (strcmp(id, "fedora") == 0 || list_has(like, "fedora") || list_has(like, "rhel"))
		return "sudo dnf install libmicrohttpd";
	if (list_has(like, "suse"))
		return "sudo zypper install libmicrohttpd12";
	if (strcmp(id, "arch") == 0 || list_has(like, "arch"))
		return "sudo pacman -S libmicrohttpd";
	return HWY_KEY("install GNU libmicrohttpd (libmicrohttpd.so.12)");
}

void doctor_view(struct doctor *doctor)
{
	char answer[PATH_MAX + 32], *rest = answer, id[64], like[128], version[32];
	const char *key, *value;
	doctor_probe_run(look_for_library, NULL, TIMEOUT_MS, answer, sizeof answer);
	if (doctor_probe_line(&rest, &key, &value))
		doctor->libmicrohttpd = doctor_text(doctor, value);
	if (doctor->libmicrohttpd) {
		doctor_say(doctor, DOCTOR_VIEW, DOCTOR_YES, "headway view, with libmicrohttpd");
		return;
	}
	host_facts_value("/etc/os-release", "ID", id, sizeof id);
	host_facts_value("/etc/os-release", "ID_LIKE", like, sizeof like);
	host_facts_value("/etc/os-release", "VERSION_ID", version, sizeof version);
	doctor_say(doctor, DOCTOR_VIEW, DOCTOR_NO, "headway view needs libmicrohttpd.so.12");
	doctor_advise(doctor, DOCTOR_VIEW, "%s", hwy_tr(doctor_view_remedy(id, like, version)));
}
