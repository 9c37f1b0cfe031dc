/* SPDX-License-Identifier: Apache-2.0 */
/* record_again.h - what is said of a recording in which nothing happened that was to be recorded:
 * the command that would have recorded something of the same program.
 */
#ifndef HWY_CLI_RECORD_AGAIN_H
#define HWY_CLI_RECORD_AGAIN_H

#include <stdio.h>

#include "trace/trace.h"

/* Whether programs ran under Headway, and nothing is recorded of what they did; never where calls
 * into the operating system were recorded: there is no more to ask for. */
bool record_again_is_wanted(const struct hwy_trace *trace);

/* Whether the program asked for the recording of a part of itself: its command line, that of the
 * kernel of a notebook perhaps, records nothing again. */
bool record_again_is_within(const struct hwy_trace *trace);

/* Writes the command, without "headway" and without a newline. */
void record_again_put_command(FILE *out, const struct hwy_trace *trace);

/* What the command records first, in the reader's language: OpenCL, or operators of PyTorch. */
const char *record_again_source(const struct hwy_trace *trace);

/* Prints on stderr that nothing was recorded, and what the next command records. */
void record_again_say_why(const struct hwy_trace *trace);

/* Prints the same, and the command. */
void record_again_say(const struct hwy_trace *trace);

#endif
