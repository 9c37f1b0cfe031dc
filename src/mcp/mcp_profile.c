/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_profile.c - the tool that records a program: how long it may run, and what became of it. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* Yields the name of the report that was written, NULL where there is none: the command adds
 * ".hwy" where it is missing. */
static const char *find_report(struct mcp_call *call)
{
	static const char option[] = "--output=";
	uint32_t at = 0;
	/* the report is a required argument */
	while (strncmp(call->words[at], option, strlen(option)) != 0)
		at++;
	const char *word = call->words[at] + strlen(option);
	const char *const names[] = {hwy_arena_format(&call->arena, "%s.hwy", word), word};
	for (int i = 0; i < 2; i++) {
		const char *path = names[i];
		struct stat about;
		if (*path != '/')
			path = hwy_arena_format(&call->arena, "%s/%s", call->config->roots.paths[0],
						path);
		if (stat(path, &about) == 0)
			return names[i];
	}
	return NULL;
}

bool mcp_profile_add(struct mcp_call *call, struct json_value *answer, struct hwy_err *err)
{
	struct hwy_arena *arena = &call->arena;
	const char *report = find_report(call);
	const struct mcp_outcome *outcome = &call->outcome;
	hwy_bytes_put_byte(&call->outcome.err, '\0');
	const char *says = (const char *)outcome->err.bytes;
	if (!report)
		return hwy_fail(err, "no report was written: %s", says);
	mcp_tree_put_text(arena, answer, "report", report);
	if (WIFEXITED(outcome->status))
		mcp_tree_put_int(arena, answer, "exit_status", WEXITSTATUS(outcome->status));
	else
		mcp_tree_put_int(arena, answer, "ended_by_signal", WTERMSIG(outcome->status));
	mcp_tree_put_lines(arena, mcp_tree_put(arena, answer, "stderr", JSON_ARRAY), says, 20);
	return true;
}
