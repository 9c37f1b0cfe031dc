/* SPDX-License-Identifier: Apache-2.0 */
/* device_metrics.h - what counters of a device said over time: which metric a lane holds, and
 * its mean over any set of intervals.
 *
 * A lane of type HWY_LANE_COUNTER with a device is a metric. Its names are those of Nsight
 * Systems, of our own sampling and of NVML's GPM; the table in device_metrics.c maps them to
 * enum hwy_metric, and nobody else compares names.
 *
 * A sample's value holds from the sample's START to the START of the next one. (nsys stamps its
 * samples at the begin of the sampled interval, too: on a recording with kernels of 309 us and
 * samples of 100 us the correlation of "SMs Active" with the time that kernels cover is 0.9998
 * under this reading, and 0.90 if the stamp were the end.) Where the next sample is missing, a
 * sample holds for METRIC_MOST_PERIODS usual distances, and nothing is known after that.
 *
 *   const struct metric_series *dram = metrics_get(metrics, device, METRIC_DRAM_READ);
 *   struct metric_sum sum = {0};
 *   if (dram)
 *           metric_add(&sum, dram, intervals, n, 0);
 *   if (sum.samples >= METRICS_FEWEST_SAMPLES)
 *           printf("%.1f %% of %u samples\n", metric_mean(&sum), sum.samples);
 */
#ifndef HWY_ANALYZE_DEVICE_METRICS_H
#define HWY_ANALYZE_DEVICE_METRICS_H

#include "analyze/intervals.h"
#include "trace/trace.h"

/* Percentages are 0 … 100 of what the unit could do in all of the sampled time. */
enum hwy_metric {
	METRIC_GR_ACTIVE,  /* %: the graphics and compute engine has work */
	METRIC_SMS_ACTIVE, /* %: mean share of the multiprocessors that have a warp */
	METRIC_SM_ISSUE,   /* %: of the cycles in which a scheduler issues an instruction */
	METRIC_SM_THROUGHPUT,
	METRIC_TENSOR, /* %: the tensor pipes are active */
	METRIC_HMMA,
	METRIC_IMMA,
	METRIC_FP64,
	METRIC_FP32,
	METRIC_FP16,
	METRIC_FMA,
	METRIC_ALU,
	METRIC_WARPS,       /* %: warps in flight, of what all multiprocessors could hold */
	METRIC_UNALLOCATED, /* %: room for warps that multiprocessors with work leave empty */
	METRIC_DRAM,        /* %: reads and writes together */
	METRIC_DRAM_READ,
	METRIC_DRAM_WRITE,
	METRIC_DRAM_READ_RATE, /* bytes a second, as all of ..._RATE */
	METRIC_DRAM_WRITE_RATE,
	METRIC_L2,
	METRIC_L2_HITS,
	METRIC_L1,
	METRIC_PCIE_RX, /* %: what the device receives, so copies from the host */
	METRIC_PCIE_TX,
	METRIC_PCIE_RX_RATE,
	METRIC_PCIE_TX_RATE,
	METRIC_NVLINK_RX,
	METRIC_NVLINK_TX,
	METRIC_NVLINK_RX_RATE,
	METRIC_NVLINK_TX_RATE,
	METRIC_COPY_ENGINES,
	METRIC_FRONT_END_IDLE, /* %: nothing is queued for the device */
	METRIC_GPC_CLOCK,      /* Hz, as all clocks */
	METRIC_SYS_CLOCK,
	METRIC_DRAM_CLOCK,
	METRIC_SM_CLOCK,     /* as NVML says */
	METRIC_MEMORY_CLOCK, /* as NVML says */
	METRIC_POWER,        /* W */
	METRIC_TEMPERATURE,  /* degrees Celsius */
	/* bits: what holds the clocks down, as NVML says (REASON_… of device_clocks.h); has no
	 * mean */
	METRIC_LIMITS,
	METRICS
};

/* A mean of fewer samples says nothing about a kernel, a range or a step: tables leave it empty,
 * findings are silent. */
