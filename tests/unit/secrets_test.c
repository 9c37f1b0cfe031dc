/* SPDX-License-Identifier: Apache-2.0 */
/* secrets_test.c - what is masked in a command line and in texts of metadata, and what stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/secrets.h"

/* The values are made up, and cut so that no scanner of repositories takes them for real ones. */
#define LONG                                                                                       \
	"a1B2c3D4e5F6g7H8i9J0"                                                                     \
	"k1L2m3N4o5P6"
#define JWT                                                                                        \
	"eyJhbGciOiJIUzI1NiJ9"                                                                     \
	".eyJzdWIiOiIxMjM0NTYifQ"                                                                  \
	".c2lnbmF0dXJl"

static const char *const masked[][2] = {
	{"mysql --password hunter2 -h db", "mysql --password *** -h db"},
	{"mysql --password=hunter2", "mysql --password=***"},
	{"prog --token=abcdef x", "prog --token=*** x"},
	{"prog --token abcdef x", "prog --token *** x"},
	{"prog -token abcdef", "prog -token ***"},
	{"prog --api-key abc --verbose", "prog --api-key *** --verbose"},
	{"prog --apiKey=abc", "prog --apiKey=***"},
	{"prog --hf_token abc", "prog --hf_token ***"},
	{"prog --auth-token 'a b' rest", "prog --auth-token '***' rest"},
	{"prog --client-secret=\"a b\" rest", "prog --client-secret=\"***\" rest"},
	{"prog --db.password=1234", "prog --db.password=***"},
	{"prog --password 1234", "prog --password ***"},
	{"prog --passphrase=x,y&z rest", "prog --passphrase=*** rest"},
	{"env HF_TOKEN=abc python3 train.py", "env HF_TOKEN=*** python3 train.py"},
	{"env AWS_SECRET_ACCESS_KEY=abc/def+g cmd", "env AWS_SECRET_ACCESS_KEY=*** cmd"},
	{"env DB_PASSWORD='a b' KEY=value cmd", "env DB_PASSWORD='***' KEY=*** cmd"},
	{"env GOOGLE_CREDENTIALS={} cmd", "env GOOGLE_CREDENTIALS=*** cmd"},
	{"env OPENAI_API_KEY=abc X=1", "env OPENAI_API_KEY=*** X=1"},
	{"sh -c 'mysql --password=abc; ls'", "sh -c 'mysql --password=*** ls'"},
	{"sh -c 'MY_TOKEN=abc exec prog'", "sh -c 'MY_TOKEN=*** exec prog'"},
	{"curl https://user:pw@host/path", "curl https://user:***@host/path"},
	{"git clone https://" LONG "@host/x.git", "git clone https://***@host/x.git"},
	{"curl 'http://h/p?token=abc&x=1'", "curl 'http://h/p?token=***&x=1'"},
	{"curl 'http://h/p?x=1&sig=abc#f'", "curl 'http://h/p?x=1&sig=***#f'"},
	{"wget http://h/?access_token=abc", "wget http://h/?access_token=***"},
	{"curl -H 'Authorization: Bearer abc.def' http://h",
	 "curl -H 'Authorization: Bearer ***' http://h"},
	{"curl -H 'authorization: abc def' http://h", "curl -H 'authorization: ***' http://h"},
	{"curl -H 'X-Api-Key: abc' http://h", "curl -H 'X-Api-Key: ***' http://h"},
	{"curl -u me:pw http://h", "curl -u me:*** http://h"},
	{"curl --user me:pw http://h", "curl --user me:*** http://h"},
	{"prog '{\"password\": \"abc\", \"x\": 1}'", "prog '{\"password\": \"***\", \"x\": 1}'"},
	{"prog sk-" LONG, "prog ***"},
	{"prog x=sk-proj-" LONG " y", "prog x=*** y"},
	{"prog ghp_" LONG, "prog ***"},
	{"prog hf_" LONG, "prog ***"},
	{"prog AKIA"
	 "ABCDEFGH12345678",
	 "prog ***"},
	{"prog glpat-" LONG, "prog ***"},
	{"prog xoxb-123456789012-abc", "prog ***"},
	{"prog " JWT, "prog ***"},
	{"prog --header=" JWT " x", "prog --header=*** x"},
	{"prog model.auth_token=abc", "prog model.auth_token=***"},
	{"prog --auth me:pw", "prog --auth ***"},
	{"env BASIC_AUTH=abc cmd", "env BASIC_AUTH=*** cmd"},
	/* Values of a known form need no digit. */
	{"prog hf_FakeFakeFakeFake", "prog ***"},
	{"prog ghp_FakeFakeFakeFakeFake", "prog ***"},
	{"prog gho_fakefakefakefakefake", "prog ***"},
	{"prog glpat-fakefakefakefake", "prog ***"},
	{"prog sk-FakeFakeFakeFakeFake", "prog ***"},
	{"prog sk-fakefakefakefakefake", "prog ***"},
	{"prog xoxb-fakefakefake", "prog ***"},
	{"prog AKIA"
	 "FAKEFAKEFAKEFAKE",
	 "prog ***"},
	{"prog AIza"
	 "fakefakefakefakefakefakefakefake",
	 "prog ***"},
	{"prog eyJmYWtl.eyJmYWtlZmFrZWZh.c2lnbmF0dXJl", "prog ***"},
	/* JSON and Python's repr inside of a line. */
	{"config {\"HF_TOKEN\": \"abc d\", \"x\": 1}", "config {\"HF_TOKEN\": \"***\", \"x\": 1}"},
	{"config {'HF_TOKEN': 'abc d', 'x': 1}", "config {'HF_TOKEN': '***', 'x': 1}"},
	{"run ['--token', 'abc', 'x']", "run ['--token', '***', 'x']"},
	{"sh -c \"x '{\\\"DB_PASSWORD\\\": \\\"a b\\\"}' y\"",
	 "sh -c \"x '{\\\"DB_PASSWORD\\\": \\\"***\\\"}' y\""},
};

