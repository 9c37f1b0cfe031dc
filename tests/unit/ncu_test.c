/* SPDX-License-Identifier: Apache-2.0 */
/* ncu_test.c - the output of `ncu --csv`: its three tables, its units, what stands around it, what is refused. */
#include "ncu_text.h"

#define EXACTLY(value, wanted) assert_true((value) == (wanted))

/* ---- tables ------------------------------------------------------------------------------------------ */

static void a_row_for_each_counter_is_read_behind_messages_and_output(void **state)
{
	struct hwy_trace *trace = read_ncu(
		"==PROF== Connected to process 371 (/tmp/a.out)\n"
		"2208    2048   Kernel Name   358.15\n==PROF== Disconnected from process 371\n" LONG_HEADER
			LONG_ROW("0", "gemm(float*, int)", "dram__bytes_read.sum", "Mbyte", "10.24")
				LONG_ROW("0", "gemm(float*, int)", "gpu__time_duration.sum", "us",
					 "1,211.94")
					LONG_ROW("1", "gemm(float*, int)", "gpu__time_duration.sum",
						 "usecond", "40") "==WARNING== one more\n");
	assert_int_equal(trace->n_measured, 2);
	assert_string_equal(hwy_str(trace, trace->measured[0].kernel), "gemm(float*, int)");
	assert_string_equal(hwy_str(trace, trace->measured[0].source), "ncu");
	assert_int_equal(trace->measured[0].launches, 1);
	EXACTLY(counter(trace, 0, "dram__bytes_read.sum"), 10240000);
	EXACTLY(counter(trace, 0, "gpu__time_duration.sum"), 1211940);
	EXACTLY(counter(trace, 1, "gpu__time_duration.sum"), 40000);
	assert_true(isnan(counter(trace, 1, "dram__bytes_read.sum")));
	const struct hwy_shape *shape = &trace->shapes[trace->measured[0].shape];
	assert_int_equal(shape->grid_x, 1024);
	assert_int_equal(shape->grid_y, 2);
	assert_int_equal(shape->block_x, 256);
	assert_int_equal(trace->devices[0].compute_major, 9);
	assert_int_equal(trace->n_diagnostics, 0);
	hwy_trace_free(trace);
}

#define RAW_HEADER                                                                                 \
	WHO ",'device__attribute_display_name','device__attribute_multiprocessor_count','dram__bytes_read.sum','gpu__time_duration.sum','launch__registers_per_thread','launch__shared_mem_per_block_static','sm__throughput.avg.pct_of_peak_sustained_elapsed'\n"
#define RAW_UNITS                                                                                  \
	"'','','','','','','','','','','','','','Gbyte','ms','register/thread','Kbyte/block','%'\n"

static void a_row_for_each_launch_is_read_with_the_units_of_its_own_row(void **state)
{
	struct hwy_trace *trace = read_ncu(
		RAW_HEADER RAW_UNITS
		"'0','1','p','h','k<(int)4>(T1)','1','7','(256, 1, 1)','(5, 20, 1)','0','9.0','NVIDIA H200','132','1.024000001','0.5','168','33.28','71.25'\n"
		"'1','1','p','h','k<(int)4>(T1)','1','7','(256, 1, 1)','(5, 20, 1)','0','9.0','NVIDIA H200','132','2','0.25','168','33.28','n/a'\n");
	assert_int_equal(trace->n_measured, 2);
	EXACTLY(counter(trace, 0, "dram__bytes_read.sum"), 1024000001);
	EXACTLY(counter(trace, 1, "gpu__time_duration.sum"), 250000);
	EXACTLY(counter(trace, 0, "sm__throughput.avg.pct_of_peak_sustained_elapsed"), 71.25);
	assert_true(isnan(counter(trace, 1, "sm__throughput.avg.pct_of_peak_sustained_elapsed")));
	assert_string_equal(hwy_str(trace, trace->devices[0].name), "NVIDIA H200");
	assert_int_equal(trace->devices[0].sms, 132);
	const struct hwy_shape *shape = &trace->shapes[trace->measured[0].shape];
	assert_int_equal(shape->registers, 168);
	assert_int_equal(shape->static_shared, 33280);
	assert_int_equal(trace->measured[0].shape, trace->measured[1].shape);
	hwy_trace_free(trace);
}

