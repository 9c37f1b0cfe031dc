/* SPDX-License-Identifier: Apache-2.0 */
/* spool.c - a thread's records, in chunks of a file that outlive the process.
 *
 * Only the owner thread writes to its spool. A chunk is allocated on disk before it is mapped, so
 * that a full disk costs records (counted) and never a SIGBUS. No file stays open: the program's
 * descriptors are its own. A record is published by one release store of the chunk's 'used'.
 *
 * Three things may interrupt a thread here: a signal handler that records (refused while a record
 * is being written, and counted), a fork (the child's copy of struct spool is wiped by the kernel,
 * see spool.h) and the thread's end (later records are counted, not kept).
 */
#include "collect/spool.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "collect/collect.h"
#include "collect/process.h"
#include "collect/sys.h"

enum {
	PAGE = 4096,
	CHUNK_SLOTS = REC_CHUNK_BYTES / REC_SLOT,
	/* FIRST_BYTES: bytes of a file's first chunk at the beginning: most processes need no
	 * more. */
	FIRST_BYTES = 32 * 1024,
	RING_CHUNKS = 4096, /* how many chunks a thread's ring has at most: 1 GiB */
	/* glibc runs PTHREAD_DESTRUCTOR_ITERATIONS (4) rounds of destructors;
	 * the spool closes in this round. */
	LAST_EXIT_ROUND = 3,
	/* MOST_THREADS: the most threads that record at a time: each takes three of a process's
	 * 65530 maps. */
	MOST_THREADS = 8192,
};
static const int64_t RETRY_AFTER_NS = 10 * 1000 * 1000;

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* exists since Linux 5.14; older headers do not have the constant */
#endif

/* The record types that a ring never overwrites: definitions, and records about the recording. */
#define BIT(type) (UINT64_C(1) << (type))
static const uint64_t definitions = (BIT(REC_STREAM + 1) - 1) | BIT(REC_NAME) | BIT(REC_NOTE) |
				    BIT(REC_DROP) | BIT(REC_CLOCK) | BIT(REC_RECORDING) |
				    BIT(REC_PROPERTY);
static_assert(REC_TYPES <= 64, "types fit a word");

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

/* ---- chunks
 * ------------------------------------------------------------------------------------- */

/* False where a longer file would exceed RLIMIT_FSIZE, so that SIGXFSZ would end the program. */
static bool file_may_grow_to(uint64_t size)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
	       size <= limit.rlim_cur;
}

static int file_open(struct spool *spool, struct spool_file *file)
{
	static const uint32_t names_tried = 1000;
	/* Opened by folder and name, not by one path of 4 KiB: the caller may be a signal handler
	 * on a stack that is hardly larger. */
	int folder = sys_open(process.run, O_PATH | O_DIRECTORY), fd = -1;
	if (folder < 0)
		return -1;
	uint32_t last = file->number + (file->created ? 1 : names_tried);
	for (; file->number < last; file->number++) {
		char name[64];
		snprintf(name, sizeof name, "%u.%u.%u.spool", process.pid, spool->tid,
			 file->number);
		fd = sys_open_in(folder, name, O_RDWR | (file->created ? 0 : O_CREAT | O_EXCL));
		if (fd >= 0)
			file->created = true;
		if (fd >= 0 || errno != EEXIST)
			break;
	}
	sys_close(folder);
	return fd;
}

/* Allocates and maps a piece of the file; NULL when there is no room on the disk. */
static void *file_map(struct spool *spool, struct spool_file *file, uint64_t offset, size_t size)
{
	if (!file_may_grow_to(offset + size))
		return NULL;
	int fd = file_open(spool, file);
	if (fd < 0)
		return NULL;
	int failed;
	do
		failed = posix_fallocate(fd, (off_t)offset, (off_t)size);
	while (failed == EINTR);
	void *memory = failed ? NULL : sys_map(size, MAP_SHARED, fd, offset);
	sys_close(fd);
	if (!memory)
		return NULL;
	if (sys_advise(memory, size, MADV_POPULATE_WRITE) != 0 &&
	    (errno == EFAULT || errno == ENOMEM)) {
		sys_unmap(memory, size);
		return NULL;
	}
	if (spool->vanishes)
		sys_advise(memory, size, MADV_DONTFORK);
	return memory;
}

/* Replaces the file's present chunk by another chunk or NULL. The old chunk is unmapped last: a
 * signal handler that counts a drop at any moment in between finds a chunk that is mapped. */
static void file_swap(struct spool_file *file, struct rec_chunk *chunk, uint32_t used,
		      uint32_t limit)
{
	struct rec_chunk *old = file->chunk;
	size_t old_size = (size_t)file->limit * REC_SLOT;
	file->chunk = chunk;
	file->used = used;
	file->limit = limit;
	atomic_signal_fence(memory_order_seq_cst);
	if (old)
		sys_unmap(old, old_size);
}

