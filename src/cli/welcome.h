/* SPDX-License-Identifier: Apache-2.0 */
/* welcome.h - what `headway` alone prints: what can be done on this machine, in three lines. */
#ifndef HWY_CLI_WELCOME_H
#define HWY_CLI_WELCOME_H

#include <stdio.h>

void welcome_print(FILE *out);

#endif
