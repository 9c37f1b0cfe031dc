/* SPDX-License-Identifier: Apache-2.0 */
/* host_facts.c - see host_facts.h. */
#include "run/host_facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "run/journal.h"
#include "spool/control.h"

bool host_facts_value(const char *path, const char *key, char *value, size_t size)
{
	char line[1024];
	size_t length = strlen(key);
	bool found = false;
	*value = '\0';
	FILE *file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof line, file)) {
		const char *rest = line + length;
		found = strncmp(line, key, length) == 0 && (!length || strchr(" \t:=", *rest));
		if (!found)
			continue;
		rest += strspn(rest, " \t:=\"");
		snprintf(value, size, "%.*s", (int)strcspn(rest, "\"\n"), rest);
	}
	if (file)
		fclose(file);
	return found;
}

bool host_facts_number(const char *path, long *number)
{
	FILE *file = fopen(path, "re");
	bool read = file && fscanf(file, "%ld", number) == 1;
	if (file)
		fclose(file);
	return read;
}

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun ...", or "... NVIDIA UNIX Open
 * Kernel Module for x86_64  580.65.06  Release Build ...": the first word of digits and dots. */
bool host_facts_driver_version(char *version, size_t size)
{
	char line[512];
	*version = '\0';
	host_facts_value("/proc/driver/nvidia/version", "NVRM version", line, sizeof line);
	for (char *rest = line, *word; (word = strtok_r(rest, " \t", &rest));)
		if (strspn(word, "0123456789.") == strlen(word) && strchr(word, '.')) {
			snprintf(version, size, "%s", word);
			return true;
		}
	return false;
}

static void record_fact(struct journal *journal, const char *name, const char *value)
{
	journal_property(journal, name, value, strlen(value));
}

void host_facts_record(struct journal *journal)
{
	struct utsname about;
	char text[512];
	if (uname(&about) == 0) {
		record_fact(journal, "host", about.nodename);
		record_fact(journal, "kernel", about.release);
		record_fact(journal, "cpu.architecture", about.machine);
	}
	host_facts_value("/proc/cpuinfo", "model name", text, sizeof text);
	record_fact(journal, "cpu", text);
	snprintf(text, sizeof text, "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	record_fact(journal, "cpu.cores", text);
	host_facts_value("/etc/os-release", "PRETTY_NAME", text, sizeof text);
	record_fact(journal, "os", text);
	host_facts_value("/proc/sys/kernel/random/boot_id", "", text, sizeof text);
	record_fact(journal, "boot_id", text);
	uint64_t clock = control_clock_id();
	snprintf(text, sizeof text, "%016" PRIx64, clock);
	if (clock)
		record_fact(journal, "clock.id", text);
	host_facts_driver_version(text, sizeof text);
	record_fact(journal, "driver", text);
}
