/* SPDX-License-Identifier: Apache-2.0 */
/* space.c - see space.h.
 *
 * How often the parent looks depends on how much is free: it must look again before a program that
 * writes FASTEST bytes per ns can have filled what is free. On a busy machine it may get a CPU much
 * later than it asked for. So it measures how fast others fill the disk, and makes room in advance
 * for what they write in REACTION_NS.
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
static const int64_t REACTION_NS = 200 * 1000 * 1000;
/* Others are watched where less than so many times 'keep_free' is free. */
enum { NEAR = 8 };
/* The spools' sizes are added up so rarely that it takes no more than this share of the time. */
enum { SUM_SHARE = 50, MOST_CHANGES = 1000 };

struct space {
	int folder; /* descriptor of the run directory */
	int fd;     /* an open file in it; not owned */
	struct rec_control *control;
	struct journal *journal;
	struct give_back *give_back;
	int64_t look_at; /* ns when to look at the disk again */
	/* ns when to add up the spools again, and when at the soonest, where the disk is nearly
	 * full. */
	int64_t sum_at, sum_soonest;
	bool over_bound;
	int64_t measured_at;             /* ns when 'last_free' and 'last_spools' were measured */
	uint64_t last_free, last_spools; /* bytes that were free, and bytes of the spools */
	uint64_t others;                 /* bytes per second that others write */
	uint32_t changes; /* how often the journal was told that room ended or came back */
};

/* ---- a file system --------------------------------------------------------------------------- */

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

uint64_t space_default_bound(const struct space_place *place, bool is_ring)
{
	uint64_t room = place->free > place->keep_free ? place->free - place->keep_free : 0;
	uint64_t share = room / (place->in_memory ? 8 : 2);
	uint64_t most = place->in_memory ? MOST_BOUND_IN_MEMORY : MOST_BOUND;
	if (is_ring && place->reserve < most)
		most = place->reserve;
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

/* ---- watching -------------------------------------------------------------------------------- */

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

/* Measures how fast others fill the disk: what is less free than before, but for the spools' own
 * growth. A rate is forgotten by and by. */
static void measure_others(struct space *space, const struct space_place *place, uint64_t spools,
			   int64_t now)
{
	int64_t passed = now - space->measured_at;
	int64_t taken =
		(int64_t)(space->last_free - place->free) - (int64_t)(spools - space->last_spools);
	uint64_t rate = 0;
	if (space->measured_at && passed > 0 && taken > 0)
		rate = (uint64_t)((double)taken * 1e9 / (double)passed);
	uint64_t faded = space->others - space->others / 8;
	space->others = rate > faded ? rate : faded;
	space->measured_at = now;
	space->last_free = place->free;
	space->last_spools = spools;
}

/* Adds up the spools where that is due: for the run's bound, and where the disk is nearly full. */
static void measure_spools(struct space *space, const struct space_place *place, int64_t now)
{
	uint64_t bound = space->control->max_bytes;
	bool is_near = place->free / NEAR < place->keep_free;
	if (now < (is_near ? space->sum_soonest : space->sum_at))
		return;
	uint64_t spools = sum_spools(space->folder);
	int64_t rest = (run_now() - now) * SUM_SHARE;
	space->over_bound = bound && spools >= bound;
	space->sum_soonest = now + rest;
	space->sum_at = now + (rest > LOOK_LATEST_NS ? rest : LOOK_LATEST_NS);
	if (is_near) {
		measure_others(space, place, spools, now);
	} else {
		space->others = 0;
		space->measured_at = 0;
	}
}

/* Yields how many bytes are to be free: what recordings leave alone, and what others write until
 * headway can look again. */
static uint64_t wanted_free(const struct space *space, const struct space_place *place)
{
	double ahead = (double)space->others * (double)REACTION_NS / 1e9;
	return place->keep_free + (ahead < (double)place->size ? (uint64_t)ahead : place->size);
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
	measure_spools(space, &place, now);
	/* What the spools left free is written by the program: it comes first. */
	uint64_t margin = place.keep_free - place.reserve, wanted = wanted_free(space, &place);
	if (place.free < wanted - margin / 2) {
		uint64_t given = give_back_events(space->give_back, wanted - place.free);
		place.free += given;
		space->last_free += given;
		space->last_spools -= given < space->last_spools ? given : space->last_spools;
	}
	/* Room that comes back must be more than a little, lest the recording have many gaps. */
	if (space->control->full == REC_FULL_DISK)
		wanted += margin / 2;
	set_full(space,
		 space->over_bound     ? REC_FULL_BOUND
		 : place.free < wanted ? REC_FULL_DISK
				       : REC_FULL_NO,
		 now);
	uint64_t lasts = place.free / FASTEST; /* ns that the room lasts at least */
	int64_t wait = lasts < (uint64_t)LOOK_LATEST_NS ? (int64_t)lasts : LOOK_LATEST_NS;
	return space->look_at = now + (wait < LOOK_SOONEST_NS ? LOOK_SOONEST_NS : wait);
}
