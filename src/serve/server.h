/* server.h - the viewer's HTTP side: one page and its answers, on 127.0.0.1, behind a token.
 *
 *   struct server *server = server_start(options, err);
 *   server_wait(server); // until interrupted, or the last page has been gone for a while
 *   server_stop(server);
 *
 * No file of the machine can be reached: answers come from the open traces and the page inside the binary.
 * Requests that are too slow, too large or too many are ended.
 */
#ifndef HWY_SERVE_SERVER_H
#define HWY_SERVE_SERVER_H

#include <signal.h>

#include "serve/worker.h"

enum { SERVER_TRACES = 2 };

struct server_options {
	struct view_trace *traces; /* n_traces of them; the server locks their use */
	struct worker *workers;    /* parallel */
	char *const *reports;      /* likewise: the traces' files */
	uint32_t n_traces;
	uint16_t port;                   /* 0: any */
	bool keep;                       /* do not end when the last page has gone */
	const volatile sig_atomic_t *interrupted; /* server_wait ends when it is not 0 */
};

struct server;
struct server *server_start(const struct server_options *options, struct hwy_err *err);
const char *server_token(const struct server *server);
uint16_t server_port(const struct server *server);
void server_wait(struct server *server);
void server_stop(struct server *server);

/* ---- requests.c: what is asked, whoever asks ------------------------------------------------------------- */

struct request {
	const char *method, *path; /* after the token */
	const char *(*argument)(const struct request *request, const char *key); /* or NULL */
	void *from; /* for 'argument' */
	const uint8_t *body;
	size_t n_body;
};

struct answer {
	unsigned status;
	const char *type; /* NULL: no body */
	struct packed bytes;
};

struct requests {
	struct view_trace *traces;
	struct worker *workers;
	uint32_t n;
	bool keep;
	bool is_inline;
	const char *const *left_out; /* inline: sentences, ends with NULL */
	pthread_mutex_t *lock;       /* of the traces */
};
void request_answer(const struct requests *requests, const struct request *request,
		    struct answer *answer);
/* Whether the path is known, whatever the method. */
bool request_is_known(const char *path);

/* The page. */
extern const char view_page[];
extern const char view_page_end[];

/* gzip.c: a gzip'ed copy; false where it does not pay. */
bool gzip(const void *bytes, size_t n, int level, struct packed *out);

#endif
