/* SPDX-License-Identifier: Apache-2.0 */
/* privacy.h - a trace without what its owner would not tell: secrets, arguments, identity.
 *
 * Texts are changed in the trace's table of texts, in place, so that nothing of the old text is
 * left for a report or an export. docs/privacy.md says what each function leaves out and what
 * stays.
 */
#ifndef HWY_TRACE_PRIVACY_H
#define HWY_TRACE_PRIVACY_H

#include "trace/trace.h"

/* Masks what looks like a secret (base/secrets.h) in command lines, properties, names of processes
 * and messages of the recorder. Everything that makes or opens a trace calls this. */
void hwy_privacy_mask(struct hwy_trace *trace);

/* Leaves of every command line only the name of its program, without its folder. */
void hwy_privacy_drop_arguments(struct hwy_trace *trace);

/* Who recorded, as far as the caller knows; the trace itself is asked too. Fields may be NULL. */
struct hwy_identity {
	const char *host, *user, *home;
};

/* Drops arguments, and makes the trace anonymous: no name of a host or user, no boot id, session or
 * number of a device, no folders; a folder that is left out becomes "/dirN", the same for the same
 * folder, and the name of a file stays. Columns of spans are not read. */
void hwy_privacy_anonymize(struct hwy_trace *trace, const struct hwy_identity *who);

#endif
