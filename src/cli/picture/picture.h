/* SPDX-License-Identifier: Apache-2.0 */
/* picture.h - a stretch of time as rows of cells: what each thread that launches and each device
 * was doing.
 *
 *   struct hwy_picture picture;
 *   if (!picture_make(trace, &(struct picture_options){.from = from, .to = to, .cells = 72}, &picture, err))
 *           return false;
 *   enum picture_state first = picture.rows[0].cells[0].state;
 *   picture_free(&picture);
 *
 * A recording without device work and without calls shows its busiest threads instead.
 *
 * A cell is [from + c·(to - from)/cells, …). Of the states that share it, the one with the most
 * time is shown; nothing (between calls, idle) only gives way where something else is seen at
 * all, so that a kernel of 2 us in a cell of 8 is still there, and 'part' says how much of the
 * cell it takes. Time in the OS does not: between calls that take longer it is not shown. States
 * exclude each other: a wait hides the call around it, a call what the OS does inside it,
 * compute hides copies under it.
 */
#ifndef HWY_CLI_PICTURE_PICTURE_H
#define HWY_CLI_PICTURE_PICTURE_H

#include "analyze/intervals.h"
#include "trace/trace.h"

enum picture_state {
	PICTURE_NOTHING, /* a thread is between calls, a device has no work */
	/* States of threads; an earlier state hides a later one. */
	PICTURE_WAIT, /* the thread is in a call that waits for the device */
	PICTURE_CALL, /* the thread is in another call of the vendor's library */
	/* the thread is in the operating system, outside calls of the vendor's library */
	PICTURE_OS,
	/* The thread runs on a CPU; only in recordings that have neither device work nor calls. */
	PICTURE_RUN,
	/* States of devices; an earlier state hides a later one. */
	PICTURE_COMPUTE,
	PICTURE_COMM,
	PICTURE_COPY,
	PICTURE_FILL,
	PICTURE_STATES
};

struct picture_cell {
	uint8_t state; /* enum picture_state */
	/* How much of the cell's time the state takes, in 255ths; at least 1 where the state is not
	 * PICTURE_NOTHING. */
	uint8_t part;
};

struct picture_label {
	struct hwy_interval at; /* the part of the window for which the name holds */
	int64_t name;           /* id of a text of the trace */
};

enum picture_row_type {
	PICTURE_RANGES, /* labels: the ranges of the thread 'index' */
	PICTURE_THREAD, /* cells of the thread 'index' of the trace, or HWY_NONE */
	PICTURE_DEVICE, /* cells of all streams of the device 'index' of the trace, or HWY_NONE */
	PICTURE_DEVICE_RANGES, /* labels: the ranges that launched the work of the device 'index' */
	/* Cells of the stream whose lane is 'index'. Only a device with several streams has rows of
	 * this type. */
	PICTURE_STREAM,
};

struct picture_row {
	enum picture_row_type type;
	int64_t index;
	struct picture_cell *cells;
	struct picture_label *labels;
	uint32_t n_labels, cap_labels;
	int64_t time[PICTURE_STATES]; /* by state: ns in the state; the sum is the window */
	/* Devices: how many ops were enqueued and had not ended, at most and on average over the
	 * window. n_ahead counts the ops whose launch was recorded; where it is 0 the others
	 * mean nothing. */
	uint32_t n_ahead, most_ahead;
	double mean_ahead;
};

struct hwy_picture {
	int64_t from, to;
	uint32_t cells;
	struct picture_row *rows; /* rows of threads, then rows of devices */
	uint32_t n, cap;
	/* Threads, streams and devices that have no row, because picture_options limits the
	 * rows. */
	uint32_t more_threads, more_streams, more_devices;
	bool launches; /* threads were chosen by the device work that they launched */
};

struct picture_options {
	int64_t from, to; /* the window, ns; 'from' is before 'to' */
	uint32_t cells;   /* number of cells in a row, at least 1 */
	/* The most rows of each type; 0 means 3 threads, 6 streams of a device, 8 devices. */
	uint32_t threads, streams, devices;
	bool no_ranges;
};

bool picture_make(struct hwy_trace *trace, const struct picture_options *options,
		  struct hwy_picture *picture, struct hwy_err *err);
void picture_free(struct hwy_picture *picture);

/* ---- inside this room ---- */

/* Adds an empty row. Pointers to other rows become invalid. */
struct picture_row *picture_add(struct hwy_picture *picture, enum picture_row_type type,
				int64_t index);
void picture_add_label(struct picture_row *row, struct hwy_interval at, int64_t name);

/* picture_cells.c: fills the cells of a row from layers. A layer's state gets the time that no
 * layer before it covers. */
enum { PICTURE_LAYERS = 4 };
struct picture_layer {
	enum picture_state state;
	struct hwy_interval *spans; /* the spans in order of start */
	uint32_t n, cap;
};
void picture_layer_add(struct picture_layer *layer, int64_t from, int64_t to);
void picture_fill(const struct hwy_picture *picture, struct picture_row *row,
		  struct picture_layer *layers, uint32_t n_layers);

/* picture_host.c: recordings that have neither device work nor calls of a vendor's library. */
#define PICTURE_HOST_KINDS                                                                         \
	(HWY_KIND_BIT(HWY_OS) | HWY_KIND_BIT(HWY_STATE) | HWY_KIND_BIT(HWY_SAMPLE) |               \
	 HWY_KIND_BIT(HWY_OP) | HWY_KIND_BIT(HWY_CALL) | HWY_KIND_BIT(HWY_RANGE))
/* Counts for each thread the spans of these kinds that lie in the window; loads what
 * picture_host_runs needs too. */
bool picture_host_score(struct hwy_trace *trace, const struct picture_options *options,
			uint64_t *scores, struct hwy_err *err);
/* Adds to a layer when the thread ran: by its states; where it has none, by its samples; where it
 * has neither, by the operators, functions and ranges it was in. */
void picture_host_runs(const struct hwy_trace *trace, int64_t thread,
		       const struct picture_options *options, struct picture_layer *layer);

/* picture_ahead.c: the times at which ops were enqueued and ended, in any order; they give the
 * CPU's lead. */
struct picture_queue {
	int64_t *enqueued, *ended;
	uint32_t n, cap_enqueued, cap_ended;
};
void picture_queue_add(struct picture_queue *queue, int64_t enqueued, int64_t ended);
/* Computes the lead for a row of a device, and frees the queue. */
void picture_ahead(const struct hwy_picture *picture, struct picture_queue *queue,
		   struct picture_row *row);

/* picture_ranges.c: finds the ranges to show. 'threads' are the threads that have rows; *names
 * stays NULL where there are no ranges. */
struct picture_names;
bool picture_names_find(struct hwy_trace *trace, const struct hwy_picture *picture,
			const int64_t *threads, uint32_t n, struct picture_names **names,
			struct hwy_err *err);
/* Adds one row of ranges, or two. */
void picture_add_ranges(struct hwy_picture *picture, const struct picture_names *names);
/* Adds work to the row of names of a device; called for its work in order of start. 'launched'
 * is the time of the launch in 'process'. *range is 0 at first and then keeps the range that was
 * added last. */
void picture_add_launched(const struct picture_names *names, struct picture_row *row,
			  uint32_t *range, struct hwy_interval at, int64_t process,
			  int64_t launched);
int64_t picture_names_thread(const struct picture_names *names);
void picture_names_free(struct picture_names *names);

#endif
