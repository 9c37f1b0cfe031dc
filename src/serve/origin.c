/* SPDX-License-Identifier: Apache-2.0 */
/* origin.c - from which pages requests may come: see origin_may_ask in server.h. */
#include <string.h>
#include <strings.h>

#include "serve/server.h"

static bool host_is_ours(const char *host)
{
	static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
	for (size_t i = 0; host && i < sizeof names / sizeof *names; i++) {
		size_t n = strlen(names[i]);
		if (strncasecmp(host, names[i], n) != 0)
			continue;
		if (host[n] == 0)
			return true;
		size_t digits = host[n] == ':' ? strspn(host + n + 1, "0123456789") : 0;
		if (digits > 0 && digits <= 5 && host[n + 1 + digits] == 0)
			return true;
	}
	return false;
}

/* Whether the request comes from a page of the same host and port. A tunnel changes the port of
 * both alike. */
static bool origin_is_ours(const char *origin, const char *host)
{
	return !origin ||
	       (strncasecmp(origin, "http://", 7) == 0 && strcasecmp(origin + 7, host) == 0);
}

bool origin_may_ask(const char *host, const char *origin)
{
	return host_is_ours(host) && origin_is_ours(origin, host);
}
