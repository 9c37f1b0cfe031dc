/* SPDX-License-Identifier: Apache-2.0 */
/* mhd.h - what we use of libmicrohttpd (0.9.71 and later, ABI 12), declared by ourselves so that
 * neither building nor starting headway needs it. tests/unit/serve_test.c holds it against the real
 * header where that is present.
 */
#ifndef HWY_SERVE_MHD_H
#define HWY_SERVE_MHD_H

#include <stddef.h>
#include <stdint.h>

struct mhd_daemon;
struct mhd_connection;
struct mhd_response;

enum { MHD_IS_NO, MHD_IS_YES };
enum { /* flags of libmicrohttpd's daemon */
       MHD_THREAD_PER_CONNECTION = 4,
       MHD_INTERNAL_THREAD = 8,
       MHD_POLL = 64,
       MHD_ITC = 1024,
};
enum { /* options of libmicrohttpd's daemon */
       MHD_END = 0,
       MHD_MEMORY_LIMIT = 1,
       MHD_CONNECTION_LIMIT = 2,
       MHD_TIMEOUT = 3,
       MHD_COMPLETED = 4,
       MHD_LISTEN_SOCKET = 12,
       MHD_STACK_SIZE = 19,
       MHD_CONNECTION_NOTIFY = 27,
};
enum { MHD_HEADERS = 1, MHD_ARGUMENTS = 8 };    /* kinds of values that a request has */
enum { MHD_PERSISTENT, MHD_FREES, MHD_COPIES }; /* who frees the memory of a response */
enum { MHD_STARTED, MHD_CLOSED };               /* values of MHD_CONNECTION_NOTIFY */
enum { MHD_INFO_FD = 6 };                       /* a fact about a connection: its file descriptor */

typedef int mhd_handler(void *cls, struct mhd_connection *connection, const char *url,
			const char *method, const char *version, const char *body, size_t *n,
			void **request);
typedef void mhd_completed(void *cls, struct mhd_connection *connection, void **request, int how);
typedef void mhd_notify(void *cls, struct mhd_connection *connection, void **context, int what);

/* X(result, name, arguments) for each function of libmicrohttpd, by its name without MHD_ */
#define MHD_FUNCTIONS(X)                                                                           \
	X(struct mhd_daemon *, start_daemon,                                                       \
	  (unsigned flags, uint16_t port, void *policy, void *policy_cls, mhd_handler *handler,    \
	   void *handler_cls, ...))                                                                \
	X(void, stop_daemon, (struct mhd_daemon * daemon))                                         \
	X(const char *, lookup_connection_value,                                                   \
	  (struct mhd_connection * connection, int kind, const char *key))                         \
	X(struct mhd_response *, create_response_from_buffer, (size_t n, void *bytes, int whose))  \
	X(int, add_response_header,                                                                \
	  (struct mhd_response * response, const char *name, const char *value))                   \
	X(int, queue_response,                                                                     \
	  (struct mhd_connection * connection, unsigned status, struct mhd_response *response))    \
	X(void, destroy_response, (struct mhd_response * response))                                \
	X(const void *, get_connection_info, (struct mhd_connection * connection, int what, ...))

struct mhd {
#define X(result, name, arguments) result(*name) arguments;
	MHD_FUNCTIONS(X)
#undef X
};

/* Yields the functions of libmicrohttpd; NULL where the library is not installed. */
const struct mhd *mhd_open(void);

#endif
