/* SPDX-License-Identifier: Apache-2.0 */
/* journal.h - the parent's own spool: what headway itself knows about the run and the machine. */
#ifndef HWY_RUN_JOURNAL_H
#define HWY_RUN_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct journal;

/* Makes the spool; NULL when the file cannot be made, for the reason in errno. */
struct journal *journal_open(const char *directory);
/* In all functions of journal.h 'journal' may be NULL. */
void journal_close(struct journal *journal);

void journal_property(struct journal *journal, const char *name, const char *value, size_t length);
void journal_note(struct journal *journal, int severity, const char *text);
void journal_status(struct journal *journal, uint32_t pid, int status, int64_t time);
void journal_recording(struct journal *journal, bool on, int64_t time);
/* Records why spools get no more room from now on; REC_FULL_NO: there is room again. */
void journal_room(struct journal *journal, uint32_t why, int64_t time);
void journal_clock(struct journal *journal);

#endif
