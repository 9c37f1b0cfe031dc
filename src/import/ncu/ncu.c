/* SPDX-License-Identifier: Apache-2.0 */
/* ncu.c - reads what `ncu --csv` printed: the counters of kernels that Nsight Compute has
 * measured.
 *
 * Three tables are understood, by the names of their columns: `--page raw` (a row for each
 * launch, a column for each counter, the units in a row of their own), `--page details` and
 * plain `--csv` (a row for each counter of a launch, under the counter's name or under its
 * label), and `--print-summary` (a row for each counter of a kernel, with its average). The
 * trace has no spans, only measured kernels and their counters; times are ns, sizes bytes, rates
 * a second, whatever unit ncu chose to print. A counter that ncu could not read is left out.
 */
#include "import/ncu/ncu.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum column {
	COLUMN_ID,
	COLUMN_PROCESS,
	COLUMN_KERNEL,
	COLUMN_BLOCK,
	COLUMN_GRID,
	COLUMN_DEVICE,
	COLUMN_CC,
	COLUMN_INVOCATIONS,
	COLUMN_METRIC,
	COLUMN_UNIT,
	COLUMN_VALUE,
	COLUMN_AVERAGE,
	COLUMNS
};
static const char *const column_names[COLUMNS] = {
	"ID", "Process ID",  "Kernel Name", "Block Size",  "Grid Size",    "Device",
	"CC", "Invocations", "Metric Name", "Metric Unit", "Metric Value", "Average"};

enum { ABSENT = -1 };

/* The columns of the table that is being read. A file may hold several tables. */
struct layout {
	int at[COLUMNS]; /* the place of each column in a row, or ABSENT */
	uint32_t n;      /* columns of the header */
	/* Of a table with a column for each counter: by column the counter's name, "" where the
	 * column is none. */
	char **metrics;
	struct ncu_unit *units;
	bool *is_left_out; /* by column: its unit is not known */
	bool is_wide, has_units;
};

static bool fail_row(struct ncu *n, const char *what)
{
	return hwy_fail(n->err, "%s: line %" PRIu64 ": %s", n->path, n->rows.line, what);
}

static const char *field(const struct ncu *n, const struct layout *layout, enum column column)
{
	int at = layout->at[column];
	return at != ABSENT && (uint32_t)at < n->rows.n ? n->rows.fields[at].at : "";
}

static void layout_free(struct layout *layout)
{
	for (uint32_t i = 0; layout->metrics && i < layout->n; i++)
		free(layout->metrics[i]);
	free(layout->metrics);
	free(layout->units);
	free(layout->is_left_out);
	*layout = (struct layout){0};
}

/* ---- the header ------------------------------------------------------------------------------ */

/* Whether a column of a wide table is a counter's: those names, and no others, have "__" in
 * them. */
static bool is_metric(const char *name)
{
	return strstr(name, "__") != NULL;
}

static bool read_header(struct ncu *n, struct layout *layout)
{
	layout_free(layout);
	layout->n = n->rows.n;
	layout->metrics = hwy_zarray(layout->n, sizeof *layout->metrics);
	layout->units = hwy_zarray(layout->n, sizeof *layout->units);
	layout->is_left_out = hwy_zarray(layout->n, sizeof *layout->is_left_out);
	for (int c = 0; c < COLUMNS; c++)
		layout->at[c] = ABSENT;
	for (uint32_t i = 0; i < n->rows.n; i++) {
		const char *name = n->rows.fields[i].at;
		for (int c = 0; c < COLUMNS; c++)
			if (layout->at[c] == ABSENT && strcmp(name, column_names[c]) == 0)
				layout->at[c] = (int)i;
		const char *metric = is_metric(name) ? name : ncu_label_metric(name, NCU_COUNT);
		layout->metrics[i] =
			hwy_copy(metric ? metric : "", metric ? strlen(metric) + 1 : 1);
	}
	layout->is_wide = layout->at[COLUMN_METRIC] == ABSENT;
	if (!layout->is_wide && layout->at[COLUMN_VALUE] == ABSENT &&
	    layout->at[COLUMN_AVERAGE] == ABSENT)
		return fail_row(
			n, "the table has a column \"Metric Name\", but neither \"Metric Value\" "
			   "nor \"Average\"; is this the output of ncu --csv?");
	return true;
}

static void note_unit(struct ncu *n, const char *unit)
{
	if (n->unknown_units++ == 0)
		snprintf(n->unknown_unit, sizeof n->unknown_unit, "%s", unit);
}

/* Reads the unit of a counter. A time in a unit that is not known is not taken for a number of
 * ns: it would be wrong by any factor. */
static bool read_unit(const char *metric, const char *text, struct ncu_unit *unit)
{
	bool is_time = strstr(metric, "__time_duration") != NULL;
	return ncu_unit_read(text, unit) && (!is_time || !*text || unit->class == NCU_TIME);
}

/* The row behind a wide table's header holds the units; it has no number of a launch and no
 * kernel. */
