/* python_lines.h - the line of a Python frame. */
#ifndef HWY_INGEST_PYTHON_LINES_H
#define HWY_INGEST_PYTHON_LINES_H

#include "spool/record.h"

/* The line an instruction belongs to; 'offset' is in bytes. 0: the table has none for it. */
int python_line(const struct rec_code *code, int32_t offset);

#endif
