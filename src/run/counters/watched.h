/* SPDX-License-Identifier: Apache-2.0 */
/* watched.h - inside the watcher's process: what a source of values is, and how it writes them.
 *
 * Each source has a thread of its own, which calls the functions below in this order:
 *   open, { begin, poll …, end } as often as recording begins and ends, finish.
 * A library that hangs holds up its own source only. All functions of a source are called by its
 * thread. The functions watched_… may be called by any thread; they take a lock for the time of
 * one record, never while a library is asked.
 *
 *   uint32_t gpu = watched_device(watched, uuid, "NVIDIA H200");     // defined once, whoever asks first
 *   uint32_t lane = watched_lanes(watched, gpu, lanes, 5);           // their numbers are in a row
 *   watched_row(watched, lane, now, values, 5);
 */
#ifndef HWY_RUN_COUNTERS_WATCHED_H
#define HWY_RUN_COUNTERS_WATCHED_H

#include "base/err.h"
#include "run/counters/watcher.h"
#include "spool/control.h"
#include "spool/record_counters.h"

struct watched;

struct watch_source {
	/* What the source records, for messages: "clocks and power of the GPU". */
	const char *what;
	/* Yields the state of the source, or NULL with the reason in err. May take long. */
	void *(*open)(struct watched *watched, struct hwy_err *err);
	/* Recording begins, or ends; may be NULL. */
	void (*begin)(void *state, int64_t now);
	void (*end)(void *state, int64_t now);
	/* Called while recording; yields ns of CLOCK_MONOTONIC when to be called again.
	 * INT64_MAX: there is nothing more to be had from this source. */
	int64_t (*poll)(void *state, int64_t now);
	/* Writes what is left, closes libraries. What takes longer than 100 ms calls
	 * watched_is_alive now and then, else the watcher is taken for dead. */
	void (*finish)(void *state);
	bool was_asked_for; /* the user named it: its absence is a warning */
	/* The source that takes the place of this one where it cannot be opened; may be NULL. */
	const struct watch_source *otherwise;
};

/* nvml_clocks.c, pm_watch.c, gpm.c */
extern const struct watch_source nvml_clocks_source, pm_source, gpm_source;

/* What the watcher tells headway through the line, a byte each. */
enum {
	/* A source was opened: there may be values that are not written yet. */
	WATCHER_OPENED = 'o',
	WATCHER_METRICS = 'm', /* GPU metrics can be sampled from now on, or cannot at all */
	WATCHER_ALIVE = 'a',   /* it is at its last work */
	WATCHER_CLOCKS = 'c',  /* clocks and power are written to the end */
};

/* Becomes the watcher; 'line' is its end of the socket. */
_Noreturn void watched_run(const struct run *run, const struct watch_settings *settings, int line);

const struct watch_settings *watched_settings(const struct watched *watched);
/* The control page: settings as the program sees them. Recording or not, and whether there is
 * room, may change. */
const struct rec_control *watched_control(const struct watched *watched);
/* Shows headway that the watcher is at work, after recording has ended. */
void watched_is_alive(struct watched *watched);
/* True once recording has ended for good, and finish is due. */
bool watched_is_over(const struct watched *watched);

/* ---- watched_spool.c: what the watcher writes ---- */

/* Yields the number of a device, by its uuid. */
uint32_t watched_device(struct watched *watched, const uint8_t uuid[16], const char *name);
/* Adds what is known of a device; 0: not known. */
struct watched_facts {
	uint32_t power_limit_mw, most_sm_mhz, most_memory_mhz;
};
void watched_tell_facts(struct watched *watched, uint32_t device, const uint8_t uuid[16],
			const struct watched_facts *facts);
/* Makes n lanes whose numbers follow each other; yields the first. */
struct watched_lane {
	const char *name, *unit;
	uint8_t flags; /* REC_COUNTER_… */
};
uint32_t watched_lanes(struct watched *watched, uint32_t device, const struct watched_lane *lanes,
		       uint32_t n);
void watched_value(struct watched *watched, uint32_t lane, int64_t time, double value);
void watched_row(struct watched *watched, uint32_t first_lane, int64_t time, const double *values,
		 uint32_t n);
void watched_total(struct watched *watched, uint32_t device, int64_t time,
		   enum rec_counter_total_kind kind, uint64_t value, bool is_first);
/* A message for the report; severity as in REC_NOTE. */
void watched_note(struct watched *watched, int severity, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void watched_property(struct watched *watched, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void watched_drop(struct watched *watched, const char *reason, uint64_t count);

struct watched_spool;
struct watched_spool *watched_spool_new(const char *directory, const struct rec_control *control);
/* The spool that the functions above write to. */
struct watched_spool *watched_spool_of(struct watched *watched);

#endif
