/* SPDX-License-Identifier: Apache-2.0 */
/* open_test.c - what is opened how, and what is refused with which words. */
#include <sys/stat.h>

#include "nsys_sql.h"

static void views_in_place_of_tables_are_not_run(void **state)
{
	struct hwy_trace *trace = opened(
		STRINGS
		"CREATE VIEW NVTX_EVENTS AS WITH RECURSIVE forever(start, end, eventType) AS"
		" (SELECT 1, 2, 59 UNION ALL SELECT start + 1, end + 1, 59 FROM forever) SELECT * FROM forever;");
	assert_int_equal(trace->n_spans, 0);
	hwy_trace_free(trace);
}

static void what_is_no_export_is_refused_with_the_reason(void **state)
{
	assert_null(open_sql("CREATE TABLE bookmarks(url)"));
	assert_non_null(strstr(err.text, "no table StringIds")
				? err.text
				: strstr(err.text, "without a table StringIds"));
	assert_null(open_sql(STRINGS "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, deviceId)"));
	assert_non_null(strstr(err.text, "CUPTI_ACTIVITY_KIND_KERNEL has no column 'end'"));
	assert_non_null(strstr(err.text, path));
	assert_null(strchr(err.text, '\n'));
}

static void a_table_without_a_column_it_cannot_do_without_is_left_out_with_a_note(void **state)
{
	struct hwy_trace *trace = opened(
		STRINGS "CREATE TABLE OSRT_API(start, nameId); INSERT INTO OSRT_API VALUES(1, 2);"
			"CREATE TABLE PROCESSES(pid, name); INSERT INTO PROCESSES VALUES(1, 'a')");
	assert_int_equal(trace->n_spans, 0);
	assert_int_equal(trace->n_diagnostics, 2);
	for (uint32_t i = 0; i < 2; i++)
		assert_non_null(
			strstr(hwy_str(trace, trace->diagnostics[i].text), "has no column"));
	hwy_trace_free(trace);
}

/* Every byte of a small export, changed: it opens or it is refused, with a line. */
static void a_damaged_export_is_refused_or_read_but_never_fatal(void **state)
{
	struct hwy_trace *trace = opened(
		"PRAGMA page_size=512;" STRINGS KERNELS CALLS NVTX
		"INSERT INTO StringIds VALUES(1, 'f(int)'), (4, 'cudaLaunchKernel_v7000');"
		"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(5, 20, 0, " TID(
			10,
			11) ", 9, 4, 0, NULL);"
			    "INSERT INTO NVTX_EVENTS(start, end, eventType, text) VALUES(1, 2, 59, 'r');"
			    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(30, 40, 0, 1, 7, 9, " PID(
				    10) ", 1, 1, 1,"
					" 4, 5, 6, 128, 1, 1, 32, 16, 8);");
	hwy_trace_free(trace);
	FILE *file = fopen(path, "r+b");
	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	long size = ftell(file);
	for (long at = 0; at < size; at++) {
		fseek(file, at, SEEK_SET);
		int byte = fgetc(file);
		fseek(file, at, SEEK_SET);
		fputc(byte ^ (1 << at % 8), file);
		fflush(file);
		err.text[0] = '\0';
		trace = import_nsys(path, NULL, &err);
		if (!trace)
			assert_non_null(strstr(err.text, path));
		hwy_trace_free(trace);
		fseek(file, at, SEEK_SET);
		fputc(byte, file);
	}
	for (long cut = size - 1; cut > 0; cut -= 97) {
		fflush(file);
		assert_int_equal(ftruncate(fileno(file), cut), 0);
		assert_null(import_nsys(path, NULL, &err));
		assert_non_null(strstr(err.text, "cut short"));
	}
	fclose(file);
}

static void write_file(const char *name, const void *bytes, size_t length, unsigned mode)
{
	FILE *file = fopen(name, "wb");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, length, file), length);
	fclose(file);
	assert_int_equal(chmod(name, mode), 0);
}

