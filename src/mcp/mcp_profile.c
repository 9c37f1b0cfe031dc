/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_profile.c - the tool that records a program: how long it may run, and what became of it. */
#include <sys/wait.h>
#include <unistd.h>

#include "mcp/mcp_tools.h"
#include "mcp/mcp_tree.h"

enum {
	USUAL_SECONDS = 300,
	SECONDS_AFTERWARDS = 300, /* time to read what was recorded and to write the report */
};

bool mcp_profile_add_words(struct mcp_call *call, struct hwy_err *err)
{
	int64_t seconds = json_as_int(json_get(call->arguments, "seconds"), USUAL_SECONDS);
	call->timeout_s = seconds + SECONDS_AFTERWARDS;
	return mcp_call_add_word(
		call, hwy_arena_format(&call->arena, "--duration=%lld", (long long)seconds), err);
}

/* Whether the report was written, which was not there before. */
static bool has_report(struct mcp_call *call)
{
	const char *path = call->report;
	if (*path != '/')
		path = hwy_arena_format(&call->arena, "%s/%s", call->config->roots.paths[0], path);
	return access(path, F_OK) == 0;
}

bool mcp_profile_add(struct mcp_call *call, struct json_value *answer, struct hwy_err *err)
{
	struct hwy_arena *arena = &call->arena;
	const struct mcp_outcome *outcome = &call->outcome;
	hwy_bytes_put_byte(&call->outcome.err, '\0');
	const char *says = (const char *)outcome->err.bytes;
	if (!has_report(call))
		return hwy_fail(err, "no report was written: %s", says);
	mcp_tree_put_text(arena, answer, "report", call->report);
	if (WIFEXITED(outcome->status))
		mcp_tree_put_int(arena, answer, "exit_status", WEXITSTATUS(outcome->status));
	else
		mcp_tree_put_int(arena, answer, "ended_by_signal", WTERMSIG(outcome->status));
	mcp_tree_put_lines(arena, mcp_tree_put(arena, answer, "stderr", JSON_ARRAY), says, 20);
	return true;
}
