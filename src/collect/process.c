/* SPDX-License-Identifier: Apache-2.0 */
/* process.c - a process of the run: how it joins, what it records about itself, how it leaves.
 *
 * The constructor runs in every process that the library is preloaded into, before the program's
 * own code. It does nothing where the environment names no run directory, or one that Headway did
 * not make. A forked child registers itself as a new process: in the atfork handler, or with its
 * first record where no handler was called. A process that is killed loses only its REC_EXIT.
 */
#include "collect/process.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "collect/collect.h"
#include "collect/handed.h"
#include "collect/late.h"
#include "collect/spool.h"
#include "collect/sys.h"
#include "spool/control.h"
#include "spool/rank_variables.h"

/* Tests build the collector without the files of cuda/: there cuda_finish and cuda_after_fork
 * are NULL. */
#pragma weak cuda_finish
#pragma weak cuda_after_fork
#pragma weak cuda_begin_again

struct process process;

/* 1 in the process that wrote it. The kernel wipes the page in a forked child, so that the child
 * reads 0. NULL: the kernel cannot do that (before Linux 4.14). */
static uint32_t *unforked;
static uint32_t python_version;
static struct ranks ranks;

/* ---- records about the process --------------------------------------------------------------- */

/* Yields the text id of a small file's contents, cut to REC_MAX_TEXT bytes. */
static uint32_t text_of_file(const char *path)
{
	char *text = sys_memory(REC_MAX_TEXT);
	int fd = text ? sys_open(path, O_RDONLY) : -1;
	size_t length = 0;
	while (fd >= 0 && length < REC_MAX_TEXT) {
		long got = sys_read(fd, text + length, REC_MAX_TEXT - length);
		if (got <= 0)
			break;
		length += (size_t)got;
	}
	if (fd >= 0)
		sys_close(fd);
	while (length && text[length - 1] == '\0')
		length--;
	uint32_t id = length ? collect_string(text, length) : 0;
	if (text)
		sys_unmap(text, REC_MAX_TEXT);
	return id;
}

/* Yields the text id of the executable's path. The buffer is mapped, because fork may be called
 * on a stack smaller than a path (4 KiB). */
uint32_t process_program(void)
{
	enum { MOST_PATH = 4096 };
	char *path = sys_memory(MOST_PATH);
	long length =
		path ? syscall(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, MOST_PATH) : 0;
	uint32_t id = length > 0 ? collect_string(path, (size_t)length) : 0;
	if (path)
		sys_unmap(path, MOST_PATH);
	return id;
}

static void put_process(void)
{
	char host[256] = "";
	gethostname(host, sizeof host - 1);
	uint32_t exe_id = process_program();
	uint32_t command_id = text_of_file("/proc/self/cmdline");
	uint32_t host_id = collect_string_z(host);
	struct rec_process *record = collect_reserve(REC_PROCESS, 2);
	if (!record)
		return;
	record->start = process.start;
	record->pid = process.pid;
	record->parent = (uint32_t)syscall(SYS_getppid);
	record->exe = exe_id;
	record->command = command_id;
	record->rank = ranks.rank;
	record->local_rank = ranks.local_rank;
	record->world = ranks.world;
	record->python = python_version;
	record->host = host_id;
	collect_publish(record);
}

void process_look_again(uint32_t python)
{
	struct ranks now = ranks_of_environment();
	bool same = now.rank == ranks.rank && now.local_rank == ranks.local_rank &&
		    now.world == ranks.world;
	if (same && (!python || python == python_version))
		return;
	ranks = now;
	python_version = python ? python : python_version;
	put_process();
}

