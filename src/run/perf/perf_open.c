/* SPDX-License-Identifier: Apache-2.0 */
/* perf_open.c - opens the kernel's events, one set for each CPU: an inherited event can be read
 * only so.
 *
 * What is asked for is reduced in this order until the kernel agrees: the CPU's clock instead of
 * cycles (a virtual machine has none); nothing of what happens inside the kernel; only the
 * program's own processes. Wake-ups are recorded where the tracepoint may be used.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "run/host_facts.h"
#include "run/journal.h"
#include "run/perf/perf_internal.h"
#include "run/run.h"

/* The most bytes of all rings together, the most bytes of one ring, and the least bytes of one
 * ring. */
static const uint64_t MOST_BYTES = UINT64_C(64) << 20, MOST_RING_BYTES = UINT64_C(4) << 20,
		      LEAST_RING_BYTES = UINT64_C(64) << 10;

/* PERF_FORMAT_LOST, since Linux 6.0: read() of an event tells how many of its records found no room
 * in the ring. Headers of older systems lack the name. */
static const uint64_t COUNT_LOSSES = 1 << 4;

static int event_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	attr->read_format = COUNT_LOSSES;
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0 && errno == EINVAL) { /* an older kernel */
		attr->read_format = 0;
		fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	}
	return (int)fd;
}

bool perf_is_permitted(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
				       .size = sizeof attr,
				       .config = PERF_COUNT_SW_CPU_CLOCK,
				       .sample_type = PERF_SAMPLE_IP,
				       .freq = 1,
				       .sample_freq = 99,
				       .exclude_kernel = 1,
				       .exclude_hv = 1,
				       .inherit = 1,
				       .disabled = 1};
	int fd = event_open(&attr, 0, -1);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static uint64_t losses_of_event(int fd)
{
	struct {
		uint64_t value, lost;
	} counted;
	return fd >= 0 && read(fd, &counted, sizeof counted) == sizeof counted ? counted.lost : 0;
}

uint64_t perf_losses(const struct perf *perf)
{
	uint64_t lost = 0;
	for (uint32_t i = 0; i < perf->n_rings; i++)
		lost += losses_of_event(perf->rings[i].fd) + losses_of_event(perf->rings[i].wakes);
	return lost;
}

static long number_in_file(const char *path, long otherwise)
{
	long number = otherwise;
	host_facts_number(path, &number);
	return number;
}

/* ---- what to ask for ------------------------------------------------------------------------- */

#if defined(__x86_64__)
/* Bits of BX, BP, SP, IP and R12 to R15 in asm/perf_regs.h: the registers that rec_stack has. */
static const uint64_t wanted_registers = 1 << 1 | 1 << 6 | 1 << 7 | 1 << 8 | 15 << 20;
#else
static const uint64_t wanted_registers = 0;
#endif

static void describe_samples(const struct perf *perf, struct perf_event_attr *attr)
{
	const struct perf_settings *settings = &perf->settings;
	attr->sample_type |= PERF_SAMPLE_PERIOD;
	if (settings->period && attr->type == PERF_TYPE_HARDWARE) {
		attr->sample_period = settings->period;
	} else {
		attr->freq = 1;
		attr->sample_freq = settings->rate_hz;
	}
	if (settings->backtrace != PERF_BACKTRACE_NONE)
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (settings->backtrace == PERF_BACKTRACE_DWARF && wanted_registers != 0) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		attr->sample_regs_user = wanted_registers;
		attr->sample_stack_user = REC_STACK_BYTES;
	}
}

