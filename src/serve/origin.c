/* SPDX-License-Identifier: Apache-2.0 */
/* origin.c - from which pages requests may come: see origin_may_ask in server.h. */
#include <string.h>
#include <strings.h>

#include "serve/server.h"

/* Whether 'host' is the name, with any port or none. */
static bool host_is(const char *host, const char *name)
{
	size_t n = strlen(name);
	if (strncasecmp(host, name, n) != 0)
		return false;
	if (host[n] == 0)
		return true;
	size_t digits = host[n] == ':' ? strspn(host + n + 1, "0123456789") : 0;
	return digits > 0 && digits <= 5 && host[n + 1 + digits] == 0;
}

static bool host_is_loopback(const char *host)
{
	static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (host_is(host, names[i]))
			return true;
	return false;
}

static bool host_is_allowed(const char *host, const struct origin_allowed *allowed)
{
	for (uint32_t i = 0; i < allowed->n; i++)
		if (host_is(host, allowed->hosts[i]))
			return true;
	return false;
}

/* Yields the host and port of an Origin with this scheme ("http://"), or NULL. */
static const char *after_scheme(const char *origin, const char *scheme)
{
	size_t n = strlen(scheme);
	return strncasecmp(origin, scheme, n) == 0 ? origin + n : NULL;
}

/* Without a proxy the Origin of our page has the host and port of the request; a tunnel changes
 * the port of both alike. A proxy may speak https to the browser and may send another Host than
 * the browser did, so for an allowed proxy only the name in the Origin counts. */
static bool origin_is_ours(const char *origin, const char *host,
			   const struct origin_allowed *allowed)
{
	const char *plain = after_scheme(origin, "http://");
	const char *secure = after_scheme(origin, "https://");
	if (plain && host_is_loopback(host) && strcasecmp(plain, host) == 0)
		return true;
	return (plain && host_is_allowed(plain, allowed)) ||
	       (secure && host_is_allowed(secure, allowed));
}

bool origin_may_ask(const char *host, const char *origin, const struct origin_allowed *allowed)
{
	if (!host || (!host_is_loopback(host) && !host_is_allowed(host, allowed)))
		return false;
	return !origin || origin_is_ours(origin, host, allowed);
}

bool origin_is_host_name(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789.-_";
	size_t n = strlen(name), ok = strspn(name, letters);
	return n > 0 && n <= 253 && ok == n;
}
