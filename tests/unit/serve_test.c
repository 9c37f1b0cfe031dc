/* SPDX-License-Identifier: Apache-2.0 */
/* serve_test.c - tiles tell what the trace holds: every span of a window where there are few, and else the covered share
 * of every bucket, compared with a plain look at all spans. And our declarations of libmicrohttpd are its own. */
#include "toy_model.h"

#include <math.h>

#include "serve/event_table.h"
#include "serve/mhd.h"
#include "serve/selection.h"
#include "serve/server.h"
#include "serve/tiles.h"
#include "trace/pyramid.h"

#if __has_include(<microhttpd.h>)
#include <microhttpd.h>
#define SAME(ours, theirs) _Static_assert((long)(ours) == (long)(theirs), #ours)
SAME(MHD_IS_YES, MHD_YES);
SAME(MHD_IS_NO, MHD_NO);
SAME(MHD_INTERNAL_THREAD, MHD_USE_INTERNAL_POLLING_THREAD);
SAME(MHD_POLL, MHD_USE_POLL);
SAME(MHD_THREAD_PER_CONNECTION, MHD_USE_THREAD_PER_CONNECTION);
SAME(MHD_ITC, MHD_USE_ITC);
SAME(MHD_END, MHD_OPTION_END);
SAME(MHD_MEMORY_LIMIT, MHD_OPTION_CONNECTION_MEMORY_LIMIT);
SAME(MHD_CONNECTION_LIMIT, MHD_OPTION_CONNECTION_LIMIT);
SAME(MHD_TIMEOUT, MHD_OPTION_CONNECTION_TIMEOUT);
SAME(MHD_COMPLETED, MHD_OPTION_NOTIFY_COMPLETED);
SAME(MHD_LISTEN_SOCKET, MHD_OPTION_LISTEN_SOCKET);
SAME(MHD_STACK_SIZE, MHD_OPTION_THREAD_STACK_SIZE);
SAME(MHD_CONNECTION_NOTIFY, MHD_OPTION_NOTIFY_CONNECTION);
SAME(MHD_HEADERS, MHD_HEADER_KIND);
SAME(MHD_ARGUMENTS, MHD_GET_ARGUMENT_KIND);
SAME(MHD_PERSISTENT, MHD_RESPMEM_PERSISTENT);
SAME(MHD_FREES, MHD_RESPMEM_MUST_FREE);
SAME(MHD_COPIES, MHD_RESPMEM_MUST_COPY);
SAME(MHD_STARTED, MHD_CONNECTION_NOTIFY_STARTED);
SAME(MHD_CLOSED, MHD_CONNECTION_NOTIFY_CLOSED);
SAME(MHD_INFO_FD, MHD_CONNECTION_INFO_CONNECTION_FD);
#endif

enum { SPANS = 30000, STREAMS = 2, ROUNDS = 400 };

static struct view_trace view;
static struct hwy_trace *truth; /* the same report, all of it in memory */
static uint32_t streams[STREAMS], calls, samples, counter;

/* ---- a trace ----------------------------------------------------------------------------------------------- */

/* Work that sometimes overlaps, with pauses, bursts and a few very long spans. */
static void add_stream(struct hwy_builder *b, struct dice *dice, uint32_t lane, uint32_t names[3])
{
	int64_t clock = 1000000 + roll_below(dice, 1000);
	for (int i = 0; i < SPANS; i++) {
		unsigned what = (unsigned)roll_below(dice, 10);
		struct hwy_row row = {0};
		row.v[HWY_START] = clock;
		row.v[HWY_DUR] = roll_below(dice, 500) == 0 ? roll_below(dice, 3000000)
							    : roll_below(dice, 4000);
		row.v[HWY_NAME] = names[what == 0 ? 1 : what == 1 ? 2 : 0];
		hwy_add_span(b, lane, what == 1 ? HWY_COPY : HWY_KERNEL, &row);
		clock += roll_below(dice, 1000) == 0 ? roll_below(dice, 20000000)
			 : roll_below(dice, 4)       ? row.v[HWY_DUR] + roll_below(dice, 300)
						     : roll_below(dice, 2000);
	}
}

static void add_calls(struct hwy_builder *b, struct dice *dice, uint32_t names[2])
{
	int64_t clock = 1000000;
	for (int i = 0; i < SPANS; i++) {
		struct hwy_row row = {0};
		row.v[HWY_START] = clock;
		row.v[HWY_DUR] = 100 + roll_below(dice, 3000);
		row.v[HWY_NAME] = names[roll_below(dice, 2)];
		hwy_add_span(b, calls, HWY_API, &row);
		struct hwy_row inner = row;
		inner.v[HWY_START] += 10;
		inner.v[HWY_DUR] = 50;
		if (roll_below(dice, 3) == 0)
			hwy_add_span(b, calls, HWY_API, &inner);
		clock += row.v[HWY_DUR] + roll_below(dice, 5000);
	}
}

