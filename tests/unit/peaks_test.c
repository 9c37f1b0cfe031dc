/* SPDX-License-Identifier: Apache-2.0 */
/* Peaks of devices: the table, what is computed for devices that it lacks, and where the bandwidth comes from. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/peaks.h"
#include "analyze/peaks_table.h"
#include "make_trace.h"

/* cmocka's assert_float_equal compares floats, which hold 7 digits. */
static void assert_near(double got, double want, double by)
{
	if (!(fabs(got - want) <= by))
		fail_msg("%.17g, not %.17g", got, want);
}

static struct hwy_device unknown_device(void)
{
	struct hwy_device device;
	int64_t *fields = (int64_t *)&device;
	for (size_t i = 0; i < sizeof device / sizeof *fields; i++)
		fields[i] = HWY_NONE;
	return device;
}

static struct hwy_peaks peaks_by_name(const char *name)
{
	struct hwy_device device = unknown_device();
	struct hwy_peaks peaks;
	peaks_of_device(&peaks, &device, name);
	return peaks;
}

static void names_of_drivers_find_their_row(void **state)
{
	static const char *const names[][2] = {
		{"NVIDIA H200", "H200 SXM"},
		{"NVIDIA H200 NVL", "H200 NVL"},
		{"NVIDIA H100 80GB HBM3", "H100 SXM"},
		{"NVIDIA H100 PCIe", "H100 PCIe"},
		{"NVIDIA H100 NVL", "H100 NVL"},
		{"NVIDIA GH200 480GB", "GH200 96GB"},
		{"NVIDIA GH200 144G HBM3e", "GH200 144GB"},
		{"NVIDIA A100-SXM4-40GB", "A100 40GB"},
		{"NVIDIA A100-SXM4-80GB", "A100 80GB SXM"},
		{"NVIDIA A100 80GB PCIe", "A100 80GB PCIe"},
		{"NVIDIA A100-PCIE-40GB", "A100 40GB"},
		{"NVIDIA A10G", "A10G"},
		{"NVIDIA A10", "A10"},
		{"NVIDIA L4", "L4"},
		{"NVIDIA L40S", "L40S"},
		{"Tesla V100-SXM2-16GB", "V100 SXM2"},
		{"Tesla V100-PCIE-32GB", "V100 PCIe"},
		{"Tesla T4", "T4"},
		{"NVIDIA GeForce RTX 4090", "RTX 4090"},
		{"NVIDIA GeForce RTX 3080 Ti", "RTX 3080 Ti"},
		{"NVIDIA GeForce RTX 4070 Ti SUPER", "RTX 4070 Ti SUPER"},
		{"NVIDIA GB200", "GB200"},
		{"NVIDIA B200", "B200"},
		{"AMD Instinct MI300X", "MI300X"},
		{"AMD Instinct MI250X/MI250", "MI250X (one die)"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct hwy_peaks peaks = peaks_by_name(names[i][0]);
		assert_non_null(peaks.model);
		assert_string_equal(peaks.model, names[i][1]);
		assert_string_equal(peaks.source, "data sheet");
	}
	assert_null(peaks_by_name("NVIDIA GeForce RTX 4090 Laptop GPU").model);
	assert_null(peaks_by_name("NVIDIA RTX A1000").model);
	assert_null(peaks_by_name("Toy").model);
	assert_null(peaks_by_name("Toy").source);
	assert_null(peaks_by_name("").source);
}

static void the_h200_has_what_its_data_sheet_says(void **state)
{
	(void)state;
	struct hwy_peaks peaks = peaks_by_name("NVIDIA H200");
	assert_near(peaks_rate(&peaks, HWY_BF16, true), 989.4e12, 1e9);
	assert_near(peaks_rate(&peaks, HWY_TF32, true), 494.7e12, 1e9);
	assert_near(peaks_rate(&peaks, HWY_FP32, false), 66.9e12, 1e9);
	assert_near(peaks_rate(&peaks, HWY_FP4, true), 0, 0);
	assert_near(peaks.bytes_per_s, 4.8e12, 1e6);
}

static void every_row_is_plausible(void **state)
{
	(void)state;
	for (size_t i = 0; i < peaks_n_rows; i++) {
		const struct peaks_row *row = &peaks_rows[i];
		bool ok = row->fp32 > 0 && row->fp64 > 0 && row->gbytes_per_s >= 250 &&
			  row->t_half >= row->t_tf32 && row->document && row->model &&
			  (row->t_fp8 == 0 || row->t_fp8 > 1.9 * row->t_half) &&
			  (row->t_fp4 == 0 || row->t_fp4 > 1.9 * row->t_fp8);
		if (!ok)
			fail_msg("row %s", row->model);
	}
}

/* The table against the other way: multiprocessors, boost clock of the data sheet, and the rate of a multiprocessor. */
static void computed_rates_agree_with_data_sheets(void **state)
{
	static const struct {
		const char *name;
		int64_t major, minor;
		double mhz;
	} boosts[] = {
		{"Tesla V100-SXM2-16GB", 7, 0, 1530},
		{"NVIDIA A100-SXM4-40GB", 8, 0, 1410},
		{"NVIDIA A40", 8, 6, 1740},
		{"NVIDIA GeForce RTX 3090", 8, 6, 1695},
		{"NVIDIA GeForce RTX 4090", 8, 9, 2520},
		{"NVIDIA RTX 6000 Ada Generation", 8, 9, 2505},
		{"NVIDIA H100 PCIe", 9, 0, 1755},
		{"NVIDIA GeForce RTX 5090", 12, 0, 2407},
	};
	(void)state;
	for (size_t i = 0; i < sizeof boosts / sizeof *boosts; i++) {
		struct hwy_peaks sheet = peaks_by_name(boosts[i].name), computed;
		struct hwy_device device = unknown_device();
		device.compute_major = boosts[i].major;
		device.compute_minor = boosts[i].minor;
		device.clock_hz = (int64_t)(boosts[i].mhz * 1e6);
		for (size_t r = 0; r < peaks_n_rows; r++)
			if (strcmp(peaks_rows[r].model, sheet.model) == 0)
				device.sms = (int64_t)peaks_rows[r].sms;
		peaks_of_device(&computed, &device,
				strstr(boosts[i].name, "GeForce") ? "GeForce card" : "card");
		assert_string_equal(computed.source, "computed");
		for (unsigned p = 0; p < HWY_PRECISIONS; p++) {
			/* Tensor rates of the H100 PCIe are stated for a lower clock. */
			double bound = boosts[i].major == 9 ? 0.1 : 0.03;
			double want = sheet.tensor[p], got = computed.tensor[p];
			if (p == HWY_BF16 && boosts[i].major == 7)
				continue; /* the row is not told the compute capability */
			if (want > 0 && (got < want * (1 - bound) || got > want * (1 + bound)))
				fail_msg("%s %s tensor: %g, not %g", boosts[i].name,
					 hwy_precision_names[p], got, want);
		}
		assert_true(computed.plain[HWY_FP32] > 0.97 * sheet.plain[HWY_FP32] &&
			    computed.plain[HWY_FP32] < 1.03 * sheet.plain[HWY_FP32]);
	}
}

static void a_part_of_a_device_has_a_part_of_its_rates(void **state)
{
	(void)state;
	struct hwy_device device = unknown_device();
	struct hwy_peaks peaks;
	device.sms = 66;
	device.compute_major = 9;
	peaks_of_device(&peaks, &device, "NVIDIA H200 MIG 3g.71gb");
	assert_string_equal(peaks.source, "computed");
	assert_near(peaks.tensor[HWY_BF16], 989.4e12 / 2, 1e9);
}

static void a_calibrated_bandwidth_goes_before_all_others(void **state)
{
	(void)state;
	struct small small = small_machine();
	struct hwy_trace *trace = hwy_builder_trace(small.builder);
	struct hwy_peaks peaks;
	trace->devices[0].name = hwy_text_id(small.builder, "NVIDIA H200");
	assert_true(peaks_find(&peaks, trace, 0));
	assert_string_equal(peaks.bandwidth_source, "data sheet");
	trace->devices[0].memory_bandwidth = INT64_C(4700000000000);
	assert_true(peaks_find(&peaks, trace, 0));
	assert_string_equal(peaks.bandwidth_source, "recorded");
	uint32_t one = hwy_new_calibrations(small.builder);
	trace = hwy_builder_trace(small.builder);
	trace->calibrations[one].device = 0;
	trace->calibrations[one].name =
		hwy_text_id(small.builder, "machine.device_memory_bandwidth");
	trace->calibrations[one].value = INT64_C(4300000000000);
	assert_true(peaks_find(&peaks, trace, 0));
	assert_string_equal(peaks.bandwidth_source, "calibrated");
	assert_near(peaks.bytes_per_s, 4.3e12, 1);
	hwy_trace_free(small_finish(&small));
}

static void the_cache_is_the_recorded_one_or_the_largest_of_the_generation(void **state)
{
	(void)state;
	struct hwy_device device = unknown_device();
	struct hwy_peaks peaks;
	device.compute_major = 9;
	device.compute_minor = 0;
	peaks_of_device(&peaks, &device, "NVIDIA H200");
	assert_near(peaks.cache_bytes, 60 << 20, 0);
	/* AMD's dies have the numbers of Hopper, and the Infinity Cache is no L2 */
	peaks_of_device(&peaks, &device, "AMD Instinct MI250X");
	assert_near(peaks.cache_bytes, 8 << 20, 0);
	peaks_of_device(&peaks, &device, "AMD Radeon of some year");
	assert_near(peaks.cache_bytes, 0, 0);
	device.l2_bytes = 50 << 20;
	peaks_of_device(&peaks, &device, "NVIDIA H100 80GB HBM3");
	assert_near(peaks.cache_bytes, 50 << 20, 0);
	device.l2_bytes = 4 << 20;
	peaks_of_device(&peaks, &device, "AMD Instinct MI300X");
	assert_near(peaks.cache_bytes, 256 << 20, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_drivers_find_their_row),
		cmocka_unit_test(the_h200_has_what_its_data_sheet_says),
		cmocka_unit_test(every_row_is_plausible),
		cmocka_unit_test(computed_rates_agree_with_data_sheets),
		cmocka_unit_test(a_part_of_a_device_has_a_part_of_its_rates),
		cmocka_unit_test(a_calibrated_bandwidth_goes_before_all_others),
		cmocka_unit_test(the_cache_is_the_recorded_one_or_the_largest_of_the_generation),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
