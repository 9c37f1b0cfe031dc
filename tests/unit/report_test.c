/* SPDX-License-Identifier: Apache-2.0 */
/* report_test.c - what is written is read back; what is damaged is refused with a line; nothing crashes. */
#include "make_trace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "trace/file_format.h"
#include "trace/pyramid.h"

static const char *folder;
static char path[256], other[256];

static char *read_whole(const char *name, size_t *n)
{
	FILE *in = fopen(name, "rb");
	assert_non_null(in);
	fseek(in, 0, SEEK_END);
	*n = (size_t)ftell(in);
	rewind(in);
	char *bytes = hwy_alloc(*n + 1);
	assert_int_equal(fread(bytes, 1, *n, in), *n);
	fclose(in);
	return bytes;
}

static void write_whole(const char *name, const void *bytes, size_t n)
{
	FILE *out = fopen(name, "wb");
	assert_non_null(out);
	assert_int_equal(fwrite(bytes, 1, n, out), n);
	fclose(out);
}

static void write_report(struct hwy_trace *trace, const char *name)
{
	struct hwy_err err = {0};
	if (!hwy_file_write(trace, name, true, NULL, &err))
		fail_msg("%s", err.text);
}

static struct hwy_trace *open_report(const char *name)
{
	struct hwy_err err = {0};
	struct hwy_trace *trace = hwy_file_open(name, &err);
	if (!trace)
		fail_msg("%s", err.text);
	return trace;
}

static unsigned files_in_folder(void)
{
	char command[300];
	snprintf(command, sizeof command, "ls -A '%s' | wc -l", folder);
	FILE *out = popen(command, "r");
	unsigned n = 0;
	assert_int_equal(fscanf(out, "%u", &n), 1);
	pclose(out);
	return n;
}

/* ---- round trips ------------------------------------------------------------------------------ */

static void assert_round_trip(struct hwy_trace *trace)
{
	struct hwy_err err = {0};
	write_report(trace, path);
	struct hwy_trace *back = open_report(path);
	assert_string_equal(difference(trace, back, &err), "");
	/* And once more from the copy, whose columns come from the file. */
	struct hwy_trace *lazy = open_report(path);
	write_report(lazy, other);
	struct hwy_trace *again = open_report(other);
	assert_string_equal(difference(trace, again, &err), "");
	size_t n, m;
	char *first = read_whole(path, &n), *second = read_whole(other, &m);
	assert_int_equal(n, m);
	assert_memory_equal(first, second, n);
	free(first);
	free(second);
	hwy_trace_free(back);
	hwy_trace_free(lazy);
	hwy_trace_free(again);
}

static void random_traces_survive_a_report(void **state)
{
	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct hwy_trace *trace =
			random_trace(seed, 1 + (uint32_t)seed * 5, (uint32_t)(seed * 300));
		assert_round_trip(trace);
		hwy_trace_free(trace);
	}
}

static void a_trace_of_many_chunks_survives_a_report(void **state)
{
	struct hwy_trace *trace = random_trace(77, 3, 90000);
	assert_round_trip(trace);
	hwy_trace_free(trace);
}

static void an_empty_trace_survives_a_report(void **state)
{
	struct hwy_trace *trace = hwy_builder_finish(hwy_builder_new(), true);
	assert_round_trip(trace);
	hwy_trace_free(trace);
}

static void long_texts_survive_and_are_found_again(void **state)
{
	struct hwy_err err = {0};
	struct hwy_builder *b = hwy_builder_new();
	struct dice dice = {6};
	/* Longer than a block, ending on its border, and many short ones. */
	const size_t lengths[] = {3 * BLOB_BLOCK + 5, BLOB_BLOCK - 7, 0, BLOB_BLOCK, 1};
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		char *text = hwy_alloc(lengths[i] + 1);
		for (size_t k = 0; k < lengths[i]; k++)
			text[k] = (char)('a' + roll(&dice) % 20);
		hwy_text_id_n(b, text, lengths[i]);
		free(text);
	}
	for (int i = 0; i < 3000; i++) {
		char text[24];
		snprintf(text, sizeof text, "text %d", i);
		hwy_text_id(b, text);
	}
	struct hwy_trace *trace = hwy_builder_finish(b, true);
	assert_round_trip(trace);
	struct hwy_trace *back = open_report(path);
	assert_string_equal(difference(trace, back, &err), "");
	assert_int_equal(hwy_intern_z(&back->strings, "text 17"),
			 hwy_intern_z(&trace->strings, "text 17"));
	assert_int_equal(hwy_intern_z(&back->strings, "another"), trace->strings.n);
	hwy_trace_free(back);
	hwy_trace_free(trace);
}