static void add_marks(struct hwy_builder *b, struct dice *dice)
{
	int64_t clock = 1000000;
	for (int i = 0; i < SPANS; i++) {
		struct hwy_row row = {0};
		row.v[HWY_START] = clock += roll_below(dice, 6000);
		row.v[HWY_FLAGS] = HWY_FLAG_MARK;
		hwy_add_span(b, samples, HWY_SAMPLE, &row);
		row.v[HWY_VALUE] = roll_below(dice, 100);
		hwy_add_span(b, counter, HWY_COUNTER, &row);
	}
}

static struct hwy_trace *make_trace(void)
{
	struct dice dice = {5};
	struct hwy_builder *b = hwy_builder_new();
	uint32_t device = hwy_new_devices(b), process = hwy_new_processes(b);
	hwy_builder_trace(b)->processes[process].host = hwy_new_hosts(b);
	hwy_builder_trace(b)->devices[device].host = 0;
	uint32_t names[] = {hwy_text_id(b, "gemm<script>"),
			    hwy_text_id(b, "ncclDevKernel_AllReduce"),
			    hwy_text_id(b, "[CUDA memcpy HtoD]")};
	uint32_t api[] = {hwy_text_id(b, "cudaLaunchKernel"),
			  hwy_text_id(b, "cudaStreamSynchronize")};
	for (int i = 0; i < STREAMS; i++) {
		uint32_t stream = hwy_new_streams(b);
		hwy_builder_trace(b)->streams[stream].process = process;
		hwy_builder_trace(b)->streams[stream].device = device;
		hwy_builder_trace(b)->streams[stream].number = 7 + i;
		streams[i] = hwy_add_stream_lane(b, HWY_LANE_STREAM, stream);
		add_stream(b, &dice, streams[i], names);
	}
	calls = hwy_add_lane(b, hwy_lane_of(HWY_LANE_API, process, HWY_NONE));
	samples = hwy_add_lane(b, hwy_lane_of(HWY_LANE_SAMPLES, process, HWY_NONE));
	struct hwy_lane at = hwy_lane_of(HWY_LANE_COUNTER, process, HWY_NONE);
	at.value_type = HWY_PAYLOAD_I64;
	counter = hwy_add_lane(b, at);
	add_calls(b, &dice, api);
	add_marks(b, &dice);
	return hwy_builder_finish(b, false);
}

/* ---- reading a tile ------------------------------------------------------------------------------------------ */

struct told {
	unsigned form, level, rows;
	uint32_t n, n_long, n_spans;
	unsigned mask, n_rows;
	uint8_t row_share[VIEW_PARTS][VIEW_BUCKETS];
	uint8_t share[4][VIEW_BUCKETS], look[VIEW_BUCKETS];
	uint32_t count[VIEW_BUCKETS];
	bool is_there[VIEW_BUCKETS];
	struct {
		int64_t id, start, dur, name;
		uint8_t look, row;
	} spans[5000];
};

static uint64_t read_varint(const uint8_t **at)
{
	uint64_t value = 0;
	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte = *(*at)++;
		value |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return value;
	}
}

