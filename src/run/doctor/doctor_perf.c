/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_perf.c - what the kernel permits to sample: found out by trying, on this process and for a
 * moment.
 *
 * kernel.perf_event_paranoid alone does not decide: capabilities override it, containers' seccomp
 * filters add to it, and virtual machines have no cycles to count.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "base/lang.h"
#include "run/doctor/doctor.h"
#include "run/host_facts.h"

/* Opens a perf event and closes it; yields 0, or errno. */
static int try_perf_event(struct perf_event_attr attr, pid_t pid, int cpu)
{
	attr.size = sizeof attr;
	attr.disabled = 1;
	int fd = (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static struct perf_event_attr sampling(uint32_t type, uint64_t event, bool kernel)
{
	return (struct perf_event_attr){
		.type = type,
		.config = event,
		.sample_type =
			PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN,
		.freq = 1,
		.sample_freq = 99,
		.exclude_kernel = !kernel,
		.exclude_hv = 1,
		.inherit = 1,
	};
}

static bool may_see_wakeups(void)
{
	static const char *const paths[] = {
		"/sys/kernel/tracing/events/sched/sched_wakeup/id",
		"/sys/kernel/debug/tracing/events/sched/sched_wakeup/id"};
	long id;
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
		if (host_facts_number(paths[i], &id))
			return try_perf_event(
				       (struct perf_event_attr){.type = PERF_TYPE_TRACEPOINT,
								.config = (uint64_t)id,
								.sample_type = PERF_SAMPLE_RAW,
								.sample_period = 1},
				       0, -1) == 0;
	return false;
}

static void try_all(struct doctor *doctor)
{
	const uint32_t soft = PERF_TYPE_SOFTWARE, hard = PERF_TYPE_HARDWARE;
	struct perf_event_attr switches = {.type = soft,
					   .config = PERF_COUNT_SW_DUMMY,
					   .context_switch = 1,
					   .exclude_kernel = 1,
					   .sample_id_all = 1};
	struct perf_event_attr machine = sampling(soft, PERF_COUNT_SW_CPU_CLOCK, false);
	machine.inherit = 0;
	doctor->perf_error = try_perf_event(sampling(soft, PERF_COUNT_SW_CPU_CLOCK, false), 0, -1);
	doctor->cpu_clock = doctor->perf_error == 0;
	doctor->cycles =
		try_perf_event(sampling(hard, PERF_COUNT_HW_CPU_CYCLES, false), 0, -1) == 0;
	doctor->kernel_side =
		try_perf_event(sampling(soft, PERF_COUNT_SW_CPU_CLOCK, true), 0, -1) == 0;
	doctor->switches = try_perf_event(switches, 0, -1) == 0;
	doctor->system_wide = try_perf_event(machine, -1, 0) == 0;
	doctor->wakeups = may_see_wakeups();
}

/* ---- the verdicts ---------------------------------------------------------------------------- */

/* Advises to lower kernel.perf_event_paranoid to 'level', or says what else forbids perf events. */
static void advise_level(struct doctor *doctor, enum doctor_id id, int level)
{
	if (doctor->paranoid > level)
		doctor_advise(doctor, id, "sudo sysctl kernel.perf_event_paranoid=%d", level);
	else if (doctor->perf_error == ENOSYS || doctor->paranoid == DOCTOR_PARANOID_UNKNOWN)
		doctor_advise(doctor, id, "needs a kernel with perf events");
	else
		doctor_advise(doctor, id, "in a container: docker run --cap-add PERFMON ...");
}

static void judge_samples(struct doctor *doctor)
{
	bool any = doctor->cycles || doctor->cpu_clock;
	if (!any) {
		doctor_say(doctor, DOCTOR_SAMPLES, DOCTOR_NO, "perf_event_open: %s",
			   hwy_strerror(doctor->perf_error));
		advise_level(doctor, DOCTOR_SAMPLES, 2);
		return;
	}
	doctor_say(doctor, DOCTOR_SAMPLES, doctor->cycles ? DOCTOR_YES : DOCTOR_PARTLY, "%s%s",
		   hwy_tr(doctor->cycles
				  ? "by hardware cycles"
				  : "by the CPU's clock: no hardware cycles (virtual machine?)"),
		   hwy_tr(doctor->kernel_side ? "" : ", not inside the kernel"));
}

/* Advises how to see wake-ups. The scheduler's tracepoint is in tracefs, which may not be mounted,
 * or not be in the kernel. */
static void advise_wakeups(struct doctor *doctor)
{
	char line[128];
	bool has = false;
	FILE *file = fopen("/proc/filesystems", "re");
	while (file && fgets(line, sizeof line, file))
		has = has || strstr(line, "tracefs");
	if (file)
		fclose(file);
	if (!has)
		doctor_advise(doctor, DOCTOR_SWITCHES, "needs a kernel with tracepoints");
	else if (geteuid() != 0)
		doctor_advise(doctor, DOCTOR_SWITCHES,
			      "sudo sysctl kernel.perf_event_paranoid=-1, or be root");
	else
		doctor_advise(doctor, DOCTOR_SWITCHES,
			      "mount -t tracefs nodev /sys/kernel/tracing");
}

static void judge_switches(struct doctor *doctor)
{
	if (!doctor->switches) {
		doctor_say(doctor, DOCTOR_SWITCHES, DOCTOR_NO, "context switches may not be seen");
		advise_level(doctor, DOCTOR_SWITCHES, 2);
	} else if (!doctor->wakeups) {
		doctor_say(doctor, DOCTOR_SWITCHES, DOCTOR_PARTLY,
			   "context switches, but not who wakes whom");
		advise_wakeups(doctor);
	} else {
		doctor_say(doctor, DOCTOR_SWITCHES, DOCTOR_YES, "context switches and wake-ups");
	}
}

void doctor_perf(struct doctor *doctor)
{
	long paranoid;
	bool is_known = host_facts_number("/proc/sys/kernel/perf_event_paranoid", &paranoid);
	doctor->paranoid = is_known ? (int)paranoid : DOCTOR_PARANOID_UNKNOWN;
	try_all(doctor);
	judge_samples(doctor);
	judge_switches(doctor);
	doctor_say(doctor, DOCTOR_MACHINE, doctor->system_wide ? DOCTOR_YES : DOCTOR_NO,
		   doctor->system_wide ? HWY_KEY("samples of all processes")
				       : HWY_KEY("other processes may not be sampled"));
	if (!doctor->system_wide)
		advise_level(doctor, DOCTOR_MACHINE, 0);
}
