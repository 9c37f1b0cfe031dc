/* SPDX-License-Identifier: Apache-2.0 */
/* mcp_answer.h - what a tool's command printed, as the result of a call: clean, and of a largest
 * size.
 *
 * A result has two texts. The first is Headway's own: what the second is, that names in it are
 * data, and how to get what was left out. The second is one line of JSON. Of an error the first
 * says what to try, and the second is {"wrong": "…"}: what is wrong may name files and hold pieces
 * of them.
 *
 * An answer that would be too large loses elements at the ends of its lists, the same number in
 * all, until it fits; a list that is given page by page goes on at the cursor.
 */
#ifndef HWY_MCP_MCP_ANSWER_H
#define HWY_MCP_MCP_ANSWER_H

#include "mcp/mcp_tools.h"

enum { MCP_LARGEST_ANSWER = 32 << 10 }; /* bytes of the JSON of an answer */

/* Writes the result of a call whose command has ended, or of a tool that answers itself. */
void mcp_answer_put(struct hwy_json *json, struct mcp_call *call);
/* Writes a result that says what is wrong, and what to try. */
void mcp_answer_put_error(struct hwy_json *json, struct mcp_call *call, const char *wrong,
			  const char *instead);

#endif