static int64_t read_zigzag(const uint8_t **at)
{
	uint64_t value = read_varint(at);
	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static void read_spans(struct told *told, const uint8_t **at, uint32_t n, int64_t from)
{
	int64_t id = 0, start = from;
	told->n_spans = n;
	for (uint32_t i = 0; i < n; i++) {
		told->spans[i].id = id += read_zigzag(at);
		told->spans[i].start = start += read_zigzag(at);
		told->spans[i].dur = (int64_t)read_varint(at);
		told->spans[i].name = (int64_t)read_varint(at);
		told->spans[i].look = *(*at)++;
		told->spans[i].row = *(*at)++;
	}
}

static void read_summary(struct told *told, const uint8_t **at, int64_t from)
{
	const uint8_t *head = *at, *offsets = head + 4;
	told->mask = head[0];
	told->n_rows = head[1];
	assert_true(told->n_rows <= VIEW_PARTS);
	told->n_long = (uint32_t)hwy_little_read(head + 2, 2);
	*at = offsets + told->n;
	for (uint32_t i = 0; i < told->n; i++)
		told->is_there[offsets[i]] = true;
	for (unsigned c = 0; c < 4; c++)
		for (uint32_t i = 0; told->mask >> c & 1 && i < told->n; i++)
			told->share[c][offsets[i]] = *(*at)++;
	for (uint32_t i = 0; told->mask & VIEW_HAS_COLORS && i < told->n; i++)
		told->look[offsets[i]] = *(*at)++;
	for (uint32_t i = 0; told->mask & VIEW_HAS_COUNTS && i < told->n; i++, *at += 2)
		told->count[offsets[i]] = (uint32_t)hwy_little_read(*at, 2);
	for (unsigned r = 0; r < told->n_rows; r++)
		for (uint32_t i = 0; i < told->n; i++)
			told->row_share[r][offsets[i]] = *(*at)++;
	read_spans(told, at, told->n_long, from);
}

/* Times in 'told' are the trace's. */
static struct told *ask(uint32_t lane, unsigned level, int64_t index)
{
	static struct told told;
	struct hwy_bytes out = {0};
	struct hwy_err err = {0};
	struct tile tile = {0, level, lane, index};
	memset(&told, 0, sizeof told);
	if (!tiles_put(&view, &tile, &out, &err))
		fail_msg("%s", err.text);
	assert_int_equal(hwy_little_read(out.bytes, 4), out.n);
	assert_int_equal(out.n % 4, 0);
	assert_int_equal(hwy_little_read(out.bytes + 8, 4), lane);
	assert_int_equal(hwy_little_read(out.bytes + 16, 8), index);
	told.form = out.bytes[4];
	told.level = out.bytes[6];
	told.rows = out.bytes[7];
	told.n = (uint32_t)hwy_little_read(out.bytes + 12, 4);
	int64_t from = view.origin + index * (INT64_C(256) << level);
	const uint8_t *at = out.bytes + VIEW_TILE_HEAD;
	if (told.form == VIEW_SPANS)
		read_spans(&told, &at, told.n, from);
	else if (told.form == VIEW_SUMMARY)
		read_summary(&told, &at, from);
	if (told.form == VIEW_SPANS || told.form == VIEW_SUMMARY)
		assert_true(at <= out.bytes + out.n && at + 4 > out.bytes + out.n);
	free(out.bytes);
	return &told;
}

/* ---- the same, the slow way -------------------------------------------------------------------------------------- */

static bool is_on(uint32_t asked, uint32_t lane)
{
	return asked == lane ||
	       (asked == VIEW_HARDWARE && (lane == streams[0] || lane == streams[1]));
}

static int64_t slow_cover(uint32_t asked, unsigned class, int64_t from, int64_t to)
{
	uint8_t *covered = calloc((size_t)(to - from), 1);
	int64_t sum = 0;
	for (uint32_t s = 0; s < truth->n_strips; s++) {
		const struct hwy_strip *strip = &truth->strips[s];
		for (uint32_t row = 0; is_on(asked, strip->lane) && row < strip->rows; row++) {
			int64_t start = hwy_get(strip, HWY_START, row), end = hwy_end(strip, row);
			if (start >= to || end <= from ||
			    span_color_busy_class(truth, strip->kind,
						  hwy_get(strip, HWY_NAME, row)) != class)
				continue;
			start = start > from ? start : from;
			end = end < to ? end : to;
			memset(covered + (start - from), 1, (size_t)(end - start));
		}
	}
	for (int64_t i = 0; i < to - from; i++)
		sum += covered[i];
	free(covered);
	return sum;
}

static unsigned share_of(int64_t cover, int64_t width)
{
	unsigned share = (unsigned)(255.0 * (double)cover / (double)width + 0.5);
	return cover > 0 && share == 0 ? 1 : share;
}

static void check_spans(const struct told *told, uint32_t lane, int64_t from, int64_t to,
			int64_t least)
{
	uint32_t n = 0;
	for (uint32_t s = 0; s < truth->n_strips; s++) {
		const struct hwy_strip *strip = &truth->strips[s];
		for (uint32_t row = 0; strip->lane == lane && row < strip->rows; row++) {
			int64_t start = hwy_get(strip, HWY_START, row), end = hwy_end(strip, row);
			n += start < to && (end > from || start >= from) && end - start >= least;
		}
	}
	assert_int_equal(told->n_spans, n);
	for (uint32_t i = 0; i < told->n_spans; i++) {
		uint32_t row;
		const struct hwy_strip *strip =
			hwy_strip_of(truth, (uint32_t)told->spans[i].id, &row);
		assert_int_equal(strip->lane, lane);
		assert_int_equal(told->spans[i].start, hwy_get(strip, HWY_START, row));
		assert_int_equal(told->spans[i].dur, hwy_get(strip, HWY_DUR, row));
		assert_int_equal(told->spans[i].name, hwy_get(strip, HWY_NAME, row));
		assert_true(i == 0 || told->spans[i].start >= told->spans[i - 1].start);
		assert_true(i == 0 || told->spans[i].id != told->spans[i - 1].id);
	}
}

static void check_tile(uint32_t lane, unsigned level, int64_t index, struct dice *dice)
{
	int64_t width = INT64_C(1) << level, from = view.origin + index * width * 256;
	const struct told *told = ask(lane, level, index);
	if (told->form != VIEW_SUMMARY) {
		check_spans(told, lane, from, from + width * 256, 0);
		return;
	}
	for (int i = 0; i < 6; i++) {
		int64_t at = roll_below(dice, VIEW_BUCKETS);
		for (unsigned c = 0; c < 4; c++) {
			int64_t cover =
				slow_cover(lane, c, from + at * width, from + (at + 1) * width);
			assert_int_equal(told->share[c][at], share_of(cover, width));
		}
	}
	/* What nests lies inside the spans of the first row. */
	uint32_t starts = 0;
	for (unsigned bucket = 0; bucket < VIEW_BUCKETS; bucket++)
		starts += told->count[bucket];
	if (lane == calls)
		assert_int_equal(told->n_rows, starts > VIEW_PARTED ? 0 : 2);
	for (unsigned bucket = 0; lane == calls && told->n_rows && bucket < VIEW_BUCKETS;
	     bucket++) {
		assert_int_equal(told->row_share[0][bucket], told->share[HWY_BUSY_OTHER][bucket]);
		assert_true(told->row_share[1][bucket] <= told->row_share[0][bucket]);
	}
	if (lane != VIEW_HARDWARE)
		check_spans(told, lane, from, from + width * 256, 8 * width);
}

/* ---- tests ----------------------------------------------------------------------------------------------------------- */

static void tiles_of_random_windows_match_the_trace(void **state)
{
	struct dice dice = {7};
	uint32_t lanes[] = {streams[0], streams[1], calls, VIEW_HARDWARE};
	unsigned forms[2] = {0};
	for (int i = 0; i < ROUNDS; i++) {
		unsigned level = (unsigned)roll_below(&dice, 20);
		int64_t last = (view.to - view.origin) >> (level + 8);
		int64_t index = roll_below(&dice, last + 1);
		uint32_t lane = lanes[roll_below(&dice, 4)];
		check_tile(lane, level, index, &dice);
		const struct told *told = ask(lane, level, index);
		forms[told->form == VIEW_SUMMARY]++;
	}
	assert_true(forms[0] > 50 && forms[1] > 50);
}

static void a_lane_that_was_not_asked_for_yet_answers_the_same(void **state)
{
	struct dice dice = {9};
	for (int i = 0; i < 30; i++) {
		unsigned level = 12 + (unsigned)roll_below(&dice, 8);
		int64_t index = roll_below(&dice, ((view.to - view.origin) >> (level + 8)) + 1);
		/* Forget what was indexed: the pyramid alone has to do. */
		struct view_lane *lane = &view.lanes[streams[0]];
		lane->is_whole = false;
		for (uint32_t s = 0; lane->strips && s < lane->n; s++) {
			free(lane->strips[s].blocks);
			free(lane->strips[s].far_blocks);
			free(lane->strips[s].depths);
			free(lane->strips[s].indexed);
		}
		free(lane->strips);
		lane->strips = NULL;
		check_tile(streams[0], level, index, &dice);
	}
}

static void nested_spans_have_rows_and_calls_have_looks(void **state)
{
	const struct told *told =
		ask(calls, 8, (view.lanes[calls].from - view.origin) >> (8 + VIEW_TILE_BITS));
	unsigned rows[2] = {0}, waits = 0;
	assert_int_equal(told->form, VIEW_SPANS);
	assert_int_equal(told->rows, 2);
	for (uint32_t i = 0; i < told->n_spans; i++) {
		struct view_span span;
		struct hwy_err err;
		assert_true(detail_find_span(&view, (uint32_t)told->spans[i].id, &span, &err));
		assert_true(view_find_depth(&view, &span, &err));
		assert_int_equal(span.depth, told->spans[i].row);
		assert_true(told->spans[i].row < 2);
		rows[told->spans[i].row]++;
		waits += told->spans[i].look == COLOR_WAIT;
		assert_true(told->spans[i].look == COLOR_WAIT ||
			    told->spans[i].look == COLOR_LAUNCH);
	}
	assert_true(rows[0] > rows[1] && rows[1] > 0 && waits > 0);
}

static void marks_are_counted(void **state)
{
	unsigned level = 16;
	const struct told *told = ask(samples, level, 0);
	const struct hwy_strip *strip = hwy_strip_on(truth, samples, HWY_SAMPLE);
	uint32_t expected[VIEW_BUCKETS] = {0};
	assert_int_equal(told->form, VIEW_SUMMARY);
	assert_true(told->mask & VIEW_HAS_COUNTS);
	for (uint32_t row = 0; row < strip->rows; row++) {
		int64_t at = (hwy_get(strip, HWY_START, row) - view.origin) >> level;
		if (at < VIEW_BUCKETS)
			expected[at]++;
	}
	assert_memory_equal(told->count, expected, sizeof expected);
}

static void tiles_that_cannot_be_are_empty(void **state)
{
	const struct tile tiles[] = {
		{0, 41, calls, 0},        {0, 255, calls, 0},
		{0, 10, 12345, 0},        {0, 10, VIEW_HARDWARE | 7, 0},
		{0, 0, calls, INT64_MAX}, {0, 40, calls, INT64_MAX},
		{0, 0, calls, -1},        {0, 40, calls, INT64_MIN},
		{0, 0, UINT32_MAX, 0},    {0, 20, calls, 1 << 20},
	};
	for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++) {
		struct hwy_bytes out = {0};
		struct hwy_err err;
		assert_true(tiles_put(&view, &tiles[i], &out, &err));
		assert_int_equal(out.n, VIEW_TILE_HEAD);
		assert_int_equal(out.bytes[4], VIEW_NOTHING);
		free(out.bytes);
	}
}

