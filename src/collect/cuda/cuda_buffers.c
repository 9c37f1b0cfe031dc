/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_buffers.c - the buffers that CUPTI fills with records.
 *
 * CUPTI asks for a buffer on the program's threads: that must cost next to nothing, so zeroed
 * buffers are kept ready (a fresh megabyte costs 400 µs in page faults). CUPTI gives buffers back
 * on its own worker thread or on the flush thread, perhaps with locks held that the program's calls
 * need: the buffers are only queued there. The flush thread converts them, zeroes them and puts
 * them back when CUPTI has returned. 'pool.lock' guards the two lists and nothing slow.
 */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "collect/cuda/cuda.h"

/* A buffer of BYTES holds about 500 launches. READY buffers are kept ready, and no more than
 * MAX_FREE free ones are kept at all. More than MAX_BUFFERS (256 MiB) are refused, so that a
 * converter that cannot keep up costs records, not the program's memory; but CUPTI before 12.9
 * could crash on a refusal. */
enum { BYTES = 128 * 1024, READY = 8, MAX_FREE = 512, MAX_BUFFERS = 2048, VERSION_12_9 = 27 };

static struct {
	pthread_mutex_t lock;
	uint8_t *free[MAX_FREE]; /* free buffers, filled with zeros; guarded by 'lock' */
	unsigned n_free;
	struct full {
		uint8_t *buffer;
		size_t size, valid;
		/* Buffers that must be converted, a ring from 'first' on; guarded by 'lock'. */
	} full[MAX_BUFFERS];
	unsigned first, n_full;
	_Atomic uint32_t n_buffers, outstanding;
	_Atomic uint64_t completed;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint8_t *cuda_buffers_make(void)
{
	void *buffer = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (buffer == MAP_FAILED)
		return NULL;
	atomic_fetch_add(&pool.n_buffers, 1);
	return buffer;
}

static void cuda_buffers_unmake(uint8_t *buffer)
{
	munmap(buffer, BYTES);
	atomic_fetch_sub(&pool.n_buffers, 1);
}

static void cuda_buffers_put(uint8_t *buffer)
{
	pthread_mutex_lock(&pool.lock);
	bool is_kept = pool.n_free < MAX_FREE;
	if (is_kept)
		pool.free[pool.n_free++] = buffer;
	pthread_mutex_unlock(&pool.lock);
	if (!is_kept)
		cuda_buffers_unmake(buffer);
}

static uint8_t *cuda_buffers_take(void)
{
	pthread_mutex_lock(&pool.lock);
	uint8_t *buffer = pool.n_free > 0 ? pool.free[--pool.n_free] : NULL;
	pthread_mutex_unlock(&pool.lock);
	return buffer;
}

void cuda_buffers_top_up(void)
{
	for (unsigned i = 0; i < READY; i++) {
		pthread_mutex_lock(&pool.lock);
		unsigned n = pool.n_free;
		pthread_mutex_unlock(&pool.lock);
		uint8_t *buffer = n < READY ? cuda_buffers_make() : NULL;
		if (!buffer)
			return;
		cuda_buffers_put(buffer);
	}
}

void cuda_buffers_request(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*max_records = 0;
	*size = BYTES;
	/* A forked child has no flush thread, and must not take the lock, which the parent may
	 * have held. */
	if (atomic_load(&cuda.stage) == CUDA_OFF) {
		*buffer = cuda_buffers_make();
		return;
	}
	*buffer = cuda_buffers_take();
	if (!*buffer && (atomic_load(&pool.n_buffers) < MAX_BUFFERS || cuda.version < VERSION_12_9))
		*buffer = cuda_buffers_make();
	if (*buffer)
		atomic_fetch_add(&pool.outstanding, 1);
	else
		*size = 0;
	cuda_flush_start();
}

static void cuda_buffers_convert_one(struct full full)
{
	if (full.valid > 0)
		cuda_records_convert(full.buffer, full.valid);
	memset(full.buffer, 0, full.size);
	cuda_buffers_put(full.buffer);
}

void cuda_buffers_complete(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			   size_t valid)
{
	(void)context;
	(void)stream;
	struct full full = {buffer, size, valid};
	if (!buffer)
		return;
	if (atomic_load(&cuda.stage) == CUDA_OFF) {
		cuda_buffers_unmake(buffer);
		return;
	}
	pthread_mutex_lock(&pool.lock);
	bool is_queued = cuda_flush_is_running() && pool.n_full < MAX_BUFFERS;
	if (is_queued)
		pool.full[(pool.first + pool.n_full++) % MAX_BUFFERS] = full;
	pthread_mutex_unlock(&pool.lock);
	if (!is_queued)
		cuda_buffers_convert_one(full);
	atomic_fetch_sub(&pool.outstanding, 1);
	atomic_fetch_add(&pool.completed, 1);
}

void cuda_buffers_convert(void)
{
	for (;;) {
		pthread_mutex_lock(&pool.lock);
		struct full full = pool.full[pool.first];
		bool is_empty = pool.n_full == 0;
		if (!is_empty) {
			pool.first = (pool.first + 1) % MAX_BUFFERS;
			pool.n_full--;
		}
		pthread_mutex_unlock(&pool.lock);
		if (is_empty)
			return;
		cuda_buffers_convert_one(full);
	}
}

uint32_t cuda_buffers_outstanding(void)
{
	return atomic_load(&pool.outstanding);
}

uint64_t cuda_buffers_completed(void)
{
	return atomic_load(&pool.completed);
}
