/* SPDX-License-Identifier: Apache-2.0 */
/* perf_spool.c - the spools of samples and scheduling: chunks as record.h describes them, with
 * pid 0.
 *
 * Room is allocated before it is mapped, so that a full disk drops records (counted in the
 * present chunk) instead of raising SIGBUS; and only where the disk's reserve stays free
 * (space.h). With --keep-last chunks are used again once they are old enough; definitions then
 * stand in a spool of their own, whose chunks are never used again.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "run/perf/perf_internal.h"
#include "run/run.h"
#include "run/space.h"

struct place {
	off_t offset;   /* offset of the chunk in the file */
	int64_t filled; /* ns when the chunk was full; 0: the chunk is not full */
};

struct perf_spool {
	int fd;
	int64_t (*clock)(void); /* yields the time in ns */
	struct rec_chunk *chunk;
	uint32_t used, index;
	uint32_t pending; /* slots of the record that was reserved; 0: no record is reserved */
	int64_t keep;     /* ns that chunks are kept before they are overwritten; 0: for ever */
	struct place *places;
	uint32_t n, cap;
	/* Offsets in the file that a ring gave back to the disk, and may use again. */
	off_t *holes;
	uint32_t n_holes, cap_holes;
	/* Indexes in 'places' of the oldest chunk and the present chunk; used only where 'keep'
	 * is not 0. */
	uint32_t oldest, now;
	/* full_since: ns when the disk was last full; 0: the disk has room. The disk is tried
	 * again after ASK_AGAIN_NS. */
	int64_t full_since;
	/* The control page, which says how much may be written; NULL: there is no limit. */
	const struct rec_control *control;
};

static const int64_t ASK_AGAIN_NS = 500 * 1000 * 1000;

static struct rec_chunk *map_chunk(int fd, off_t offset)
{
	void *chunk = mmap(NULL, REC_CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			   fd, offset);
	return chunk == MAP_FAILED ? NULL : chunk;
}

/* Uses the ring's oldest chunk again; yields its offset. */
static off_t oldest_place(struct perf_spool *spool)
{
	spool->now = spool->oldest;
	spool->oldest = (spool->oldest + 1) % spool->n;
	return spool->places[spool->now].offset;
}

/* Where the program fills the disk, a ring gives its oldest chunks back, but for the present chunk
 * and one more. */
static void ring_give_back(struct perf_spool *spool)
{
	enum { AT_A_TIME = 8, LEAST_CHUNKS = 2 };
	bool is_short =
		spool->keep && spool->control &&
		atomic_load((const _Atomic uint32_t *)&spool->control->full) == REC_FULL_DISK;
	for (int i = 0; is_short && i < AT_A_TIME && spool->n > LEAST_CHUNKS; i++) {
		uint32_t oldest = spool->oldest;
		off_t offset = spool->places[oldest].offset;
		if (oldest == spool->now ||
		    fallocate(spool->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset,
			      REC_CHUNK_BYTES) != 0)
			return;
		HWY_GROW(spool->holes, spool->n_holes, spool->cap_holes);
		spool->holes[spool->n_holes++] = offset;
		spool->n--;
		memmove(spool->places + oldest, spool->places + oldest + 1,
			(spool->n - oldest) * sizeof *spool->places);
		spool->now -= spool->now > oldest;
		spool->oldest = oldest == spool->n ? 0 : oldest;
	}
}

/* Yields the offset of the next chunk: of an old chunk that is used again, or of a new one; -1 and
 * the reason: no room. A ring that may not grow uses its oldest chunk again, however young. */
static off_t next_place(struct perf_spool *spool, int64_t now, enum rec_full *why)
{
	bool is_ring = spool->keep && spool->n;
	if (is_ring) {
		spool->places[spool->now].filled = now;
		if (spool->places[spool->oldest].filled &&
		    spool->places[spool->oldest].filled < now - spool->keep)
			return oldest_place(spool);
	}
	bool has_hole = spool->n_holes > 0;
	off_t offset =
		has_hole ? spool->holes[spool->n_holes - 1] : (off_t)spool->n * REC_CHUNK_BYTES;
	*why = spool->control ? space_refusal(spool->fd, spool->control, REC_CHUNK_BYTES)
			      : REC_FULL_NO;
	int failed = *why ? 0 : posix_fallocate(spool->fd, offset, REC_CHUNK_BYTES);
	if (failed)
		*why = failed == EFBIG ? REC_FULL_FILE_SIZE : REC_FULL_DISK;
	if (*why)
		return is_ring && spool->n > 1 ? oldest_place(spool) : -1;
	spool->n_holes -= has_hole;
	HWY_GROW(spool->places, spool->n, spool->cap);
	/* A new chunk comes behind the newest in the circle, and before the oldest. */
	uint32_t to = spool->n ? spool->now + 1 : 0;
	memmove(spool->places + to + 1, spool->places + to,
		(spool->n - to) * sizeof *spool->places);
	spool->places[to] = (struct place){.offset = offset};
	spool->n++;
	if (spool->n > 1 && spool->oldest >= to)
		spool->oldest++;
	spool->now = to;
	return offset;
}

