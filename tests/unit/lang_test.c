/* SPDX-License-Identifier: Apache-2.0 */
/* lang_test.c - which language a name means, what is said in it, and where a line of Chinese may break. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/lang.h"
#include "base/memory_text.h"
#include "base/utf8.h"
#include "cli/kit/cli.h"

static void the_language_of_a_locale_is_the_part_before_its_country(void **state)
{
	static const char *const names[] = {"zh", "zh_CN.UTF-8", "zh-Hans", "zh_TW", "zh.UTF-8"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		assert_true(hwy_lang_use("en"));
		assert_true(hwy_lang_use(names[i]));
		assert_string_equal(hwy_lang(), "zh");
	}
}

static void english_has_the_names_of_the_plain_locales_too(void **state)
{
	static const char *const names[] = {"en", "en_GB.UTF-8", "C", "C.UTF-8", "POSIX", ""};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		assert_true(hwy_lang_use("zh"));
		assert_true(hwy_lang_use(names[i]));
		assert_string_equal(hwy_lang(), "en");
		assert_string_equal(hwy_tr("Usage: "), "Usage: ");
	}
}

static void an_unknown_language_is_refused_and_changes_nothing(void **state)
{
	static const char *const names[] = {"xx", "xx_CN.UTF-8", "z", "zho", "e", "eng", "P", "ZH"};
	assert_true(hwy_lang_use("zh"));
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		assert_false(hwy_lang_use(names[i]));
		assert_string_equal(hwy_lang(), "zh");
		assert_string_equal(hwy_tr("Usage: "), "用法：");
	}
}

static void every_language_that_is_named_can_be_used(void **state)
{
	unsigned n = 0;
	while (hwy_lang_name(n)) {
		assert_true(hwy_lang_use(hwy_lang_name(n)));
		assert_string_equal(hwy_lang(), hwy_lang_name(n));
		n++;
	}
	assert_true(n > 0);
	assert_null(hwy_lang_name(n + 1));
}

static void a_word_is_said_as_its_place_needs(void **state)
{
	assert_true(hwy_lang_use("en"));
	assert_string_equal(hwy_tr_word("row|copies"), "copies");
	assert_string_equal(hwy_tr_word("no bar"), "no bar");
	assert_true(hwy_lang_use("zh"));
	assert_string_equal(hwy_tr_word("row|copies"), "拷贝");
	assert_string_equal(hwy_tr("copies"), "次拷贝");
	assert_string_equal(hwy_tr_word("nowhere|copies"), "copies");
}

static void a_sentence_that_a_language_lacks_stays_english(void **state)
{
	const char *english = "a sentence that no catalogue has: %d";
	assert_true(hwy_lang_use("zh"));
	assert_ptr_equal(hwy_tr(english), english);
	/* The head of a PO file is the translation of "", and no sentence. */
	assert_string_equal(hwy_tr(""), "");
	struct hwy_arena arena = {0};
	assert_string_equal(hwy_arena_say(&arena, "a sentence that no catalogue has: %d", 7),
			    "a sentence that no catalogue has: 7");
	assert_string_equal(hwy_arena_say(&arena, "Usage: "), "用法：");
	hwy_arena_free(&arena);
}

/* Notes what the page says for "kernels"; no sentence may be empty. */
static void note_kernels(void *to, const char *english, const char *sentence)
{
	assert_true(*english && *sentence);
	if (strcmp(english, "kernels") == 0)
		*(const char **)to = sentence;
}

static void a_word_of_the_page_may_differ_from_the_same_word_elsewhere(void **state)
{
	const char *of_page = NULL;
	assert_true(hwy_lang_use("zh"));
	hwy_lang_tell_page(note_kernels, &of_page);
	assert_string_equal(of_page, "核函数");
	assert_string_equal(hwy_tr("kernels"), "个核函数");
	/* What only the page says is not found elsewhere. */
	assert_string_equal(hwy_tr("Nothing was recorded"), "Nothing was recorded");
	of_page = NULL;
	assert_true(hwy_lang_use("en"));
	hwy_lang_tell_page(note_kernels, &of_page);
	assert_null(of_page);
}

