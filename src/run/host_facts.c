/* host_facts.c - what the report says about the machine. Files of /proc and /etc, read once; no tool is run. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "run/journal.h"

/* What follows 'key' on its line of a file, up to the end or to 'stop'; "" when it is not there. */
static void value_in(const char *path, const char *key, const char *skip, const char *stop,
		     char *value, size_t size)
{
	char line[1024];
	*value = '\0';
	FILE *file = fopen(path, "re");
	while (file && fgets(line, sizeof line, file)) {
		const char *at = strstr(line, key);
		if (!at)
			continue;
		at += strlen(key);
		at += strspn(at, skip);
		snprintf(value, size, "%.*s", (int)strcspn(at, stop), at);
		break;
	}
	if (file)
		fclose(file);
}

static void host_facts_tell(struct journal *journal, const char *name, const char *value)
{
	journal_property(journal, name, value, strlen(value));
}

void journal_machine(struct journal *journal)
{
	struct utsname about;
	char text[512];
	if (uname(&about) == 0) {
		host_facts_tell(journal, "host", about.nodename);
		host_facts_tell(journal, "kernel", about.release);
		host_facts_tell(journal, "cpu.architecture", about.machine);
	}
	value_in("/proc/cpuinfo", "model name", " \t:", "\n", text, sizeof text);
	host_facts_tell(journal, "cpu", text);
	snprintf(text, sizeof text, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	host_facts_tell(journal, "cpu.cores", text);
	value_in("/etc/os-release", "PRETTY_NAME=", "\"", "\"\n", text, sizeof text);
	host_facts_tell(journal, "os", text);
	value_in("/proc/sys/kernel/random/boot_id", "", "", "\n", text, sizeof text);
	host_facts_tell(journal, "boot_id", text);
	/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun …", or "… Open Kernel Module for
	 * x86_64  580.65.06  Release Build …" */
	value_in("/proc/driver/nvidia/version", "Module", " ", "\n", text, sizeof text);
	char *version = text;
	while (*version && strspn(version, "0123456789.") != strcspn(version, " "))
		version += strcspn(version, " ") + strspn(version + strcspn(version, " "), " ");
	version[strcspn(version, " ")] = '\0';
	host_facts_tell(journal, "driver", version);
}
