/* SPDX-License-Identifier: Apache-2.0 */
/* spool.c - a thread's records, in chunks of a file that outlive the process.
 *
 * Only the owner thread writes to its spool. A record is published by one release store of the
 * chunk's 'used'. A thread that ends leaves its spool, with the mapped chunk, to the next thread
 * that begins: a file and a map for each of 20,000 short threads would cost more than the
 * threads.
 *
 * Three things may interrupt a thread here: a signal handler that records, a fork (the child's
 * copy of struct spool is wiped by the kernel, see spool.h) and the thread's end (later records
 * are counted, not kept).
 *
 * Nothing tells whether a handler will return to the record that it interrupted, or has left it
 * for good by longjmp, and this is the next call of the program. So whoever finds a record that
 * is being written steps over it: the record becomes a REC_INTERRUPTED, and recording goes on
 * behind it. Who returns to such a record finds its memory valid (spool_file.h), fills it, and
 * gives it its type back. Nobody is refused, and nothing stays reserved for ever.
 */
#include "collect/spool.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/prctl.h>

#include "collect/collect.h"
#include "collect/decimal.h"
#include "collect/process.h"
#include "collect/spool_reserved.h"
#include "collect/sys.h"

enum {
	PAGE = 4096,
	/* glibc runs PTHREAD_DESTRUCTOR_ITERATIONS (4) rounds of destructors;
	 * the spool closes in this round. */
	LAST_EXIT_ROUND = 3,
	/* MOST_THREADS: the most threads that record at a time: each takes three of a process's
	 * 65530 maps. */
	MOST_THREADS = 8192,
	/* How many bytes the spools may take in memory that wait for a next thread, and how many of
	 * them keep their copies of stacks. */
	POOL_BYTES = 16 * 1024 * 1024,
	POOL_STACKS = 1024,
};

/* The record types that a ring never overwrites: definitions, and records about the recording. */
static const bool is_definition[REC_TYPES] = {
	[REC_NONE... REC_STREAM] = true,
	[REC_NAME] = true,
	[REC_NOTE] = true,
	[REC_DROP] = true,
	[REC_CLOCK] = true,
	[REC_RECORDING] = true,
	[REC_PROPERTY] = true,
	[REC_PLACE] = true,
	[REC_LAYER] = true,
	[REC_NODE] = true,
	[REC_COMMUNICATOR] = true,
	[REC_PING] = true,
	[REC_NCCL_COMM] = true,
	[REC_NVTX_DEFINITION] = true,
};

/* The thread's spool; &making, &closed, or NULL when the thread has none yet. */
static _Thread_local struct spool *mine __attribute__((tls_model("initial-exec")));
/* A mark in place of a spool: the thread was making its spool when a signal handler interrupted
 * it. */
static struct spool making;
/* A mark in place of a spool: the thread is ending, or is one of too many, and records nothing. */
static struct spool closed;

static pthread_key_t key;
static bool key_made;

static atomic_flag list_lock = ATOMIC_FLAG_INIT;
static struct spool *list;      /* the spools of all threads; guarded by list_lock */
static _Atomic uint32_t listed; /* how many spools are in the list */

/* The spools of threads that have ended, the last one first; guarded by list_lock. */
static struct pool {
	struct spool *first;
	size_t bytes; /* of memory that the spools take */
	_Atomic uint32_t n;
} pool;

/* ---- threads
 * ------------------------------------------------------------------------------------ */

static void list_take(void)
{
	/* The lock is held for some instructions only, so that it is mostly free again at once.
	 * Later it sleeps instead of yielding: the thread that has the lock may have a lower
	 * priority. */
	enum { TRIES_AT_ONCE = 200 };
	struct timespec pause = {.tv_nsec = 50 * 1000};
	for (int tries = 0; atomic_flag_test_and_set_explicit(&list_lock, memory_order_acquire);
	     tries++)
		if (tries >= TRIES_AT_ONCE)
			syscall(SYS_nanosleep, &pause, NULL);
}

static void list_give(void)
{
	atomic_flag_clear_explicit(&list_lock, memory_order_release);
}

static void list_add(struct spool *spool)
{
	list_take();
	spool->next = list;
	spool->previous = NULL;
	if (list)
		list->previous = spool;
	list = spool;
	atomic_fetch_add(&listed, 1);
	list_give();
}

static void list_unlink(struct spool *spool)
{
	if (spool->previous)
		spool->previous->next = spool->next;
	else
		list = spool->next;
	if (spool->next)
		spool->next->previous = spool->previous;
	atomic_fetch_sub(&listed, 1);
}

