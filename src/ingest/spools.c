/* SPDX-License-Identifier: Apache-2.0 */
/* spools.c - see spools.h.
 *
 * A spool comes from a process that may have been killed or may have overwritten its memory: every
 * length in it is checked. A chunk with a bad header is left out; in a chunk, records are read up
 * to the first record whose length is impossible. Both kinds of damage are counted.
 */
#include "ingest/spools.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "spool/control.h"
#include "spool/record_counters.h"
#include "spool/record_frameworks.h"
#include "spool/record_mpi.h"
#include "spool/record_nccl.h"
#include "spool/record_nvtx.h"

/* ---- records
 * ---------------------------------------------------------------------------------- */

/* Yields the bytes of a record without its variable part; 0: this version of Headway does not
 * know the type. */
static const uint16_t fixed_bytes[REC_TYPES] = {
	[REC_STRING] = offsetof(struct rec_string, text),
	[REC_SHAPE] = sizeof(struct rec_shape),
	[REC_CODE] = offsetof(struct rec_code, table),
	[REC_PROCESS] = sizeof(struct rec_process),
	[REC_EXIT] = sizeof(struct rec_time),
	[REC_THREAD] = sizeof(struct rec_name),
	[REC_MODULE] = sizeof(struct rec_module),
	[REC_DEVICE] = sizeof(struct rec_device),
	[REC_CONTEXT] = sizeof(struct rec_context),
	[REC_STREAM] = sizeof(struct rec_stream),
	[REC_API] = sizeof(struct rec_api),
	[REC_KERNEL] = sizeof(struct rec_work),
	[REC_COPY] = sizeof(struct rec_work),
	[REC_FILL] = sizeof(struct rec_work),
	[REC_GRAPH] = sizeof(struct rec_work),
	[REC_SYNC] = sizeof(struct rec_sync),
	[REC_EVENT] = sizeof(struct rec_sync),
	[REC_MEMORY] = sizeof(struct rec_memory),
	[REC_OVERHEAD] = sizeof(struct rec_overhead),
	/* Ranges without colour and payload take one slot instead of two. */
	[REC_PUSH] = offsetof(struct rec_range, color),
	[REC_POP] = offsetof(struct rec_range, color),
	[REC_RANGE_START] = offsetof(struct rec_range, color),
	[REC_RANGE_END] = offsetof(struct rec_range, color),
	[REC_MARK] = offsetof(struct rec_range, color),
	[REC_NAME] = sizeof(struct rec_naming),
	[REC_PYTHON_STACK] = sizeof(struct rec_stack),
	[REC_NATIVE_STACK] = sizeof(struct rec_stack),
	[REC_NOTE] = offsetof(struct rec_string, text),
	[REC_DROP] = sizeof(struct rec_drop),
	[REC_CLOCK] = sizeof(struct rec_clock),
	[REC_RECORDING] = sizeof(struct rec_time),
	[REC_PROPERTY] = offsetof(struct rec_string, text),
	[REC_STATUS] = sizeof(struct rec_status),
	[REC_OS] = sizeof(struct rec_os),
	[REC_DEPENDS] = offsetof(struct rec_depends, on),
	[REC_COMMAND] = sizeof(struct rec_command),
	[REC_SAMPLE] = sizeof(struct rec_sample),
	[REC_SWITCH] = sizeof(struct rec_switch),
	[REC_WAKEUP] = sizeof(struct rec_wakeup),
	[REC_TASK] = sizeof(struct rec_task),
	[REC_MAP] = sizeof(struct rec_map),
	[REC_OWNER] = sizeof(struct rec_time),
	[REC_INTERRUPTED] = sizeof(struct rec_head),
	[REC_ROOM] = sizeof(struct rec_time),
	[REC_OPERATOR] = sizeof(struct rec_operator),
	[REC_PLACE] = offsetof(struct rec_place, frames),
	[REC_LAYER] = sizeof(struct rec_layer),
	[REC_NODE] = sizeof(struct rec_node),
	[REC_COLLECTION] = sizeof(struct rec_collection),
	[REC_MPI] = sizeof(struct rec_mpi),
	[REC_COMMUNICATOR] = sizeof(struct rec_communicator),
	[REC_PING] = sizeof(struct rec_ping),
	[REC_COUNTER_DEVICE] = sizeof(struct rec_counter_device),
	[REC_COUNTER_LANE] = sizeof(struct rec_counter_lane),
	[REC_COUNTER_VALUE] = sizeof(struct rec_counter_value),
	[REC_COUNTER_ROW] = offsetof(struct rec_counter_row, values),
	[REC_COUNTER_TOTAL] = sizeof(struct rec_counter_total),
	[REC_NCCL_COMM] = sizeof(struct rec_nccl_comm),
	[REC_NCCL_EVENT] = sizeof(struct rec_nccl_event),
	[REC_NCCL_END] = sizeof(struct rec_nccl_end),
	[REC_NCCL_CHANNEL] = sizeof(struct rec_nccl_channel),
	[REC_NCCL_PROXY] = sizeof(struct rec_nccl_proxy),
	[REC_CALL] = sizeof(struct rec_call),
	[REC_NVTX_DEFINITION] = sizeof(struct rec_nvtx_definition),
	[REC_NVTX_PAYLOAD] = sizeof(struct rec_nvtx_payload),
	[REC_NVTX_SAMPLE] = sizeof(struct rec_nvtx_sample),
};

