/* SPDX-License-Identifier: Apache-2.0 */
/* codec_test.c - chunks and varints survive the way to bytes and back, and bad bytes are seen. */
#include "make_trace.h"

#include "trace/codec.h"

enum { SHAPES = 12 };

/* Values of one of many shapes: noise, steps, repeats, ends of the range. */
static void fill(struct dice *dice, unsigned shape, int64_t *values, uint32_t n)
{
	int64_t clock = roll_any(dice);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t r = roll(dice);
		clock = (int64_t)((uint64_t)clock + r % 3000);
		switch (shape) {
		case 0: values[i] = -7; break;
		case 1: values[i] = (int64_t)(r % 2); break;
		case 2: values[i] = (int64_t)(r % 256); break;
		case 3: values[i] = (int64_t)(r % 65537) - 40000; break;
		case 4: values[i] = (int64_t)(r >> 32); break;
		case 5: values[i] = (int64_t)r; break;
		case 6: values[i] = i % 2 ? INT64_MIN : INT64_MAX; break;
		case 7: values[i] = roll_any(dice); break;
		case 8: values[i] = clock; break;
		case 9: values[i] = INT64_MAX - (int64_t)i; break;
		case 10: values[i] = i == n / 2 ? INT64_MIN : 0; break;
		default: values[i] = (int64_t)(i * UINT64_C(1000003)); break;
		}
	}
}

static void assert_survives(struct codec *codec, const int64_t *values, uint32_t n, bool compress)
{
	struct hwy_column column = {0};
	column_pack(&column, values, n);
	struct codec_block block = codec_encode(codec, &column.chunks[0], n, compress);
	struct hwy_chunk chunk = {
		.base = column.chunks[0].base,
		.width = column.chunks[0].width,
		.coding = block.coding,
		.planes = block.planes,
		.loaded = block.coding == CODEC_CONSTANT,
	};
	if (block.planes) {
		uint8_t *planes = hwy_copy(block.bytes, block.length);
		if (compress) {
			uint8_t *raw = hwy_alloc((size_t)n * 8);
			assert_null(codec_decompress(codec, planes, block.length, raw,
						     (size_t)n * block.planes));
			free(planes);
			planes = raw;
		}
		assert_true(codec_decode(codec, &chunk, n, planes));
		free(planes);
	}
	struct hwy_column back = {.chunks = &chunk, .n_chunks = 1, .rows = n};
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(column_get(&back, i), values[i]);
	free(chunk.data);
	free(column.chunks[0].data);
	free(column.chunks);
}

static void chunks_of_any_values_survive(void **state)
{
	static int64_t values[HWY_CHUNK_ROWS];
	struct codec *codec = codec_new();
	struct dice dice = {1};
	static const uint32_t sizes[] = {1, 2, 3, 7, 255, 256, 1000, HWY_CHUNK_ROWS};
	for (unsigned shape = 0; shape < SHAPES; shape++)
		for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
			fill(&dice, shape, values, sizes[s]);
			assert_survives(codec, values, sizes[s], true);
			assert_survives(codec, values, sizes[s], false);
		}
	codec_free(codec);
}

static void steady_times_cost_little_and_constants_nothing(void **state)
{
	static int64_t values[HWY_CHUNK_ROWS];
	struct codec *codec = codec_new();
	struct hwy_column column = {0};
	for (uint32_t i = 0; i < HWY_CHUNK_ROWS; i++)
		values[i] = INT64_C(1700000000000000000) + (int64_t)i * 1000;
	column_pack(&column, values, HWY_CHUNK_ROWS);
	struct codec_block block = codec_encode(codec, &column.chunks[0], HWY_CHUNK_ROWS, true);
	assert_int_equal(block.coding, CODEC_RISE);
	assert_true(block.length < 100);
	for (uint32_t i = 0; i < HWY_CHUNK_ROWS; i++)
		values[i] = INT64_MIN;
	column_pack(&column, values, HWY_CHUNK_ROWS);
	assert_int_equal(codec_encode(codec, &column.chunks[1], HWY_CHUNK_ROWS, true).planes, 0);
	free(column.chunks[0].data);
	free(column.chunks);
	codec_free(codec);
}

