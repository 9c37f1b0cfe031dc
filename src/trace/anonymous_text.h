/* SPDX-License-Identifier: Apache-2.0 */
/* anonymous_text.h - texts without folders and without the names of hosts and users.
 *
 *   /home/ada/proj/train.py          becomes  /dir1/train.py
 *   /home/ada/env/lib/python3.12/site-packages/torch/cuda/streams.py
 *                                    becomes  /dir2/lib/python3.12/site-packages/torch/cuda/streams.py
 *   /usr/lib/x86_64-linux-gnu/libc.so.6      stays: such folders are the same everywhere
 *   rank 3 on node17 (user ada)      becomes  rank 3 on host (user user)
 */
#ifndef HWY_TRACE_ANONYMOUS_TEXT_H
#define HWY_TRACE_ANONYMOUS_TEXT_H

#include "base/bytes.h"
#include "base/strings.h"

enum { ANONYMOUS_WORDS = 64 }; /* the most names of hosts and users; others stay */

/* What a text is. */
enum anonymous_kind {
	ANONYMOUS_ANY,      /* paths inside the text end at a blank */
	ANONYMOUS_FUNCTION, /* words that are names of hosts or users stay */
	ANONYMOUS_PATH,     /* the whole text is one path, blanks included */
};

struct anonymous {
	struct anonymous_word {
		char text[256];
		const char *instead; /* "host", "user" or "/home" */
	} words[ANONYMOUS_WORDS];
	uint32_t n;
	struct hwy_strings folders; /* folders that were left out; the id is the N of dirN */
};

void anonymous_begin(struct anonymous *words);
void anonymous_end(struct anonymous *words);
/* Makes a word known that is to be replaced. NULL, "", "localhost" and "root" are not. */
void anonymous_learn(struct anonymous *words, const char *text, const char *instead);
/* Makes the home folder of a user known. */
void anonymous_learn_home(struct anonymous *words, const char *home);
/* Makes the users known whose home folders a text names: /home/USER, /Users/USER, C:\Users\USER. */
void anonymous_learn_users(struct anonymous *words, struct hwy_text text);

/* Adds to 'out' the text without folders, hosts and users. Yields whether it differs. */
bool anonymous_rewrite(struct anonymous *words, struct hwy_text text, enum anonymous_kind kind,
		       struct hwy_bytes *out);

#endif
