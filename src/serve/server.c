/* SPDX-License-Identifier: Apache-2.0 */
/* server.c - see server.h. libmicrohttpd reads requests, on a thread for each connection, so
 * that an answer that takes long keeps nobody else waiting; this file decides who may ask. */
#include "serve/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <malloc.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "serve/mhd.h"
#include "serve/read_ahead.h"
#include "serve/tiles.h"

enum {
	/* Connections beyond are refused at once, so there is room for many: FILES is the limit of
	 * open files that the server asks for, and FEW_CONNECTIONS fit the usual one of 1024. */
	FEW_CONNECTIONS = 800,
	CONNECTIONS = 3000,
	FILES = 4096,
	MANY = 200,            /* where more connections are open, HASTY_S holds for new ones */
	STACK_BYTES = 1 << 20, /* stack of the thread of a connection */
	ARENAS = 2, /* heaps of malloc: with one for each thread, much free memory would be held */
	/* A connection is ended after so many seconds. */
	IDLE_S = 15,    /* seconds without a byte, measured by libmicrohttpd */
	SLOW_S = 40,    /* seconds without a whole request, measured by this file */
	STRANGE_S = 10, /* seconds without a first whole request */
	HASTY_S = 2,    /* the same while more than MANY connections are open */
	/* Seconds after which server_wait ends. */
	GONE_S = 60, /* seconds since the last page was closed */
	/* Seconds since the last request without a goodbye: longer than a night in which the
	 * browser's machine sleeps. */
	SILENT_S = 12 * 3600,
	GZIP_FROM_BYTES = 1024,      /* answers shorter than this are not compressed */
	GZIP_WELL_BYTES = 64 * 1024, /* answers up to this are compressed well: about a ms each */
	CONNECTION_BYTES = 64 << 10, /* memory for a connection's address and headers */
};

/* An open connection; server.lock guards the list of connections. */
struct connection {
	int fd;
	time_t since;     /* when the connection was opened or ended its last request */
	bool has_request; /* the server has answered a request of this connection */
	bool is_working;  /* the server works for the answer: the client is not to blame */
	struct connection *next, **before;
};

struct server {
	const struct mhd *mhd;
	struct mhd_daemon *daemon;
	struct server_options options;
	char token[VIEW_TOKEN + 1];
	/* identities of the traces; a page sends those that it shows */
	char identities[REQUESTS_IDENTITIES];
	uint16_t port;
	int socket;
	struct turns traces; /* a thread holds this lock while it reads a trace */
	struct requests requests;
	pthread_mutex_t pieces; /* a thread holds this lock while it makes a piece of a report */
	struct read_ahead *reader;
	pthread_mutex_t lock; /* guards the members below */
	struct connection *connections;
	time_t last_request;  /* time of a page's last request; 0: none yet */
	time_t closed;        /* when a page reported that it was closed; 0: a request came later */
	bool first_picture;   /* whether a page has requested tiles */
	bool told_first_page; /* options.on_first_page was called */
	bool ending;
};

/* The clock stands still while this machine sleeps, so a server that slept ends nothing at once. */
static time_t seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* ---- who may ask ----------------------------------------------------------------------------- */

/* Yields the path after the token, or NULL where the token is wrong. A wrong token takes as long as
 * the right one, so that time does not help to guess it. */
static const char *after_token(const struct server *server, const char *url)
{
	unsigned differ = 0;
	if (strnlen(url, VIEW_TOKEN + 2) < VIEW_TOKEN + 2)
		return NULL;
	for (int i = 0; i < VIEW_TOKEN; i++)
		differ |= (unsigned)(server->token[i] ^ url[i + 1]);
	return url[0] == '/' && url[VIEW_TOKEN + 1] == '/' && !differ ? url + VIEW_TOKEN + 2 : NULL;
}

/* Yields the HTTP status with which the request is refused; 0: the request is allowed. */
static unsigned refusal(const struct server *server, struct mhd_connection *connection,
			const char *url, const char *method)
{
	const struct mhd *mhd = server->mhd;
	const char *host = mhd->lookup_connection_value(connection, MHD_HEADERS, "Host");
	const char *origin = mhd->lookup_connection_value(connection, MHD_HEADERS, "Origin");
	if (!origin_may_ask(host, origin, &server->options.allowed))
		return 403;
	const char *path = after_token(server, url);
	if (!path || !requests_has_path(path))
		return 404;
	const char *shown =
		mhd->lookup_connection_value(connection, MHD_HEADERS, "X-Headway-Recordings");
	if (shown && strcmp(shown, server->identities) != 0)
		return 409;
	return strcmp(method, "GET") == 0 || strcmp(method, "POST") == 0 ? 0 : 405;
}

/* ---- answering ------------------------------------------------------------------------------- */

