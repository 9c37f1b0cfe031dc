/* SPDX-License-Identifier: Apache-2.0 */
/* shell_word.h - a path as one word of a command that somebody copies into a shell.
 *
 *   printf("next: headway show %s\n", hwy_shell_word("my file.hwy").text); // 'my file.hwy'
 */
#ifndef HWY_BASE_SHELL_WORD_H
#define HWY_BASE_SHELL_WORD_H

struct hwy_shell_word {
	char text[4352];
};

/* Yields the text as it is where a shell reads it so, else in single quotes. What is longer than a
 * path may be stays as it is, cut. */
struct hwy_shell_word hwy_shell_word(const char *text);

#endif
