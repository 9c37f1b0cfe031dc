/* SPDX-License-Identifier: Apache-2.0 */
/* flame_request.h - the arguments of the request 'flame', as a question for the worker of its
 * trace (worker_flame.c). */
#ifndef HWY_SERVE_FLAME_REQUEST_H
#define HWY_SERVE_FLAME_REQUEST_H

#include "serve/asking.h"

enum { FLAME_QUESTION_BYTES = 32000 }; /* less than what the worker's socket holds */

struct flame_request {
	uint32_t trace;
	char question[FLAME_QUESTION_BYTES];
};

/* False with a sentence where an argument is wrong. */
bool flame_request_read(const struct asking *a, struct flame_request *request, struct hwy_err *err);

#endif
