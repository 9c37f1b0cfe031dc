/* SPDX-License-Identifier: Apache-2.0 */
/* give_back.c - see give_back.h.
 *
 * A row of events between two definitions becomes one record of type REC_NONE, written by one
 * store of its head, and the pages inside become a hole. Whenever headway is killed in between, a
 * reader finds whole records. Only chunks that nobody writes to are changed: those that another
 * chunk follows, and all chunks of a process that has ended. The page with the chunk's head and the
 * page with the end of its records stay in any case.
 *
 * The program can write into its spools what it likes, or cut them: everything is copied before it
 * is looked at, and nothing is mapped.
 */
#include "run/give_back.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/index.h"
#include "base/mem.h"
#include "spool/record.h"

enum { PAGE = 4096, HEAD_SLOTS = sizeof(struct rec_chunk) / REC_SLOT };

struct spool_left { /* a spool, and what is left of it to give back */
	char *name;
	uint64_t size;
	uint64_t chunk; /* the first chunk that was not given back yet */
	int64_t opened; /* ns when that chunk was begun; INT64_MAX: the chunk may not be changed */
};

struct give_back {
	int folder;
	struct hwy_index known; /* maps a file's name to an index into 'spools' */
	struct spool_left *spools;
	uint32_t n, cap;
	bool refused; /* the file system cannot make holes in files */
	char *copy;   /* of one chunk */
};

struct give_back *give_back_open(int folder)
{
	struct give_back *give_back = hwy_zalloc(sizeof *give_back);
	give_back->folder = folder;
	give_back->copy = hwy_alloc(REC_CHUNK_BYTES);
	return give_back;
}

void give_back_close(struct give_back *give_back)
{
	if (!give_back)
		return;
	for (uint32_t i = 0; i < give_back->n; i++)
		free(give_back->spools[i].name);
	free(give_back->spools);
	free(give_back->copy);
	hwy_index_free(&give_back->known);
	free(give_back);
}

/* ---- which chunk is next --------------------------------------------------------------------- */

