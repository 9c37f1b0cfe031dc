/* SPDX-License-Identifier: Apache-2.0 */
/* torch.h - the operators of PyTorch in the process, if there is a libtorch. */
#ifndef HWY_COLLECT_TORCH_TORCH_H
#define HWY_COLLECT_TORCH_TORCH_H

#include <stdbool.h>

#include "collect/elf_symbols.h"

/* Called for every object that was loaded since the last look: finds libtorch. */
void torch_look_at_object(const struct elf_object *object);

/* Asks libtorch, once it is found, to call us at every operator. Calls functions of libtorch,
 * which allocate and lock: must not be called from a signal handler, nor while the loader is
 * relocating libtorch. True when there is nothing more to do. */
bool torch_begin(void);

#endif
