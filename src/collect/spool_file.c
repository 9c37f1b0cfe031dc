/* SPDX-License-Identifier: Apache-2.0 */
/* spool_file.c - gives a spool's file its chunks, and refuses them where the disk runs short.
 *
 * A chunk is allocated on disk before it is mapped, so that a full disk costs records (counted) and
 * never a SIGBUS. A file grows only where rec_control.keep_free bytes of the file system stay free
 * afterwards: the program itself never finds the disk full because of its recording. No file stays
 * open: the program's descriptors are its own.
 *
 * The first chunk of a file begins small and grows in three sizes, because most threads and
 * processes record little.
 */
#include "collect/spool_file.h"

#include <errno.h>
#include <linux/falloc.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statfs.h>

#include "collect/collect.h"
#include "collect/decimal.h"
#include "collect/process.h"
#include "collect/sys.h"

/* The sizes in bytes that a file's first chunk grows through. The first spool of a process, which
 * describes the process, begins with the second size. */
static const uint32_t FIRST_BYTES[] = {4 * 1024, 32 * 1024, REC_CHUNK_BYTES};
enum { FIRST_SIZES = sizeof FIRST_BYTES / sizeof *FIRST_BYTES };

static const int64_t RETRY_AFTER_NS = 10 * 1000 * 1000;

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* exists since Linux 5.14; older headers do not have the constant */
#endif

/* Bytes of all spools of this process. The parent looks at all processes together, but less often
 * than a fast process can fill a small bound. */
static _Atomic uint64_t process_bytes;

void spool_file_after_fork(void)
{
	atomic_store(&process_bytes, 0);
}

/* ---- whether there is room ------------------------------------------------------------------- */

/* False where a longer file would exceed RLIMIT_FSIZE, so that SIGXFSZ would end the program. */
static bool file_may_grow_to(uint64_t size)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
	       size <= limit.rlim_cur;
}

/* Yields why a spool may not grow by 'more' bytes; REC_FULL_NO: it may. */
static enum rec_full refusal_to_grow(int fd, uint64_t more)
{
	const struct rec_control *control = collect_control;
	uint32_t full = atomic_load_explicit((const _Atomic uint32_t *)&control->full,
					     memory_order_relaxed);
	if (full)
		return full < REC_FULL_REASONS ? (enum rec_full)full : REC_FULL_DISK;
	if (control->max_bytes && atomic_load(&process_bytes) + more > control->max_bytes)
		return REC_FULL_BOUND;
	struct statfs about;
	if (!control->keep_free || syscall(SYS_fstatfs, fd, &about) != 0)
		return REC_FULL_NO;
	uint64_t block = (uint64_t)(about.f_frsize ? about.f_frsize : about.f_bsize);
	uint64_t needed = (control->keep_free + more) / (block ? block : 1);
	return about.f_bavail < needed ? REC_FULL_DISK : REC_FULL_NO;
}

static enum rec_full refusal_of_errno(int number)
{
	switch (number) {
	case ENOSPC:
	case EDQUOT: return REC_FULL_DISK;
	case EFBIG: return REC_FULL_FILE_SIZE;
	case EMFILE:
	case ENFILE: return REC_FULL_DESCRIPTORS;
	case ENOMEM:
	case EFAULT:
	case EAGAIN: return REC_FULL_MEMORY;
	default: return REC_FULL_REACH;
	}
}

/* ---- files and maps -------------------------------------------------------------------------- */

static int file_open(struct spool_file *file)
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
		char *end = decimal_put(name, "", process.pid);
		end = decimal_put(end, ".", file->tid);
		end = decimal_put(end, ".", file->number);
		strcpy(end, ".spool");
		fd = sys_open_in(folder, name, O_RDWR | (file->created ? 0 : O_CREAT | O_EXCL));
		if (fd >= 0)
			file->created = true;
		if (fd >= 0 || errno != EEXIST)
			break;
	}
	int saved = errno;
	sys_close(folder);
	errno = saved;
	return fd;
}

/* Allocates [offset, offset + size) of the open file, of which 'more' bytes are new, and maps it;
 * NULL and the reason where there is no room. */