/* Bytes of memory that a spool takes while it waits in the pool. */
static size_t pool_bytes_of(const struct spool *spool)
{
	return PAGE + ((size_t)spool->events.limit + spool->definitions.limit) * REC_SLOT;
}

/* Takes the spool of an ended thread out of the list, and puts it into the pool; false where the
 * pool has no room for it. */
static bool list_move_to_pool(struct spool *spool)
{
	if (atomic_load(&pool.n) >= POOL_STACKS)
		stack_forget(spool);
	size_t bytes = pool_bytes_of(spool);
	list_take();
	list_unlink(spool);
	bool fits = pool.bytes + bytes <= POOL_BYTES;
	if (fits) {
		spool->next = pool.first;
		pool.first = spool;
		pool.bytes += bytes;
		atomic_fetch_add(&pool.n, 1);
	}
	list_give();
	return fits;
}

/* Yields the spool of a thread that has ended; NULL: there is none. */
static struct spool *pool_take(void)
{
	list_take();
	struct spool *spool = pool.first;
	if (spool) {
		pool.first = spool->next;
		pool.bytes -= pool_bytes_of(spool);
		atomic_fetch_sub(&pool.n, 1);
	}
	list_give();
	return spool;
}

/* Reads the kernel's name of a thread, without the newline; yields the length, 0: unknown. */
static size_t thread_read_name(uint32_t tid, char name[SPOOL_COMM])
{
	/* The calling thread asks without a file: short threads would pay most for opening it. */
	if (mine && tid == mine->tid) {
		char own[SPOOL_COMM + 1] = {0};
		if (syscall(SYS_prctl, PR_GET_NAME, own) != 0)
			return 0;
		memcpy(name, own, SPOOL_COMM);
		return strlen(own);
	}
	char path[64];
	strcpy(decimal_put(path, "/proc/self/task/", tid), "/comm");
	int fd = sys_open(path, O_RDONLY);
	if (fd < 0)
		return 0;
	long length = sys_read(fd, name, SPOOL_COMM);
	sys_close(fd);
	if (length > 0 && name[length - 1] == '\n')
		length--;
	return length > 0 ? (size_t)length : 0;
}

/* Records the thread's name if it is not the one recorded last; 'last' gets the name. */
static void thread_put_name(const struct spool *spool, char last[SPOOL_COMM])
{
	char name[SPOOL_COMM] = {0};
	size_t length = thread_read_name(spool->tid, name);
	if (!length || memcmp(name, spool->comm, sizeof name) == 0)
		return;
	memcpy(last, name, sizeof name);
	uint32_t text = collect_string(name, length);
	struct rec_name *record = collect_reserve(REC_THREAD, 1);
	if (!record)
		return;
	record->head.value = spool->tid;
	record->name = text;
	collect_publish(record);
}

void spool_name_threads(void)
{
	if (!spool_own())
		return;
	/* The lock keeps the threads' spools from being freed; nothing that is called
	 * here takes the lock. */
	char unused[SPOOL_COMM];
	list_take();
	for (struct spool *spool = list; spool; spool = spool->next)
		thread_put_name(spool, unused);
	list_give();
}

static struct spool_file *file_for(struct spool *spool, enum rec_type type)
{
	return spool->ring && type < REC_TYPES && is_definition[type] ? &spool->definitions
								      : &spool->events;
}

static void file_show(struct spool_file *file)
{
	atomic_store_explicit((_Atomic uint32_t *)&file->chunk->used, file->used,
			      memory_order_release);
}

/* Steps over the record that this thread, or what a signal handler interrupted in this thread, is
 * writing. Where collect_publish was interrupted after it counted the record, the record is whole,
 * and only has to be shown. */
static void spool_step_over(struct spool *spool)
{
	struct spool_file *file = reserved_file(spool, spool->reserved);
	uint32_t slots = reserved_slots(spool->reserved);
	if (file->chunk && file->used == reserved_at(spool->reserved)) {
		struct rec_head *head =
			(void *)((char *)file->chunk + (size_t)file->used * REC_SLOT);
		spool->stepped = head;
		spool->stepped_type = head->type;
		*head = (struct rec_head){.type = REC_INTERRUPTED, .slots = (uint16_t)slots};
		file->used += slots;
	}
	if (file->chunk)
		file_show(file);
	file->is_lent = true;
	spool->steps++;
	spool->reserved = 0;
}

