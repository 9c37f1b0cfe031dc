/* SPDX-License-Identifier: Apache-2.0 */
/* kineto_bad_test.c - PyTorch traces as they should not be, and wherever the window on them ends. */
#include "kineto_text.h"

/* ---- what bad files hold --------------------------------------------------------------------------- */

#define GOOD "{'ph':'X','cat':'cpu_op','name':'good','pid':1,'tid':1,'ts':5,'dur':1}"
#define GOOD2 "{'ph':'X','cat':'cpu_op','name':'good2','pid':1,'tid':1,'ts':6,'dur':1}"

static void a_copy_has_its_direction_whatever_the_vendor_calls_it(void **state)
{
	struct hwy_trace *trace = import(EVENTS(
		"{'ph':'X','cat':'gpu_memcpy','name':'Memcpy DtoH (Device -> Pinned)','pid':0,'tid':7,'ts':1,'dur':1},"
		"{'ph':'X','cat':'gpu_memcpy','name':'CopyHostToDevice','pid':0,'tid':7,'ts':3,'dur':1},"
		"{'ph':'X','cat':'gpu_memcpy','name':'Memcpy M2D','pid':0,'tid':7,'ts':5,'dur':1},"
		"{'ph':'X','cat':'gpu_memcpy','name':'Memcpy','pid':0,'tid':7,'ts':7,'dur':1}"));
	assert_int_equal(
		get(span_of(trace, HWY_COPY, "Memcpy DtoH (Device -> Pinned)"), HWY_DIRECTION),
		HWY_D2H);
	assert_int_equal(get(span_of(trace, HWY_COPY, "CopyHostToDevice"), HWY_DIRECTION), HWY_H2D);
	assert_int_equal(get(span_of(trace, HWY_COPY, "Memcpy M2D"), HWY_DIRECTION), HWY_H2D);
	assert_int_equal(get(span_of(trace, HWY_COPY, "Memcpy"), HWY_DIRECTION), HWY_DIR_UNKNOWN);
	hwy_trace_free(trace);
}

static void a_begin_and_its_end_are_one_event(void **state)
{
	struct hwy_trace *trace = import(EVENTS(
		"{'ph':'E','pid':1,'tid':2,'ts':0},"
		"{'ph':'B','cat':'cpu_op','name':'outer','pid':1,'tid':2,'ts':1,'args':{'Sequence number':4}},"
		"{'ph':'B','cat':'cuda_runtime','name':'cudaLaunchKernel','pid':1,'tid':2,'ts':2,"
		"'args':{'correlation':5}},"
		"{'ph':'B','cat':'cpu_op','name':'other','pid':1,'tid':3,'ts':3},"
		"{'ph':'E','pid':1,'tid':2,'ts':4},{'ph':'E','pid':1,'tid':2,'ts':9,'args':{'a':1}},"
		"{'ph':'X','cat':'kernel','name':'k','pid':0,'tid':7,'ts':5,'dur':1,'args':{'stream':7,'correlation':5}}"));
	struct span outer = span_of(trace, HWY_OP, "outer");
	assert_int_equal(get(outer, HWY_DUR), 8000);
	assert_int_equal(get(outer, HWY_SEQUENCE), 5);
	struct span call = span_of(trace, HWY_API, "cudaLaunchKernel");
	assert_int_equal(get(call, HWY_DUR), 2000);
	assert_int_equal(get(span_of(trace, HWY_KERNEL, "k"), HWY_LINK), call.id + 1);
	assert_int_equal(count(trace, HWY_OP), 1);
	assert_int_equal(dropped(trace, "event begins and does not end, or ends and did not begin"),
			 2);
	hwy_trace_free(trace);
}

static void events_that_lack_something_are_counted(void **state)
{
	struct hwy_trace *trace = import(EVENTS(
		GOOD ",{'cat':'cpu_op','name':'x','pid':1,'tid':1,'ts':5,'dur':1},"
		     "{'ph':'X','cat':'cpu_op','name':'x','pid':1,'tid':1,'dur':1},"
		     "{'ph':'X','cat':'cpu_op','name':'x','pid':1,'tid':1,'ts':5},"
		     "{'ph':'X','cat':'cpu_op','name':'x','pid':1,'tid':1,'ts':'soon','dur':1},"
		     "{'ph':'X','cat':'cpu_op','name':'x','pid':1,'tid':1,'ts':1e30,'dur':1},"
		     "{'ph':'N','cat':'cpu_op','name':'x','pid':1,'tid':1,'ts':5}, 17, null, {}"));
	assert_int_equal(count(trace, HWY_OP), 1);
	assert_int_equal(dropped(trace, "event has no ph"), 4);
	assert_int_equal(dropped(trace, "event has no ts or dur"), 3);
	assert_int_equal(dropped(trace, "event's time is out of range"), 1);
	assert_int_equal(dropped(trace, "event of an unknown ph"), 1);
	hwy_trace_free(trace);
}

