/* SPDX-License-Identifier: Apache-2.0 */
/* pm_set.c - see pm_set.h.
 *
 * Names with "Triage" exist on some chips only (GH100, AD102, GB100 with CUDA 13.0) and collect
 * together what would else need several passes. The order decides what is left out where not all
 * fits. A counter of each SM is 132 values a sample on an H200: the general set has few of them,
 * so that 10,000 samples a second can be read. The counter of warps is the one without "Triage":
 * TPC.TriageCompute's stays 0 there where its pipes are not sampled beside it.
 */
#include "run/counters/pm_set.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/lang.h"

#define OF_PEAK ".avg.pct_of_peak_sustained_elapsed"

enum { GENERAL = 1, MEMORY = 2, THROUGHPUT = 4, PIPES = 8, ALL = 15 };

const struct pm_set_name pm_sets[] = {
	{"general",
	 HWY_KEY("what the device does and how fast: SMs, tensor cores, warps, DRAM, links, clocks")},
	{"memory", HWY_KEY("DRAM, the L2 cache and links only: cheaper")},
	{"throughput",
	 HWY_KEY("how near SMs, L1 and L2 are to what they can do: each the largest of many counters, dear")},
	{"pipes", HWY_KEY("what the pipes of the SMs do: FMA, ALU, FP64, tensor cores by kind; dear")},
	{NULL, NULL},
};

static const struct pm_metric table[] = {
	{"gr__cycles_active" OF_PEAK, "GR Active [Throughput %]", "%", PM_AS_IS, ALL},
	{"sm__cycles_active" OF_PEAK, "SMs Active [Throughput %]", "%", PM_AS_IS, ALL},
	{"dram__read_throughput" OF_PEAK, "DRAM Read Bandwidth [Throughput %]", "%", PM_AS_IS, ALL},
	{"dram__write_throughput" OF_PEAK, "DRAM Write Bandwidth [Throughput %]", "%", PM_AS_IS,
	 ALL},
	{"sm__inst_executed_realtime" OF_PEAK, "SM Issue [Throughput %]", "%", PM_AS_IS,
	 GENERAL | PIPES},
	{"sm__pipe_tensor_cycles_active_realtime" OF_PEAK, "Tensor Active [Throughput %]", "%",
	 PM_AS_IS, GENERAL | PIPES},
	{"tpc__warps_active_shader_cs_realtime" OF_PEAK, "Compute Warps in Flight [Throughput %]",
	 "%", PM_AS_IS, GENERAL},
	{"sm__warps_active_shader_cs_realtime" OF_PEAK, "Compute Warps in Flight [Throughput %]",
	 "%", PM_AS_IS, GENERAL},
	{"gpc__cycles_elapsed.avg.per_second", "GPC Clock Frequency [MHz]", "Hz", PM_AS_IS, ALL},
	{"sys__cycles_elapsed.avg.per_second", "SYS Clock Frequency [MHz]", "Hz", PM_AS_IS,
	 GENERAL},
	{"dram__cycles_elapsed.avg.per_second", "DRAM Clock", "Hz", PM_AS_IS, GENERAL},
	{"dram__bytes_read.sum", "DRAM Read", "B/s", PM_PER_SECOND, ALL},
	{"dram__bytes_write.sum", "DRAM Write", "B/s", PM_PER_SECOND, ALL},
	{"pcie__read_bytes.sum", "PCIe Read", "B/s", PM_PER_SECOND, ALL},
	{"pcie__write_bytes.sum", "PCIe Write", "B/s", PM_PER_SECOND, ALL},
	{"nvlrx__bytes.sum", "NVLink RX", "B/s", PM_PER_SECOND, ALL},
	{"nvltx__bytes.sum", "NVLink TX", "B/s", PM_PER_SECOND, ALL},
	{"TPC.TriageCompute.sm__inst_executed_pipe_fma_realtime" OF_PEAK, "FMA Pipe Active", "%",
	 PM_AS_IS, PIPES},
	{"TPC.TriageCompute.sm__inst_executed_pipe_alu_realtime" OF_PEAK, "ALU Pipe Active", "%",
	 PM_AS_IS, PIPES},
	{"TPC.TriageCompute.sm__pipe_fp64_cycles_active_realtime" OF_PEAK, "FP64 Active", "%",
	 PM_AS_IS, PIPES},
	{"TPC.TriageCompute.sm__pipe_tensor_op_hmma_cycles_active_realtime" OF_PEAK, "HMMA Active",
	 "%", PM_AS_IS, PIPES},
	{"TPC.TriageCompute.sm__pipe_tensor_op_imma_cycles_active_realtime" OF_PEAK, "IMMA Active",
	 "%", PM_AS_IS, PIPES},
	{"LTS.TriageCompute.lts__throughput" OF_PEAK, "L2 Throughput", "%", PM_AS_IS, THROUGHPUT},
	{"LTS.TriageCompute.lts__average_t_sector_hit_rate_realtime.pct", "L2 Hit Rate", "%",
	 PM_AS_IS, MEMORY | THROUGHPUT},
	{"lts__average_t_sector_hit_rate_realtime.pct", "L2 Hit Rate", "%", PM_AS_IS,
	 MEMORY | THROUGHPUT},
	{"SM_A.TriageCompute.l1tex__throughput" OF_PEAK, "L1 Throughput", "%", PM_AS_IS,
	 THROUGHPUT},
	{"TriageCompute.sm__throughput" OF_PEAK, "SM Throughput", "%", PM_AS_IS, THROUGHPUT},
	{"gpu__scheduler_engine_asyncce0_cycles_active" OF_PEAK, "Copy Engine Active", "%",
	 PM_AS_IS, ALL},
	{"gpu__engine_cycles_active_any_syncce" OF_PEAK, "Copy Engine Active (in order)", "%",
	 PM_AS_IS, ALL},
	{"FE_A.TriageCompute.gpu__scheduler_engine_gr_queue_sync_gpfifo_cycles_idle" OF_PEAK,
	 "Front End Idle", "%", PM_AS_IS, GENERAL},
	{"gpu__scheduler_engine_gr_queue_sync_gpfifo_cycles_idle" OF_PEAK, "Front End Idle", "%",
	 PM_AS_IS, GENERAL},
};
enum { N_TABLE = sizeof table / sizeof *table };
static_assert((int)N_TABLE <= (int)PM_MOST_METRICS, "a set has room for the whole table");

