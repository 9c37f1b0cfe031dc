/* SPDX-License-Identifier: Apache-2.0 */
/* roofline_json.c - a roofline as JSON, for `headway kernels --format json` and for the page
 * (docs/roofline.md). */
#include <math.h>

#include "analyze/roofline.h"

/* Rates and counts have up to 18 digits before the point; shares are small: seven significant
 * digits serve both. */
static void roofline_put_real(struct hwy_json *json, const char *key, double value)
{
	char digits[32];
	json_key(json, key);
	if (!isfinite(value)) {
		json_null(json);
		return;
	}
	snprintf(digits, sizeof digits, "%.7g", value);
	json_number(json, digits);
}

static void roofline_put_peaks(struct hwy_json *json, const struct hwy_peaks *peaks)
{
	json_key(json, "peaks");
	json_begin_array(json);
	for (unsigned tensor = 0; tensor < 2; tensor++)
		for (enum hwy_precision p = 0; p < HWY_PRECISIONS; p++) {
			double rate = peaks_rate(peaks, p, tensor);
			if (rate <= 0)
				continue;
			json_begin_object(json);
			json_put_text(json, "precision", hwy_precision_names[p]);
			json_put_bool(json, "tensor", tensor);
			roofline_put_real(json, "flop_per_s", rate);
			json_put_text(json, "source", peaks->source);
			json_end_object(json);
		}
	json_end_array(json);
}

static void roofline_put_device(struct hwy_json *json, const struct hwy_trace *trace,
				const struct roofline_device *device)
{
	const struct hwy_device *record = &trace->devices[device->device];
	double bandwidth = device->peaks.bytes_per_s;
	json_begin_object(json);
	json_put_int(json, "device", device->device);
	json_put_text(json, "name", hwy_str(trace, record->name));
	json_put_text(json, "model", device->peaks.model);
	roofline_put_real(json, "bytes_per_s", bandwidth > 0 ? bandwidth : NAN);
	json_put_text(json, "bytes_source", device->peaks.bandwidth_source);
	json_put_int(json, "kernel_ns", device->kernel_ns);
	json_put_int(json, "known_ns", device->known_ns);
	roofline_put_peaks(json, &device->peaks);
	json_end_object(json);
}

static void roofline_put_point(struct hwy_json *json, const struct roofline_point *point)
{
	json_begin_object(json);
	json_put_text(json, "kind", roofline_kind_names[point->kind]);
	json_put_text(json, "name", point->name);
	json_put_text(json, "shapes", point->shapes);
	json_put_int(json, "device", point->device);
	json_put_int(json, "count", point->count);
	json_put_int(json, "ns", point->ns);
	json_put_real(json, "share", point->share, 6);
	roofline_put_real(json, "flop", point->flop);
	roofline_put_real(json, "bytes", point->bytes);
	json_put_text(json, "precision", hwy_precision_names[point->precision]);
	json_put_bool(json, "tensor", point->tensor);
	roofline_put_real(json, "intensity", point->intensity);
	roofline_put_real(json, "flop_per_s", point->flop_per_s);
	roofline_put_real(json, "bytes_per_s", point->bytes_per_s);
	roofline_put_real(json, "of_peak", point->of_peak);
	roofline_put_real(json, "occupancy", point->occupancy > 0 ? point->occupancy : NAN);
	roofline_put_real(json, "waves", point->waves > 0 ? point->waves : NAN);
	json_put_text(json, "bound", roofline_bound_names[point->bound]);
	json_put_int(json, "gain_ns", point->gain_ns);
	json_put_text(json, "source", roofline_source_names[point->source]);
	json_put_text(json, "says", point->says);
	if (point->n_advice > 0) {
		json_key(json, "advice");
		json_begin_array(json);
		for (uint32_t i = 0; i < point->n_advice; i++)
			json_textz(json, point->advice[i]);
		json_end_array(json);
	}
	json_key(json, "span");
	if (point->span == ROOFLINE_NO_SPAN)
		json_null(json);
	else
		json_int(json, point->span);
	json_end_object(json);
}

void roofline_put_json(struct hwy_json *json, const struct hwy_roofline *roofline)
{
	json_begin_object(json);
	json_key(json, "devices");
	json_begin_array(json);
	for (uint32_t i = 0; i < roofline->n_devices; i++)
		roofline_put_device(json, roofline->trace, &roofline->devices[i]);
	json_end_array(json);
	json_key(json, "points");
	json_begin_array(json);
	for (uint32_t i = 0; i < roofline->n_points; i++)
		roofline_put_point(json, &roofline->points[i]);
	json_end_array(json);
	json_end_object(json);
}