static void assert_refused(const char *name, const char *words)
{
	err.text[0] = '\0';
	assert_null(hwy_open(name, NULL, &err));
	if (!strstr(err.text, words) || strchr(err.text, '\n'))
		fail_msg("'%s' is not in: %s", words, err.text);
}

static void what_cannot_be_a_recording_is_named(void **state)
{
	assert_refused("/tmp", "/tmp: is a directory");
	assert_refused("/nowhere/a.sqlite", "/nowhere/a.sqlite: No such file or directory");
	assert_refused("/dev/null", "is not a regular file");
	write_file(path, "", 0, 0600);
	assert_refused(path, "is empty");
	write_file(path, "Dear profiler,", 14, 0600);
	assert_refused(path, "a text file that is not JSON; Headway reads .hwy");
	write_file(path,
		   "\x7f"
		   "ELF\2\1\1\0",
		   8, 0600);
	assert_refused(path, "a program");
	write_file(path, "\1\2\3\4", 4, 0600);
	assert_refused(path, "a binary file of an unknown kind");
	write_file(path, "SQLite format 3", 16, 0600);
	assert_refused(path, "cut short");
}

static void an_export_is_known_by_its_content_whatever_its_name(void **state)
{
	struct hwy_trace *trace = opened(STRINGS);
	hwy_trace_free(trace);
	char name[96];
	snprintf(name, sizeof name, "%s%%20?#.json", path);
	assert_int_equal(rename(path, name), 0);
	trace = hwy_open(name, NULL, &err);
	assert_non_null(trace);
	assert_string_equal(hwy_property(trace, "source.format"), "nsys-sqlite");
	hwy_trace_free(trace);
	assert_int_equal(rename(name, path), 0);
}

static void a_report_of_nsys_is_exported_by_nsys(void **state)
{
	static const char report[] = "NVIDIA Tegra Profiler Report 2025@3@2@1-1v0.\n";
	char export[80], program[80], script[400];
	snprintf(export, sizeof export, "%s.export", path);
	snprintf(program, sizeof program, "%s.nsys", path);
	hwy_trace_free(opened(STRINGS));
	assert_int_equal(rename(path, export), 0);
	write_file(path, report, sizeof report - 1, 0600);

	setenv("NSYS", "/nowhere/nsys", 1);
	assert_refused(path, "run: nsys export --type sqlite -o ");
	snprintf(script, sizeof script, "#!/bin/sh\nexit 3\n");
	write_file(program, script, strlen(script), 0700);
	setenv("NSYS", program, 1);
	assert_refused(path, "failed with status 3");
	snprintf(
		script, sizeof script,
		"#!/bin/sh\n[ \"$1 $2 $3 $4 $5\" = 'export --type sqlite --force-overwrite=true -o' ] && "
		"[ \"$7\" = %s ] && cp %s \"$6\"\n",
		path, export);
	write_file(program, script, strlen(script), 0700);
	struct hwy_trace *trace = hwy_open(path, NULL, &err);
	if (!trace)
		fail_msg("%s", err.text);
	hwy_trace_free(trace);
	unsetenv("NSYS");
	unlink(program);
	unlink(export);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(views_in_place_of_tables_are_not_run),
		cmocka_unit_test(what_is_no_export_is_refused_with_the_reason),
		cmocka_unit_test(
			a_table_without_a_column_it_cannot_do_without_is_left_out_with_a_note),
		cmocka_unit_test(a_damaged_export_is_refused_or_read_but_never_fatal),
		cmocka_unit_test(what_cannot_be_a_recording_is_named),
		cmocka_unit_test(an_export_is_known_by_its_content_whatever_its_name),
		cmocka_unit_test(a_report_of_nsys_is_exported_by_nsys),
	};
	return cmocka_run_group_tests(tests, make_path, remove_path);
}