/* A request whose body libmicrohttpd delivers in parts. */
struct incoming {
	struct server *server;
	struct mhd_connection *connection;
	struct hwy_bytes body;
	bool is_too_large;
};

/* Compresses the body of an answer where the page accepts gzip and the body becomes smaller. */
static bool compress_body(const struct server *server, struct mhd_connection *connection,
			  struct answer *answer)
{
	const char *accepts =
		server->mhd->lookup_connection_value(connection, MHD_HEADERS, "Accept-Encoding");
	struct hwy_bytes small = {0};
	if (answer->body.n < GZIP_FROM_BYTES || !accepts || !strstr(accepts, "gzip"))
		return false;
	/* The page's scripts are asked for once and are the largest thing in a session; small
	 * answers are the rest of what the first picture waits for. Large ones cost time at a
	 * high level, and are asked for all the time. */
	bool is_script = answer->type && strncmp(answer->type, "text/", 5) == 0;
	int level = is_script || answer->body.n <= GZIP_WELL_BYTES ? 6 : 1;
	bool is_smaller = gzip(answer->body.bytes, answer->body.n, level, &small);
	hwy_bytes_free(is_smaller ? &answer->body : &small);
	if (is_smaller)
		answer->body = small;
	return is_smaller;
}

static int server_send_answer(const struct server *server, struct mhd_connection *connection,
			      struct answer *answer)
{
	static const char *const headers[][2] = {
		{"Cache-Control", "no-store"},
		{"X-Content-Type-Options", "nosniff"},
		{"X-Frame-Options", "DENY"},
		{"Referrer-Policy", "same-origin"},
		{"Cross-Origin-Resource-Policy", "same-origin"},
		{"Content-Security-Policy",
		 "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
		 "img-src data: blob:; connect-src 'self'; worker-src blob:; base-uri 'none'; "
		 "form-action 'none'; frame-ancestors 'none'"},
	};
	const struct mhd *mhd = server->mhd;
	bool is_compressed = compress_body(server, connection, answer);
	/* libmicrohttpd frees the body, so even an empty body needs memory. */
	if (!answer->body.bytes)
		hwy_bytes_reserve(&answer->body, 1);
	struct mhd_response *response =
		mhd->create_response_from_buffer(answer->body.n, answer->body.bytes, MHD_FREES);
	if (!response) {
		free(answer->body.bytes);
		return MHD_IS_NO;
	}
	for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
		mhd->add_response_header(response, headers[i][0], headers[i][1]);
	if (answer->type)
		mhd->add_response_header(response, "Content-Type", answer->type);
	if (is_compressed)
		mhd->add_response_header(response, "Content-Encoding", "gzip");
	int queued = mhd->queue_response(connection, answer->status, response);
	mhd->destroy_response(response);
	return queued;
}

static int send_status(const struct server *server, struct mhd_connection *connection,
		       unsigned status)
{
	struct answer answer = {.status = status};
	return server_send_answer(server, connection, &answer);
}

static const char *http_argument(const struct request *request, const char *key)
{
	const struct incoming *incoming = request->from;
	return incoming->server->mhd->lookup_connection_value(incoming->connection, MHD_ARGUMENTS,
							      key);
}

/* Notes that a page is open, or that it was closed. Called only for requests that were not
 * refused. */
static void note_page(struct server *server, const char *path)
{
	pthread_mutex_lock(&server->lock);
	if (strcmp(path, "bye") == 0) {
		server->closed = seconds();
	} else {
		server->last_request = seconds();
		server->closed = 0;
	}
	server->first_picture |= strcmp(path, "tiles") == 0;
	pthread_mutex_unlock(&server->lock);
}

static bool is_ending(struct server *server)
{
	pthread_mutex_lock(&server->lock);
	bool ending = server->ending;
	pthread_mutex_unlock(&server->lock);
	return ending;
}

static int connection_fd(const struct server *server, struct mhd_connection *connection)
{
	const int *fd = server->mhd->get_connection_info(connection, MHD_INFO_FD);
	return fd ? *fd : -1;
}

/* Whether the server ends, or the client has closed its side of the connection. */
static bool is_abandoned(const void *from)
{
	const struct incoming *incoming = from;
	struct pollfd peer = {.fd = connection_fd(incoming->server, incoming->connection),
			      .events = POLLRDHUP};
	return is_ending(incoming->server) || poll(&peer, 1, 0) > 0;
}

/* Notes on a connection that the server begins or ends the work for an answer, or has answered. */
static void note_work(struct server *server, struct mhd_connection *connection, bool is_working,
		      bool has_request)
{
	int fd = connection_fd(server, connection);
	pthread_mutex_lock(&server->lock);
	for (struct connection *one = server->connections; one; one = one->next)
		if (one->fd == fd) {
			one->since = seconds();
			one->is_working = is_working;
			one->has_request |= has_request;
		}
	pthread_mutex_unlock(&server->lock);
}