/* The mean of a counter in [from, to), found by looking at every row. */
static double slow_mean(const struct hwy_strip *strip, int64_t from, int64_t to)
{
	double sum = 0, weight = 0;
	for (uint32_t row = 0; row < strip->rows; row++) {
		int64_t begin = hwy_get(strip, HWY_START, row);
		int64_t end = row + 1 < strip->rows ? hwy_get(strip, HWY_START, row + 1) : to;
		begin = begin > from ? begin : from;
		end = end < to ? end : to;
		if (end > begin) {
			sum += (double)hwy_get(strip, HWY_VALUE, row) * (double)(end - begin);
			weight += (double)(end - begin);
		}
	}
	return sum / weight;
}

static void an_interval_of_a_counter_is_weighed_by_time(void **state)
{
	const struct hwy_strip *strip = hwy_strip_on(view.trace, counter, HWY_COUNTER);
	int64_t first = hwy_get(strip, HWY_START, 0);
	int64_t last = hwy_get(strip, HWY_START, strip->rows - 1);
	struct counter_range range;
	struct hwy_err err;
	for (int i = 1; i < 40; i++) {
		int64_t from = first + (last - first) / 41 * i, to = from + 1 + i * i * 977;
		assert_true(counters_measure(&view, counter, from, to, &range, &err));
		assert_true(fabs(range.mean - slow_mean(strip, from, to)) < 1e-6);
		assert_true(range.least <= range.mean && range.mean <= range.most);
		assert_true(range.samples > 0);
	}
	assert_true(counters_measure(&view, counter, first - 100, first, &range, &err));
	assert_true(isnan(range.mean));
	assert_true(counters_measure(&view, calls, first, last, &range, &err));
	assert_true(isnan(range.mean));
}

