#include "export/parts.h"
bool export_folded(struct hwy_trace *trace, FILE *out, bool gzip,
		   const struct export_options *options, const struct hwy_progress *progress,
		   struct export_result *result, struct hwy_err *err)
{
	(void)trace;(void)out;(void)gzip;(void)options;(void)progress;(void)result;
	return hwy_fail(err, "not yet");
}