/* Yields the bytes behind a rec_stack: none where the record only repeats the number of an
 * earlier stack. */
static uint64_t native_stack_rest(const struct rec_stack *record)
{
	if (record->number && !record->count)
		return 0;
	return record->count + (uint64_t)REC_STACK_REGS * sizeof(uint64_t);
}

static uint64_t communicator_rest(const struct rec_communicator *record)
{
	return ((uint64_t)record->runs + record->remote_runs) * sizeof *record->run;
}

static uint64_t sample_rest(const struct rec_sample *record)
{
	uint64_t registers = record->stack ? (uint64_t)REC_STACK_REGS * sizeof(uint64_t) : 0;
	uint64_t bytes = ((uint64_t)record->bytes + 7) / 8 * 8;
	return record->depth * (uint64_t)sizeof(uint64_t) + registers + bytes +
	       record->frames * (uint64_t)sizeof(struct rec_frame);
}

static uint64_t payload_rest(const struct rec_nvtx_payload *record)
{
	return ((uint64_t)record->bytes + 7) / 8 * 8 + record->texts * (uint64_t)sizeof(uint32_t);
}

/* Bytes that follow the fixed part, by the counts in the record. The caller has checked that the
 * fixed part is there. */
static uint64_t variable_bytes(const struct rec_head *head)
{
	switch (head->type) {
	case REC_STRING:
	case REC_NOTE:
	case REC_PROPERTY: return ((const struct rec_string *)head)->length;
	case REC_CODE: return ((const struct rec_code *)head)->table_length;
	case REC_PYTHON_STACK:
		return ((const struct rec_stack *)head)->count * (uint64_t)sizeof(struct rec_frame);
	case REC_NATIVE_STACK: return native_stack_rest((const struct rec_stack *)head);
	case REC_DEPENDS: return head->value * (uint64_t)sizeof(uint32_t);
	case REC_SAMPLE: return sample_rest((const struct rec_sample *)head);
	case REC_PLACE:
		return ((const struct rec_place *)head)->count *
		       (uint64_t)sizeof(struct rec_place_frame);
	case REC_COMMUNICATOR: return communicator_rest((const struct rec_communicator *)head);
	case REC_COUNTER_ROW:
		return ((const struct rec_counter_row *)head)->count * (uint64_t)sizeof(double);
	case REC_NVTX_DEFINITION:
		return ((const struct rec_nvtx_definition *)head)->count *
		       (uint64_t)sizeof(struct rec_nvtx_entry);
	case REC_NVTX_PAYLOAD: return payload_rest((const struct rec_nvtx_payload *)head);
	case REC_NVTX_SAMPLE:
		return head->flags == REC_NVTX_BYTES ? ((const struct rec_nvtx_sample *)head)->value
						     : 0;
	default: return 0;
	}
}

struct spool_cursor spools_walk(const struct spool_chunk *chunk)
{
	return (struct spool_cursor){
		.chunk = chunk,
		.next = sizeof(struct rec_chunk) / REC_SLOT,
		.tid = chunk->header->tid,
	};
}

