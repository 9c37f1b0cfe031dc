/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_tools.h - the tools of the server: a table, from which the schemas and the checks of
 * arguments are made.
 *
 * A tool is a command of headway with its options under names of their own, or, where 'answer' is
 * set, a function of the server. A new tool is a row of mcp_tools.c.
 */
#ifndef HWY_MCP_MCP_TOOLS_H
#define HWY_MCP_MCP_TOOLS_H

#include "base/bytes.h"
#include "base/json.h"
#include "base/json_read.h"
#include "mcp/mcp.h"

enum mcp_type {
	MCP_RECORDING,  /* a path that may be read */
	MCP_RECORDINGS, /* several paths that may be read */
	MCP_NEW_REPORT, /* a path at which a report may be made */
	MCP_TEXT,
	MCP_TEXTS,
	MCP_INT,
	MCP_INTS,
	MCP_BOOL,
	MCP_CURSOR, /* where the list of an answer goes on */
};

struct mcp_argument {
	const char *name;
	enum mcp_type type;
	/* The option of the command that takes the value; "": the value is an operand; "--": an
	 * operand after the word "--"; NULL: the tool looks at the value itself. */
	const char *option;
	bool is_required;
	const char *about;
	int64_t least, most; /* of MCP_INT and MCP_INTS */
};

struct mcp_call;
struct mcp_tool {
	const char *name, *title, *about;
	const struct mcp_argument *arguments; /* ends with a row without a name */
	const char *const *command;           /* the first words of the command, NULL-terminated */
	/* Which keys of the command's JSON are the answer: "summary findings{id places{file
	 * line}}"; NULL: all. */
	const char *keys;
	/* The list that is given page by page: a key of the answer, or "*": the answer itself,
	 * or its first list. NULL: none. */
	const char *list;
	uint32_t most_rows;    /* how many of the list the command gives at most; 0: all */
	const char *narrow;    /* how to ask for less */
	const char *instead;   /* what to try where the tool fails */
	bool needs_permission; /* only there with --allow-profile */
	bool is_text;          /* the command prints text: the answer is its last lines */
	/* Adds words to the command that no option stands for, or refuses what the command must not
	 * be given. */
	bool (*add_words)(struct mcp_call *call, struct hwy_err *err);
	/* Yields the answer without a command; NULL and a sentence where there is none. */
	struct json_value *(*answer)(struct mcp_call *call, struct hwy_err *err);
	/* Adds to the command's answer; false and a sentence where it is none. */
	bool (*add)(struct mcp_call *call, struct json_value *answer, struct hwy_err *err);
};

/* The tools, ending with a row without a name. */
extern const struct mcp_tool mcp_tools[];
const struct mcp_tool *mcp_tool_find(const char *name);
/* Writes the tool as tools/list tells it: name, description, schema, hints. */
void mcp_tool_describe(struct hwy_json *json, const struct mcp_tool *tool);

/* ---- calls ----------------------------------------------------------------------------------- */

enum { MCP_MOST_WORDS = 256 };

/* How the command of a call ended. */
struct mcp_outcome {
	struct hwy_bytes out, err; /* what it printed; of a long text the end */
	bool is_cut;               /* there was more on stdout */
	int status;                /* as waitpid gives it */
	const char *stopped;       /* why the server ended it, or NULL */
};

struct mcp_call {
	const struct mcp_config *config;
	const struct mcp_tool *tool;
	const struct json_value *arguments; /* an object that fits the tool's schema, or NULL */
	struct hwy_arena arena;
	const char *words[MCP_MOST_WORDS + 1]; /* the command line, ending with NULL */
	uint32_t n_words;
	const char *report; /* the file that the command makes (MCP_NEW_REPORT), NULL: none */
	uint64_t offset;    /* how many elements of the list came before */
	int64_t timeout_s;
	struct mcp_outcome outcome;
};

/* Checks the arguments against the tool's table and makes the command line. False and a sentence
 * where they do not fit. */
bool mcp_call_prepare(struct mcp_call *call, struct hwy_err *err);
bool mcp_call_add_word(struct mcp_call *call, const char *word, struct hwy_err *err);

/* ---- answers that the server gives itself ---------------------------------------------------- */

/* mcp_recordings.c: the recordings in the folders of --root. */
struct json_value *mcp_recordings_answer(struct mcp_call *call, struct hwy_err *err);
/* mcp_source.c: lines of a file in the folders of --source; and, for the places of findings, the
 * lines around them. */
struct json_value *mcp_source_answer(struct mcp_call *call, struct hwy_err *err);
bool mcp_source_add(struct mcp_call *call, struct json_value *answer, struct hwy_err *err);
/* mcp_profile.c: what became of a program that was recorded. */
bool mcp_profile_add_words(struct mcp_call *call, struct hwy_err *err);
bool mcp_profile_add(struct mcp_call *call, struct json_value *answer, struct hwy_err *err);

#endif