static void spool_close(struct spool *spool)
{
	/* 'mine' changes before the list's lock is taken: a signal handler that calls exit() would
	 * record, and wait for the lock that its own thread holds. */
	mine = &closed;
	atomic_signal_fence(memory_order_seq_cst);
	if (torch_forget)
		torch_forget(spool);
	if (list_move_to_pool(spool))
		return;
	spool_file_swap(&spool->events, NULL, 0, 0);
	spool_file_swap(&spool->definitions, NULL, 0, 0);
	stack_forget(spool);
	if (spool->events.closed)
		sys_unmap(spool->events.closed, SPOOL_FILE_RING * sizeof(int64_t));
	sys_unmap(spool, PAGE);
}

/* Destructor of the thread's key. Other destructors of the thread may still record, so this one
 * asks to be called again until LAST_EXIT_ROUND. */
static void thread_ends(void *value)
{
	int saved = errno;
	struct spool *spool = value;
	/* A tid of 0 means that the page was wiped in a child that a destructor forked and that
	 * did not record. */
	if (spool->tid == 0 || process.sealed)
		return;
	if (spool->exit_rounds++ == 0)
		thread_put_name(spool, spool->comm);
	if (spool->exit_rounds < LAST_EXIT_ROUND)
		pthread_setspecific(key, spool);
	else
		spool_close(spool);
	errno = saved;
}

/* Initialises a spool in a fresh or wiped page. */
static void spool_begin(struct spool *spool)
{
	bool vanishes = sys_advise(spool, PAGE, MADV_WIPEONFORK) == 0;
	spool->tid = sys_tid();
	spool->generation = process.generation;
	spool->events = (struct spool_file){.tid = spool->tid, .vanishes = vanishes};
	spool->definitions =
		(struct spool_file){.tid = spool->tid, .number = 1, .vanishes = vanishes};
	if (collect_control->keep_s) {
		spool->events.closed = sys_memory(SPOOL_FILE_RING * sizeof(int64_t));
		spool->ring = spool->events.closed != NULL;
	}
}

static bool spool_is_of_run(const struct spool *spool)
{
	return spool->generation == atomic_load_explicit(&process.generation, memory_order_acquire);
}

/* Begins the files of another run in a spool that has those of a run that the process has left.
 * What stack.c and torch.c keep for the thread stays where it is: a caller of this function may
 * be using it. Both see the new generation. */
static void spool_follow_run(struct spool *spool)
{
	if (spool->reserved)
		spool_step_over(spool);
	spool_file_swap(&spool->events, NULL, 0, 0);
	spool_file_swap(&spool->definitions, NULL, 0, 0);
	if (spool->events.closed)
		sys_unmap(spool->events.closed, SPOOL_FILE_RING * sizeof(int64_t));
	spool->ring = false;
	memset(spool->comm, 0, sizeof spool->comm);
	memset(spool->levels, 0, sizeof spool->levels);
	spool_begin(spool);
}

/* Says in the file whose the next records are. A whole chunk that is full needs no such record: the
 * next chunk names its thread. A small chunk that is full grows instead. */
static void file_put_owner(struct spool_file *file, uint32_t tid, int64_t now)
{
	if (!file->chunk)
		return;
	bool is_full = file->used == file->limit;
	if (is_full && (file->limit == SPOOL_FILE_SLOTS || !spool_file_advance(file, tid, 1)))
		return;
	struct rec_time *record = (void *)((char *)file->chunk + (size_t)file->used * REC_SLOT);
	*record = (struct rec_time){
		.head = {.type = REC_OWNER, .slots = 1, .value = tid},
		.time = now,
	};
	file->used++;
	atomic_store_explicit((_Atomic uint32_t *)&file->chunk->used, file->used,
			      memory_order_release);
}

/* Makes the spool of a thread that has ended the calling thread's. */
static void spool_begin_again(struct spool *spool)
{
	if (!spool_is_of_run(spool))
		spool_follow_run(spool);
	if (spool->reserved) /* the thread before was cancelled while it wrote a record */
		spool_step_over(spool);
	spool->tid = sys_tid();
	spool->exit_rounds = 0;
	memset(spool->comm, 0, sizeof spool->comm);
	memset(spool->levels, 0, sizeof spool->levels);
	int64_t now = collect_now();
	file_put_owner(&spool->events, spool->tid, now);
	file_put_owner(&spool->definitions, spool->tid, now);
}