static void read_units(struct ncu *n, struct layout *layout)
{
	for (uint32_t i = 0; i < layout->n && i < n->rows.n; i++) {
		const char *unit = n->rows.fields[i].at;
		if (*layout->metrics[i] &&
		    !read_unit(layout->metrics[i], unit, &layout->units[i])) {
			layout->is_left_out[i] = true;
			note_unit(n, unit);
		}
	}
	layout->has_units = true;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Reads "(256, 1, 1)" or "256,1,1"; false where the text is no triple of positive numbers. */
static bool read_triple(const char *text, int64_t out[3])
{
	for (int i = 0; i < 3; i++) {
		text += strspn(text, "( ,");
		char *end;
		long long number = strtoll(text, &end, 10);
		if (end == text || number < 1 || number > UINT32_MAX)
			return false;
		out[i] = number;
		text = end;
	}
	return true;
}

static int64_t read_whole(const char *text)
{
	char *end;
	long long number = strtoll(text, &end, 10);
	return end != text && number >= 0 && number <= UINT32_MAX ? number : HWY_NONE;
}

static void read_launch(struct ncu *n, const struct layout *layout, struct ncu_launch *launch)
{
	int64_t grid[3], block[3];
	const char *cc = field(n, layout, COLUMN_CC), *dot = strchr(cc, '.');
	*launch = (struct ncu_launch){
		.name = hwy_text_id(n->b, field(n, layout, COLUMN_KERNEL)),
		.ordinal = read_whole(field(n, layout, COLUMN_DEVICE)),
		.process = read_whole(field(n, layout, COLUMN_PROCESS)),
		.major = read_whole(cc),
		.minor = dot ? read_whole(dot + 1) : HWY_NONE,
		.launches = read_whole(field(n, layout, COLUMN_INVOCATIONS)),
	};
	if (launch->launches < 1)
		launch->launches = 1;
	if (read_triple(field(n, layout, COLUMN_GRID), grid) &&
	    read_triple(field(n, layout, COLUMN_BLOCK), block)) {
		memcpy(&launch->shape.grid_x, grid, sizeof grid);
		memcpy(&launch->shape.block_x, block, sizeof block);
	}
}

/* Yields the launch that a row belongs to: rows of one process, number and kernel are of one
 * launch; in a summary, which has no numbers, those of one kernel and shape. */
static uint32_t launch_of(struct ncu *n, const struct layout *layout)
{
	static const enum column keys[] = {COLUMN_PROCESS, COLUMN_ID, COLUMN_KERNEL, COLUMN_BLOCK,
					   COLUMN_GRID};
	struct hwy_bytes key = {0};
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		const char *text = field(n, layout, keys[i]);
		hwy_bytes_put(&key, text, strlen(text) + 1);
	}
	bool fresh;
	uint32_t *index = hwy_index_put(&n->by_key, key.bytes, key.n, &fresh);
	hwy_bytes_free(&key);
	if (fresh) {
		HWY_GROW(n->launches, n->n_launches, n->cap_launches);
		read_launch(n, layout, &n->launches[n->n_launches]);
		*index = n->n_launches++;
	}
	return *index;
}

static bool add_cell(struct ncu *n, uint32_t launch, const char *metric, struct ncu_unit unit,
		     const char *text)
{
	double value;
	switch (ncu_number_read(text, unit.exponent, &value)) {
	case NCU_NUMBER: ncu_add_value(n, launch, metric, value); return true;
	case NCU_NO_NUMBER: ncu_add_text(n, metric, text); return true;
	case NCU_BAD_NUMBER: break;
	}
	return hwy_fail(n->err,
			"%s: line %" PRIu64
			": '%.40s' of %.80s is no number in English; print again with LC_ALL=C",
			n->path, n->rows.line, text, metric);
}

static bool read_wide_row(struct ncu *n, struct layout *layout)
{
	if (n->rows.n < layout->n)
		return hwy_fail(n->err,
				"%s: line %" PRIu64 " has %u fields and the header has %u; was the "
				"file cut off?",
				n->path, n->rows.line, n->rows.n, layout->n);
	if (!*field(n, layout, COLUMN_KERNEL)) {
		if (!layout->has_units)
			read_units(n, layout);
		return true;
	}
	uint32_t launch = launch_of(n, layout);
	for (uint32_t i = 0; i < layout->n; i++) {
		bool is_known = *layout->metrics[i] && !layout->is_left_out[i];
		/* "Block Size" and "Grid Size" are labels of counters, and here the columns with
		 * the shape. */
		bool is_shape =
			(int)i == layout->at[COLUMN_BLOCK] || (int)i == layout->at[COLUMN_GRID];
		if (is_known && !is_shape &&
		    !add_cell(n, launch, layout->metrics[i], layout->units[i],
			      n->rows.fields[i].at))
			return false;
	}
	return true;
}

