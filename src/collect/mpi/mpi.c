/* SPDX-License-Identifier: Apache-2.0 */
/* mpi.c - the calls of MPI in a process: passes them on, and writes their records.
 *
 * Where the collect library is missing or records no MPI, every replacement only calls the
 * replaced function. A program without MPI never comes here.
 */
#include "collect/mpi/mpi.h"

#include <pthread.h>
#include <string.h>

_Atomic uint32_t mpi_generation = 1;
_Atomic bool mpi_is_paused;

/* What MPI_X yields where there is no MPI_X behind ours; 0 would be success. */
enum { NO_SUCH_FUNCTION = 16 };

/* The outermost call that this thread is in; NULL: it is in none. */
static _Thread_local struct mpi_scope *inside;

/* Calls longer than this get a stack, ns; below 0: none does. */
static int64_t stack_threshold = -1;

/* ---- calls ----------------------------------------------------------------------------------- */

static __attribute__((noinline, cold)) void *find_real(const struct mpi_scope *scope)
{
	char name[64];
	struct mpi_call *call = scope->call;
	stpcpy(stpcpy(name, scope->which ? "P" : ""), call->name);
	int saved = errno;
	void *real = mpi_library_function(name, scope->caller);
	errno = saved;
	if (real)
		atomic_store_explicit(&call->real[scope->which], real, memory_order_relaxed);
	return real;
}

static inline void *real_of(const struct mpi_scope *scope)
{
	void *real = atomic_load_explicit(&scope->call->real[scope->which], memory_order_relaxed);
	return MPI_UNLIKELY(!real) ? find_real(scope) : real;
}

/* The count -1 stands for one that does not fit an int: the library then refuses the call as MPI
 * has it, MPI_ERR_COUNT by the error handler of the communicator, window or file. */
void mpi_narrow(struct mpi_scope *scope, mpi_word *words)
{
	struct mpi_call *call = scope->call;
	uint8_t bit = (uint8_t)(1 << scope->which);
	if (!(atomic_load_explicit(&call->absent, memory_order_relaxed) & bit)) {
		if (real_of(scope))
			return;
		atomic_fetch_or_explicit(&call->absent, bit, memory_order_relaxed);
	}
	for (unsigned i = 0; i < call->words; i++)
		if (call->counts & MPI_COUNT_AT(i) && (int64_t)words[i] != (int32_t)words[i])
			words[i] = (mpi_word)-1;
	scope->call = call->plain;
}

/* A function may be called with more arguments than it takes: the caller makes the room for
 * them, and removes it. */
static int call_real(const struct mpi_scope *scope, const mpi_word *w)
{
	typedef mpi_word word;
	typedef int few(word, word, word, word, word, word);
	typedef int many(word, word, word, word, word, word, word, word, word, word, word, word,
			 word);
	void *real = real_of(scope);
	if (MPI_UNLIKELY(!real))
		return NO_SUCH_FUNCTION;
	if (scope->call->words <= 6)
		return ((few *)real)(w[0], w[1], w[2], w[3], w[4], w[5]);
	return ((many *)real)(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10],
			      w[11], w[12]);
}

int mpi_forward(struct mpi_scope *scope, const mpi_word *words)
{
	int result = call_real(scope, words);
	if (scope->start)
		scope->end = collect_now();
	return result;
}

/* Whether this thread is in a call that has not returned. An error handler of the program may
 * have left the call by longjmp or by an exception; then its scope is no longer on the stack,
 * and what lies there instead is no scope. Only what is near is looked at: the program may have
 * left another stack, and freed it. */
static inline bool mpi_is_inside(const struct mpi_scope *scope)
{
	enum { NEAR = 256 * 1024 };
	const struct mpi_scope *outer = inside;
	return outer && outer > scope && (uintptr_t)outer - (uintptr_t)scope < NEAR &&
	       outer->self == outer;
}

