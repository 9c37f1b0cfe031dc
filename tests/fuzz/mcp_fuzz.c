/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_fuzz.c - what an assistant may send to `headway mcp`, and what a command may print for it: every line that the server sends is JSON
 * without a character that hides, and no call is left behind.
 *
 * The first byte says in which pieces the rest arrives, and whether the connection begins as it should. Commands do not run: a call
 * gets what follows its line as the command's output. */
#include <stdlib.h>
#include <string.h>

#include "mcp/mcp_folders.h"
#include "mcp/mcp_session.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A message holds two texts, and a quotation mark in a text takes up to four bytes: escaped twice. */
enum { LONGEST_MESSAGE = 8 * (32 << 10) };

static void check_sent(void *self, const char *line, size_t n)
{
	struct hwy_arena arena = {0};
	struct hwy_err err;
	(void)self;
	if (n < 2 || line[n - 1] != '\n' || memchr(line, '\n', n - 1) ||
	    !json_read(&arena, line, n - 1, &err))
		abort();
	for (size_t i = 0; i < n - 1; i++)
		if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
			abort();
	hwy_arena_free(&arena);
}

static void check_answer(void *self, const char *line, size_t n)
{
	if (n > LONGEST_MESSAGE)
		abort();
	check_sent(self, line, n);
}

/* Answers the calls that wait: what is left of the input is what their commands print. */
static void finish_calls(struct mcp_session *session, const uint8_t *rest, size_t n)
{
	session->send = check_answer;
	while (session->calls) {
		struct mcp_outcome *outcome = &session->calls->call.outcome;
		hwy_bytes_put(&outcome->out, rest, n);
		hwy_bytes_put(&outcome->err, rest, n < 5000 ? n : 5000);
		outcome->status = n % 3 == 0 ? 2 << 8 : n % 3 == 1 ? 1 << 8 : 0;
		outcome->is_cut = n % 7 == 0;
		mcp_session_answer(session, session->calls);
	}
	session->send = check_sent;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static struct mcp_config config = {.may_profile = true};
	static const char hello[] =
		"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
		"\"protocolVersion\":\"2025-03-26\"}}";
	struct mcp_session session = {.config = &config, .send = check_sent};
	struct mcp_lines lines = {0};
	struct hwy_err err;
	const char *line;
	size_t n, at = 1;
	if (config.roots.n == 0 && (!mcp_folders_add(&config.roots, FUZZ_CORPUS "/mcp", &err) ||
				    !mcp_folders_add(&config.sources, FUZZ_CORPUS "/mcp", &err)))
		abort();
	if (size == 0)
		return 0;
	if (bytes[0] & 1)
		mcp_session_line(&session, hello, strlen(hello));
	for (size_t piece = 1 + (size_t)(bytes[0] >> 1) * 16; at < size;) {
		size_t more = size - at < piece ? size - at : piece;
		mcp_lines_add(&lines, bytes + at, more);
		at += more;
		while (mcp_lines_next(&lines, &line, &n) == MCP_LINE) {
			mcp_session_line(&session, line, n);
			finish_calls(&session, bytes + at, size - at);
		}
	}
	if (mcp_lines_last(&lines, &line, &n) == MCP_LINE)
		mcp_session_line(&session, line, n);
	finish_calls(&session, bytes, size);
	if (session.n_calls != 0)
		abort();
	mcp_lines_free(&lines);
	return 0;
}
