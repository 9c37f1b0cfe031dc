/* SPDX-License-Identifier: Apache-2.0 */
/* server.c - see server.h. libmicrohttpd reads requests, on a thread for each connection, so that an
 * answer that takes long keeps nobody else waiting; this file decides who may ask. */
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
#include "serve/tiles.h"
#include "trace/file.h"

enum {
	/* Connections beyond are refused at once, so there is room for many: FILES is the limit of
	 * open files that the server asks for, and FEW_CONNECTIONS fit the usual one of 1024. */
	FEW_CONNECTIONS = 800,
	CONNECTIONS = 3000,
	FILES = 4096,
	MANY = 200,            /* connections above which strangers are ended after HASTY_S */
	STACK_BYTES = 1 << 20, /* stack of the thread of a connection */
	ARENAS = 2, /* heaps of malloc: one for each thread would hold much free memory */
	/* A connection is ended after so many seconds. */
	IDLE_S = 15,    /* seconds without a byte, measured by libmicrohttpd */
	SLOW_S = 40,    /* seconds without a whole request, measured by this file */
	STRANGE_S = 10, /* seconds without a first whole request */
	HASTY_S = 2,    /* STRANGE_S while more than MANY are open */
	/* Seconds after which server_wait ends. */
	GONE_S = 60, /* seconds since the last page was closed */
	/* Seconds since the last request: browsers let a hidden page make a request only once a
	 * minute. */
	SILENT_S = 150,
	GZIP_FROM_BYTES = 1024,      /* answers shorter than this are not compressed */
	CONNECTION_BYTES = 64 << 10, /* memory for a connection's address and headers */
	WARMED_SPANS = 8000000,      /* spans that are read ahead, about ten bytes each */
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
	uint16_t port;
	int socket;
	struct turns traces; /* a thread holds this lock while it reads a trace */
	struct requests requests;
	pthread_t reader; /* the thread that reads ahead */
	bool is_reading;
	pthread_mutex_t lock; /* guards the members below */
	struct connection *connections;
	time_t last_request;  /* time of a page's last request; 0: none yet */
	time_t closed;        /* when a page reported that it was closed; 0: a request came later */
	bool first_picture;   /* whether a page has requested tiles */
	bool told_first_page; /* options.on_first_page was called */
	bool ending;
};

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
	if (!origin_may_ask(host, origin))
		return 403;
	const char *path = after_token(server, url);
	if (!path || !requests_has_path(path))
		return 404;
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
	bool is_smaller = gzip(answer->body.bytes, answer->body.n, 1, &small);
	hwy_bytes_free(is_smaller ? &answer->body : &small);
	if (is_smaller)
		answer->body = small;
	return is_smaller;
}

