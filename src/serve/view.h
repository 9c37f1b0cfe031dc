/* view.h - a report as the viewer sees it: lanes that can be asked for the spans of any window.
 *
 * Times inside are the trace's; the page's are relative to 'origin'. Columns and indexes of a lane come in when
 * its spans are first asked for, some ten bytes a span: all of a small lane, which stays, and of a large one the chunks
 * that the report's pyramid names for a window, which go when there are many (view_trim). Nothing here locks: callers
 * hold the lock of view.
 */
#ifndef HWY_SERVE_VIEW_H
#define HWY_SERVE_VIEW_H

#include "serve/packed.h"
#include "serve/protocol.h"
#include "trace/trace.h"

enum { INDEX_BITS = 8, INDEX_ROWS = 1 << INDEX_BITS, VIEW_LOOKS = 131071 };

#define VIEW_COLUMNS                                                                               \
	(HWY_COL_BIT(HWY_START) | HWY_COL_BIT(HWY_DUR) | HWY_COL_BIT(HWY_NAME) |                   \
	 HWY_COL_BIT(HWY_FLAGS) | HWY_COL_BIT(HWY_DIRECTION) | HWY_COL_BIT(HWY_SYNC_TYPE) |        \
	 HWY_COL_BIT(HWY_OPERATION))

struct view_strip {
	struct view_block {    /* what INDEX_ROWS rows, and in 'far' as many blocks, hold at most */
		int64_t reach; /* the latest end */
		int64_t longest; /* the longest duration */
	} * blocks, *far;
	uint8_t *rows;  /* of a whole lane, by span: its depth on the lane; NULL: 0 */
	uint8_t *there; /* by chunk: it is loaded and in the index */
};

struct view_lane {
	uint32_t first, n; /* strips of the trace */
	uint64_t spans;
	int64_t from, to; /* first start, last end */
	int leaf;         /* lowest stored level of its pyramid, or -1 */
	uint8_t classes;  /* bits of the classes its pyramid has; 0: not known */
	bool is_ready;    /* all of it is there */
	uint8_t depth;    /* rows in use, as far as is known */
	struct view_strip *strips;
};

enum { HARDWARE_ANY = 3 }; /* behind the classes: their union */

struct view_device { /* the union of a device's streams, by class */
	bool is_ready;
	unsigned level;
	int64_t base; /* index of the first bucket */
	uint32_t n;
	int64_t *cover[4]; /* ns of each bucket */
};

struct hwy_work;

struct view_trace {
	struct hwy_trace *trace; /* the caller's */
	const char *source;      /* the file as the user named it */
	int64_t origin, from, to;
	struct view_lane *lanes;     /* parallel to the trace's */
	struct view_device *devices; /* likewise */
	struct hwy_work *work;       /* hardware.c */
	uint64_t whole;              /* lanes of so many spans come as a whole */
	uint64_t held, most_held;    /* bytes of large lanes that are there, about; and may stay */
	struct known_look {
		uint32_t id; /* plus one */
		uint8_t look;
	} * looks; /* of VIEW_LOOKS spans, by id */
};

bool view_open(struct view_trace *view, struct hwy_trace *trace, const char *source,
	       struct hwy_err *err);
void view_close(struct view_trace *view); /* the trace stays */

/* Brings in what spans_touching needs for these arguments. */
bool view_need(struct view_trace *view, uint32_t lane, int64_t from, int64_t to, int64_t least,
	       struct hwy_err *err);
/* Columns (of VIEW_COLUMNS) of some rows of a strip, for those who go through many: they may call view_trim between. */
bool view_need_rows(struct view_trace *view, uint32_t strip, uint64_t columns, uint32_t first,
		    uint32_t n, struct hwy_err *err);
/* Gives the memory of large lanes back when it has become much. Call it while nobody holds a row. */
void view_trim(struct view_trace *view);

struct view_span {
	int64_t start, dur;
	uint32_t strip, row;
	uint8_t depth; /* on the lane; spans of large lanes that overlap without nesting may have another elsewhere */
};
struct view_spans {
	struct view_span *v; /* free() it */
	uint32_t n, cap;
};
/* Adds the spans of a lane that are at least so long and touch [from, to): they start in it, or before it and end
 * after 'from'. In order of start, longer first, and with their depth, when the list was empty. False when there are
 * more than 'most'. view_need comes first. */
bool spans_touching(struct view_trace *view, uint32_t lane, int64_t from, int64_t to, int64_t least,
		    uint32_t most, struct view_spans *out);
void spans_sort(struct view_spans *spans);

static inline uint32_t span_id(const struct view_trace *view, const struct view_span *span)
{
	return view->trace->strips[span->strip].first + span->row;
}
/* Its depth, when it comes from no list. */
bool span_find_depth(struct view_trace *view, struct view_span *span, struct hwy_err *err);
/* The first row of a strip that starts at or after a time; where its chunk is not there, the one after the chunk. */
uint32_t view_row_at(const struct hwy_strip *strip, int64_t time);

/* span_names.c: the id of a span's name, made up where the trace has none; needs NAME and the kind's name_column. */
enum { NAMES_MADE = 24 }; /* ids behind the trace's texts */
int64_t span_name(const struct hwy_trace *trace, const struct hwy_strip *strip, uint32_t row);
struct hwy_text name_text(const struct hwy_trace *trace, int64_t id);
/* The column that tells what a span without a name is; HWY_NAME: none does. And the name from its value. */
enum hwy_col name_column(enum hwy_kind kind);
int64_t name_of(const struct hwy_trace *trace, enum hwy_kind kind, int64_t name, int64_t what);

/* span_color.c: enum view_look; needs NAME of the span. */
uint8_t look_of(struct hwy_trace *trace, enum hwy_kind kind, int64_t name);
/* Class of busy time: enum hwy_class, or HWY_BUSY_OTHER. */
unsigned busy_class(struct hwy_trace *trace, enum hwy_kind kind, int64_t name);

#endif