static int on_request(void *cls, struct mhd_connection *connection, const char *url,
		      const char *method, const char *version, const char *body, size_t *n,
		      void **request)
{
	struct server *server = cls;
	struct incoming *incoming = *request;
	(void)version;
	if (!incoming) {
		unsigned status = refusal(server, connection, url, method);
		incoming = *request = hwy_zalloc(sizeof *incoming);
		incoming->server = server;
		incoming->connection = connection;
		return status ? send_status(server, connection, status) : MHD_IS_YES;
	}
	if (*n > 0) {
		if (incoming->body.n + *n > VIEW_BODY)
			incoming->is_too_large = true;
		else
			hwy_bytes_put(&incoming->body, body, *n);
		*n = 0;
		return MHD_IS_YES;
	}
	if (incoming->is_too_large)
		return send_status(server, connection, 413);
	const char *path = after_token(server, url);
	if (!path) /* cannot happen: refusal() has answered a wrong token at the first call */
		return send_status(server, connection, 404);
	struct request asked = {
		.method = method,
		.path = path,
		.argument = http_argument,
		.is_abandoned = is_abandoned,
		.from = incoming,
		.body = incoming->body.bytes,
		.n_body = incoming->body.n,
	};
	struct answer answer;
	note_page(server, path);
	note_work(server, connection, true, false);
	requests_answer(&server->requests, &asked, &answer);
	note_work(server, connection, false, false);
	return server_send_answer(server, connection, &answer);
}

/* ---- connections ----------------------------------------------------------------------------- */

static void on_connection(void *cls, struct mhd_connection *connection, void **context, int what)
{
	struct server *server = cls;
	struct connection *one = *context;
	pthread_mutex_lock(&server->lock);
	if (what == MHD_STARTED) {
		one = *context = hwy_zalloc(sizeof *one);
		one->fd = connection_fd(server, connection);
		one->since = seconds();
		one->next = server->connections;
		one->before = &server->connections;
		if (one->next)
			one->next->before = &one->next;
		server->connections = one;
	} else if (one) {
		*one->before = one->next;
		if (one->next)
			one->next->before = one->before;
		free(one);
	}
	pthread_mutex_unlock(&server->lock);
}

static void on_completed(void *cls, struct mhd_connection *connection, void **request, int how)
{
	struct server *server = cls;
	struct incoming *incoming = *request;
	(void)how;
	note_work(server, connection, false, incoming != NULL);
	if (incoming)
		free(incoming->body.bytes);
	free(incoming);
	*request = NULL;
}

/* Ends connections that send a byte now and then but no whole request: each would hold a place
 * for ever. */
static void end_slow_ones(struct server *server)
{
	time_t now = seconds();
	uint32_t n = 0;
	pthread_mutex_lock(&server->lock);
	for (struct connection *one = server->connections; one; one = one->next)
		n++;
	time_t strange = n > MANY ? HASTY_S : STRANGE_S;
	for (struct connection *one = server->connections; one; one = one->next)
		if (now - one->since > (one->has_request ? SLOW_S : strange) && one->fd >= 0 &&
		    !one->is_working)
			shutdown(one->fd, SHUT_RDWR);
	pthread_mutex_unlock(&server->lock);
}

/* ---- starting and ending --------------------------------------------------------------------- */

static bool reader_is_over(const void *from)
{
	return is_ending((struct server *)from);
}

static bool has_first_picture(void *from)
{
	struct server *server = from;
	pthread_mutex_lock(&server->lock);
	bool has_picture = server->first_picture;
	pthread_mutex_unlock(&server->lock);
	return has_picture;
}

static bool make_token(struct server *server, struct hwy_err *err)
{
	uint8_t random[VIEW_TOKEN / 2];
	if (server->options.token) {
		memcpy(server->token, server->options.token, VIEW_TOKEN);
		return true;
	}
	if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
		return hwy_fail(err, "no random numbers: %s", hwy_strerror(errno));
	for (size_t i = 0; i < sizeof random; i++) {
		server->token[2 * i] = "0123456789abcdef"[random[i] >> 4];
		server->token[2 * i + 1] = "0123456789abcdef"[random[i] & 15];
	}
	return true;
}

static bool listen_here(struct server *server, struct hwy_err *err)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons(server->options.port)};
	socklen_t n = sizeof address;
	int yes = 1;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	server->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (server->socket < 0)
		return hwy_fail(err, "no socket: %s", hwy_strerror(errno));
	setsockopt(server->socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (bind(server->socket, (struct sockaddr *)&address, sizeof address) != 0 ||
	    listen(server->socket, CONNECTIONS) != 0 ||
	    getsockname(server->socket, (struct sockaddr *)&address, &n) != 0) {
		hwy_fail(err, "cannot listen on 127.0.0.1:%u: %s", server->options.port,
			 hwy_strerror(errno));
		close(server->socket);
		return false;
	}
	server->port = ntohs(address.sin_port);
	return true;
}

