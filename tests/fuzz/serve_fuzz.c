/* SPDX-License-Identifier: Apache-2.0 */
/* serve_fuzz.c - any request to the viewer's server: answered or refused, never a crash or a hang.
 *
 * The input is one request as HTTP writes it: "GET /TOKEN/span?id=5", lines with headers, an empty
 * line, the body. "@" as the first letter of the address stands for "/" and the right token.
 * libmicrohttpd is not asked: functions of this file stand in its place, and take the request
 * apart as it does. The server has two reports: the first with a diagnosis, the second, all of whose
 * lanes are read by parts, without one.
 */
#include "serve/server.c"

#include <assert.h>
#include <limits.h>

#include "trace/file.h"

#ifndef FUZZ_DATA
#error "FUZZ_DATA must name the folder of test data"
#endif

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { MOST_VALUES = 64 };

/* One request, taken apart. */
struct mhd_connection {
	struct value {
		int kind; /* MHD_HEADERS or MHD_ARGUMENTS */
		char *key, *text;
	} values[MOST_VALUES];
	uint32_t n;
	unsigned status; /* of the answer; 0: there is none yet */
};
struct mhd_response {
	void *bytes;
	size_t n;
};

/* ---- in the place of libmicrohttpd ----------------------------------------------------------- */

static const char *lookup(struct mhd_connection *connection, int kind, const char *key)
{
	for (uint32_t i = 0; i < connection->n; i++)
		if (connection->values[i].kind == kind &&
		    strcasecmp(connection->values[i].key, key) == 0)
			return connection->values[i].text;
	return NULL;
}

static struct mhd_response *respond(size_t n, void *bytes, int whose)
{
	struct mhd_response *response = malloc(sizeof *response);
	assert(whose == MHD_FREES && bytes);
	*response = (struct mhd_response){bytes, n};
	return response;
}

static int add_header(struct mhd_response *response, const char *name, const char *value)
{
	assert(response && !strpbrk(name, "\r\n:") && !strpbrk(value, "\r\n"));
	return MHD_IS_YES;
}

static int queue(struct mhd_connection *connection, unsigned status, struct mhd_response *response)
{
	/* Every byte of an answer is defined. */
	unsigned sum = 0;
	for (size_t i = 0; i < response->n; i++)
		sum += ((const uint8_t *)response->bytes)[i];
	assert(connection->status == 0 && status >= 200 && status < 600 && sum < UINT_MAX);
	connection->status = status;
	return MHD_IS_YES;
}

static void destroy(struct mhd_response *response)
{
	free(response->bytes);
	free(response);
}

static const void *inform(struct mhd_connection *connection, int what, ...)
{
	(void)connection;
	(void)what;
	return NULL;
}

static const struct mhd fake = {
	.lookup_connection_value = lookup,
	.create_response_from_buffer = respond,
	.add_response_header = add_header,
	.queue_response = queue,
	.destroy_response = destroy,
	.get_connection_info = inform,
};

/* ---- taking a request apart ------------------------------------------------------------------ */

/* Replaces %XX and, in arguments, '+'. */
static void unescape(char *text, bool is_argument)
{
	char *to = text;
	for (const char *from = text; *from; to++) {
		unsigned code;
		if (from[0] == '%' && from[1] && from[2] && sscanf(from + 1, "%2x", &code) == 1) {
			*to = (char)code;
			from += 3;
		} else {
			*to = *from == '+' && is_argument ? ' ' : *from;
			from++;
		}
	}
	*to = '\0';
}

static void add_value(struct mhd_connection *connection, int kind, char *key, char *text)
{
	if (connection->n < MOST_VALUES)
		connection->values[connection->n++] = (struct value){kind, key, text};
}

static void read_arguments(struct mhd_connection *connection, char *text)
{
	for (char *one; (one = strsep(&text, "&"));) {
		char *value = strchr(one, '=');
		if (value)
			*value++ = '\0';
		unescape(one, true);
		if (value)
			unescape(value, true);
		add_value(connection, MHD_ARGUMENTS, one, value);
	}
}

