/* SPDX-License-Identifier: Apache-2.0 */
/* host_facts.h - facts about the machine, from files of /proc, /sys and /etc. No tool is run. */
#ifndef HWY_RUN_HOST_FACTS_H
#define HWY_RUN_HOST_FACTS_H

#include <stdbool.h>
#include <stddef.h>

struct journal;

/* The value on the first line "KEY: value" or KEY="value" of a file, without what separates key and
 * value and without quotes. An empty key stands for the file's first line. False, and an empty
 * value, where there is no such line:
 *
 *   char name[128];
 *   if (host_facts_value("/etc/os-release", "PRETTY_NAME", name, sizeof name))
 *           printf("%s\n", name);
 */
bool host_facts_value(const char *path, const char *key, char *value, size_t size);

/* Reads the number that a file begins with; false, and *number unchanged, where there is no
 * number. */
bool host_facts_number(const char *path, long *number);

/* Reads the version of NVIDIA's kernel module; false, and an empty text, where the module is not
 * loaded. */
bool host_facts_driver_version(char *version, size_t size);

/* Records host, CPU, kernel, operating system and driver. */
void host_facts_record(struct journal *journal);

#endif
