#include "collect/process.h"
void python_after_fork(void)
{
}