static void a_value_too_wide_for_its_chunk_is_refused(void **state)
{
	struct codec *codec = codec_new();
	/* Two differences of +200 each: the second value, 400, needs two bytes. */
	const uint8_t deltas[] = {0x90, 0x90, 0x01, 0x01};
	struct hwy_chunk narrow = {.width = 1, .coding = CODEC_DELTA, .planes = 2};
	assert_false(codec_decode(codec, &narrow, 2, deltas));
	assert_null(narrow.data);
	struct hwy_chunk wide = {.width = 2, .coding = CODEC_DELTA, .planes = 2};
	assert_true(codec_decode(codec, &wide, 2, deltas));
	assert_int_equal(((uint16_t *)wide.data)[0], 200);
	assert_int_equal(((uint16_t *)wide.data)[1], 400);
	free(wide.data);
	struct hwy_chunk plain = {.width = 1, .coding = CODEC_PLAIN, .planes = 2};
	assert_false(codec_decode(codec, &plain, 2, deltas));
	codec_free(codec);
}

static void every_flipped_bit_of_a_block_is_seen_or_harmless(void **state)
{
	struct codec *codec = codec_new();
	uint8_t text[300], back[300];
	struct dice dice = {5};
	for (size_t i = 0; i < sizeof text; i++)
		text[i] = (uint8_t)(roll(&dice) % 7);
	size_t stored = 0;
	const void *packed = codec_compress(codec, CODEC_LEVEL, text, sizeof text, &stored);
	uint8_t *block = hwy_copy(packed, stored);
	unsigned harmless = 0;
	for (size_t bit = 0; bit < stored * 8; bit++) {
		block[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (!codec_decompress(codec, block, stored, back, sizeof back)) {
			assert_memory_equal(text, back, sizeof text);
			harmless++;
		}
		block[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	assert_true(harmless < 8);
	for (size_t n = 0; n < stored; n++)
		assert_non_null(codec_decompress(codec, block, n, back, sizeof back));
	free(block);
	codec_free(codec);
}

static void varints_survive_and_end_where_they_end(void **state)
{
	struct hwy_bytes bytes = {0};
	struct dice dice = {9};
	for (int i = 0; i < 1000; i++)
		hwy_bytes_put_zigzag(&bytes, roll_any(&dice));
	hwy_bytes_put_varint(&bytes, UINT64_MAX);
	dice.state = 9;
	struct hwy_bytes_reader cursor = {.next = bytes.bytes, .end = bytes.bytes + bytes.n};
	for (int i = 0; i < 1000; i++)
		assert_int_equal(hwy_bytes_read_zigzag(&cursor), roll_any(&dice));
	assert_true(hwy_bytes_read_varint(&cursor) == UINT64_MAX);
	assert_false(cursor.is_bad);
	assert_ptr_equal(cursor.next, cursor.end);
	assert_int_equal(hwy_bytes_read_varint(&cursor), 0);
	assert_true(cursor.is_bad);
	free(bytes.bytes);

	const uint8_t too_long[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
	cursor = (struct hwy_bytes_reader){.next = too_long, .end = too_long + sizeof too_long};
	hwy_bytes_read_varint(&cursor);
	assert_true(cursor.is_bad);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chunks_of_any_values_survive),
		cmocka_unit_test(steady_times_cost_little_and_constants_nothing),
		cmocka_unit_test(a_value_too_wide_for_its_chunk_is_refused),
		cmocka_unit_test(every_flipped_bit_of_a_block_is_seen_or_harmless),
		cmocka_unit_test(varints_survive_and_end_where_they_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
