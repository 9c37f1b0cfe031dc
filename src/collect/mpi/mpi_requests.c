/* SPDX-License-Identifier: Apache-2.0 */
/* mpi_requests.c - calls that start, await, test or free requests: which requests were done in
 * which call.
 *
 * MPI overwrites a request that is done, so requests are read before the call. What a receive
 * got stands in the status: where the program does not want statuses, the call gets some of
 * ours.
 */
#include <string.h>

#include "collect/mpi/mpi.h"
#include "collect/sys.h"

enum { FEW = 64 }; /* requests that are looked at without asking the kernel for memory */

/* The requests of a call, and what becomes of them. */
struct requests {
	int n;
	uint64_t *before;          /* the requests as they were before the call */
	struct rec_mpi_done *done; /* what was done, in this order */
	char *own_statuses;        /* statuses of ours */
	unsigned n_done;
	size_t mapped; /* bytes that the kernel gave; 0: 'few' is enough */
	struct {
		uint64_t before[FEW];
		struct rec_mpi_done done[FEW];
		uint64_t statuses[FEW * MPI_MOST_STATUS / 2 / 8];
	} few;
};

/* False: there is no memory for so many requests. */
static bool requests_read(struct requests *r, mpi_word array, int n)
{
	r->n = n > 0 ? n : 0;
	r->n_done = 0;
	r->mapped = 0;
	r->before = r->few.before;
	r->done = r->few.done;
	r->own_statuses = (char *)r->few.statuses;
	if (n > FEW) {
		size_t each = sizeof *r->before + sizeof *r->done + mpi_library.status_bytes;
		char *memory = sys_memory(each * (size_t)n);
		if (!memory)
			return false;
		r->mapped = each * (size_t)n;
		r->done = (void *)memory;
		r->before = (void *)(r->done + n);
		r->own_statuses = (char *)(r->before + n);
	}
	for (int i = 0; i < r->n; i++)
		r->before[i] = mpi_handle_at(array, (size_t)i);
	return true;
}

static void requests_free(struct requests *r)
{
	if (r->mapped)
		sys_unmap(r->done, r->mapped);
}

/* Request number i is done; 'status': number 'at' of an array of statuses. */
static void is_done(struct requests *r, int i, const char *statuses, int at)
{
	if (i < 0 || i >= r->n || r->before[i] == mpi_library.request_null)
		return;
	const char *status = statuses + (size_t)at * mpi_library.status_bytes;
	r->done[r->n_done++] = (struct rec_mpi_done){
		.request = r->before[i],
		.bytes = mpi_status_bytes(status),
		.source = mpi_status_source(status),
		.tag = mpi_status_tag(status),
		.flags = mpi_status_is_cancelled(status) ? REC_MPI_CANCELLED : 0,
	};
}

/* After an error some requests may be gone: nobody knows how they ended. */
static void note_gone(struct requests *r, mpi_word array)
{
	for (int i = 0; i < r->n; i++)
		if (r->before[i] != mpi_library.request_null &&
		    mpi_handle_at(array, (size_t)i) == mpi_library.request_null)
			r->done[r->n_done++] = (struct rec_mpi_done){
				.request = r->before[i],
				.bytes = REC_MPI_UNKNOWN,
				.source = REC_MPI_NO_RANK,
				.tag = REC_MPI_NO_RANK,
				.flags = REC_MPI_CANCELLED,
			};
}

/* Where the arguments of such a call stand. MPI_NONE: the call has no such argument. */
struct await {
	uint8_t count, requests;
	uint8_t flag;         /* int *: whether anything is done */
	uint8_t number, list; /* int *: which one is done; or how many, and which */
	uint8_t statuses;
};

static void find_done(struct requests *r, const struct await *at, const mpi_word *w)
{
	const char *statuses = (const char *)w[at->statuses];
	if (at->flag != MPI_NONE && !*(const int *)w[at->flag])
		return;
	if (at->list != MPI_NONE) {
		int n = *(const int *)w[at->number];
		for (int i = 0; i < n; i++)
			is_done(r, ((const int *)w[at->list])[i], statuses, i);
	} else if (at->number != MPI_NONE) {
		is_done(r, *(const int *)w[at->number], statuses, 0);
	} else {
		for (int i = 0; i < r->n; i++)
			is_done(r, i, statuses, i);
	}
}

