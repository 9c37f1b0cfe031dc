/* SPDX-License-Identifier: Apache-2.0 */
/* operators.h - the operators of PyTorch. */
#ifndef HWY_INGEST_OPERATORS_H
#define HWY_INGEST_OPERATORS_H

#include "ingest/ingest_internal.h"
#include "spool/record_frameworks.h"

void operators_add(struct ingest *in, uint32_t process, uint32_t tid,
		   const struct rec_operator *record);
/* Adds the spans of all operators; called after the last record was read. */
void operators_finish(struct ingest *in);

#endif
