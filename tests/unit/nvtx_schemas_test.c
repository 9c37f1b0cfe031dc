/* SPDX-License-Identifier: Apache-2.0 */
/* nvtx_schemas_test.c - NVTX payloads and counters, from the records of a run to arguments and lanes. */
#include "ingest_records.h"

#include "base/json_read.h"
#include "spool/record_nvtx.h"

enum { PID = 50, STATIC_ID = 1 << 24, TYPE_INT32 = 15, TYPE_UINT64 = 18 };

static struct rec_nvtx_definition *put_definition(struct made_spool *spool,
						  enum rec_nvtx_defined what, uint64_t id,
						  const struct rec_nvtx_entry *entries, uint32_t n)
{
	struct rec_nvtx_definition *record = put_record(spool, REC_NVTX_DEFINITION, (uint8_t)what,
							0, sizeof *record + n * sizeof *entries);
	record->id = id;
	record->count = n;
	if (n > 0)
		memcpy(record + 1, entries, n * sizeof *entries);
	return record;
}

/* A mark with one payload. */
static void put_mark(struct made_spool *spool, uint64_t number, uint64_t schema, const void *bytes,
		     uint32_t size)
{
	struct rec_nvtx_payload *payload =
		put_record(spool, REC_NVTX_PAYLOAD, 0, 0, sizeof *payload + size);
	payload->number = number;
	payload->schema = schema;
	payload->bytes = size;
	memcpy(payload + 1, bytes, size);
	struct rec_range *mark = put_record(spool, REC_MARK, 0, 1, sizeof *mark);
	mark->time = epoch + 100 + (int64_t)number;
	mark->payload_type = REC_PAYLOAD_EXTENDED;
	mark->payload = number;
}

static const char *args_of(const struct hwy_trace *trace, uint32_t row)
{
	return hwy_str(trace, hwy_get(only(trace, HWY_RANGE), HWY_ARGS, row));
}

static void a_payload_is_read_by_its_schema(void **state)
{
	static const struct rec_nvtx_entry entries[] = {{.type = TYPE_UINT64, .name = 2},
							{.type = TYPE_INT32, .name = 3},
							{.type = STATIC_ID + 1, .name = 4}};
	static const struct rec_nvtx_entry values[] = {{.type = 7, .name = 5}};
	struct made_run run = make_run();
	struct made_spool spool = make_spool(&run, PID, PID, 0);
	put_process(&spool, 1, 0);
	put_string(&spool, 1, "event");
	put_string(&spool, 2, "bytes");
	put_string(&spool, 3, "peer");
	put_string(&spool, 4, "how");
	put_string(&spool, 5, "slowly");
	put_definition(&spool, REC_NVTX_SCHEMA, STATIC_ID, entries, 3);
	put_definition(&spool, REC_NVTX_ENUM, STATIC_ID + 1, values, 1)->of = 4;
	const struct {
		uint64_t bytes;
		int32_t peer, how;
	} first = {UINT64_MAX, -1, 7}, second = {1, 2, 3};
	put_mark(&spool, 1, STATIC_ID, &first, sizeof first);
	put_mark(&spool, 2, STATIC_ID, &second, sizeof second);
	put_mark(&spool, 3, STATIC_ID, &second, 8);     /* cut: only 'bytes' is there */
	put_mark(&spool, 4, STATIC_ID + 9, &second, 8); /* nobody has this schema */
	end_spool(&spool);
	struct hwy_trace *trace = ingest(&run);
	assert_string_equal(args_of(trace, 0),
			    "{\"bytes\":18446744073709551615,\"peer\":-1,\"how\":\"slowly\"}");
	assert_string_equal(args_of(trace, 1), "{\"bytes\":1,\"peer\":2,\"how\":3}");
	assert_string_equal(args_of(trace, 2), "{\"bytes\":1}");
	assert_string_equal(args_of(trace, 3), "");
	hwy_trace_free(trace);
}

static uint32_t next_random(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*seed >> 33);
}

/* A schema of any entries, which may name each other or themselves. */
static void put_random_schema(struct made_spool *spool, uint64_t *seed, uint64_t id)
{
	static const uint32_t flags[] = {0, 0, 0, 2, 4, 16, 32, 48, 64, 256, 1 << 10};
	struct rec_nvtx_entry entries[12];
	uint32_t n = next_random(seed) % 12;
	for (uint32_t i = 0; i < n; i++)
		entries[i] = (struct rec_nvtx_entry){
			.type = next_random(seed) % 3 ? next_random(seed) % 110
						      : STATIC_ID + next_random(seed) % 6,
			.detail = next_random(seed) % 4 ? next_random(seed) % 12
							: (uint64_t)next_random(seed) << 20,
			.offset = next_random(seed) % 3   ? 0
				  : next_random(seed) % 8 ? next_random(seed) % 80
							  : UINT64_MAX - next_random(seed) % 80,
			.flags = flags[next_random(seed) % (sizeof flags / sizeof *flags)],
			.name = next_random(seed) % 4,
		};
	struct rec_nvtx_definition *record = put_definition(
		spool, next_random(seed) % 5 ? REC_NVTX_SCHEMA : REC_NVTX_ENUM, id, entries, n);
	record->type = next_random(seed) % 5;
	record->of = next_random(seed) % 3 ? next_random(seed) % 40 : next_random(seed);
	record->pack = next_random(seed) % 9;
}