enum { METRICS_FEWEST_SAMPLES = 5 };
/* For how many usual distances a sample holds whose next one is missing. */
enum { METRIC_MOST_PERIODS = 2 };
/* A sample is evidence about a kernel (or about busy time) where that covers this share of the
 * sampled interval: a metric sampled every 100 us says nothing about a kernel of 5 us among
 * others. */
#define METRIC_PURE_SHARE 0.75

/* The metric that a counter of this name and unit is; METRICS where it is none of them. */
enum hwy_metric metric_of_name(const char *name, const char *unit);

struct metric_series { /* one metric of one device */
	enum hwy_metric metric;
	int64_t device; /* index into the trace's devices */
	uint32_t lane;
	uint32_t n;
	int64_t period;  /* the usual ns from a sample to the next */
	int64_t *starts; /* ns, ascending */
	double *values;
	/* For each sample, and once more behind the last: the sum over all samples before it of
	 * value times ns, and of ns. */
	double *sums;
	int64_t *lengths;
	bool is_read;
};

struct hwy_metrics {
	struct hwy_trace *trace;
	struct metric_series *list; /* at most one for each metric of each device */
	uint32_t n, cap;
};

/* Finds the lanes; samples are read when metrics_get asks for them. */
void metrics_open(struct hwy_metrics *metrics, struct hwy_trace *trace);
void metrics_close(struct hwy_metrics *metrics);
/* The samples of a metric of a device (index into the trace's devices); NULL where there are
 * none, or where the report cannot be read. */
const struct metric_series *metrics_get(struct hwy_metrics *metrics, int64_t device,
					enum hwy_metric metric);
/* A metric in %: its samples in %, or those in bytes a second with the factor that makes % of
 * what memory or link can carry. series is NULL where neither is recorded, or where the most is
 * not known. Only for metrics in %. */
struct metric_percent {
	const struct metric_series *series;
	double factor;
};
struct metric_percent metrics_percent(struct hwy_metrics *metrics, int64_t device,
				      enum hwy_metric metric);
/* Bytes a second that copies of pinned memory reach in one direction, by the device's PCIe slot,
 * else by its generation. The least that is usual where 'device' is NULL. */
double metric_pcie_rate(const struct hwy_device *device);
/* Bytes a second of all NVLinks of a device in one direction, by NVIDIA's data sheets of the SXM
 * modules; cards with fewer links seem less full than they are. 0: not known. */
double metric_nvlink_rate(const struct hwy_device *device);
/* Reads the samples of any counter lane. False where the lane has none. The caller frees with
 * metric_series_free. */
bool metric_series_read(struct metric_series *series, struct hwy_trace *trace, uint32_t lane,
			struct hwy_err *err);
void metric_series_free(struct metric_series *series);

/* The time in which sample 'i' holds. */
struct hwy_interval metric_holds(const struct metric_series *series, uint32_t i);
/* The mean over [from, to) by sums made before, in a time that does not depend on the number of
 * samples; *ns is how much of it has samples. 0 where none has. */
double metric_mean_between(const struct metric_series *series, int64_t from, int64_t to,
			   int64_t *ns);

/* A mean of samples, each weighed by the ns for which it counts. Zeroed memory is empty. */
struct metric_sum {
	double weighed;     /* the sum of value times ns */
	int64_t ns;         /* the sum of ns */
	double least, most; /* of the samples that count */
	uint32_t samples;
};
static inline double metric_mean(const struct metric_sum *sum)
{
	return sum->ns > 0 ? sum->weighed / (double)sum->ns : 0;
}
/* Adds the samples that n disjoint intervals, in order, cover for 'pure' of their time or more
 * (0: at all). A sample weighs as much as its covered time. */
void metric_add(struct metric_sum *sum, const struct metric_series *series,
		const struct hwy_interval *intervals, uint32_t n, double pure);
/* metric_add for a metric in %; adds nothing where it is not known. */
void metric_add_percent(struct metric_sum *sum, struct metric_percent percent,
			const struct hwy_interval *intervals, uint32_t n, double pure);

#endif
