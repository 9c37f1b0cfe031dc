/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_tools.c - the table of tools; see mcp_tools.h. */
#include "mcp/mcp_tools.h"

#include <inttypes.h>
#include <string.h>

#define COMMAND(...) ((const char *const[]){__VA_ARGS__, NULL})
#define RECORDING                                                                                                         \
	{                                                                                                                 \
		"recording", MCP_RECORDING, "", true,                                                                     \
			.about =                                                                                          \
				"a .hwy report, an nsys export (.sqlite, .nsys-rep), a PyTorch trace (.json, .json.gz), " \
				"or the folder of a job; 'recordings' lists the files"                                    \
	}
#define STEP                                                                                                                 \
	{                                                                                                                    \
		"step", MCP_TEXT, "--step", false,                                                                           \
			.about =                                                                                             \
				"the name of the ranges that mark steps, such as 'ProfilerStep#'; default: found by Headway" \
	}
#define CURSOR                                                                                     \
	{                                                                                          \
		"cursor", MCP_CURSOR, NULL, false,                                                 \
			.about = "as the previous answer gave it: the list goes on there"          \
	}
#define FROM_TO                                                                                    \
	{"from", MCP_TEXT, "--from", false,                                                        \
	 .about = "from this time of the recording on: '1.2s', '20ms'"},                           \
	{                                                                                          \
		"to", MCP_TEXT, "--to", false, .about = "up to this time"                          \
	}
#define PHASE                                                                                      \
	{                                                                                          \
		"phase", MCP_INT, "--phase", false,                                                \
			.about = "the phase to look at; default: the longest", 1, 1000             \
	}
#define END                                                                                        \
	{                                                                                          \
		0                                                                                  \
	}
#define ARGUMENTS(...) ((const struct mcp_argument[]){__VA_ARGS__, END})

static const char look_for[] =
	"call 'recordings' for the paths there are, or 'info' for what the recording lacks";

/* Adds the query that tells what spans are, by their ids: the evidence of a finding is a list of
 * ids. */
static bool evidence_add_words(struct mcp_call *call, struct hwy_err *err)
{
	const struct json_value *ids = json_get(call->arguments, "spans");
	const char *list = "";
	for (const struct json_value *id = ids->first; id; id = id->next)
		list = hwy_arena_format(&call->arena, "%s%s%" PRId64, list, *list ? "," : "",
					json_as_int(id, 0));
	return mcp_call_add_word(
		call,
		hwy_arena_format(
			&call->arena,
			"select id, kind, name, start, duration, pid, tid, thread, device, "
			"stream, call, bytes, stack from spans where id in (%s)",
			*list ? list : "-1"),
		err);
}

/* The command takes "@NAME" for a file that holds the query, anywhere on the machine, and "-" for
 * its standard input. */
static bool sql_check_query(struct mcp_call *call, struct hwy_err *err)
{
	const char *query = json_get_text(call->arguments, "query");
	return (*query != '@' && strcmp(query, "-") != 0) ||
	       hwy_fail(err, "'query' is not SQL: it is the name of a file");
}

