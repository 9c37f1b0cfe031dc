/* kernel_functions.h - the functions of the kernel that runs here. */
#ifndef HWY_INGEST_KERNEL_FUNCTIONS_H
#define HWY_INGEST_KERNEL_FUNCTIONS_H

#include <stdint.h>

struct kernel;

struct kernel *kernel_open(void);
void kernel_close(struct kernel *kernel); /* NULL is fine */
/* "[kernel]", or "[nvidia]" for a module's, in *module; the function, or NULL where it is kept secret. */
const char *kernel_at(const struct kernel *kernel, uint64_t address, const char **module);

#endif