static void *map_piece(struct spool_file *file, int fd, uint64_t offset, size_t size, size_t more,
		       enum rec_full *why)
{
	*why = more ? refusal_to_grow(fd, more) : REC_FULL_NO;
	if (*why)
		return NULL;
	int failed;
	do
		failed = posix_fallocate(fd, (off_t)offset, (off_t)size);
	while (failed == EINTR);
	void *memory = failed ? NULL : sys_map(size, MAP_SHARED, fd, offset);
	if (!memory) {
		*why = refusal_of_errno(failed ? failed : errno);
		return NULL;
	}
	if (sys_advise(memory, size, MADV_POPULATE_WRITE) != 0 &&
	    (errno == EFAULT || errno == ENOMEM)) {
		*why = REC_FULL_MEMORY;
		sys_unmap(memory, size);
		return NULL;
	}
	if (file->vanishes)
		sys_advise(memory, size, MADV_DONTFORK);
	atomic_fetch_add(&process_bytes, more);
	return memory;
}

static void *file_map(struct spool_file *file, uint32_t position, size_t size, size_t more,
		      enum rec_full *why)
{
	uint64_t offset = (uint64_t)position * REC_CHUNK_BYTES;
	if (!file_may_grow_to(offset + size)) {
		*why = REC_FULL_FILE_SIZE;
		return NULL;
	}
	int fd = file_open(file);
	if (fd < 0) {
		*why = refusal_of_errno(errno);
		return NULL;
	}
	void *memory = map_piece(file, fd, offset, size, more, why);
	sys_close(fd);
	return memory;
}

/* Puts private memory in the place of a chunk that somebody may still write into. Who interrupted
 * the writer may not return to it for long, or never: the last LENT_CHUNKS such places of the
 * process stay. They take addresses, and no memory before somebody writes. */
static void leave_addresses(void *chunk, size_t size)
{
	enum { LENT_CHUNKS = 64, PAGE = 4096 };
	/* A place is its address plus its number of pages. */
	static _Atomic uintptr_t lent[LENT_CHUNKS];
	static _Atomic uint32_t count;
	(void)SYS_MAP(chunk, size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0L);
	uint32_t i = atomic_fetch_add(&count, 1) % LENT_CHUNKS;
	uintptr_t oldest = atomic_exchange(&lent[i], (uintptr_t)chunk + size / PAGE);
	uintptr_t pages = oldest % PAGE;
	if (oldest)
		sys_unmap((void *)(oldest - pages), pages * PAGE);
}

/* ---- chunks ---------------------------------------------------------------------------------- */

void spool_file_swap(struct spool_file *file, struct rec_chunk *chunk, uint32_t used,
		     uint32_t limit)
{
	struct rec_chunk *old = file->chunk;
	size_t old_size = (size_t)file->limit * REC_SLOT;
	file->chunk = chunk;
	file->used = used;
	file->limit = limit;
	atomic_signal_fence(memory_order_seq_cst);
	if (old && file->is_lent)
		leave_addresses(old, old_size);
	else if (old)
		sys_unmap(old, old_size);
	file->is_lent = false;
}

static const int64_t GIVEN_BACK = -1; /* in spool_file.closed */

/* The place of a ring's chunk that was left longest ago, or one whose room was given back;
 * 'chunks': there is none. */
static uint32_t file_oldest(const struct spool_file *file, bool given_back)
{
	uint32_t oldest = file->chunks;
	for (uint32_t i = 0; i < file->chunks; i++)
		if ((file->closed[i] == GIVEN_BACK) == given_back &&
		    (oldest == file->chunks || file->closed[i] < file->closed[oldest]))
			oldest = i;
	return oldest;
}

/* Where the program fills the disk, a ring gives its oldest chunks back: with each chunk that it
 * begins, so many, but for one, in which it goes on. Only the ring's owner can, since nobody else
 * knows which chunk comes next. */
static void ring_give_back(struct spool_file *file)
{
	enum { AT_A_TIME = 8, LEAST_CHUNKS = 2 };
	uint32_t full = atomic_load_explicit((_Atomic uint32_t *)&collect_control->full,
					     memory_order_relaxed);
	int fd = full == REC_FULL_DISK && file->closed ? file_open(file) : -1;
	if (fd < 0)
		return;
	/* The present chunk counts as the youngest. */
	file->closed[file->position] = INT64_MAX;
	uint32_t left = 0;
	for (uint32_t i = 0; i < file->chunks; i++)
		left += file->closed[i] != GIVEN_BACK;
	for (int i = 0; i < AT_A_TIME && left > LEAST_CHUNKS; i++, left--) {
		uint32_t oldest = file_oldest(file, false);
		if (syscall(SYS_fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			    (off_t)oldest * REC_CHUNK_BYTES, (off_t)REC_CHUNK_BYTES) != 0)
			break;
		file->closed[oldest] = GIVEN_BACK;
	}
	sys_close(fd);
}

