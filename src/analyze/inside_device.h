/* SPDX-License-Identifier: Apache-2.0 */
/* inside_device.h - what holds the device's own work back: its counters as levels, and one word
 * for them.
 *
 * "Busy" only says that a kernel runs. Levels say how much of the device the kernel uses: its
 * multiprocessors, its pipes, its memory, its links. A word is chosen sample by sample, because
 * a mean over a step that multiplies and then adds hides both; the word of a phase is the one
 * that most of its compute time has. Where there are no samples, the kernels that were measured
 * (`headway kernels`, ncu) decide, else the work that shapes of operators tell (roofline.h).
 */
#ifndef HWY_ANALYZE_INSIDE_DEVICE_H
#define HWY_ANALYZE_INSIDE_DEVICE_H

#include "analyze/analysis.h"
#include "analyze/device_metrics.h"

enum inside_word {
	INSIDE_UNKNOWN,
	INSIDE_COMPUTE,       /* a pipe of the multiprocessors is the limit */
	INSIDE_MEMORY,        /* the device's memory, or a cache, is */
	INSIDE_LATENCY,       /* enough warps, and nothing near its limit: they wait */
	INSIDE_OCCUPANCY,     /* too few multiprocessors or too few warps have work */
	INSIDE_COMMUNICATION, /* PCIe or NVLink is full */
	INSIDE_WORDS
};
extern const char *const inside_words[INSIDE_WORDS]; /* "unknown", "compute", … */
enum inside_source {
	INSIDE_NOTHING,
	INSIDE_METRICS,
	INSIDE_MEASURED,
	INSIDE_SHAPES,
	INSIDE_SOURCES
};
extern const char
	*const inside_sources[INSIDE_SOURCES]; /* "none", "metrics", "counters", "shapes" */

/* A level at or above its limit means that the unit is what holds the work back, in %. Tensor
 * pipes of well-tuned products do not reach more than half of their cycles on every chip; links
 * reach 92 % of PCIe's rate at best. */
#define INSIDE_COMPUTE_LIMIT 60
#define INSIDE_TENSOR_LIMIT 50
#define INSIDE_DRAM_LIMIT 60
#define INSIDE_CACHE_LIMIT 80
#define INSIDE_LINK_LIMIT 80
/* Fewer multiprocessors than this have work: the grid does not fill the device. */
#define INSIDE_FEW_SMS 60
/* Of the warps that the multiprocessors with work could hold, fewer than this are there. */
#define INSIDE_FEW_WARPS 25

/* How busy the parts of a device are, each in % of what that part can do at most; a level that
 * the recording does not tell is not a number (isnan). */
struct inside_levels {
	double sms;    /* multiprocessors with work */
	double warps;  /* warps in flight, of what all multiprocessors hold */
	double issue;  /* instructions issued */
	double tensor; /* tensor pipes */
	double pipe;   /* the busiest of the other pipes, or issue */
	double dram;   /* reads and writes together */
	double cache;  /* the busier of L2 and L1 */
	double link;   /* the busiest direction of PCIe and NVLink */
};
/* The word for levels; INSIDE_UNKNOWN where they do not tell enough. */
enum inside_word inside_classify(const struct inside_levels *levels);

/* The means of levels over samples. Zeroed memory is empty. */
struct inside_sums {
	struct metric_sum sums[METRICS];
	uint32_t samples; /* of the multiprocessors' activity */
};
/* Adds the samples of a device (index into the trace's devices) as metric_add does. */
void inside_add(struct inside_sums *sums, struct hwy_metrics *metrics, int64_t device,
		const struct hwy_interval *intervals, uint32_t n, double pure);
struct inside_levels inside_levels_of(const struct inside_sums *sums);

struct inside {
	enum inside_word word;
	enum inside_source source;
	/* Of the time that was judged: the samples while the device computes, or the kernels.
	 * They add up to 1, or all are 0. */
	double shares[INSIDE_WORDS];
	struct inside_levels levels; /* means over that time; only from metrics */
	uint32_t samples;            /* only from metrics */
	double sampled; /* the share of the computing that samples cover; only from metrics */
	double known;   /* the share of the kernels' time that could be judged */
	/* Why samples do not tell, where there are some and 'source' is INSIDE_NOTHING; else
	 * NULL. */
	const char *why_not;
};
/* A word stands for the whole where it has this share of the time that was judged, and leads by
 * INSIDE_LEAD_SHARE. */
#define INSIDE_MAIN_SHARE 0.4
#define INSIDE_LEAD_SHARE 0.1
/* Kernels of at least this share of the kernels' time must be known by counters or shapes. */
#define INSIDE_KNOWN_SHARE 0.5
/* Samples must cover this share of the computing: steady steps are alike, but a beginning is not
 * the whole. */
#define INSIDE_SAMPLED_SHARE 0.1
/* Samples count all that the device does. Where so many multiprocessors (in %) have work while
 * the recorded program has none there, somebody else works on the device, too. */
#define INSIDE_SHARED_SMS 20

/* When the device of the flow (index into flow.devices) computes inside a window: a union, in
 * order. The caller frees it. */
struct hwy_interval *inside_compute_time(const struct hwy_flow *flow, uint32_t device,
					 struct hwy_interval window, uint32_t *n);
/* Whether others work on a device of the flow, too, so that its samples say nothing about the
 * recorded program. Looks at the samples in which the program has nothing there; false where
 * there are few of these. */
bool inside_is_shared(struct hwy_metrics *metrics, const struct hwy_flow *flow, uint32_t device,
		      struct hwy_interval window);
/* The word from samples; INSIDE_UNKNOWN with source INSIDE_NOTHING where there are too few.
 * 'uses': for each device of the flow, whether it counts; NULL: all do. */
struct inside inside_from_metrics(struct hwy_metrics *metrics, const struct hwy_flow *flow,
				  struct hwy_interval window, const bool *uses);
/* Chooses the word by 'shares'. */
void inside_choose(struct inside *inside);

#endif
