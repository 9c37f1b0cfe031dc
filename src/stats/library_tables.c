/* SPDX-License-Identifier: Apache-2.0 */
/* library_tables.c - calls of cuBLAS, cuDNN, cuSPARSE, cuSOLVER and cuFFT by name, summed up. A
 * call inside another call of the same library counts for itself, and its time for both. */
#include "stats/families.h"
#include "stats/tally.h"

/* Whether the lane has calls of a library whose name begins so: "cuBLAS" stands for cuBLASLt and
 * cuBLASXt too. */
static bool lane_is_of(const struct hwy_trace *trace, uint32_t lane, const char *library)
{
	return hwy_lane_is_library(trace, lane) &&
	       strncmp(hwy_str(trace, trace->lanes[lane].name), library, strlen(library)) == 0;
}

static void name_of_library_call(struct tally *tally, uint64_t key,
				 struct hwy_text names[TALLY_NAMES])
{
	names[0] = hwy_text(tally->run->trace, (uint32_t)key);
}

static const struct stats_column library_columns[] = {TALLY_TIMES("Num Calls"),
						      {"Name", STATS_TEXT}};

/* Makes the report make_NAME_sum of a library. */
#define LIBRARY_TABLE(report, library)                                                             \
	static void group_##report(struct tally *tally, const struct hwy_strip *strip,             \
				   uint32_t first, uint32_t n, uint32_t *groups)                   \
	{                                                                                          \
		if (lane_is_of(tally->run->trace, strip->lane, library))                           \
			tally_by_name(tally, strip, first, n, 0, groups);                          \
		else                                                                               \
			tally_skip(n, groups);                                                     \
	}                                                                                          \
	bool make_##report(struct report_run *run, struct hwy_err *err)                            \
	{                                                                                          \
		static const struct tally_plan plan = {library_columns,                            \
						       STATS_LENGTH(library_columns),              \
						       HWY_KIND_BIT(HWY_CALL),                     \
						       HWY_COL_BIT(HWY_NAME),                      \
						       HWY_DUR,                                    \
						       group_##report,                             \
						       name_of_library_call};                      \
		return tally_make(run, &plan, err);                                                \
	}

LIBRARY_TABLE(cublas_sum, "cuBLAS")
LIBRARY_TABLE(cudnn_sum, "cuDNN")
LIBRARY_TABLE(cusparse_sum, "cuSPARSE")
LIBRARY_TABLE(cusolver_sum, "cuSOLVER")
LIBRARY_TABLE(cufft_sum, "cuFFT")
