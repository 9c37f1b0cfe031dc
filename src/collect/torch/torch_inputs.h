/* SPDX-License-Identifier: Apache-2.0 */
/* torch_inputs.h - the shapes and types of an operator's inputs, as text. */
#ifndef HWY_COLLECT_TORCH_TORCH_INPUTS_H
#define HWY_COLLECT_TORCH_TORCH_INPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/elf_symbols.h"

/* Called for every object in the order of the loader's list: finds libtorch's functions, and
 * operator delete, which is that of the first object that has one. */
void torch_inputs_look_at_object(const struct elf_object *object);
bool torch_inputs_are_found(void);

/* Text id of {"Input Dims": …, "Input type": …} of an at::RecordFunction that has just begun; 0:
 * none. */
uint32_t torch_inputs_text(const void *function);

#endif
