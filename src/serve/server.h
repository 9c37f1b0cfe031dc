/* SPDX-License-Identifier: Apache-2.0 */
/* server.h - the viewer's HTTP side: one page and its answers, on 127.0.0.1, behind a token.
 *
 *   struct server *server = server_start(options, err);
 *   server_wait(server); // until interrupted, or the last page has been gone for a while
 *   server_stop(server);
 *
 * No file of the machine can be reached: answers come from the open traces and the page inside the
 * binary. Requests that are too slow, too large or too many are ended.
 */
#ifndef HWY_SERVE_SERVER_H
#define HWY_SERVE_SERVER_H

#include <signal.h>

#include "serve/worker.h"

enum { SERVER_TRACES = 2 };

struct server_options {
	struct view_trace *traces; /* an array of n_traces; the server locks its use */
	struct worker *workers;    /* by trace: the trace's worker */
	char *const *reports;      /* by trace: the path of the trace's file */
	uint32_t n_traces;
	uint16_t port; /* the port to listen on; 0: any free port */
	bool keep;     /* server_wait goes on after the last page was closed */
	/* server_wait ends once this number is not 0. */
	const volatile sig_atomic_t *interrupted;
	/* server_wait calls this function once, after the first request; may be NULL. */
	void (*on_first_page)(void);
};

struct server;
struct server *server_start(const struct server_options *options, struct hwy_err *err);
const char *server_token(const struct server *server);
uint16_t server_port(const struct server *server);
void server_wait(struct server *server);
void server_stop(struct server *server);

/* ---- requests.c: what is asked, whoever asks ------------------------------------------------- */

struct request {
	const char *method;
	const char *path; /* the part of the address after the token */
	/* Yields the value of an argument of the address, or NULL. */
	const char *(*argument)(const struct request *request, const char *key);
	/* Whether nobody waits for the answer any more; NULL: somebody always does. */
	bool (*is_abandoned)(const void *from);
	void *from; /* belongs to the caller: what 'argument' and 'is_abandoned' read */
	const uint8_t *body;
	size_t n_body;
};

struct answer {
	unsigned status;
	const char *type; /* the Content-Type; NULL: the answer has no body */
	struct hwy_bytes body;
};

struct requests {
	struct view_trace *traces;
	struct worker *workers;
	uint32_t n;
	bool keep;
	bool is_inline;
	const char *const *left_out; /* what the self-contained page lacks: sentences, then NULL */
	struct turns *turns;         /* the lock of 'traces'; NULL: there is one thread only */
};
void requests_answer(const struct requests *requests, const struct request *request,
		     struct answer *answer);
/* Whether there is a request with this path, whatever its method. */
bool requests_has_path(const char *path);

/* origin.c: whether the Host and Origin of a request are those of this machine's loopback. Another
 * page that a browser shows, or a name that somebody pointed at 127.0.0.1, has others. */
bool origin_may_ask(const char *host, const char *origin);

/* built_page.c: yields the page's HTML. */
extern const char built_page[];
extern const char built_page_end[];

/* gzip.c: adds a compressed copy to 'out'; false where the copy is not at least a tenth smaller. */
bool gzip(const void *bytes, size_t n, int level, struct hwy_bytes *out);

#endif
