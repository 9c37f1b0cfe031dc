/* SPDX-License-Identifier: Apache-2.0 */
/* space.c - see space.h.
 *
 * How often the parent looks depends on how much is free: it must look again before a program that
 * writes FASTEST bytes per ns can have filled what is free.
 */
#include "run/space.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "run/give_back.h"
#include "run/journal.h"
#include "run/run.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

static const uint64_t MOST_RESERVE = GIB, MOST_MARGIN = 64 * MIB;
static const uint64_t MOST_BOUND = 16 * GIB, MOST_BOUND_IN_MEMORY = 512 * MIB;

static const uint64_t FASTEST = 4; /* bytes per ns that a program may write */
static const int64_t LOOK_SOONEST_NS = 2 * 1000 * 1000, LOOK_LATEST_NS = 100 * 1000 * 1000;
/* The spools' sizes are added up so rarely that it takes no more than this share of the time. */
enum { SUM_SHARE = 50, MOST_CHANGES = 1000 };

struct space {
	int folder; /* descriptor of the run directory */
	int fd;     /* an open file in it; not owned */
	struct rec_control *control;
	struct journal *journal;
	struct give_back *give_back;
	int64_t look_at, sum_at; /* ns when to look at the disk, and at the sizes of the spools */
	bool over_bound;
	uint32_t changes; /* how often the journal was told that room ended or came back */
};

/* ---- a file system ---------------------------------------------------------------------------- */

/* Yields how many bytes of memory programs can still get; UINT64_MAX: not known. */
static uint64_t available_memory(void)
{
	char line[256];
	unsigned long long kib = UINT64_MAX / 1024;
	FILE *file = fopen("/proc/meminfo", "re");
	while (file && fgets(line, sizeof line, file))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			break;
	if (file)
		fclose(file);
	return kib * 1024;
}

static void describe(const struct statfs *about, struct space_place *place)
{
	uint64_t block = (uint64_t)(about->f_frsize ? about->f_frsize : about->f_bsize);
	uint64_t share = (uint64_t)about->f_blocks * block / 20;
	*place = (struct space_place){
		.size = (uint64_t)about->f_blocks * block,
		.free = (uint64_t)about->f_bavail * block,
		.reserve = share < MOST_RESERVE ? share : MOST_RESERVE,
		.in_memory = about->f_type == TMPFS_MAGIC || about->f_type == RAMFS_MAGIC,
	};
	if (place->in_memory) {
		uint64_t memory = available_memory();
		/* A ramfs, and a tmpfs without a size, tell of no blocks at all. */
		if (place->size == 0)
			*place = (struct space_place){memory, memory, memory / 20, 0, true};
		place->free = memory < place->free ? memory : place->free;
	}
	uint64_t margin = place->reserve < MOST_MARGIN ? place->reserve : MOST_MARGIN;
	place->keep_free = place->reserve + margin;
}

bool space_look(const char *folder, struct space_place *place)
{
	struct statfs about;
	if (statfs(folder, &about) != 0)
		return false;
	describe(&about, place);
	return true;
}

bool space_look_at_file(int fd, struct space_place *place)
{
	struct statfs about;
	if (fstatfs(fd, &about) != 0)
		return false;
	describe(&about, place);
	return true;
}

uint64_t space_default_bound(const struct space_place *place)
{
	uint64_t room = place->free > place->keep_free ? place->free - place->keep_free : 0;
	uint64_t share = room / (place->in_memory ? 8 : 2);
	uint64_t most = place->in_memory ? MOST_BOUND_IN_MEMORY : MOST_BOUND;
	return share < most ? share : most;
}

enum rec_full space_refusal(int fd, const struct rec_control *control, uint64_t more)
{
	uint32_t full = atomic_load((const _Atomic uint32_t *)&control->full);
	struct space_place place;
	if (full)
		return full < REC_FULL_REASONS ? (enum rec_full)full : REC_FULL_DISK;
	if (!control->keep_free || !space_look_at_file(fd, &place))
		return REC_FULL_NO;
	return place.free < control->keep_free + more ? REC_FULL_DISK : REC_FULL_NO;
}

/* ---- watching --------------------------------------------------------------------------------- */

struct space *space_open(const char *directory, int fd, struct rec_control *control,
			 struct journal *journal)
{
	int folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return NULL;
	struct space *space = hwy_zalloc(sizeof *space);
	space->folder = folder;
	space->fd = fd;
	space->control = control;
	space->journal = journal;
	space->give_back = control->keep_s ? NULL : give_back_open(folder);
	return space;
}

void space_close(struct space *space)
{
	if (!space)
		return;
	give_back_close(space->give_back);
	close(space->folder);
	free(space);
}

/* Yields the bytes that the spools take on the disk. */
static uint64_t sum_spools(int folder)
{
	uint64_t bytes = 0;
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *listing = fd >= 0 ? fdopendir(fd) : NULL;
	if (!listing && fd >= 0)
		close(fd);
	struct stat about;
	for (const struct dirent *entry; listing && (entry = readdir(listing));)
		if (strstr(entry->d_name, ".spool") &&
		    fstatat(folder, entry->d_name, &about, AT_SYMLINK_NOFOLLOW) == 0)
			bytes += (uint64_t)about.st_blocks * 512;
	if (listing)
		closedir(listing);
	return bytes;
}

/* Tells collectors and the journal whether spools may grow. */
static void set_full(struct space *space, enum rec_full full, int64_t now)
{
	_Atomic uint32_t *field = (_Atomic uint32_t *)&space->control->full;
	if (atomic_exchange(field, full) != full && space->changes++ < MOST_CHANGES)
		journal_room(space->journal, full, now);
}

static void watch_bound(struct space *space, int64_t now)
{
	if (!space->control->max_bytes || now < space->sum_at)
		return;
	space->over_bound = sum_spools(space->folder) >= space->control->max_bytes;
	int64_t took = run_now() - now;
	space->sum_at =
		now + (took * SUM_SHARE > LOOK_LATEST_NS ? took * SUM_SHARE : LOOK_LATEST_NS);
}

int64_t space_watch(struct space *space, int64_t now)
{
	struct space_place place;
	if (!space)
		return INT64_MAX;
	if (now < space->look_at)
		return space->look_at;
	if (!space_look_at_file(space->fd, &place))
		return space->look_at = now + LOOK_LATEST_NS;
	/* What the spools left free was written by the program: it comes first. */
	uint64_t margin = place.keep_free - place.reserve;
	if (place.free < place.keep_free - margin / 2)
		place.free += give_back_events(space->give_back, place.keep_free - place.free);
	watch_bound(space, now);
	uint32_t full = space->control->full;
	/* Room that comes back must be more than a little, lest the recording have many gaps. */
	uint64_t needed = place.keep_free + (full == REC_FULL_DISK ? margin / 2 : 0);
	set_full(space,
		 space->over_bound     ? REC_FULL_BOUND
		 : place.free < needed ? REC_FULL_DISK
				       : REC_FULL_NO,
		 now);
	int64_t wait =
		(int64_t)(place.free / FASTEST < INT64_MAX ? place.free / FASTEST : INT64_MAX);
	wait = wait < LOOK_SOONEST_NS ? LOOK_SOONEST_NS : wait;
	wait = wait > LOOK_LATEST_NS ? LOOK_LATEST_NS : wait;
	return space->look_at = now + wait;
}
