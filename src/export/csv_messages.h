/* SPDX-License-Identifier: Apache-2.0 */
/* csv_messages.h - the file messages.csv of the export as CSV. */
#ifndef HWY_EXPORT_CSV_MESSAGES_H
#define HWY_EXPORT_CSV_MESSAGES_H

#include "export/export_internal.h"
#include "export/out.h"

void csv_messages_write(struct out *out, const struct hwy_trace *trace);

#endif