static struct perf_event_attr describe_event(const struct perf *perf, bool cycles, bool kernel)
{
	bool samples = perf->settings.samples != PERF_NONE;
	struct perf_event_attr attr = {
		.size = sizeof attr,
		.type = samples && cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = !samples ? PERF_COUNT_SW_DUMMY
			  : cycles ? PERF_COUNT_HW_CPU_CYCLES
				   : PERF_COUNT_SW_CPU_CLOCK,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.disabled = 1,
		.inherit = !perf->system_wide,
		.enable_on_exec = !perf->system_wide,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.exclude_kernel = !kernel,
		.exclude_hv = 1,
		.exclude_idle = 1,
		.context_switch = perf->settings.switches != PERF_NONE,
		/* Every sample can wake the reader, which decides whether it sleeps until a
		 * sample comes. */
		.wakeup_events = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	if (samples)
		describe_samples(perf, &attr);
	return attr;
}

/* ---- rings ----------------------------------------------------------------------------------- */

static bool map_ring(struct perf *perf, struct perf_ring *ring)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	for (;; perf->ring_bytes /= 2) {
		void *page_and_data = mmap(NULL, page + perf->ring_bytes, PROT_READ | PROT_WRITE,
					   MAP_SHARED, ring->fd, 0);
		if (page_and_data != MAP_FAILED) {
			ring->page = page_and_data;
			return true;
		}
		/* All rings have one size: once a ring is mapped, the next rings must have the
		 * size of the first. */
		if (perf->n_rings || perf->ring_bytes <= LEAST_RING_BYTES ||
		    (errno != EPERM && errno != ENOMEM))
			return false;
	}
}

static void close_ring(const struct perf *perf, struct perf_ring *ring)
{
	if (ring->page)
		munmap(ring->page, (size_t)sysconf(_SC_PAGESIZE) + perf->ring_bytes);
	if (ring->wakes >= 0)
		close(ring->wakes);
	close(ring->fd);
}

void perf_close(struct perf *perf)
{
	for (uint32_t i = 0; i < perf->n_rings; i++)
		close_ring(perf, &perf->rings[i]);
	perf->n_rings = 0;
}

/* Opens an event and a ring on every CPU; false with errno when one is refused. Where the rings
 * exceed the memory that a user may lock, all begin again with smaller ones. */
static bool open_on_all_cpus(struct perf *perf, struct perf_event_attr *attr)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	pid_t pid = perf->system_wide ? -1 : perf->run->pid;
	perf->ring_bytes = MOST_RING_BYTES;
	while (perf->ring_bytes > LEAST_RING_BYTES &&
	       perf->ring_bytes * (uint64_t)cpus > MOST_BYTES)
		perf->ring_bytes /= 2;
	for (int cpu = 0; cpu < cpus;) {
		struct perf_ring ring = {.cpu = (uint32_t)cpu, .wakes = -1};
		ring.fd = event_open(attr, pid, cpu);
		if (ring.fd < 0 && errno == ENODEV) { /* the CPU is switched off */
			cpu++;
			continue;
		}
		if (ring.fd >= 0 && map_ring(perf, &ring)) {
			HWY_GROW(perf->rings, perf->n_rings, perf->cap_rings);
			perf->rings[perf->n_rings++] = ring;
			cpu++;
			continue;
		}
		int reason = errno;
		bool smaller = ring.fd >= 0 && perf->n_rings && perf->ring_bytes > LEAST_RING_BYTES;
		if (ring.fd >= 0)
			close(ring.fd);
		perf_close(perf);
		errno = reason;
		if (!smaller)
			return false;
		perf->ring_bytes /= 2;
		cpu = 0;
	}
	perf->sample_type = attr->sample_type;
	errno = ENODEV;
	return perf->n_rings > 0;
}

/* ---- wake-ups -------------------------------------------------------------------------------- */

/* The tracepoints of wake-ups, best first. sched_waking is hit by the thread that wakes;
 * sched_wakeup often on the CPU of the thread that is woken, in nobody's name. */
static const char *const wakeups[] = {
	"/sys/kernel/tracing/events/sched/sched_waking",
	"/sys/kernel/debug/tracing/events/sched/sched_waking",
	"/sys/kernel/tracing/events/sched/sched_wakeup",
	"/sys/kernel/debug/tracing/events/sched/sched_wakeup",
};

/* Finds the tracepoint's number, and the offset of the woken thread's tid in its record; false:
 * there is none that may be used. */
static bool find_wakeup(uint64_t *number, uint32_t *tid_offset)
{
	for (size_t i = 0; i < sizeof wakeups / sizeof *wakeups; i++) {
		char path[128], line[256];
		snprintf(path, sizeof path, "%s/id", wakeups[i]);
		long id = number_in_file(path, -1);
		snprintf(path, sizeof path, "%s/format", wakeups[i]);
		FILE *file = id > 0 ? fopen(path, "re") : NULL;
		unsigned offset = 0;
		while (file && !offset && fgets(line, sizeof line, file))
			if (strstr(line, " pid;") && !strstr(line, "common_pid"))
				sscanf(strstr(line, " pid;"), " pid; offset:%u;", &offset);
		if (file)
			fclose(file);
		*number = (uint64_t)id;
		*tid_offset = offset;
		if (offset)
			return true;
	}
	return false;
}