/* Texts that may be JSON. Every secret's value has the word Fake. */
static const char *const masked_json[][2] = {
	{"{\"HF_TOKEN\":\"Fake\"}", "{\"HF_TOKEN\":\"***\"}"},
	{"{\"a\": [{\"b\": {\"db_password\": \"Fake x\"}}], \"c\": 1}",
	 "{\"a\": [{\"b\": {\"db_password\": \"***\"}}], \"c\": 1}"},
	{"{\"API Key\": \"Fake\"}", "{\"API Key\": \"***\"}"},
	{"{\"auth\": \"Fake\"}", "{\"auth\": \"***\"}"},
	{"{\"credentials\":{\"user\":\"Fake\",\"list\":[\"Fake\",7]}}",
	 "{\"credentials\":{\"user\":\"***\",\"list\":[\"***\",\"***\"]}}"},
	{"{\"password\":12345,\"n\":5}", "{\"password\":\"***\",\"n\":5}"},
	{"{\"HF\\u005fTOKEN\":\"Fake\"}", "{\"HF\\u005fTOKEN\":\"***\"}"},
	{"{\"text\":\"{\\\"HF_TOKEN\\\":\\\"Fake\\\"}\"}",
	 "{\"text\":\"{\\\"HF_TOKEN\\\":\\\"***\\\"}\"}"},
	{"{\"argv\":[\"t.py\",\"--hf-token\",\"Fake\",\"--lr\",\"1\"]}",
	 "{\"argv\":[\"t.py\",\"--hf-token\",\"***\",\"--lr\",\"1\"]}"},
	{"[\"A=1\",\"DB_PASSWORD=Fake b c\"]", "[\"A=1\",\"DB_PASSWORD=***\"]"},
	{"{\"cmd\":\"run --token Fake -v\\n\"}", "{\"cmd\":\"run --token *** -v\\u000a\"}"},
	{"[{\"name\":\"MY_TOKEN\",\"value\":\"Fake\"},{\"name\":\"x\",\"value\":\"y\"}]",
	 "[{\"name\":\"MY_TOKEN\",\"value\":\"***\"},{\"name\":\"x\",\"value\":\"y\"}]"},
	{"{\"note\":\"got hf_FakeFakeFakeFake\"}", "{\"note\":\"got ***\"}"},
	{"{\"hf_FakeFakeFakeFake\":1}", "{\"***\":1}"},
	/* Environment variables, whatever their names. */
	{"{\"env\":{\"HOME\":\"Fake\"},\"x\":1}", "{\"env\":\"***\",\"x\":1}"},
	{"{\"m\":{\"process_environment\":[\"HOME=Fake ]\"]}}",
	 "{\"m\":{\"process_environment\":\"***\"}}"},
	{"{\"envVars\": \"HOME=Fake A=1\"}", "{\"envVars\": \"***\"}"},
	/* As masked by an older version. */
	{"[\"--hf-token\"*** \"Fake\"]", "[\"--hf-token\"*** \"***\"]"},
	/* No JSON, though it begins so. */
	{"[W] run --token Fake", "[W] run --token ***"},
	{"{'HF_TOKEN': 'Fake'}", "{'HF_TOKEN': '***'}"},
};