static void columns_stay_in_the_file_until_needed(void **state)
{
	struct hwy_err err = {0};
	struct hwy_trace *trace = random_trace(3, 4, 20000);
	write_report(trace, path);
	struct hwy_trace *back = open_report(path);
	struct hwy_strip *strip = &back->strips[0];
	for (uint32_t s = 0; s < back->n_strips; s++)
		if (back->strips[s].rows > strip->rows)
			strip = &back->strips[s];
	assert_false(strip->columns[HWY_START]->chunks[0].loaded);
	assert_true(hwy_need_strip(back, (uint32_t)(strip - back->strips), HWY_COL_BIT(HWY_START),
				   &err));
	assert_true(strip->columns[HWY_START]->chunks[0].loaded);
	assert_false(strip->columns[HWY_DUR]->chunks[0].loaded);
	hwy_trace_free(back);
	hwy_trace_free(trace);
}

static void spans_of_unknown_kinds_are_left_out_and_the_rest_keeps_its_links(void **state)
{
	struct hwy_err err = {0};
	struct hwy_builder *b = hwy_builder_new();
	hwy_new_processes(b);
	hwy_new_threads(b);
	uint32_t first = hwy_add_lane(b, hwy_lane_of(HWY_LANE_OVERHEAD, 0, 0));
	uint32_t second = hwy_add_lane(b, hwy_lane_of(HWY_LANE_API, 0, 0));
	uint32_t third = hwy_add_lane(b, hwy_lane_of(HWY_LANE_STREAM, 0, HWY_NONE));
	for (int64_t i = 0; i < 600; i++) {
		struct hwy_row row = {
			.v = {[HWY_START] = i * 10, [HWY_DUR] = 3, [HWY_CORR] = i + 1}};
		struct hwy_ref over = hwy_add_span(b, first, HWY_OVERHEAD, &row);
		struct hwy_ref api = hwy_add_span(b, second, HWY_API, &row);
		struct hwy_ref kernel = hwy_add_span(b, third, HWY_KERNEL, &row);
		hwy_add_edge(b, HWY_EDGE_LAUNCH, api, kernel, i);
		hwy_add_edge(b, HWY_EDGE_LAUNCH, over, kernel, i);
	}
	struct hwy_trace *trace = hwy_builder_finish(b, false);
	trace->strips[0].kind = HWY_KINDS + 2; /* as a newer version would write */
	write_report(trace, path);
	struct hwy_trace *back = open_report(path);
	assert_int_equal(back->n_strips, 2);
	assert_int_equal(back->n_spans, 1200);
	assert_int_equal(back->n_edges, 600);
	assert_int_equal(back->edges[5].from, 5);
	assert_int_equal(back->edges[5].to, 605);
	assert_true(hwy_need(back, UINT32_MAX, UINT64_MAX, &err));
	for (uint32_t row = 0; row < 600; row++) {
		assert_int_equal(hwy_get(&back->strips[1], HWY_LINK, row), row + 1);
		assert_int_equal(hwy_corr(back, &back->strips[1], row), row + 1);
	}
	assert_int_equal(hwy_pyramid_leaf(back, 1), -1);
	hwy_trace_free(back);
	hwy_trace_free(trace);
}

/* ---- writing ---------------------------------------------------------------------------------- */

static void a_report_is_private_and_leaves_nothing_beside_it(void **state)
{
	struct hwy_trace *trace = random_trace(4, 3, 100);
	unlink(other);
	write_report(trace, path);
	struct stat status;
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_int_equal(files_in_folder(), 1);
	hwy_trace_free(trace);
}

static void an_existing_file_is_kept_unless_told(void **state)
{
	struct hwy_err err;
	struct hwy_trace *trace = random_trace(5, 3, 100);
	write_whole(path, "mine", 4);
	assert_false(hwy_file_write(trace, path, false, NULL, &err));
	assert_non_null(strstr(err.text, "exists"));
	size_t n;
	char *bytes = read_whole(path, &n);
	assert_int_equal(n, 4);
	free(bytes);
	assert_true(hwy_file_write(trace, path, true, NULL, &err));
	unlink(path);
	assert_true(hwy_file_write(trace, path, false, NULL, &err));
	assert_int_equal(files_in_folder(), 1);
	hwy_trace_free(trace);
}