static bool is_over(uint32_t pid)
{
	return pid && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

/* Finds out whether the spool's next chunk can be given back, and how old the chunk is. */
static void look_at_next(const struct give_back *give_back, struct spool_left *spool)
{
	struct rec_chunk head;
	uint64_t from = spool->chunk * REC_CHUNK_BYTES;
	spool->opened = INT64_MAX;
	if (spool->size < from + PAGE)
		return;
	int fd = openat(give_back->folder, spool->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return;
	bool followed = spool->size > from + REC_CHUNK_BYTES;
	if (pread(fd, &head, sizeof head, (off_t)from) == (ssize_t)sizeof head &&
	    head.magic == REC_MAGIC && head.version == REC_VERSION &&
	    (followed || is_over(head.pid)))
		spool->opened = head.opened;
	close(fd);
}

static void add_spool(struct give_back *give_back, const char *name)
{
	struct stat about;
	size_t length = strlen(name);
	if (length < 6 || strcmp(name + length - 6, ".spool") != 0 ||
	    fstatat(give_back->folder, name, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
	    !S_ISREG(about.st_mode) || about.st_size <= PAGE)
		return;
	bool fresh;
	uint32_t *index = hwy_index_put(&give_back->known, name, length, &fresh);
	if (fresh) {
		*index = give_back->n;
		HWY_GROW(give_back->spools, give_back->n, give_back->cap);
		give_back->spools[give_back->n++] =
			(struct spool_left){.name = hwy_copy(name, length + 1)};
	}
	struct spool_left *spool = &give_back->spools[*index];
	spool->size = (uint64_t)about.st_size;
	look_at_next(give_back, spool);
}

static void find_spools(struct give_back *give_back)
{
	int fd = openat(give_back->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *listing = fd >= 0 ? fdopendir(fd) : NULL;
	if (!listing && fd >= 0)
		close(fd);
	for (const struct dirent *entry; listing && (entry = readdir(listing));)
		add_spool(give_back, entry->d_name);
	if (listing)
		closedir(listing);
}

static struct spool_left *find_oldest(const struct give_back *give_back)
{
	struct spool_left *oldest = NULL;
	for (uint32_t i = 0; i < give_back->n; i++)
		if (give_back->spools[i].opened != INT64_MAX &&
		    (!oldest || give_back->spools[i].opened < oldest->opened))
			oldest = &give_back->spools[i];
	return oldest;
}

/* ---- one chunk ------------------------------------------------------------------------------- */

static bool is_event(uint8_t type)
{
	switch (type) {
	case REC_API:
	case REC_KERNEL:
	case REC_COPY:
	case REC_FILL:
	case REC_GRAPH:
	case REC_SYNC:
	case REC_EVENT:
	case REC_MEMORY:
	case REC_OVERHEAD:
	case REC_PUSH:
	case REC_POP:
	case REC_RANGE_START:
	case REC_RANGE_END:
	case REC_MARK:
	case REC_PYTHON_STACK:
	case REC_NATIVE_STACK:
	case REC_OS:
	case REC_SAMPLE:
	case REC_SWITCH:
	case REC_WAKEUP:
	case REC_DEPENDS:
	case REC_COMMAND:
	case REC_OPERATOR:
	case REC_COLLECTION:
	case REC_CALL:
	case REC_NVTX_PAYLOAD:
	case REC_NVTX_SAMPLE:
	case REC_COUNTER_VALUE:
	case REC_COUNTER_ROW: return true;
	default: return false;
	}
}

struct event_row { /* slots [from, to) of a chunk that hold events only */
	uint32_t from, to, events;
};

/* Makes a row of events one record without a meaning, and its pages a hole; yields the bytes given
 * back. */
static uint64_t give_back_row(struct give_back *give_back, int fd, uint64_t chunk,
			      struct event_row row, uint32_t *events)
{
	uint64_t first = ((uint64_t)(row.from + 1) * REC_SLOT + PAGE - 1) / PAGE * PAGE;
	uint64_t last = (uint64_t)row.to * REC_SLOT / PAGE * PAGE;
	if (row.from == row.to || first >= last || give_back->refused)
		return 0;
	/* The loss is counted first: a loss that did not happen is better than one not told. */
	*events += row.events;
	struct rec_head head = {.type = REC_NONE, .slots = (uint16_t)(row.to - row.from)};
	off_t place = (off_t)(chunk + (uint64_t)row.from * REC_SLOT);
	if (pwrite(fd, events, sizeof *events,
		   (off_t)(chunk + offsetof(struct rec_chunk, given_back))) != sizeof *events ||
	    pwrite(fd, &head, sizeof head, place) != sizeof head)
		return 0;
	if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(chunk + first),
		      (off_t)(last - first)) == 0)
		return last - first;
	give_back->refused = true;
	return 0;
}

static uint64_t give_back_chunk(struct give_back *give_back, int fd, uint64_t chunk)
{
	char *copy = give_back->copy;
	ssize_t got = pread(fd, copy, REC_CHUNK_BYTES, (off_t)chunk);
	const struct rec_chunk *header = (const void *)copy;
	if (got < (ssize_t)sizeof *header || header->magic != REC_MAGIC ||
	    header->used > (uint64_t)got / REC_SLOT)
		return 0;
	uint64_t bytes = 0;
	uint32_t events = header->given_back;
	struct event_row row = {HEAD_SLOTS, HEAD_SLOTS, 0};
	for (uint32_t slot = HEAD_SLOTS; slot < header->used;) {
		const struct rec_head *head = (const void *)(copy + (size_t)slot * REC_SLOT);
		uint32_t slots = head->slots;
		if (slots == 0 || slots > header->used - slot)
			break;
		bool joins = head->type == REC_NONE || is_event(head->type);
		if (!joins)
			bytes += give_back_row(give_back, fd, chunk, row, &events);
		slot += slots;
		if (!joins)
			row = (struct event_row){slot, slot, 0};
		row.to = slot;
		row.events += joins && head->type != REC_NONE;
	}
	return bytes + give_back_row(give_back, fd, chunk, row, &events);
}

uint64_t give_back_events(struct give_back *give_back, uint64_t bytes)
{
	if (!give_back || give_back->refused)
		return 0;
	find_spools(give_back);
	uint64_t given = 0;
	struct spool_left *spool;
	while (given < bytes && !give_back->refused && (spool = find_oldest(give_back))) {
		int fd = openat(give_back->folder, spool->name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
		if (fd >= 0) {
			given += give_back_chunk(give_back, fd, spool->chunk * REC_CHUNK_BYTES);
			close(fd);
		}
		spool->chunk++;
		look_at_next(give_back, spool);
	}
	return given;
}