/* Reads header lines up to the empty one; yields the body. */
static char *read_headers(struct mhd_connection *connection, char *text)
{
	while (text && *text) {
		char *line = strsep(&text, "\n");
		if (!*line)
			return text;
		char *value = strchr(line, ':');
		if (!value)
			continue;
		*value++ = '\0';
		add_value(connection, MHD_HEADERS, line, value + strspn(value, " "));
	}
	return text;
}

/* ---- the server ------------------------------------------------------------------------------ */

static void open_view(struct view_trace *view, const char *name)
{
	char path[4096];
	struct hwy_err err;
	snprintf(path, sizeof path, "%s/gpu/%s", FUZZ_DATA, name);
	struct hwy_trace *trace = hwy_file_open(path, &err);
	if (!trace || !view_open(view, trace, name, &err))
		abort();
}

static void make_diagnosis(struct worker *worker, const struct view_trace *view)
{
	static struct hwy_analysis analysis;
	static struct hwy_diagnosis diagnosis;
	static const struct analysis_options options;
	struct hwy_err err;
	if (!analysis_make(&analysis, view->trace, &options, &err) ||
	    !diagnose(&analysis, &diagnosis, &err))
		abort();
	worker_here(worker, &analysis, &diagnosis, view->origin, "{}", NULL);
}

static struct server *the_server(void)
{
	static struct view_trace views[2];
	static struct worker workers[2];
	static struct server server;
	if (server.mhd)
		return &server;
	open_view(&views[0], "priority_same.hwy");
	open_view(&views[1], "mlp_sync.hwy");
	views[0].whole_spans = UINT64_MAX; /* the analysis loads all columns: none may be freed */
	views[1].whole_spans = 0;
	views[0].turns = views[1].turns = &server.traces;
	make_diagnosis(&workers[0], &views[0]);
	pthread_mutex_init(&workers[1].lock, NULL);
	pthread_cond_init(&workers[1].changed, NULL);
	turns_init(&server.traces);
	pthread_mutex_init(&server.lock, NULL);
	server.requests = (struct requests){
		.traces = views, .workers = workers, .n = 2, .turns = &server.traces};
	memset(server.token, 'a', VIEW_TOKEN);
	server.mhd = &fake;
	return &server;
}

static void ask(struct server *server, struct mhd_connection *connection, const char *url,
		const char *method, const char *body, size_t n_body)
{
	void *request = NULL;
	size_t none = 0, first = n_body / 2, rest = n_body - first;
	on_request(server, connection, url, method, "HTTP/1.1", NULL, &none, &request);
	if (!connection->status && first)
		on_request(server, connection, url, method, "HTTP/1.1", body, &first, &request);
	if (!connection->status && rest)
		on_request(server, connection, url, method, "HTTP/1.1", body + n_body / 2, &rest,
			   &request);
	if (!connection->status)
		on_request(server, connection, url, method, "HTTP/1.1", NULL, &none, &request);
	assert(connection->status);
	on_completed(server, connection, &request, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct mhd_connection connection = {0};
	char *text = malloc(size + 1), *url = NULL;
	memcpy(text, bytes, size);
	text[size] = '\0';
	char *rest = text, *line = strsep(&rest, "\n");
	char *address = line, *method = strsep(&address, " ");
	char *body = rest ? read_headers(&connection, rest) : NULL;
	char *arguments = address;
	address = arguments ? strsep(&arguments, "?") : NULL;
	if (address && address[0] == '@') {
		size_t room = strlen(address) + VIEW_TOKEN + 2;
		url = malloc(room);
		snprintf(url, room, "/%s/%s", the_server()->token, address + 1);
	} else if (address) {
		url = strdup(address);
	}
	if (url) {
		unescape(url, false);
		if (arguments)
			read_arguments(&connection, arguments);
		ask(the_server(), &connection, url, method, body,
		    body ? size - (size_t)(body - text) : 0);
	}
	free(url);
	free(text);
	return 0;
}
