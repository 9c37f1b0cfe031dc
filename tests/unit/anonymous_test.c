/* SPDX-License-Identifier: Apache-2.0 */
/* anonymous_test.c - texts and traces without folders, hosts, users and arguments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/anonymous_text.h"
#include "trace/builder.h"
#include "trace/privacy.h"

static const struct {
	enum anonymous_kind kind;
	const char *before, *after;
} texts[] = {
	{ANONYMOUS_ANY, "", ""},
	{ANONYMOUS_ANY, "/home/ada/proj/train.py", "/dir1/train.py"},
	{ANONYMOUS_ANY, "/home/ada/proj/other.py", "/dir1/other.py"},
	{ANONYMOUS_ANY, "/data/x.bin, /home/ada/proj/a.py:12", "/dir2/x.bin, /dir1/a.py:12"},
	{ANONYMOUS_ANY, "'/home/ada/proj/a.py'(3): f", "'/dir1/a.py'(3): f"},
	{ANONYMOUS_PATH, "/home/ada/my proj/a.py", "/dir3/a.py"},
	{ANONYMOUS_PATH, "/home/ada/env/lib/python3.12/site-packages/torch/x.py",
	 "/dir4/lib/python3.12/site-packages/torch/x.py"},
	{ANONYMOUS_PATH, "/usr/lib/x86_64-linux-gnu/libc.so.6",
	 "/usr/lib/x86_64-linux-gnu/libc.so.6"},
	{ANONYMOUS_PATH, "torch/nn/modules/module.py", "torch/nn/modules/module.py"},
	{ANONYMOUS_PATH, "<frozen importlib>", "<frozen importlib>"},
	{ANONYMOUS_ANY, "C:\\Users\\ada\\x\\a.py", "/dir5\\a.py"},
	{ANONYMOUS_ANY, "rank 3 on node17 (user ada)", "rank 3 on host (user user)"},
	{ANONYMOUS_ANY, "node17.example.org:29500", "host:29500"},
	{ANONYMOUS_ANY, "tcp://10.0.0.1:29500/x", "tcp://host/x"},
	{ANONYMOUS_ANY, "/tmp/ada.log", "/dir6/user.log"},
	{ANONYMOUS_ANY, "cadaver, adam, NODE17", "cadaver, adam, host"},
	{ANONYMOUS_FUNCTION, "ada::compute", "ada::compute"},
	{ANONYMOUS_ANY, "a / b, N/A, 3 images/s, operator/", "a / b, N/A, 3 images/s, operator/"},
	{ANONYMOUS_ANY, "void f<(int)2>(float*, int)", "void f<(int)2>(float*, int)"},
};

static void folders_hosts_and_users_are_left_out(void **state)
{
	struct anonymous words;
	anonymous_begin(&words);
	anonymous_learn(&words, "node17.example.org", "host");
	anonymous_learn_users(&words, (struct hwy_text){"/home/ada/x", 11});
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct hwy_bytes out = {0};
		const char *before = texts[i].before;
		struct hwy_text text = {before, (uint32_t)strlen(before)};
		bool differs = anonymous_rewrite(&words, text, texts[i].kind, &out);
		hwy_bytes_put_byte(&out, 0);
		assert_string_equal((const char *)out.bytes, texts[i].after);
		assert_int_equal(differs, strcmp(before, texts[i].after) != 0);
		hwy_bytes_free(&out);
	}
	anonymous_end(&words);
}

static struct hwy_trace *make_recording(void)
{
	struct hwy_builder *b = hwy_builder_new();
	struct hwy_trace *trace = hwy_builder_trace(b);
	uint32_t host = hwy_new_hosts(b), process = hwy_new_processes(b);
	trace->hosts[host].name = hwy_text_id(b, "node17");
	trace->hosts[host].boot_id = hwy_text_id(b, "4aff3bb6");
	trace->processes[process].host = host;
	trace->processes[process].name = hwy_text_id(b, "/home/ada/app");
	trace->processes[process].command = hwy_text_id(b, "/home/ada/app --password=x --epochs 3");
	hwy_add_property(b, "command", "/home/ada/app --password=x --epochs 3");
	hwy_add_property(b, "host", "node17");
	hwy_add_property(b, "os", "Debian");
	return hwy_builder_finish(b, false);
}

static void expect_no_text_with(const struct hwy_trace *trace, const char *word)
{
	for (uint32_t i = 0; i < trace->strings.n; i++)
		assert_null(strstr(trace->strings.texts[i].at, word));
}

static void a_masked_secret_is_nowhere_in_the_trace(void **state)
{
	struct hwy_trace *trace = make_recording();
	hwy_privacy_mask(trace);
	expect_no_text_with(trace, "=x");
	assert_string_equal(hwy_property(trace, "command"),
			    "/home/ada/app --password=*** --epochs 3");
	/* Texts are still found by their hash. */
	uint32_t n = trace->strings.n;
	assert_int_equal(hwy_intern_z(&trace->strings, "Debian"), trace->properties[2].value);
	assert_int_equal(trace->strings.n, n);
	hwy_trace_free(trace);
}

static void without_arguments_the_program_stays(void **state)
{
	struct hwy_trace *trace = make_recording();
	hwy_privacy_drop_arguments(trace);
	expect_no_text_with(trace, "epochs");
	assert_string_equal(hwy_property(trace, "command"), "app");
	assert_string_equal(hwy_str(trace, trace->processes[0].command), "app");
	assert_string_equal(hwy_property(trace, "host"), "node17");
	hwy_trace_free(trace);
}

static void an_anonymous_trace_names_nobody(void **state)
{
	static const char *const gone[] = {"node17", "ada", "4aff3bb6", "/home", "epochs"};
	struct hwy_trace *trace = make_recording();
	hwy_privacy_anonymize(trace, &(struct hwy_identity){0});
	for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
		expect_no_text_with(trace, gone[i]);
	assert_null(hwy_property(trace, "host"));
	assert_string_equal(hwy_property(trace, "os"), "Debian");
	assert_string_equal(hwy_str(trace, trace->processes[0].name), "/dir1/app");
	hwy_trace_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(folders_hosts_and_users_are_left_out),
		cmocka_unit_test(a_masked_secret_is_nowhere_in_the_trace),
		cmocka_unit_test(without_arguments_the_program_stays),
		cmocka_unit_test(an_anonymous_trace_names_nobody),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