/* The place of the next chunk. In a ring: the chunk that was left longest ago, if that is longer
 * ago than the seconds to keep; else a new place at the end of the file. */
static uint32_t file_next_position(struct spool_file *file, int64_t now)
{
	if (!file->closed)
		return file->chunks;
	file->closed[file->position] = now;
	uint32_t oldest = 0;
	for (uint32_t i = 1; i < file->chunks; i++)
		if (file->closed[i] < file->closed[oldest])
			oldest = i;
	int64_t keep = (int64_t)collect_control->keep_s * 1000000000;
	if (file->chunks && (file->closed[oldest] < now - keep || file->chunks == RING_CHUNKS))
		return oldest;
	return file->chunks;
}

/* Maps a file's first chunk, which began with FIRST_BYTES, in its full size. */
static bool file_widen(struct spool *spool, struct spool_file *file)
{
	struct rec_chunk *whole =
		file_map(spool, file, (uint64_t)file->position * REC_CHUNK_BYTES, REC_CHUNK_BYTES);
	if (!whole)
		return false;
	file_swap(file, whole, file->used, CHUNK_SLOTS);
	return true;
}

static bool file_next(struct spool *spool, struct spool_file *file, int64_t now)
{
	uint32_t position = file_next_position(file, now);
	size_t size = file->chunks ? REC_CHUNK_BYTES : FIRST_BYTES;
	struct rec_chunk *chunk = file_map(spool, file, (uint64_t)position * REC_CHUNK_BYTES, size);
	if (!chunk)
		return false;
	if (position < file->chunks) {
		/* A chunk of the ring that is used again: readers must see it empty before anything
		 * in it changes. */
		atomic_store_explicit((_Atomic uint32_t *)&chunk->used, 0, memory_order_release);
		memset((char *)chunk + sizeof *chunk, 0, REC_CHUNK_BYTES - sizeof *chunk);
	} else {
		file->chunks++;
	}
	*chunk = (struct rec_chunk){
		.magic = REC_MAGIC,
		.version = REC_VERSION,
		.pid = process.pid,
		.tid = spool->tid,
		.index = file->index++,
		.opened = now,
		.process = (uint64_t)process.start,
	};
	atomic_store_explicit((_Atomic uint32_t *)&chunk->used, 2, memory_order_release);
	file_swap(file, chunk, 2, (uint32_t)(size / REC_SLOT));
	file->position = position;
	return true;
}

/* Makes room for so many slots. After a refusal it tries again every RETRY_AFTER_NS: disks get room
 * back. */
static bool file_advance(struct spool *spool, struct spool_file *file, unsigned slots)
{
	if (slots > CHUNK_SLOTS - 2)
		return false;
	int64_t now = collect_now();
	if (file->refused && now - file->refused < RETRY_AFTER_NS)
		return false;
	bool room = file->chunk && file->limit < CHUNK_SLOTS && file_widen(spool, file) &&
		    file->used + slots <= file->limit;
	if (!room)
		room = file_next(spool, file, now);
	if (room && file->used + slots > file->limit)
		room = file_widen(spool, file);
	file->refused = room ? 0 : now;
	return room;
}

/* ---- threads
 * ------------------------------------------------------------------------------------ */