static void counters_tell_least_most_last_and_mean(void **state)
{
	struct hwy_bytes out = {0};
	struct hwy_err err;
	unsigned level = 16;
	struct tile tile = {0, level, counter, 0};
	assert_true(tiles_put(&view, &tile, &out, &err));
	assert_int_equal(out.bytes[4], VIEW_COUNTER);
	uint32_t n = (uint32_t)hwy_little_read(out.bytes + 12, 4);
	const uint8_t *offsets = out.bytes + VIEW_TILE_HEAD + 8;
	const uint8_t *values = offsets + (n + 3) / 4 * 4;
	const struct hwy_strip *strip = hwy_strip_on(view.trace, counter, HWY_COUNTER);
	assert_true(n > 100);
	assert_int_equal(out.n, VIEW_TILE_HEAD + 8 + (n + 3) / 4 * 4 + 16 * n);
	for (uint32_t i = 0; i < n; i++) {
		float least = 1e9f, most = -1e9f, got;
		for (uint32_t row = 0; row < strip->rows; row++) {
			if ((hwy_get(strip, HWY_START, row) - view.origin) >> level != offsets[i])
				continue;
			float value = (float)hwy_get(strip, HWY_VALUE, row);
			least = value < least ? value : least;
			most = value > most ? value : most;
		}
		memcpy(&got, values + 4 * i, 4);
		assert_true(got == least);
		memcpy(&got, values + 4 * (n + i), 4);
		assert_true(got == most);
		int64_t begin = view.origin + ((int64_t)offsets[i] << level);
		memcpy(&got, values + 4 * (3 * n + i), 4);
		assert_true(fabs((double)got -
				 slow_mean(strip, begin, begin + (INT64_C(1) << level))) < 1e-3);
	}
	free(out.bytes);
}