static void where_devices_are_cpus_sentences_say_device(void **state)
{
	struct hwy_arena arena = {0};
	assert_true(hwy_lang_use("en"));
	hwy_lang_name_device(false);
	assert_string_equal(hwy_lang(), "en");
	assert_string_equal(hwy_tr("there are %d GPUs, none of them was asked for"),
			    "there are %d devices, none of them was asked for");
	assert_string_equal(hwy_tr("The GPU idles %s of %s while the CPU does other work."),
			    "The device idles %s of %s while the CPU does other work.");
	assert_string_equal(hwy_tr_word("row|from the GPU"), "from the device");
	assert_string_equal(hwy_tr_word("a step before a cost|"), "");
	assert_string_equal(hwy_tr("Usage: "), "Usage: ");
	assert_string_equal(hwy_tr_word("row|copies"), "copies");
	/* Part of a name is no word. */
	assert_string_equal(hwy_tr_word("column|NumGPUOps"), "NumGPUOps");
	/* What is filled in stays as it is. */
	assert_string_equal(
		hwy_arena_say(&arena, "the phase launches no kernel '%s'", "GPU_sum on GPU"),
		"the phase launches no kernel 'GPU_sum on GPU'");
	assert_true(hwy_lang_use("zh"));
	assert_string_equal(hwy_tr("the GPU waits for CPU code"), "设备在等待 CPU 代码");
	assert_string_equal(hwy_tr("CPU and GPU take turns"), "CPU 与设备轮流工作");
	const char *of_page = NULL;
	hwy_lang_tell_page(note_kernels, &of_page);
	assert_string_equal(of_page, "核函数");
	hwy_lang_name_device(true);
	assert_string_equal(hwy_tr("the GPU waits for CPU code"), "GPU 在等待 CPU 代码");
	assert_true(hwy_lang_use("en"));
	assert_string_equal(hwy_tr("GPU clocks"), "GPU clocks");
	hwy_arena_free(&arena);
}

/* Calls look() with each key of lang/zh.po that tells where it stands ("row|copies") and its length
 * up to the bar. */
static unsigned each_context(void (*look)(const char *key, size_t context))
{
	char path[1024], line[4096];
	snprintf(path, sizeof path, "%s/../../lang/zh.po",
		 getenv("DATA") ? getenv("DATA") : "tests/data");
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	unsigned n = 0;
	while (fgets(line, sizeof line, file)) {
		size_t start = strlen("msgid \"");
		if (strncmp(line, "msgid \"", start) != 0)
			continue;
		line[strcspn(line, "\n") - 1] = 0;
		const char *key = line + start;
		size_t context = strcspn(key, "|:");
		if (key[context] != '|')
			continue;
		look(key, context);
		n++;
	}
	fclose(file);
	return n;
}

/* What is said never begins with the place that the key tells. */
static void has_no_context(const char *key, size_t context)
{
	const char *said = hwy_tr_word(key);
	if (strncmp(said, key, context + 1) == 0 || strchr(said, '|'))
		fail_msg("'%s' is said as '%s'", key, said);
}

static void no_key_with_its_place_reaches_a_reader(void **state)
{
	for (int i = 0; i < 4; i++) {
		assert_true(hwy_lang_use(i % 2 ? "zh" : "en"));
		hwy_lang_name_device(i < 2);
		assert_true(each_context(has_no_context) > 300);
	}
	assert_true(hwy_lang_use("en"));
	assert_string_equal(hwy_tr_word("a step before a cost|%s (a step"), "%s (a step");
	/* The pipe of an example ends no place. */
	assert_string_equal(hwy_tr_word("run | jq"), "run | jq");
	hwy_lang_name_device(true);
}