bool mpi_begin(struct mpi_scope *scope)
{
	if (!collect_control || mpi_is_inside(scope))
		return false;
	scope->self = scope;
	inside = scope;
	if (MPI_UNLIKELY(!mpi_library.is_met))
		mpi_library_meet(real_of(scope));
	scope->start = mpi_is_on() ? collect_now() : 0;
	return true;
}

void mpi_end(struct mpi_scope *scope)
{
	inside = NULL;
	scope->self = NULL;
}

int mpi_plain(struct mpi_scope *scope, mpi_word *words)
{
	if (!mpi_begin(scope))
		return mpi_forward(scope, words);
	int result = mpi_forward(scope, words);
	mpi_keep(scope, result, 0, NULL, 0);
	mpi_end(scope);
	return result;
}

int mpi_on_communicator(struct mpi_scope *scope, mpi_word *words)
{
	if (!mpi_begin(scope))
		return mpi_forward(scope, words);
	int result = mpi_forward(scope, words);
	if (scope->start) {
		mpi_word handle = words[scope->call->communicator_at];
		mpi_keep(scope, result, result == 0 ? mpi_communicator_number(handle) : 0, NULL, 0);
	}
	mpi_end(scope);
	return result;
}

/* ---- records --------------------------------------------------------------------------------- */

static inline uint32_t mpi_text_id(struct mpi_call *call)
{
	uint64_t generation = atomic_load_explicit(&mpi_generation, memory_order_relaxed);
	uint64_t known = atomic_load_explicit(&call->text, memory_order_relaxed);
	if (known >> 32 == generation)
		return (uint32_t)known;
	uint32_t text = collect_string_z(call->name);
	if (text)
		atomic_store_explicit(&call->text, generation << 32 | text, memory_order_relaxed);
	return text;
}

/* Takes the stack of a long call. Calls that wait come in rows, and a stack takes some 10 µs,
 * more where many libraries are loaded: the process gets no more than one a millisecond, and
 * spends no more than a fiftieth of its time on them. */
static void take_stack(int64_t start, int64_t end)
{
	enum { SHARE = 50 };
	static const int64_t PAUSE_NS = 1000 * 1000;
	static _Atomic int64_t next;
	if (stack_threshold < 0 || end - start < stack_threshold ||
	    end < atomic_load_explicit(&next, memory_order_relaxed))
		return;
	int64_t before = collect_now();
	atomic_store_explicit(&next, before + PAUSE_NS, memory_order_relaxed);
	collect_stack(REC_WHY_OS, start, 0);
	int64_t after = collect_now(), pause = (after - before) * SHARE;
	atomic_store_explicit(&next, after + (pause > PAUSE_NS ? pause : PAUSE_NS),
			      memory_order_relaxed);
}

/* Reserves the record of a call that has ended, with room for 'slots' slots behind the first
 * one. */
static inline struct rec_mpi *reserve_call(const struct mpi_scope *scope, int result,
					   uint32_t communicator, uint8_t flags, unsigned slots)
{
	uint32_t text = mpi_text_id(scope->call);
	struct rec_mpi *record = collect_reserve(REC_MPI, 1 + slots);
	if (!record)
		return NULL;
	record->head.flags = flags;
	record->head.value = text;
	record->start = scope->start;
	record->duration = scope->end - scope->start;
	record->communicator = communicator;
	record->result = result;
	return record;
}

/* Writes a part in half the room; false where it does not fit there. */
static inline bool make_small(struct rec_mpi_small *small, const struct rec_mpi_part *part)
{
	bool is_one_way = !part->sent || !part->received || part->sent == part->received;
	bool is_counted = part->count == REC_MPI_UNKNOWN || part->count < UINT32_MAX;
	if (!is_one_way || !is_counted || part->message || part->datatype > UINT16_MAX)
		return false;
	*small = (struct rec_mpi_small){
		.op = part->op,
		.flags = (uint8_t)(part->flags | (part->sent ? REC_MPI_GIVES : 0) |
				   (part->received ? REC_MPI_GETS : 0)),
		.datatype = (uint16_t)part->datatype,
		.peer = part->peer,
		.tag = part->tag,
		.count = (uint32_t)part->count,
		.bytes = part->sent ? part->sent : part->received,
		.request = part->request,
	};
	return true;
}