static void the_labels_of_the_details_page_become_counters(void **state)
{
	struct hwy_trace *trace = read_ncu(
		WHO
		",'Section Name','Metric Name','Metric Unit','Metric Value','Rule Name','Rule Type','Rule Description','Estimated Speedup Type','Estimated Speedup'\n"
		"'0','1','p','h','k','1','7','(384, 1, 1)','(9, 32, 1)','0','10.0','GPU Speed Of Light Throughput','Duration','ns','406240',\n"
		"'0','1','p','h','k','1','7','(384, 1, 1)','(9, 32, 1)','0','10.0','GPU Speed Of Light Throughput','Memory Throughput','%','21.68',\n"
		"'0','1','p','h','k','1','7','(384, 1, 1)','(9, 32, 1)','0','10.0','Memory Workload Analysis','Memory Throughput','Gbyte/second','1.5','','','','',''\n"
		"'0','1','p','h','k','1','7','(384, 1, 1)','(9, 32, 1)','0','10.0','GPU Speed Of Light Throughput','SM Frequency','cycle/nsecond','1.24',\n"
		"'0','1','p','h','k','1','7','(384, 1, 1)','(9, 32, 1)','0','10.0','SpeedOfLight','','','','SOLBottleneck','OPT','Some ''advice'',\nof two lines','global','50'\n"
		"'0','1','p','h','k','1','7','(384, 1, 1)','(9, 32, 1)','0','10.0','Launch Statistics','Function Cache Configuration','','CachePreferNone',\n"
		"'0','1','p','h','k','1','7','(384, 1, 1)','(9, 32, 1)','0','10.0','Occupancy','Achieved Occupancy','%','15.53',\n");
	assert_int_equal(trace->n_measured, 1);
	EXACTLY(counter(trace, 0, "gpu__time_duration.sum"), 406240);
	EXACTLY(counter(trace, 0,
			"gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed"),
		21.68);
	EXACTLY(counter(trace, 0, "dram__bytes.sum.per_second"), 1.5e9);
	EXACTLY(counter(trace, 0, "smsp__cycles_elapsed.avg.per_second"), 1.24e9);
	EXACTLY(counter(trace, 0, "sm__warps_active.avg.pct_of_peak_sustained_active"), 15.53);
	assert_int_equal(trace->n_measures, 5);
	hwy_trace_free(trace);
}

static void a_summary_is_the_mean_of_its_launches(void **state)
{
	struct hwy_trace *trace = read_ncu(
		"'Process ID','Kernel Name','Block Size','Grid Size','Invocations','Section Name','Metric Name','Metric Unit','Minimum','Maximum','Average'\n"
		"'1','k','(128, 1, 1)','(96, 1, 1)','3','Command line profiler metrics','lts__t_bytes.sum','byte','1,000.00','2,000.00','1,500.00'\n"
		"'1','k','(128, 1, 1)','(96, 1, 1)','3','Command line profiler metrics','gpu__time_duration.sum','us','1','3','2'\n");
	assert_int_equal(trace->n_measured, 1);
	assert_int_equal(trace->measured[0].launches, 3);
	EXACTLY(counter(trace, 0, "lts__t_bytes.sum"), 1500);
	EXACTLY(counter(trace, 0, "gpu__time_duration.sum"), 2000);
	hwy_trace_free(trace);
}

static void tables_that_were_joined_or_written_again_without_quotes_are_read(void **state)
{
	struct hwy_trace *trace =
		read_ncu("ID,Process ID,Kernel Name,Metric Name,Metric Unit,Metric Value\r\n"
			 "0,1,k,gpu__time_duration.sum,ns,42\r\n\r\n"
			 "ID,Kernel Name,gpu__time_duration.sum\r\n,,us\r\n7,k,3\r\n");
	assert_int_equal(trace->n_measured, 2);
	EXACTLY(counter(trace, 0, "gpu__time_duration.sum"), 42);
	EXACTLY(counter(trace, 1, "gpu__time_duration.sum"), 3000);
	assert_int_equal(trace->measured[0].shape, HWY_NONE);
	hwy_trace_free(trace);
}

