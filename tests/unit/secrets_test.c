/* SPDX-License-Identifier: Apache-2.0 */
/* secrets_test.c - what is masked in a command line, and what stays. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_looks_like_a_secret_is_masked),
		cmocka_unit_test(what_does_not_stays),
		cmocka_unit_test(masking_twice_changes_nothing_more),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