void mpi_keep(const struct mpi_scope *scope, int result, uint32_t communicator,
	      const struct rec_mpi_part *parts, unsigned n)
{
	struct rec_mpi_small small[2];
	unsigned n_small = 0;
	if (!scope->start || !mpi_is_on())
		return;
	int saved = errno;
	take_stack(scope->start, scope->end);
	while (n_small < n && make_small(&small[n_small], &parts[n_small]))
		n_small++;
	bool is_small = n_small == n;
	uint8_t flags = n ? (uint8_t)(REC_MPI_PARTS | (is_small ? REC_MPI_SMALL : 0)) : 0;
	struct rec_mpi *record =
		reserve_call(scope, result, communicator, flags, is_small ? n : 2 * n);
	if (record) {
		if (is_small)
			for (unsigned i = 0; i < n; i++)
				((struct rec_mpi_small *)(record + 1))[i] = small[i];
		else
			memcpy(record + 1, parts, n * sizeof *parts);
		collect_publish(record);
	}
	errno = saved;
}

void mpi_keep_done(const struct mpi_scope *scope, int result, uint32_t communicator, uint8_t flags,
		   const struct rec_mpi_done *done, unsigned n)
{
	enum { MOST = 2048 }; /* slots of a record */
	if (!scope->start || !mpi_is_on())
		return;
	int saved = errno;
	take_stack(scope->start, scope->end);
	unsigned written = 0;
	do {
		unsigned part = n - written < MOST ? n - written : MOST;
		uint8_t more = written ? REC_MPI_MORE : 0;
		struct rec_mpi *record =
			reserve_call(scope, result, communicator, (uint8_t)(flags | more), part);
		if (record) {
			if (part)
				memcpy(record + 1, done + written, part * sizeof *done);
			collect_publish(record);
		}
		written += part;
	} while (written < n);
	errno = saved;
}

/* ---- the program's own switch ---------------------------------------------------------------- */

/* MPI_Pcontrol: 0 switches profiling off, 1 and 2 on; what other numbers mean is the tool's
 * business. It takes any arguments behind the first: as many as there are registers are passed
 * on. */
static struct mpi_call call_Pcontrol = {.name = "MPI_Pcontrol", .words = 6};

static int pcontrol(int which, const void *caller, mpi_word *words)
{
	struct mpi_scope scope = {.call = &call_Pcontrol, .which = which, .caller = caller};
	int level = (int)words[0];
	if (collect_control && level >= 0 && level <= 2 &&
	    atomic_exchange(&mpi_is_paused, level == 0) != (level == 0) && level == 0)
		collect_note(1, "the program switched the recording of MPI calls off for a while "
				"(MPI_Pcontrol)");
	int (*real)(int, ...);
	*(void **)&real = real_of(&scope);
	return real ? real(level, words[1], words[2], words[3], words[4], words[5]) : 0;
}

#define PCONTROL(function, which)                                                                  \
	MPI_EXPORT int function(MPI_P6);                                                           \
	MPI_EXPORT int function(MPI_P6)                                                            \
	{                                                                                          \
		mpi_word words[] = {MPI_A6};                                                       \
		return pcontrol(which, __builtin_return_address(0), words);                        \
	}
PCONTROL(MPI_Pcontrol, 0)
PCONTROL(PMPI_Pcontrol, 1)

/* ---- the beginning --------------------------------------------------------------------------- */

static void mpi_after_fork(void)
{
	atomic_fetch_add(&mpi_generation, 1);
	mpi_communicators_after_fork();
}

static __attribute__((constructor)) void mpi_init(void)
{
	int saved = errno;
	if (sibling_connect() && (collect_control->traces & REC_TRACE_MPI)) {
		pthread_atfork(NULL, NULL, mpi_after_fork);
		stack_threshold = collect_control->os_stack_threshold;
	} else {
		collect_control = NULL;
	}
	errno = saved;
}