/* Raises the limit of open files where that is allowed; yields how many connections fit into it. */
static unsigned connections_that_fit(void)
{
	struct rlimit files;
	if (getrlimit(RLIMIT_NOFILE, &files) != 0)
		return FEW_CONNECTIONS;
	if (files.rlim_cur < FILES && files.rlim_max >= FILES) {
		files.rlim_cur = FILES;
		if (setrlimit(RLIMIT_NOFILE, &files) != 0)
			return FEW_CONNECTIONS;
	}
	return files.rlim_cur >= FILES ? CONNECTIONS : FEW_CONNECTIONS;
}

static bool start_daemon(struct server *server, struct hwy_err *err)
{
	server->daemon = server->mhd->start_daemon(
		MHD_INTERNAL_THREAD | MHD_THREAD_PER_CONNECTION | MHD_POLL | MHD_ITC, 0, NULL, NULL,
		on_request, server, MHD_LISTEN_SOCKET, server->socket, MHD_CONNECTION_LIMIT,
		connections_that_fit(), MHD_TIMEOUT, (unsigned)IDLE_S, MHD_MEMORY_LIMIT,
		(size_t)CONNECTION_BYTES, MHD_STACK_SIZE, (size_t)STACK_BYTES, MHD_COMPLETED,
		on_completed, server, MHD_CONNECTION_NOTIFY, on_connection, server, MHD_END);
	if (server->daemon)
		return true;
	close(server->socket);
	return hwy_fail(err, "libmicrohttpd did not start");
}

struct server *server_start(const struct server_options *options, struct hwy_err *err)
{
	const struct mhd *mhd = mhd_open();
	if (!mhd) {
		hwy_fail(err, "the viewer needs libmicrohttpd (Debian, Ubuntu: apt-get install "
			      "libmicrohttpd12)");
		return NULL;
	}
	struct server *server = hwy_zalloc(sizeof *server);
	server->mhd = mhd;
	server->options = *options;
	turns_init(&server->traces);
	pthread_mutex_init(&server->lock, NULL);
	pthread_mutex_init(&server->pieces, NULL);
	server->requests = (struct requests){
		.traces = options->traces,
		.workers = options->workers,
		.reports = options->reports,
		.pieces = &server->pieces,
		.n = options->n_traces,
		.comparison = options->comparison,
		.keep = options->keep,
		.is_kept = options->is_kept,
		.turns = &server->traces,
	};
	requests_identities(&server->requests, server->identities);
	mallopt(M_ARENA_MAX, ARENAS);
	for (uint32_t t = 0; t < options->n_traces; t++)
		options->traces[t].turns = &server->traces;
	if (!make_token(server, err) || !listen_here(server, err) || !start_daemon(server, err)) {
		free(server);
		return NULL;
	}
	server->reader = read_ahead_start(&(struct read_ahead_options){
		.traces = options->traces,
		.reports = options->reports,
		.n = options->n_traces,
		.turns = &server->traces,
		.is_over = reader_is_over,
		.has_first_picture = has_first_picture,
		.from = server,
	});
	return server;
}

const char *server_token(const struct server *server)
{
	return server->token;
}

uint16_t server_port(const struct server *server)
{
	return server->port;
}

bool server_is_left(time_t now, time_t last_request, time_t closed)
{
	return (closed && now - closed > GONE_S) || (last_request && now - last_request > SILENT_S);
}

static bool is_alone(struct server *server)
{
	pthread_mutex_lock(&server->lock);
	bool alone = server_is_left(seconds(), server->last_request, server->closed);
	pthread_mutex_unlock(&server->lock);
	return alone && !server->options.keep;
}

static void tell_first_page(struct server *server)
{
	pthread_mutex_lock(&server->lock);
	bool is_first = server->last_request && !server->told_first_page;
	server->told_first_page |= is_first;
	pthread_mutex_unlock(&server->lock);
	if (is_first && server->options.on_first_page)
		server->options.on_first_page();
}

void server_wait(struct server *server)
{
	while (!*server->options.interrupted && !is_alone(server)) {
		usleep(200000);
		end_slow_ones(server);
		tell_first_page(server);
	}
}

void server_stop(struct server *server)
{
	pthread_mutex_lock(&server->lock);
	server->ending = true;
	pthread_mutex_unlock(&server->lock);
	server->mhd->stop_daemon(server->daemon);
	read_ahead_end(server->reader);
	free(server);
}
