/* SPDX-License-Identifier: Apache-2.0 */
/* secrets.h - a command line or a text of metadata without what looks like a secret.
 *
 *   struct hwy_bytes masked = {0};
 *   if (secrets_mask("curl --token abc http://me:pw@host", 34, &masked))
 *           fwrite(masked.bytes, 1, masked.n, stdout); // curl --token *** http://me:***@host
 *   hwy_bytes_free(&masked);
 *
 * This file alone decides what looks like a secret, by tables: values of options, variables,
 * headers and parameters of addresses whose name says so (--password, HF_TOKEN=, Authorization:,
 * ?sig=), passwords in addresses, and values of a known form (sk-…, ghp_…, AKIA…, JWT). It errs
 * on the side of leaving things readable: a password that stands alone (-p hunter2) is not known
 * as one. secrets_json.c applies the tables to JSON, where keys and values are known.
 */
#ifndef HWY_BASE_SECRETS_H
#define HWY_BASE_SECRETS_H

#include "base/bytes.h"

#define SECRETS_MASK "***" /* what stands in the place of a secret */

/* Adds to 'out' the n bytes of 'line' without secrets. The words of a command line are separated by
 * blanks; words with blanks are quoted as for a shell. Yields whether there was a secret. */
bool secrets_mask(const char *line, size_t n, struct hwy_bytes *out);

/* The same of a text that may be JSON (secrets_json.c): in an object or a list that begins with '{'
 * or '[', values are masked by their keys, at any depth, and environment variables are left out as
 * a whole. Other texts are lines. A text that was cut off is masked up to its end. */
bool secrets_mask_text(const char *text, size_t n, struct hwy_bytes *out);

/* The same of the value of a property with this name. */
bool secrets_mask_property(const char *name, const char *value, size_t n, struct hwy_bytes *out);

/* Whether a text may hold a secret; quick, for the many that hold none. */
bool secrets_possible(const char *text, size_t n);

/* Whether a name, such as "api-key", "hfToken" or "DB_PASSWORD", is that of a secret. */
bool secrets_name(const char *name, size_t n);

/* Whether the value of this name is a secret: the name is one's, and the value is neither empty nor
 * masked nor, of a "token" or a "key", a small number or a switch. */
bool secrets_value(const char *name, size_t n, const char *value, size_t n_value);

/* Whether a name, such as "env" or "process.environment", is that of environment variables. */
bool secrets_environment_name(const char *name, size_t n);

#endif