static void a_link_is_followed_and_other_things_are_not_replaced(void **state)
{
	struct hwy_err err;
	struct hwy_trace *trace = random_trace(6, 3, 100);
	write_report(trace, path);
	assert_int_equal(symlink(path, other), 0);
	write_report(trace, other);
	struct stat status;
	assert_int_equal(lstat(other, &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	unlink(other);
	assert_false(hwy_file_write(trace, "/dev/null", true, NULL, &err));
	assert_non_null(strstr(err.text, "not a regular file"));
	assert_false(hwy_file_write(trace, folder, true, NULL, &err));
	assert_non_null(strstr(err.text, "directory"));
	assert_false(hwy_file_write(trace, "/no/such/place/x.hwy", true, NULL, &err));
	assert_non_null(strstr(err.text, strerror(ENOENT)));
	assert_int_equal(files_in_folder(), 1);
	hwy_trace_free(trace);
}

static void a_full_disk_leaves_the_old_report_and_nothing_else(void **state)
{
	struct hwy_err err = {0};
	struct hwy_trace *trace = random_trace(8, 3, 60000);
	write_whole(path, "old", 3);
	/* A limit on file size fails the write half-way, as a full disk does. */
	struct rlimit old, limit;
	getrlimit(RLIMIT_FSIZE, &old);
	limit = (struct rlimit){.rlim_cur = 100000, .rlim_max = old.rlim_max};
	void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	bool ok = hwy_file_write(trace, path, true, NULL, &err);
	setrlimit(RLIMIT_FSIZE, &old);
	signal(SIGXFSZ, before);
	assert_false(ok);
	assert_non_null(strstr(err.text, strerror(EFBIG)));
	size_t n;
	char *bytes = read_whole(path, &n);
	assert_int_equal(n, 3);
	free(bytes);
	assert_int_equal(files_in_folder(), 1);
	hwy_trace_free(trace);
}

static void what_a_reader_would_refuse_is_not_written(void **state)
{
	struct hwy_err err = {0};
	struct hwy_builder *b = hwy_builder_new();
	uint32_t lane = hwy_add_lane(b, hwy_lane_of(HWY_LANE_API, 5, HWY_NONE));
	struct hwy_row row = {.v = {[HWY_START] = 1}};
	hwy_add_span(b, lane, HWY_API, &row);
	struct hwy_trace *trace = hwy_builder_finish(b, false);
	unlink(path);
	assert_false(hwy_file_write(trace, path, true, NULL, &err));
	assert_non_null(strstr(err.text, "lanes 0: 'process' is 5"));
	assert_int_equal(files_in_folder(), 0);
	hwy_trace_free(trace);
}

/* ---- reading what is not a whole report --------------------------------------------------------- */

static struct hwy_trace *small_trace(void)
{
	struct hwy_builder *b = hwy_builder_new();
	struct hwy_trace *trace = hwy_builder_trace(b);
	trace->wall = INT64_C(1700000000000000000);
	hwy_new_processes(b);
	uint32_t lane = hwy_add_lane(b, hwy_lane_of(HWY_LANE_API, 0, HWY_NONE));
	uint32_t stream = hwy_add_lane(b, hwy_lane_of(HWY_LANE_STREAM, 0, HWY_NONE));
	int64_t name = hwy_text_id(b, "cudaLaunchKernel");
	for (int64_t i = 0; i < 270; i++) {
		struct hwy_row row = {.v = {[HWY_START] = i * 100 + i % 7,
					    [HWY_DUR] = 40,
					    [HWY_NAME] = name,
					    [HWY_CORR] = i}};
		hwy_add_span(b, lane, HWY_API, &row);
		if (i < 3)
			hwy_add_span(b, stream, HWY_KERNEL, &row);
	}
	trace = hwy_builder_finish(b, false);
	trace->results = hwy_zalloc(sizeof *trace->results);
	trace->n_results = 1;
	trace->results[0].bytes = 10;
	trace->result_bytes = hwy_zalloc(sizeof *trace->result_bytes);
	trace->result_bytes[0] = hwy_copy("0123456789", 10);
	return trace;
}

static bool same_pyramid(struct hwy_trace *a, struct hwy_trace *b)
{
	struct hwy_err err;
	struct hwy_buckets x = {0}, y = {0};
	bool same = hwy_pyramid_level(a, 0, 14, INT64_MIN, INT64_MAX, &x, &err) &&
		    hwy_pyramid_level(b, 0, 14, INT64_MIN, INT64_MAX, &y, &err);
	if (same)
		assert_true(x.n == y.n && memcmp(x.v, y.v, x.n * sizeof *x.v) == 0);
	free(x.v);
	free(y.v);
	return same;
}

/* True: refused with a line that names the file. False: opened, and all is as it was. */
static bool is_refused(struct hwy_trace *trace, const char *name)
{
	struct hwy_err err = {0};
	struct hwy_trace *back = hwy_file_open(name, &err);
	if (!back) {
		assert_int_equal(strncmp(err.text, name, strlen(name)), 0);
		return true;
	}
	const char *where = difference(trace, back, &err);
	bool refused = *where && err.text[0];
	if (*where && !refused)
		fail_msg("%s differs silently", where);
	refused = !same_pyramid(trace, back) || refused;
	hwy_trace_free(back);
	return refused;
}

static void a_report_cut_anywhere_is_refused(void **state)
{
	struct hwy_trace *trace = small_trace();
	write_report(trace, path);
	size_t n;
	char *bytes = read_whole(path, &n);
	for (size_t length = 0; length < n; length++) {
		write_whole(other, bytes, length);
		assert_true(is_refused(trace, other));
	}
	/* The size in the header told; without it the rest must. */
	for (size_t length = FORMAT_HEADER; length < n; length++) {
		uint64_t size = length;
		memcpy(bytes + 16, &size, 8);
		write_whole(other, bytes, length);
		assert_true(is_refused(trace, other));
	}
	free(bytes);
	hwy_trace_free(trace);
}

static void a_report_with_any_bit_flipped_is_refused_or_the_same(void **state)
{
	struct hwy_trace *trace = small_trace();
	write_report(trace, path);
	size_t n;
	char *bytes = read_whole(path, &n);
	unsigned same = 0;
	int fd = open(other, O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_int_equal(write(fd, bytes, n), n);
	for (size_t bit = 0; bit < n * 8; bit++) {
		char flipped = (char)(bytes[bit / 8] ^ (1 << bit % 8));
		assert_int_equal(pwrite(fd, &flipped, 1, (off_t)(bit / 8)), 1);
		same += !is_refused(trace, other);
		assert_int_equal(pwrite(fd, bytes + bit / 8, 1, (off_t)(bit / 8)), 1);
	}
	close(fd);
	/* The minor version, and an unused bit of each zstd frame. */
	assert_true(same < 80);
	free(bytes);
	hwy_trace_free(trace);
}

static void a_report_with_bytes_overwritten_never_crashes(void **state)
{
	struct hwy_trace *trace = random_trace(21, 8, 3000);
	write_report(trace, path);
	size_t n;
	char *bytes = read_whole(path, &n);
	struct dice dice = {4};
	for (int round = 0; round < 300; round++) {
		char *copy = hwy_copy(bytes, n);
		for (int i = 0; i < 5; i++)
			copy[roll_below(&dice, (int64_t)n)] = (char)roll(&dice);
		write_whole(other, copy, n);
		is_refused(trace, other);
		free(copy);
	}
	free(bytes);
	hwy_trace_free(trace);
}

static void a_damaged_block_is_named_with_its_column_and_place(void **state)
{
	struct hwy_err err;
	struct hwy_trace *trace = small_trace();
	write_report(trace, path);
	struct hwy_trace *back = open_report(path);
	const struct hwy_chunk *chunk = &back->strips[0].columns[HWY_START]->chunks[0];
	assert_true(chunk->stored > 0);
	size_t n;
	char *bytes = read_whole(path, &n);
	bytes[chunk->place + chunk->stored - 1] ^= 1;
	write_whole(other, bytes, n);
	struct hwy_trace *damaged = open_report(other);
	assert_true(hwy_need(damaged, HWY_KIND_BIT(HWY_KERNEL), UINT64_MAX, &err));
	assert_false(hwy_need(damaged, HWY_KIND_BIT(HWY_API), HWY_COL_BIT(HWY_START), &err));
	char expected[400];
	snprintf(expected, sizeof expected,
		 "%s: block of column 'start' of lane 0 (api) at offset %llu is damaged", other,
		 (unsigned long long)chunk->place);
	assert_int_equal(strncmp(err.text, expected, strlen(expected)), 0);
	assert_false(hwy_need(damaged, HWY_KIND_BIT(HWY_API), HWY_COL_BIT(HWY_START), &err));
	hwy_trace_free(damaged);
	hwy_trace_free(back);
	free(bytes);
	hwy_trace_free(trace);
}

static void assert_refused(const char *name, const char *reason)
{
	struct hwy_err err = {0};
	assert_null(hwy_file_open(name, &err));
	if (!strstr(err.text, reason))
		fail_msg("'%s' does not say '%s'", err.text, reason);
}

static void what_is_no_report_is_refused_with_the_reason(void **state)
{
	struct hwy_trace *trace = small_trace();
	write_report(trace, path);
	size_t n;
	char *bytes = read_whole(path, &n);
	write_whole(other, "", 0);
	assert_refused(other, "too short");
	write_whole(other, "SQLite format 3, or whatever else there is, and then some more of it.",
		    64);
	assert_refused(other, "not a Headway report");
	assert_refused(folder, "is a directory");
	assert_refused("/dev/null", "not a regular file");
	assert_refused("/no/such/file", strerror(ENOENT));
	write_whole(other, bytes, n - 100);
	assert_refused(other, "truncated");
	bytes[8] = 2;
	write_whole(other, bytes, n);
	assert_refused(other, "report format 2.0");
	assert_true(hwy_file_is_report(bytes, 8));
	assert_false(hwy_file_is_report(bytes, 7));
	free(bytes);
	hwy_trace_free(trace);
}

/* ---- directories that lie ------------------------------------------------------------------------ */

/* A report with the given directory and no blocks. */
static void write_with_directory(const struct hwy_bytes *directory)
{
	struct codec *codec = codec_new();
	size_t stored = 0;
	const void *block =
		codec_compress(codec, CODEC_LEVEL, directory->bytes, directory->n, &stored);
	struct hwy_bytes file = {0};
	uint64_t numbers[] = {FORMAT_MAJOR, FORMAT_HEADER + stored + FORMAT_TRAILER, FORMAT_HEADER,
			      stored, directory->n};
	hwy_bytes_put(&file, FORMAT_MAGIC, 8);
	hwy_bytes_put(&file, numbers, 16);
	hwy_bytes_put(&file, block, stored);
	hwy_bytes_put(&file, numbers + 2, 24);
	hwy_bytes_put(&file, FORMAT_END, 8);
	write_whole(other, file.bytes, file.n);
	free(file.bytes);
	codec_free(codec);
}

/* One section of the given body. */
static void write_with_section(unsigned id, const struct hwy_bytes *body)
{
	struct hwy_bytes directory = {0};
	hwy_bytes_put_zigzag(&directory, 0);
	hwy_bytes_put_varint(&directory, 1);
	hwy_bytes_put_varint(&directory, id);
	hwy_bytes_put_varint(&directory, SECTION_VERSION);
	hwy_bytes_put_varint(&directory, body->n);
	hwy_bytes_put_varint(&directory, 0);
	hwy_bytes_put(&directory, body->bytes, body->n);
	write_with_directory(&directory);
	free(directory.bytes);
}

static void hostile_sizes_are_refused_before_they_are_allocated(void **state)
{
	struct hwy_bytes body = {0};
	hwy_bytes_put_varint(&body, INT32_MAX); /* rows of table 5, all constant */
	hwy_bytes_put_varint(&body, 1);
	hwy_bytes_put_varint(&body, 0);
	for (uint32_t i = 0; i < chunks_of(INT32_MAX); i++)
		hwy_bytes_put(&body, "\0\0", 2);
	write_with_section(5, &body);
	assert_refused(other, "claims more");
	body.n = 0;
	hwy_bytes_put_varint(&body, INT32_MAX);
	hwy_bytes_put_varint(&body, 1);
	hwy_bytes_put_varint(&body, 0);
	write_with_section(5, &body);
	assert_refused(other, "rows");
	body.n = 0;
	hwy_bytes_put(&body, "\0\0", 2); /* lane and kind of a strip without a column */
	hwy_bytes_put_varint(&body, INT32_MAX);
	hwy_bytes_put_varint(&body, 0);
	write_with_section(SECTION_STRIP, &body);
	assert_refused(other, "claims more");
	body.n = 0;
	hwy_bytes_put_varint(&body, UINT64_MAX);
	write_with_section(SECTION_STRINGS, &body);
	assert_refused(other, "ends early");
	free(body.bytes);
}

static void unknown_sections_and_columns_are_skipped(void **state)
{
	struct hwy_bytes body = {0};
	hwy_bytes_put(&body, "anything", 8);
	write_with_section(1000, &body);
	hwy_trace_free(open_report(other));
	body.n = 0;
	hwy_bytes_put_varint(&body, 1); /* one host … */
	hwy_bytes_put_varint(&body, 2);
	hwy_bytes_put_varint(&body, 1); /* … whose cpu is text 0 … */
	hwy_bytes_put(&body, "\0\0", 2);
	hwy_bytes_put_varint(&body, 99); /* … with a field we do not know */
	hwy_bytes_put(&body, "\0\4", 2);
	hwy_bytes_put(&body, "more", 4);
	write_with_section(2, &body);
	struct hwy_trace *trace = open_report(other);
	assert_int_equal(trace->n_hosts, 1);
	assert_int_equal(trace->hosts[0].cpu, 0);
	assert_true(trace->hosts[0].name == HWY_NONE);
	hwy_trace_free(trace);
	free(body.bytes);
}

static void spans_that_point_nowhere_are_refused(void **state)
{
	struct hwy_err err;
	struct hwy_trace *trace = small_trace();
	/* Links to kernels, in an inline chunk: seen when the report is opened. */
	column_shift(trace->strips[1].columns[HWY_LINK], 269);
	assert_false(hwy_file_write(trace, path, true, NULL, &err));
	assert_non_null(strstr(err.text, "column 'link' of lane 1 (kernel)"));
	column_shift(trace->strips[1].columns[HWY_LINK], -269);
	column_shift(trace->strips[0].columns[HWY_NAME], 1);
	assert_false(hwy_file_write(trace, path, true, NULL, &err));
	assert_non_null(strstr(err.text, "column 'name' of lane 0 (api): value 2 is out of range"));
	column_shift(trace->strips[0].columns[HWY_NAME], -1);
	write_report(trace, path);
	hwy_trace_free(trace);

	struct hwy_bytes body = {0};
	hwy_bytes_put_varint(&body, 0); /* lane 0 of none */
	hwy_bytes_put_varint(&body, HWY_API);
	hwy_bytes_put_varint(&body, 1);
	hwy_bytes_put_varint(&body, 0);
	write_with_section(SECTION_STRIP, &body);
	assert_refused(other, "lane 0, but there are 0 lanes");
	free(body.bytes);
}

static int set_up(void **state)
{
	folder = make_folder();
	snprintf(path, sizeof path, "%s/a.hwy", folder);
	snprintf(other, sizeof other, "%s/b.hwy", folder);
	return 0;
}

static int empty_folder(void **state)
{
	unlink(path);
	unlink(other);
	return 0;
}

static int tear_down(void **state)
{
	drop_folder(folder);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup(name, empty_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(random_traces_survive_a_report),
		TEST(a_trace_of_many_chunks_survives_a_report),
		TEST(an_empty_trace_survives_a_report),
		TEST(long_texts_survive_and_are_found_again),
		TEST(columns_stay_in_the_file_until_needed),
		TEST(spans_of_unknown_kinds_are_left_out_and_the_rest_keeps_its_links),
		TEST(a_report_is_private_and_leaves_nothing_beside_it),
		TEST(an_existing_file_is_kept_unless_told),
		TEST(a_link_is_followed_and_other_things_are_not_replaced),
		TEST(a_full_disk_leaves_the_old_report_and_nothing_else),
		TEST(what_a_reader_would_refuse_is_not_written),
		TEST(a_report_cut_anywhere_is_refused),
		TEST(a_report_with_any_bit_flipped_is_refused_or_the_same),
		TEST(a_report_with_bytes_overwritten_never_crashes),
		TEST(a_damaged_block_is_named_with_its_column_and_place),
		TEST(what_is_no_report_is_refused_with_the_reason),
		TEST(hostile_sizes_are_refused_before_they_are_allocated),
		TEST(unknown_sections_and_columns_are_skipped),
		TEST(spans_that_point_nowhere_are_refused),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
