/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_arguments.c - the arguments of a call, checked against the tool's table, as a command line.
 *
 * What leaves here cannot be mistaken by the command: values are joined to their option by '=',
 * paths do not begin with '-', and other operands stand after "--".
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/mcp_folders.h"
#include "mcp/mcp_tools.h"

enum { LONGEST_VALUE = 16384 };

bool mcp_call_add_word(struct mcp_call *call, const char *word, struct hwy_err *err)
{
	if (call->n_words == MCP_MOST_WORDS)
		return hwy_fail(err, "more than %d values", MCP_MOST_WORDS);
	call->words[call->n_words++] = word;
	return true;
}

static const char *type_words(enum mcp_type type)
{
	switch (type) {
	case MCP_RECORDINGS:
	case MCP_TEXTS: return "a list of texts";
	case MCP_INT: return "a whole number";
	case MCP_INTS: return "a list of whole numbers";
	case MCP_BOOL: return "true or false";
	case MCP_CURSOR: return "a cursor that an answer gave";
	default: return "a text";
	}
}

static bool is_list(enum mcp_type type)
{
	return type == MCP_RECORDINGS || type == MCP_TEXTS || type == MCP_INTS;
}

static bool is_number(enum mcp_type type)
{
	return type == MCP_INT || type == MCP_INTS;
}

static bool check_value(const struct mcp_argument *argument, const struct json_value *value,
			struct hwy_err *err)
{
	if (is_number(argument->type)) {
		int64_t number = json_as_int(value, INT64_MIN);
		if (number == INT64_MIN)
			return hwy_fail(err, "'%s' is not %s", argument->name,
					type_words(argument->type));
		if (number < argument->least || number > argument->most)
			return hwy_fail(err, "'%s' is not in %" PRId64 " to %" PRId64,
					argument->name, argument->least, argument->most);
		return true;
	}
	if (argument->type == MCP_BOOL)
		return value->type == JSON_TRUE || value->type == JSON_FALSE ||
		       hwy_fail(err, "'%s' is not true or false", argument->name);
	if (value->type != JSON_TEXT)
		return hwy_fail(err, "'%s' is not %s", argument->name, type_words(argument->type));
	size_t length = strlen(value->text);
	if (length == 0 || length > LONGEST_VALUE)
		return hwy_fail(err, "'%s' is empty or longer than %d bytes", argument->name,
				LONGEST_VALUE);
	if (argument->type == MCP_CURSOR &&
	    (strspn(value->text, "0123456789") != length || length > 18))
		return hwy_fail(err, "'%s' is not %s", argument->name, type_words(argument->type));
	return true;
}

static bool check_argument(const struct mcp_argument *argument, const struct json_value *value,
			   struct hwy_err *err)
{
	if (!is_list(argument->type))
		return check_value(argument, value, err);
	if (value->type != JSON_ARRAY || value->n == 0 || value->n > MCP_MOST_WORDS / 4)
		return hwy_fail(err, "'%s' is not %s, of 1 to %d", argument->name,
				type_words(argument->type), MCP_MOST_WORDS / 4);
	for (const struct json_value *one = value->first; one; one = one->next)
		if (!check_value(argument, one, err))
			return false;
	return true;
}

static const struct mcp_argument *find_argument(const struct mcp_tool *tool, const char *name)
{
	for (const struct mcp_argument *argument = tool->arguments; argument->name; argument++)
		if (strcmp(argument->name, name) == 0)
			return argument;
	return NULL;
}

static bool check_all(const struct mcp_call *call, struct hwy_err *err)
{
	const struct json_value *given = call->arguments ? call->arguments->first : NULL;
	if (call->arguments && call->arguments->type != JSON_OBJECT)
		return hwy_fail(err, "'arguments' is not an object");
	for (; given; given = given->next) {
		const struct mcp_argument *argument = find_argument(call->tool, given->key);
		if (!argument)
			return hwy_fail(err, "there is no argument '%.80s'", given->key);
		if (json_get(call->arguments, given->key) != given)
			return hwy_fail(err, "'%s' is given twice", given->key);
		if (!check_argument(argument, given, err))
			return false;
	}
	for (const struct mcp_argument *argument = call->tool->arguments; argument->name;
	     argument++)
		if (argument->is_required && !json_get(call->arguments, argument->name))
			return hwy_fail(err, "'%s' is missing: %s", argument->name,
					argument->about);
	return true;
}

/* Yields the value as the command gets it, NULL and a sentence where it may not have it. */
static const char *value_word(struct mcp_call *call, const struct mcp_argument *argument,
			      const struct json_value *value, struct hwy_err *err)
{
	const struct mcp_folders *roots = &call->config->roots;
	if (argument->type == MCP_RECORDING || argument->type == MCP_RECORDINGS)
		return mcp_folders_find(roots, value->text, &call->arena, err);
	if (argument->type == MCP_NEW_REPORT)
		return call->report = mcp_folders_new_report(roots, value->text, &call->arena, err);
	return value->text;
}

static bool argument_add(struct mcp_call *call, const struct mcp_argument *argument,
			 const struct json_value *value, struct hwy_err *err)
{
	const char *word = value_word(call, argument, value, err);
	if (!word)
		return false;
	if (argument->option[0] == '-' && argument->option[2])
		word = hwy_arena_format(&call->arena, "%s=%s", argument->option, word);
	return mcp_call_add_word(call, word, err);
}

static bool argument_add_all(struct mcp_call *call, const struct mcp_argument *argument,
			     struct hwy_err *err)
{
	const struct json_value *value = json_get(call->arguments, argument->name);
	if (!value || !argument->option)
		return true;
	if (argument->type == MCP_BOOL)
		return value->type == JSON_FALSE || mcp_call_add_word(call, argument->option, err);
	if (strcmp(argument->option, "--") == 0 && !mcp_call_add_word(call, "--", err))
		return false;
	if (!is_list(argument->type))
		return argument_add(call, argument, value, err);
	for (const struct json_value *one = value->first; one; one = one->next)
		if (!argument_add(call, argument, one, err))
			return false;
	return true;
}

/* Options stand before operands, and operands before those after "--". */
static int argument_order(const struct mcp_argument *argument)
{
	if (!argument->option)
		return -1;
	return argument->option[0] == '\0' ? 1 : strcmp(argument->option, "--") == 0 ? 2 : 0;
}

bool mcp_call_prepare(struct mcp_call *call, struct hwy_err *err)
{
	const struct mcp_tool *tool = call->tool;
	if (!check_all(call, err))
		return false;
	const struct json_value *cursor = json_get(call->arguments, "cursor");
	call->offset = cursor ? strtoull(cursor->text, NULL, 10) : 0;
	call->timeout_s = 120;
	if (!tool->command)
		return true;
	mcp_call_add_word(call, "headway", err);
	for (uint32_t i = 0; tool->command[i]; i++)
		mcp_call_add_word(call, tool->command[i], err);
	for (int rank = 0; rank <= 2; rank++) {
		/* What a tool adds itself is an option or an operand of its own, never part of
		 * what stands after "--". */
		if (rank == 2 && tool->add_words && !tool->add_words(call, err))
			return false;
		for (const struct mcp_argument *one = tool->arguments; one->name; one++)
			if (argument_order(one) == rank && !argument_add_all(call, one, err))
				return false;
	}
	return true;
}