static void open_wakeups(struct perf *perf)
{
	struct perf_event_attr attr = {
		.size = sizeof attr,
		.type = PERF_TYPE_TRACEPOINT,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW,
		.sample_period = 1,
		.disabled = 1,
		.inherit = !perf->system_wide,
		.enable_on_exec = !perf->system_wide,
		.sample_id_all = 1,
		.wakeup_events = 1000,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	uint64_t number, id;
	if (perf->settings.switches == PERF_NONE || !find_wakeup(&number, &perf->wake_tid_offset))
		return;
	attr.config = number;
	for (uint32_t i = 0; i < perf->n_rings; i++) {
		struct perf_ring *ring = &perf->rings[i];
		int fd = event_open(&attr, perf->system_wide ? -1 : perf->run->pid, (int)ring->cpu);
		if (fd < 0)
			return;
		if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) != 0 ||
		    ioctl(fd, PERF_EVENT_IOC_ID, &id) != 0) {
			close(fd);
			return;
		}
		ring->wakes = fd;
		HWY_GROW(perf->wake_ids, perf->n_wake_ids, perf->cap_wake_ids);
		perf->wake_ids[perf->n_wake_ids++] = id;
	}
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Lowers the rate to the kernel's own limit, which the kernel lowers by itself on a busy machine:
 * it refuses a higher rate. */
static void respect_limit(struct perf *perf)
{
	long most = number_in_file("/proc/sys/kernel/perf_event_max_sample_rate", INT32_MAX);
	if (perf->settings.samples == PERF_NONE || most <= 0 || perf->settings.rate_hz <= most)
		return;
	char text[160];
	snprintf(text, sizeof text,
		 "CPU samples: %ld a second instead of %u (kernel.perf_event_max_sample_rate)",
		 most, perf->settings.rate_hz);
	journal_note(perf->run->journal, 2, text);
	perf->settings.rate_hz = (uint32_t)most;
}

static void record_event(const struct perf *perf, bool cycles)
{
	char rate[32];
	int n = snprintf(rate, sizeof rate, "%u", perf->settings.rate_hz);
	if (perf->settings.samples == PERF_NONE)
		return;
	journal_property(perf->run->journal, "sampling.event", cycles ? "cycles" : "cpu-clock",
			 cycles ? 6 : 9);
	journal_property(perf->run->journal, "sampling.rate_hz", rate, (size_t)n);
}

static bool open_what_is_permitted(struct perf *perf)
{
	int reason = 0;
	for (int kernel = 1; kernel >= 0; kernel--)
		for (int cycles = 1; cycles >= 0; cycles--) {
			struct perf_event_attr attr = describe_event(perf, cycles, kernel);
			if (open_on_all_cpus(perf, &attr)) {
				record_event(perf, cycles);
				return true;
			}
			/* Keep the error "not permitted", which tells a user more than "no
			 * cycles here". */
			if (!reason || errno == EACCES || errno == EPERM)
				reason = errno;
		}
	errno = reason;
	return false;
}

static void explain_refusal(const struct perf *perf, int reason, char *text, size_t size)
{
	long level = number_in_file("/proc/sys/kernel/perf_event_paranoid", -2);
	long wanted = perf->system_wide ? 0 : 2;
	if ((reason == EACCES || reason == EPERM) && level > wanted)
		snprintf(text, size,
			 "kernel.perf_event_paranoid is %ld; to permit it: sudo sysctl "
			 "kernel.perf_event_paranoid=%ld",
			 level, wanted);
	else if (reason == EACCES || reason == EPERM || reason == ENOSYS)
		snprintf(
			text, size,
			"perf_event_open is not permitted here (%s); in a container: --cap-add PERFMON, or a "
			"seccomp profile that allows it",
			hwy_strerror(reason));
	else
		snprintf(text, size, "perf_event_open: %s", hwy_strerror(reason));
}

bool perf_open(struct perf *perf, char *reason, size_t size)
{
	respect_limit(perf);
	if (open_what_is_permitted(perf)) {
		open_wakeups(perf);
		return true;
	}
	explain_refusal(perf, errno, reason, size);
	return false;
}