static void one_value_is_read_without_its_column(void **state)
{
	struct hwy_err err;
	const struct hwy_strip *strip = hwy_strip_on(view.trace, counter, HWY_COUNTER);
	uint32_t number = (uint32_t)(strip - view.trace->strips), rows[] = {0, 16384, SPANS - 1};
	int64_t values[3], none;
	for (int i = 0; i < 3; i++)
		assert_true(hwy_peek(view.trace, number, HWY_VALUE, rows[i], &values[i], &err));
	assert_false(strip->columns[HWY_VALUE]->chunks[0].loaded);
	assert_true(hwy_need_strip(view.trace, number, HWY_COL_BIT(HWY_VALUE), &err));
	for (int i = 0; i < 3; i++)
		assert_int_equal(values[i], hwy_get(strip, HWY_VALUE, rows[i]));
	assert_true(hwy_peek(view.trace, number, HWY_SHAPE, 0, &none, &err));
	assert_int_equal(none, 0);
}

static void the_example_of_the_protocol_is_true(void **state)
{
	static const uint8_t expected[] = {0x24, 0, 0,  0, 1, 0, 0, 1,    4,    0, 0, 0,
					   2,    0, 0,  0, 1, 0, 0, 0,    0,    0, 0, 0,
					   0x0e, 8, 10, 3, 0, 0, 2, 0x28, 0x14, 3, 0, 0};
	struct hwy_builder *b = hwy_builder_new();
	struct view_trace small;
	struct hwy_err err;
	for (int i = 0; i < 5; i++) {
		struct hwy_lane lane = hwy_lane_of(HWY_LANE_STREAM, HWY_NONE, HWY_NONE);
		lane.name = hwy_text_id(b, (const char *[]){"a", "b", "gemm", "d", "e"}[i]);
		uint32_t number = hwy_add_lane(b, lane);
		struct hwy_row row = {.v = {[HWY_START] = 5, [HWY_DUR] = 1}};
		for (int k = 0; i == 0 && k < 7; k++)
			hwy_add_span(b, number, HWY_KERNEL, &row);
		row.v[HWY_NAME] = 3;
		row.v[HWY_START] = 260;
		row.v[HWY_DUR] = 10;
		if (i == 4)
			hwy_add_span(b, number, HWY_KERNEL, &row);
		row.v[HWY_START] = 280;
		row.v[HWY_DUR] = 20;
		if (i == 4)
			hwy_add_span(b, number, HWY_KERNEL, &row);
	}
	struct hwy_trace *made = hwy_builder_finish(b, false);
	assert_true(view_open(&small, made, "x", &err));
	struct hwy_bytes out = {0};
	assert_true(tiles_put(&small, &(struct tile){0, 0, 4, 1}, &out, &err));
	assert_int_equal(out.n, sizeof expected);
	assert_memory_equal(out.bytes, expected, sizeof expected);
	free(out.bytes);
	view_close(&small);
	hwy_trace_free(made);
}

/* So many devices leave less than one bucket for each. */
static void a_recording_of_a_million_devices_has_their_unions(void **state)
{
	enum { DEVICES = 1000000 };
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	hwy_add_span(small.builder, stream, HWY_KERNEL, &(struct hwy_row){.v[HWY_DUR] = 1000});
	for (uint32_t i = 0; i < DEVICES; i++)
		hwy_new_devices(small.builder);
	struct hwy_trace *made = hwy_builder_finish(small.builder, false);
	struct view_trace shown;
	struct hwy_err err;
	assert_true(view_open(&shown, made, "x", &err));
	assert_true(hardware_need(&shown, 0, &err));
	assert_int_equal(shown.devices[0].n, 1);
	assert_int_equal(shown.devices[0].cover[HARDWARE_ANY][0], 1000);
	view_close(&shown);
	hwy_trace_free(made);
}

