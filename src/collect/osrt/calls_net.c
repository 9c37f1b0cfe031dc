/* SPDX-License-Identifier: Apache-2.0 */
/* calls_net.c - sockets and messages. A call that sends is recorded however short it is: it may
 * wake a receiver.
 */
#include <mqueue.h>
#include <netdb.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>

#include "collect/osrt/osrt.h"

/* ---- receiving ------------------------------------------------------------------------------- */

OS_WRAP(recv, ssize_t, (int fd, void *into, size_t n, int flags), (fd, into, n, flags), os_fd(fd))
OS_WRAP(recvfrom, ssize_t,
	(int fd, void *into, size_t n, int flags, struct sockaddr *from, socklen_t *size),
	(fd, into, n, flags, from, size), os_fd(fd))
OS_WRAP(recvmsg, ssize_t, (int fd, struct msghdr *message, int flags), (fd, message, flags),
	os_fd(fd))
OS_WRAP(recvmmsg, int,
	(int fd, struct mmsghdr *messages, unsigned n, int flags, struct timespec *timeout),
	(fd, messages, n, flags, timeout), os_fd(fd))
ssize_t __recv_chk(int fd, void *into, size_t n, size_t room, int flags);
OS_WRAP_AS(__recv_chk, "recv", ssize_t, (int fd, void *into, size_t n, size_t room, int flags),
	   (fd, into, n, room, flags), os_fd(fd))
ssize_t __recvfrom_chk(int fd, void *into, size_t n, size_t room, int flags, struct sockaddr *from,
		       socklen_t *size);
OS_WRAP_AS(__recvfrom_chk, "recvfrom", ssize_t,
	   (int fd, void *into, size_t n, size_t room, int flags, struct sockaddr *from,
	    socklen_t *size),
	   (fd, into, n, room, flags, from, size), os_fd(fd))

/* ---- sending --------------------------------------------------------------------------------- */

#define SENDS(id, type, parameters, arguments)                                                     \
	OS_CALL(id, type, parameters);                                                             \
	OS_EXPORT type id parameters                                                               \
	{                                                                                          \
		int64_t start = os_begin(&call_##id), end;                                         \
		type result = OS_REAL(id) arguments;                                               \
		bool kept = os_lasted(start, &end), wakes = start && result > 0;                   \
		if (kept || wakes)                                                                 \
			os_keep(&call_##id, start, end, os_fd(fd), wakes ? REC_OS_WAKES : 0);      \
		return result;                                                                     \
	}

SENDS(send, ssize_t, (int fd, const void *from, size_t n, int flags), (fd, from, n, flags))
SENDS(sendto, ssize_t,
      (int fd, const void *from, size_t n, int flags, const struct sockaddr *to, socklen_t size),
      (fd, from, n, flags, to, size))
SENDS(sendmsg, ssize_t, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
SENDS(sendmmsg, int, (int fd, struct mmsghdr *messages, unsigned n, int flags),
      (fd, messages, n, flags))

/* ---- connections ----------------------------------------------------------------------------- */

OS_CALL(connect, int, (int, const struct sockaddr *, socklen_t));
OS_EXPORT int connect(int fd, const struct sockaddr *to, socklen_t size)
{
	int64_t start = os_begin(&call_connect), end;
	int result = OS_REAL(connect)(fd, to, size);
	os_fd_changes(fd);
	if (os_lasted(start, &end))
		os_keep(&call_connect, start, end, os_fd(fd), 0);
	return result;
}

OS_CALL(accept, int, (int, struct sockaddr *, socklen_t *));
OS_EXPORT int accept(int fd, struct sockaddr *from, socklen_t *size)
{
	int64_t start = os_begin(&call_accept), end;
	int result = OS_REAL(accept)(fd, from, size);
	os_fd_changes(result);
	if (os_lasted(start, &end))
		os_keep(&call_accept, start, end, os_fd(fd), 0);
	return result;
}

OS_CALL(accept4, int, (int, struct sockaddr *, socklen_t *, int));
OS_EXPORT int accept4(int fd, struct sockaddr *from, socklen_t *size, int flags)
{
	int64_t start = os_begin(&call_accept4), end;
	int result = OS_REAL(accept4)(fd, from, size, flags);
	os_fd_changes(result);
	if (os_lasted(start, &end))
		os_keep(&call_accept4, start, end, os_fd(fd), 0);
	return result;
}

OS_CALL(socket, int, (int, int, int));
OS_EXPORT int socket(int domain, int type, int protocol)
{
	int64_t start = os_begin(&call_socket), end;
	int result = OS_REAL(socket)(domain, type, protocol);
	os_fd_changes(result);
	if (os_lasted(start, &end))
		os_keep(&call_socket, start, end, 0, 0);
	return result;
}

OS_CALL(socketpair, int, (int, int, int, int *));
OS_EXPORT int socketpair(int domain, int type, int protocol, int fds[2])
{
	int64_t start = os_begin(&call_socketpair), end;
	int result = OS_REAL(socketpair)(domain, type, protocol, fds);
	bool kept = os_lasted(start, &end);
	if (result == 0)
		os_fd_pair(fds);
	if (kept)
		os_keep(&call_socketpair, start, end, 0, 0);
	return result;
}

OS_WRAP(getaddrinfo, int,
	(const char *host, const char *service, const struct addrinfo *hints,
	 struct addrinfo **found),
	(host, service, hints, found), 0)

/* ---- System V and POSIX messages and semaphores ---------------------------------------------- */

OS_WRAP(msgrcv, ssize_t, (int id, void *into, size_t n, long type, int flags),
	(id, into, n, type, flags), 0)
OS_WRAP(msgsnd, int, (int id, const void *from, size_t n, int flags), (id, from, n, flags), 0)
OS_WRAP(semop, int, (int id, struct sembuf *operations, size_t n), (id, operations, n), 0)
OS_WRAP(semtimedop, int,
	(int id, struct sembuf *operations, size_t n, const struct timespec *timeout),
	(id, operations, n, timeout), 0)
OS_WRAP(mq_receive, ssize_t, (mqd_t queue, char *into, size_t n, unsigned *priority),
	(queue, into, n, priority), 0)
OS_WRAP(mq_timedreceive, ssize_t,
	(mqd_t queue, char *into, size_t n, unsigned *priority, const struct timespec *until),
	(queue, into, n, priority, until), 0)
OS_WRAP(mq_send, int, (mqd_t queue, const char *from, size_t n, unsigned priority),
	(queue, from, n, priority), 0)
OS_WRAP(mq_timedsend, int,
	(mqd_t queue, const char *from, size_t n, unsigned priority, const struct timespec *until),
	(queue, from, n, priority, until), 0)