const struct mcp_tool mcp_tools[] = {
	{
		.name = "recordings",
		.title = "Recordings there are",
		.about = "Lists the recordings in the folders that this server may read.",
		.arguments = ARGUMENTS(CURSOR),
		.list = "recordings",
		.narrow = "start the server with --root for a smaller folder",
		.instead = "start the server with --root FOLDER",
		.answer = mcp_recordings_answer,
	},
	{
		.name = "verdict",
		.title = "What holds the program back",
		.about =
			"Begin here. What holds the recorded program back, in one word and a sentence; how its "
			"steps were found, how busy the GPU is and why it idles; and the findings by name "
			"with their costliest places.",
		.arguments = ARGUMENTS(RECORDING, STEP),
		.command = COMMAND("analyze", "--format=json"),
		.keys = "summary trust phases gpu findings{id title side share says places{file line "
			"function range}} job{verdict says step_ns steps lateness findings problems}",
		.narrow = "call 'findings' with an 'id'",
		.instead = look_for,
	},
	{
		.name = "findings",
		.title = "Findings with their evidence",
		.about =
			"Every loss of time that was found, the first to look at first: what was seen, its cost a "
			"step, the places in the source, spans that prove it, what to do, and the "
			"predicted gain. 'acquitted' are suspects that cost nothing.",
		.arguments = ARGUMENTS(RECORDING, STEP, CURSOR),
		.command = COMMAND("analyze", "--format=json"),
		.keys = "findings acquitted{id title says}",
		.list = "findings",
		.narrow = "go on with 'cursor'",
		.instead = look_for,
	},
	{
		.name = "evidence",
		.title = "The spans that prove a finding",
		.about =
			"What the spans are whose numbers stand under 'evidence' of a finding: names, times in ns, "
			"threads, streams, stacks.",
		.arguments = ARGUMENTS(RECORDING, {"spans", MCP_INTS, NULL, true,
						   .about = "numbers of spans", 0, INT64_MAX}),
		.command = COMMAND("sql", "--format=json"),
		.list = "*",
		.narrow = "ask for fewer spans",
		.instead = look_for,
		.add_words = evidence_add_words,
	},
	{
		.name = "places",
		.title = "Source lines of the findings",
		.about =
			"Where in the source the findings are: file, line and function, with the lines around where "
			"the file lies in a folder of --source.",
		.arguments = ARGUMENTS(RECORDING, STEP,
				       {"around", MCP_INT, NULL, false,
					.about = "lines before and after; default: 3", 0, 20},
				       CURSOR),
		.command = COMMAND("analyze", "--format=json"),
		.keys = "findings{id title share places{file line function range api module count "
			"cost_ns_per_step source no_source}}",
		.list = "findings",
		.narrow = "ask for fewer lines with 'around'",
		.instead = look_for,
		.add = mcp_source_add,
	},
	{
		.name = "source",
		.title = "Lines of a source file",
		.about =
			"Lines of a file that a place names. Only files in folders of --source are shown.",
		.arguments = ARGUMENTS(
			{"file", MCP_TEXT, NULL, true, .about = "the file, as a place names it"},
			{"line", MCP_INT, NULL, true, .about = "the line in the middle", 1,
			 10000000},
			{"around", MCP_INT, NULL, false,
			 .about = "lines before and after; default: 10", 0, 60}),
		.narrow = "ask for fewer lines with 'around'",
		.instead =
			"the server shows files of the folders that it was started with: --source FOLDER",
		.answer = mcp_source_answer,
	},
	{
		.name = "whatif",
		.title = "What a fix would be worth",
		.about =
			"Replays the program with a fix and predicts the time of a step. Without 'edits' the fixes of "
			"all findings are tried. Edits: remove-wait:PLACE, decide-on-gpu:PLACE, pin, graph, streams:N, "
			"perfect-input, workers:N, copy-stream, fuse, tensor-cores, faster:KERNEL=2 … "
			"('predicted.edits' of a finding names its own).",
		.arguments =
			ARGUMENTS(RECORDING,
				  {"edits", MCP_TEXTS, "--apply", false,
				   .about = "edits, made together: [\"remove-wait:train.py:23\"]"},
				  STEP, PHASE),
		.command = COMMAND("whatif", "--format=json"),
		.narrow = "name one edit",
		.instead =
			"take the edits that 'findings' names under 'predicted', or those in the description "
			"of this tool",
	},
	{
		.name = "stats",
		.title = "A table of the recording",
		.about =
			"One table: cuda_gpu_kern_sum (kernels by name), cuda_api_sum (calls), cuda_gpu_mem_time_sum "
			"(copies), nvtx_sum (ranges), op_sum (operators), wait_sum (waits by place), osrt_sum, "
			"cpu_sample_sum, opencl_gpu_sum, mpi_event_sum, nccl_sum, module_sum and more; names "
			"and columns are those of nsys.",
		.arguments = ARGUMENTS(
			RECORDING,
			{"report", MCP_TEXT, "--report", true, .about = "the table's name"},
			{"range", MCP_TEXT, "--range", false,
			 .about = "only what happened in ranges of this name"},
			{"rank", MCP_INT, "--rank", false, .about = "only this rank of a job", 0,
			 1 << 24},
			FROM_TO, CURSOR),
		.command = COMMAND("stats", "--format=json"),
		.list = "*",
		.narrow = "give 'range', 'from' and 'to', or take a table that ends with _sum",
		.instead =
			"take a table that the description of this tool names: the error says which comes "
			"near; 'info' tells what the recording holds",
	},
	{
		.name = "sql",
		.title = "Ask in SQL",
		.about =
			"A query (SQLite) over the recording; it can only read. Tables: spans, kernel, copy, api, range, "
			"op, sync, os, sample, steps, gaps, findings and more; times are ns. '.tables' lists "
			"them, '.schema TABLE' tells what the columns mean.",
		.arguments =
			ARGUMENTS(RECORDING,
				  {"query", MCP_TEXT, "--", true,
				   .about = "select name, sum(duration) from kernel group by name"},
				  CURSOR),
		.command = COMMAND("sql", "--format=json", "--timeout=30s", "--max-rows=20000"),
		.list = "*",
		.most_rows = 20000,
		.narrow = "add 'limit', 'where' or 'group by'",
		.instead =
			"ask '.tables', then '.schema TABLE'; a query that was stopped needs 'where', 'limit' "
			"or fewer joins",
		.add_words = sql_check_query,
	},
	{
		.name = "timeline",
		.title = "The timeline as text",
		.about =
			"A stretch of the timeline drawn in characters: what the threads that launch and the GPUs did at "
			"the same time. Without times a typical stretch of a few steps.",
		.arguments = ARGUMENTS(RECORDING,
				       {"step_number", MCP_INT, "--step-number", false,
					.about = "this step", 0, INT32_MAX},
				       FROM_TO, STEP,
				       {"width", MCP_INT, "--width", false,
					.about = "columns; default: 100", 40, 200}),
		.command = COMMAND("show"),
		.narrow = "ask for a smaller 'width'",
		.instead = look_for,
		.is_text = true,
	},
	{
		.name = "kernels",
		.title = "What bounds each kernel",
		.about =
			"What each kernel waits for (compute, memory, latency, occupancy), how far it is from the roof of "
			"its device and what it could gain.",
		.arguments = ARGUMENTS(RECORDING,
				       {"kernel", MCP_TEXT, "--kernel", false,
					.about = "only kernels whose name contains this"},
				       CURSOR),
		.command = COMMAND("kernels", "--format=json"),
		.list = "kernels",
		.narrow = "give 'kernel'",
		.instead = look_for,
	},
	{
		.name = "critical_path",
		.title = "The critical path",
		.about =
			"The chain of CPU work, calls and device work that decides how long a step takes: making anything "
			"else faster gains nothing.",
		.arguments = ARGUMENTS(RECORDING, STEP, PHASE,
				       {"step_number", MCP_INT, "--step-number", false,
					.about = "this step only; default: all steady steps", 0,
					INT32_MAX},
				       {"rows", MCP_INT, "--rows", false,
					.about = "contributors; default: 12", 1, 200}),
		.command = COMMAND("path", "--format=json"),
		.narrow = "give 'step_number', or ask for fewer 'rows'",
		.instead = look_for,
	},
	{
		.name = "info",
		.title = "What a recording holds",
		.about =
			"Where a recording comes from, what ran where, how many spans of which kind, what was lost and which "
			"answers that weakens or forbids.",
		.arguments = ARGUMENTS(RECORDING),
		.command = COMMAND("info", "--format=json"),
		.narrow = "ask 'sql' for single facts",
		.instead = "call 'recordings' for the paths there are",
	},
	{
		.name = "diff",
		.title = "Before and after",
		.about =
			"Whether a program became faster, by how much and how sure that is, and where the change comes "
			"from. Each side: recordings of the same program, the folder of a job, or a baseline file.",
		.arguments = ARGUMENTS({"before", MCP_RECORDINGS, "", true,
					.about = "recordings before the change"},
				       {"after", MCP_RECORDINGS, "--", true,
					.about = "recordings after the change"},
				       STEP),
		.command = COMMAND("diff", "--format=json"),
		.narrow = "ask 'stats' for one table of each side",
		.instead = look_for,
	},
	{
		.name = "gate",
		.title = "May this change pass?",
		.about =
			"Checks recordings against a baseline (fails where a regression is real and above the limit) or a "
			"budget file (fails where a rule does not hold): 'passes' is the answer.",
		.arguments = ARGUMENTS(
			{"recordings", MCP_RECORDINGS, "", true, .about = "runs of the program"},
			{"baseline", MCP_RECORDINGS, "--baseline", false,
			 .about = "recordings or baseline files"},
			{"budget", MCP_RECORDING, "--budget", false,
			 .about = "a file of rules: step.p50 <= 12ms"},
			{"metrics", MCP_TEXTS, "--metric", false,
			 .about =
				 "what to compare; default: step.p50, syncs_per_step, copies.bytes"},
			{"max_regression", MCP_TEXT, "--max-regression", false,
			 .about = "default: '3%'"},
			{"strict", MCP_BOOL, "--strict", false,
			 .about = "what cannot be told does not pass"},
			STEP),
		.command = COMMAND("gate", "--format=json"),
		.narrow = "name the 'metrics'",
		.instead = "give 'baseline' or 'budget'; 'diff' tells what changed",
	},
	{
		.name = "profile",
		.title = "Record a program",
		.about =
			"Runs a program and records it. Nothing is asked of a shell: 'program' is the program and its arguments. "
			"Then ask for the 'verdict' of the report.",
		.arguments = ARGUMENTS(
			{"program", MCP_TEXTS, "--", true,
			 .about = "[\"python3\", \"train.py\", \"--steps\", \"50\"]"},
			{"report", MCP_NEW_REPORT, "--output", true,
			 .about = "the report to write, such as run1.hwy"},
			{"trace", MCP_TEXT, "--trace", false,
			 .about =
				 "what to record: cuda,nvtx (default), opencl, osrt, pytorch, python, nccl, mpi"},
			{"sample_cpu", MCP_BOOL, "--sample=process-tree", false,
			 .about = "also where threads spend their time on the CPU"},
			{"seconds", MCP_INT, NULL, false,
			 .about = "end the program after so many seconds; default: 300", 1, 3600}),
		.command = COMMAND("profile"),
		.narrow = "record fewer steps",
		.instead =
			"try the program without 'trace'; 'headway doctor' tells what can be recorded here",
		.needs_permission = true,
		.is_text = true,
		.add_words = mcp_profile_add_words,
		.add = mcp_profile_add,
	},
	{0},
};

const struct mcp_tool *mcp_tool_find(const char *name)
{
	for (const struct mcp_tool *tool = mcp_tools; tool->name; tool++)
		if (strcmp(tool->name, name) == 0)
			return tool;
	return NULL;
}