static void work_of_a_graph_has_the_stack_of_its_capture(void **state)
{
	struct small small = small_new();
	uint32_t stream = small_stream(&small, small_device(&small, 0), 7);
	struct hwy_frame frame = {.function = hwy_text_id(small.builder, "forward"),
				  .file = hwy_text_id(small.builder, "model.py"),
				  .line = 7,
				  .flags = HWY_FRAME_PYTHON};
	struct hwy_stack stack = {.frame = hwy_add_frame(small.builder, &frame)};
	uint32_t node = hwy_new_nodes(small.builder);
	hwy_builder_trace(small.builder)->nodes[node] = (struct hwy_node){
		.process = small.process,
		.thread = small.thread,
		.node = 5,
		.stack = hwy_ref(hwy_add_stack(small.builder, stack)),
	};
	struct hwy_row row = {.v = {[HWY_START] = 5, [HWY_DUR] = 1, [HWY_GRAPH_NODE] = 5}};
	hwy_add_span(small.builder, stream, HWY_KERNEL, &row);
	struct hwy_trace *made = hwy_builder_finish(small.builder, false);
	struct view_trace shown;
	struct hwy_err err;
	assert_true(view_open(&shown, made, "x", &err));
	char *text = NULL;
	size_t n = 0;
	struct hwy_json json = {.out = open_memstream(&text, &n)};
	assert_true(detail_answer_span(&shown, &json, 0, &err));
	fclose(json.out);
	assert_non_null(strstr(text, "model.py"));
	free(text);
	view_close(&shown);
	hwy_trace_free(made);
}

static char *details_of_kernel(struct view_trace *shown, const char *kernel)
{
	struct hwy_err err;
	char *text = NULL;
	size_t n = 0;
	struct hwy_json json = {.out = open_memstream(&text, &n)};
	assert_true(
		detail_answer_span(shown, &json, toy_span(shown->trace, HWY_KERNEL, kernel), &err));
	fclose(json.out);
	return text;
}

static void work_has_its_operator_its_module_and_the_operators_stack(void **state)
{
	struct hwy_trace *made = toy_training();
	struct view_trace shown;
	struct hwy_err err;
	assert_true(view_open(&shown, made, "x", &err));
	char *text = details_of_kernel(&shown, "gemm_0");
	assert_non_null(strstr(text, "\"operator\":\"aten::addmm\",\"module\":\"Net.layers.0\""));
	assert_non_null(strstr(text, "/home/u/train.py"));
	free(text);
	/* A backward operator has the module and the stack of its forward operator. */
	text = details_of_kernel(&shown, "relu_back");
	assert_non_null(strstr(
		text, "\"operator\":\"aten::threshold_backward\",\"module\":\"Net.layers.1\""));
	assert_non_null(strstr(text, "/home/u/train.py"));
	free(text);
	text = details_of_kernel(&shown, "mine");
	assert_null(strstr(text, "\"operator\""));
	free(text);
	view_close(&shown);
	hwy_trace_free(made);
}

/* Everything but tiles, as one text. */
static char *answers_of(struct view_trace *of, uint32_t id, int64_t from, int64_t to)
{
	struct hwy_err err;
	char *text = NULL;
	size_t n = 0;
	struct hwy_json json = {.out = open_memstream(&text, &n)};
	json_begin_array(&json);
	assert_true(detail_answer_span(of, &json, id, &err));
	assert_true(detail_answer_window(of, &json, calls, from, to, &err));
	assert_true(detail_answer_next(of, &json, id, 1, false, &err) &&
		    detail_answer_next(of, &json, id, -1, true, &err));
	struct selection selection = {.from = from + of->origin, .to = to + of->origin};
	assert_true(selection_answer(of, &json, &selection, &err));
	struct search search = {.text = "synchronize", .from = from, .to = to, .n = 16, .lane = -1};
	assert_true(search_answer(of, &json, &search, &err));
	assert_true(search_answer_marks(of, &json, &search, &err));
	assert_true(search_answer_hit(of, &json, "synchronize", (struct step_times){0},
				      (struct search_place){0, -1}, 1, &err));
	struct event_request rows = {.text = "-sample dur>2us",
				     .from = from,
				     .to = to,
				     .lanes = "",
				     .sort = EVENT_DUR,
				     .n = 20,
				     .at = id};
	assert_true(event_table_answer(of, &json, &rows, &err));
	rows.group = EVENT_BY_NAME;
	assert_true(event_table_answer(of, &json, &rows, &err));
	json_end_array(&json);
	fclose(json.out);
	return text;
}

static void answers_do_not_depend_on_what_is_loaded(void **state)
{
	struct dice dice = {11};
	struct view_trace whole;
	struct hwy_err err;
	assert_true(view_open(&whole, truth, "a.hwy", &err));
	const struct hwy_strip *strip = hwy_strip_on(truth, calls, HWY_API);
	int64_t first = view.from - view.origin, length = view.to - view.from;
	for (int i = 0; i < 40; i++) {
		uint32_t id = strip->first + (uint32_t)roll_below(&dice, strip->rows);
		int64_t from = first + roll_below(&dice, length - 1);
		int64_t to = from + 1 + roll_below(&dice, i % 2 ? 100000 : length);
		char *expected = answers_of(&whole, id, from, to);
		char *got = answers_of(&view, id, from, to);
		assert_string_equal(got, expected);
		free(expected);
		free(got);
		view_trim(&view);
	}
	view_close(&whole);
}

