/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.c - the word that a user probably meant by a misspelt one. */
#include "cli/kit/cli.h"

#include <stdint.h>
#include <string.h>

enum { LONGEST_BYTES = 64, NOT_NEAR = 1000 /* greater than every distance */ };

static unsigned min3(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;
	return m < c ? m : c;
}

/* Yields how many insertions, deletions, replacements and swaps of neighbouring letters turn a into
 * b. */
static unsigned distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	if (n > LONGEST_BYTES || m > LONGEST_BYTES)
		return NOT_NEAR;
	unsigned d[LONGEST_BYTES + 1][LONGEST_BYTES + 1];
	for (size_t i = 0; i <= n; i++)
		d[i][0] = (unsigned)i;
	for (size_t j = 0; j <= m; j++)
		d[0][j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++)
		for (size_t j = 1; j <= m; j++) {
			unsigned differ = a[i - 1] != b[j - 1];
			d[i][j] = min3(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + differ);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    d[i - 2][j - 2] + 1 < d[i][j])
				d[i][j] = d[i - 2][j - 2] + 1;
		}
	return d[n][m];
}

const char *cli_nearest(const char *word, const char *const *words)
{
	size_t length = strlen(word);
	const char *best = NULL;
	unsigned best_distance = NOT_NEAR;
	for (size_t i = 0; words[i]; i++) {
		unsigned d = distance(word, words[i]);
		if (d > (length < 3 ? 1 : (length + 2) / 3))
			d = NOT_NEAR;
		/* A part of a word ("kern_sum" of "cuda_gpu_kern_sum") is near, but a typing
		 * error is nearer. */
		if (d == NOT_NEAR && length >= 3 && strstr(words[i], word))
			d = NOT_NEAR / 2 + (unsigned)strlen(words[i]);
		if (d < best_distance) {
			best = words[i];
			best_distance = d;
		}
	}
	return best;
}