static int64_t clock_of(clockid_t clock)
{
	struct timespec now;
	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void put_clock(void)
{
	struct rec_clock *record = collect_reserve(REC_CLOCK, 1);
	if (!record)
		return;
	int64_t before = clock_of(CLOCK_MONOTONIC);
	record->raw = clock_of(CLOCK_MONOTONIC_RAW);
	record->realtime = clock_of(CLOCK_REALTIME);
	record->monotonic = before + (clock_of(CLOCK_MONOTONIC) - before) / 2;
	collect_publish(record);
}

/* ---- fork, vfork, exit
 * -------------------------------------------------------------------------- */

/* True in a process whose clock is not the run's, so that its times would mean nothing (a time
 * namespace, see unshare -T). Counts the process. */
static bool has_other_clock(struct rec_control *control)
{
	uint64_t namespace = control_time_namespace();
	if (!namespace || !control->time_namespace || namespace == control->time_namespace)
		return false;
	atomic_fetch_add((_Atomic uint32_t *)&control->elsewhen, 1);
	return true;
}

bool process_is_borrowed(void)
{
	return unforked && *unforked && sys_pid() != process.pid;
}

bool process_is_mute(void)
{
	return process.sealed || process_is_borrowed();
}

static void process_take_identity(void)
{
	uint32_t pid = sys_pid();
	if (process.pid != pid) /* in another run of the same process other threads read it */
		process.pid = pid;
	process.start = collect_now();
	atomic_fetch_add(&process.generation, 1);
	if (unforked && !*unforked)
		*unforked = 1;
}

void process_after_fork(void)
{
	if (!collect_control || process_is_mute() || sys_pid() == process.pid)
		return;
	int saved = errno;
	if (has_other_clock(collect_control)) {
		process.sealed = true;
		errno = saved;
		return;
	}
	process_take_identity();
	text_ids_after_fork();
	spool_after_fork();
	modules_after_fork();
	python_after_fork();
	late_after_fork();
	nvtx_after_fork();
	if (cuda_after_fork)
		cuda_after_fork();
	put_process();
	put_clock();
	errno = saved;
}

void process_put_exit(uint8_t flags)
{
	struct rec_time *record = collect_reserve(REC_EXIT, 1);
	if (!record)
		return;
	record->head.flags = flags;
	record->time = collect_now();
	collect_publish(record);
}

/* Records what is known only at the end: what was learnt of the process meanwhile, the names of
 * its threads, how many texts were lost, modules that were loaded late, and the clock once more. */
static void put_last_facts(void)
{
	process_look_again(0);
	spool_name_threads();
	text_ids_tell_lost();
	uint64_t signals = sys_hold_signals();
	modules_scan();
	sys_restore_signals(signals);
	put_clock();
}

static void process_exit(void)
{
	/* ended: the generation whose exit was recorded: a forked child has a higher one, and
	 * records its own exit. */
	static _Atomic uint32_t ended;
	process_after_fork();
	if (!collect_control || process_is_mute() ||
	    atomic_exchange(&ended, process.generation) == process.generation)
		return;
	int saved = errno;
	if (cuda_finish)
		cuda_finish();
	nvtx_exit();
	put_last_facts();
	process_put_exit(0);
	errno = saved;
}

/* ---- the beginning
 * ------------------------------------------------------------------------------ */

/* False where the settings are those of somebody else. They say which library is loaded at the
 * next exec: a process must not take that from a user who has fewer rights than the process
 * itself. */
static bool settings_are_ours(int fd)
{
	struct stat about;
	return fstat(fd, &about) == 0 && (about.st_uid == 0 || about.st_uid == geteuid());
}

/* Copies the settings of the run into memory that nobody can write any more, and maps the run's
 * state behind them. NULL: there is no such run, or the process may not use it. */
static struct rec_control *map_control(const char *run)
{
	int folder = sys_open(run, O_PATH | O_DIRECTORY);
	int settings = folder < 0 ? -1 : control_open(folder, CONTROL_FILE, O_RDONLY);
	int state = settings < 0 ? -1 : control_open(folder, STATE_FILE, O_RDWR);
	struct stat about;
	struct rec_control *control = NULL;
	if (state >= 0 && settings_are_ours(settings) && fstat(state, &about) == 0 &&
	    (size_t)about.st_size >= REC_STATE_BYTES)
		control = sys_memory(sizeof *control);
	if (control && (!control_read_settings(settings, control) ||
			mmap(&control->recording, REC_STATE_BYTES, PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_FIXED, state, 0) == MAP_FAILED ||
			mprotect(control, REC_STATE_OFFSET, PROT_READ) != 0)) {
		sys_unmap(control, sizeof *control);
		control = NULL;
	}
	int opened[] = {folder, settings, state};
	for (size_t i = 0; i < sizeof opened / sizeof *opened; i++)
		if (opened[i] >= 0)
			sys_close(opened[i]);
	return control;
}

/* Done once in a process: how forks and the exit are noticed. */
static void watch_process(void)
{
	unforked = sys_memory(4096);
	if (unforked && sys_advise(unforked, 4096, MADV_WIPEONFORK) != 0) {
		sys_unmap(unforked, 4096);
		unforked = NULL;
	}
	pthread_atfork(spool_before_fork, spool_forked, process_after_fork);
	atexit(process_exit);
	at_quick_exit(process_exit);
}

static void register_process(const char *run)
{
	strcpy(process.run, run);
	if (!process.joined)
		watch_process();
	process_take_identity();
	ranks = ranks_of_environment();
	process.has_run = true;
	put_process();
	put_clock();
	modules_scan();
	process.joined = true;
	late_join();
}

/* Puts settings and state of another run in the place of those that the process has: others in
 * the process, such as sibling libraries, keep the address. Nothing is recorded meanwhile. The
 * new mapping is used up. */
static bool replace_control(struct rec_control *fresh)
{
	struct rec_control *control = collect_control;
	if (mprotect(control, REC_STATE_OFFSET, PROT_READ | PROT_WRITE) != 0)
		return false;
	memcpy(control, fresh, REC_CONTROL_BYTES);
	mprotect(control, REC_STATE_OFFSET, PROT_READ);
	bool moved = mremap(&fresh->recording, REC_STATE_BYTES, REC_STATE_BYTES,
			    MREMAP_MAYMOVE | MREMAP_FIXED, &control->recording) != MAP_FAILED;
	sys_unmap(fresh, moved ? REC_STATE_OFFSET : sizeof *fresh);
	return moved;
}

/* What was defined in the spools of the run before is not in those of the next. */
static void begin_again(void)
{
	spool_file_after_fork();
	modules_begin_again();
	python_begin_again();
	if (cuda_begin_again)
		cuda_begin_again();
}

bool process_join(const char *run)
{
	bool is_first = !process.joined;
	if (process.has_run || process.sealed || run[0] != '/' || strlen(run) >= sizeof process.run)
		return false;
	struct rec_control *control = map_control(run);
	if (!control)
		return false;
	if (is_first)
		handed_init(control);
	if (control_seccomp_filters() > control->seccomp_filters) {
		process_seal_at_start();
		atomic_fetch_add((_Atomic uint32_t *)&control->sealed, 1);
		return false;
	}
	if (has_other_clock(control) || (is_first && !spool_init()))
		return false;
	if (!collect_control) /* threads that run already may look */
		__atomic_store_n(&collect_control, control, __ATOMIC_RELEASE);
	else if (!replace_control(control))
		return false;
	register_process(run);
	if (!is_first)
		begin_again();
	return true;
}

bool process_expect_run(void)
{
	if (collect_control)
		return true;
	struct rec_control *control = sys_memory(sizeof *control);
	if (!control)
		return false;
	control->traces = UINT32_MAX;
	__atomic_store_n(&collect_control, control, __ATOMIC_RELEASE);
	return true;
}

void process_leave(void)
{
	if (!process.has_run)
		return;
	int saved = errno;
	put_last_facts();
	process.has_run = false;
	/* Each thread finds that its spool is of an older generation, and gives it up with its
	 * next record. */
	atomic_fetch_add(&process.generation, 1);
	/* A state of our own, in which nothing is recorded: the run's parent has no say any
	 * more. Where the mapping fails, has_run alone keeps records from being written. */
	(void)mmap(&collect_control->recording, REC_STATE_BYTES, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	errno = saved;
}

static __attribute__((constructor)) void process_begin(void)
{
	int saved = errno;
	exec_init();
	hidden_init();
	late_init();
	const char *run = getenv("HEADWAY_RUN");
	if (run)
		process_join(run);
	errno = saved;
}