static struct spool *spool_make(void)
{
	struct spool *spool = mine;
	if (spool == &closed || spool == &making || !collect_control || !key_made ||
	    process_is_mute())
		return NULL;
	/* A child that was forked without calling atfork handlers is discovered here. */
	process_after_fork();
	if (mine && mine->tid) {
		if (!spool_is_of_run(mine)) {
			spool_follow_run(mine);
			thread_put_name(mine, mine->comm);
		}
		return mine;
	}
	if (atomic_load(&listed) >= MOST_THREADS) {
		mine = &closed;
		return NULL;
	}
	mine = &making;
	atomic_signal_fence(memory_order_seq_cst);
	/* A page that the kernel wiped in this forked child is used again; it is in no pool. */
	struct spool *left = spool ? NULL : pool_take();
	if (left)
		spool_begin_again(left);
	else if (spool || (spool = sys_memory(PAGE)))
		spool_begin(spool);
	spool = left ? left : spool;
	if (!spool) {
		mine = NULL;
		return NULL;
	}
	list_add(spool);
	mine = spool;
	pthread_setspecific(key, spool);
	thread_put_name(spool, spool->comm);
	return spool;
}

struct spool *spool_own(void)
{
	struct spool *spool = mine;
	if (spool && spool->tid && spool_is_of_run(spool))
		return spool;
	if (spool == &closed || !collect_control || !process.has_run || process.sealed)
		return NULL;
	int saved = errno;
	uint64_t signals = sys_hold_signals();
	spool = spool_make();
	sys_restore_signals(signals);
	errno = saved;
	return spool;
}

bool spool_init(void)
{
	key_made = pthread_key_create(&key, thread_ends) == 0;
	return key_made;
}

static void file_follow_fork(const struct spool_file *file, bool is_writing, int advice)
{
	if (file->chunk && file->vanishes && (is_writing || file->is_lent))
		sys_advise(file->chunk, (size_t)file->limit * REC_SLOT, advice);
}

static void spool_advise_around_fork(int advice)
{
	struct spool *spool = mine;
	if (!spool || !spool->tid || process.sealed)
		return;
	int saved = errno;
	file_follow_fork(&spool->events, spool->reserved != 0, advice);
	file_follow_fork(&spool->definitions, spool->reserved != 0, advice);
	errno = saved;
}

void spool_before_fork(void)
{
	spool_advise_around_fork(MADV_DOFORK);
}

void spool_forked(void)
{
	spool_advise_around_fork(MADV_DONTFORK);
}

void spool_after_fork(void)
{
	/* No other thread is left that could hold the lock. The spools in the list are wiped, or
	 * not used any more. */
	atomic_flag_clear(&list_lock);
	list = NULL;
	atomic_store(&listed, 0);
	/* The spools in the pool are wiped too: they are the parent's files. */
	pool.first = NULL;
	pool.bytes = 0;
	atomic_store(&pool.n, 0);
	spool_file_after_fork();
	struct spool *spool = mine;
	if (spool && spool->tid && spool != &closed && spool != &making) {
		/* A kernel before 4.14 does not wipe the page in a forked child. */
		spool_file_swap(&spool->events, NULL, 0, 0);
		spool_file_swap(&spool->definitions, NULL, 0, 0);
		memset(spool, 0, sizeof *spool);
	}
}

uint32_t collect_tid(void)
{
	struct spool *spool = mine;
	return spool && spool->tid ? spool->tid : sys_tid();
}

/* ---- records
 * ------------------------------------------------------------------------------------ */

static void count_drop(struct spool_file *file)
{
	if (file && file->chunk)
		atomic_fetch_add_explicit((_Atomic uint32_t *)&file->chunk->dropped, 1,
					  memory_order_relaxed);
	else if (collect_control)
		atomic_fetch_add_explicit((_Atomic uint64_t *)&collect_control->dropped, 1,
					  memory_order_relaxed);
}

/* Begins a record; NULL if there is no room, or if a signal handler has just used it. Fresh chunks
 * are zero, so only the head is written. */
static inline void *spool_begin_record(struct spool *spool, struct spool_file *file,
				       enum rec_type type, unsigned slots)
{
	uint32_t steps = spool->steps;
	atomic_signal_fence(memory_order_seq_cst);
	struct rec_chunk *chunk = file->chunk;
	uint32_t used = file->used;
	struct rec_head *head = (void *)((char *)chunk + (size_t)used * REC_SLOT);
	uint32_t word = reserved_word(spool, file, used, slots);
	if (__builtin_expect(
		    used + slots > file->limit || !reserved_change(&spool->reserved, 0, word), 0))
		return NULL;
	/* From here on a signal handler that records steps over these slots. One that ran before
	 * has moved 'used', or the chunk. */
	if (__builtin_expect(file->used != used || file->chunk != chunk, 0)) {
		/* Slots that were stepped over before a record was begun hold nothing. */
		if (spool->steps != steps && spool->stepped == head)
			head->type = REC_NONE;
		reserved_change(&spool->reserved, word, 0);
		return NULL;
	}
	*head = (struct rec_head){.type = (uint8_t)type, .slots = (uint16_t)slots};
	return head;
}

