/* file_stub.c - weak stand-ins for what is not there yet; each gives way to the real one. */
#include "import/import.h"

__attribute__((weak)) struct hwy_trace *import_kineto(const char *path,
						      const struct hwy_progress *progress,
						      struct hwy_err *err)
{
	(void)progress;
	hwy_fail(err, "%s: not yet", path);
	return NULL;
}
