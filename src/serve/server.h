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
#include <time.h>

#include "serve/comparison.h"
#include "serve/worker.h"

enum { SERVER_TRACES = 2 };

/* The names, besides those of loopback, by which a browser may reach the server: those of machines
 * whose proxy leads here. */
struct origin_allowed {
	const char *const *hosts; /* without a port */
	uint32_t n;
};

struct server_options {
	struct view_trace *traces; /* an array of n_traces; the server locks its use */
	struct worker *workers;    /* by trace: the trace's worker */
	char *const *reports;      /* by trace: the path of the trace's file */
	uint32_t n_traces;
	struct comparison *comparison; /* of two traces; else NULL */
	uint16_t port;                 /* the port to listen on; 0: any free port */
	bool keep;                     /* server_wait goes on after the last page was closed */
	/* The secret of the address, VIEW_TOKEN hexadecimal digits; NULL: a new one is made. */
	const char *token;
	struct origin_allowed allowed;
	bool is_kept; /* the address will be the same at the next start: the page is told */
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
	/* by trace: the path of the trace's file; NULL: pieces cannot be had */
	char *const *reports;
	/* held while a piece is made: it takes much memory; set with 'reports' */
	pthread_mutex_t *pieces;
	uint32_t n;
	bool keep;
	bool is_kept; /* the address will be the same at the next start */
	bool is_inline;
	const char *const *left_out; /* what the self-contained page lacks: sentences, then NULL */
	struct comparison *comparison; /* of two traces; NULL: there is one trace only */
	struct turns *turns;           /* the lock of 'traces'; NULL: there is one thread only */
};
void requests_answer(const struct requests *requests, const struct request *request,
		     struct answer *answer);
/* Writes the identities of the traces, joined by dots: a page says by them what it shows. */
enum { REQUESTS_IDENTITIES = SERVER_TRACES * 17 };
void requests_identities(const struct requests *requests, char text[REQUESTS_IDENTITIES]);
/* Whether there is a request with this path, whatever its method. */
bool requests_has_path(const char *path);

/* origin.c: whether the Host and Origin of a request are those of this machine's loopback, or of a
 * proxy that is allowed. Another page that a browser shows, or a name that somebody pointed at
 * 127.0.0.1, has others. */
bool origin_may_ask(const char *host, const char *origin, const struct origin_allowed *allowed);
/* Whether this is the name of a host, without a port. */
bool origin_is_host_name(const char *name);

/* Whether nobody looks any more, so that a server that is not to be kept ends. Times are seconds of
 * one clock: now, of the last request (0: none yet), and of the last goodbye of a page that no
 * request followed (0: none). A page that fell silent without a goodbye sleeps with its machine, or
 * lost its tunnel: it is waited for much longer. */
bool server_is_left(time_t now, time_t last_request, time_t closed);

/* built_page.c: yields the page's HTML, which ends with 0. */
extern const char built_page[];
extern const char built_page_end[];

/* page_language.c: puts the page in the language in use, up to where data may stand in it;
 * yields the rest of it, up to built_page_end. NULL, and nothing is put: this build has no page,
 * only a text that says so. */
const char *page_language_begin(struct hwy_bytes *out);
/* gzip.c: adds a compressed copy to 'out'; false where the copy is not at least a tenth smaller. */
bool gzip(const void *bytes, size_t n, int level, struct hwy_bytes *out);

#endif
