/* SPDX-License-Identifier: Apache-2.0 */
/* abi_cupti_host.c - holds src/run/abi/cupti_host.h against NVIDIA's headers: compiling it is the test. Without
 * them it exits with 77. mock/include has an empty <string>, which the host API's header includes. */
#include <stdio.h>

#if __has_include(<cupti_profiler_host.h>)
#include <assert.h>

#include <cuda.h>

#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include "run/abi/cupti_host.h"
#include "run/abi/cupti_pm.h"

#define VALUE(ours, theirs) static_assert((int)ours == (int)theirs, #ours)
VALUE(ABI_CUPTI_OK, CUPTI_SUCCESS);
VALUE(ABI_CUPTI_INVALID_PARAMETER, CUPTI_ERROR_INVALID_PARAMETER);
VALUE(ABI_CUPTI_INVALID_DEVICE, CUPTI_ERROR_INVALID_DEVICE);
VALUE(ABI_CUPTI_INVALID_OPERATION, CUPTI_ERROR_INVALID_OPERATION);
VALUE(ABI_CUPTI_OUT_OF_MEMORY, CUPTI_ERROR_OUT_OF_MEMORY);
VALUE(ABI_CUPTI_HARDWARE, CUPTI_ERROR_HARDWARE);
VALUE(ABI_CUPTI_INVALID_METRIC_NAME, CUPTI_ERROR_INVALID_METRIC_NAME);
VALUE(ABI_CUPTI_HARDWARE_BUSY, CUPTI_ERROR_HARDWARE_BUSY);
VALUE(ABI_CUPTI_NOT_SUPPORTED, CUPTI_ERROR_NOT_SUPPORTED);
VALUE(ABI_CUPTI_VIRTUALIZED_DEVICE, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
VALUE(ABI_CUPTI_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
VALUE(ABI_CUPTI_VIRTUALIZED_PRIVILEGES, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
VALUE(ABI_CUPTI_CONFIDENTIAL_COMPUTING, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
VALUE(ABI_CUPTI_MIG_DEVICE, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
VALUE(ABI_CUPTI_WSL_DEVICE, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED);
VALUE(ABI_CUPTI_INVALID_CHIP_NAME, CUPTI_ERROR_INVALID_CHIP_NAME);
VALUE(ABI_CUPTI_UNKNOWN, CUPTI_ERROR_UNKNOWN);
VALUE(ABI_CUPTI_RANGE_PROFILER, CUPTI_PROFILER_TYPE_RANGE_PROFILER);
VALUE(ABI_CUPTI_PM_SAMPLING, CUPTI_PROFILER_TYPE_PM_SAMPLING);
VALUE(ABI_CUPTI_COUNTER, CUPTI_METRIC_TYPE_COUNTER);
VALUE(ABI_CUPTI_RATIO, CUPTI_METRIC_TYPE_RATIO);
VALUE(ABI_CUPTI_THROUGHPUT, CUPTI_METRIC_TYPE_THROUGHPUT);

/* The struct has the size of NVIDIA's, up to the last field, and 'field' stands where NVIDIA's does. */
#define SAME_SIZE(ours, last, theirs)                                                              \
	static_assert(ABI_CUPTI_SIZE(struct ours, last) == theirs##_STRUCT_SIZE, #ours)
#define SAME(ours, field, theirs, name)                                                            \
	static_assert(offsetof(struct ours, field) == offsetof(theirs, name), #ours "." #field)

SAME_SIZE(abi_cupti_initialize, priv, CUpti_Profiler_Initialize_Params);
SAME_SIZE(abi_cupti_chip_name, chip, CUpti_Device_GetChipName_Params);
SAME(abi_cupti_chip_name, device, CUpti_Device_GetChipName_Params, deviceIndex);

SAME_SIZE(abi_cupti_host_initialize, host, CUpti_Profiler_Host_Initialize_Params);
SAME(abi_cupti_host_initialize, profiler, CUpti_Profiler_Host_Initialize_Params, profilerType);
SAME(abi_cupti_host_initialize, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
SAME(abi_cupti_host_initialize, availability, CUpti_Profiler_Host_Initialize_Params,
     pCounterAvailabilityImage);

SAME_SIZE(abi_cupti_host_deinitialize, host, CUpti_Profiler_Host_Deinitialize_Params);
SAME_SIZE(abi_cupti_host_chips, names, CUpti_Profiler_Host_GetSupportedChips_Params);
SAME(abi_cupti_host_chips, n, CUpti_Profiler_Host_GetSupportedChips_Params, numChips);

SAME_SIZE(abi_cupti_host_base_metrics, n, CUpti_Profiler_Host_GetBaseMetrics_Params);
SAME(abi_cupti_host_base_metrics, type, CUpti_Profiler_Host_GetBaseMetrics_Params, metricType);
SAME(abi_cupti_host_base_metrics, names, CUpti_Profiler_Host_GetBaseMetrics_Params, ppMetricNames);

SAME_SIZE(abi_cupti_host_metric_properties, type, CUpti_Profiler_Host_GetMetricProperties_Params);
SAME(abi_cupti_host_metric_properties, metric, CUpti_Profiler_Host_GetMetricProperties_Params,
     pMetricName);
SAME(abi_cupti_host_metric_properties, description, CUpti_Profiler_Host_GetMetricProperties_Params,
     pDescription);
SAME(abi_cupti_host_metric_properties, hardware_unit,
     CUpti_Profiler_Host_GetMetricProperties_Params, pHwUnit);
SAME(abi_cupti_host_metric_properties, dimension, CUpti_Profiler_Host_GetMetricProperties_Params,
     pDimUnit);

SAME_SIZE(abi_cupti_host_range_name, name, CUpti_Profiler_Host_GetRangeName_Params);
SAME(abi_cupti_host_range_name, data, CUpti_Profiler_Host_GetRangeName_Params, pCounterDataImage);
SAME(abi_cupti_host_range_name, range, CUpti_Profiler_Host_GetRangeName_Params, rangeIndex);
SAME(abi_cupti_host_range_name, delimiter, CUpti_Profiler_Host_GetRangeName_Params, delimiter);

SAME_SIZE(abi_cupti_host_evaluate, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params);
SAME(abi_cupti_host_evaluate, data, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
     pCounterDataImage);
SAME(abi_cupti_host_evaluate, data_bytes, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
     counterDataImageSize);
SAME(abi_cupti_host_evaluate, range, CUpti_Profiler_Host_EvaluateToGpuValues_Params, rangeIndex);
SAME(abi_cupti_host_evaluate, metrics, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
     ppMetricNames);
SAME(abi_cupti_host_evaluate, n_metrics, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
     numMetrics);

SAME_SIZE(abi_cupti_host_add_metrics, n_metrics, CUpti_Profiler_Host_ConfigAddMetrics_Params);
SAME(abi_cupti_host_add_metrics, metrics, CUpti_Profiler_Host_ConfigAddMetrics_Params,
     ppMetricNames);
SAME_SIZE(abi_cupti_host_config_size, bytes, CUpti_Profiler_Host_GetConfigImageSize_Params);
SAME_SIZE(abi_cupti_host_config, image, CUpti_Profiler_Host_GetConfigImage_Params);
SAME(abi_cupti_host_config, bytes, CUpti_Profiler_Host_GetConfigImage_Params, configImageSize);
SAME_SIZE(abi_cupti_host_passes, passes, CUpti_Profiler_Host_GetNumOfPasses_Params);
SAME(abi_cupti_host_passes, image, CUpti_Profiler_Host_GetNumOfPasses_Params, pConfigImage);
/* ---- PM sampling ---- */
VALUE(ABI_CUPTI_PM_SYSCLK, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL);
VALUE(ABI_CUPTI_PM_TIME, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
VALUE(ABI_CUPTI_PM_KEEP_OLDEST, CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST);
VALUE(ABI_CUPTI_PM_KEEP_LATEST, CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST);
VALUE(ABI_CUPTI_PM_FULL, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL);
VALUE(ABI_CUPTI_PM_END, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS);
SAME_SIZE(abi_cupti_pm_set_config, append, CUpti_PmSampling_SetConfig_Params);
SAME(abi_cupti_pm_set_config, config_bytes, CUpti_PmSampling_SetConfig_Params, configSize);
SAME(abi_cupti_pm_set_config, config, CUpti_PmSampling_SetConfig_Params, pConfig);
SAME(abi_cupti_pm_set_config, hardware_bytes, CUpti_PmSampling_SetConfig_Params,
     hardwareBufferSize);
SAME(abi_cupti_pm_set_config, interval, CUpti_PmSampling_SetConfig_Params, samplingInterval);
SAME(abi_cupti_pm_set_config, trigger, CUpti_PmSampling_SetConfig_Params, triggerMode);
SAME(abi_cupti_pm_set_config, append, CUpti_PmSampling_SetConfig_Params, hwBufferAppendMode);
SAME_SIZE(abi_cupti_pm_enable, session, CUpti_PmSampling_Enable_Params);
SAME(abi_cupti_pm_enable, device, CUpti_PmSampling_Enable_Params, deviceIndex);
SAME(abi_cupti_pm_enable, session, CUpti_PmSampling_Enable_Params, pPmSamplingObject);
SAME_SIZE(abi_cupti_pm_session, session, CUpti_PmSampling_Disable_Params);
SAME_SIZE(abi_cupti_pm_session, session, CUpti_PmSampling_Start_Params);
SAME_SIZE(abi_cupti_pm_session, session, CUpti_PmSampling_Stop_Params);
SAME_SIZE(abi_cupti_pm_decode, overflow, CUpti_PmSampling_DecodeData_Params);
SAME(abi_cupti_pm_decode, data, CUpti_PmSampling_DecodeData_Params, pCounterDataImage);
SAME(abi_cupti_pm_decode, stop, CUpti_PmSampling_DecodeData_Params, decodeStopReason);
SAME(abi_cupti_pm_decode, overflow, CUpti_PmSampling_DecodeData_Params, overflow);
SAME_SIZE(abi_cupti_pm_availability, image, CUpti_PmSampling_GetCounterAvailability_Params);
SAME(abi_cupti_pm_availability, device, CUpti_PmSampling_GetCounterAvailability_Params,
     deviceIndex);
SAME(abi_cupti_pm_availability, bytes, CUpti_PmSampling_GetCounterAvailability_Params,
     counterAvailabilityImageSize);
SAME_SIZE(abi_cupti_pm_data_size, bytes, CUpti_PmSampling_GetCounterDataSize_Params);
SAME(abi_cupti_pm_data_size, metrics, CUpti_PmSampling_GetCounterDataSize_Params, pMetricNames);
SAME(abi_cupti_pm_data_size, n_metrics, CUpti_PmSampling_GetCounterDataSize_Params, numMetrics);
SAME(abi_cupti_pm_data_size, samples, CUpti_PmSampling_GetCounterDataSize_Params, maxSamples);
SAME_SIZE(abi_cupti_pm_data_initialize, data, CUpti_PmSampling_CounterDataImage_Initialize_Params);
SAME(abi_cupti_pm_data_initialize, bytes, CUpti_PmSampling_CounterDataImage_Initialize_Params,
     counterDataSize);
SAME_SIZE(abi_cupti_pm_data_info, completed, CUpti_PmSampling_GetCounterDataInfo_Params);
SAME(abi_cupti_pm_data_info, data, CUpti_PmSampling_GetCounterDataInfo_Params, pCounterDataImage);
SAME(abi_cupti_pm_data_info, total, CUpti_PmSampling_GetCounterDataInfo_Params, numTotalSamples);
SAME(abi_cupti_pm_data_info, populated, CUpti_PmSampling_GetCounterDataInfo_Params,
     numPopulatedSamples);
SAME_SIZE(abi_cupti_pm_sample_info, end, CUpti_PmSampling_CounterData_GetSampleInfo_Params);
SAME(abi_cupti_pm_sample_info, data, CUpti_PmSampling_CounterData_GetSampleInfo_Params,
     pCounterDataImage);
SAME(abi_cupti_pm_sample_info, sample, CUpti_PmSampling_CounterData_GetSampleInfo_Params,
     sampleIndex);
SAME(abi_cupti_pm_sample_info, start, CUpti_PmSampling_CounterData_GetSampleInfo_Params,
     startTimestamp);

int main(void)
{
	puts("same as CUPTI's");
	return 0;
}
#else
int main(void)
{
	puts("no cupti_profiler_host.h (CUDA 12.6 or later has it)");
	return 77;
}
#endif
