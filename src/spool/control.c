/* SPDX-License-Identifier: Apache-2.0 */
/* control.c - see control.h. System calls only, as the collector makes them (collect/sys.h): it
 * reads the settings in the constructor.
 */
#include "spool/control.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* O_NONBLOCK: opening a pipe of that name would wait for a writer. */
int control_open(int directory, const char *file, int flags)
{
	int fd = (int)syscall(SYS_openat, directory, file,
			      flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0);
	struct stat about;
	if (fd >= 0 && (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))) {
		syscall(SYS_close, fd);
		return -1;
	}
	return fd;
}

bool control_read_settings(int fd, struct rec_control *control)
{
	return syscall(SYS_read, fd, control, (long)REC_CONTROL_BYTES) == REC_CONTROL_BYTES &&
	       control->magic == REC_MAGIC && control->version == REC_CONTROL_VERSION &&
	       memchr(control->library, '\0', sizeof control->library) &&
	       memchr(control->nvtx_range, '\0', sizeof control->nvtx_range);
}

bool control_read(int directory, struct rec_control *control)
{
	int fd = control_open(directory, CONTROL_FILE, O_RDONLY);
	if (fd < 0)
		return false;
	bool read_all = control_read_settings(fd, control);
	syscall(SYS_close, fd);
	fd = read_all ? control_open(directory, STATE_FILE, O_RDONLY) : -1;
	if (fd >= 0) {
		syscall(SYS_read, fd, &control->recording, (long)REC_STATE_BYTES);
		syscall(SYS_close, fd);
	}
	return read_all;
}

uint32_t control_seccomp_filters(void)
{
	enum { MOST = 4096 }; /* the file has some 1,400 bytes */
	char text[MOST + 1];
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/status", O_RDONLY | O_CLOEXEC, 0);
	long length = 0, got = 0;
	while (fd >= 0 && length < MOST &&
	       (got = syscall(SYS_read, fd, text + length, MOST - length)) > 0)
		length += got;
	if (fd >= 0)
		syscall(SYS_close, fd);
	text[length] = '\0';
	const char *filters = strstr(text, "\nSeccomp_filters:");
	const char *mode = strstr(text, "\nSeccomp:");
	const char *number = filters ? filters : mode;
	return number ? (uint32_t)strtoul(strchr(number, ':') + 1, NULL, 10) : 0;
}

uint64_t control_time_namespace(void)
{
	struct stat about;
	return stat("/proc/self/ns/time", &about) == 0 ? (uint64_t)about.st_ino : 0;
}

uint64_t control_clock_id(void)
{
	char boot[64];
	int fd = (int)syscall(SYS_openat, AT_FDCWD, "/proc/sys/kernel/random/boot_id",
			      O_RDONLY | O_CLOEXEC, 0);
	long length = fd < 0 ? 0 : syscall(SYS_read, fd, boot, sizeof boot);
	if (fd >= 0)
		syscall(SYS_close, fd);
	uint64_t namespace = control_time_namespace();
	if (length <= 0 || !namespace)
		return 0;
	/* FNV-1a: short, and the same on both sides of recording. */
	uint64_t hash = 0xcbf29ce484222325u;
	for (long i = 0; i < length; i++)
		hash = (hash ^ (uint8_t)boot[i]) * 0x100000001b3u;
	for (size_t i = 0; i < sizeof namespace; i++)
		hash = (hash ^ (uint8_t)(namespace >> 8 * i)) * 0x100000001b3u;
	return hash ? hash : 1;
}