bool spools_next(struct spool_cursor *cursor)
{
	const struct spool_chunk *chunk = cursor->chunk;
	while (cursor->next < chunk->used) {
		const struct rec_head *head = (const void *)((const char *)chunk->header +
							     (size_t)cursor->next * REC_SLOT);
		if (head->slots == 0 || head->slots > chunk->used - cursor->next) {
			cursor->damaged++;
			/* The length is damaged, so that nothing says where the next record
			 * begins. */
			break;
		}
		cursor->next += head->slots;
		if (head->type == REC_NONE || head->type >= REC_TYPES || !fixed_bytes[head->type])
			continue;
		uint64_t bytes = (uint64_t)head->slots * REC_SLOT;
		if (bytes >= fixed_bytes[head->type] &&
		    bytes - fixed_bytes[head->type] >= variable_bytes(head)) {
			cursor->record = head;
			if (head->type == REC_OWNER)
				cursor->tid = head->value;
			return true;
		}
		cursor->damaged++;
	}
	cursor->next = chunk->used;
	return false;
}

/* ---- files
 * ------------------------------------------------------------------------------------ */

static bool is_known_version(uint32_t version)
{
	return version >= REC_OLDEST_VERSION && version <= REC_VERSION;
}

static bool is_all_zero(const struct rec_chunk *chunk)
{
	static const struct rec_chunk nothing;
	return memcmp(chunk, &nothing, sizeof nothing) == 0;
}

/* Adds the chunks of the file that was added last. */
static void find_chunks(struct spools *spools)
{
	const struct spool_file *file = &spools->files[spools->n_files - 1];
	for (size_t from = 0; file->size - from >= sizeof(struct rec_chunk);
	     from += REC_CHUNK_BYTES) {
		const struct rec_chunk *chunk = (const void *)((const char *)file->bytes + from);
		size_t room =
			file->size - from < REC_CHUNK_BYTES ? file->size - from : REC_CHUNK_BYTES;
		/* The writer may still run. It stores 'used' with release order after the records,
		 * so that with this acquire the records before 'used' are complete. */
		uint32_t used = atomic_load_explicit((const _Atomic uint32_t *)&chunk->used,
						     memory_order_acquire);
		if (chunk->magic != REC_MAGIC || !is_known_version(chunk->version) ||
		    used > room / REC_SLOT) {
			spools->damaged += !is_all_zero(chunk);
		} else if (used > sizeof *chunk / REC_SLOT || chunk->dropped) {
			HWY_GROW(spools->chunks, spools->n_chunks, spools->cap_chunks);
			spools->chunks[spools->n_chunks++] = (struct spool_chunk){
				.header = chunk, .used = used, .file = spools->n_files - 1};
		}
		if (file->size - from < REC_CHUNK_BYTES)
			return;
	}
}

static int by_chunk_index(const void *left, const void *right)
{
	const struct spool_chunk *a = left, *b = right;
	return a->header->index < b->header->index ? -1 : a->header->index > b->header->index;
}

/* Reads 'size' bytes at an offset; false where the file does not have them. */
static bool read_at(int fd, void *into, size_t size, size_t offset)
{
	ssize_t n = pread(fd, into, size, (off_t)offset);
	return n >= 0 && (size_t)n == size;
}

/* Reads a file of less than a chunk up to its last record. A short process has such a file: mapped,
 * it would take whole pages, and the kernel grants a process 65,530 mappings only. */
static bool read_small(struct spool_file *file, int fd, size_t size)
{
	struct rec_chunk head;
	if (!read_at(fd, &head, sizeof head, 0))
		return false;
	/* The writer may still run: 'used' as it was before the records were read counts. */
	size_t used = (size_t)head.used * REC_SLOT;
	if (used < sizeof head || used > size)
		used = size; /* the header is damaged: find_chunks counts that */
	*file = (struct spool_file){.bytes = hwy_alloc(used), .size = used};
	memcpy(file->bytes, &head, sizeof head);
	if (read_at(fd, (char *)file->bytes + sizeof head, used - sizeof head, sizeof head))
		return true;
	free(file->bytes);
	return false;
}

/* Whether root reads a file that some process can still write to, through a descriptor or a
 * mapping: a process that has given up its rights keeps its mappings, and must not change a
 * length after it was checked. The kernel grants a lease for reading only on a file that nobody
 * can write to. SIGURG, which is ignored by default, would tell that somebody opened the file in
 * between. */