int pm_set_find(const char *name)
{
	for (int i = 0; pm_sets[i].name; i++)
		if (strcmp(pm_sets[i].name, name) == 0)
			return i;
	return -1;
}

const struct pm_metric *pm_set_entry(size_t index)
{
	return index < N_TABLE ? &table[index] : NULL;
}

static bool has_lane(const struct pm_set *set, const char *lane)
{
	for (size_t i = 0; i < set->n; i++)
		if (strcmp(set->metrics[i].lane, lane) == 0)
			return true;
	return false;
}

/* What a set is built with. */
struct set_plan {
	const struct cupti_library *library;
	const char *chip;
	const uint8_t *availability;
	struct pm_set *built;
};

/* Adds those of rows[0 … n) that fit, as if one after the other were tried: a block that fits is
 * taken as a whole, one that does not is halved. Planning takes ms a try, and the program waits
 * for it. */
static void add_fitting(const struct set_plan *plan, const struct pm_metric *const *rows, size_t n)
{
	struct pm_set *set = plan->built, with = *set;
	for (size_t i = 0; i < n; i++) {
		if (has_lane(&with, rows[i]->lane))
			continue;
		with.names[with.n] = rows[i]->metric;
		with.metrics[with.n++] = *rows[i];
	}
	if (with.n == set->n)
		return;
	if (cupti_host_passes(plan->library, ABI_CUPTI_PM_SAMPLING, plan->chip, plan->availability,
			      with.names, with.n) == 1) {
		*set = with;
	} else if (n > 1) {
		add_fitting(plan, rows, n / 2);
		add_fitting(plan, rows + n / 2, n - n / 2);
	}
}

bool pm_set_build(const struct cupti_library *library, const char *chip,
		  const uint8_t *availability, int set, struct pm_set *built, struct hwy_err *err)
{
	const struct pm_metric *rows[N_TABLE];
	size_t n = 0;
	*built = (struct pm_set){0};
	for (size_t i = 0; i < N_TABLE; i++)
		if (table[i].sets & 1U << set)
			rows[n++] = &table[i];
	const struct set_plan plan = {library, chip, availability, built};
	add_fitting(&plan, rows, n);
	return built->n ||
	       hwy_fail(err, "CUPTI offers no metric of the chip %s for sampling", chip);
}

double pm_set_scaled(const struct pm_metric *metric, double value, uint64_t ns)
{
	if (metric->scale == PM_AS_IS)
		return value;
	return ns ? value * 1e9 / (double)ns : (double)NAN;
}