static int send_answer(const struct server *server, struct mhd_connection *connection,
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
	return send_answer(server, connection, &answer);
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
	if (!path) /* never so: refusal() answered a wrong token at the first call */
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
	return send_answer(server, connection, &answer);
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

/* ---- reading ahead --------------------------------------------------------------------------- */

static bool reader_is_over(const void *from)
{
	return is_ending((struct server *)from);
}

/* Notes whether requests may wait for the thread that reads ahead to make the unions of a trace. */
static void note_read_ahead(struct server *server, struct view_trace *view, bool comes)
{
	struct turn turn = {0};
	struct hwy_err err;
	turns_begin(&server->traces, &turn, &err);
	view->has_read_ahead = comes;
	turns_end(&server->traces);
}

/* Makes the unions of the devices. That goes through all their spans, so it is done on a second
 * view of the report: no request waits for it, and its memory is given back. */
static void read_ahead_devices(struct server *server, uint32_t number)
{
	struct view_trace *view = &server->options.traces[number], own;
	struct hwy_err err;
	struct hwy_trace *trace = hwy_file_open(server->options.reports[number], &err);
	if (!trace) {
		note_read_ahead(server, view, false);
		return;
	}
	bool ok = trace->n_spans == view->trace->n_spans && view_open(&own, trace, "", &err);
	/* Nobody else uses the second view; its lock is there to give up when the server ends. */
	struct turns alone;
	struct turn whole = {.is_abandoned = reader_is_over, .from = server, .is_unlimited = true};
	turns_init(&alone);
	if (ok) {
		own.turns = &alone;
		own.whole_spans = UINT64_MAX;
		ok = turns_begin(&alone, &whole, &err);
		if (!ok)
			view_close(&own);
	}
	for (uint32_t d = 0; ok && d < view_unions(view) && !is_ending(server); d++) {
		if (!hardware_need(&own, d, &err))
			continue;
		struct turn turn = {.is_abandoned = reader_is_over, .from = server};
		if (!turns_begin(&server->traces, &turn, &err))
			break;
		hardware_take(view, &own, d);
		turns_end(&server->traces);
	}
	if (ok)
		turns_end(&alone);
	note_read_ahead(server, view, false);
	if (ok)
		view_close(&own);
	hwy_trace_free(trace);
	malloc_trim(0);
}

/* Whether it is time to read ahead: a page has asked for its first picture, or a request waits for
 * the unions of the devices. */
static bool is_time_to_read(struct server *server)
{
	struct turn turn = {.is_abandoned = reader_is_over, .from = server};
	struct hwy_err err;
	pthread_mutex_lock(&server->lock);
	bool is_time = server->first_picture;
	pthread_mutex_unlock(&server->lock);
	if (is_time || !turns_begin(&server->traces, &turn, &err))
		return is_time;
	for (uint32_t t = 0; t < server->options.n_traces; t++)
		is_time |= server->options.traces[t].wants_devices;
	turns_end(&server->traces);
	return is_time;
}

static void read_ahead_lanes(struct server *server, struct view_trace *view, uint64_t *warmed)
{
	struct hwy_err err;
	for (uint32_t l = 0; l < view->trace->n_lanes; l++) {
		struct turn turn = {.is_abandoned = reader_is_over, .from = server};
		if (view->lanes[l].n == 0 || view->trace->lanes[l].type == HWY_LANE_COUNTER ||
		    view->lanes[l].spans > view->whole_spans ||
		    *warmed + view->lanes[l].spans > WARMED_SPANS)
			continue;
		*warmed += view->lanes[l].spans;
		if (!turns_begin(&server->traces, &turn, &err))
			return;
		view_need(view, l, 0, 0, 0, &err);
		turns_end(&server->traces);
		usleep(1000);
	}
}

/* Reads ahead, lane by lane, so that no request waits for long. An error is not told here: it comes
 * again when a page asks for the same lane. */
static void *read_ahead(void *argument)
{
	struct server *server = argument;
	uint64_t warmed = 0;
	while (!is_ending(server) && !is_time_to_read(server))
		usleep(50000);
	for (uint32_t t = 0; t < server->options.n_traces && !is_ending(server); t++) {
		read_ahead_devices(server, t);
		read_ahead_lanes(server, &server->options.traces[t], &warmed);
	}
	return NULL;
}

/* ---- starting and ending --------------------------------------------------------------------- */

static bool make_token(struct server *server, struct hwy_err *err)
{
	uint8_t random[VIEW_TOKEN / 2];
	if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
		return hwy_fail(err, "no random numbers: %s", strerror(errno));
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
		return hwy_fail(err, "no socket: %s", strerror(errno));
	setsockopt(server->socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
	if (bind(server->socket, (struct sockaddr *)&address, sizeof address) != 0 ||
	    listen(server->socket, CONNECTIONS) != 0 ||
	    getsockname(server->socket, (struct sockaddr *)&address, &n) != 0) {
		hwy_fail(err, "cannot listen on 127.0.0.1:%u: %s", server->options.port,
			 strerror(errno));
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
	server->requests = (struct requests){
		.traces = options->traces,
		.workers = options->workers,
		.n = options->n_traces,
		.keep = options->keep,
		.turns = &server->traces,
	};
	mallopt(M_ARENA_MAX, ARENAS);
	for (uint32_t t = 0; t < options->n_traces; t++)
		options->traces[t].turns = &server->traces;
	if (!make_token(server, err) || !listen_here(server, err) || !start_daemon(server, err)) {
		free(server);
		return NULL;
	}
	for (uint32_t t = 0; t < options->n_traces; t++)
		note_read_ahead(server, &options->traces[t], true);
	server->is_reading = pthread_create(&server->reader, NULL, read_ahead, server) == 0;
	for (uint32_t t = 0; !server->is_reading && t < options->n_traces; t++)
		note_read_ahead(server, &options->traces[t], false);
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

static bool is_alone(struct server *server)
{
	time_t now = seconds();
	pthread_mutex_lock(&server->lock);
	bool alone = (server->closed && now - server->closed > GONE_S) ||
		     (server->last_request && now - server->last_request > SILENT_S);
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
	if (server->is_reading)
		pthread_join(server->reader, NULL);
	free(server);
}