static bool may_change_under_root(int fd)
{
	if (geteuid() != 0)
		return false;
	fcntl(fd, F_SETSIG, SIGURG);
	bool is_still = fcntl(fd, F_SETLEASE, F_RDLCK) == 0;
	if (is_still)
		fcntl(fd, F_SETLEASE, F_UNLCK);
	return !is_still;
}

/* Copies a file. Chunk by chunk 'used' is read before the records, so that these are complete. */
static bool copy_file(struct spool_file *file, int fd, size_t size)
{
	void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	*file = (struct spool_file){.bytes = bytes, .size = size, .is_mapped = true};
	if (bytes == MAP_FAILED)
		return false;
	for (size_t from = 0; from < size; from += REC_CHUNK_BYTES) {
		size_t room = size - from < REC_CHUNK_BYTES ? size - from : REC_CHUNK_BYTES;
		if (!read_at(fd, (char *)bytes + from, room, from)) {
			munmap(bytes, size);
			return false;
		}
	}
	return true;
}

static bool map_file(struct spool_file *file, int fd, size_t size)
{
	if (may_change_under_root(fd))
		return copy_file(file, fd, size);
	void *bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	*file = (struct spool_file){.bytes = bytes, .size = size, .is_mapped = true};
	return bytes != MAP_FAILED;
}

/* A file that cannot be read counts as damaged. O_NONBLOCK: opening a pipe of that name would wait
 * for a writer. */
static void add_file(struct spools *spools, int directory, const char *name)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat about;
	struct spool_file file;
	if (fd < 0 || fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
		spools->damaged++;
	} else if (about.st_size >= (off_t)sizeof(struct rec_chunk)) {
		size_t size = (size_t)about.st_size;
		if (size < REC_CHUNK_BYTES ? read_small(&file, fd, size)
					   : map_file(&file, fd, size)) {
			HWY_GROW(spools->files, spools->n_files, spools->cap_files);
			spools->files[spools->n_files++] = file;
			uint32_t first = spools->n_chunks;
			find_chunks(spools);
			if (spools->n_chunks > first)
				qsort(spools->chunks + first, spools->n_chunks - first,
				      sizeof *spools->chunks, by_chunk_index);
		} else {
			spools->damaged++;
		}
	}
	if (fd >= 0)
		close(fd);
}

static bool is_spool(const char *name)
{
	size_t n = strlen(name);
	return n > 6 && strcmp(name + n - 6, ".spool") == 0;
}

static int by_file_name(const void *left, const void *right)
{
	return strverscmp(*(char *const *)left, *(char *const *)right);
}

/* Reads the spools in the order of their names, so that equal runs give equal traces. */
static void add_files(struct spools *spools, DIR *listing)
{
	char **names = NULL;
	uint32_t n = 0, cap = 0;
	for (const struct dirent *entry; (entry = readdir(listing));) {
		if (!is_spool(entry->d_name))
			continue;
		HWY_GROW(names, n, cap);
		names[n++] = hwy_copy(entry->d_name, strlen(entry->d_name) + 1);
	}
	if (n)
		qsort(names, n, sizeof *names, by_file_name);
	for (uint32_t i = 0; i < n; i++) {
		add_file(spools, dirfd(listing), names[i]);
		free(names[i]);
	}
	free(names);
}

bool spools_open(struct spools *spools, const char *directory, struct hwy_err *err)
{
	*spools = (struct spools){0};
	DIR *listing = opendir(directory);
	if (!listing)
		return hwy_fail(err, "%s: %s", directory, hwy_strerror(errno));
	spools->has_control = control_read(dirfd(listing), &spools->control);
	add_files(spools, listing);
	closedir(listing);
	if (!spools->has_control && spools->n_files == 0)
		return hwy_fail(err, "%s: not a run directory: no control page and no spool",
				directory);
	return true;
}

void spools_close(struct spools *spools)
{
	for (uint32_t i = 0; i < spools->n_files; i++)
		if (spools->files[i].is_mapped)
			munmap(spools->files[i].bytes, spools->files[i].size);
		else
			free(spools->files[i].bytes);
	free(spools->files);
	free(spools->chunks);
	*spools = (struct spools){0};
}