static void list_take(void)
{
	/* Sleeps instead of yielding: the thread that has the lock may have a lower priority. */
	struct timespec pause = {.tv_nsec = 50 * 1000};
	while (atomic_flag_test_and_set_explicit(&list_lock, memory_order_acquire))
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

static void list_remove(struct spool *spool)
{
	list_take();
	if (spool->previous)
		spool->previous->next = spool->next;
	else
		list = spool->next;
	if (spool->next)
		spool->next->previous = spool->previous;
	atomic_fetch_sub(&listed, 1);
	list_give();
}

/* Reads the kernel's name of a thread, without the newline; yields the length, 0: unknown. */
static size_t thread_read_name(uint32_t tid, char name[SPOOL_COMM])
{
	char path[64];
	snprintf(path, sizeof path, "/proc/self/task/%u/comm", tid);
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
	collect_publish();
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
	return spool->ring && (definitions >> type & 1) ? &spool->definitions : &spool->events;
}

static void spool_close(struct spool *spool)
{
	/* 'mine' changes before the list's lock is taken: a signal handler that calls exit() would
	 * record, and wait for the lock that its own thread holds. */
	mine = &closed;
	atomic_signal_fence(memory_order_seq_cst);
	list_remove(spool);
	file_swap(&spool->events, NULL, 0, 0);
	file_swap(&spool->definitions, NULL, 0, 0);
	stack_forget(spool);
	if (spool->events.closed)
		sys_unmap(spool->events.closed, RING_CHUNKS * sizeof(int64_t));
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

/* Initialises the calling thread's spool in a fresh or wiped page. */
static void spool_begin(struct spool *spool)
{
	spool->tid = sys_tid();
	spool->events.number = 0;
	if (collect_control->keep_s) {
		spool->events.closed = sys_memory(RING_CHUNKS * sizeof(int64_t));
		spool->ring = spool->events.closed != NULL;
		spool->definitions.number = 1;
	}
	list_add(spool);
	mine = spool;
	pthread_setspecific(key, spool);
	thread_put_name(spool, spool->comm);
}

static struct spool *spool_make(void)
{
	struct spool *spool = mine;
	if (spool == &closed || spool == &making || !collect_control || !key_made ||
	    process_is_mute())
		return NULL;
	/* A child that was forked without calling atfork handlers is discovered here. */
	process_after_fork();
	if (mine && mine->tid)
		return mine;
	if (atomic_load(&listed) >= MOST_THREADS) {
		mine = &closed;
		return NULL;
	}
	mine = &making;
	atomic_signal_fence(memory_order_seq_cst);
	if (!spool)
		spool = sys_memory(PAGE);
	if (!spool) {
		mine = NULL;
		return NULL;
	}
	spool->vanishes = sys_advise(spool, PAGE, MADV_WIPEONFORK) == 0;
	spool_begin(spool);
	return spool;
}

struct spool *spool_own(void)
{
	struct spool *spool = mine;
	if (spool && spool->tid)
		return spool;
	if (spool == &closed || !collect_control || process.sealed)
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

void spool_after_fork(void)
{
	/* No other thread is left that could hold the lock. The spools in the list are wiped, or
	 * not used any more. */
	atomic_flag_clear(&list_lock);
	list = NULL;
	atomic_store(&listed, 0);
	struct spool *spool = mine;
	if (spool && spool->tid && spool != &closed && spool != &making) {
		/* A kernel before 4.14 does not wipe the page in a forked child. */
		file_swap(&spool->events, NULL, 0, 0);
		file_swap(&spool->definitions, NULL, 0, 0);
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

/* Begins a record where there is room for it. Fresh chunks are zero, so only the head is
 * written. */
static inline void *spool_begin_record(struct spool *spool, struct spool_file *file,
				       enum rec_type type, unsigned slots)
{
	spool->into = file;
	struct rec_head *head = (void *)((char *)file->chunk + (size_t)file->used * REC_SLOT);
	*head = (struct rec_head){.type = (uint8_t)type, .slots = (uint16_t)slots};
	return head;
}

static __attribute__((noinline, cold)) void *reserve_slowly(enum rec_type type, unsigned slots)
{
	if (!collect_control)
		return NULL;
	struct spool *spool = spool_own();
	if (!spool || spool->reserved || slots == 0) {
		if (process.sealed || !process_is_borrowed())
			count_drop(spool ? spool->into : NULL);
		return NULL;
	}
	int saved = errno;
	spool->reserved = slots;
	atomic_signal_fence(memory_order_seq_cst);
	struct spool_file *file = file_for(spool, type);
	bool room = file->used + slots <= file->limit;
	if (!room && !process.sealed) {
		uint64_t signals = sys_hold_signals();
		room = file_advance(spool, file, slots);
		sys_restore_signals(signals);
	}
	errno = saved;
	if (room)
		return spool_begin_record(spool, file, type, slots);
	count_drop(file);
	atomic_signal_fence(memory_order_seq_cst);
	spool->reserved = 0;
	return NULL;
}

void *collect_reserve(enum rec_type type, unsigned slots)
{
	struct spool *spool = mine;
	if (__builtin_expect(!spool || spool->reserved, 0))
		return reserve_slowly(type, slots);
	struct spool_file *file = file_for(spool, type);
	if (__builtin_expect(slots == 0 || file->used + slots > file->limit, 0))
		return reserve_slowly(type, slots);
	/* From here on a signal handler's records are refused. A handler that ran before this line
	 * may have filled the chunk, so the room is checked again. */
	spool->reserved = slots;
	atomic_signal_fence(memory_order_seq_cst);
	if (__builtin_expect(file->used + slots > file->limit, 0)) {
		spool->reserved = 0;
		return reserve_slowly(type, slots);
	}
	return spool_begin_record(spool, file, type, slots);
}

void collect_publish(void)
{
	struct spool *spool = mine;
	if (!spool || !spool->reserved)
		return;
	struct spool_file *file = spool->into;
	file->used += spool->reserved;
	atomic_store_explicit((_Atomic uint32_t *)&file->chunk->used, file->used,
			      memory_order_release);
	atomic_signal_fence(memory_order_seq_cst);
	spool->reserved = 0;
}

void spool_abandon(void)
{
	if (mine)
		mine->reserved = 0;
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
