/* SPDX-License-Identifier: Apache-2.0 */
/* python_lines.h - the source line of a Python frame. */
#ifndef HWY_INGEST_PYTHON_LINES_H
#define HWY_INGEST_PYTHON_LINES_H

#include "spool/record.h"

/* The source line of the instruction at 'offset' bytes of the code; 0: the table has no line for
 * it. */
int python_lines_find(const struct rec_code *code, int32_t offset);

#endif