static void odd_values_are_kept_as_text(void **state)
{
	struct hwy_trace *trace = import(EVENTS(
		"{'ph':'X','cat':'cpu_op','name':'n','pid':1,'tid':1,'ts':5,'dur':1,'args':{"
		"'Comms Id': 10159970886766084423, 'a': inf, 'b': NaN, 'c': [1, 2,], 'd': -Infinity, 'e': [0.5, nan], },},"));
	assert_string_equal(
		hwy_str(trace, get(span_of(trace, HWY_OP, "n"), HWY_ARGS)),
		"{\"Comms Id\":10159970886766084423,\"a\":\"inf\",\"b\":\"NaN\",\"c\":\"[1, 2,]\","
		"\"d\":\"-Infinity\",\"e\":\"[0.5, nan]\"}");
	hwy_trace_free(trace);
}

static void arguments_are_one_line_of_json(void **state)
{
	struct hwy_trace *trace = import(EVENTS(
		"{'ph':'X','cat':'cpu_op','name':'n','pid':1,'tid':1,'ts':5,'dur':1,'args':{\n"
		"  'a': [1,\n  2], 'b\\n': 'x\ty\\\\', 'c': {\r\n\t'd':\n'\\'\x01' }\n}}"));
	assert_string_equal(
		hwy_str(trace, get(span_of(trace, HWY_OP, "n"), HWY_ARGS)),
		"{\"a\":[1,  2],\"b\\n\":\"x\\u0009y\\\\\",\"c\":{\"d\":\"\\\"\\u0001\" }}");
	hwy_trace_free(trace);
}

static void bare_quotes_and_control_characters_stay_in_names(void **state)
{
	struct hwy_trace *trace = import(EVENTS(
		"{'ph':'X','cat':'cpu_op','name':'say 'hi', 'he' said','pid':1,'tid':1,'ts':5,'dur':1,"
		"'args':{'Concrete Inputs':['a'b', ''],'Call stack':'x 'y' z'}},"
		"{'ph':'X','cat':'cpu_op','name':'tab\tand\x01\xff','pid':1,'tid':1,'ts':5,'dur':1}," GOOD));
	struct span said = span_of(trace, HWY_OP, "say \"hi\", \"he\" said");
	assert_string_equal(hwy_str(trace, get(said, HWY_ARGS)),
			    "{\"Concrete Inputs\":\"[\\\"a\\\"b\\\", \\\"\\\"]\","
			    "\"Call stack\":\"x \\\"y\\\" z\"}");
	span_of(trace, HWY_OP, "tab\tand\x01\xff");
	span_of(trace, HWY_OP, "good");
	assert_int_equal(trace->n_drops, 0);
	hwy_trace_free(trace);
}

static void an_event_that_is_not_json_is_left_out(void **state)
{
	static const char *const bad[] = {
		"{'ph':'X','cat':'cpu_op','name':'bad,'pid':1,'tid':1,'ts':5,'dur':1}",
		"{'ph':'X','cat':'cpu_op' 'name':'bad','pid':1,'tid':1,'ts':5,'dur':1}",
		"{'ph':'X','cat':'cpu_op','name':'bad','pid':1,'tid':1,'ts':,'dur':1}",
		"{'ph':'X','cat':'cpu_op','name':'bad','args':{'x':[1,}]},'ts':5,'dur':1}",
		"{'ph':'X','cat':'cpu_op','name':'bad','args':{'x':1,'ts':5,'dur':1}",
		"{'ph':'X','cat':'cpu_op','name':'bad','ts':5,'dur':1,'args':{'a':[{'name':1},{'name' 2}]}}",
		"{ph:'X'}",
		"@",
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char text[1024];
		snprintf(text, sizeof text, EVENTS("%s, %s, %s"), GOOD, bad[i], GOOD2);
		struct hwy_trace *trace = import(text);
		span_of(trace, HWY_OP, "good");
		span_of(trace, HWY_OP, "good2");
		assert_int_equal(dropped(trace, "event is not JSON"), 1);
		hwy_trace_free(trace);

		snprintf(text, sizeof text, "{'traceEvents': [%s, %s], 'baseTimeNanoseconds': 7}",
			 GOOD, bad[i]);
		if (bad[i][strlen(bad[i]) - 1] != '}')
			continue;
		trace = import(text);
		assert_int_equal(trace->wall, 5007);
		assert_int_equal(dropped(trace, "event is not JSON"), 1);
		hwy_trace_free(trace);
	}
}