static bool begin_chunk(struct perf_spool *spool)
{
	int64_t now = spool->clock();
	if (spool->full_since && now - spool->full_since < ASK_AGAIN_NS)
		return false;
	enum rec_full why = REC_FULL_MEMORY;
	off_t offset = next_place(spool, now, &why);
	struct rec_chunk *chunk = offset < 0 ? NULL : map_chunk(spool->fd, offset);
	spool->full_since = chunk ? 0 : now;
	if (!chunk && spool->chunk && !spool->chunk->full) {
		spool->chunk->full = now;
		spool->chunk->why = (uint8_t)why;
	}
	if (!chunk)
		return false;
	if (spool->chunk)
		munmap(spool->chunk, REC_CHUNK_BYTES);
	spool->chunk = chunk;
	spool->used = sizeof *chunk / REC_SLOT;
	*chunk = (struct rec_chunk){
		.magic = REC_MAGIC,
		.version = REC_VERSION,
		.index = spool->index++,
		.opened = now,
		.used = spool->used,
	};
	ring_give_back(spool);
	return true;
}

struct perf_spool *perf_spool_open(const char *directory, const char *name, uint32_t keep_s,
				   int64_t (*clock)(void))
{
	char path[4096];
	if (snprintf(path, sizeof path, "%s/%s", directory, name) >= (int)sizeof path)
		return NULL;
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return NULL;
	struct perf_spool *spool = hwy_zalloc(sizeof *spool);
	spool->fd = fd;
	spool->clock = clock;
	spool->keep = (int64_t)keep_s * 1000000000;
	if (begin_chunk(spool))
		return spool;
	perf_spool_close(spool);
	return NULL;
}

void perf_spool_limit(struct perf_spool *spool, const struct rec_control *control)
{
	spool->control = control;
}

void perf_spool_close(struct perf_spool *spool)
{
	if (!spool)
		return;
	if (spool->chunk)
		munmap(spool->chunk, REC_CHUNK_BYTES);
	close(spool->fd);
	free(spool->places);
	free(spool->holes);
	free(spool);
}

void *perf_spool_reserve(struct perf_spool *spool, enum rec_type type, size_t bytes)
{
	uint32_t slots = (uint32_t)((bytes + REC_SLOT - 1) / REC_SLOT);
	if (slots > REC_CHUNK_BYTES / REC_SLOT - spool->used && !begin_chunk(spool)) {
		spool->chunk->dropped++;
		return NULL;
	}
	struct rec_head *head = (void *)((char *)spool->chunk + (size_t)spool->used * REC_SLOT);
	memset(head, 0, (size_t)slots * REC_SLOT);
	head->type = (uint8_t)type;
	head->slots = (uint16_t)slots;
	spool->pending = slots;
	return head;
}

void perf_spool_publish(struct perf_spool *spool)
{
	spool->used += spool->pending;
	spool->pending = 0;
	atomic_store_explicit((_Atomic uint32_t *)&spool->chunk->used, spool->used,
			      memory_order_release);
}

uint32_t perf_spool_text(struct perf *perf, const char *text, size_t length)
{
	if (length > REC_MAX_TEXT)
		length = REC_MAX_TEXT;
	bool fresh;
	uint32_t *id = hwy_index_put(&perf->texts, text, length, &fresh);
	if (!fresh)
		return *id;
	*id = PERF_FIRST_ID + perf->n_texts;
	struct rec_string *record = perf_spool_reserve(perf->definitions, REC_STRING,
						       offsetof(struct rec_string, text) + length);
	if (!record) {
		*id = 0;
		return 0;
	}
	perf->n_texts++;
	record->head.value = *id;
	record->length = (uint32_t)length;
	memcpy(record->text, text, length);
	perf_spool_publish(perf->definitions);
	return *id;
}

void perf_spool_drop(struct perf *perf, const char *reason, uint64_t count)
{
	uint32_t text = perf_spool_text(perf, reason, strlen(reason));
	struct rec_drop *record =
		perf_spool_reserve(perf->definitions, REC_DROP, sizeof(struct rec_drop));
	if (!record)
		return;
	record->count = count;
	record->time = run_now();
	record->reason = text;
	perf_spool_publish(perf->definitions);
}