static void output_that_ends_without_a_line_end_hides_no_header(void **state)
{
	struct hwy_trace *trace = read_ncu("loss 0.3" LONG_HEADER LONG_ROW(
		"0", "k", "gpu__time_duration.sum", "ns",
		"5") "step 3, loss ' 0.2\n" LONG_ROW("1", "k", "gpu__time_duration.sum", "ns",
						     "6"));
	assert_int_equal(trace->n_measured, 2);
	assert_int_equal(trace->n_diagnostics, 1);
	assert_non_null(strstr(hwy_str(trace, trace->diagnostics[0].text), "1 lines"));
	hwy_trace_free(trace);
}

/* ---- units and numbers ---------------------------------------------------------------------------------- */

static void units_become_base_units_exactly(void **state)
{
	static const struct {
		const char *number, *unit;
		double wanted;
		enum ncu_unit_class class;
	} rows[] = {
		{"233.472", "Kbyte", 233472, NCU_BYTES},
		{"0.1", "Mbyte", 100000, NCU_BYTES},
		{"4.815", "Tbyte/s", 4.815e12, NCU_RATE},
		{"3,995,313,115.40", "hz", 3995313115.40, NCU_CLOCK},
		{"1.83", "Ghz", 1.83e9, NCU_CLOCK},
		{"1.62", "cycle/nsecond", 1.62e9, NCU_CLOCK},
		{"865.35", "cycle/usecond", 865.35e6, NCU_CLOCK},
		{"12.5", "us", 12500, NCU_TIME},
		{"4.0e-05", "second", 40000, NCU_TIME},
		{"7", "nsecond", 7, NCU_TIME},
		{"2.5", "msecond", 2500000, NCU_TIME},
		{"71.3", "%", 71.3, NCU_PERCENT},
		{"128", "register/thr", 128, NCU_COUNT},
		{"205.70", "Kbyte/block", 205700, NCU_BYTES},
		{"1.2", "Kinst", 1200, NCU_COUNT},
		{"-3", "", -3, NCU_COUNT},
		{"100 (40; 60)", "", 100, NCU_COUNT},
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct ncu_unit unit;
		double value;
		assert_true(ncu_unit_read(rows[i].unit, &unit));
		assert_int_equal(ncu_number_read(rows[i].number, unit.exponent, &value),
				 NCU_NUMBER);
		assert_int_equal(unit.class, rows[i].class);
		if (value != rows[i].wanted)
			fail_msg("%s %s is %.17g", rows[i].number, rows[i].unit, value);
	}
}

static void what_is_no_number_is_told_from_what_is_a_wrong_one(void **state)
{
	static const char *const none[] = {
		"",  "n/a",   "nan",    "(!) n/a", "PolicySpread", "all",
		"-", "sm_90", "3 of 4", ".",       "NVIDIA H200",  "1e999"};
	static const char *const bad[] = {"12,5", "1.205,00", "1,20,300", ",5", "1.2.3", "1,2345"};
	double value;
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		if (ncu_number_read(none[i], 0, &value) != NCU_NO_NUMBER)
			fail_msg("'%s'", none[i]);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (ncu_number_read(bad[i], 0, &value) != NCU_BAD_NUMBER)
			fail_msg("'%s'", bad[i]);
}

static void a_counter_in_a_unit_that_is_not_known_is_left_out_with_a_note(void **state)
{
	struct hwy_trace *trace =
		read_ncu(LONG_HEADER LONG_ROW("0", "k", "gpu__time_duration.sum", "ns", "5")
				 LONG_ROW("0", "k", "x__flux.sum", "Gflux", "5"));
	assert_int_equal(trace->n_measures, 1);
	assert_non_null(strstr(hwy_str(trace, trace->diagnostics[0].text), "'Gflux'"));
	hwy_trace_free(trace);
}

/* ---- refusals ------------------------------------------------------------------------------------------- */

static void a_time_in_a_unit_that_is_not_known_is_no_number_of_ns(void **state)
{
	struct hwy_trace *trace = read_ncu(
		LONG_HEADER LONG_ROW("0", "k", "gpu__time_duration.sum", "µs", "125.89")
			LONG_ROW("0", "k", "launch__grid_size", "thr", "7")
				LONG_ROW("1", "k", "gpu__time_duration.sum", "us", "125.89")
					LONG_ROW("2", "k", "gpu__time_duration.sum", "", "125"));
	assert_true(isnan(counter(trace, 0, "gpu__time_duration.sum")) != 0);
	assert_true(counter(trace, 0, "launch__grid_size") == 7);
	assert_true(counter(trace, 1, "gpu__time_duration.sum") == 125890);
	assert_true(counter(trace, 2, "gpu__time_duration.sum") == 125);
	assert_int_equal(trace->n_diagnostics, 1);
	hwy_trace_free(trace);
}

