/* SPDX-License-Identifier: Apache-2.0 */
/* fold.h - one name for what is numbered: "step_7" and "step_8" are both "step_N". */
#ifndef HWY_BASE_FOLD_H
#define HWY_BASE_FOLD_H

/* Puts N in the place of each number that is a word of its own: "Step 10 to 20 > conv2d" becomes
 * "Step N to N > conv2d". web/src/timeline/text.ts has the same rule. */
void hwy_fold_numbers(char *text);

#endif