static void names_are_text_and_very_long_ones_are_cut(void **state)
{
	enum { LONG = 100000 };
	char *name = calloc(LONG + 1, 1), *text = NULL;
	size_t n = 0;
	for (int i = 0; i < LONG; i += 2)
		memcpy(name + i, "\xc3\xa4", 2);
	struct hwy_json json = {.out = open_memstream(&text, &n)};
	span_names_put(&json, (struct hwy_text){name, LONG});
	fclose(json.out);
	assert_int_equal(n, 1 + VIEW_NAME + 3 + 1);
	assert_memory_equal(text + n - 6, "\xc3\xa4\xe2\x80\xa6\"", 6);
	free(text);
	json = (struct hwy_json){.out = open_memstream(&text, &n)};
	span_names_put(&json, (struct hwy_text){"<b>\x01\"\n", 6});
	fclose(json.out);
	assert_string_equal(text, "\"<b>\\u0001\\\"\\n\"");
	free(text);
	free(name);
}

static int set_up(void **state)
{
	struct hwy_err err = {0};
	char name[128];
	const char *folder = make_folder();
	snprintf(name, sizeof name, "%s/a.hwy", folder);
	struct hwy_trace *made = make_trace();
	bool ok = hwy_file_write(made, name, true, NULL, &err);
	hwy_trace_free(made);
	struct hwy_trace *stored = ok ? hwy_file_open(name, &err) : NULL;
	truth = stored ? hwy_file_open(name, &err) : NULL;
	drop_folder(folder); /* the open files live on */
	if (!truth || !view_open(&view, stored, "a.hwy", &err) ||
	    !hwy_need(truth, UINT32_MAX, UINT64_MAX, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return -1;
	}
	return 0;
}

static void a_server_waits_for_a_page_that_sleeps_and_ends_after_a_goodbye(void **state)
{
	time_t now = 1000000, minute = 60, hour = 3600;
	assert_false(server_is_left(now, 0, 0)); /* nobody has come yet */
	assert_false(server_is_left(now, now - minute, 0));
	assert_false(server_is_left(now, now - 8 * hour, 0)); /* a laptop that sleeps */
	assert_true(server_is_left(now, now - 13 * hour, 0));
	assert_false(server_is_left(now, now - 5 * minute, now - minute));
	assert_true(server_is_left(now, now - 5 * minute, now - minute - 1));
}

/* The same answers when every lane is too large to come as a whole, and little may stay. */
static int set_up_parts(void **state)
{
	struct hwy_err err = {0};
	struct hwy_trace *stored = view.trace;
	view_close(&view);
	for (uint32_t s = 0; s < stored->n_strips; s++)
		hwy_forget_strip(stored, s, UINT64_MAX);
	if (!view_open(&view, stored, "a.hwy", &err))
		return -1;
	view.whole_spans = 0;
	view.most_held_bytes = 1 << 18;
	return 0;
}

static int tear_down(void **state)
{
	struct hwy_trace *stored = view.trace;
	view_close(&view);
	hwy_trace_free(stored);
	hwy_trace_free(truth);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_value_is_read_without_its_column),
		cmocka_unit_test(tiles_of_random_windows_match_the_trace),
		cmocka_unit_test(a_lane_that_was_not_asked_for_yet_answers_the_same),
		cmocka_unit_test(nested_spans_have_rows_and_calls_have_looks),
		cmocka_unit_test(marks_are_counted),
		cmocka_unit_test(tiles_that_cannot_be_are_empty),
		cmocka_unit_test(counters_tell_least_most_last_and_mean),
		cmocka_unit_test(an_interval_of_a_counter_is_weighed_by_time),
		cmocka_unit_test(answers_do_not_depend_on_what_is_loaded),
		cmocka_unit_test(names_are_text_and_very_long_ones_are_cut),
		cmocka_unit_test(the_example_of_the_protocol_is_true),
		cmocka_unit_test(a_recording_of_a_million_devices_has_their_unions),
		cmocka_unit_test(work_of_a_graph_has_the_stack_of_its_capture),
		cmocka_unit_test(work_has_its_operator_its_module_and_the_operators_stack),
		cmocka_unit_test(a_server_waits_for_a_page_that_sleeps_and_ends_after_a_goodbye),
	};
	return cmocka_run_group_tests_name("whole lanes", tests, set_up, NULL) +
	       cmocka_run_group_tests_name("lanes by parts", tests, set_up_parts, tear_down);
}