static const char *const kept_json[] = {
	"{\"Input Dims\":[[1, 2]],\"Ev Idx\":5,\"token\":5,\"next_token\":\"x\",\"max_tokens\":9}",
	"{\"key\":\"x\",\"auth\":true,\"token\":null,\"password\":\"\"}",
	"{\"env\":\"production\",\"environment\":3}",
	"{\"HF_TOKEN\":\"***\",\"env\":\"***\"}",
	"{\"name\":\"a\",\"value\":\"b\"}",
	"[\"--token\",\"--verbose\"]",
	"[1, NaN, inf, -2e3]",
	"plain",
	"[",
	"{\"",
};

/* A property by its name: value, and what is left of it. */
static const char *const properties[][3] = {
	{"kineto.DB_PASSWORD", "abc", "***"},
	{"kineto.OPENAI_KEY_OLD", "abc", "***"},
	{"kineto.hf_token", "abc", "***"},
	{"kineto.AUTH", "abc", "***"},
	{"kineto.env", "{\"HOME\":\"x\"}", "***"},
	{"kineto.environ", "HOME=x A=b", "***"},
	{"kineto.env", "production", "production"},
	{"kineto.token", "5", "5"},
	{"kineto.key", "abc", "abc"},
	{"command", "run --token abc", "run --token ***"},
};

static const char *const kept[] = {
	"",
	"python3 train.py --epochs 3",
	"prog --token-ids 5",
	"prog --key-size 4",
	"prog --max-tokens 512",
	"prog --max_new_tokens=512",
	"prog --tokenizer /models/x",
	"prog --pad-token '<pad>' --eos_token '</s>'",
	"prog --token 5",
	"prog --use-token true",
	"prog --sort-key name",
	"prog --key name",
	"prog --password-file /run/secrets/db",
	"prog --password --verbose",
	"prog -p SECRET",
	"env TOKENIZERS_PARALLELISM=false MAX_TOKENS=5 KEY_SIZE=4 cmd",
	"env PWD=/home/me OLDPWD=/ MONKEY=1 KEYBOARD=us cmd",
	"prog /data/token/secret/password/key.txt",
	"git show 61d237a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6",
	"env SSH_AUTH_SOCK=/tmp/x AUTH_MODE=none cmd",
	"prog --hash sha256:61d237a0b1c2d3e4f5a6b7c8d9e0f1a2b3c4d5e6",
	"pip install sk-learn-something-quite-long-name",
	"prog hf_hub_download_something_long",
	"prog sk-learn hf_x ghp_ AKIA eyJ",
	"docker run -u 1000:1000 image",
	"curl http://host:8080/path@2x.png",
	"scp user@host:/path .",
	"prog http://localhost:1234/",
	"make -j2 V=1 CC=gcc",
	"prog --monkey=banana --passes=3 --pass 3",
	"prog 'it is a secret' token",
	"torchrun --rdzv_id=1 train.py model.max_tokens=512 key=value",
};

static void check_line(const char *line, const char *expected, bool found)
{
	struct hwy_bytes out = {0};
	bool has = secrets_mask(line, strlen(line), &out);
	hwy_bytes_put_byte(&out, 0);
	if (strcmp((const char *)out.bytes, expected) != 0)
		print_message("of: %s\n", line);
	assert_string_equal((const char *)out.bytes, expected);
	assert_int_equal(has, found);
	hwy_bytes_free(&out);
}

static void what_looks_like_a_secret_is_masked(void **state)
{
	for (size_t i = 0; i < sizeof masked / sizeof *masked; i++)
		check_line(masked[i][0], masked[i][1], true);
}

static void what_does_not_stays(void **state)
{
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
		check_line(kept[i], kept[i], false);
}

/* Of 2 MB every name is looked at once. A walk over the rest of the text for each name would take
 * minutes, and the test would not end. */
static void a_long_line_of_empty_values_is_walked_once(void **state)
{
	static const char empty[] = "token=\\\"\\\"";
	enum { TIMES = 200000 };
	struct hwy_bytes line = {0}, out = {0};
	for (uint32_t i = 0; i < TIMES; i++)
		hwy_bytes_put(&line, empty, strlen(empty));
	assert_false(secrets_mask((const char *)line.bytes, line.n, &out));
	assert_int_equal(out.n, line.n);
	assert_memory_equal(out.bytes, line.bytes, line.n);
	hwy_bytes_free(&line);
	hwy_bytes_free(&out);
}

