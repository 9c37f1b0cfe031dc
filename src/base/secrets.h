/* SPDX-License-Identifier: Apache-2.0 */
/* secrets.h - a command line without what looks like a secret.
 *
 *   struct hwy_bytes masked = {0};
 *   if (secrets_mask("curl --token abc http://me:pw@host", 34, &masked))
 *           fwrite(masked.bytes, 1, masked.n, stdout); // curl --token *** http://me:***@host
 *   hwy_bytes_free(&masked);
 *
 * This file alone decides what looks like a secret, by tables: values of options, variables, headers
 * and parameters of addresses whose name says so (--password, HF_TOKEN=, Authorization:, ?sig=),
 * passwords in addresses, and values of a known form (sk-…, ghp_…, AKIA…, JWT). It errs on the side
 * of leaving things readable: a password that stands alone (-p hunter2) is not known as one.
 */
#ifndef HWY_BASE_SECRETS_H
#define HWY_BASE_SECRETS_H

#include "base/bytes.h"

#define SECRETS_MASK "***" /* what stands in the place of a secret */

/* Adds to 'out' the n bytes of 'line' without secrets. The words of a command line are separated by
 * blanks; words with blanks are quoted as for a shell. Yields whether there was a secret. */
bool secrets_mask(const char *line, size_t n, struct hwy_bytes *out);

/* Whether a name, such as "api-key", "hfToken" or "DB_PASSWORD", is that of a secret. */
bool secrets_name(const char *name, size_t n);

#endif
