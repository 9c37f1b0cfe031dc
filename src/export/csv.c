#include "export/parts.h"
bool export_csv(struct hwy_trace *trace, const char *path, const struct export_options *options,
		const struct hwy_progress *progress, struct export_result *result,
		struct hwy_err *err)
{
	(void)trace;(void)path;(void)options;(void)progress;(void)result;
	return hwy_fail(err, "not yet");
}
