/* SPDX-License-Identifier: Apache-2.0 */
/* view_address.c - the secret and the port of the viewer's address, kept so that links outlive a
 * server.
 *
 * A file that only its owner can read holds one line: the secret and, where --keep-address wrote
 * the file, the port. The secret is never taken from the command line, which every user of the
 * machine can read.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/cache.h"
#include "base/hash.h"
#include "cli/kit/cli.h"
#include "cli/view_process.h"

char *view_address_path(const struct cli_texts *files)
{
	char folder[PATH_MAX], *path = NULL;
	struct hwy_bytes key = {0};
	if (!hwy_cache_folder(folder, true) || access(folder, W_OK) != 0)
		cli_die("--keep-address: there is no cache folder that can be written to "
			"(XDG_CACHE_HOME, HOME)");
	for (uint32_t i = 0; i < files->n; i++) {
		char *real = realpath(files->texts[i], NULL);
		const char *name = real ? real : files->texts[i];
		hwy_bytes_put(&key, name, strlen(name) + 1);
		free(real);
	}
	if (asprintf(&path, "%s/view-%016llx.address", folder,
		     (unsigned long long)hwy_hash(key.bytes, key.n)) < 0)
		cli_die("out of memory");
	hwy_bytes_free(&key);
	return path;
}

/* Opens a file that nobody else can read; NULL where there is none yet. */
static FILE *open_private(const char *path)
{
	struct stat about;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && errno == ENOENT)
		return NULL;
	if (fd < 0 || fstat(fd, &about) != 0)
		cli_die("%s: %s", path, hwy_strerror(errno));
	if (!S_ISREG(about.st_mode))
		cli_die("%s: is not a file", path);
	if (about.st_uid != geteuid() || (about.st_mode & 077))
		cli_die("%s: others can read or change this secret: make it yours alone "
			"(chmod 600), or remove it",
			path);
	FILE *in = fdopen(fd, "r");
	if (!in)
		cli_die("%s: %s", path, hwy_strerror(errno));
	return in;
}

void view_address_read(const char *path, struct view_address *address)
{
	char line[128], end;
	unsigned port = 0;
	*address = (struct view_address){0};
	FILE *in = open_private(path);
	if (!in)
		return;
	bool has_line = fgets(line, sizeof line, in) != NULL;
	fclose(in);
	size_t n = has_line ? strspn(line, "0123456789abcdefABCDEF") : 0;
	if (n != VIEW_TOKEN || (line[n] && !isspace((unsigned char)line[n])))
		cli_die("%s: line 1: a secret of %d hexadecimal digits is expected "
			"(openssl rand -hex %d)",
			path, VIEW_TOKEN, VIEW_TOKEN / 2);
	int numbers = sscanf(line + n, "%u %c", &port, &end);
	if ((numbers != 1 && line[n + strspn(line + n, " \t\r\n")]) || port > UINT16_MAX)
		cli_die("%s: line 1: after the secret a port is expected, or nothing", path);
	memcpy(address->token, line, n);
	address->port = (uint16_t)port;
}

void view_address_write(const char *path, const struct view_address *address)
{
	struct cli_output output = cli_output_open(path, true);
	fprintf(output.out, "%s", address->token);
	if (address->port)
		fprintf(output.out, " %u", address->port);
	fputc('\n', output.out);
	cli_output_close(&output);
}