static void whatever_a_schema_says_the_arguments_are_json(void **state)
{
	for (uint64_t s = 1; s <= 300; s++) {
		uint64_t seed = s;
		struct made_run run = make_run();
		struct made_spool spool = make_spool(&run, PID, PID, 0);
		put_process(&spool, 1, 0);
		put_string(&spool, 1, "a \"name\"\n");
		put_string(&spool, 2, "\xff");
		for (uint64_t i = 0; i < 6; i++)
			put_random_schema(&spool, &seed, STATIC_ID + i);
		for (uint64_t i = 1; i <= 12; i++) {
			uint8_t bytes[96];
			uint32_t size = next_random(&seed) % sizeof bytes;
			for (uint32_t b = 0; b < sizeof bytes; b++)
				bytes[b] = (uint8_t)(next_random(&seed) % 3 ? next_random(&seed) % 8
									    : next_random(&seed));
			put_mark(&spool, i, STATIC_ID + next_random(&seed) % 6, bytes, size);
		}
		end_spool(&spool);
		struct hwy_trace *trace = ingest(&run);
		const struct hwy_strip *marks = only(trace, HWY_RANGE);
		assert_int_equal(marks->rows, 12);
		for (uint32_t row = 0; row < marks->rows; row++) {
			struct hwy_text text = hwy_text(trace, hwy_get(marks, HWY_ARGS, row));
			struct hwy_arena arena = {0};
			struct hwy_err err = {""};
			if (text.length && !json_read(&arena, text.at, text.length, &err))
				fail_msg("seed %llu: %s in %s", (unsigned long long)s, err.text,
					 text.at);
			hwy_arena_free(&arena);
		}
		hwy_trace_free(trace);
	}
}

static void put_sample(struct made_spool *spool, enum rec_nvtx_value what, uint64_t counter,
		       uint64_t value, int64_t time, size_t more)
{
	struct rec_nvtx_sample *record =
		put_record(spool, REC_NVTX_SAMPLE, (uint8_t)what, 0, sizeof *record + more);
	record->counter = counter;
	record->value = value;
	record->time = epoch + time;
}

static void samples_of_a_counter_are_a_lane_of_the_process(void **state)
{
	struct made_run run = make_run();
	struct made_spool spool = make_spool(&run, PID, PID, 0);
	put_process(&spool, 1, 0);
	put_string(&spool, 1, "queue");
	put_string(&spool, 2, "requests");
	struct rec_nvtx_definition *counter =
		put_definition(&spool, REC_NVTX_COUNTER, STATIC_ID, NULL, 0);
	counter->head.value = 1;
	counter->unit = 2;
	counter->of = 17;
	put_sample(&spool, REC_NVTX_INT64, STATIC_ID, 5, 10, 0);
	put_sample(&spool, REC_NVTX_NO_VALUE, STATIC_ID, 1, 20, 0);  /* unchanged */
	put_sample(&spool, REC_NVTX_NO_VALUE, STATIC_ID, 0, 30, 0);  /* zero */
	put_sample(&spool, REC_NVTX_NO_VALUE, STATIC_ID, 2, 40, 0);  /* unavailable */
	put_sample(&spool, REC_NVTX_BYTES, STATIC_ID, 4, 50, 4);     /* too short for its type */
	put_sample(&spool, REC_NVTX_INT64, STATIC_ID + 1, 5, 60, 0); /* nobody registered it */
	end_spool(&spool);
	struct hwy_trace *trace = ingest(&run);
	const struct hwy_strip *strip = only(trace, HWY_COUNTER);
	const struct hwy_lane *lane = &trace->lanes[strip->lane];
	assert_string_equal(hwy_str(trace, lane->name), "queue");
	assert_string_equal(hwy_str(trace, lane->unit), "requests");
	assert_int_equal(lane->device, HWY_NONE);
	assert_int_equal(strip->rows, 3);
	static const int64_t wanted[] = {5, 5, 0};
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(hwy_get(strip, HWY_VALUE, i), wanted[i]);
	assert_true(was_said(trace, "1 samples of NVTX counters"));
	hwy_trace_free(trace);
}

static void a_call_of_a_library_has_its_lane_and_arguments(void **state)
{
	struct made_run run = make_run();
	struct made_spool spool = make_spool(&run, PID, PID, 0);
	put_process(&spool, 1, 0);
	put_string(&spool, 1, "cufftExecC2C");
	put_string(&spool, 2, "cuFFT");
	put_string(&spool, 3, "{\"plan\":1}");
	struct rec_call *call = put_record(&spool, REC_CALL, 0, 1, sizeof *call);
	call->start = epoch + 10;
	call->duration = 20;
	call->library = 2;
	call->args = 3;
	end_spool(&spool);
	struct hwy_trace *trace = ingest(&run);
	const struct hwy_strip *strip = only(trace, HWY_CALL);
	assert_true(hwy_lane_is_library(trace, strip->lane));
	assert_string_equal(hwy_str(trace, trace->lanes[strip->lane].name), "cuFFT");
	assert_string_equal(name_of(trace, strip, 0), "cufftExecC2C");
	assert_string_equal(hwy_str(trace, hwy_get(strip, HWY_ARGS, 0)), "{\"plan\":1}");
	assert_int_equal(hwy_get(strip, HWY_DUR, 0), 20);
	hwy_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_payload_is_read_by_its_schema),
		cmocka_unit_test(whatever_a_schema_says_the_arguments_are_json),
		cmocka_unit_test(samples_of_a_counter_are_a_lane_of_the_process),
		cmocka_unit_test(a_call_of_a_library_has_its_lane_and_arguments),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
