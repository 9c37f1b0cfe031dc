/* file_stub.c - weak stand-ins for what is not there yet; each gives way to the real one. */
#include "import/import.h"
#include "trace/file.h"

__attribute__((weak)) bool file_load_column(struct hwy_file *file, struct hwy_column *column,
					    struct hwy_err *err)
{
	(void)file;
	(void)column;
	return hwy_fail(err, "reports cannot be read yet");
}

__attribute__((weak)) void file_close(struct hwy_file *file)
{
	(void)file;
}

__attribute__((weak)) struct hwy_trace *import_kineto(const char *path,
						      const struct hwy_progress *progress,
						      struct hwy_err *err)
{
	(void)progress;
	hwy_fail(err, "%s: not yet", path);
	return NULL;
}

__attribute__((weak)) bool hwy_file_is_report(const void *head, size_t length)
{
	(void)head;
	(void)length;
	return false;
}

__attribute__((weak)) struct hwy_trace *hwy_file_open(const char *path, struct hwy_err *err)
{
	hwy_fail(err, "%s: not yet", path);
	return NULL;
}

__attribute__((weak)) bool hwy_file_write(struct hwy_trace *trace, const char *path, bool overwrite,
					  const struct hwy_progress *progress, struct hwy_err *err)
{
	(void)trace;
	(void)overwrite;
	(void)progress;
	return hwy_fail(err, "%s: not yet", path);
}