/* Yields what cli_wrap prints from column 2 on; the caller frees it. */
static char *wrapped(const char *text, int width)
{
	struct memory_text memory;
	cli_wrap(memory_text_begin(&memory), text, 2, width);
	memory_text_end(&memory);
	return memory.text;
}

static void check_wrapped(const char *text, int width, const char *expected)
{
	char *lines = wrapped(text, width);
	assert_string_equal(lines, expected);
	free(lines);
}

static void a_percentage_keeps_its_number_on_the_line(void **state)
{
	check_wrapped("busy 43 % of it", 10, "busy\n  43 % of\n  it\n");
	check_wrapped("空闲占 43 %。等待", 10, "空闲占\n  43 %。\n  等待\n");
}

static void chinese_breaks_between_any_two_characters(void **state)
{
	check_wrapped("设备空闲等待主机", 10, "设备空闲\n  等待主机\n");
	check_wrapped("设备空闲等待主机", 11, "设备空闲\n  等待主机\n");
	check_wrapped("设备空闲等待主机", 0, "设备空闲等待主机\n");
}

static void no_line_begins_with_punctuation_that_closes(void **state)
{
	check_wrapped("设备空闲。等待主机", 10, "设备空\n  闲。等待\n  主机\n");
	check_wrapped("《设备》空闲，等待", 9, "《设\n  备》空\n  闲，\n  等待\n");
}

static void no_line_ends_with_punctuation_that_opens(void **state)
{
	check_wrapped("设备空（闲）等待", 10, "设备空\n  （闲）\n  等待\n");
	check_wrapped("设备空（cudaFree）", 10, "设备空\n  （cudaFree）\n");
}

static void a_latin_word_among_chinese_stays_whole(void **state)
{
	check_wrapped("调用cudaMemcpy等待", 13, "调用\n  cudaMemcpy\n  等待\n");
	check_wrapped("调用 cudaMemcpy 等待", 40, "调用 cudaMemcpy 等待\n");
}

/* A piece is at most the last two characters with their punctuation here, so every line of the
 * text fits. */
static void no_line_of_chinese_is_wider_than_asked_and_nothing_is_lost(void **state)
{
	const char *text = "设备在等待主机，主机在等待数据；把拷贝放到另一个流里，让两者重叠。";
	for (int width = 8; width < 80; width++) {
		char *lines = wrapped(text, width), *saved, together[256] = "";
		for (char *line = strtok_r(lines, "\n", &saved); line;
		     line = strtok_r(NULL, "\n", &saved)) {
			int before = *together ? 0 : 2; /* the caller prints the first indent */
			assert_true(before + hwy_utf8_columns(line, strlen(line)) <= width);
			strcat(together, line + strspn(line, " "));
		}
		assert_string_equal(together, text);
		free(lines);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_language_of_a_locale_is_the_part_before_its_country),
		cmocka_unit_test(english_has_the_names_of_the_plain_locales_too),
		cmocka_unit_test(an_unknown_language_is_refused_and_changes_nothing),
		cmocka_unit_test(every_language_that_is_named_can_be_used),
		cmocka_unit_test(a_word_is_said_as_its_place_needs),
		cmocka_unit_test(a_sentence_that_a_language_lacks_stays_english),
		cmocka_unit_test(where_devices_are_cpus_sentences_say_device),
		cmocka_unit_test(a_word_of_the_page_may_differ_from_the_same_word_elsewhere),
		cmocka_unit_test(no_key_with_its_place_reaches_a_reader),
		cmocka_unit_test(a_percentage_keeps_its_number_on_the_line),
		cmocka_unit_test(chinese_breaks_between_any_two_characters),
		cmocka_unit_test(no_line_begins_with_punctuation_that_closes),
		cmocka_unit_test(no_line_ends_with_punctuation_that_opens),
		cmocka_unit_test(a_latin_word_among_chinese_stays_whole),
		cmocka_unit_test(no_line_of_chinese_is_wider_than_asked_and_nothing_is_lost),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