/* What was masked has no secret any more, and no input makes the function read beyond its end (a
 * sanitizer would see that). */
static void masking_twice_changes_nothing_more(void **state)
{
	for (size_t i = 0; i < sizeof masked / sizeof *masked; i++)
		for (size_t n = 0; n <= strlen(masked[i][0]); n++) {
			struct hwy_bytes once = {0}, twice = {0};
			secrets_mask(masked[i][0], n, &once);
			secrets_mask((const char *)once.bytes, once.n, &twice);
			assert_int_equal(once.n, twice.n);
			assert_true(once.n == 0 || memcmp(once.bytes, twice.bytes, once.n) == 0);
			hwy_bytes_free(&once);
			hwy_bytes_free(&twice);
		}
}

static void check_text(const char *text, const char *expected, bool found)
{
	struct hwy_bytes out = {0};
	bool has = secrets_mask_text(text, strlen(text), &out);
	hwy_bytes_put_byte(&out, 0);
	if (strcmp((const char *)out.bytes, expected) != 0)
		print_message("of: %s\n", text);
	assert_string_equal((const char *)out.bytes, expected);
	assert_int_equal(has, found);
	hwy_bytes_free(&out);
}

static void values_of_json_are_masked_by_their_keys(void **state)
{
	for (size_t i = 0; i < sizeof masked_json / sizeof *masked_json; i++) {
		check_text(masked_json[i][0], masked_json[i][1], true);
		check_text(masked_json[i][1], masked_json[i][1], false);
	}
	for (size_t i = 0; i < sizeof kept_json / sizeof *kept_json; i++)
		check_text(kept_json[i], kept_json[i], false);
}

/* The quick test of whole texts knows every line that has a secret. */
static void a_text_is_masked_as_a_line_is(void **state)
{
	for (size_t i = 0; i < sizeof masked / sizeof *masked; i++)
		check_text(masked[i][0], masked[i][1], true);
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
		check_text(kept[i], kept[i], false);
}

static void a_text_that_was_cut_off_keeps_no_secret(void **state)
{
	for (size_t i = 0; i < sizeof masked_json / sizeof *masked_json; i++)
		for (size_t n = 1; n <= strlen(masked_json[i][0]); n++) {
			/* A copy of its own: a sanitizer sees what is read beyond the end. */
			struct hwy_bytes text = {0}, out = {0};
			hwy_bytes_put(&text, masked_json[i][0], n);
			secrets_mask_text((const char *)text.bytes, n, &out);
			bool has_form = strstr(masked_json[i][0], "hf_Fake") != NULL;
			assert_true(has_form || !memmem(out.bytes, out.n, "Fake", 4));
			hwy_bytes_free(&text);
			hwy_bytes_free(&out);
		}
}

/* Every name of a secret is deeper than any reader lets it be. */
static void no_depth_hides_a_secret(void **state)
{
	struct hwy_bytes text = {0}, out = {0};
	for (int i = 0; i < 200; i++)
		hwy_bytes_put(&text, "[{\"a\":", 6);
	hwy_bytes_put(&text, "{\"HF_TOKEN\":\"Fake\"}", 19);
	for (int i = 0; i < 200; i++)
		hwy_bytes_put(&text, "}]", 2);
	assert_true(secrets_mask_text((const char *)text.bytes, text.n, &out));
	assert_null(memmem(out.bytes, out.n, "Fake", 4));
	assert_int_equal(out.n, text.n - 1);
	hwy_bytes_free(&text);
	hwy_bytes_free(&out);
}

static void a_property_is_masked_by_its_name(void **state)
{
	for (size_t i = 0; i < sizeof properties / sizeof *properties; i++) {
		struct hwy_bytes out = {0};
		const char *value = properties[i][1];
		secrets_mask_property(properties[i][0], value, strlen(value), &out);
		hwy_bytes_put_byte(&out, 0);
		assert_string_equal((const char *)out.bytes, properties[i][2]);
		hwy_bytes_free(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_looks_like_a_secret_is_masked),
		cmocka_unit_test(what_does_not_stays),
		cmocka_unit_test(a_long_line_of_empty_values_is_walked_once),
		cmocka_unit_test(masking_twice_changes_nothing_more),
		cmocka_unit_test(values_of_json_are_masked_by_their_keys),
		cmocka_unit_test(a_text_is_masked_as_a_line_is),
		cmocka_unit_test(a_text_that_was_cut_off_keeps_no_secret),
		cmocka_unit_test(no_depth_hides_a_secret),
		cmocka_unit_test(a_property_is_masked_by_its_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