/* Makes room, and steps over a record that was left. False: there is no room. */
static bool spool_make_room(struct spool *spool, struct spool_file *file, unsigned slots)
{
	int saved = errno;
	uint64_t signals = process.sealed ? 0 : sys_hold_signals();
	if (spool->reserved)
		spool_step_over(spool);
	bool room = file->used + slots <= file->limit ||
		    (!process.sealed && spool_file_advance(file, spool->tid, slots));
	if (!process.sealed)
		sys_restore_signals(signals);
	errno = saved;
	return room;
}

static __attribute__((noinline, cold)) void *reserve_slowly(enum rec_type type, unsigned slots)
{
	if (!collect_control || !process.has_run)
		return NULL;
	struct spool *spool = spool_own();
	/* A vfork child runs in its parent's memory, and changes nothing there. */
	bool is_borrowed = !process.sealed && process_is_borrowed();
	if (!spool || slots == 0 || is_borrowed) {
		if (!is_borrowed)
			count_drop(spool ? file_for(spool, type) : NULL);
		return NULL;
	}
	struct spool_file *file = file_for(spool, type);
	for (int tries = 0; tries < 8 && spool_make_room(spool, file, slots); tries++) {
		void *record = spool_begin_record(spool, file, type, slots);
		if (record)
			return record;
	}
	count_drop(file);
	return NULL;
}

void *collect_reserve(enum rec_type type, unsigned slots)
{
	struct spool *spool = mine;
	if (__builtin_expect(!spool || spool->reserved || !spool_is_of_run(spool), 0))
		return reserve_slowly(type, slots);
	void *record = NULL;
	if (__builtin_expect(slots != 0, 1))
		record = spool_begin_record(spool, file_for(spool, type), type, slots);
	return __builtin_expect(record != NULL, 1) ? record : reserve_slowly(type, slots);
}

/* Puts right what collect_publish wrote over: a signal handler stepped over the record, and
 * recorded, between a load and a store of collect_publish. 'is_counted': the number in the chunk is
 * the old one now, else the number in the file's struct is. */
static __attribute__((noinline, cold)) void publish_repair(struct spool *spool,
							   struct spool_file *file, bool is_counted)
{
	uint32_t steps;
	do {
		steps = spool->steps;
		atomic_signal_fence(memory_order_seq_cst);
		if (file->chunk && is_counted)
			file_show(file);
		else if (file->chunk)
			file->used = file->chunk->used;
		atomic_signal_fence(memory_order_seq_cst);
	} while (steps != spool->steps);
}

/* Publishes a record that was stepped over. If its chunk was left meanwhile, this writes into
 * private memory, and the record stays a REC_INTERRUPTED in the file. */
static __attribute__((noinline, cold)) void publish_late(const struct spool *spool,
							 struct rec_head *record)
{
	if (record == spool->stepped && record->type == REC_INTERRUPTED)
		record->type = spool->stepped_type;
}

void collect_publish(void *record)
{
	struct spool *spool = mine;
	if (!spool)
		return;
	uint32_t steps = spool->steps;
	atomic_signal_fence(memory_order_seq_cst);
	uint32_t reserved = spool->reserved;
	struct spool_file *file = reserved_file(spool, reserved);
	struct rec_chunk *chunk = reserved ? file->chunk : NULL;
	uint32_t used = chunk ? file->used : 0;
	if (__builtin_expect((char *)record != (char *)chunk + (size_t)used * REC_SLOT, 0)) {
		publish_late(spool, record);
		return;
	}
	used += reserved_slots(reserved);
	atomic_signal_fence(memory_order_seq_cst);
	file->used = used;
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(spool->steps != steps, 0)) {
		publish_repair(spool, file, false);
		publish_late(spool, record);
		return;
	}
	atomic_store_explicit((_Atomic uint32_t *)&chunk->used, used, memory_order_release);
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(spool->steps != steps, 0)) {
		publish_repair(spool, file, true);
		return;
	}
	reserved_change(&spool->reserved, reserved, 0);
}

static bool file_holds(const struct spool_file *file, const struct rec_head *head)
{
	const char *from = (const char *)file->chunk;
	return from && (const char *)head >= from &&
	       (const char *)head < from + (size_t)file->used * REC_SLOT;
}

/* Changes the record only while its chunk is mapped: a signal handler may have filled the chunk in
 * the meantime, and moved on to the next. */
void spool_withdraw(struct rec_head *head)
{
	struct spool *spool = mine;
	if (spool && (file_holds(&spool->events, head) || file_holds(&spool->definitions, head)))
		head->type = REC_NONE;
}