static int await(struct mpi_scope *scope, mpi_word *w, const struct await *at)
{
	struct requests r;
	if (!mpi_begin(scope))
		return mpi_forward(scope, w);
	int n = at->count == MPI_NONE ? 1 : (int)w[at->count];
	if (!scope->start || !mpi_library.is_known || !requests_read(&r, w[at->requests], n)) {
		int result = mpi_forward(scope, w);
		mpi_keep(scope, result, 0, NULL, 0);
		mpi_end(scope);
		return result;
	}
	mpi_status_at(&w[at->statuses], r.own_statuses);
	int result = mpi_forward(scope, w);
	if (result == 0)
		find_done(&r, at, w);
	else
		note_gone(&r, w[at->requests]);
	mpi_keep_done(scope, result, 0, r.n_done ? REC_MPI_DONE : 0, r.done, r.n_done);
	requests_free(&r);
	mpi_end(scope);
	return result;
}

#define AWAIT(id, n, ...)                                                                          \
	static int await_##id(struct mpi_scope *scope, mpi_word *w)                                \
	{                                                                                          \
		static const struct await at = {__VA_ARGS__};                                      \
		return await(scope, w, &at);                                                       \
	}                                                                                          \
	MPI_WRAP(id, n, await_##id, .op = 0)
AWAIT(Wait, 2, MPI_NONE, 0, MPI_NONE, MPI_NONE, MPI_NONE, 1)
AWAIT(Waitall, 3, 0, 1, MPI_NONE, MPI_NONE, MPI_NONE, 2)
AWAIT(Waitany, 4, 0, 1, MPI_NONE, 2, MPI_NONE, 3)
AWAIT(Waitsome, 5, 0, 1, MPI_NONE, 2, 3, 4)
AWAIT(Test, 3, MPI_NONE, 0, 1, MPI_NONE, MPI_NONE, 2)
AWAIT(Testall, 4, 0, 1, 2, MPI_NONE, MPI_NONE, 3)
AWAIT(Testany, 5, 0, 1, 3, 2, MPI_NONE, 4)
AWAIT(Testsome, 5, 0, 1, MPI_NONE, 2, 3, 4)

/* ---- start, and give up ---------------------------------------------------------------------- */

/* Requests that a call names, but does not await: 'flags' says what it does with them. */
static int name_requests(struct mpi_scope *scope, mpi_word *w, mpi_word array, int n, uint8_t flags)
{
	struct requests r;
	if (!mpi_begin(scope))
		return mpi_forward(scope, w);
	bool is_read = scope->start && mpi_library.is_known && requests_read(&r, array, n);
	int result = mpi_forward(scope, w);
	if (!is_read) {
		mpi_keep(scope, result, 0, NULL, 0);
		mpi_end(scope);
		return result;
	}
	for (int i = 0; i < r.n && result == 0; i++)
		r.done[r.n_done++] = (struct rec_mpi_done){.request = r.before[i]};
	mpi_keep_done(scope, result, 0, r.n_done ? flags : 0, r.done, r.n_done);
	requests_free(&r);
	mpi_end(scope);
	return result;
}

static int mpi_start(struct mpi_scope *scope, mpi_word *w)
{
	return name_requests(scope, w, w[0], 1, REC_MPI_START);
}

static int mpi_start_all(struct mpi_scope *scope, mpi_word *w)
{
	return name_requests(scope, w, w[1], (int)w[0], REC_MPI_START);
}

static int mpi_request_free(struct mpi_scope *scope, mpi_word *w)
{
	return name_requests(scope, w, w[0], 1, REC_MPI_FREE);
}

MPI_WRAP(Start, 1, mpi_start, .op = 0)
MPI_WRAP(Startall, 2, mpi_start_all, .op = 0)
MPI_WRAP(Request_free, 1, mpi_request_free, .op = 0)
MPI_WRAP(Cancel, 1, mpi_plain, .op = 0)
MPI_WRAP(Request_get_status, 3, mpi_plain, .op = 0)