static bool read_long_row(struct ncu *n, const struct layout *layout)
{
	enum column value = layout->at[COLUMN_VALUE] != ABSENT ? COLUMN_VALUE : COLUMN_AVERAGE;
	if ((int)n->rows.n <= layout->at[value] || (int)n->rows.n <= layout->at[COLUMN_KERNEL])
		return hwy_fail(n->err,
				"%s: line %" PRIu64 " has %u fields and no value; was the file cut "
				"off?",
				n->path, n->rows.line, n->rows.n);
	const char *name = field(n, layout, COLUMN_METRIC);
	const char *unit_text = field(n, layout, COLUMN_UNIT);
	if (!*name || !*field(n, layout, COLUMN_KERNEL))
		return true; /* a row with the advice of one of ncu's rules, or with units */
	uint32_t launch = launch_of(n, layout);
	struct ncu_unit unit;
	if (!ncu_unit_read(unit_text, &unit)) {
		note_unit(n, unit_text);
		return true;
	}
	const char *metric = is_metric(name) ? name : ncu_label_metric(name, unit.class);
	if (metric && !read_unit(metric, unit_text, &unit)) {
		note_unit(n, unit_text);
		return true;
	}
	return !metric || add_cell(n, launch, metric, unit, field(n, layout, value));
}

static bool read_tables(struct ncu *n, struct layout *layout)
{
	bool has_table = false;
	for (;;) {
		if (!ncu_rows_next(&n->rows, n->progress, n->err))
			return false;
		if (n->rows.n == 0)
			break;
		bool ok = n->rows.is_header ? read_header(n, layout)
			  : layout->is_wide ? read_wide_row(n, layout)
					    : read_long_row(n, layout);
		if (!ok)
			return false;
		has_table = true;
	}
	if (!has_table)
		return hwy_fail(n->err,
				"%s: has no table of ncu: no line names a column \"Kernel Name\"; "
				"make one with ncu --csv --page raw",
				n->path);
	return n->n_launches > 0 ||
	       hwy_fail(n->err,
			"%s: the table of ncu has no kernel; did the program launch one, and "
			"did ncu find it?",
			n->path);
}

/* ---- the trace ------------------------------------------------------------------------------- */

static void ncu_add_note(struct ncu *n, const char *text)
{
	uint32_t index = hwy_new_diagnostics(n->b);
	struct hwy_diagnostic *diagnostic = &hwy_builder_trace(n->b)->diagnostics[index];
	diagnostic->severity = 2;
	diagnostic->text = hwy_text_id(n->b, text);
}

static void ncu_add_notes(struct ncu *n)
{
	char text[200];
	hwy_add_property(n->b, "source.format", "ncu-csv");
	if (n->unknown_units > 0) {
		snprintf(text, sizeof text,
			 "%" PRIu64
			 " counters in units that are not known were left out; the first unit is "
			 "'%s'",
			 n->unknown_units, n->unknown_unit);
		ncu_add_note(n, text);
	}
	if (n->rows.skipped > 0) {
		snprintf(text, sizeof text,
			 "%" PRIu64 " lines inside of ncu's table are not ncu's and were skipped",
			 n->rows.skipped);
		ncu_add_note(n, text);
	}
}

static void device_clear(struct hwy_device *device)
{
	int64_t *fields = (int64_t *)device;
	for (size_t i = 0; i < sizeof *device / sizeof *fields; i++)
		fields[i] = HWY_NONE;
}

struct hwy_trace *import_ncu_window(const char *path, size_t window,
				    const struct hwy_progress *progress, struct hwy_err *err)
{
	struct ncu n = {.path = path, .progress = progress, .err = err};
	struct layout layout = {0};
	struct hwy_trace *trace = NULL;
	device_clear(&n.device);
	n.b = hwy_builder_new();
	if (ncu_rows_open(&n.rows, path, window, err) && read_tables(&n, &layout)) {
		ncu_add_records(&n);
		ncu_add_notes(&n);
		trace = hwy_builder_finish(n.b, false);
	} else {
		hwy_builder_free(n.b);
	}
	layout_free(&layout);
	ncu_rows_close(&n.rows);
	hwy_index_free(&n.by_key);
	free(n.launches);
	return trace;
}

struct hwy_trace *import_ncu(const char *path, const struct hwy_progress *progress,
			     struct hwy_err *err)
{
	return import_ncu_window(path, SOURCE_WINDOW, progress, err);
}

bool ncu_is_table(const char *path)
{
	static const char *const firsts[] = {"\"Kernel Name\",", ",Kernel Name,"};
	enum { LOOK_BYTES = 1 << 20 };
	char *head = hwy_alloc(LOOK_BYTES);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = file < 0 ? -1 : pread(file, head, LOOK_BYTES, 0);
	bool found = false;
	for (size_t i = 0; i < sizeof firsts / sizeof *firsts && got > 0; i++)
		found |= memmem(head, (size_t)got, firsts[i], strlen(firsts[i])) != NULL;
	if (file >= 0)
		close(file);
	free(head);
	return found;
}
