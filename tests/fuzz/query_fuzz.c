/* SPDX-License-Identifier: Apache-2.0 */
/* query_fuzz.c - any text as a query of the page: understood or refused with its place, never a crash or a hang. The input is the
 * query, a line feed, and a name that it is compared with. */
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "serve/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { LONGEST = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct query query;
	struct hwy_err err = {0};
	struct hwy_bytes room = {0};
	if (size > LONGEST)
		return -1;
	char *text = hwy_array(size + 1, 1);
	if (size)
		memcpy(text, bytes, size);
	text[size] = 0;
	char *name = strchr(text, '\n');
	if (name)
		*name++ = 0;
	struct hwy_text compared = {name ? name : "", name ? (uint32_t)strlen(name) : 0};
	if (query_parse(&query, text, &err)) {
		for (uint32_t i = 0; i < query.n; i++)
			if (query.terms[i].test != QUERY_IN && query.terms[i].text)
				query_text_fits(&query.terms[i], compared, &room);
			else
				query_number_fits(&query.terms[i], (int64_t)compared.length);
	} else {
		assert(strncmp(err.text, "character ", 10) == 0);
	}
	query_free(&query);
	hwy_bytes_free(&room);
	free(text);
	return 0;
}