static void a_bare_list_may_lack_its_end(void **state)
{
	static const char *const texts[] = {
		"[" GOOD,
		"[" GOOD ",",
		"[" GOOD ",\n",
		"[" GOOD ",{'ph':'X','na",
		"[" GOOD ",{'ph':'X'",
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct hwy_trace *trace = import(texts[i]);
		assert_int_equal(count(trace, HWY_OP), 1);
		assert_int_equal(trace->n_diagnostics, 1);
		hwy_trace_free(trace);
	}
}

static void refuse(const char *text, const char *reason)
{
	struct hwy_trace *trace = import_in(text, SOURCE_WINDOW);
	assert_null(trace);
	if (!strstr(err.text, reason))
		fail_msg("'%s' lacks '%s'", err.text, reason);
	assert_null(strchr(err.text, '\n'));
}

static void an_object_cut_anywhere_is_refused_with_the_offset(void **state)
{
	const char *whole = "{'schemaVersion': 1, 'traceEvents': [" GOOD ", " GOOD2
			    "], 'baseTimeNanoseconds': 12}";
	char part[512], offset[32];
	for (size_t n = 1; n < strlen(whole); n++) {
		memcpy(part, whole, n);
		part[n] = 0;
		snprintf(offset, sizeof offset, "at byte %zu", n);
		refuse(part, "truncated");
		assert_non_null(strstr(err.text, offset));
	}
}

static void other_files_are_refused_in_one_line(void **state)
{
	char deep[2000];
	int n = snprintf(deep, sizeof deep, "{'traceEvents': [{'ph':'X','args':{'x':");
	memset(deep + n, '[', 500);
	deep[n + 500] = 0;
	refuse(deep, "nested deeper than 64 at byte 9");
	n = snprintf(deep, sizeof deep, "{'x':");
	memset(deep + n, '[', 500);
	deep[n + 500] = 0;
	refuse(deep, "nested deeper than 64");
	refuse("{}", "no traceEvents; is this a PyTorch trace?");
	refuse("{'a': 1, 'b': {'traceEvents': []}}", "no traceEvents");
	refuse("{'traceEvents': 3}", "no traceEvents");
	refuse("[]", "is this a PyTorch trace?");
	refuse("[1, 2, 3]", "is this a PyTorch trace?");
	refuse("[{'a': 1}]", "is this a PyTorch trace?");
	refuse("hello", "not JSON");
	refuse("  \n ", "not JSON");
	refuse("{'traceEvents': [@@@@]}", "no event can be read; the first is at byte 17");
	refuse("{'a' 1}", "not JSON at byte 5");
	refuse("[", "truncated");
}

static void a_trace_without_spans_is_a_trace(void **state)
{
	struct hwy_trace *trace = import("{'traceEvents': [], 'schemaVersion': 1}");
	assert_int_equal(trace->n_spans, 0);
	hwy_trace_free(trace);
	trace = import(
		EVENTS("{'ph':'M','name':'process_name','pid':9,'args':{'name':'python3'}}"));
	assert_int_equal(trace->n_spans, 0);
	hwy_trace_free(trace);
}

static void text_behind_the_end_is_noted(void **state)
{
	struct hwy_trace *trace = import("\xef\xbb\xbf" EVENTS(GOOD) "\n]]}");
	assert_int_equal(count(trace, HWY_OP), 1);
	assert_int_equal(trace->n_diagnostics, 1);
	hwy_trace_free(trace);
}

/* ---- the window ------------------------------------------------------------------------------------ */

static void print_record(FILE *out, const void *record, size_t size)
{
	for (size_t i = 0; i < size / sizeof(int64_t); i++)
		fprintf(out, " %lld", (long long)((const int64_t *)record)[i]);
	fputc('\n', out);
}

/* Everything a trace holds, as text. */
static char *print_trace(const struct hwy_trace *trace)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
#define X(type, field, section)                                                                    \
	for (uint32_t i = 0; i < trace->n_##field; i++)                                            \
		print_record(out, &trace->field[i], sizeof(struct type));
	HWY_RECORDS(X)
#undef X
	for (uint32_t s = 0; s < trace->n_strips; s++)
		for (uint32_t row = 0; row < trace->strips[s].rows; row++) {
			fprintf(out, "%u %u:", trace->strips[s].lane, trace->strips[s].kind);
			for (int col = 0; col < HWY_COLS; col++)
				fprintf(out, " %lld",
					(long long)hwy_get(&trace->strips[s], (enum hwy_col)col,
							   row));
			fputc('\n', out);
		}
	for (uint32_t i = 0; i < trace->strings.n; i++)
		fprintf(out, "%s\n", trace->strings.texts[i].at);
	fprintf(out, "%lld\n", (long long)trace->wall);
	fclose(out);
	return text;
}

