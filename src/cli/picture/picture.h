/* picture.h - a stretch of time as rows of cells: what each thread that launches and each device was doing.
 *
 *   struct hwy_picture picture;
 *   if (!picture_make(trace, &(struct picture_options){.from = from, .to = to, .cells = 72}, &picture, err))
 *           return false;
 *   enum picture_state first = picture.rows[0].cells[0].state;
 *   picture_free(&picture);
 *
 * A cell is [from + c·(to - from)/cells, …). Of the states that share it, the one with the most time is
 * shown; nothing (between calls, idle) only gives way where something else is seen at all, so that a kernel of
 * 2 us in a cell of 8 is still there, and 'part' says how much of the cell it takes. States exclude each
 * other: a wait hides the call around it, a call what the OS does inside it, compute hides copies under it.
 */
#ifndef HWY_CLI_PICTURE_PICTURE_H
#define HWY_CLI_PICTURE_PICTURE_H

#include "analyze/intervals.h"
#include "trace/trace.h"

enum picture_state {
	PICTURE_NOTHING, /* a thread between calls, a device without work */
	/* of threads, the strongest first */
	PICTURE_WAIT, /* in a call that waits for the device */
	PICTURE_CALL, /* in another call of the vendor's library */
	PICTURE_OS,   /* in the operating system, outside such calls */
	/* of devices, the strongest first */
	PICTURE_COMPUTE,
	PICTURE_COMM,
	PICTURE_COPY,
	PICTURE_FILL,
	PICTURE_STATES
};

struct picture_cell {
	uint8_t state; /* enum picture_state */
	uint8_t part; /* of the cell's time, in 255ths; at least 1 where the state is not NOTHING */
};

struct picture_label {
	struct hwy_interval at; /* inside the window */
	int64_t name;           /* text */
};

enum picture_row_type {
	PICTURE_RANGES, /* labels: the ranges of a thread; 'index' its thread */
	PICTURE_THREAD, /* cells; 'index' in the trace's threads, or HWY_NONE */
	PICTURE_DEVICE, /* cells of all its streams; 'index' in the trace's devices, or HWY_NONE */
	PICTURE_DEVICE_RANGES, /* labels: the ranges its work was launched in */
	PICTURE_STREAM,        /* cells; 'index' is its lane. Only where a device used several */
};

struct picture_row {
	enum picture_row_type type;
	int64_t index;
	struct picture_cell *cells;
	struct picture_label *labels;
	uint32_t n_labels, cap_labels;
	int64_t time[PICTURE_STATES]; /* of the whole window; adds up to it */
	/* Devices: ops that were enqueued and had not ended, in the window. n_ahead: ops whose launch is
	 * known; without any nothing is known. */
	uint32_t n_ahead, most_ahead;
	double mean_ahead; /* over time */
};

struct hwy_picture {
	int64_t from, to;
	uint32_t cells;
	struct picture_row *rows; /* threads, then devices */
	uint32_t n, cap;
	uint32_t more_threads, more_streams, more_devices; /* left out */
};

struct picture_options {
	int64_t from, to; /* from < to */
	uint32_t cells;   /* at least 1 */
	/* rows at most; 0: 3 threads, 6 streams a device, 8 devices */
	uint32_t threads, streams, devices;
	bool no_ranges;
};

bool picture_make(struct hwy_trace *trace, const struct picture_options *options,
		  struct hwy_picture *picture, struct hwy_err *err);
void picture_free(struct hwy_picture *picture);

/* ---- inside this room ---- */

/* A new row, to be filled in; pointers to rows move when one is added. */
struct picture_row *picture_add(struct hwy_picture *picture, enum picture_row_type type,
				int64_t index);
void picture_add_label(struct picture_row *row, struct hwy_interval at, int64_t name);

/* picture_cells.c: fills the cells of a row from layers, the strongest first: a layer's state gets what no
 * layer before it covers. */
enum { PICTURE_LAYERS = 4 };
struct picture_layer {
	enum picture_state state;
	struct hwy_interval *spans; /* in order of start */
	uint32_t n, cap;
};
void picture_layer_add(struct picture_layer *layer, int64_t from, int64_t to);
void picture_fill(const struct hwy_picture *picture, struct picture_row *row,
		  struct picture_layer *layers, uint32_t n_layers);

/* picture_ahead.c: how far ahead the CPU was. Ops come in any order. */
struct picture_queue {
	int64_t *enqueued, *ended;
	uint32_t n, cap_enqueued, cap_ended;
};
void picture_queue_add(struct picture_queue *queue, int64_t enqueued, int64_t ended);
/* Fills in the row, frees the queue. */
void picture_ahead(const struct hwy_picture *picture, struct picture_queue *queue,
		   struct picture_row *row);

/* picture_ranges.c: the names. 'threads' are those that have rows. */
struct picture_names;
bool picture_names_find(struct hwy_trace *trace, const struct hwy_picture *picture,
			const int64_t *threads, uint32_t n, struct picture_names **names,
			struct hwy_err *err);
/* One row of ranges, or two. */
void picture_add_ranges(struct hwy_picture *picture, const struct picture_names *names);
/* The row of a device: its work in the window, in order of start, each given the time of its launch;
 * 'range' is 0 at first and belongs to the row. */
void picture_add_launched(const struct picture_names *names, struct picture_row *row,
			  uint32_t *range, struct hwy_interval at, int64_t process,
			  int64_t launched);
int64_t picture_names_thread(const struct picture_names *names);
void picture_names_free(struct picture_names *names);

#endif
