/* SPDX-License-Identifier: Apache-2.0 */
/* device_clocks.h - how fast a device ran: its clocks, power and temperature over the recording,
 * what held the clocks down, and the clock while the device was busy.
 *
 *   struct device_clocks clocks;
 *   if (device_clocks_read(&clocks, &metrics, device))
 *           printf("%.0f MHz\n", clocks.sm.median / 1e6);
 */
#ifndef HWY_ANALYZE_DEVICE_CLOCKS_H
#define HWY_ANALYZE_DEVICE_CLOCKS_H

#include "analyze/device_metrics.h"
#include "analyze/flow.h"

/* What can hold clocks down. The names in properties, gpu.N.lost.NAME_ns, and in JSON are
 * device_clocks_keys. */
enum clock_limit {
	LIMIT_POWER_CAP,   /* the power limit */
	LIMIT_SYNC_BOOST,  /* the slowest GPU of a group that shares its clock */
	LIMIT_SW_THERMAL,  /* heat, by the driver's choice */
	LIMIT_HW_THERMAL,  /* heat, by the hardware's */
	LIMIT_POWER_BRAKE, /* the power supply */
	CLOCK_LIMITS
};
extern const char *const device_clocks_keys[CLOCK_LIMITS];
/* The limits in words, after "held down by": "the power limit". */
extern const char *const device_clocks_words[CLOCK_LIMITS];

/* Bits of METRIC_LIMITS, as NVML numbers them: what holds the clocks down at a moment. */
enum {
	REASON_IDLE = 0x1,
	REASON_SETTING = 0x2, /* somebody has set the clocks */
	REASON_POWER_CAP = 0x4,
	REASON_HW_SLOWDOWN =
		0x8, /* the hardware has: beside one of the two below that it names, or alone */
	REASON_SYNC_BOOST = 0x10,
	REASON_SW_THERMAL = 0x20,
	REASON_HW_THERMAL = 0x40,
	REASON_POWER_BRAKE = 0x80,
	REASON_DISPLAY = 0x100,
};

struct clock_values {
	uint32_t samples; /* 0: nothing is known */
	double least, median, mean, most;
};

struct device_clocks {
	struct clock_values sm, memory;  /* Hz */
	struct clock_values power;       /* W */
	struct clock_values temperature; /* degrees Celsius */
	double most_sm;                  /* Hz, the highest clock of the device; 0: not known */
	double power_limit;              /* W; 0: not known */
	int64_t energy_mj;               /* mJ while recording, or HWY_NONE */
	/* ns while recording in which a limit held the clocks down, as the device counts it;
	 * HWY_NONE where not known, or where it is more than the recording lasted and a second. */
	int64_t lost[CLOCK_LIMITS];
};

/* Reads what a recording has of a device (index into the trace's devices); false where it has
 * nothing of its clocks. */
bool device_clocks_read(struct device_clocks *clocks, struct hwy_metrics *metrics, int64_t device);
/* The number in a property gpu.N.NAME, or HWY_NONE. */
int64_t device_clocks_fact(const struct hwy_trace *trace, int64_t device, const char *name);

/* The clock of the multiprocessors over time: as NVML says, else as counters say; NULL where the
 * recording has neither. */
const struct metric_series *device_clocks_series(struct hwy_metrics *metrics, int64_t device);
/* The times inside 'window' in which a device of the flow is busy: disjoint, in order, to be
 * freed; *n is their number. */
struct hwy_interval *device_clocks_busy_times(const struct hwy_flow *flow, uint32_t flow_device,
					      struct hwy_interval window, uint32_t *n);
/* The mean clock in Hz while the devices of the flow were busy inside 'window', each weighed by
 * its busy time; 0 where it is not known. 'uses' tells for each device of the flow whether it
 * counts; NULL: all do. */
double device_clocks_busy(const struct hwy_flow *flow, const bool *uses,
			  struct hwy_interval window);

#endif