static void where_the_window_ends_makes_no_difference(void **state)
{
	const char *text =
		"\n { 'schemaVersion' : 1, 'deviceProperties': [ {'id': 0, 'name': 'H\\u00e9', 'numSms': 132} ],\n"
		"'traceEvents' : [ {'ph': 'X', 'cat': 'kernel', 'name': 'k<\\\"a\\\">', 'pid': 0, 'tid': 7, 'ts': 123456.789,\n"
		" 'dur': 1.5e1, 'args': {'stream': 7, 'correlation': 12, 'grid': [1, 20, 300], 'x': {'y': [null, true]} } },\n"
		"{'ph':'X','cat':'cuda_runtime','name':'cudaLaunchKernel','pid':12,'tid':13,'ts':123450.001,'dur':2,'args':{'correlation':12}},\n"
		"{'ph':'X','cat':'cpu_op','name':'bare 'quotes' here','pid':12,'tid':13,'ts':123440,'dur':20,'args':{'a':NaN,'b':[1,]}},\n"
		"{'ph':'X','cat':'cpu_op','name':'broken','pid':12 'tid':13,'ts':123440,'dur':20,'args':{'a':[{'name':1}]}},\n"
		"{'ph':'i','name':'[memory]','pid':12,'tid':13,'ts':123441,'args':{'Bytes':-5,'Device Type':1,'Device Id':0}},\n"
		"{'ph':'s','cat':'fwdbwd','id':1,'pid':12,'tid':13,'ts':123441},{'ph':'f','cat':'fwdbwd','id':1,'pid':12,'tid':13,'ts':123442}],\n"
		"'baseTimeNanoseconds': 1000000, 'distributedInfo' : {'rank': 1, 'world_size': 2}, 'traceName': 'x' }  \n";
	struct hwy_trace *trace = import(text);
	char *expected = print_trace(trace);
	assert_int_equal(count_linked(trace), 1);
	assert_int_equal(dropped(trace, "event is not JSON"), 1);
	hwy_trace_free(trace);
	for (size_t window = 16; window <= strlen(text) + 1; window++) {
		trace = import_in(text, window);
		if (!trace)
			fail_msg("window of %zu: %s", window, err.text);
		char *got = print_trace(trace);
		if (strcmp(got, expected) != 0)
			fail_msg("window of %zu:\n%s\nexpected:\n%s", window, got, expected);
		free(got);
		hwy_trace_free(trace);
	}
	free(expected);
}

static void one_long_event_is_read_and_an_endless_one_refused(void **state)
{
	size_t length = 3 << 20;
	char *text = malloc((size_t)80 << 20);
	int n = sprintf(
		text,
		"{\"traceEvents\": [{\"ph\":\"X\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":1,\"ts\":1,"
		"\"dur\":1,\"name\":\"");
	memset(text + n, 'x', (size_t)80 * 1000 * 1000);
	memcpy(text + n + length, "\"}]}", 4);
	struct hwy_trace *trace = import_bytes(text, (size_t)n + length + 4, SOURCE_WINDOW);
	assert_non_null(trace);
	hwy_trace_free(trace);
	memset(text + n + length, 'x', 4);
	assert_null(import_bytes(text, (size_t)n + 80 * 1000 * 1000, SOURCE_WINDOW));
	assert_non_null(strstr(err.text, "one entry at byte 17 is longer than 64 MiB"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_has_its_direction_whatever_the_vendor_calls_it),
		cmocka_unit_test(a_begin_and_its_end_are_one_event),
		cmocka_unit_test(events_that_lack_something_are_counted),
		cmocka_unit_test(odd_values_are_kept_as_text),
		cmocka_unit_test(arguments_are_one_line_of_json),
		cmocka_unit_test(bare_quotes_and_control_characters_stay_in_names),
		cmocka_unit_test(an_event_that_is_not_json_is_left_out),
		cmocka_unit_test(a_bare_list_may_lack_its_end),
		cmocka_unit_test(an_object_cut_anywhere_is_refused_with_the_offset),
		cmocka_unit_test(other_files_are_refused_in_one_line),
		cmocka_unit_test(a_trace_without_spans_is_a_trace),
		cmocka_unit_test(text_behind_the_end_is_noted),
		cmocka_unit_test(where_the_window_ends_makes_no_difference),
		cmocka_unit_test(one_long_event_is_read_and_an_endless_one_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
