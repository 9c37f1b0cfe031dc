/* SPDX-License-Identifier: Apache-2.0 */
/* control.h - reads what the parent tells the targets, from the run directory. */
#ifndef HWY_SPOOL_CONTROL_H
#define HWY_SPOOL_CONTROL_H

#include <stdbool.h>

#include "spool/record.h"

#define CONTROL_FILE "control"
#define STATE_FILE "state"

/* Opens a regular file of the run directory; -1: there is none, or it is a link, a pipe or a device. */
int control_open(int directory, const char *file, int flags);

/* Reads the settings into 'control', which has zeros in it, and checks them: false where the file is not of this
 * version, was cut, or has a text without an end. Leaves the state alone. */
bool control_read_settings(int fd, struct rec_control *control);

/* Reads settings and state of a run into 'control', which has zeros in it. A state that is missing stays 0. */
bool control_read(int directory, struct rec_control *control);

/* Under how many seccomp filters the calling process runs, as far as the kernel tells (before Linux 5.9 only whether
 * there is any: 2). Reads one file of /proc, by calls that the loader makes too. */
uint32_t control_seccomp_filters(void);

/* The time namespace of the calling process, as an inode number; 0: not known. */
uint64_t control_time_namespace(void);

#endif