/* The place of the next chunk. In a ring: the chunk that was left longest ago, if that is longer
 * ago than the seconds to keep; else a new place at the end of the file. */
static uint32_t file_next_position(struct spool_file *file, int64_t now)
{
	if (!file->closed || !file->chunks)
		return file->chunks;
	file->closed[file->position] = now;
	uint32_t oldest = file_oldest(file, false);
	int64_t keep = (int64_t)collect_control->keep_s * 1000000000;
	if (file->closed[oldest] < now - keep)
		return oldest;
	uint32_t hole = file_oldest(file, true);
	return hole == SPOOL_FILE_RING ? oldest : hole;
}

/* Maps a file's first chunk, which began small, in the next size that has room for so many more
 * slots. */
static bool file_widen(struct spool_file *file, unsigned slots, enum rec_full *why)
{
	uint32_t size = REC_CHUNK_BYTES, had = file->limit * REC_SLOT;
	for (unsigned i = FIRST_SIZES; i-- > 0;)
		if (FIRST_BYTES[i] > had && (file->used + slots) * REC_SLOT <= FIRST_BYTES[i])
			size = FIRST_BYTES[i];
	struct rec_chunk *wider = file_map(file, file->position, size, size - had, why);
	if (!wider)
		return false;
	spool_file_swap(file, wider, file->used, size / REC_SLOT);
	return true;
}

static uint32_t first_size(unsigned slots)
{
	bool is_first_of_process = atomic_load(&process_bytes) == 0;
	unsigned i = is_first_of_process ? 1 : 0;
	while (i < FIRST_SIZES - 1 && (slots + 2) * REC_SLOT > FIRST_BYTES[i])
		i++;
	return FIRST_BYTES[i];
}

/* Writes into the present chunk since when, and why, no chunk follows it. */
static void note_refusal(struct spool_file *file, int64_t now, enum rec_full why)
{
	file->refused = now;
	if (!file->chunk || file->chunk->full)
		return;
	file->chunk->why = (uint8_t)why;
	atomic_store_explicit((_Atomic int64_t *)&file->chunk->full, now, memory_order_release);
}

/* Maps the next chunk. A ring that may not grow takes its oldest chunk again, however young. */
static struct rec_chunk *file_map_next(struct spool_file *file, uint32_t *position, uint32_t *size,
				       enum rec_full *why)
{
	bool is_there = *position < file->chunks && file->closed[*position] != GIVEN_BACK;
	struct rec_chunk *chunk = file_map(file, *position, *size, is_there ? 0 : *size, why);
	if (chunk || !file->closed || is_there || file->chunks < 2)
		return chunk;
	uint32_t oldest = file_oldest(file, false);
	if (oldest == file->position) /* no other chunk is left */
		return NULL;
	note_refusal(file, collect_now(), *why);
	*position = oldest;
	*size = REC_CHUNK_BYTES;
	return file_map(file, *position, *size, 0, why);
}

static bool file_next(struct spool_file *file, uint32_t tid, unsigned slots, int64_t now,
		      enum rec_full *why)
{
	uint32_t position = file_next_position(file, now);
	uint32_t size = file->chunks ? (uint32_t)REC_CHUNK_BYTES : first_size(slots);
	struct rec_chunk *chunk = file_map_next(file, &position, &size, why);
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
		.tid = tid,
		.index = file->index++,
		.opened = now,
		.process = (uint64_t)process.start,
	};
	atomic_store_explicit((_Atomic uint32_t *)&chunk->used, 2, memory_order_release);
	spool_file_swap(file, chunk, 2, size / REC_SLOT);
	file->position = position;
	ring_give_back(file);
	return true;
}

bool spool_file_advance(struct spool_file *file, uint32_t tid, unsigned slots)
{
	if (slots > SPOOL_FILE_SLOTS - 2)
		return false;
	int64_t now = collect_now();
	if (file->refused && now - file->refused < RETRY_AFTER_NS)
		return false;
	enum rec_full why = REC_FULL_NO;
	bool is_small = file->chunk && file->limit < SPOOL_FILE_SLOTS;
	bool fits = is_small && file->used + slots <= SPOOL_FILE_SLOTS;
	/* Before another chunk follows, the first one gets its whole size: readers find chunks at
	 * multiples of that size. */
	bool room = !is_small || file_widen(file, fits ? slots : SPOOL_FILE_SLOTS, &why);
	if (room && file->used + slots > file->limit)
		room = file_next(file, tid, slots, now, &why);
	if (room)
		file->refused = 0;
	else
		note_refusal(file, now, why);
	return room;
}