static void refused(const char *text, const char *why)
{
	if (read_ncu_in(text, SOURCE_WINDOW))
		fail_msg("read: %s", text);
	if (!strstr(err.text, why) || strchr(err.text, '\n'))
		fail_msg("'%s' lacks '%s'", err.text, why);
}

static void what_is_cut_off_or_foreign_is_refused_with_line_and_reason(void **state)
{
	refused("", "is empty");
	refused("hello\nworld\n", "no table of ncu");
	refused("==PROF== Connected\n==ERROR== The user does not have permission\n",
		"no table of ncu");
	refused(LONG_HEADER, "has no kernel");
	refused(LONG_HEADER "'0','1','p'\n", "line 2 has 3 fields");
	refused(LONG_HEADER LONG_ROW("0", "k", "gpu__time_duration.sum", "ns",
				     "5") "'0','1','p','h','k",
		"line 3");
	refused(LONG_HEADER LONG_ROW("0", "k", "gpu__time_duration.sum", "ns", "12,5"),
		"line 2: '12,5'");
	refused(RAW_HEADER RAW_UNITS "'0','1','p','h','k'\n",
		"line 3 has 5 fields and the header has 18");
	refused("'ID','Kernel Name','Metric Name'\n'0','k','a__b'\n", "neither");
}

static void the_window_does_not_change_what_is_read(void **state)
{
	static const char text[] = "noise\n" LONG_HEADER LONG_ROW(
		"0", "a ''quoted'', name", "dram__bytes_read.sum", "Kbyte", "10.24")
		LONG_ROW("0", "a ''quoted'', name", "gpu__time_duration.sum", "us", "1,211.94");
	for (size_t window = 1; window < 80; window++) {
		struct hwy_trace *trace = read_ncu_in(text, window);
		assert_non_null(trace);
		assert_int_equal(trace->n_measures, 2);
		assert_string_equal(hwy_str(trace, trace->measured[0].kernel),
				    "a \"quoted\", name");
		hwy_trace_free(trace);
	}
}

/* Every byte of a table, changed: it is read or refused with a line, and never fatal. */
static void a_damaged_table_is_read_or_refused(void **state)
{
	static const char text[] = RAW_HEADER RAW_UNITS
		"'0','1','p','h','k','1','7','(256, 1, 1)','(5, 20, 1)','0','9.0','NVIDIA H200','132','1.024','0.5','168','33.28','71.25'\n";
	for (size_t at = 0; at + 1 < sizeof text; at++) {
		char copy[sizeof text];
		memcpy(copy, text, sizeof text);
		copy[at] = "\n',A9"[at % 5];
		struct hwy_trace *trace = read_ncu_in(copy, SOURCE_WINDOW);
		assert_true(trace || (*err.text && !strchr(err.text, '\n')));
		if (trace)
			hwy_trace_free(trace);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_for_each_counter_is_read_behind_messages_and_output),
		cmocka_unit_test(a_row_for_each_launch_is_read_with_the_units_of_its_own_row),
		cmocka_unit_test(the_labels_of_the_details_page_become_counters),
		cmocka_unit_test(a_summary_is_the_mean_of_its_launches),
		cmocka_unit_test(tables_that_were_joined_or_written_again_without_quotes_are_read),
		cmocka_unit_test(output_that_ends_without_a_line_end_hides_no_header),
		cmocka_unit_test(units_become_base_units_exactly),
		cmocka_unit_test(what_is_no_number_is_told_from_what_is_a_wrong_one),
		cmocka_unit_test(a_counter_in_a_unit_that_is_not_known_is_left_out_with_a_note),
		cmocka_unit_test(a_time_in_a_unit_that_is_not_known_is_no_number_of_ns),
		cmocka_unit_test(what_is_cut_off_or_foreign_is_refused_with_line_and_reason),
		cmocka_unit_test(the_window_does_not_change_what_is_read),
		cmocka_unit_test(a_damaged_table_is_read_or_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
